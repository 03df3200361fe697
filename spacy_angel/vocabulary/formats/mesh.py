"""MeSH in XML: descriptors (desc*.xml) and supplementary records (supp*.xml)."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from ...files.faults import FileReading
from ...files.formats import Format
from ...files.xml_stream import stream_elements
from ..identifiers import normalize_id
from .lines import wrong
from .records import Row, VocabularyReport, make_row, tree_types

_RECORDS = {
    "DescriptorRecordSet": ("DescriptorRecord", "DescriptorUI", "DescriptorName/String"),
    "SupplementalRecordSet": (
        "SupplementalRecord",
        "SupplementalRecordUI",
        "SupplementalRecordName/String",
    ),
}
# Supplementary records have no tree numbers; their class tells the tree (protocols have none).
_CLASS_TREES = {"1": "D", "3": "C", "4": "B", "5": "M", "6": "A"}


def read_mesh_xml(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """MeSH's XML, one record in memory at a time.

    Names are all terms of all concepts of a record. Types are the letter and the branch of the
    tree numbers, which are kept (a supplementary record: the letter that belongs to its class), and
    UMLS semantic types where the file has them (until 2019). The definition is the scope note of
    the preferred concept, or the note of a supplementary record.

    path (Path): the file, gzipped or not.
    YIELDS (Row): one a record, with the line in which it ends.
    RAISES (AngelError): the file is not such XML, is cut, or a record lacks identifier or name.
    """
    reading = FileReading(str(path), progress=True)
    kinds = {root: [record] for root, (record, *_) in _RECORDS.items()}
    tags = {record: (code, name) for record, code, name in _RECORDS.values()}
    for number, element in stream_elements(path, reading, kinds):
        yield _row(path, number, element, *tags[element.tag])


def _row(path: Path, line: int, record: Element, id_tag: str, name_tag: str) -> Row:
    concepts = record.findall("ConceptList/Concept")
    preferred = [c for c in concepts if c.get("PreferredConceptYN") == "Y"]
    terms = (t for concept in concepts for t in concept.iterfind("TermList/Term/String"))
    canonical = _text(record.find(name_tag))
    notes = [_text(concept.find("ScopeNote")) for concept in preferred]
    numbers = [_text(number) for number in record.iterfind("TreeNumberList/TreeNumber")]
    try:
        types = tree_types(numbers)
    except ValueError as error:
        raise wrong(path, line, "MeSH tree numbers", error.args[0]) from error
    if record.tag == "SupplementalRecord":
        tree = _CLASS_TREES.get(record.get("SCRClass", "1"))
        types = [tree] if tree else []
    types += [_text(element) for element in record.iter("SemanticTypeUI")]
    return make_row(
        path,
        line,
        normalize_id(_text(record.find(id_tag)), "MESH"),
        dict.fromkeys((canonical, *map(_text, terms))),
        types=filter(None, types),
        definition=next(filter(None, notes), "") or _text(record.find("Note")),
        tree_numbers=numbers,
    )


def _text(element: Element | None) -> str:
    """The text of an element on one line: files may be indented."""
    return " ".join((element.text or "").split()) if element is not None else ""


def _recognises(path: Path, head: str) -> bool:
    return head.startswith("<") and any(f"<{root}" in head for root in _RECORDS)


FORMAT = Format("mesh_xml.v1", read_mesh_xml, _recognises)
