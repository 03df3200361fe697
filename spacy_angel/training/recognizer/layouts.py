"""Other layouts of a text: lower case or capitals, and lines, cells, or list items in place of full
stops and commas."""

import re
from random import Random

from ...corpora.documents import CorpusDocument
from ...corpora.text_changes import lowercase, replace_spans, with_text

_BREAK = re.compile(r"(?:\.(?=\s+[A-Z])|[;,](?=\s))\s+")
# Between sentences, and between clauses. `{}` is a number.
_ROWS = (
    ("\n", "\t"),
    ("\n- ", ", "),
    ("\n{}. ", "; "),
    (" | ", " | "),
    (" | F\nOBX | {} | TX | REPORT ^ ^ L | | ", " | "),
)


def rewrite_layout(document: CorpusDocument, rng: Random) -> CorpusDocument:
    """Rewrite the layout of a text; mentions are not split.

    document (CorpusDocument): the document.
    rng (Random): random generator, which chooses lower case for half of the texts, capitals for a
        tenth, and rows for two thirds.
    RETURNS (CorpusDocument): the new document, with adjusted offsets.
    """
    if rng.random() < 2 / 3:
        document = _in_rows(document, rng)
    drawn, upper = rng.random(), document.text.upper()
    if drawn < 0.5:
        return lowercase(document)
    if drawn < 0.6 and len(upper) == len(document.text):
        return with_text(document, upper, str.upper)
    return document


def _in_rows(document: CorpusDocument, rng: Random) -> CorpusDocument:
    sentence, clause = rng.choice(_ROWS)
    inside = {offset for m in document.mentions for offset in range(m.start, m.end)}
    edits: list[tuple[int, int, str]] = []
    for found in _BREAK.finditer(document.text):
        if inside.isdisjoint(range(*found.span())):
            row = sentence.format(len(edits)) if found[0][0] == "." else clause
            edits.append((*found.span(), row))
    return replace_spans(document, edits)
