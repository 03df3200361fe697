"""Doc → Mention: the mention, its context, long forms in place of abbreviations.

Everything is cut by character offsets of the text as it stands; a replacement changes only the
strings that the model reads, never an offset of the document.
"""

import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import AngelError, Errors
from ..model.prompts import Mention

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

MAX_CONTEXT_CHARS = 8192
"""Characters of context read on either side: more than any model takes in, and long documents
stay linear in their number of mentions."""
_LONGEST_WORD = 64
_ABBREVIATIONS = ("._.", "abbreviations", None, None)


@dataclass(frozen=True, slots=True, order=True)
class Replacement:
    """A stretch of text that the model reads as another.

    start (int), end (int): character offsets in the document.
    text (str): what stands there instead.
    """

    start: int
    end: int
    text: str


def find_spans(doc: "Doc", span_key: str | None) -> list["Span"]:
    """The mentions of a document.

    doc (Doc): a document.
    span_key (str | None): the span group to read; None reads `doc.ents`.
    RETURNS (list[Span]): in the order of the entities or of the group; none, with a warning,
        where the document has words but no such group.
    """
    if span_key is None:
        return list(doc.ents)
    if span_key in doc.spans:
        return list(doc.spans[span_key])
    if len(doc):
        warnings.warn(Errors.W301.format(key=span_key, found=sorted(doc.spans)), stacklevel=2)
    return []


def read_mentions(
    doc: "Doc",
    spans: Sequence["Span"],
    *,
    n_sents: int | None = None,
    resolve_abbreviations: bool = True,
) -> list[Mention]:
    """Mentions in their context, as the model reads them.

    doc (Doc): the document.
    spans (Sequence[Span]): its mentions, in any order; they may overlap and cross sentences.
    n_sents (int | None): sentences of context on either side of the sentences that the mention
        touches; None reads the whole document, as far as the model's length allows.
    resolve_abbreviations (bool): put the long forms of `doc._.abbreviations` (scispaCy's
        detector) in their place; a document without them is read as it is.
    RETURNS (list[Mention]): one a span.
    RAISES (AngelError): `n_sents` is given and the document has no sentence boundaries.
    """
    if not spans:
        return []
    text = doc.text
    replacements = abbreviation_replacements(doc) if resolve_abbreviations else []
    windows = _sentence_windows(doc, spans, n_sents)
    return [
        mention_at(text, span.start_char, span.end_char, window=window, replacements=replacements)
        for span, window in zip(spans, windows, strict=True)
    ]


def mention_at(
    text: str,
    start: int,
    end: int,
    *,
    window: tuple[int, int] | None = None,
    replacements: Sequence[Replacement] = (),
) -> Mention:
    """One mention of a text. Runs of white space become one blank.

    text (str): the document's text.
    start (int), end (int): character offsets of the mention.
    window (tuple[int, int] | None): character offsets of the context; None is the whole text.
    replacements (Sequence[Replacement]): sorted, not overlapping, e.g. from `replace_longest`.
        One that lies across an edge of the mention is left out: part of it is not the mention's.
    RETURNS (Mention): e.g. `MLD` at 16 in `a gene, causes, MLD early` with a replacement gives
        `Mention("metachromatic leukodystrophy", "a gene, causes,", "early")`.
    """
    first, last = window or (0, len(text))
    first = max(first, _word_start(text, start - MAX_CONTEXT_CHARS))
    last = min(last, _word_end(text, end + MAX_CONTEXT_CHARS))
    return Mention(
        text=_replaced(text, start, end, replacements),
        left=_replaced(text, first, start, replacements),
        right=_replaced(text, end, last, replacements),
    )


def abbreviation_replacements(doc: "Doc") -> list[Replacement]:
    """What scispaCy's abbreviation detector found, in both of its forms.

    doc (Doc): `doc._.abbreviations` holds spans with `span._.long_form` (a span or a string), or,
        made serializable, dictionaries with `short_start`, `short_end` (tokens) and `long_text`.
    RETURNS (list[Replacement]): as `replace_longest` gives them; empty where none was found.
    """
    found = []
    # Not `doc._.abbreviations`: where the detector is not loaded, the attribute is unknown though
    # a document from a DocBin holds it; where it is not set, reading would write its default.
    user_data: dict[Any, Any] = doc.user_data
    for item in user_data.get(_ABBREVIATIONS, ()):
        if isinstance(item, dict):
            span, long_form = doc[item["short_start"] : item["short_end"]], item["long_text"]
        else:
            span, long_form = item, item._.long_form
        found.append(Replacement(span.start_char, span.end_char, str(long_form)))
    return replace_longest(found)


def replace_longest(replacements: Iterable[Replacement]) -> list[Replacement]:
    """Of replacements that overlap, keep the longest, then the first.

    replacements (Iterable[Replacement]): in any order, repeats allowed.
    RETURNS (list[Replacement]): sorted by offset, not overlapping.
    """
    kept: list[Replacement] = []
    for item in sorted(set(replacements), key=lambda r: (r.start - r.end, r)):
        at = bisect_left(kept, item)
        before_ends = at == 0 or kept[at - 1].end <= item.start
        if before_ends and (at == len(kept) or item.end <= kept[at].start):
            kept.insert(at, item)
    return kept


def _replaced(text: str, start: int, end: int, replacements: Sequence[Replacement]) -> str:
    """The text from start to end, with the replacements that lie inside; one blank at most."""
    parts, at = [], start
    for item in replacements[bisect_left(replacements, start, key=lambda r: r.start) :]:
        if item.start >= end:
            break
        if item.end <= end:
            parts += [text[at : item.start], item.text]
            at = item.end
    return " ".join("".join((*parts, text[at:end])).split())


def _sentence_windows(
    doc: "Doc", spans: Sequence["Span"], n_sents: int | None
) -> list[tuple[int, int] | None]:
    """Character offsets of each mention's sentences and their neighbours."""
    if n_sents is None:
        return [None] * len(spans)
    if not doc.has_annotation("SENT_START"):
        raise AngelError(Errors.E301.format(n_sents=n_sents))
    sents = [(sent.start_char, sent.end_char) for sent in doc.sents]
    starts = [start for start, _ in sents]
    windows: list[tuple[int, int] | None] = []
    for span in spans:
        first = bisect_right(starts, span.start_char) - 1
        last = bisect_left(starts, span.end_char) - 1
        windows.append(
            (sents[max(first - n_sents, 0)][0], sents[min(last + n_sents, len(sents) - 1)][1])
        )
    return windows


def _word_start(text: str, at: int) -> int:
    """The next offset where a word starts; `at` itself in scripts that put no blanks."""
    if at <= 0:
        return 0
    return next((i for i in range(at, at + _LONGEST_WORD) if text[i - 1].isspace()), at)


def _word_end(text: str, at: int) -> int:
    """The previous offset where a word ends; `at` itself in scripts that put no blanks."""
    if at >= len(text):
        return len(text)
    return next((i for i in range(at, at - _LONGEST_WORD, -1) if text[i].isspace()), at)
