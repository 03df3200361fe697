"""A second document behind a document: its text as it is read, cut into tokens anew, for components
that see tokens; what they find is put on the tokens of the document itself."""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from spacy import util
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from .characters import ReadText

_ANY_LANGUAGE = "xx"


def view(doc: Doc, text: ReadText) -> Doc:
    """Cut what is read into tokens, as spaCy does in the document's language.

    doc (Doc): a document; it stays as it is. text (ReadText): its own.
    RETURNS (Doc): with the sentences of the document, if it has any, and nothing else.
    """
    words = _tokenizer(doc.vocab.lang or _ANY_LANGUAGE)(text.text)
    starts: list[bool | int | None] | None = None
    if doc.has_annotation("SENT_START"):
        places = (text.from_source(t.idx, t.idx + len(t))[0] for t in doc if t.is_sent_start)
        begins = sorted({0, *places})
        bounds = [bisect_left(begins, t.idx) for t in words] + [len(begins)]
        starts = [after > before for before, after in pairwise(bounds)]
    return Doc(
        doc.vocab,
        words=[token.text for token in words],
        spaces=[bool(token.whitespace_) for token in words],
        sent_starts=starts,
    )


def in_document(doc: Doc, text: ReadText, spans: Iterable[Span]) -> list[Span]:
    """Spans of a view in the document behind it.

    doc (Doc): the document. text (ReadText): its own. spans (Iterable[Span]): of a view of it.
    RETURNS (list[Span]): one each, with its label; one that ends inside a token takes the token.
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
def _tokenizer(language: str) -> Callable[[str], Doc]:
    """Without the components of other packages, which spaCy imports with each pipeline."""
    defaults: Any = util.get_lang_class(language).Defaults
    make: Any = util.registry.tokenizers.get("spacy.Tokenizer.v1")()
    return make(SimpleNamespace(vocab=Vocab(), Defaults=defaults))
