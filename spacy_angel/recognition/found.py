"""Mentions in a text, with balanced brackets and without punctuation at their edges.

A network that tags word by word may find `surfactant protein (` and `SP)-A`, or `Trp53-/-`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from spacy.tokens import Doc, Span, SpanGroup

from ..component.characters import CleanText

# An object with `start` and `end`.
_T = TypeVar("_T", bound=Any)

_PAIRS = {")": "(", "]": "["}
_MOST_ROUNDS = 8  # maximum nesting depth of brackets
_LONGEST = 400  # maximum number of characters between two brackets of a pair
_MARKS = frozenset((*_PAIRS, *_PAIRS.values()))
_BETWEEN = re.compile(r"\s?[(\[]")
_BEFORE = re.compile(r"(?:\([-–+]\)|#\d*|[\s\-–/,;:.~=*`|>])*")
_BEHIND = frozenset("/,;:~=*`|")
# Borders of cells and paragraphs. A tab is not one if the text has few spaces besides, nor a line
# end within a sentence.
_BORDER = re.compile(r"\n\t|[|\t]|(?<= )\^|\n[^\S\n]{0,9}\n|\n")
_BLOCK = 2000  # maximum number of characters of lines that are compared
_SHORT_LINE = 0.7  # of the longest line
# The genotype of a mouse, `-/-` or `+/-`.
_GENOTYPE = re.compile(r"[-–+]/[-–+]")
# Of `FLAG-tagged`, but not of `Cl- channels`.
_HYPHEN = re.compile(r"[-–](?=\w)")
# The rest of `CaCl(2)` and `Ca(2+)`.
_NUMBER = re.compile(r"(?<=\w[(\[])[\d+\-–]{1,3}[)\]]")


class FoundMention(NamedTuple):
    """A mention in a text.

    start, end (int): character offsets.
    label (str): e.g. `DISEASE`.
    probability (float): geometric mean of the probabilities of its words.
    """

    start: int
    end: int
    label: str
    probability: float


class TokenSpan(FoundMention):
    """A mention in a document; `start` and `end` are token indices."""


def without_overlaps(
    intervals: Iterable[_T], key: Callable[[_T], Any], taken: Iterable[_T] = ()
) -> list[_T]:
    """Select intervals that do not overlap.

    intervals (Iterable[_T]): objects with `start` and `end`.
    key (Callable[[_T], Any]): of overlapping intervals, the one with the smallest key is kept.
    taken (Iterable[_T]): intervals that no selected interval may overlap.
    RETURNS (list[_T]): sorted by `start`.
    """
    used = {place for one in taken for place in range(one.start, one.end)}
    chosen = []
    for one in sorted(intervals, key=key):
        places = range(one.start, one.end)
        if used.isdisjoint(places):
            used.update(places)
            chosen.append(one)
    return sorted(chosen, key=lambda one: one.start)


def in_source(text: CleanText, found: Sequence[_T]) -> list[_T]:
    """Convert offsets in a normalized text to offsets in the original text.

    text (CleanText): the text. found (Sequence[_T]): named tuples with `start` and `end`.
    RETURNS (list[_T]): in the same order.
    """
    if text.is_clean:
        return list(found)
    places = ((one, *text.to_source(one.start, one.end)) for one in found)
    return [one._replace(start=start, end=end) for one, start, end in places]


def scored_spans(doc: Doc, key: str) -> list[tuple[Span, float]]:
    """doc (Doc): a document with the span group. key (str): key of the group. RETURNS
    (list[tuple[Span, float]]): the spans of the group with their `scores`, or with 1.0 if it has
    none."""
    group = doc.spans[key]
    return list(zip(group, group.attrs.get("scores") or [1.0] * len(group), strict=True))


def set_scored_spans(
    doc: Doc, key: str, rows: Iterable[tuple[Span, float]], attrs: dict[str, Any]
) -> None:
    """Write a span group.

    doc (Doc): changed in place.
    key (str): key of the group.
    rows (Iterable[tuple[Span, float]]): spans with their scores.
    attrs (dict[str, Any]): attributes of the group; scores are written only if it contains
        `scores`.
    """
    rows = list(rows)
    if "scores" in attrs:
        attrs = {**attrs, "scores": [score for _, score in rows]}
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=[span for span, _ in rows])


def trim_spans(text: str, found: Iterable[FoundMention]) -> list[FoundMention]:
    """Split mentions at the borders of table cells and paragraphs, strip punctuation from their
    edges, and merge mentions that are connected by one pair of brackets.

    text (str): the text.
    found (Iterable[FoundMention]): sorted by position; mentions with different labels may overlap.
    RETURNS (list[FoundMention]): sorted by position. For example, `protein (` and `SP)-A` become
        `protein (SP)-A` with the lower of the two probabilities, `Trp53-/-` becomes `Trp53`,
        `(IL-2` becomes `IL-2`, and `CaCl(` becomes `CaCl(2)`. Mentions of punctuation only and
        halves of a compound (`FLAG-`) are dropped.
    """
    joined: list[FoundMention] = []
    last: dict[str, int] = {}
    has_cells = text.count("\t") < text.count(" ")
    parts = (part for mention in found for part in _within_borders(text, mention, has_cells))
    for one in (_without_marks(text, part) for part in parts):
        place = last.get(one.label)
        if place is not None and _is_held_together(text, joined[place], one):
            before = joined[place]
            probability = min(before.probability, one.probability)
            joined[place] = before._replace(end=one.end, probability=probability)
        elif one.start < one.end:
            last[one.label] = len(joined)
            joined.append(one)
    return sorted(joined, key=lambda one: one[:2])


def _within_borders(text: str, one: FoundMention, has_cells: bool) -> Iterator[FoundMention]:
    """YIELDS (FoundMention): the parts of a mention that crosses the border of a cell or
    paragraph."""
    start = one.start
    for border in _BORDER.finditer(text, one.start, one.end):
        mark = border[0]
        if has_cells if mark == "\t" else mark != "\n" or _is_list(text, border.start()):
            yield one._replace(start=start, end=border.start())
            start = border.end()
    yield one._replace(start=start)


def _is_list(text: str, end: int) -> bool:
    """RETURNS (bool): whether a line end was not inserted to wrap a text: the line would be much
    shorter than the longest one near it even with the first word of the next line."""
    before = text[max(end - _BLOCK, 0) : end].rpartition("\n\n")[2].split("\n")
    after = text[end + 1 : end + _BLOCK].partition("\n\n")[0].split("\n")
    first_word = after[0].partition(" ")[0]
    longest = max(map(len, before + after))
    return len(before[-1].rstrip()) + len(first_word) < _SHORT_LINE * longest


def _is_held_together(text: str, one: FoundMention, other: FoundMention) -> bool:
    parts = text[one.start : one.end], text[other.start : other.end]
    is_near = _BETWEEN.fullmatch(text, one.end, other.start) is not None
    is_near = is_near and other.end - one.start <= _LONGEST
    return is_near and not all(map(_is_whole, parts)) and _is_whole(text[one.start : other.end])


def _without_marks(text: str, one: FoundMention) -> FoundMention:
    """RETURNS (FoundMention): the mention without punctuation at its edges; it may be empty."""
    start, end = one.start, one.end
    if number := _NUMBER.match(text, end):
        end = number.end()
    if _HYPHEN.match(text, end - 1):
        return one._replace(end=start)
    for _ in range(_MOST_ROUNDS):
        found = _BEFORE.match(text, start, end)
        start = found.end() if found else start
        end = _end_without_marks(text, start, end)
        if start >= end or _is_whole(text[start:end]):
            break
        start += text[start:end][:1] in _MARKS
        end -= text[start:end][-1:] in _MARKS
    return one._replace(start=start, end=max(start, end))


def _end_without_marks(text: str, start: int, end: int) -> int:
    while end > start:
        if text[end - 1].isspace() or text[end - 1] in _BEHIND:
            end -= 1
        elif end - 3 >= start and _GENOTYPE.match(text, end - 3, end):
            end -= 3
        else:
            break
    return end


def _is_whole(text: str) -> bool:
    """RETURNS (bool): whether all brackets are balanced."""
    opened: list[str] = []
    for mark in text:
        if mark in _PAIRS.values():
            opened.append(mark)
        elif mark in _PAIRS and (not opened or opened.pop() != _PAIRS[mark]):
            return False
    return not opened
