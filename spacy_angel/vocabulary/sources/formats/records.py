"""What all readers share: concepts that are checked, merging, retired identifiers, counts."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from ....errors import AngelError
from ...names.concepts import Concept, nearest_scopes
from ...names.identifiers import bare_prefix, iri_to_id, normalize_id
from .lines import wrong

_IDENTIFIER = re.compile(r"[^\s|+]+")
# Steps from a retired identifier to its successor; releases have a handful. Following longer
# chains from each of their members would take the square of their length.
MAX_SUCCESSION = 100
# Counters of what is skipped.
NO_NAME = "concepts without a name"
NO_ID = "rows without an identifier"
TREE_NUMBER = re.compile(r"([A-Z])(\d\d)?(?=[./]|$)", re.ASCII)

Concepts = Iterator[Concept]
"""What a reader yields, in the order of the file."""


@dataclass
class VocabularyReport:
    """What a reader found; filled in while it reads.

    concepts (int): number of concepts. names (int): number of their names.
    alternate_ids (int): number of their further identifiers.
    merged (int): rows that were joined to an earlier row of the same concept.
    skipped (Counter[str]): what was left out, by reason.
    columns (dict[str, str]): what the columns of a table were taken for, e.g. `{"id": "Code"}`;
        the others are under `not used`.
    """

    concepts: int = 0
    names: int = 0
    alternate_ids: int = 0
    merged: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    columns: dict[str, str] = field(default_factory=dict)


def make_concept(
    path: Path,
    line: int,
    concept_id: str,
    names: Iterable[str],
    *,
    types: Iterable[str] = (),
    definition: str | None = None,
    alternate_ids: Iterable[str] = (),
    parents: Iterable[str] = (),
    scopes: Iterable[tuple[str, str]] = (),
    parts: Iterable[str] = (),
) -> Concept:
    """Make a concept of what a file has. Texts are stripped, blank ones dropped.

    path (Path), line (int): where it was read, for the message.
    concept_id (str): with its prefix.
    names (Iterable[str]): the canonical name first.
    scopes (Iterable[tuple[str, str]]): names with one of `concepts.SCOPES`; of several scopes of a
        name the nearest counts.
    RETURNS (Concept): the concept.
    RAISES (AngelError): no identifier, one that contains spaces, `|` or `+`, or no canonical name.
    """
    first, *others = [name.strip() for name in names] or [""]
    ids = dict.fromkeys(alternate_ids)
    for identifier in (concept_id, *ids):
        if not _IDENTIFIER.fullmatch(identifier):
            raise wrong(path, line, "an identifier without spaces, `|` or `+`", identifier)
    if not first:
        raise wrong(path, line, f"a name for {concept_id}", first)
    return Concept(
        concept_id=concept_id,
        canonical_name=first,
        aliases=tuple(filter(None, others)),
        types=tuple(dict.fromkeys(filter(None, types))),
        definition=(definition or "").strip() or None,
        alternate_ids=tuple(identifier for identifier in ids if identifier != concept_id),
        parents=tuple(dict.fromkeys(filter(None, parents))),
        scopes=nearest_scopes((name.strip(), scope) for name, scope in scopes),
        parts=tuple(dict.fromkeys(parts)),
    )


def merge_concepts(*concepts: Concept) -> Concept:
    """Join the rows of one concept: the first gives the canonical name, and the definition if it
    has one.

    concepts (Concept): with the same `concept_id`; at least one.
    RETURNS (Concept): every name, type, alternate identifier, parent and part of all, none of
        them twice, each name with the nearest of its scopes.
    """
    first = concepts[0]

    def union(field: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value for c in concepts for value in getattr(c, field)))

    return Concept(
        concept_id=first.concept_id,
        canonical_name=first.canonical_name,
        aliases=tuple(name for name in union("names") if name != first.canonical_name),
        types=union("types"),
        definition=next(filter(None, (concept.definition for concept in concepts)), None),
        alternate_ids=union("alternate_ids"),
        parents=union("parents"),
        scopes=nearest_scopes(pair for concept in concepts for pair in concept.scopes),
        parts=union("parts"),
    )


def merge_rows(path: Path, rows: Iterable[Concept], report: VocabularyReport) -> Concepts:
    """Join neighboring rows of one identifier.

    path (Path): what is read, for the message if there is nothing.
    rows (Iterable[Concept]): in the order of the file.
    report (VocabularyReport): counts concepts and merged rows.
    YIELDS (Concept): in parts if the rows of an identifier are not together; `ConceptKB.build`
        joins them.
    RAISES (AngelError): there is no concept at all.
    """
    seen: set[str] = set()
    for concept_id, group in groupby(rows, key=lambda row: row.concept_id):
        concept, *others = group
        if others:
            concept = merge_concepts(concept, *others)
        report.merged += len(others) + (concept_id in seen)
        report.concepts += concept_id not in seen
        seen.add(concept_id)
        report.names += len(concept.names)
        report.alternate_ids += len(concept.alternate_ids)
        yield concept
    if not seen:
        counts = ", ".join(f"{n} {reason}" for reason, n in sorted(report.skipped.items()))
        skipped = f" (left out: {counts})" if counts else ""
        raise AngelError(
            f"{path}, line 1: no concepts found{skipped}. Check the file and the filters."
        )


def own_id(code: str, prefix: str | None) -> str:
    """An identifier of a file that need not name its vocabulary.

    code (str): as the file has it, also as an IRI.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS if the code
        looks like one of theirs, else none.
    RETURNS (str): in normal form.
    """
    code = iri_to_id(code.strip())
    return normalize_id(code, bare_prefix(code) if prefix is None else prefix)


def tree_types(path: Path, line: int, numbers: Iterable[str]) -> list[str]:
    """Types from MeSH tree numbers: the letter of the tree, and its first branch.

    path (Path), line (int): where they are.
    numbers (Iterable[str]): e.g. `C16.131.260/C538288`, `F03.625`.
    RETURNS (list[str]): sorted, e.g. `["C", "C16", "F", "F03"]`.
    RAISES (AngelError): one of them is no tree number.
    """
    types: set[str] = set()
    for number in numbers:
        match = TREE_NUMBER.match(number)
        if match is None:
            raise wrong(path, line, "MeSH tree numbers", number)
        types.update((match[1], match[0]))
    return sorted(types)


def tree_parents(numbers: Iterable[str], owners: Mapping[str, str]) -> Iterator[str]:
    """The hierarchy that MeSH tree numbers express.

    numbers (Iterable[str]): of a concept, e.g. `C04.557.337`.
    owners (Mapping[str, str]): tree number → concept.
    YIELDS (str): of each number, the concept with the nearest number above it.
    """
    for number in numbers:
        while number := number.rpartition(".")[0]:
            if number in owners:
                yield owners[number]
                break


def successors(
    replaced_by: Mapping[str, Iterable[str]], report: VocabularyReport
) -> dict[str, list[str]]:
    """Which retired identifiers lead to which identifier, over several steps if need be.

    replaced_by (Mapping[str, Iterable[str]]): retired identifier → what replaced it.
    report (VocabularyReport): counts those that lead to several identifiers or to none.
    RETURNS (dict[str, list[str]]): identifier → retired ones, e.g. for a → b, b → c:
        `{"c": ["a", "b"]}`. A reader takes out those of the concepts that it yields, and gives the
        rest to `count_unused`.
    """
    retired_ids: dict[str, list[str]] = {}
    for retired in replaced_by:
        current = retired
        for _ in range(MAX_SUCCESSION):
            targets = set(replaced_by.get(current, ()))
            if len(targets) != 1:
                break
            (current,) = targets
        if current in replaced_by:  # it leads to several identifiers, or back to itself
            report.skipped["retired identifiers without one successor"] += 1
        else:
            retired_ids.setdefault(current, []).append(retired)
    return retired_ids


def count_unused(retired: Mapping[str, list[str]], report: VocabularyReport) -> None:
    """Count the retired identifiers whose successor was not read.

    retired (Mapping[str, list[str]]): what is left of the result of `successors`.
    report (VocabularyReport): gets the count.
    """
    if unused := sum(map(len, retired.values())):
        report.skipped["retired identifiers whose successor is not here"] += unused
