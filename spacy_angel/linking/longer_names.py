"""Finds names of the vocabulary that contain the mentions of a document, and names that the
recognizer finds possible. A recognizer may find only `host disease` in `graft versus host disease`,
and in clinical notes, one that has mostly seen abstracts may give `aortic dissection` a probability
of 0.2."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from spacy.tokens import Doc, Span, Token

from ..component.characters import CleanText
from ..component.probability import PossibleMention, possible_mentions_of
from ..component.view import visible_words
from ..vocabulary.lookup.words import common_words
from ..vocabulary.names.entity_types import is_disease
from ..vocabulary.names.labels import wider_entity_types_of

if TYPE_CHECKING:
    from .candidates.names import NameReader

_MAX_ADDED = 4  # words on either side of a mention
_MAX_WORDS = 6  # words of a name that is not a whole possible mention
# Not a number alone, which may be a value: `albumin 1`; or an enzyme: `lactate dehydrogenase`.
_TYPE = re.compile(
    r"[IVX]{1,4}[ABC]?|[A-E]|(?:type|stage|grade|class) (?:[IVX]{1,4}|\d{1,2}|[A-E])[A-Ea-e]?"
    r"|-?(?i:[a-z]{4,}ases?)"
)
# Words that make a chemical something else: `histamine H1 antagonists`.
_HEAD = re.compile(r"(?:ant)?agonists?|blockers?|inhibitors?", re.IGNORECASE)
_CONJUNCTIONS = frozenset(("and", "or", "and/or", "/", "&"))
_MAX_PARTS = 4  # of a coordination
_MAX_BETWEEN = 3  # words between two coordinated mentions
_BORDER = re.compile(r"[()\[\],;:.|\n<>&*_]")
# Part of the name of a disease if the recognizer finds it possible (`graft vs. host disease`).
_PUNCTUATION = re.compile(r"[,.]")
_BRAND = re.compile(r"[A-Z][a-z]{5,}")


def find_longer_names(
    doc: Doc, text: CleanText, mentions: Sequence[Span], names: "NameReader"
) -> list[Span]:
    """Find names that contain mentions, and names in the possible mentions of a document.

    doc (Doc): a document.
    text (CleanText): its cleaned text.
    mentions (Sequence[Span]): its mentions, in the order of the text, without overlaps.
    names (NameReader): reads the vocabulary.
    RETURNS (list[Span]): names that do not overlap each other, and contain mentions entirely or not
        at all.
    """
    visible = visible_words(doc, text)
    words = visible.words
    own = [Span(words, *visible.within(m.start, m.end), label=m.label) for m in mentions]
    own = [mention for mention in own if len(mention)]
    ends = ((one, *visible.within(one.start, one.end)) for one in possible_mentions_of(doc))
    possible = [one._replace(start=start, end=end) for one, start, end in ends if start < end]
    longer = list(_containing(own, possible, names))
    found = _possible(words, possible, [*beside(own, longer), *longer], names)
    return [
        Span(doc, *visible.to_source(name.start, name.end), label=name.label)
        for name in [*beside(longer, found), *found]
    ]


def is_within(span: Span, possible: PossibleMention) -> bool:
    """span (Span), possible (PossibleMention): of the same document. RETURNS (bool): whether the
    span is within the possible mention and has its label."""
    is_inside = possible.start <= span.start and span.end <= possible.end
    return is_inside and span.label_ == possible.label


def beside(spans: Iterable[Span], others: Iterable[Span]) -> list[Span]:
    """spans (Iterable[Span]), others (Iterable[Span]): of the same document. RETURNS (list[Span]):
    the spans that overlap none of the others."""
    covered = {token for span in others for token in range(span.start, span.end)}
    return [span for span in spans if covered.isdisjoint(range(span.start, span.end))]


def _containing(
    mentions: Sequence[Span], possible: Sequence[PossibleMention], names: "NameReader"
) -> Iterator[Span]:
    """Find names that contain a mention. A disease is extended by up to four words on either side;
    other mentions stay within a possible mention, or are extended by a type, a stage, or the name
    of an enzyme (`type IV`, `dehydrogenase`), or up to a word such as `inhibitors`.

    YIELDS (Span): for each mention, the longest name of a concept that its label allows, if any.
    """
    inner = {word for m in mentions for word in range(m.start + 1, m.end)}
    cut = {m.end for m in mentions}.difference(m.start for m in mentions)
    words = [word.lower_ for m in mentions[:1] for word in m.doc] + [""] * 3
    possible_at: defaultdict[int, list[PossibleMention]] = defaultdict(list)
    for one in possible:
        for word in range(one.start, one.end):
            possible_at[word].append(one)
    last = 0
    for mention, after in zip(mentions, [*mentions[1:], None], strict=False):
        doc, label = mention.doc, mention.label_
        # Not `virus, or HIV infection` in `Epstein-Barr virus, or HIV infection`.
        wide = [span for span in _coordinations(mention, after, words) if span[0] not in cut]
        around = [one for one in possible_at[mention.start] if is_within(mention, one)]
        for start, end in [*wide, *_around(mention, around)]:
            if start < last or start in inner or end in inner:
                continue
            name = Span(doc, start, end, label=label)
            before = doc[start : mention.start].text
            # `hand, foot and mouth disease`, but not `muscle, rigidity`.
            if any(word.lower_ in _CONJUNCTIONS for word in name):
                before = before.replace(",", "")
            added = before + doc[mention.end : end].text
            # `diabetes mellitus, type 2`, but not `arthritis, rheumatoid factor`.
            is_inverted = added[:1] == "," and not (end < len(doc) and doc[end].is_lower)
            is_open = is_inverted or any(is_within(name, one) for one in around)
            if is_open and is_disease(label):
                added = _PUNCTUATION.sub("", added)
            is_known = not _BORDER.search(added) and names.is_name(name.text, label)
            # `thrombus formation` is no other concept than `thrombus`.
            if is_known and start == mention.start and is_disease(label):
                is_known = not names.share_concepts(mention.text, name.text)
            if not is_known and (start, end) in wide:
                is_known = bool(names.coordinated(name.text, label))
                # `muscle wasting and weakness` are two mentions.
                if is_known and after is not None and end == after.end:
                    is_known = not names.is_name(mention.text, label)
            if is_known:
                yield name
                last = end
                break


def _around(mention: Span, possible: Sequence[PossibleMention]) -> list[tuple[int, int]]:
    """possible (Sequence[PossibleMention]): those around the mention. RETURNS (list[tuple[int,
    int]]): word offsets of longer spans that begin and end with a word, longest first."""
    doc, first, last = mention.doc, mention.start, mention.end
    if is_disease(mention.label_):
        first, last = max(first - _MAX_ADDED, 0), min(last + _MAX_ADDED, len(doc))
    first = min([first, *(one.start for one in possible)])
    last = max([last, *(one.end for one in possible)])
    ends = [
        end
        for end in range(mention.end, min(mention.end + _MAX_ADDED, len(doc)) + 1)
        if end <= last
        or _TYPE.fullmatch(doc[mention.end : end].text)
        or _HEAD.fullmatch(doc[end - 1].text)
    ]
    spans = [
        (start, end)
        for start in range(max(first, mention.start - _MAX_ADDED), mention.start + 1)
        for end in ends
        if end - start > len(mention) and _is_word(doc[start], doc[end - 1])
    ]
    return sorted(spans, key=lambda span: span[0] - span[1])


def _coordinations(
    mention: Span, after: Span | None, words: Sequence[str]
) -> list[tuple[int, int]]:
    """words (Sequence[str]): words of the document in lower case, and three empty ones.
    RETURNS (list[tuple[int, int]]): word offsets of spans in which a mention may be coordinated
    with the next mention, with one or two words beside it, or with several words separated by
    commas (`hepatitis A, B and C`)."""
    doc, start, end = mention.doc, mention.start, mention.end

    def starts(first: int) -> list[int]:
        """Positions of words separated by commas up to this one, the first one first."""
        found = [first]
        while len(found) < _MAX_PARTS and found[0] > 1 and words[found[0] - 1] == ",":
            found.insert(0, found[0] - 2)
        return found

    spans = []
    if after is not None and after.label == mention.label and after.start - end < _MAX_BETWEEN:
        spans += [(first, after.end) for first in starts(start)]
    # Before the mention, or before one more word: `pain` in `neck and shoulder pain`.
    for i in (start - 1, start - 2):
        if i > 0 and words[i] in _CONJUNCTIONS:
            before = starts(i - 1 - (words[i - 1] == ","))
            spans += [(first - added, end) for first in before for added in (1, 0)]
    last = end
    for _ in range(_MAX_PARTS - 2):
        if words[last] == "," and words[last + 1] not in _CONJUNCTIONS and words[last + 1]:
            last += 2
    last += words[last] == ","
    # spaCy joins a single letter and the period of its sentence.
    if words[last] in _CONJUNCTIONS and words[last + 1] and not words[last + 1].endswith("."):
        spans.append((start, last + 2))
    return [
        (first, last) for first, last in spans if first >= 0 and _is_word(doc[first], doc[last - 1])
    ]


def _possible(
    doc: Doc, possible: Iterable[PossibleMention], mentions: Sequence[Span], names: "NameReader"
) -> list[Span]:
    """Find names in possible mentions: names of diseases with two or more words, and chemicals that
    look like brand names (`Trulicity`). Names with three to six words may extend beyond the
    possible mention.

    RETURNS (list[Span]): the longest names of each possible mention, see `_may_replace`.
    """
    found: list[Span] = []
    owners = {word: mention for mention in mentions for word in range(mention.start, mention.end)}
    for first, last, label, _ in possible:
        ends = {(first, last)}.union(
            (start, end)
            for start in range(max(first - _MAX_ADDED, 0), last)
            for end in range(max(first, start) + 1, min(start + _MAX_WORDS, len(doc)) + 1)
            if (first <= start and end <= last) or end - start > 2
        )
        for start, end in sorted(ends, key=lambda span: (span[0] - span[1], span)):
            name = Span(doc, start, end, label=label)
            parts = [owners[word] for word in range(start, end) if word in owners]
            is_new = all(_may_replace(name, part) for part in parts) and _is_distinctive(name)
            if is_new and names.is_name(name.text, label):
                found = [*beside(found, [name]), name]
                owners.update(dict.fromkeys(range(start, end), name))
    return found


def _may_replace(name: Span, mention: Span) -> bool:
    """RETURNS (bool): whether the mention is a part of the name, and a chemical: `cocaine` in
    `cocaine dependence`. A virus within the name of an infection is a mention of its own."""
    is_part = name.start <= mention.start and mention.end <= name.end and len(mention) < len(name)
    return is_part and "CHEMICAL" in wider_entity_types_of(mention.label_)


def _is_distinctive(name: Span) -> bool:
    """RETURNS (bool): whether a low probability is enough for a name, see `_possible`."""
    if is_disease(name.label_):
        is_whole = _is_word(name[0], name[-1]) and not _BORDER.search(name.text)
        return len(name) > 1 and is_whole
    is_brand = "CHEMICAL" in wider_entity_types_of(name.label_) and _BRAND.fullmatch(name.text)
    return bool(is_brand) and name.text.lower() not in common_words()


def _is_word(*tokens: Token) -> bool:
    return all(any(map(str.isalnum, token.text)) for token in tokens)
