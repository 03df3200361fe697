"""Training text as it stands in clinical notes, made from gold documents.

Abstracts have whole sentences with capitals where they belong. Notes have lists, capitals
throughout or none, and typos.
"""

import re
from dataclasses import replace
from random import Random

from .documents import CorpusDocument
from .noise import Noise, noisy_document
from .text_changes import lower_in_place, replace_spans

MARKS = ("- ", "-", "* ", "• ", "•", "# ", "{n}. ", "{n}) ", "{n}.", "{n})", "")
"""Before the items of a list; `{n}` is the item's number."""

_FIRST_LETTER = re.compile(r"(?<![^\W_])[^\W\d_]")
_SENTENCE_END = re.compile(r"(?<=[.;:]) (?=[A-Z])")
TEXT_STYLES = ("upper", "lower", "title", "as it is")
_TEXT_STYLE_WEIGHTS = (35, 20, 10, 35)
# Of the documents; one typo in each mention and in some of the other words.
SLIPS, _TYPOS_IN_CONTEXT = 0.15, 0.03
LISTS = 0.4


def restyled(document: CorpusDocument, rng: Random) -> CorpusDocument:
    """A gold document as a note may have it: a list, capitals throughout or none, typos.

    document (CorpusDocument): any.
    rng (Random): makes the choice.
    RETURNS (CorpusDocument): offsets moved with the text.
    """
    if rng.random() < LISTS:
        document = as_list(document, rng)
    if rng.random() < SLIPS:
        typos = Noise("mixed", edits=1, context=_TYPOS_IN_CONTEXT)
        document = noisy_document(document, typos, seed=rng.randrange(1 << 30))
    [style] = rng.choices(TEXT_STYLES, _TEXT_STYLE_WEIGHTS)
    return in_letters(document, style)


def in_letters(document: CorpusDocument, style: str) -> CorpusDocument:
    """A document in other letters.

    document (CorpusDocument): any.
    style (str): `upper`, `lower`, `title`; any other changes nothing.
    RETURNS (CorpusDocument): offsets as before; a letter whose other case is two letters stays.
    """
    text = document.text
    if style == "upper":
        text = "".join(map(_capital, text))
    elif style == "lower":
        text = lower_in_place(text)
    elif style == "title":
        text = _FIRST_LETTER.sub(lambda letter: _capital(letter[0]), text)
    mentions = (replace(m, text=text[m.start : m.end]) for m in document.mentions)
    return replace(document, text=text, mentions=tuple(mentions))


def as_list(document: CorpusDocument, rng: Random) -> CorpusDocument:
    """A document with each sentence as an item.

    document (CorpusDocument): any.
    rng (Random): chooses the mark, the same for all items.
    RETURNS (CorpusDocument): `One. Two.` → `One.\\n- Two.`; offsets moved with the text.
    """
    mark = rng.choice(MARKS)
    inside = {i for m in document.mentions for i in range(m.start, m.end)}
    ends = [match.span() for match in _SENTENCE_END.finditer(document.text)]
    marks = [
        (start, end, "\n" + mark.format(n=number))
        for number, (start, end) in enumerate((e for e in ends if e[0] not in inside), 2)
    ]
    return replace_spans(document, marks)


def _capital(letter: str) -> str:
    return letter.upper() if len(letter.upper()) == 1 else letter


def as_written(name: str, rng: Random) -> str:
    """name (str): of a vocabulary. rng (Random). RETURNS (str): half of the time in lower case,
    as names mostly are in running text, but for those with capitals inside a word (`IDDM`)."""
    plain = not re.search(r"\S[A-Z]", name)
    return name.lower() if plain and rng.random() < 0.5 else name
