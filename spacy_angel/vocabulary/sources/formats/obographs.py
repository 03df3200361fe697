"""Ontologies in OBO Graphs JSON, which the OBO Foundry publishes beside OBO and OWL."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ....files.formats import Format
from ...names.identifiers import iri_to_id
from .lines import load_json
from .ontologies import Scope, Term, term_concepts
from .records import Concepts, VocabularyReport, wrong

_REPLACED_BY = ("IAO_0100001", "replaced_by")


def read_obographs(
    path: Path,
    report: VocabularyReport,
    *,
    scopes: frozenset[Scope] | None = None,
    prefixes: frozenset[str] | None = None,
    xrefs: frozenset[str] | None = frozenset(),
) -> Concepts:
    """OBO Graphs JSON, e.g. `mondo.json`, read like OBO; `is_a` edges give the hierarchy.

    path (Path): the file, plain or gzip; loaded into memory as a whole.
    scopes (frozenset[Scope] | None): synonyms to include: EXACT, NARROW, BROAD, and RELATED; None:
        all.
    prefixes (frozenset[str] | None): terms to include, by the prefix of their identifiers; None:
        all.
    xrefs (frozenset[str] | None): prefixes of cross-references to include as alternate identifiers;
        None: all.
    YIELDS (Concept): one for each term that is not obsolete.
    RAISES (ValueError): the file is not such JSON.
    """
    graphs = load_json(path, report).get("graphs")
    try:
        terms = [term for graph in graphs or () for term in _terms(graph)]
    except (AttributeError, KeyError, TypeError) as error:
        raise wrong("`graphs` with `nodes` and `edges`", repr(error)) from error
    return term_concepts(terms, terms, report, scopes, prefixes, xrefs)


def _terms(graph: dict[str, Any]) -> Iterator[Term]:
    parents: dict[str, list[str]] = {}
    for edge in graph.get("edges", ()):
        if edge["pred"] in ("is_a", "rdfs:subClassOf"):
            parents.setdefault(edge["sub"], []).append(iri_to_id(edge["obj"]))
    for node in graph.get("nodes", ()):
        if node.get("type", "CLASS") != "CLASS":
            continue
        meta = node.get("meta") or {}
        values: dict[str, list[str]] = {}
        for pair in meta.get("basicPropertyValues", ()):
            name = pair["pred"].replace("#", "/").rpartition("/")[2]
            values.setdefault(name, []).append(pair["val"])
        yield Term(
            iri_to_id(node["id"]),
            (node.get("lbl") or "").strip(),
            synonyms=[
                (s["val"], s["pred"].removeprefix("has").removesuffix("Synonym").upper())
                for s in meta.get("synonyms", ())
            ],
            definition=(meta.get("definition") or {}).get("val", ""),
            namespace=next(iter(values.get("hasOBONamespace", ())), ""),
            alternates=[iri_to_id(value) for value in values.get("hasAlternativeId", ())],
            parents=parents.get(node["id"], []),
            is_obsolete=meta.get("deprecated") is True,
            replaced_by=[iri_to_id(v) for name in _REPLACED_BY for v in values.get(name, ())],
            xrefs=[reference["val"] for reference in meta.get("xrefs", ())],
        )


FORMAT = Format(
    "obographs.v1",
    read_obographs,
    lambda path, head: head.startswith("{") and '"graphs"' in head[:2000],
)
