"""GSC+, abstracts with phenotypes of HPO, as PhenoTagger has it.

11312426
Nevoid basal cell carcinoma syndrome (NBCCS) is a genodermatosis …
7<TAB>27<TAB>basal cell carcinoma<TAB>HP:0002671
"""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ...files.formats import Format
from ...files.reading import numbered_lines
from ..documents import CorpusDocument, GoldMention, Reading

LABEL = "Phenotype"
_ROW = re.compile(r"([0-9]{1,12})\t([0-9]{1,12})\t([^\t]+)\t([^\t]+)")
_HEAD = re.compile(r"[^\t\n|]{1,60}\n[^\t\n]+\n[0-9]{1,12}\t[0-9]{1,12}\t[^\t\n]+\t\S+\s")


def read_gsc(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """A line with the document's number, one with its text, then a line a mention; a blank line
    ends a document. All mentions are labelled `Phenotype`.

    path (Path): file, plain or gzip. reading (Reading): gets counts and faults.
    RETURNS (Iterator[CorpusDocument]): as soon as each is complete.
    RAISES (AngelError): a document without a text, a mention that has not four columns, with
        `reading.strict`.
    """
    lines = numbered_lines(path, reading)
    for is_blank, block in groupby(lines, key=lambda line: not line[1].strip()):
        if is_blank:
            continue
        (number, doc_id), *rows = block
        _, text = rows[0] if rows else (number, "")
        if "\t" in doc_id or not text or _ROW.match(text):
            reading.fault(
                f"{reading.where(number)}: expected the number of a document and then its text, "
                f"found {doc_id[:60]!r}.",
                lost="documents_left_out",
            )
            continue
        doc_id = doc_id.strip()
        mentions = (_mention(text, doc_id, *row, reading) for row in rows[1:])
        kept = tuple(mention for mention in mentions if mention is not None)
        yield CorpusDocument(doc_id, text, kept, reading.split)


def _mention(
    text: str, doc_id: str, number: int, line: str, reading: Reading
) -> GoldMention | None:
    row = _ROW.fullmatch(line.strip())
    if row is None:
        reading.fault(
            f"{reading.where(number)}: expected start, end, mention, identifier of {doc_id} with "
            f"tabs, found {line[:60]!r}.",
            lost="mentions_left_out",
        )
        return None
    start, end, mention, raw_ids = row.groups()
    span = int(start), int(end)
    return reading.mention(text, span, mention, doc_id, number, label=LABEL, raw_ids=raw_ids)


FORMAT = Format("gsc", read_gsc, lambda path, head: _HEAD.match(head) is not None)
