"""What the formats of ontologies (OBO, OBO Graphs, OWL, SKOS) have in common: terms that become
concepts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from ...names.identifiers import normalize_id
from .records import NO_NAME, Rows, VocabularyReport, count_unused, make_row, successors

Scope = Literal["EXACT", "NARROW", "BROAD", "RELATED"]
SCOPES = frozenset(get_args(Scope))


@dataclass(slots=True)
class Term:
    """A term as its file describes it; identifiers are compact ones (`DOID:4`).

    line (int): where it begins, from 1.
    synonyms (list[tuple[str, str]]): each with its scope, one of `SCOPES`.
    replaced_by (list[str]): of an obsolete term, the terms to use instead.
    xrefs (list[str]): cross-references.
    """

    id: str
    name: str
    line: int = 1
    synonyms: list[tuple[str, str]] = field(default_factory=list)
    definition: str = ""
    namespace: str = ""
    alternates: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    is_obsolete: bool = False
    replaced_by: list[str] = field(default_factory=list)
    xrefs: list[str] = field(default_factory=list)


def term_rows(
    path: Path,
    read: Callable[[], Iterable[Term]],
    report: VocabularyReport,
    scopes: frozenset[Scope] | None,
    prefixes: frozenset[str] | None,
    xrefs: frozenset[str] | None,
) -> Rows:
    """The live terms. Obsolete ones are counted and become alternate identifiers of the term that
    replaces them.

    path (Path): the file. read (Callable[[], Iterable[Term]]): gives its terms; called twice, the
        first time for the replacements.
    scopes, prefixes, xrefs: see `obo.read_obo`.
    YIELDS (Row): one for each live term.
    """
    replaced_by = {normalize_id(t.id): t.replaced_by for t in read() if t.is_obsolete}
    if replaced_by:
        report.skipped["obsolete terms"] += len(replaced_by)
    replaced_by = {old: [*map(normalize_id, new)] for old, new in replaced_by.items() if new}
    retired = successors(replaced_by, report)
    for term in read():
        identifier = normalize_id(term.id)
        if term.is_obsolete:
            continue
        if not term.name:
            report.skipped[NO_NAME] += 1
        elif prefixes is not None and identifier.partition(":")[0] not in prefixes:
            report.skipped["terms of other ontologies"] += 1
            retired.pop(identifier, None)
        else:
            synonyms = [(n, s) for n, s in term.synonyms if scopes is None or s in scopes]
            references = map(normalize_id, term.xrefs)
            yield make_row(
                path,
                term.line,
                identifier,
                [term.name, *(name for name, _ in synonyms)],
                types=filter(None, [term.namespace]),
                definition=term.definition,
                alternate_ids=[
                    *map(normalize_id, term.alternates),
                    *retired.pop(identifier, ()),
                    *(code for code in references if _is_reference(code, xrefs)),
                ],
                parents=map(normalize_id, term.parents),
                scopes=[(term.name, "PREFERRED"), *synonyms],
            )
    count_unused(retired, report)


def _is_reference(identifier: str, prefixes: frozenset[str] | None) -> bool:
    prefix, _, code = identifier.partition(":")
    is_code = code and not code.startswith("//") and identifier.isascii() and "|" not in code
    return bool(is_code) and (prefixes is None or prefix in prefixes)
