"""Terms of ontologies (OBO, OBO Graphs, OWL, SKOS, FHIR) as concepts."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from ...names.identifiers import normalize_id
from .records import NO_NAME, Concepts, VocabularyReport, make_concept, with_retired_ids

Scope = Literal["EXACT", "NARROW", "BROAD", "RELATED"]
SCOPES = frozenset(get_args(Scope))


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
    """Make concepts of terms. Obsolete terms become alternate identifiers of the term that replaces
    them.

    terms (Iterable[Term]), same_terms (Iterable[Term]): all terms of a file, twice: obsolete terms
        may come after those that replace them.
    report (VocabularyReport): receives the counts.
    scopes, prefixes, xrefs: see `obo.read_obo`.
    YIELDS (Concept): one per term that is not obsolete.
    """
    replaced_by: dict[str, list[str]] = {}
    for term in terms:
        if term.is_obsolete:
            report.skipped["obsolete terms"] += 1
            if term.replaced_by:
                replaced_by[normalize_id(term.id)] = list(map(normalize_id, term.replaced_by))

    def concepts() -> Concepts:
        for term in same_terms:
            if term.is_obsolete:
                continue
            if not term.name:
                report.skipped[NO_NAME] += 1
                continue
            synonyms = [(n, s) for n, s in term.synonyms if scopes is None or s in scopes]
            references = map(normalize_id, term.xrefs)
            yield make_concept(
                normalize_id(term.id),
                [term.name, *(name for name, _ in synonyms)],
                types=[term.namespace],
                definition=term.definition,
                alternate_ids=[
                    *map(normalize_id, term.alternates),
                    *(code for code in references if _is_reference(code, xrefs)),
                ],
                parents=map(normalize_id, term.parents),
                scopes=[(term.name, "PREFERRED"), *(pair for pair in synonyms if pair[1])],
            )

    for concept in with_retired_ids(concepts(), replaced_by, report):
        if prefixes is None or concept.concept_id.partition(":")[0] in prefixes:
            yield concept
        else:
            report.skipped["terms of other ontologies"] += 1


def _is_reference(identifier: str, prefixes: frozenset[str] | None) -> bool:
    prefix, _, code = identifier.partition(":")
    is_code = code and not code.startswith("//") and identifier.isascii() and "|" not in code
    return bool(is_code) and (prefixes is None or prefix in prefixes)
