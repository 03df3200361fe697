"""CRAFT as it is distributed: articles as texts, and for each ontology a folder of Knowtator's XML.

    articles/txt/11532192.txt
    concept-annotation/CL/CL/knowtator/11532192.txt.knowtator.xml

Knowtator 1 has a file for each article and keeps an annotation's class apart from it:

    <annotations textSource="11532192.txt">
      <annotation>
        <mention id="CL_Instance_1"/>
        <span start="7" end="10"/><span start="20" end="25"/>
        <spannedText>rod ... cells</spannedText>
      </annotation>
      <classMention id="CL_Instance_1"><mentionClass id="CL:0000604">rod cell</mentionClass>
      </classMention>
    </annotations>

Knowtator 2 (`knowtator-2/`) has any number of articles in a file:

    <knowtator-project><document id="11532192" text-file="11532192.txt">
      <annotation id="CL_Instance_1"><class id="CL:0000604"/>
        <span start="7" end="10">rod</span><span start="20" end="25">cells</span>
      </annotation>
    </document></knowtator-project>
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from ...errors import AngelError, cannot_read
from ...files.formats import Format
from ...files.xml_stream import stream_elements
from ...vocabulary.names.identifiers import join_ids, split_ids
from ..documents import CorpusDocument, GoldMention, Reading
from .text import text_of

_ENDING = ".knowtator.xml"
# Folders down to the annotations of one ontology, `concept-annotation/CL/CL`.
_DEPTH = 3
_ROOTS = {"annotations": ["annotation", "classMention"], "knowtator-project": ["document"]}
_OFFSET = re.compile(r"[0-9]{1,12}", re.ASCII)
# A class by its address, as OWL has it.
_ADDRESS = re.compile(r"https?://purl\.obolibrary\.org/obo/([^/_\s]+)_(\S+)")
# What Knowtator 1 puts between the pieces of a mention.
_GAP = " ... "


@dataclass(frozen=True, slots=True)
class _Annotation:
    """A mention as Knowtator keeps it; of offsets and class what there is."""

    line: int
    spans: tuple[tuple[str, str], ...]
    text: str
    class_id: str


def read_craft(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Articles of CRAFT with the annotations of one ontology, whose name is the label (`CL`). Of a
    mention in several pieces a model reads the pieces; it goes from the first to the last.

    path (Path): folder of an ontology's annotations in CRAFT's, `concept-annotation/CL/CL` or
        `concept-annotation/CL/CL+extensions`.
    reading (Reading): gets counts and faults.
    RETURNS (Iterator[CorpusDocument]): in the order of the files.
    RAISES (AngelError): it is no such folder, a file cannot be read; for other faults with
        `reading.strict`.
    """
    inside = path.resolve()
    root = next((each for each in (inside, *inside.parents) if _texts(each).is_dir()), None)
    files = _files(path)
    places = [] if root is None else [file.resolve().relative_to(root).parts for file in files]
    # Beside that of the ontology's own classes there is one with classes that CRAFT adds.
    if root is None or len({place[:_DEPTH] for place in places}) != 1 or len(places[0]) <= _DEPTH:
        raise AngelError(
            f"{path} is not a folder of CRAFT annotations like `CRAFT/concept-annotation/CL/CL`."
        )
    _, label, *_ = places[0]
    for file in files:
        here = replace(reading, name=str(file))
        for name, annotations in _articles(file, here):
            # Whatever a file says, the texts stand in this folder.
            text = _text(_texts(root) / Path(name).name, reading)
            if text is not None:
                doc_id = Path(name).name.removesuffix(".txt")
                found = (_mention(each, text, label, doc_id, here) for each in annotations)
                yield CorpusDocument(doc_id, text, _joined(found), reading.split)


def _texts(root: Path) -> Path:
    return root / "articles" / "txt"


def _text(path: Path, reading: Reading) -> str | None:
    if path.is_file():
        return text_of(path, reading)
    message = cannot_read(path, "there is no such file")
    reading.fault(message, lost="documents_left_out")
    return None


