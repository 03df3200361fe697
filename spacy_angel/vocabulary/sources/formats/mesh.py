"""MeSH in XML: descriptors (desc*.xml) and supplementary records (supp*.xml)."""

from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element

from ....files.faults import FileReading
from ....files.formats import Format
from ....files.xml_stream import stream_elements
from ...names.concepts import Concept
from ...names.identifiers import normalize_id
from .records import Concepts, VocabularyReport, make_concept, tree_parents, tree_types

_RECORDS = {
    "DescriptorRecordSet": ("DescriptorRecord", "DescriptorUI", "DescriptorName/String"),
    "SupplementalRecordSet": (
        "SupplementalRecord",
        "SupplementalRecordUI",
        "SupplementalRecordName/String",
    ),
}
_RELATIONS = {"NRW": "NARROW", "BRD": "BROAD", "REL": "RELATED"}
_INVERSE = {"NRW": "BRD", "BRD": "NRW"}
# Supplementary records have no tree numbers; their class determines the tree (none for protocols).
_CLASS_TREES = {"1": "D", "3": "C", "4": "B", "5": "M", "6": "A"}


def read_mesh_xml(path: Path, report: VocabularyReport) -> Concepts:
    """Read MeSH in XML. Tree numbers are the hierarchy.

    The names are the terms of all concepts of a record. Terms of the preferred concept are exact;
    other terms are narrower, broader, or related, like their concept. The types are the letter and
    branch of the tree numbers (or the letter for the class of a supplementary record), and UMLS
    semantic types if the file has them (until 2019). The definition is the scope note of the
    preferred concept, or the note of a supplementary record.

    path (Path): file, plain or gzip.
    YIELDS (Concept): one per record; records with tree numbers come last.
    RAISES (ValueError): the file is not MeSH in XML or is truncated.
    """
    reading = FileReading(str(path))
    kinds = {root: [record] for root, (record, *_) in _RECORDS.items()}
    tags = {record: (code, name) for record, code, name in _RECORDS.values()}
    in_trees: list[tuple[Concept, list[str]]] = []
    report.path = path
    for report.line, element in stream_elements(path, reading, kinds):
        numbers = [_text(number) for number in element.iterfind("TreeNumberList/TreeNumber")]
        concept = _concept(element, numbers, *tags[element.tag])
        if numbers:
            in_trees.append((concept, numbers))
        else:
            yield concept
    owners = {number: concept.concept_id for concept, numbers in in_trees for number in numbers}
    for concept, numbers in in_trees:
        yield replace(concept, parents=tuple(dict.fromkeys(tree_parents(numbers, owners))))


def _concept(record: Element, numbers: list[str], id_tag: str, name_tag: str) -> Concept:
    concepts = record.findall("ConceptList/Concept")
    preferred = [c for c in concepts if c.get("PreferredConceptYN") == "Y"]
    relations = _relations(concepts, preferred)
    terms = [
        (_text(term), relations.get(_text(concept.find("ConceptUI")), ""))
        for concept in concepts
        for term in concept.iterfind("TermList/Term/String")
    ]
    canonical = _text(record.find(name_tag))
    notes = [_text(concept.find("ScopeNote")) for concept in preferred]
    types = tree_types(numbers)
    if record.tag == "SupplementalRecord":
        types = [_CLASS_TREES.get(record.get("SCRClass", "1"), "")]
    types += [_text(element) for element in record.iter("SemanticTypeUI")]
    return make_concept(
        normalize_id(_text(record.find(id_tag)), "MESH"),
        dict.fromkeys((canonical, *(term for term, _ in terms))),
        types=types,
        definition=next(filter(None, notes), "") or _text(record.find("Note")),
        scopes=[(canonical, "PREFERRED"), *((term, scope) for term, scope in terms if scope)],
    )


def _relations(concepts: list[Element], preferred: list[Element]) -> dict[str, str]:
    """Scopes of the terms of each concept, by its relation to the preferred concept of the
    record."""
    own = {_text(concept.find("ConceptUI")) for concept in preferred}
    scopes = dict.fromkeys(own, "EXACT")
    for concept in concepts:
        for relation in concept.iterfind("ConceptRelationList/ConceptRelation"):
            first, second = (_text(relation.find(f"Concept{i}UI")) for i in (1, 2))
            name = relation.get("RelationName", "")
            # The preferred concept usually comes first; the relation describes the second one.
            if first in own:
                scopes.setdefault(second, _RELATIONS.get(name, ""))
            elif second in own:
                scopes.setdefault(first, _RELATIONS.get(_INVERSE.get(name, name), ""))
    return scopes


def _text(element: Element | None) -> str:
    """Text of an element as a single line: files may be indented."""
    return " ".join((element.text or "").split()) if element is not None else ""


def _recognizes(path: Path, head: str) -> bool:
    return head.startswith("<") and any(f"<{root}" in head for root in _RECORDS)


FORMAT = Format("mesh_xml.v1", read_mesh_xml, _recognizes)
