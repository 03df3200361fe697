"""MeSH in XML: descriptors (desc*.xml) and supplementary records (supp*.xml)."""

from pathlib import Path
from xml.etree.ElementTree import Element

from ....files.faults import FileReading
from ....files.formats import Format
from ....files.xml_stream import stream_elements
from ...names.concepts import Concept
from ...names.identifiers import normalize_id
from .records import Concepts, VocabularyReport, make_concept, with_tree_numbers

# Tag of a record → first part of the tags of its identifier and name.
_RECORDS = {"DescriptorRecord": "Descriptor", "SupplementalRecord": "SupplementalRecord"}
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
    kinds = {f"{record}Set": [record] for record in _RECORDS}
    in_trees: list[Concept] = []
    numbers: dict[str, list[str]] = {}
    report.path = path
    for report.line, element in stream_elements(path, reading, kinds):
        concept = _concept(element)
        if own := [_text(number) for number in element.iterfind("TreeNumberList/TreeNumber")]:
            in_trees.append(concept)
            numbers[concept.concept_id] = own
        else:
            yield concept
    yield from with_tree_numbers(in_trees, numbers)


def _concept(record: Element) -> Concept:
    tag = _RECORDS[record.tag]
    concepts = record.findall("ConceptList/Concept")
    preferred = [c for c in concepts if c.get("PreferredConceptYN") == "Y"]
    relations = _relations(concepts, preferred)
    terms = [
        (_text(term), relations.get(_text(concept.find("ConceptUI")), ""))
        for concept in concepts
        for term in concept.iterfind("TermList/Term/String")
    ]
    canonical = _text(record.find(f"{tag}Name/String"))
    notes = [_text(concept.find("ScopeNote")) for concept in preferred]
    types = [_text(element) for element in record.iter("SemanticTypeUI")]
    if tag == "SupplementalRecord":
        types.insert(0, _CLASS_TREES.get(record.get("SCRClass", "1"), ""))
    return make_concept(
        normalize_id(_text(record.find(f"{tag}UI")), "MESH"),
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
    return head.startswith("<") and any(f"<{record}Set" in head for record in _RECORDS)


FORMAT = Format("mesh_xml.v1", read_mesh_xml, _recognizes)
