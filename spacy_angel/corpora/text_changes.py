"""Changes to the text of a document that keep its mentions aligned."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..vocabulary.names.concepts import normalize_name
from .documents import CorpusDocument, GoldMention

_WORD_EDGES = r"(?<!\w){}(?!\w)"


def blank_marks(document: CorpusDocument) -> CorpusDocument:
    """Lowercase mentions and replace punctuation in them by spaces, without changing offsets.

    document (CorpusDocument): e.g. with the mention `dizziness (fainting)`.
    RETURNS (CorpusDocument): the changed document, here with `dizziness  fainting `.
    """
    chars = list(document.text)
    for mention in document.mentions:
        lower = lower_in_place(mention.text)
        blanked = (c if c.isspace() or normalize_name(c) else " " for c in lower)
        chars[mention.start : mention.end] = blanked
    return with_text(document, "".join(chars), normal_or_same)


def lowercase(document: CorpusDocument) -> CorpusDocument:
    """Lowercase the text of a document without changing offsets.

    document (CorpusDocument): the document.
    RETURNS (CorpusDocument): the changed document.
    """
    return with_text(document, lower_in_place(document.text))


def lower_in_place(text: str) -> str:
    """Lowercase a text without changing its length. `İ` is kept, because its lowercase form has two
    characters.

    text (str): the text.
    RETURNS (str): the lowercase text, with the same length.
    """
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def with_text(
    document: CorpusDocument, text: str, change: Callable[[str], str] = lower_in_place
) -> CorpusDocument:
    """Replace the text of a document by one of the same length.

    document (CorpusDocument): the document.
    text (str): the new text.
    change (Callable[[str], str]): is applied to the parts of composites.
    RETURNS (CorpusDocument): the changed document.
    """
    mentions = (
        replace(m, text=text[m.start : m.end], parts=tuple(map(change, m.parts)))
        for m in document.mentions
    )
    return replace(document, text=text, mentions=tuple(mentions))


def blank_punctuation(document: CorpusDocument) -> CorpusDocument:
    """Normalize mentions like names: lowercase them, replace punctuation by spaces, and collapse
    spaces. Mentions that consist only of punctuation are kept.

    document (CorpusDocument): e.g. text `see (B-cell) lymphoma`, mention `(B-cell) lymphoma`.
    RETURNS (CorpusDocument): here text `see b cell lymphoma`, mention `b cell lymphoma`.
    """
    stay = [mention for mention in document.mentions if not normalize_name(mention.text)]
    fixed = {offset for m in stay for offset in range(m.start, m.end)}
    changed = {o for m in document.mentions if m not in stay for o in range(m.start, m.end)}
    lower = lower_in_place(document.text)
    edits: list[tuple[int, int, str]] = []
    for offset in sorted(changed):
        if offset - 1 not in changed:
            is_first, space = True, ""
        new = document.text[offset] if offset in fixed else lower[offset]
        if offset in fixed or normalize_name(new):
            edits.append((offset, offset + 1, space + new))
            is_first, space = False, ""
        else:
            edits.append((offset, offset + 1, ""))
            space = "" if is_first else " "
    document = replace_spans(document, edits)
    return replace(document, mentions=tuple(map(_normalized, document.mentions)))


def normal_or_same(text: str) -> str:
    return normalize_name(text) or text


def _normalized(mention: GoldMention) -> GoldMention:
    """Strip spaces around a mention, and convert its parts to the normal form of names."""
    text, parts = mention.text.strip(" "), tuple(map(normal_or_same, mention.parts))
    start = mention.end - len(mention.text.lstrip(" "))
    return replace(mention, start=start, end=start + len(text), text=text, parts=parts)


def expand_abbreviations(
    document: CorpusDocument, pairs: Sequence[tuple[str, str]], where: str = "mentions"
) -> tuple[CorpusDocument, int]:
    """Replace abbreviations by their long forms, as whole words.

    An abbreviation is kept if a mention contains it together with its long form (`adenomatous
    polyposis coli (APC)`), or if a mention begins or ends inside it. If there are several long
    forms, the first one is used.

    document (CorpusDocument): e.g. `APC mutations`, mention `APC`. Parts of composites are
        expanded, too.
    pairs (Sequence[tuple[str, str]]): short and long form, e.g. `("APC", "adenomatous polyposis
        coli")`.
    where (str): `mentions` or `text`, see `Preprocessing.expand`.
    RETURNS (tuple[CorpusDocument, int]): here `adenomatous polyposis coli mutations`, with adjusted
        offsets; and the number of replacements.
    """
    long_forms: dict[str, str] = {}
    for short, long in pairs:
        if short and long and short != long:
            long_forms.setdefault(short, long)
    if not long_forms:
        return document, 0
    longest_first = sorted(long_forms, key=len, reverse=True)
    pattern = re.compile(_WORD_EDGES.format(f"(?:{'|'.join(map(re.escape, longest_first))})"))
    replacements = []
    for match in pattern.finditer(document.text):
        start, end = match.span()
        touching = [m for m in document.mentions if m.start < end and start < m.end]
        covering = [m for m in touching if m.start <= start and end <= m.end]
        if len(covering) < len(touching) or (where == "mentions" and not covering):
            continue
        long = long_forms[match[0]]
        if any(long.lower() in m.text.lower() for m in covering):
            continue
        replacements.append((start, end, long))
    document = replace_spans(document, replacements)
    mentions = (
        replace(m, parts=tuple(pattern.sub(lambda match: long_forms[match[0]], p) for p in m.parts))
        for m in document.mentions
    )
    return replace(document, mentions=tuple(mentions)), len(replacements)


def replace_spans(
    document: CorpusDocument, replacements: Sequence[tuple[int, int, str]]
) -> CorpusDocument:
    """Replace parts of a text and adjust all offsets.

    document (CorpusDocument): the document.
    replacements (Sequence[tuple[int, int, str]]): start, end, and new text of each
        replacement, in order and without overlaps. A mention that begins at the start or ends at
        the end of a replacement includes the new text.
    RETURNS (CorpusDocument): the changed document, with adjusted offsets of mentions and title.
    """
    if not replacements:
        return document
    pieces: list[str] = []
    starts, ends, shifts, positions = {}, {}, [0], [0]
    for start, end, new in replacements:
        pieces += [document.text[positions[-1] : start], new]
        starts[start] = start + shifts[-1]
        shifts.append(shifts[-1] + len(new) - (end - start))
        ends[end] = end + shifts[-1]
        positions.append(end)
    text = "".join([*pieces, document.text[positions[-1] :]])

    def moved(offset: int, exact: dict[int, int]) -> int:
        return exact.get(offset, offset + shifts[bisect_right(positions, offset) - 1])

    mentions = []
    for mention in document.mentions:
        start, end = moved(mention.start, starts), moved(mention.end, ends)
        mentions.append(replace(mention, start=start, end=end, text=text[start:end]))
    title_end = document.title_end
    title_end = None if title_end is None else moved(title_end, ends)
    return replace(document, text=text, mentions=tuple(mentions), title_end=title_end)
