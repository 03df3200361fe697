"""Terms of ontologies (OBO, OBO Graphs, OWL, SKOS, FHIR) as concepts."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from ...names.identifiers import normalize_id
from .records import Concepts, VocabularyReport, make_concept

Scope = Literal["EXACT", "NARROW", "BROAD", "RELATED"]
SCOPES: tuple[str, ...] = get_args(Scope)


@dataclass(slots=True)
class Term:
    """A term as it is described in the file, with compact identifiers (`DOID:4`).

    synonyms (list[tuple[str, str]]): synonyms and their scopes, one of `SCOPES`, or empty if the
        file has none.
    replaced_by (list[str]): terms to use instead of an obsolete term.
    xrefs (list[str]): cross-references.
    """

    id: str
    name: str
    synonyms: list[tuple[str, str]] = field(default_factory=list)
    definition: str = ""
    namespace: str = ""
    alternates: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    is_obsolete: bool = False
    replaced_by: list[str] = field(default_factory=list)
    xrefs: list[str] = field(default_factory=list)


def term_concepts(
    terms: Iterable[Term],
    same_terms: Iterable[Term],
    report: VocabularyReport,
    scopes: frozenset[Scope] | None = None,
    prefixes: frozenset[str] | None = None,
    xrefs: frozenset[str] | None = frozenset(),
) -> Concepts:
    """Convert terms to concepts. Obsolete terms become alternate identifiers of the term that
    replaces them.

    terms (Iterable[Term]), same_terms (Iterable[Term]): all terms of a file, twice, since obsolete
        terms may come after the terms that replace them.
    report (VocabularyReport): receives the counts.
    scopes, prefixes, xrefs: see `obo.read_obo`.
    YIELDS (Concept): a concept for each term that is not obsolete.
    """
    for term in terms:
        if term.is_obsolete:
            report.skipped["obsolete terms"] += 1
            for successor in term.replaced_by:
                report.retire(normalize_id(term.id), normalize_id(successor))
    for term in same_terms:
        concept_id = normalize_id(term.id)
        if term.is_obsolete:
            continue
        if prefixes is not None and concept_id.partition(":")[0] not in prefixes:
            report.skipped["terms of other ontologies"] += 1
            continue
        synonyms = [(n, s) for n, s in term.synonyms if scopes is None or s in scopes]
        references = map(normalize_id, term.xrefs)
        yield make_concept(
            concept_id,
            [term.name, *(name for name, _ in synonyms)] if term.name else (),
            types=[term.namespace],
            definition=term.definition,
            alternate_ids=[
                *map(normalize_id, term.alternates),
                *(code for code in references if _is_reference(code, xrefs)),
            ],
            parents=map(normalize_id, term.parents),
            scopes=[(term.name, "PREFERRED"), *(pair for pair in synonyms if pair[1])],
        )


def _is_reference(identifier: str, prefixes: frozenset[str] | None) -> bool:
    prefix, _, code = identifier.partition(":")
    is_code = code and not code.startswith("//") and identifier.isascii() and "|" not in code
    return bool(is_code) and (prefixes is None or prefix in prefixes)
