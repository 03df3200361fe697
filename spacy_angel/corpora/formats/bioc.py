"""BioC in XML and JSON: BC5CDR, BioRED and what PubTator exports; read as a stream.

A collection holds documents, a document passages with an offset and a text, a passage annotations
with an identifier among their infons. Text that only stands in a passage's sentences is taken from
there. A composite's individual mentions (BC5CDR: infon `CompositeRole`) become its parts. What
BioC has no place for, `to_bioc` puts into infons of its own: the parts of a composite, which after
preprocessing need not stand in the text, and the preprocessing steps, each as a JSON list; and what
is read in a mention's place.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ...files.atomic import replacing
from ...files.formats import Format
from ...files.json_stream import stream_objects
from ...files.json_values import parse_json
from ...files.xml_stream import stream_elements
from ..documents import CorpusDocument, GoldMention, Reading

# Spaces that may be put between two passages: an offset beyond is a fault, not a text.
MAX_GAP = 100_000

# Infons that hold an identifier, in the order in which they are looked for.
_ID_KEYS = {
    "identifier": "",
    "mesh": "MESH",
    "omim": "OMIM",
    "umls": "UMLS",
    "snomedct": "SNOMEDCT",
    "ncbi_gene": "NCBIGene",
    "ncbi gene": "NCBIGene",
    "ncbi_taxonomy": "NCBITaxon",
    "chebi": "CHEBI",
}


_PARTS, _STEPS, _READ_AS = "composite_parts", "preprocessing_steps", "read_as"

# An identifier without vocabulary, and not the `-1` that stands for none.
_BARE = re.compile(r"(?<![^|+,;\s])[^|+,;:\s-][^|+,;:\s]*(?![^|+,;\s])")


class _Malformed(Exception):
    """Something in a document is missing or of the wrong kind; the text says what."""


def read_bioc_xml(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Documents of a BioC XML file; each is dropped from memory once it is handed out.

    path (Path): file, plain or gzip.
    reading (Reading): gets counts and faults.
    RETURNS (Iterator[CorpusDocument]): in the order of the file.
    RAISES (AngelError): where the XML is broken or cut, or holds no collection; for other faults
        with `reading.strict`.
    """
    for number, element in stream_elements(path, reading, {"collection": ["document"]}):
        yield from _document(_plain(element), reading, number)


