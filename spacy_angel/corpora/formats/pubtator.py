"""PubTator: NCBI-disease, BC5CDR, MedMentions, BioRED, and exports of PubTator.

    25763772|t|DCTN4 as a modifier
    25763772|a|Pseudomonas aeruginosa (Pa) infection.
    25763772<TAB>0<TAB>5<TAB>DCTN4<TAB>T116,T123<TAB>C4308010

A blank line ends a document. Offsets count the characters of title, a space, and abstract. A
seventh column contains the individual mentions of a composite (BC5CDR). Rows with a word in the
second column are relations (`CID`, BioRED's `Association`), which are skipped and counted.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from ...errors import AngelError
from ...files.atomic import replacing
from ...files.formats import Format
from ...files.reading import numbered_lines
from ..documents import CorpusDocument, GoldMention, Reading

_SECTION = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_RELATION = re.compile(r"[A-Za-z].*")
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
    """Read PubTator: a line each for title and abstract, one line per mention, and a blank line.

    path (Path): file, plain or gzip.
    reading (Reading): handles counts and faults.
    RETURNS (Iterator[CorpusDocument]): the documents, in the order of the file.
    RAISES (AngelError): at the first fault, if `reading.strict` is set.
    """
    block: _Block | None = None
    for number, line in chain(numbered_lines(path, reading), [(0, "")]):
        fields, match = line.split("\t"), _SECTION.fullmatch(line)
        if block is not None and (not line.strip() or (match and match[2] == "t")):
            yield _document(block, reading)
            block = None
        if not line.strip():
            continue
        if match:
            doc_id, section, text = match.groups()
            if section == "t":
                block = _Block(doc_id, number, text)
            elif block is None or block.doc_id != doc_id or block.abstract is not None:
                message = f"the abstract of document {doc_id} must follow its title, once."
                reading.fault_at(number, message)
            else:
                block.abstract = text
        elif len(fields) == 1:
            expected = "a title, abstract, annotation or blank line of PubTator"
            reading.fault_at(number, f"expected {expected}, found {line[:60]!r}.")
        elif block is None or fields[0] != block.doc_id:
            message = f"a mention of document {fields[0]} outside of that document."
            reading.fault_at(number, message, skipped="mentions_left_out")
        else:
            block.rows.append((number, fields))


def _document(block: _Block, reading: Reading) -> CorpusDocument:
    if block.abstract is None:
        note = f"{reading.where(block.line)}: document {block.doc_id} has no abstract line"
        reading.report.count("abstracts_missing", note=note)
    text = f"{block.title} {block.abstract}" if block.abstract else block.title
    mentions = (_mention(text, block.doc_id, *row, reading) for row in block.rows)
    return CorpusDocument(block.doc_id, text, tuple(filter(None, mentions)), len(block.title))


def _mention(
    text: str, doc_id: str, line: int, fields: list[str], reading: Reading
) -> GoldMention | None:
    if len(fields) >= 4 and _RELATION.fullmatch(fields[1]):
        reading.report.count("relation_rows")
        return None
    # PubTator's own exports omit a missing identifier.
    if len(fields) < 4 or not all(map(_OFFSET.fullmatch, fields[1:3])):
        expected = f"id, start, end, mention, type, identifier of {doc_id}"
        message = f"expected {expected}, found {len(fields)} columns."
        reading.fault_at(line, message, skipped="mentions_left_out")
        return None
    _, start, end, mention, label, raw_ids, parts = [*fields, "", "", ""][:7]
    if parts.startswith(("RSID:", "RS#:")):
        # tmVar.
        raw_ids, parts = f"{raw_ids};{parts}", ""
    individual = tuple(parts.split("|")) if parts else ()
    given = GoldMention(int(start), int(end), mention, label, raw_ids, individual)
    return reading.mention(given, text, doc_id, line)


def format_pubtator(document: CorpusDocument) -> str:
    """Format a document as PubTator lines, including the final blank line.

    Tabs and line breaks in the text are replaced by spaces, so offsets do not change. Without a
    title, the whole text is the title. A missing label is written as `-`, a missing identifier as
    `-1`.

    document (CorpusDocument): the document.
    RETURNS (str): the lines.
    RAISES (AngelError): if the document's identifier cannot be written in this format.
    """
    if not document.doc_id.strip() or re.search(r"[|\t\n\r]", document.doc_id):
        raise AngelError(
            f"PubTator cannot represent the document id {document.doc_id!r}. Use BioC JSON."
        )
    text = document.text.translate(_BREAKS)
    end = document.title_end
    if end is None or text[end : end + 1] != " " or end + 1 == len(text):
        end = len(text)
    lines = [f"{document.doc_id}|t|{text[:end]}", f"{document.doc_id}|a|{text[end + 1 :]}"]
    for mention in document.mentions:
        row = [document.doc_id, mention.start, mention.end, text[mention.start : mention.end]]
        row += [mention.label or "-", mention.concept_ids or "-1"]
        row += ["|".join(mention.parts).translate(_BREAKS)] if mention.parts else []
        lines.append("\t".join(map(str, row)))
    return "\n".join(lines) + "\n\n"


def write_pubtator(documents: Iterable[CorpusDocument], path: Path) -> None:
    """Write documents in the PubTator format.

    documents (Iterable[CorpusDocument]): documents, which are written one by one.
    path (Path): file to write.
    """
    with replacing(path) as file:
        for document in documents:
            file.write(format_pubtator(document).encode("utf8"))


def _recognises(path: Path, head: str) -> bool:
    return re.match(r"[^|\t]+\|[ta]\|", head) is not None


FORMAT = Format("pubtator", read_pubtator, _recognises, write=write_pubtator, lacks=("read_as",))
