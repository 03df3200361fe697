"""Extend mentions that are part of a longer name: a recognizer may find only `host disease` in
`graft versus host disease`."""

import re
from collections.abc import Iterable, Sequence

from spacy.tokens import Doc, Span, Token

from ...component.characters import CleanText
from ...component.probability import extent_of
from .names import NameReader

_MAX_ADDED = 4  # tokens on either side
_BORDER = re.compile(r"[()\[\],;:.|\n]")


def longer_names(
    doc: Doc, text: CleanText, mentions: Sequence[Span], names: NameReader
) -> list[Span]:
    """Find names of the vocabulary that contain a mention and stay within its maximum extent
    (`mention_extent`).

    doc (Doc): a document.
    text (CleanText): its cleaned text.
    mentions (Sequence[Span]): the mentions of the document.
    names (NameReader): reads the vocabulary.
    RETURNS (list[Span]): for each mention, the longest name of a concept that its label allows, if
        any, in the order of the text. Names do not overlap each other, and contain other mentions
        entirely or not at all.
    """
    found: list[Span] = []
    inner = {token for one in mentions for token in range(one.start + 1, one.end)}
    for mention in mentions:
        for start, end in _around(mention):
            if (found and start < found[-1].end) or start in inner or end in inner:
                continue
            name = doc[start:end]
            first, last = text.from_source(name.start_char, name.end_char)
            added = doc[start : mention.start].text + doc[mention.end : end].text
            if not _BORDER.search(added) and names.is_name(text.text[first:last], mention.label_):
                found.append(Span(doc, start, end, label=mention.label))
                break
    return found


def _around(mention: Span) -> Iterable[tuple[int, int]]:
    """RETURNS (Iterable[tuple[int, int]]): token offsets of longer spans that begin and end with a
    word, longest first."""
    first, last = extent_of(mention)
    spans = [
        (start, end)
        for start in range(max(first, mention.start - _MAX_ADDED), mention.start + 1)
        for end in range(mention.end, min(last, mention.end + _MAX_ADDED) + 1)
        if end - start > len(mention) and _is_word(mention.doc[start], mention.doc[end - 1])
    ]
    return sorted(spans, key=lambda span: span[0] - span[1])


def _is_word(*tokens: Token) -> bool:
    return all(any(map(str.isalnum, token.text)) for token in tokens)
