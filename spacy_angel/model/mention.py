"""A mention in its context, as the model reads it: cut from a text, long forms in the place of
abbreviations."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAX_CONTEXT_CHARS = 8192
"""Characters of context read on either side: more than any model takes in, and long documents
stay linear in their number of mentions."""
_MAX_WORD = 64


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention in its context, abbreviations already replaced by their long forms.

    text (str): the mention.
    left (str): what stands before it.
    right (str): what stands after it.
    species_context (str): the species that the document is about, e.g. `mus musculus, homo
        sapiens`; the model does not see it.
    """

    text: str
    left: str = ""
    right: str = ""
    species_context: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Replacement:
    """A stretch of text that the model reads as another.

    start (int), end (int): character offsets in the document.
    text (str): what stands there instead.
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
    """One mention of a text. Runs of white space in it become one space.

    text (str): the document's text.
    start (int), end (int): character offsets of the mention.
    replacements (Sequence[Replacement]): sorted, not overlapping, e.g. from `replace_longest`.
        One that lies across an edge of the mention is left out: part of it is not the mention's.
    collapse_spaces (bool): runs of white space in the context become one space, too.
    expand_context (bool): replacements count in the context, too.
    read_as (str): stands in the mention's place, as it is; empty: its text does.
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
    """Of replacements that overlap, keep the longest, then the first.

    replacements (Iterable[Replacement]): in any order, repeats allowed.
    RETURNS (list[Replacement]): sorted by offset, not overlapping.
    """
    chosen: list[Replacement] = []
    for item in sorted(set(replacements), key=lambda r: (r.start - r.end, r)):
        position = bisect_left(chosen, item)
        before_ends = position == 0 or chosen[position - 1].end <= item.start
        if before_ends and (position == len(chosen) or item.end <= chosen[position].start):
            chosen.insert(position, item)
    return chosen


def _replaced(text: str, start: int, end: int, replacements: Sequence[Replacement]) -> str:
    """The text from start to end, with the replacements that lie inside."""
    parts, offset = [], start
    for item in replacements[bisect_left(replacements, Replacement(start, start, "")) :]:
        if item.start >= end:
            break
        if item.end <= end:
            parts += [text[offset : item.start], item.text]
            offset = item.end
    return "".join((*parts, text[offset:end]))


def _word_start(text: str, at: int) -> int:
    """The next offset where a word starts; `at` itself in scripts that put no spaces."""
    return next((i for i in range(at, at + _MAX_WORD) if text[i - 1].isspace()), at)


def _word_end(text: str, at: int) -> int:
    """The previous offset where a word ends; `at` itself in scripts that put no spaces."""
    return next((i for i in range(at, at - _MAX_WORD, -1) if text[i].isspace()), at)
