"""What the formats of ontologies (OBO, OBO Graphs, OWL, SKOS) have in common: terms that become
concepts."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from ...names.identifiers import normalize_id
from .records import (
    NO_NAME,
    Concepts,
    VocabularyReport,
    count_unused,
    make_concept,
    successors,
)

Scope = Literal["EXACT", "NARROW", "BROAD", "RELATED"]
SCOPES = frozenset(get_args(Scope))


@dataclass(slots=True)
class Term:
    """A term as its file describes it; identifiers are compact ones (`DOID:4`).

    line (int): where it begins, from 1.
    synonyms (list[tuple[str, str]]): each with its scope, one of `SCOPES`, or empty if the file
        says nothing.
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


def term_concepts(
    path: Path,
    terms: Iterable[Term],
    same_terms: Iterable[Term],
    report: VocabularyReport,
    scopes: frozenset[Scope] | None = None,
    prefixes: frozenset[str] | None = None,
    xrefs: frozenset[str] | None = frozenset(),
) -> Concepts:
    """The live terms as concepts. Obsolete ones are counted and become alternate identifiers of the
    term that replaces them.

    path (Path): the file.
    terms (Iterable[Term]), same_terms (Iterable[Term]): its terms, read for the replacements first,
        then for the concepts.
    scopes, prefixes, xrefs: see `obo.read_obo`.
    YIELDS (Concept): one for each live term.
    """
    obsolete = {normalize_id(term.id): term.replaced_by for term in terms if term.is_obsolete}
    if obsolete:
        report.skipped["obsolete terms"] += len(obsolete)
    replaced_by = {old: [normalize_id(one) for one in new] for old, new in obsolete.items() if new}
    retired = successors(replaced_by, report)
    for term in same_terms:
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
            yield make_concept(
                path,
                term.line,
                identifier,
                [term.name, *(name for name, _ in synonyms)],
                types=[term.namespace],
                definition=term.definition,
                alternate_ids=[
                    *map(normalize_id, term.alternates),
                    *retired.pop(identifier, ()),
                    *(code for code in references if _is_reference(code, xrefs)),
                ],
                parents=map(normalize_id, term.parents),
                scopes=[(term.name, "PREFERRED"), *(pair for pair in synonyms if pair[1])],
            )
    count_unused(retired, report)


def _is_reference(identifier: str, prefixes: frozenset[str] | None) -> bool:
    prefix, _, code = identifier.partition(":")
    is_code = code and not code.startswith("//") and identifier.isascii() and "|" not in code
    return bool(is_code) and (prefixes is None or prefix in prefixes)
