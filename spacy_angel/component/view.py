"""A second document with the normalized text of a document, for components that read tokens; the
spans that they find are transferred to the original document."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from threading import Lock
from types import SimpleNamespace
from typing import Any

from spacy import util
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from .characters import CleanText

_TOKENIZING = Lock()


def view(doc: Doc, text: CleanText) -> Doc:
    """Tokenize the cleaned text, with the rules of the document's language.

    doc (Doc): a document, which is not changed. text (CleanText): its text.
    RETURNS (Doc): with the sentences of the document, if it has any, and no other annotations.
    """
    tokenizer = _tokenizer(doc.vocab.lang or "xx")
    # Words of texts would stay in the tokenizer's vocabulary, whose memory zone is one thread's.
    with _TOKENIZING, tokenizer.vocab.memory_zone():
        tokens = [
            (token.text, token.idx, bool(token.whitespace_)) for token in tokenizer(text.text)
        ]
    starts: list[bool | int | None] | None = None
    if doc.has_annotation("SENT_START"):
        sentences = (text.from_source(t.idx, t.idx + len(t))[0] for t in doc if t.is_sent_start)
        begins = sorted({0, *sentences})
        bounds = [bisect_left(begins, start) for _, start, _ in tokens] + [len(begins)]
        starts = [after > before for before, after in pairwise(bounds)]
    return Doc(
        doc.vocab,
        words=[word for word, _, _ in tokens],
        spaces=[space for _, _, space in tokens],
        sent_starts=starts,
    )


def in_document(doc: Doc, text: CleanText, spans: Sequence[Span]) -> list[Span]:
    """Transfer spans of a view to the original document.

    doc (Doc): the document. text (CleanText): its text. spans (Sequence[Span]): spans of its view.
    RETURNS (list[Span]): one for each, with its label, extended to whole tokens.
    """
    found = (
        doc.char_span(
            *text.to_source(span.start_char, span.end_char),
            label=span.label_,
            alignment_mode="expand",
        )
        for span in spans
    )
    return [span for span in found if span is not None]


@cache
def _tokenizer(language: str) -> Tokenizer:
    """Create the tokenizer without a `Language`, which imports the components of all packages."""
    defaults: Any = util.get_lang_class(language).Defaults
    make: Any = util.registry.tokenizers.get("spacy.Tokenizer.v1")()
    return make(SimpleNamespace(vocab=Vocab(), Defaults=defaults))
