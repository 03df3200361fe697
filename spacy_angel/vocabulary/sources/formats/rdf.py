"""Ontologies in OWL and thesauri in SKOS, in any RDF syntax that rdflib supports."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ....errors import AngelError, cannot_read
from ....files.formats import Format
from ....files.table import import_optional
from ...names.identifiers import iri_to_id
from .lines import read_bytes
from .ontologies import SCOPES, Scope, Term, term_concepts
from .records import Concepts, VocabularyReport

_OBO = "http://purl.obolibrary.org/obo/"
_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
_ALTERNATIVE_TERMS = (f"{_OBO}IAO_0000118", "http://www.ebi.ac.uk/efo/alternative_term")
_REPLACED_BY = (f"{_OBO}IAO_0100001", "http://purl.org/dc/terms/isReplacedBy")
# First words of a file → syntax, as named by rdflib.
_SYNTAXES = {"<?xml": "xml", "<rdf:RDF": "xml", "{": "json-ld", "[": "json-ld"}


def read_rdf(
    path: Path,
    report: VocabularyReport,
    *,
    languages: frozenset[str] | None = frozenset({"en"}),
    scopes: frozenset[Scope] | None = None,
    prefixes: frozenset[str] | None = None,
    xrefs: frozenset[str] | None = frozenset(),
) -> Concepts:
    """OWL classes and SKOS concepts in RDF/XML, Turtle, N-Triples, or JSON-LD. `subClassOf`,
    `broader`, and `narrower` give the hierarchy.

    path (Path): the file, plain or gzip; loaded into memory as a whole.
    languages (frozenset[str] | None): languages of names and definitions, e.g. `en` (which includes
        `en-GB`); those without a language are always included; None: all.
    scopes (frozenset[Scope] | None): synonyms to include: EXACT, NARROW, BROAD, and RELATED; None:
        all.
    prefixes (frozenset[str] | None): terms to include, by the prefix of their identifiers; None:
        all.
    xrefs (frozenset[str] | None): prefixes of cross-references to include as alternate identifiers;
        None: all.
    YIELDS (Concept): one for each term that is not obsolete.
    RAISES (ValueError): rdflib is not installed, or cannot read the file.
    """
    graph = _graph(path)
    report.path = path
    terms = list(_terms(graph, languages))
    return term_concepts(terms, terms, report, scopes, prefixes, xrefs)


def _graph(path: Path) -> Any:
    rdflib = import_optional("rdflib", "rdf")
    graph = rdflib.Graph()
    data = read_bytes(path)
    start = data[:100].lstrip().decode("utf8", errors="replace")
    syntax = next((name for mark, name in _SYNTAXES.items() if start.startswith(mark)), "turtle")
    try:
        graph.parse(data=data, format=syntax)
    # each parser of rdflib raises its own errors
    except Exception as error:
        raise AngelError(cannot_read(path, error)) from error
    return graph


def _terms(graph: Any, languages: frozenset[str] | None) -> Iterator[Term]:
    from rdflib import OWL, RDF, RDFS, SKOS, BNode, Literal, URIRef

    synonym_scopes: dict[str, str] = {
        **{f"{_IN_OWL}has{scope.capitalize()}Synonym": scope for scope in SCOPES},
        **{SKOS.altLabel: "EXACT", SKOS.hiddenLabel: "RELATED"},
        **dict.fromkeys(_ALTERNATIVE_TERMS, "EXACT"),
    }

    def values(subject: Any, predicates: Iterable[str]) -> list[Any]:
        return [value for p in predicates for value in graph.objects(subject, URIRef(p))]

    def texts(subject: Any, *predicates: str) -> list[str]:
        found = values(subject, predicates)
        return sorted(str(value).strip() for value in found if _is_in(value, languages))

    def ids(subject: Any, *predicates: str) -> list[str]:
        found = values(subject, predicates)
        return sorted(_id(value, graph) for value in found if not isinstance(value, BNode))

    subjects = {s for kind in (OWL.Class, SKOS.Concept) for s in graph.subjects(RDF.type, kind)}
    for subject in sorted(s for s in subjects if isinstance(s, URIRef)):
        names = [*texts(subject, SKOS.prefLabel), *texts(subject, RDFS.label)]
        synonyms = [(name, "EXACT") for name in names[1:] if name != names[0]]
        synonyms += [(n, scope) for p, scope in synonym_scopes.items() for n in texts(subject, p)]
        narrower = graph.subjects(SKOS.narrower, subject)
        yield Term(
            _id(subject, graph),
            next(iter(names), ""),
            synonyms=synonyms,
            definition=next(iter(texts(subject, f"{_OBO}IAO_0000115", SKOS.definition)), ""),
            namespace=next(iter(texts(subject, f"{_IN_OWL}hasOBONamespace")), ""),
            alternates=ids(subject, f"{_IN_OWL}hasAlternativeId"),
            parents=[
                *ids(subject, RDFS.subClassOf, SKOS.broader),
                *sorted(_id(s, graph) for s in narrower),
            ],
            is_obsolete=(subject, OWL.deprecated, Literal(True)) in graph,
            replaced_by=ids(subject, *_REPLACED_BY),
            xrefs=ids(subject, f"{_IN_OWL}hasDbXref", SKOS.exactMatch),
        )


def _is_in(value: Any, languages: frozenset[str] | None) -> bool:
    language = getattr(value, "language", None)
    return languages is None or not language or language.partition("-")[0] in languages


def _id(value: Any, graph: Any) -> str:
    """Compact identifier of a node: by the form of its address, or else by the prefixes of the
    file."""
    if (identifier := iri_to_id(str(value))) != str(value):
        return identifier
    for prefix, namespace in graph.namespaces():
        code = str(value).removeprefix(namespace)
        if prefix and code != str(value) and code and "/" not in code:
            return f"{prefix}:{code}"
    return str(value)


def _recognizes(path: Path, head: str) -> bool:
    is_xml = "<rdf:RDF" in head or "<RDF" in head
    starts = ("@prefix", "prefix ", "@base", "<http")
    is_turtle = head.lower().startswith(starts) or "\n@prefix" in head
    return is_xml or is_turtle or ("@context" in head[:2000] and head.startswith(("{", "[")))


FORMAT = Format("rdf.v1", read_rdf, _recognizes)
