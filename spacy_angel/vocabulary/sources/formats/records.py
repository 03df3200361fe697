"""What every reader shares: rows with their place, merging, retired identifiers, counts."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from ....errors import AngelError
from ...names.concepts import Concept, nearest_scopes
from ...names.identifiers import bare_prefix, normalize_id
from .lines import wrong

_IDENTIFIER = re.compile(r"[^\s|+]+")
# Steps from a retired identifier to its successor; releases have a handful. Following longer
# chains from each of their members would take the square of their length.
MAX_SUCCESSION = 100
# Counter of what is left out.
NO_NAME = "concepts without a name"
_TREE_NUMBER = re.compile(r"([A-Z])(\d\d)?(?=[./]|$)", re.ASCII)


class Row(NamedTuple):
    """A concept, or a part of one, and where it was read.

    path (Path): the file. line (int): number of the line, from 1. concept (Concept): its content.
    """

    path: Path
    line: int
    concept: Concept


@dataclass
class VocabularyReport:
    """What a reader found; filled while it reads.

    concepts (int): concepts given out.
    names (int): their names, as often as the file lists them.
    alternate_ids (int): their further identifiers.
    merged (int): rows joined to the row of the same concept before them.
    skipped (Counter[str]): what was left out, by reason.
    columns (dict[str, str]): what the columns of a table were taken for, e.g. `{"id": "Code"}`.
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
    tree_numbers: Iterable[str] = (),
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
        tree_numbers=tuple(dict.fromkeys(tree_numbers)),
        scopes=nearest_scopes((name.strip(), scope) for name, scope in scopes),
        parts=tuple(dict.fromkeys(parts)),
    )
    return Row(path, line, concept)


def merge_concepts(*concepts: Concept) -> Concept:
    """Join the rows of one concept: the first gives the canonical name, and the definition if it
    has one.

    concepts (Concept): with the same `concept_id`; at least one.
    RETURNS (Concept): every name, type, alternate identifier, tree number and part of all, none of
        them twice, each name with the nearest of its scopes.
    """
    first = concepts[0]
    names = dict.fromkeys(name for concept in concepts for name in concept.names)
    return Concept(
        concept_id=first.concept_id,
        canonical_name=first.canonical_name,
        aliases=tuple(name for name in names if name != first.canonical_name),
        types=tuple(dict.fromkeys(kind for concept in concepts for kind in concept.types)),
        definition=next(filter(None, (concept.definition for concept in concepts)), None),
        alternate_ids=tuple(dict.fromkeys(i for c in concepts for i in c.alternate_ids)),
        tree_numbers=tuple(dict.fromkeys(n for c in concepts for n in c.tree_numbers)),
        scopes=nearest_scopes(pair for concept in concepts for pair in concept.scopes),
        parts=tuple(dict.fromkeys(part for c in concepts for part in c.parts)),
    )


def merge_rows(path: Path, rows: Iterable[Row], report: VocabularyReport) -> Iterator[Concept]:
    """Give out each concept once: neighbouring rows of one identifier are joined.

    path (Path): what was read, for the message where nothing came.
    rows (Iterable[Row]): in the order of the file.
    report (VocabularyReport): counts what is given out and merged.
    YIELDS (Concept): no identifier twice.
    RAISES (AngelError): an identifier comes again after others, or there is no concept at all.
    """
    seen: set[str] = set()
    for concept_id, group in groupby(rows, key=lambda row: row.concept.concept_id):
        first, *others = group
        check_new(concept_id, seen, first.path, first.line)
        seen.add(concept_id)
        concept = first.concept
        if others:
            concept = merge_concepts(concept, *(row.concept for row in others))
        report.merged += len(others)
        report.concepts += 1
        report.names += len(concept.names)
        report.alternate_ids += len(concept.alternate_ids)
        yield concept
    if not seen:
        left_out = ", ".join(f"{n} {reason}" for reason, n in sorted(report.skipped.items()))
        skipped = f" (left out: {left_out})" if left_out else ""
        raise AngelError(
            f"{path}, line 1: no concepts found{skipped}. Check the file and the filters."
        )


def check_new(concept_id: str, seen: Container[str], path: Path, line: int) -> None:
    """RAISES (AngelError): `concept_id` is among those `seen` already."""
    if concept_id in seen:
        raise AngelError(
            f"{path}, line {line}: rows of {concept_id} must follow each other. Sort the file."
        )


def own_id(code: str, prefix: str | None) -> str:
    """An identifier of a table or JSON file, whose vocabulary the file need not name.

    code (str): as the file has it.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS where the
        form says so, else none.
    RETURNS (str): in normal form.
    """
    code = code.strip()
    return normalize_id(code, bare_prefix(code) if prefix is None else prefix)


def whole_text(path: Path, line: int, value: Any) -> str:
    """A value of a JSON file, which can spell what no text file can hold: halves of characters,
    and NUL.

    path (Path), line (int): where it stands. value (Any): of the decoder.
    RETURNS (str): the value.
    RAISES (AngelError): it is no string, or holds such a thing.
    """
    if not isinstance(value, str) or "\0" in value:
        raise wrong(path, line, "a string", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise wrong(path, line, "a string of whole characters", value) from error
    return value


def whole_texts(path: Path, line: int, value: Any) -> list[str]:
    """path (Path), line (int), RAISES (AngelError): see `whole_text`. value (Any): a list of
    strings, or None. RETURNS (list[str]): empty for None."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong(path, line, "a list of strings", value)
    return [whole_text(path, line, item) for item in value]


def tree_types(numbers: Iterable[str]) -> list[str]:
    """Types from MeSH tree numbers: the letter of the tree, and its first branch.

    numbers (Iterable[str]): e.g. `C16.131.260/C538288`, `F03.625`.
    RETURNS (list[str]): sorted, e.g. `["C", "C16", "F", "F03"]`.
    RAISES (ValueError): one of them is no tree number.
    """
    types: set[str] = set()
    for number in numbers:
        match = _TREE_NUMBER.match(number)
        if match is None:
            raise ValueError(number)
        types.update((match[1], match[0]))
    return sorted(types)


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
