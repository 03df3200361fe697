"""Read mentions in their context, with abbreviations replaced by their long forms.

Offsets refer to the cleaned text, see `component.characters`. The document is not changed.
"""

import warnings
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from spacy.tokens import Doc, Span

from ...component.characters import clean
from ...errors import AngelWarning
from ...model.mention import Mention, Replacement, mention_at, replace_longest
from ...vocabulary.names.concepts import normalize_name

ABBREVIATIONS = ("._.", "abbreviations", None, None)
"""Key of the detected abbreviations in `doc.user_data`."""
# Longer lower-case words are not short forms.
_SHORTEST_WORD = 3
READ_AS = "spacy_angel_read_as"
"""Key in `doc.user_data` of texts that replace individual mentions: a list of `[start, end, text]`
with character offsets."""


class ReadDocument:
    """The cleaned text of a document, with its abbreviations.

    doc (Doc): the document, which must not change while this object is in use.
    """

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self._read = clean(doc.text)
        self.text = self._read.text
        """The cleaned text."""

    def offsets(self, start: int, end: int) -> tuple[int, int]:
        """start (int), end (int): character offsets in the document. RETURNS (tuple[int, int]):
        the offsets in `text`."""
        return self._read.from_source(start, end)

    def offsets_of(self, span: Span) -> tuple[int, int]:
        """span (Span): a span of the document. RETURNS (tuple[int, int]): its offsets in `text`."""
        return self._read.from_source(span.start_char, span.end_char)

    def text_of(self, span: Span) -> str:
        """span (Span): a span of the document. RETURNS (str): its cleaned text; may be empty."""
        start, end = self.offsets_of(span)
        return self.text[start:end]

    @cached_property
    def replacements(self) -> list[Replacement]:
        """RETURNS (list[Replacement]): the result of `abbreviation_replacements`, with character
        offsets in `text`."""
        found = abbreviation_replacements(self.doc)
        return [Replacement(*self.offsets(r.start, r.end), r.text) for r in found]

    @cached_property
    def short_forms(self) -> dict[str, list[str]]:
        """RETURNS (dict[str, list[str]]): long form in normal form → its short forms, in the order
        of the text."""
        forms: defaultdict[str, list[str]] = defaultdict(list)
        for r in self.replacements:
            forms[normalize_name(r.text)].append(self.text[r.start : r.end])
        return forms


def find_spans(doc: Doc, span_key: str | None) -> list[Span]:
    """Find the mentions of a document.

    doc (Doc): a document.
    span_key (str | None): the span group to read; None reads `doc.ents`.
    RETURNS (list[Span]): the mentions, in the order of the entities or of the group. If the
        document is not empty but lacks the group, a warning is issued and the list is empty.
    """
    if span_key is None:
        return list(doc.ents)
    if span_key in doc.spans:
        return list(doc.spans[span_key])
    if len(doc):
        warnings.warn(
            f"A document has no span group {span_key!r}, so nothing is linked. Its groups: "
            f"{sorted(doc.spans)}.",
            AngelWarning,
            stacklevel=2,
        )
    return []


def read_mentions(
    document: ReadDocument,
    spans: Sequence[Span],
    *,
    collapse_spaces: bool = True,
    expand_context: bool = True,
    species_contexts: Sequence[str] | None = None,
) -> list[Mention]:
    """Read mentions in their context, as the model sees them. The context is the whole document, up
    to the model's maximum length, with the short forms in `doc._.abbreviations` replaced by their
    long forms.

    document (ReadDocument): the document.
    spans (Sequence[Span]): its mentions, in any order; they may overlap and cross sentences.
    collapse_spaces (bool), expand_context (bool): see `PromptFormat`.
    species_contexts (Sequence[str] | None): the species context of each span, see `Mention`; None
        if there are none.
    RETURNS (list[Mention]): one mention per span.
    """
    data = document.doc.user_data.get(READ_AS, ())
    read_as = {(start, end): read for start, end, read in data}
    return [
        mention_at(
            document.text,
            *document.offsets_of(span),
            replacements=document.replacements,
            collapse_spaces=collapse_spaces,
            expand_context=expand_context,
            read_as=read_as.get((span.start_char, span.end_char), ""),
            species_context=species_context,
        )
        for span, species_context in zip(spans, species_contexts or [""] * len(spans), strict=True)
    ]


