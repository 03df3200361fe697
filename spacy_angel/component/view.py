"""A second document behind a document: its text as it is read, cut into tokens anew, for components
that see tokens; what they find is put on the tokens of the document itself."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from threading import Lock
from types import SimpleNamespace
from typing import Any, NamedTuple

from spacy import util
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from .characters import ReadText

_ANY_LANGUAGE = "xx"
_CUTTING = Lock()


def view(doc: Doc, text: ReadText) -> Doc:
    """Cut what is read into tokens, as spaCy does in the document's language.

    doc (Doc): a document; it stays as it is. text (ReadText): its own.
    RETURNS (Doc): with the sentences of the document, if it has any, and nothing else.
    """
    words = _cut(doc.vocab.lang or _ANY_LANGUAGE, text.text)
    starts: list[bool | int | None] | None = None
    if doc.has_annotation("SENT_START"):
        places = (text.from_source(t.idx, t.idx + len(t))[0] for t in doc if t.is_sent_start)
        begins = sorted({0, *places})
        bounds = [bisect_left(begins, word.start) for word in words] + [len(begins)]
        starts = [after > before for before, after in pairwise(bounds)]
    return Doc(
        doc.vocab,
        words=[word.text for word in words],
        spaces=[word.has_space for word in words],
        sent_starts=starts,
    )


def in_document(doc: Doc, text: ReadText, spans: Sequence[Span]) -> list[Span]:
    """Spans of a view in the document behind it.

    doc (Doc): the document. text (ReadText): its own. spans (Sequence[Span]): of a view of it.
    RETURNS (list[Span]): one each, with the label; a span that ends inside a token takes the token.
    """
    places = (text.to_source(span.start_char, span.end_char) for span in spans)
    found = (
        doc.char_span(*place, label=span.label_, alignment_mode="expand")
        for place, span in zip(places, spans, strict=True)
    )
    # None is for places outside the document.
    return [span for span in found if span is not None]


class _Word(NamedTuple):
    text: str
    start: int
    has_space: bool


def _cut(language: str, text: str) -> list[_Word]:
    """Words of texts would never leave the vocabulary of the tokenizer, and the zone that has them
    leave is one thread's at a time."""
    tokenizer = _tokenizer(language)
    with _CUTTING, tokenizer.vocab.memory_zone():
        return [_Word(t.text, t.idx, bool(t.whitespace_)) for t in tokenizer(text)]


@cache
def _tokenizer(language: str) -> Tokenizer:
    """Without the components of other packages, which spaCy imports with each pipeline."""
    defaults: Any = util.get_lang_class(language).Defaults
    make: Any = util.registry.tokenizers.get("spacy.Tokenizer.v1")()
    return make(SimpleNamespace(vocab=Vocab(), Defaults=defaults))
