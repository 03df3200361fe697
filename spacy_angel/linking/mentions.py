"""Doc → Mention: the mention, its context, long forms in place of abbreviations.

Everything is cut by character offsets of the text as it stands; a replacement changes only the
strings that the model reads, never an offset of the document.
"""

import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import AngelError, Errors, Warnings
from ..model.mention import Mention, Replacement, mention_at, replace_longest

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

ABBREVIATIONS = ("._.", "abbreviations", None, None)
"""Where a document keeps what an abbreviation detector found."""
READ_AS = "spacy_angel_read_as"
"""Where a document keeps what is read in the places of given mentions: `[start, end, text]` each,
in characters."""


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
        warnings.warn(Warnings.W301.format(key=span_key, found=sorted(doc.spans)), stacklevel=2)
    return []


def read_mentions(
    doc: "Doc",
    spans: Sequence["Span"],
    *,
    n_sents: int | None = None,
    resolve_abbreviations: bool = True,
    collapse_blanks: bool = True,
    expand_context: bool = True,
    hints: Sequence[str] | None = None,
) -> list[Mention]:
    """Mentions in their context, as the model reads them.

    doc (Doc): the document.
    spans (Sequence[Span]): its mentions, in any order; they may overlap and cross sentences.
    n_sents (int | None): sentences of context on either side of the sentences that the mention
        touches; None reads the whole document, as far as the model's length allows.
    resolve_abbreviations (bool): put the long forms of `doc._.abbreviations` (scispaCy's
        detector) in their place; a document without them is read as it is.
    collapse_blanks (bool), expand_context (bool): see `PromptFormat`.
    hints (Sequence[str] | None): see `Mention`, one a span; None: none.
    RETURNS (list[Mention]): one a span.
    RAISES (AngelError): `n_sents` is given and the document has no sentence boundaries.
    """
    if not spans:
        return []
    text = doc.text
    read_as = {(start, end): read for start, end, read in doc.user_data.get(READ_AS, ())}
    replacements = abbreviation_replacements(doc) if resolve_abbreviations else []
    windows = _sentence_windows(doc, spans, n_sents)
    return [
        mention_at(
            text,
            span.start_char,
            span.end_char,
            window=window,
            replacements=replacements,
            collapse_blanks=collapse_blanks,
            expand_context=expand_context,
            read_as=read_as.get((span.start_char, span.end_char), ""),
            hint=hint,
        )
        for span, window, hint in zip(spans, windows, hints or [""] * len(spans), strict=True)
    ]


def abbreviation_replacements(doc: "Doc") -> list[Replacement]:
    """What scispaCy's abbreviation detector found, in both of its forms.

    doc (Doc): `doc._.abbreviations` holds spans with `span._.long_form` (a span or a string), or,
        made serializable, dictionaries with `short_start`, `short_end` (tokens) and `long_text`.
    RETURNS (list[Replacement]): as `replace_longest` gives them; empty where none was found. What
        is no longer than its short form, or lacks a bracket, is no long form.
    """
    replacements = []
    # Not `doc._.abbreviations`: where the detector is not loaded, the attribute is unknown though
    # a document from a DocBin holds it; where it is not set, reading would write its default.
    user_data: dict[Any, Any] = doc.user_data
    for item in user_data.get(ABBREVIATIONS, ()):
        if isinstance(item, dict):
            span, long_form = doc[item["short_start"] : item["short_end"]], item["long_text"]
        else:
            span, long_form = item, item._.long_form
        if _is_long_form(str(long_form), span.text):
            replacements.append(Replacement(span.start_char, span.end_char, str(long_form)))
    return replace_longest(replacements)


def _is_long_form(long_form: str, short_form: str) -> bool:
    """Not so: `Nile virus` of `West Nile virus`, `virus) replicon particle` of `VEE`."""
    is_whole = long_form.count("(") == long_form.count(")")
    return is_whole and len(long_form) > len(short_form)


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
