"""PubTator: NCBI-disease, BC5CDR, MedMentions, BioRED and what PubTator itself exports.

    25763772|t|DCTN4 as a modifier
    25763772|a|Pseudomonas aeruginosa (Pa) infection.
    25763772<TAB>0<TAB>5<TAB>DCTN4<TAB>T116,T123<TAB>C4308010

A blank line ends a document. Offsets count characters of title, one space, abstract. A seventh
column holds the individual mentions of a composite (BC5CDR). Rows with a word in the second column
are relations (`CID`, BioRED's `Association`) and are counted, not read.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import AngelError
from ...files.atomic import replacing
from ...files.formats import Format, first_line
from ...files.reading import numbered_lines
from ..documents import CorpusDocument, GoldMention, Reading

_SECTION = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_TITLE = re.compile(r"[^|\t]+\|t\|")
_RELATION = re.compile(r"[A-Za-z][A-Za-z_ -]*")
_OFFSET = re.compile(r"[0-9]{1,12}")
_BREAKS = str.maketrans("\t\n\r", "   ")


@dataclass
class _Block:
    doc_id: str
    line: int
    title: str
    abstract: str | None = None
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def read_pubtator(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """A title line, an abstract line, then a line a mention; a blank line ends a document.

    path (Path): file, plain or gzip. reading (Reading). RETURNS (Iterator[CorpusDocument]).
    """
    return parse_pubtator(numbered_lines(path, reading), reading)


def parse_pubtator(lines: Iterable[tuple[int, str]], reading: Reading) -> Iterator[CorpusDocument]:
    """Documents of PubTator lines.

    lines (Iterable[tuple[int, str]]): line number and line without its end.
    reading (Reading): names the source, gets counts and faults.
    RETURNS (Iterator[CorpusDocument]): as soon as each is complete.
    RAISES (AngelError): at the first fault, with `reading.strict`.
    """
    block: _Block | None = None
    for number, line in lines:
        if not line.strip():
            yield from _finish(block, reading)
            block = None
        elif match := _SECTION.fullmatch(line):
            doc_id, section, text = match.groups()
            if section == "t":
                yield from _finish(block, reading)
                block = _Block(doc_id, number, text)
            elif block is None or block.doc_id != doc_id or block.abstract is not None:
                reading.fault(
                    f"{reading.where(number)}: the abstract of document {doc_id} must follow its "
                    "title, once."
                )
            else:
                block.abstract = text
        elif "\t" not in line:
            reading.fault(
                f"{reading.where(number)}: expected a title, abstract, annotation or blank line of "
                f"PubTator, found {line[:60]!r}."
            )
        else:
            fields = line.split("\t")
            if block is None or fields[0] != block.doc_id:
                reading.fault(
                    f"{reading.where(number)}: a mention of document {fields[0]} outside of that "
                    "document.",
                    lost="mentions_left_out",
                )
            else:
                block.rows.append((number, fields))
    yield from _finish(block, reading)


def _finish(block: _Block | None, reading: Reading) -> Iterator[CorpusDocument]:
    if block is None:
        return
    if block.abstract is None:
        where = reading.where(block.line)
        reading.fault(
            f"{where}: document {block.doc_id} has a title but no abstract line.",
            lost="documents_left_out",
        )
        return
    text = f"{block.title} {block.abstract}" if block.abstract else block.title
    mentions = (_mention(text, block.doc_id, *row, reading) for row in block.rows)
    yield CorpusDocument(
        doc_id=block.doc_id,
        text=text,
        mentions=tuple(mention for mention in mentions if mention is not None),
        split=reading.split,
        title_end=len(block.title),
    )


def _mention(
    text: str, doc_id: str, line: int, fields: list[str], reading: Reading
) -> GoldMention | None:
    if len(fields) >= 4 and _RELATION.fullmatch(fields[1]):
        reading.report.count("relation_rows")
        return None
    # PubTator's own exports leave the identifier out where there is none.
    if len(fields) not in (5, 6, 7) or not all(map(_OFFSET.fullmatch, fields[1:3])):
        reading.fault(
            f"{reading.where(line)}: expected id, start, end, mention, type, identifier of "
            f"{doc_id}, found {len(fields)} columns.",
            lost="mentions_left_out",
        )
        return None
    return reading.mention(
        text,
        (int(fields[1]), int(fields[2])),
        fields[3],
        doc_id,
        line,
        label=fields[4],
        raw_ids=fields[5] if len(fields) > 5 else "",
        parts=tuple(fields[6].split("|")) if len(fields) > 6 and fields[6] else (),
    )


def format_pubtator(document: CorpusDocument) -> str:
    """A document as PubTator lines, with the blank line that ends it.

    Tabs and line ends of the text become spaces, so that offsets stay. Without a title the whole
    text is the title. A missing label is `-`, a missing id `-1`.

    document (CorpusDocument): with any mentions.
    RETURNS (str): the lines.
    RAISES (AngelError): where the document's id cannot stand in this format.
    """
    if not document.doc_id.strip() or re.search(r"[|\t\n\r]", document.doc_id):
        raise AngelError(
            f"PubTator cannot hold the document id {document.doc_id!r}. Use BioC JSON."
        )
    text = document.text.translate(_BREAKS)
    end = document.title_end
    if end is None or text[end : end + 1] != " " or end + 1 == len(text):
        end = len(text)
    lines = [f"{document.doc_id}|t|{text[:end]}", f"{document.doc_id}|a|{text[end + 1 :]}"]
    for mention in document.mentions:
        row = [document.doc_id, str(mention.start), str(mention.end)]
        row += [text[mention.start : mention.end], mention.label or "-"]
        row += [mention.concept_ids or "-1"]
        row += ["|".join(mention.parts).translate(_BREAKS)] if mention.parts else []
        lines.append("\t".join(row))
    return "\n".join(lines) + "\n\n"


def write_pubtator(documents: Iterable[CorpusDocument], path: Path) -> None:
    """documents (Iterable[CorpusDocument]): written as they come. path (Path): the file."""
    with replacing(path) as file:
        for document in documents:
            file.write(format_pubtator(document).encode("utf8"))


def _recognises(path: Path, head: str) -> bool:
    return _TITLE.match(first_line(head)) is not None


FORMAT = Format(
    "pubtator", read_pubtator, _recognises, write=write_pubtator, lacks=("steps", "read_as")
)