def _files(folder: Path) -> list[Path]:
    """Those of Knowtator 1, and where there are none of Knowtator 2, which hold the same."""
    first = sorted(folder.rglob("*" + _ENDING))
    return first or sorted(file for file in folder.rglob("*.xml") if "knowtator-2" in file.parts)


def _articles(file: Path, reading: Reading) -> Iterator[tuple[str, list[_Annotation]]]:
    """YIELDS (tuple[str, list[_Annotation]]): name of an article's text, and its annotations."""
    by_mention: list[tuple[str, _Annotation]] = []
    classes: dict[str, str] = {}
    for line, element in stream_elements(file, reading, _ROOTS):
        if element.tag == "document":
            name = element.get("text-file") or f"{element.get('id')}.txt"
            yield name, [_annotation(each, line) for each in element.findall("annotation")]
        elif element.tag == "annotation":
            by_mention.append((_value(element, "mention"), _annotation(element, line)))
        else:
            classes[element.get("id", "")] = _value(element, "mentionClass")
    if file.name.endswith(_ENDING):
        known = (replace(each, class_id=classes.get(of, "")) for of, each in by_mention)
        yield file.name.removesuffix(_ENDING), list(known)


def _annotation(element: ElementTree.Element, line: int) -> _Annotation:
    """RETURNS (_Annotation): of either version; Knowtator 1 has the text of all pieces in one
    element and the class elsewhere, Knowtator 2 a text in each piece."""
    pieces = element.findall("span")
    text = element.findtext("spannedText") or _GAP.join(piece.text or "" for piece in pieces)
    spans = tuple((piece.get("start", ""), piece.get("end", "")) for piece in pieces)
    return _Annotation(line, spans, text, _value(element, "class"))


def _value(element: ElementTree.Element, tag: str) -> str:
    """RETURNS (str): the `id` of a child; empty where there is none."""
    child = element.find(tag)
    return "" if child is None else child.get("id", "")


def _mention(
    annotation: _Annotation, text: str, label: str, doc_id: str, reading: Reading
) -> GoldMention | None:
    class_id = _ADDRESS.sub(r"\1:\2", annotation.class_id)
    offsets = [offset for span in annotation.spans for offset in span]
    if not offsets or not class_id or not all(map(_OFFSET.fullmatch, offsets)):
        reading.fault(
            f"{reading.where(annotation.line)}: the annotation {annotation.text!r} has no class, "
            "or no span with `start` and `end`.",
            lost="mentions_left_out",
        )
        return None
    spans = sorted((int(start), int(end)) for start, end in annotation.spans)
    whole = spans[0][0], spans[-1][1]
    pieces = " ".join(text[start:end] for start, end in spans)
    fits = _words(pieces) == _words(annotation.text)
    given = text[slice(*whole)] if fits else annotation.text
    found = reading.mention(text, whole, given, doc_id, annotation.line, label, class_id)
    if found is None or pieces.split() == found.text.split():
        return found
    note = f"{reading.where(annotation.line)}: {annotation.text!r} in pieces"
    reading.report.count("discontinuous_mentions", note=note)
    return replace(found, read_as=pieces)


def _words(text: str) -> list[str]:
    return text.replace(_GAP, " ").split()


def _joined(mentions: Iterable[GoldMention | None]) -> tuple[GoldMention, ...]:
    """RETURNS (tuple[GoldMention, ...]): those of the same pieces as one, with all concepts."""
    by_pieces: dict[tuple[int, int, str], GoldMention] = {}
    for mention in filter(None, mentions):
        key = mention.start, mention.end, mention.read_as
        ids = mention.concept_ids
        if (other := by_pieces.get(key)) is not None:
            ids = join_ids(list(dict.fromkeys((*split_ids(other.concept_ids), ids))), "|")
        by_pieces[key] = replace(mention, concept_ids=ids)
    return tuple(sorted(by_pieces.values(), key=lambda mention: (mention.start, mention.end)))


def _recognises(path: Path, head: str) -> bool:
    return path.is_dir() and bool(_files(path))


FORMAT = Format("craft", read_craft, _recognises, is_folder=True)
