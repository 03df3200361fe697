"""What labels of mentions and semantic types of vocabularies have in common: diseases, chemicals,
and so on, whatever each calls them."""

import re
from collections.abc import Iterable
from functools import cache

from .taxa import is_taxon

# Labels as recognisers and corpora write them, small letters, without blanks and underscores.
_LABELS = {
    "disease": {
        "disease",
        "diseaseclass",
        "diseaseorphenotypicfeature",
        "specificdisease",
        "disorder",
        "phenotype",
        "symptom",
    },
    "chemical": {"chemical", "chemicalentity", "drug", "medication", "simplechemical"},
    "gene": {"gene", "geneorgeneproduct", "protein", "ggp"},
    "species": {"species", "organism", "organismtaxon", "taxon"},
    "cell line": {"cellline"},
}

# Types by name, by the namespaces of OBO files, by branches of MeSH's tree, by semantic types of
# the UMLS; the groups of these are those of the UMLS Semantic Network.
_TYPES = {
    "disease": r"disease|disorder|phenotype|symptom|disease_ontology|human_phenotype(\.\w+)?|mondo"
    r"|C\d*|F03|T0(19|20|33|37|46|47|48|49|50)|T184|T19[01]",
    "chemical": r"chemical|drug|chebi(_ontology)?|D\d*|T10[349]|T11[0145689]|T12[0-7]|T13[01]"
    r"|T19[5678]|T200",
    "gene": r"gene|protein|hgnc|ncbigene|T028|T08[5678]|T116|T126"
    # the kinds of NCBI Gene
    r"|protein-coding|pseudo|(nc|t|r|sn|sno|sc)RNA",
    "species": r"species|taxon|organism|ncbi_taxonomy|B\d*|T00[1-9]|T01[0-6]|T194|T204",
    # the categories of Cellosaurus
    "cell line": r"cell ?line|.* cell line|hybridoma",
}


def is_foreign(label: str, types: Iterable[str]) -> bool:
    """Whether a mention cannot be a concept, for they are of different kinds.

    label (str): of the mention.
    types (Iterable[str]): semantic types of the concept.
    RETURNS (bool): e.g. `("CHEMICAL", ["Disease"])` → True; False where label or one of the types
        is of no known kind, or there is no type.
    """
    kinds = _kinds_of_label(label)
    # Of which species something is does not say what it is.
    type_kinds = [_kinds_of_type(name) for name in types if not is_taxon(name)]
    return bool(kinds and type_kinds) and all(
        some and kinds.isdisjoint(some) for some in type_kinds
    )


def kind_of_label(label: str) -> str | None:
    """label (str): of a mention. RETURNS (str | None): e.g. `CellLine` → `cell line`; None where it
    is in no table."""
    return next(iter(sorted(_kinds_of_label(label))), None)


def is_species(label: str) -> bool:
    """label (str): of a mention. RETURNS (bool): whether it is a species."""
    return "species" in _kinds_of_label(label)


def is_cell_line(label: str) -> bool:
    """label (str): of a mention. RETURNS (bool): whether it is a cell line."""
    return "cell line" in _kinds_of_label(label)


def is_gene(label: str) -> bool:
    """label (str): of a mention. RETURNS (bool): whether it is a gene or what it codes for."""
    return "gene" in _kinds_of_label(label)


def may_need_species(label: str) -> bool:
    """label (str): of a mention. RETURNS (bool): whether its concept may be that of a species:
    not of diseases, chemicals and species themselves, but of genes, cell lines and all labels that
    are of no known kind."""
    kinds = _kinds_of_label(label)
    return not kinds or not kinds.isdisjoint({"gene", "cell line"})


def label_of(types: Iterable[str]) -> str | None:
    """types (Iterable[str]): semantic types of a concept. RETURNS (str | None): the label of the
    first that is of a known kind, e.g. `["T047"]` → `DISEASE`."""
    kinds = (kind for name in types for kind in sorted(_kinds_of_type(name)))
    return next((kind.upper() for kind in kinds), None)


@cache
def _kinds_of_label(label: str) -> frozenset[str]:
    plain = re.sub(r"[\s_-]", "", label).lower()
    return frozenset(kind for kind, labels in _LABELS.items() if plain in labels)


@cache
def _kinds_of_type(name: str) -> frozenset[str]:
    return frozenset(
        kind for kind, pattern in _TYPES.items() if re.fullmatch(pattern, name, re.IGNORECASE)
    )
