"""Labels of mentions by the kind that they stand for, whoever spells them: `OrganismTaxon`, `TAXON`
and `Species` are SPECIES. The table is `labels.yml`."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

import yaml

LABELS = Path(__file__).with_name("labels.yml")
KINDS = (
    *("DISEASE", "CHEMICAL", "GENE", "SPECIES", "CELL_LINE", "PHENOTYPE", "CELL_TYPE", "ANATOMY"),
    *("VARIANT", "GENE_FAMILY", "CELLULAR_COMPONENT", "BIOLOGICAL_PROCESS", "MOLECULAR_FUNCTION"),
    "PROCEDURE",
)
"""All kinds, the most frequent first."""
ANY = "ANY"
"""The kind of labels that say nothing: such a mention may be any concept."""
# A kind that a vocabulary may have as part of another: HPO's phenotypes are among MeSH's and
# UMLS's diseases, families among the genes, cells in anatomy.
_WIDER = {"PHENOTYPE": "DISEASE", "GENE_FAMILY": "GENE", "CELL_TYPE": "ANATOMY"}


@lru_cache(maxsize=4096)
def kinds_of(label: str) -> frozenset[str]:
    """label (str): of a mention, e.g. `GENE_OR_GENE_PRODUCT`, or types of the UMLS, `T116,T123`.
    RETURNS (frozenset[str]): what it may be, e.g. `{"GENE"}`; several where the label does not
        tell, as `CELL` for types and lines; `{"ANY"}` where it says nothing; none where no entry of
        the table is spelled like it but for case, blanks and signs."""
    table = _kinds_by_spelling()
    if (known := table.get(_spelling(label))) is not None:
        return known
    # MedMentions gives all types of a concept.
    parts = [table.get(_spelling(part), frozenset()) for part in label.split(",")]
    return frozenset().union(*parts) if all(parts) else frozenset()


def kind_of(label: str) -> str | None:
    """label (str): of a mention. RETURNS (str | None): the first of `KINDS` that it may be;
    None where there is none, or the label says nothing."""
    kinds = kinds_of(label)
    return next((kind for kind in KINDS if kind in kinds), None)


def wider_kinds_of(label: str) -> frozenset[str]:
    """label (str): of a mention. RETURNS (frozenset[str]): its kinds, and those that they are
    part of, e.g. `Symptom` → `{"PHENOTYPE", "DISEASE"}`."""
    kinds = kinds_of(label)
    return kinds | {_WIDER[kind] for kind in kinds if kind in _WIDER}


def is_neutral(label: str) -> bool:
    """label (str): of a mention. RETURNS (bool): whether it says of no kind that it is one."""
    return ANY in kinds_of(label)


def find_entries(label: str, entries: Iterable[str], *, wider: bool = False) -> tuple[str, ...]:
    """Which entries of a setting hold for a label; the user's own spelling goes first.

        Disease     of DISEASE, CHEMICAL           → DISEASE
        Medication  of DISEASE, DRUG               → DRUG
        CELL        of CELL_LINE, CELL_TYPE        → both
        Symptom     of SYMPTOM, DISEASE, PHENOTYPE → SYMPTOM

    label (str): of a mention.
    entries (Iterable[str]): labels that the setting has something for.
    wider (bool): where there is none, take that of a kind which the label's is part of, as
        DISEASE for `Phenotype`.
    RETURNS (tuple[str, ...]): the entry that is the label; or else is spelled like it but for case,
        blanks and signs; or those of its kind by name; or by the table.
    """
    return _find_entries(label, tuple(entries), wider)


@lru_cache(maxsize=4096)
def _find_entries(label: str, entries: tuple[str, ...], wider: bool) -> tuple[str, ...]:
    if label in entries:
        return (label,)
    spelling = _spelling(label)
    if alike := tuple(entry for entry in entries if _spelling(entry) == spelling):
        return alike
    found = _of_kinds(kinds_of(label) - {ANY}, entries)
    if wider and not found:
        found = _of_kinds(wider_kinds_of(label) - {ANY}, entries)
    return found


def _of_kinds(kinds: frozenset[str], entries: tuple[str, ...]) -> tuple[str, ...]:
    names = {_spelling(kind): kind for kind in kinds}
    rest = kinds - {names.get(_spelling(entry)) for entry in entries}
    # An entry for what may be several kinds, as SYMPTOM, is not for each of them.
    return tuple(
        entry
        for entry in entries
        if _spelling(entry) in names or (kinds_of(entry) and kinds_of(entry) <= rest)
    )


def labels_by_tool() -> dict[str, dict[str, tuple[str, ...]]]:
    """RETURNS (dict[str, dict[str, tuple[str, ...]]]): whose labels → kind → as spelled there."""
    table: dict[str, dict[str, list[str]]] = yaml.safe_load(LABELS.read_text("utf8"))
    return {
        tool: {kind: tuple(labels) for kind, labels in of_tool.items()}
        for tool, of_tool in table.items()
    }


def _spelling(label: str) -> str:
    return re.sub(r"[\W_]+", "", label).casefold()


@cache
def _kinds_by_spelling() -> dict[str, frozenset[str]]:
    kinds: dict[str, set[str]] = {_spelling(kind): {kind} for kind in KINDS}
    for of_tool in labels_by_tool().values():
        for kind, labels in of_tool.items():
            for label in labels:
                kinds.setdefault(_spelling(label), set()).add(kind)
    return {spelling: frozenset(some) for spelling, some in kinds.items()}
