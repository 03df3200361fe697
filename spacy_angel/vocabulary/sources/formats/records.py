"""Functions shared by all readers of vocabularies: concepts, merging, retired identifiers,
counts."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from ...names.concepts import Concept, nearest_scopes
from ...names.identifiers import bare_prefix, iri_to_id, normalize_id

_IDENTIFIER = re.compile(r"[^\s|+]+")
# Maximum number of steps from a retired identifier to its successor; there are a handful in actual
# releases. Following longer chains from each of their members would take quadratic time.
MAX_SUCCESSION = 100
# Reasons for skipping, see `VocabularyReport.skipped`.
NO_NAME = "concepts without a name"
NO_ID = "rows without an identifier"
TREE_NUMBER = re.compile(r"([A-Z])(\d\d)?(?=[./]|$)", re.ASCII)

Concepts = Iterator[Concept]
"""The concepts that a reader yields, in the order of the file."""


@dataclass
class VocabularyReport:
    """Counts of a reader, updated while it reads.

    concepts (int): number of concepts.
    names (int): number of their names.
    alternate_ids (int): number of their alternate identifiers.
    merged (int): number of rows merged with an earlier row of the same concept.
    skipped (Counter[str]): number of skipped rows or values, by reason.
    columns (dict[str, str]): roles assigned to the columns of a table, e.g. `{"id": "Code"}`;
        unused columns are under `not used`.
    replaced_by (dict[str, list[str]]): retired identifiers and their replacements; complete before
        the first concept is yielded.
    path (Path | None), line (int): the file and line read last, for messages.
    """

    concepts: int = 0
    names: int = 0
    alternate_ids: int = 0
    merged: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    columns: dict[str, str] = field(default_factory=dict)
    replaced_by: dict[str, list[str]] = field(default_factory=dict, compare=False)
    path: Path | None = field(default=None, compare=False)
    line: int = field(default=1, compare=False)

    def retire(self, old: str, new: str) -> None:
        """old (str): identifier that is no longer in use.
        new (str): identifier that replaced it."""
        self.replaced_by.setdefault(old, []).append(new)

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): the counts, and the columns of a table, as plain values."""
        counts = {
            name: getattr(self, name) for name in ("concepts", "names", "merged", "alternate_ids")
        }
        columns = {"columns": self.columns} if self.columns else {}
        return {**counts, "skipped": dict(self.skipped), **columns}


def wrong(expected: str, found: object) -> ValueError:
    """Create an error for invalid input; `read_vocabulary` adds the file and line.

    expected (str): what the format requires.
    found (object): what was found; shortened in the message.
    RETURNS (ValueError): the error to raise.
    """
    text = repr(found)
    text = text if len(text) <= 80 else f"{text[:76]} ..."
    return ValueError(f"expected {expected}, found {text}.")


