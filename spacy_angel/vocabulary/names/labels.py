"""The entity types of labels in the spelling of any tool: `OrganismTaxon`, `TAXON` and `Species`
are all SPECIES. The tables are `entity_type_table` and `labels.yml`."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

import yaml

from .entity_type_table import ENTITY_TYPE_TABLE

LABELS = Path(__file__).with_name("labels.yml")
ENTITY_TYPES = tuple(one.name for one in ENTITY_TYPE_TABLE)
"""All entity types, the most frequent first."""
ANY = "ANY"
"""The entity type of neutral labels, whose mentions may be any concept."""
_WIDER = {one.name: one.part_of for one in ENTITY_TYPE_TABLE if one.part_of}


@lru_cache(maxsize=4096)
def entity_types_of(label: str) -> frozenset[str]:
    """label (str): of a mention, e.g. `GENE_OR_GENE_PRODUCT`, or UMLS types, `T116,T123`.
    RETURNS (frozenset[str]): its entity types, e.g. `{"GENE"}`; several for an ambiguous label such
        as `CELL`; `{"ANY"}` for a neutral label; empty for an unknown label. Case, spaces and
        punctuation are ignored."""
    table = _types_by_spelling()
    if (known := table.get(_spelling(label))) is not None:
        return known
    # MedMentions lists all types of a concept.
    parts = [table.get(_spelling(part), frozenset()) for part in label.split(",")]
    return frozenset().union(*parts) if all(parts) else frozenset()


def entity_type_of(label: str) -> str | None:
    """label (str): label of a mention.
    RETURNS (str | None): the first of its entity types in the order of `ENTITY_TYPES`; None for a
    neutral or unknown label."""
    entity_types = entity_types_of(label)
    return next((entity_type for entity_type in ENTITY_TYPES if entity_type in entity_types), None)


@lru_cache(maxsize=4096)
def wider_entity_types_of(label: str) -> frozenset[str]:
    """label (str): label of a mention.
    RETURNS (frozenset[str]): its entity types and the types that include them, e.g. `Symptom` →
    `{"PHENOTYPE", "DISEASE"}`."""
    entity_types = entity_types_of(label)
    return entity_types | {
        _WIDER[entity_type] for entity_type in entity_types if entity_type in _WIDER
    }


def is_neutral(label: str) -> bool:
    """label (str): label of a mention.
    RETURNS (bool): whether it denotes no particular entity type."""
    return ANY in entity_types_of(label)


def find_entries(label: str, entries: Iterable[str], *, wider: bool = False) -> tuple[str, ...]:
    """Find the entries of a setting that apply to a label; the user's own spelling comes first.

        Disease     of DISEASE, CHEMICAL           → DISEASE
        Medication  of DISEASE, DRUG               → DRUG
        CELL        of CELL_LINE, CELL_TYPE        → both
        Symptom     of SYMPTOM, DISEASE, PHENOTYPE → SYMPTOM

    label (str): of a mention.
    entries (Iterable[str]): labels that the setting has.
    wider (bool): if there is none, use the entity type that the label's is part of, such as DISEASE
        for `Phenotype`.
    RETURNS (tuple[str, ...]): the entry that equals the label; or else equals it except for case,
        spaces and punctuation; or else has its entity type.
    """
    return _find_entries(label, tuple(entries), wider)


@lru_cache(maxsize=4096)
def _find_entries(label: str, entries: tuple[str, ...], wider: bool) -> tuple[str, ...]:
    if label in entries:
        return (label,)
    spelling = _spelling(label)
    if alike := tuple(entry for entry in entries if _spelling(entry) == spelling):
        return alike
    found = _of_types(entity_types_of(label) - {ANY}, entries)
    if wider and not found:
        found = _of_types(wider_entity_types_of(label) - {ANY}, entries)
    return found


def _of_types(entity_types: frozenset[str], entries: tuple[str, ...]) -> tuple[str, ...]:
    names = {_spelling(entity_type): entity_type for entity_type in entity_types}
    rest = entity_types - {names.get(_spelling(entry)) for entry in entries}
    # An entry with several entity types, such as SYMPTOM, does not apply to only one of them.
    return tuple(
        entry
        for entry in entries
        if _spelling(entry) in names or (entity_types_of(entry) and entity_types_of(entry) <= rest)
    )


def labels_by_tool() -> dict[str, dict[str, tuple[str, ...]]]:
    """RETURNS (dict[str, dict[str, tuple[str, ...]]]): tool → entity type → its labels."""
    table: dict[str, dict[str, list[str]]] = yaml.safe_load(LABELS.read_text("utf8"))
    return {"Entity types": {one.name: one.labels for one in ENTITY_TYPE_TABLE}} | {
        tool: {entity_type: tuple(labels) for entity_type, labels in of_tool.items()}
        for tool, of_tool in table.items()
    }


def _spelling(label: str) -> str:
    return re.sub(r"[\W_]+", "", label).casefold()


@cache
def _types_by_spelling() -> dict[str, frozenset[str]]:
    entity_types: dict[str, set[str]] = {
        _spelling(entity_type): {entity_type} for entity_type in ENTITY_TYPES
    }
    for of_tool in labels_by_tool().values():
        for entity_type, labels in of_tool.items():
            for label in labels:
                entity_types.setdefault(_spelling(label), set()).add(entity_type)
    return {spelling: frozenset(some) for spelling, some in entity_types.items()}