def abbreviation_replacements(doc: Doc) -> list[Replacement]:
    """Read the output of scispaCy's abbreviation detector, in either of its formats.

    doc (Doc): a document. `doc._.abbreviations` contains spans with `span._.long_form` (a span or a
        string), or, with `make_serializable`, dictionaries with `short_start`, `short_end` (token
        indices) and `long_text`.
    RETURNS (list[Replacement]): the output of `replace_longest`, with cleaned long forms; empty if
        no abbreviations were found. Long forms that are not longer than their short form, or that
        have unbalanced parentheses, are ignored.
    """
    replacements = []
    # Do not read `doc._.abbreviations`: without the detector, the attribute is not registered,
    # although a document from a DocBin may have it; and if it is not set, reading it would write
    # its default.
    user_data: dict[Any, Any] = doc.user_data
    for item in user_data.get(ABBREVIATIONS, ()):
        if isinstance(item, dict):
            span, found = doc[item["short_start"] : item["short_end"]], item["long_text"]
        else:
            span, found = item, item._.long_form
        long_form = clean(str(found)).text
        if _is_long_form(long_form, clean(span.text).text):
            replacements.append(Replacement(span.start_char, span.end_char, long_form))
    return replace_longest(replacements)


class Abbreviation(dict[str, Any]):
    """A dictionary in the format of scispaCy's detector with `make_serializable` that can also be
    used like the span written without that option: it has the attributes of the span (`text`,
    `start`, `sent`, …) and `_.long_form`, a string.

    item (dict[str, Any]): dictionary with `short_text`, `short_start`, `short_end`, `long_text` and
        other keys.
    doc (Doc): the document.
    """

    def __init__(self, item: dict[str, Any], doc: Doc) -> None:
        super().__init__(item)
        self.span = doc[item["short_start"] : item["short_end"]]

    @property
    def _(self) -> SimpleNamespace:
        """RETURNS (SimpleNamespace): a namespace with `long_form`, a string."""
        return SimpleNamespace(long_form=self["long_text"])

    def __getattr__(self, name: str) -> Any:
        if name == "span" or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return getattr(self.span, name)

    def __str__(self) -> str:
        return self["short_text"]


def register_abbreviations() -> None:
    """Register the attributes of scispaCy's detector, so that they can be read and written even if
    the process has not created a detector. Dictionaries in `doc._.abbreviations` are read as
    `Abbreviation`. Call this again after creating a detector, which overwrites the registration."""
    if not Span.has_extension("long_form"):
        Span.set_extension("long_form", default=None)
    if Doc.has_extension("abbreviations"):
        _, method, getter, _ = Doc.get_extension("abbreviations")
        if method is not None or getter is not None:
            return
    Doc.set_extension(
        "abbreviations", getter=_read_abbreviations, setter=_write_abbreviations, force=True
    )


def _read_abbreviations(doc: Doc) -> list[Any]:
    data: dict[Any, Any] = doc.user_data
    # Without `make_serializable`, the detector appends its spans to the list that it reads here.
    stored: list[Any] = data.setdefault(ABBREVIATIONS, [])
    if any(isinstance(item, dict) for item in stored):
        return [Abbreviation(item, doc) if isinstance(item, dict) else item for item in stored]
    return stored


def _write_abbreviations(doc: Doc, found: list[Any]) -> None:
    data: dict[Any, Any] = doc.user_data
    data[ABBREVIATIONS] = [dict(item) if isinstance(item, dict) else item for item in found]


def _is_long_form(long_form: str, short_form: str) -> bool:
    """Reject implausible long forms, such as `Nile virus` for `West Nile virus`, `virus) replicon
    particle` for `VEE`, `embryo pictures in Fig 2B` for `embryos`, and `ES cells` for `ES`."""
    is_word = short_form.isalpha() and short_form.islower() and len(short_form) > _SHORTEST_WORD
    is_whole = long_form.count("(") == long_form.count(")")
    is_other = short_form.lower() not in normalize_name(long_form).split()
    return is_whole and is_other and not is_word and len(long_form) > len(short_form)