def make_concept(
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
    """Create a concept from the values in a file. Strings are stripped, and blank strings are
    dropped.

    concept_id (str): identifier with its prefix.
    names (Iterable[str]): names, the canonical name first.
    scopes (Iterable[tuple[str, str]]): names with one of `concepts.SCOPES`; if a name has several
        scopes, the closest is used.
    RETURNS (Concept): the concept. Concepts without identifier or name are counted and skipped
        later.
    RAISES (ValueError): an identifier contains spaces, `|` or `+`.
    """
    first, *others = [text for name in names if (text := name.strip())] or [""]
    ids = dict.fromkeys(alternate_ids)
    for identifier in (concept_id, *ids):
        if identifier and not _IDENTIFIER.fullmatch(identifier):
            raise wrong("an identifier without spaces, `|` or `+`", identifier)
    ids.pop(concept_id, None)
    return Concept(
        concept_id=concept_id,
        canonical_name=first,
        aliases=tuple(others),
        types=tuple(dict.fromkeys(filter(None, types))),
        definition=(definition or "").strip() or None,
        alternate_ids=tuple(filter(None, ids)),
        parents=tuple(dict.fromkeys(filter(None, parents))),
        scopes=nearest_scopes((name.strip(), scope) for name, scope in scopes),
        parts=tuple(dict.fromkeys(parts)),
    )


def merge_concepts(*concepts: Concept) -> Concept:
    """Merge the rows of a concept. The first row gives the canonical name, and the definition if it
    has one.

    concepts (Concept): at least one; all have the same `concept_id`.
    RETURNS (Concept): all distinct names, types, alternate identifiers, parents, and parts; each
        name has the closest of its scopes.
    """

    def values(field: str) -> Iterator[Any]:
        return (value for concept in concepts for value in getattr(concept, field))

    return make_concept(
        concepts[0].concept_id,
        dict.fromkeys(values("names")),
        types=values("types"),
        definition=next(filter(None, (concept.definition for concept in concepts)), None),
        alternate_ids=values("alternate_ids"),
        parents=values("parents"),
        scopes=values("scopes"),
        parts=values("parts"),
    )


def merge_rows(rows: Iterable[Concept], report: VocabularyReport) -> Concepts:
    """Merge adjacent rows with the same identifier, and add the identifiers that concepts replaced.
    Rows without identifier or name are counted and skipped.

    rows (Iterable[Concept]): rows in the order of the file.
    report (VocabularyReport): counts concepts, merged rows, and skipped rows.
    YIELDS (Concept): a concept for each run of rows with the same identifier; `ConceptKB.build`
        joins the parts of concepts whose rows are not adjacent.
    RAISES (ValueError): there are no concepts.
    """
    seen: set[str] = set()
    retired: dict[str, list[str]] = {}
    for concept_id, group in groupby(_complete(rows, report), key=lambda row: row.concept_id):
        concept, *others = group
        if others:
            concept = merge_concepts(concept, *others)
        if not seen:
            retired = _retired_ids(report)
        if ids := retired.pop(concept_id, ()):
            alternates = tuple(dict.fromkeys((*concept.alternate_ids, *ids)))
            concept = replace(concept, alternate_ids=alternates)
        report.merged += len(others) + (concept_id in seen)
        report.concepts += concept_id not in seen
        seen.add(concept_id)
        report.names += len(concept.names)
        report.alternate_ids += len(concept.alternate_ids)
        yield concept
    if not seen:
        counts = ", ".join(f"{n} {reason}" for reason, n in sorted(report.skipped.items()))
        skipped = f" (left out: {counts})" if counts else ""
        raise ValueError(f"no concepts found{skipped}. Check the file and the filters.")
    if unused := sum(map(len, retired.values())):
        report.skipped["retired identifiers whose successor is not here"] += unused


def _complete(rows: Iterable[Concept], report: VocabularyReport) -> Concepts:
    for row in rows:
        if row.concept_id and row.canonical_name:
            yield row
        else:
            report.skipped[NO_NAME if row.concept_id else NO_ID] += 1


def _retired_ids(report: VocabularyReport) -> dict[str, list[str]]:
    """RETURNS (dict[str, list[str]]): identifier → retired identifiers that lead to it, directly or
    over several steps: with a → b and b → c, concept c gets a and b. Identifiers that lead to
    several concepts are counted."""
    retired: dict[str, list[str]] = {}
    for old in report.replaced_by:
        current = old
        for _ in range(MAX_SUCCESSION):
            targets = set(report.replaced_by.get(current, ()))
            if len(targets) != 1:
                break
            (current,) = targets
        if current in report.replaced_by:  # it leads to several identifiers, or back to itself
            report.skipped["retired identifiers without one successor"] += 1
        else:
            retired.setdefault(current, []).append(old)
    return retired


def split_cell(cell: str, separator: str = "|") -> list[str]:
    """cell (str): cell of a table.
    separator (str): separator of its values.
    RETURNS (list[str]): values that are not blank, with white space collapsed."""
    return [text for part in cell.split(separator) if (text := " ".join(part.split()))]


def own_id(code: str, prefix: str | None) -> str:
    """Normalize an identifier of a file that may omit the prefix of its vocabulary.

    code (str): as in the file; may be an IRI.
    prefix (str | None): vocabulary of identifiers without a prefix; None: MeSH or UMLS if the code
        has that form, otherwise none.
    RETURNS (str): in normal form.
    """
    code = iri_to_id(code.strip())
    return normalize_id(code, bare_prefix(code) if prefix is None else prefix)


def tree_types(numbers: Iterable[str]) -> list[str]:
    """Derive types from MeSH tree numbers: the letter of the tree, and its first branch.

    numbers (Iterable[str]): e.g. `C16.131.260/C538288`, `F03.625`.
    RETURNS (list[str]): sorted, e.g. `["C", "C16", "F", "F03"]`.
    RAISES (ValueError): one of them is not a tree number.
    """
    types: set[str] = set()
    for number in numbers:
        match = TREE_NUMBER.match(number)
        if match is None:
            raise wrong("MeSH tree numbers", number)
        types.update((match[1], match[0]))
    return sorted(types)


def tree_parents(numbers: Iterable[str], owners: Mapping[str, str]) -> Iterator[str]:
    """Derive parents from MeSH tree numbers.

    numbers (Iterable[str]): tree numbers of a concept, e.g. `C04.557.337`.
    owners (Mapping[str, str]): tree number → concept.
    YIELDS (str): for each number, the concept with the closest number above it.
    """
    for number in numbers:
        while number := number.rpartition(".")[0]:
            if number in owners:
                yield owners[number]
                break


def with_tree_numbers(
    concepts: Iterable[Concept], numbers: Mapping[str, Sequence[str]]
) -> Concepts:
    """concepts (Iterable[Concept]): concepts of MeSH.
    numbers (Mapping[str, Sequence[str]]): identifier → tree numbers.
    YIELDS (Concept): each concept, with types and parents derived from its tree numbers."""
    owners = {number: own for own, of_concept in numbers.items() for number in of_concept}
    for concept in concepts:
        own = numbers.get(concept.concept_id, ())
        types = dict.fromkeys([*tree_types(own), *concept.types])
        parents = dict.fromkeys([*tree_parents(own, owners), *concept.parents])
        yield replace(concept, types=tuple(types), parents=tuple(parents))
