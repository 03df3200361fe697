"""What every reader shares: rows with their place, merging, retired identifiers, counts."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ....errors import AngelError
from ...names.concepts import Concept, nearest_scopes
from ...names.identifiers import bare_prefix, iri_to_id, normalize_id
from .lines import wrong

_IDENTIFIER = re.compile(r"[^\s|+]+")
# Steps from a retired identifier to its successor; releases have a handful. Following longer
# chains from each of their members would take the square of their length.
MAX_SUCCESSION = 100
# Counters of what is left out.
NO_NAME = "concepts without a name"
NO_ID = "rows without an identifier"
TREE_NUMBER = re.compile(r"([A-Z])(\d\d)?(?=[./]|$)", re.ASCII)


class Row(NamedTuple):
    """A concept, or a part of one, and where it was read.

    path (Path): the file. line (int): number of the line, from 1. concept (Concept): its content.
    """

    path: Path
    line: int
    concept: Concept


Rows = Iterator[Row]


@dataclass
class VocabularyReport:
    """What a reader found; filled while it reads.

    concepts (int): concepts given out.
    names (int): their names, as often as the file lists them.
    alternate_ids (int): their further identifiers.
    merged (int): rows joined to the row of the same concept before them.
    skipped (Counter[str]): what was left out, by reason.
    columns (dict[str, str]): what the columns of a table were taken for, e.g. `{"id": "Code"}`,
        and under `not used` the others.
    """

    concepts: int = 0
    names: int = 0
    alternate_ids: int = 0
    merged: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    columns: dict[str, str] = field(default_factory=dict)


def make_row(
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
) -> Row:
    """A row from what a file has, stripped; blank aliases are left out.

    path (Path), line (int): where it stands.
    concept_id (str): with its prefix.
    names (Iterable[str]): the canonical name first.
    scopes (Iterable[tuple[str, str]]): names and what the file says of them, see
        `concepts.SCOPES`; of several the nearest counts.
    RETURNS (Row): the concept in its place.
    RAISES (AngelError): no identifier, one with spaces, `|` or `+` in it, or a blank first name.
    """
    first, *others = [name.strip() for name in names] or [""]
    ids = dict.fromkeys(alternate_ids)
    for identifier in (concept_id, *ids):
        if not _IDENTIFIER.fullmatch(identifier):
            raise wrong(path, line, "an identifier without spaces, `|` or `+`", identifier)
    if not first:
        raise wrong(path, line, f"a name for {concept_id}", first)
    concept = Concept(
        concept_id=concept_id,
        canonical_name=first,
        aliases=tuple(filter(None, others)),
        types=tuple(dict.fromkeys(types)),
        definition=(definition or "").strip() or None,
        alternate_ids=tuple(identifier for identifier in ids if identifier != concept_id),
        parents=tuple(dict.fromkeys(parents)),
        scopes=nearest_scopes((name.strip(), scope) for name, scope in scopes),
        parts=tuple(dict.fromkeys(parts)),
    )
    return Row(path, line, concept)


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


def merge_rows(path: Path, rows: Iterable[Row], report: VocabularyReport) -> Iterator[Concept]:
    """Join neighboring rows of one identifier.

    path (Path): what was read, for the message where nothing came.
    rows (Iterable[Row]): in the order of the file.
    report (VocabularyReport): counts what is given out and merged.
    YIELDS (Concept): in parts where the rows of an identifier are not together; `ConceptKB.build`
        joins them.
    RAISES (AngelError): there is no concept at all.
    """
    seen: set[str] = set()
    for concept_id, group in groupby(rows, key=lambda row: row.concept.concept_id):
        first, *others = group
        concept = first.concept
        if others:
            concept = merge_concepts(concept, *(row.concept for row in others))
        report.merged += len(others) + (concept_id in seen)
        report.concepts += concept_id not in seen
        seen.add(concept_id)
        report.names += len(concept.names)
        report.alternate_ids += len(concept.alternate_ids)
        yield concept
    if not seen:
        left_out = ", ".join(f"{n} {reason}" for reason, n in sorted(report.skipped.items()))
        skipped = f" (left out: {left_out})" if left_out else ""
        raise AngelError(
            f"{path}, line 1: no concepts found{skipped}. Check the file and the filters."
        )


def own_id(code: str, prefix: str | None) -> str:
    """An identifier of a table or JSON file, whose vocabulary the file need not name.

    code (str): as the file has it.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS where the
        form says so, else none.
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
        `{"c": ["a", "b"]}`.
    """
    retired_ids: dict[str, list[str]] = {}
    for retired in replaced_by:
        ends: set[str] = set()
        visited = {retired}
        pending = [retired]
        while pending and len(visited) <= MAX_SUCCESSION:
            for target in replaced_by[pending.pop()]:
                if target not in replaced_by:
                    ends.add(target)
                elif target not in visited:
                    visited.add(target)
                    pending.append(target)
        if len(ends) == 1 and not pending:
            retired_ids.setdefault(ends.pop(), []).append(retired)
        else:
            report.skipped["retired identifiers without one successor"] += 1
    return retired_ids


def count_unused(retired: Mapping[str, list[str]], report: VocabularyReport) -> None:
    """Count the retired identifiers whose successor was not given out.

    retired (Mapping[str, list[str]]): what is left of the result of `successors`.
    """
    if unused := sum(map(len, retired.values())):
        report.skipped["retired identifiers whose successor is not here"] += unused
