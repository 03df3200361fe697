"""A mention in its context as input of the model, with long forms in place of abbreviations."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAX_CONTEXT_CHARS = 8192
"""Characters of context read on either side: more than any model takes in, and long documents
stay linear in their number of mentions."""
_MAX_WORD = 64


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention in its context. Abbreviations are replaced by their long forms.

    text (str): the mention.
    left (str): the text before it.
    right (str): the text after it.
    species_context (str): the species of the document, e.g. `mus musculus, homo sapiens`; not part
        of the model's input.
    """

    text: str
    left: str = ""
    right: str = ""
    species_context: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Replacement:
    """A part of the text that is replaced in the model's input.

    start (int), end (int): character offsets in the document.
    text (str): the replacement.
    """

    start: int
    end: int
    text: str


def mention_at(
    text: str,
    start: int,
    end: int,
    *,
    replacements: Sequence[Replacement] = (),
    collapse_spaces: bool = True,
    expand_context: bool = True,
    read_as: str = "",
    species_context: str = "",
) -> Mention:
    """Get a mention of a text. Runs of white space in the mention become single spaces.

    text (str): text of the document.
    start (int), end (int): character offsets of the mention.
    replacements (Sequence[Replacement]): sorted and without overlaps, e.g. from `replace_longest`.
        Replacements that cross an edge of the mention are not applied.
    collapse_spaces (bool): also collapse white space in the context.
    expand_context (bool): also apply the replacements in the context.
    read_as (str): replaces the text of the mention; empty: the text is used.
    species_context (str): see `Mention`.
    RETURNS (Mention): e.g. `MLD` at 16 in `a gene, causes, MLD early` with a replacement gives
        `Mention("metachromatic leukodystrophy", "a gene, causes,", "early")`.
    """
    first, last = 0, len(text)
    if start > MAX_CONTEXT_CHARS:
        first = _word_start(text, start - MAX_CONTEXT_CHARS)
    if last - end > MAX_CONTEXT_CHARS:
        last = _word_end(text, end + MAX_CONTEXT_CHARS)
    around = replacements if expand_context else ()
    left, right = _replaced(text, first, start, around), _replaced(text, end, last, around)
    if collapse_spaces:
        left, right = " ".join(left.split()), " ".join(right.split())
    words = read_as or " ".join(_replaced(text, start, end, replacements).split())
    return Mention(words, left, right, species_context)


def replace_longest(replacements: Iterable[Replacement]) -> list[Replacement]:
    """Remove overlapping replacements: the longest is kept, of equal ones the first.

    replacements (Iterable[Replacement]): in any order, may be repeated.
    RETURNS (list[Replacement]): sorted by offset, without overlaps.
    """
    chosen: list[Replacement] = []
    for item in sorted(set(replacements), key=lambda r: (r.start - r.end, r)):
        position = bisect_left(chosen, item)
        before_ends = position == 0 or chosen[position - 1].end <= item.start
        if before_ends and (position == len(chosen) or item.end <= chosen[position].start):
            chosen.insert(position, item)
    return chosen


def _replaced(text: str, start: int, end: int, replacements: Sequence[Replacement]) -> str:
    """The text from start to end, with the replacements inside it applied."""
    parts, offset = [], start
    for item in replacements[bisect_left(replacements, Replacement(start, start, "")) :]:
        if item.start >= end:
            break
        if item.end <= end:
            parts += [text[offset : item.start], item.text]
            offset = item.end
    return "".join((*parts, text[offset:end]))


def _word_start(text: str, at: int) -> int:
    """The next offset at which a word starts; `at` itself in scripts without spaces."""
    return next((i for i in range(at, at + _MAX_WORD) if text[i - 1].isspace()), at)


def _word_end(text: str, at: int) -> int:
    """The previous offset at which a word ends; `at` itself in scripts without spaces."""
    return next((i for i in range(at, at - _MAX_WORD, -1) if text[i].isspace()), at)
