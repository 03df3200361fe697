"""The entity types of mentions, by their labels, and of concepts, by their semantic types."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from .entity_type_table import ENTITY_TYPE_TABLE
from .labels import entity_types_of, wider_entity_types_of
from .taxa import is_taxon

_TYPES = {one.name: one.types for one in ENTITY_TYPE_TABLE if one.types}
_OF_SPECIES = {one.name for one in ENTITY_TYPE_TABLE if one.is_of_species}


def is_foreign(label: str, types: Iterable[str]) -> bool:
    """Check whether a mention and a concept have different entity types.

    label (str): label of the mention.
    types (Iterable[str]): semantic types of the concept.
    RETURNS (bool): e.g. `("CHEMICAL", ["Disease"])` → True; False if the entity type of the label
        or of a semantic type is unknown, or the concept has no types. Species, `other` and
        `unknown` are ignored.
    """
    entity_types = _types_of_label(label)
    of_types = [_types_of_semantic_type(name) for name in types if not _says_nothing(name)]
    return bool(entity_types and of_types) and all(
        some and entity_types.isdisjoint(some) for some in of_types
    )


def _says_nothing(semantic_type: str) -> bool:
    """Check whether a type is uninformative about the entity type: a species, or `other` or
    `unknown`, as in NCBI Gene."""
    return is_taxon(semantic_type) or semantic_type.lower() in ("other", "unknown")


def is_species(label: str) -> bool:
    """label (str): label of a mention.
    RETURNS (bool): whether it is a species."""
    return "SPECIES" in _types_of_label(label)


def is_cell_line(label: str) -> bool:
    """label (str): label of a mention.
    RETURNS (bool): whether it is a cell line."""
    return "CELL_LINE" in _types_of_label(label)


def is_disease(label: str) -> bool:
    """label (str): label of a mention.
    RETURNS (bool): whether it is a disease."""
    return "DISEASE" in _types_of_label(label)


def is_gene(label: str) -> bool:
    """label (str): label of a mention.
    RETURNS (bool): whether it is a gene or gene product."""
    return "GENE" in _types_of_label(label)


def may_need_species(label: str) -> bool:
    """label (str): label of a mention.
    RETURNS (bool): whether its concept may depend on the species: True for genes, cell lines and
    labels of unknown entity type; False for diseases, chemicals and species."""
    entity_types = _types_of_label(label)
    return not entity_types or not entity_types.isdisjoint(_OF_SPECIES)


def label_of(types: Iterable[str]) -> str | None:
    """types (Iterable[str]): semantic types of a concept. RETURNS (str | None): the first known
    entity type, e.g. `["T047"]` → `DISEASE`."""
    entity_types = (
        entity_type for name in types for entity_type in sorted(_types_of_semantic_type(name))
    )
    return next(entity_types, None)


@lru_cache(maxsize=4096)
def _types_of_label(label: str) -> frozenset[str]:
    """Entity types that semantic types can have as well."""
    return wider_entity_types_of(label) & _TYPES.keys()


@cache
def _types_of_semantic_type(name: str) -> frozenset[str]:
    if re.fullmatch(r"T\d{3}", name):
        return entity_types_of(name) & _TYPES.keys()
    return frozenset(
        entity_type
        for entity_type, pattern in _TYPES.items()
        if re.fullmatch(pattern, name, re.IGNORECASE)
    )