def read_bioc_json(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Documents of a BioC JSON file: a collection, a list of documents, or one document a line.

    path (Path), reading (Reading), RETURNS, RAISES: as `read_bioc_xml`.
    """
    for number, value in stream_objects(path, reading, within=("documents", "PubTator3")):
        yield from _document(value, reading, number)


def _plain(element: ElementTree.Element) -> dict[str, Any]:
    """A document, passage, sentence or annotation of the XML in the shape of the JSON."""
    value: dict[str, Any] = {
        "infons": {infon.get("key", ""): infon.text or "" for infon in element.findall("infon")}
    }
    for tag in ("id", "offset", "text"):
        if (child := element.find(tag)) is not None:
            value[tag] = child.text or ""
    for tag in ("passage", "sentence", "annotation"):
        value[tag + "s"] = [_plain(child) for child in element.findall(tag)]
    value["locations"] = [dict(location.attrib) for location in element.findall("location")]
    if element.tag == "annotation":
        value["id"] = element.get("id", "")
    return value


def _document(value: Any, reading: Reading, line: int) -> Iterator[CorpusDocument]:
    try:
        yield _build(value, reading, line)
    except _Malformed as problem:
        reading.fault(
            f"{reading.where(line)}: not a BioC document: {problem}.",
            lost="documents_left_out",
        )


def _build(value: Any, reading: Reading, line: int) -> CorpusDocument:
    document = _mapping(value, "document")
    doc_id = _string(document, "id", "document")
    passages = [_mapping(passage, "passage") for passage in _list(document, "passages")]
    text, title_end = _text(passages)
    holders = (document, *passages, *(s for p in passages for s in _sentences(p)))
    annotations = [
        _mapping(annotation, "annotation")
        for holder in holders
        for annotation in _list(holder, "annotations")
    ]
    parts = [
        (_span(a), _string(a, "text", "annotation"))
        for a in annotations
        if _role(a) == "IndividualMention"
    ]
    reading.report.count("individual_mentions", len(parts))
    mentions = (
        _mention(text, annotation, parts, doc_id, reading, line)
        for annotation in annotations
        if _role(annotation) != "IndividualMention"
    )
    return CorpusDocument(
        doc_id=doc_id,
        text=text,
        mentions=tuple(mention for mention in mentions if mention is not None),
        split=reading.split,
        title_end=title_end,
        steps=_listed(_infons(document), _STEPS),
    )


def _text(passages: list[Mapping[str, Any]]) -> tuple[str, int | None]:
    """The passages at their offsets, spaces between them, and where the title ends."""
    text, title_end = "", None
    for passage in passages:
        units = [passage] if passage.get("text") is not None else _sentences(passage)
        for unit in units:
            offset, piece = _integer(unit, "offset"), _string(unit, "text", "passage")
            if not len(text) <= offset <= len(text) + MAX_GAP:
                raise _Malformed(
                    f"a passage has offset {offset} where {len(text)} characters went before"
                )
            text += " " * (offset - len(text)) + piece
        if title_end is None and _infons(passage).get("type") == "title":
            title_end = len(text)
    return text, title_end


def _mention(
    text: str,
    annotation: Mapping[str, Any],
    parts: list[tuple[tuple[int, int], str]],
    doc_id: str,
    reading: Reading,
    line: int,
) -> GoldMention | None:
    """A mention; a composite gets the individual mentions that it covers. Those are taken at their
    word: their pieces are off by a character here and there, and nothing is marked by them."""
    infons, (start, end) = _infons(annotation), _span(annotation)
    mention = _string(annotation, "text", "annotation")
    pieces = [text[begin:stop] for begin, stop in _locations(annotation)]
    if len(pieces) > 1 and " ".join(pieces).split() == mention.split():
        note = f"{reading.where(line)}: document {doc_id}, {mention!r} in pieces, taken as a whole"
        reading.report.count("discontinuous_mentions", note=note)
        mention = text[start:end]
    inside = _listed(infons, _PARTS)
    if _role(annotation) == "CompositeMention":
        inside = tuple(part for (begin, stop), part in parts if start <= begin and stop <= end)
    label = infons.get("type", "")
    found = reading.mention(
        text, (start, end), mention, doc_id, line, label, _raw_ids(infons), inside
    )
    read_as = infons.get(_READ_AS, "")
    return replace(found, read_as=read_as) if found is not None and read_as else found


def _role(annotation: Mapping[str, Any]) -> str:
    return _infons(annotation).get("CompositeRole", "")


def _span(annotation: Mapping[str, Any]) -> tuple[int, int]:
    """Start of the first and end of the last piece."""
    locations = _locations(annotation)
    return locations[0][0], locations[-1][1]


def _locations(annotation: Mapping[str, Any]) -> list[tuple[int, int]]:
    spans = []
    for value in _list(annotation, "locations"):
        location = _mapping(value, "location")
        start = _integer(location, "offset")
        spans.append((start, start + _integer(location, "length")))
    if not spans:
        mention = _string(annotation, "text", "annotation")
        raise _Malformed(f"the annotation {mention!r} has no location")
    return sorted(spans)


def _raw_ids(infons: Mapping[str, str]) -> str:
    by_key = {key.lower(): value for key, value in infons.items()}
    for key, prefix in _ID_KEYS.items():
        if value := by_key.get(key, "").strip():
            return _BARE.sub(rf"{prefix}:\g<0>", value) if prefix else value
    return ""


def _infons(value: Mapping[str, Any]) -> dict[str, str]:
    infons = value.get("infons") or {}
    return {key: str(item) for key, item in _mapping(infons, "infons").items() if item is not None}


def _listed(infons: Mapping[str, str], key: str) -> tuple[str, ...]:
    """A list that `to_bioc` put into an infon; empty where there is none."""
    try:
        values = parse_json(infons.get(key, "[]"))
    except ValueError:
        values = None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise _Malformed(f"{key}: a JSON list of strings was expected, {infons[key]!r} came")
    return tuple(values)


def _sentences(passage: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [_mapping(sentence, "sentence") for sentence in _list(passage, "sentences")]


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _Malformed(f"{what}: an object was expected, {type(value).__name__} came")
    return value


def _list(value: Mapping[str, Any], key: str) -> list[Any]:
    items = value.get(key)
    if items is None:
        return []
    if not isinstance(items, list):
        raise _Malformed(f"{key}: a list was expected, {type(items).__name__} came")
    return items


def _string(value: Mapping[str, Any], key: str, what: str) -> str:
    item = value.get(key)
    if isinstance(item, int) and key == "id":
        return str(item)
    if not isinstance(item, str):
        raise _Malformed(f"{what}: {key} must be a string, {type(item).__name__} came")
    try:
        item.encode("utf8")
    except UnicodeEncodeError as error:
        raise _Malformed(f"{what}: {key} holds half a character ({error})") from error
    return item


def _integer(value: Mapping[str, Any], key: str) -> int:
    item = value.get(key)
    try:
        number = int(item) if isinstance(item, int | str) else -1
    except ValueError:
        number = -1
    if number < 0:
        raise _Malformed(f"{key} must be a whole number from 0 on, {str(item)[:40]!r} came")
    return number


def to_bioc(document: CorpusDocument) -> dict[str, Any]:
    """A document in BioC's JSON shape, as PubTator exports it.

    document (CorpusDocument): with any mentions; without a title there is one passage.
    RETURNS (dict[str, Any]): plain values for `json.dump`.
    """
    text, end = document.text, document.title_end
    if end is None or end >= len(text):
        pieces = [("text" if end is None else "title", 0, len(text))]
    else:
        # The space after the title belongs to no passage; BioC's offsets leave it out.
        pieces = [("title", 0, end), ("abstract", end + (text[end] == " "), len(text))]
    passages = []
    for number, (kind, start, end) in enumerate(pieces):
        following = pieces[number + 1][1] if number + 1 < len(pieces) else len(text)
        first = start if number else 0
        passages.append(
            {
                "offset": start,
                "infons": {"type": kind},
                "text": text[start:end],
                "sentences": [],
                "annotations": [
                    _annotation(index, mention)
                    for index, mention in enumerate(document.mentions)
                    if first <= mention.start < following
                ],
                "relations": [],
            }
        )
    return {
        "id": document.doc_id,
        "infons": {_STEPS: json.dumps(document.steps)} if document.steps else {},
        "passages": passages,
        "annotations": [],
        "relations": [],
    }


def _annotation(number: int, mention: GoldMention) -> dict[str, Any]:
    infons = {"type": mention.label, "identifier": mention.concept_ids}
    if mention.parts:
        infons[_PARTS] = json.dumps(mention.parts, ensure_ascii=False)
    if mention.read_as:
        infons[_READ_AS] = mention.read_as
    return {
        "id": str(number),
        "infons": infons,
        "text": mention.text,
        "locations": [{"offset": mention.start, "length": mention.end - mention.start}],
    }


def write_bioc_json(documents: Iterable[CorpusDocument], path: Path) -> None:
    """Write a BioC collection, one document a line.

    documents (Iterable[CorpusDocument]): written as they come.
    path (Path): the file.
    """
    with replacing(path) as file:
        for line in bioc_collection(map(to_bioc, documents)):
            file.write(line)


def bioc_collection(documents: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """A BioC collection in pieces, one document a line.

    documents (Iterable[Mapping[str, Any]]): as `to_bioc` makes them.
    RETURNS (Iterator[bytes]): the file.
    """
    head = {"source": "spacy-angel", "date": "", "key": "", "infons": {}, "documents": []}
    yield json.dumps(head)[:-2].encode("utf8")
    for number, document in enumerate(documents):
        line = json.dumps(document, ensure_ascii=False)
        yield (",\n" if number else "\n").encode() + line.encode("utf8")
    yield b"\n]}\n"


XML = Format("bioc_xml", read_bioc_xml, lambda path, head: head.startswith("<"))
JSON = Format(
    "bioc_json",
    read_bioc_json,
    lambda path, head: head.startswith(("{", "[")),
    write=write_bioc_json,
)
