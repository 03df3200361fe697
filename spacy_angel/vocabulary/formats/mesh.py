"""MeSH in XML: descriptors (desc*.xml) and supplementary records (supp*.xml)."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from ...errors import AngelError
from ..identifiers import normalize_id
from .lines import read_pieces, wrong
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
_PIECE_BYTES = 1 << 16


def read_mesh_xml(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """MeSH's XML, one record in memory at a time.

    Names are all terms of all concepts of a record. Types are the letter and the branch of the
    tree numbers (a supplementary record: the letter that belongs to its class), and UMLS
    semantic types where the file has them (until 2019). The definition is the scope note of the
    preferred concept, or the note of a supplementary record.

    path (Path): the file, gzipped or not.
    YIELDS (Row): one a record, with the line in which it ends.
    RAISES (AngelError): the file is not such XML, is cut, or a record lacks identifier or name.
    """
    root: Element | None = None
    record_tag = id_tag = name_tag = ""
    for number, event, element in _events(path):
        if root is None:
            root = element
            if root.tag not in _RECORDS:
                expected = " or ".join(f"<{tag}>" for tag in _RECORDS)
                raise wrong(path, number, expected, f"<{root.tag}>")
            record_tag, id_tag, name_tag = _RECORDS[root.tag]
        elif event == "end" and element.tag == record_tag:
            yield _row(path, number, element, id_tag, name_tag)
            # What was read must go, or the tree grows with the file.
            root.clear()


def _events(path: Path) -> Iterator[tuple[int, str, Element]]:
    """Line, `start` or `end`, and element, as the file is read."""
    parser: XMLPullParser = XMLPullParser(("start", "end"))
    number = 1
    try:
        for number, piece in read_pieces(path, _PIECE_BYTES):
            parser.feed(piece)
            yield from _read_events(parser, number)
        # The parser may have held back the last elements until it knows that nothing follows.
        parser.close()
        yield from _read_events(parser, number)
    except (ParseError, LookupError, ValueError) as error:
        if isinstance(error, AngelError):
            raise
        raise wrong(path, number, "well-formed XML", str(error)) from error


def _read_events(parser: XMLPullParser, number: int) -> Iterator[tuple[int, str, Element]]:
    for event, element in cast(Iterator[tuple[str, Element]], parser.read_events()):
        yield number, event, element


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
    )


def _text(element: Element | None) -> str:
    """The text of an element on one line: files may be indented."""
    return " ".join((element.text or "").split()) if element is not None else ""
