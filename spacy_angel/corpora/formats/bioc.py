"""BioC in XML and JSON, as used by BC5CDR, BioRED, and PubTator's exports, read as a stream.

A collection contains documents, which contain passages with an offset and a text. Passages contain
annotations, whose identifiers are stored in infons. If a passage has no text, the text of its
sentences is read. A passage whose offset is missing or occupied by other text follows that text,
and offsets of mentions may count from the beginning of their passage. The individual mentions of a
composite (BC5CDR: infon `CompositeRole`) become its parts. `to_bioc` adds infons for data that BioC
cannot represent: the parts of a composite, as a JSON list, and `read_as`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree

from pydantic import BaseModel, BeforeValidator, NonNegativeInt

from ...files.atomic import replacing
from ...files.formats import Format, is_json
from ...files.json_objects import read_objects
from ...files.json_values import checked, parse_as
from ...files.xml_stream import stream_elements
from ..documents import NOTED_IDS, CorpusDocument, GoldMention, Reading

# Maximum number of spaces to insert between two passages; a larger offset is a fault.
MAX_GAP = 100_000

_KEYS = re.compile(r'(?<!\\)"(passages|PubTator3|bioctype)"\s*:')
# Infons with identifiers, and their vocabularies, in order of precedence. Keys are lowercase and
# without a final `identifier` or `id`, as in `NCBI Gene identifier` or `MESH_ID`.
_ID_KEYS = {
    "identifier": "",
    "concept": "",
    "normalized": "",
    "mesh": "MESH",
    "omim": "OMIM",
    **dict.fromkeys(("snomedct", "snomed"), "SNOMEDCT"),
    **dict.fromkeys(("ncbi gene", "entrez gene", "entrez", "gene"), "NCBIGene"),
    **dict.fromkeys(("ncbi taxonomy", "ncbi taxon", "taxonomy", "species"), "NCBITaxon"),
    "chebi": "CHEBI",
}
_ID_END = re.compile(r"(?<=.)[\W_]*(identifier|id)s?$")

_PARTS, _READ_AS = "composite_parts", "read_as"

# An identifier without a vocabulary, except `-1`, which means that there is none.
_BARE = re.compile(r"(?<![^|+,;\s])[^|+,;:\s-][^|+,;:\s]*(?![^|+,;\s])")


def _strings(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value or {}
    lists = {key: item if isinstance(item, list) else [item] for key, item in value.items()}
    return {k: "|".join(map(str, items)) for k, items in lists.items() if items != [None]}


_OrEmpty = BeforeValidator(lambda value: [] if value is None else value)
_Infons = Annotated[dict[str, str], BeforeValidator(_strings)]


class _Location(BaseModel):
    offset: NonNegativeInt
    length: NonNegativeInt


class _Annotation(BaseModel):
    text: Annotated[str, BeforeValidator(lambda value: value or "")] = ""
    locations: Annotated[list[_Location], _OrEmpty] = []
    infons: _Infons = {}

    @property
    def spans(self) -> list[tuple[int, int]]:
        return sorted((place.offset, place.offset + place.length) for place in self.locations)

    @property
    def span(self) -> tuple[int, int]:
        """Start of the first and end of the last piece."""
        return self.spans[0][0], self.spans[-1][1]

    @property
    def role(self) -> str:
        return self.infons.get("CompositeRole", "")


class _Holder(BaseModel):
    infons: _Infons = {}
    annotations: Annotated[list[Any], _OrEmpty] = []
    offset: NonNegativeInt = 0
    text: str | None = None


class _Passage(_Holder):
    sentences: Annotated[list[_Holder], _OrEmpty] = []


class _Document(_Holder):
    id: Annotated[str, BeforeValidator(lambda v: str(v) if isinstance(v, int | float) else v)]
    passages: Annotated[list[_Passage], _OrEmpty]


def read_bioc_xml(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read BioC XML as a stream of documents.

    path (Path): file, plain or gzip.
    reading (Reading): handles counts and faults.
    RETURNS (Iterator[CorpusDocument]): the documents, in the order of the file.
    RAISES (AngelError): if the XML is invalid or truncated, or has no collection; for other faults
        if `reading.strict` is set.
    """
    for number, element in stream_elements(path, reading, {"collection": ["document"]}):
        with reading.leaving_out(number, "a BioC document"):
            yield bioc_document(_plain(element), reading, number)


