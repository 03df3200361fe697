"""Mentions in their context, with long forms in place of abbreviations.

Offsets are those of the cleaned text, see `component.characters`; the document is not changed.
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
# Longer words in lower case are not short forms.
_SHORTEST_WORD = 3
READ_AS = "spacy_angel_read_as"
"""Key in `doc.user_data` of texts that replace given mentions: `[start, end, text]` each, in
characters."""


class ReadDocument:
    """The cleaned text of a document, with its abbreviations.

    doc (Doc): the document, which must not change as long as this object is used.
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
        """RETURNS (list[Replacement]): `abbreviation_replacements`, in characters of `text`."""
        found = abbreviation_replacements(self.doc)
        return [Replacement(*self.offsets(r.start, r.end), r.text) for r in found]

    @cached_property
    def short_forms(self) -> dict[str, list[str]]:
        """RETURNS (dict[str, list[str]]): by long form, in normal form, the short forms that the
        document defines, in the order of the text."""
        forms: defaultdict[str, list[str]] = defaultdict(list)
        for r in self.replacements:
            forms[normalize_name(r.text)].append(self.text[r.start : r.end])
        return forms


def find_spans(doc: Doc, span_key: str | None) -> list[Span]:
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
    """Mentions in their context, as the model reads them: the whole document, as far as the model's
    length allows, with the long forms of `doc._.abbreviations` in place of the short ones.

    document (ReadDocument): the document.
    spans (Sequence[Span]): its mentions, in any order; they may overlap and cross sentences.
    collapse_spaces (bool), expand_context (bool): see `PromptFormat`.
    species_contexts (Sequence[str] | None): see `Mention`, one a span; None: none.
    RETURNS (list[Mention]): one a span.
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
    """What scispaCy's abbreviation detector found, in both of its forms.

    doc (Doc): `doc._.abbreviations` holds spans with `span._.long_form` (a span or a string), or,
        made serializable, dictionaries with `short_start`, `short_end` (tokens) and `long_text`.
    RETURNS (list[Replacement]): as `replace_longest` gives them, long forms as they are read;
        empty where none was found. What is no longer than its short form, or lacks a bracket, is
        no long form.
    """
    replacements = []
    # Not `doc._.abbreviations`: where the detector is not loaded, the attribute is unknown though
    # a document from a DocBin holds it; where it is not set, reading would write its default.
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
    """A dictionary as scispaCy's detector writes it with `make_serializable`, which can also be
    used as the span that the detector writes without: it has the span's attributes (`text`,
    `start`, `sent`, …) and `_.long_form`, a string.

    item (dict[str, Any]): `short_text`, `short_start`, `short_end`, `long_text` and more.
    doc (Doc): the document.
    """

    def __init__(self, item: dict[str, Any], doc: Doc) -> None:
        super().__init__(item)
        self.span = doc[item["short_start"] : item["short_end"]]

    @property
    def _(self) -> SimpleNamespace:
        """RETURNS (SimpleNamespace): `long_form`, a string."""
        return SimpleNamespace(long_form=self["long_text"])

    def __getattr__(self, name: str) -> Any:
        if name == "span" or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return getattr(self.span, name)

    def __str__(self) -> str:
        return self["short_text"]


def register_abbreviations() -> None:
    """Register the attributes of scispaCy's detector, so that a process that has made none can read
    and write them; the dictionaries of `doc._.abbreviations` are read as `Abbreviation`. Every
    detector that is made registers scispaCy's own again."""
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
    """Not so: `Nile virus` of `West Nile virus`, `virus) replicon particle` of `VEE`, `embryo
    pictures in Fig 2B` of `embryos`, `ES cells` of `ES`."""
    is_word = short_form.isalpha() and short_form.islower() and len(short_form) > _SHORTEST_WORD
    is_whole = long_form.count("(") == long_form.count(")")
    is_other = short_form.lower() not in normalize_name(long_form).split()
    return is_whole and is_other and not is_word and len(long_form) > len(short_form)
