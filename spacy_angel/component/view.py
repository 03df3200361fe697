"""Second documents with the normalized text of a document, for components that read tokens: with
new tokens (`view`), or with those of the document (`visible_words`). The spans that they find are
transferred to the original document."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class VisibleWords:
    """The words of a document.

    words (Doc): its tokens with cleaned text, without those that are only markup or white space.
        Borders of paragraphs and cells are line ends.
    indices (list[int]): for each word, the index of its token, ascending.
    """

    words: Doc
    indices: list[int]

    def within(self, start: int, end: int) -> tuple[int, int]:
        """start (int), end (int): token indices. RETURNS (tuple[int, int]): indices of the words
        among these tokens."""
        return bisect_left(self.indices, start), bisect_left(self.indices, end)

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """start (int), end (int): indices of one or more words. RETURNS (tuple[int, int]): token
        indices."""
        return self.indices[start], self.indices[end - 1] + 1


def visible_words(doc: Doc, text: CleanText) -> VisibleWords:
    """doc (Doc): a document. text (CleanText): its text. RETURNS (VisibleWords): its words."""
    has_cells = text.text.count("\t") < text.text.count(" ")
    words: list[str] = []
    offsets: list[tuple[int, int]] = []
    indices: list[int] = []
    for token in doc:
        start, end = text.from_source(token.idx, token.idx + len(token))
        word = text.text[start:end]
        is_border = word.count("\n") > 1 or (has_cells and "\t" in word)
        if is_border or word.strip():
            words.append(word.strip() or "\n")
            offsets.append((start, end))
            indices.append(token.i)
    spaces = [end < start for (_, end), (start, _) in pairwise([*offsets, (0, 0)])]
    return VisibleWords(Doc(doc.vocab, words=words, spaces=spaces), indices)


@cache
def _tokenizer(language: str) -> Tokenizer:
    """Create the tokenizer without a `Language`, which imports the components of all packages."""
    defaults: Any = util.get_lang_class(language).Defaults
    make: Any = util.registry.tokenizers.get("spacy.Tokenizer.v1")()
    return make(SimpleNamespace(vocab=Vocab(), Defaults=defaults))