def read_bioc_json(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read BioC JSON: a collection, a list of documents or collections, or one document per line.

    path (Path), reading (Reading), RETURNS, RAISES: as for `read_bioc_xml`.
    """
    for number, value in read_objects(path, reading, within=("documents", "PubTator3")):
        collected = value.get("documents") if isinstance(value, Mapping) else None
        for document in collected if isinstance(collected, list) else [value]:
            with reading.leaving_out(number, "a BioC document"):
                yield bioc_document(document, reading, number)


def _plain(element: ElementTree.Element) -> dict[str, Any]:
    """Convert a document, passage, sentence, or annotation from XML to the JSON structure."""
    value: dict[str, Any] = {
        "infons": {infon.get("key", ""): infon.text or "" for infon in element.findall("infon")}
    }
    for tag in ("id", "offset", "text"):
        if (child := element.find(tag)) is not None:
            value[tag] = child.text or "" if tag == "text" else (child.text or "").strip()
    for tag in ("passage", "sentence", "annotation"):
        value[tag + "s"] = [_plain(child) for child in element.findall(tag)]
    value["locations"] = [dict(location.attrib) for location in element.findall("location")]
    return value


def bioc_document(value: Any, reading: Reading, line: int) -> CorpusDocument:
    """Convert a document in BioC JSON.

    value (Any): the document. reading (Reading): handles counts and faults. line (int): line number
        for messages.
    RETURNS (CorpusDocument): the document.
    RAISES (ValueError): it is not valid BioC.
    """
    document = checked(value, _Document)
    text, title_end, moves = _text(document)
    annotations: list[_Annotation] = []
    for holder, moved in moves:
        for annotation in reading.valid(holder.annotations, _Annotation, line):
            if not any(place.length for place in annotation.locations):
                # Of the whole document, such as NLM-Chem's MeSH headings, or a place in it.
                reading.report.count("annotations_without_location")
                continue
            annotations.append(annotation)
            start, mention = annotation.span[0], annotation.text
            found = (n for n in moved if mention and text.startswith(mention, max(start + n, 0)))
            if number := next(found, moved[0]):
                note = f"{reading.where(line)}: {mention!r} of {document.id} moved by {number}"
                reading.report.count("offsets_repaired", note=note)
                for place in annotation.locations:
                    place.offset += number
    parts = [annotation for annotation in annotations if annotation.role == "IndividualMention"]
    reading.report.count("individual_mentions", len(parts))
    mentions = (
        _mention(text, annotation, parts, document.id, reading, line)
        for annotation in annotations
        if annotation.role != "IndividualMention"
    )
    return CorpusDocument(document.id, text, tuple(filter(None, mentions)), title_end)


def _text(document: _Document) -> tuple[str, int | None, list[tuple[_Holder, list[int]]]]:
    """Join the passages at their offsets, separated by spaces.

    Also return the end of the title, and for each part the numbers to try adding to the offsets of
    its mentions: how far it was moved, or its start if they count from there.
    """
    text, title_end = "", None
    moves: list[tuple[_Holder, list[int]]] = [(document, [0])]
    for passage in sorted(document.passages, key=lambda passage: passage.offset):
        units = [passage] if passage.text or not passage.sentences else passage.sentences
        for unit in units:
            is_free = len(text) <= unit.offset <= len(text) + MAX_GAP
            start = unit.offset if is_free else len(text) + 1
            text += " " * (start - len(text)) + (unit.text or "")
            moves.append((unit, [start - unit.offset, start, 0]))
        first = moves[-len(units)][1]
        moves += [(part, first) for part in (passage, *passage.sentences) if part not in units]
        if title_end is None and passage.infons.get("type") == "title":
            title_end = len(text)
    return text, title_end, moves


def _mention(
    text: str,
    annotation: _Annotation,
    parts: Iterable[_Annotation],
    doc_id: str,
    reading: Reading,
    line: int,
) -> GoldMention | None:
    """Convert a mention. The parts of a composite are the individual mentions inside it; their
    texts are not checked, because their offsets are sometimes off by one."""
    infons, (start, end) = annotation.infons, annotation.span
    mention = annotation.text or text[start:end]
    mention = reading.whole(mention, annotation.spans, text, line)
    inside = tuple(parse_as(infons.get(_PARTS, "[]"), list[str]))
    if annotation.role == "CompositeMention":
        spans = ((part.span, part.text) for part in parts)
        inside = tuple(part for (begin, stop), part in spans if start <= begin and stop <= end)
    label, read_as = infons.get("type", ""), infons.get(_READ_AS, "")
    given = GoldMention(start, end, mention, label, _raw_ids(infons), inside, read_as)
    return reading.mention(given, text, doc_id, line)


def _raw_ids(infons: Mapping[str, str]) -> str:
    by_key = {_plain_key(key): value for key, value in infons.items()}
    database = _ID_KEYS.get(_plain_key(infons.get("database", "")), "")
    for key, vocabulary in _ID_KEYS.items():
        if value := by_key.get(key, "").strip():
            prefix = vocabulary or database
            return _BARE.sub(rf"{prefix}:\g<0>", value) if prefix else value
    return next(filter(NOTED_IDS.fullmatch, infons.values()), "")


def _plain_key(key: str) -> str:
    return re.sub(r"[\W_]+", " ", _ID_END.sub("", key.lower()))


def to_bioc(document: CorpusDocument) -> dict[str, Any]:
    """Convert a document to BioC JSON, as PubTator exports it.

    document (CorpusDocument): the document; if it has no title, it is written as one passage.
    RETURNS (dict[str, Any]): JSON-serializable values.
    """
    text, end = document.text, document.title_end
    if end is None or end >= len(text):
        pieces = [("text" if end is None else "title", 0, len(text))]
    else:
        # The space after the title is not part of any passage.
        pieces = [("title", 0, end), ("abstract", end + (text[end] == " "), len(text))]
    annotations: list[list[dict[str, Any]]] = [[] for _ in pieces]
    for number, mention in enumerate(document.mentions):
        annotations[mention.start >= pieces[-1][1] and len(pieces) > 1].append(
            _annotation(number, mention)
        )
    passages = [
        {
            "offset": start,
            "infons": {"type": kind},
            "text": text[start:stop],
            "sentences": [],
            "annotations": own,
            "relations": [],
        }
        for (kind, start, stop), own in zip(pieces, annotations, strict=True)
    ]
    rest: dict[str, Any] = {"annotations": [], "relations": []}
    return {"id": document.doc_id, "infons": {}, "passages": passages, **rest}


def _annotation(number: int, mention: GoldMention) -> dict[str, Any]:
    infons = {"type": mention.label, "identifier": mention.concept_ids}
    if mention.parts:
        infons[_PARTS] = json.dumps(mention.parts, ensure_ascii=False)
    if mention.read_as:
        infons[_READ_AS] = mention.read_as
    location = {"offset": mention.start, "length": mention.end - mention.start}
    return {"id": str(number), "infons": infons, "text": mention.text, "locations": [location]}


def write_bioc_json(documents: Iterable[CorpusDocument], path: Path) -> None:
    """Write a BioC collection, one document per line.

    documents (Iterable[CorpusDocument]): documents, which are written one by one.
    path (Path): file to write.
    """
    head = {"source": "spacy-angel", "date": "", "key": "", "infons": {}, "documents": []}
    with replacing(path) as file:
        file.write(json.dumps(head)[:-2].encode("utf8"))
        for number, document in enumerate(documents):
            line = json.dumps(to_bioc(document), ensure_ascii=False)
            file.write((",\n" if number else "\n").encode() + line.encode("utf8"))
        file.write(b"\n]}\n")


# Any XML, so that the message names its first element; but not a note that starts with `<`.
XML = Format(
    "bioc_xml", read_bioc_xml, lambda path, head: head.startswith(("<?xml", "<!", "<collection"))
)
JSON = Format(
    "bioc_json",
    read_bioc_json,
    lambda path, head: is_json(head) and _KEYS.search(head) is not None,
    write=write_bioc_json,
)
