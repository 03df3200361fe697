"""Tokenization at the edges of variants: `JAK2V617F` becomes two tokens. The full stop after
`V600E.` is also split off; spaCy's rules keep it, as for initials, and so miss the end of the
sentence."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from spacy.tokens import Doc, Token

from .grammar import find_variants


class VariantTokenizer:
    """Splits the tokens of another tokenizer at the edges of variants, except in URLs and e-mail
    addresses. It has the settings and files of that tokenizer.

    tokenizer (Any): turns a text into a `Doc`.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def __call__(self, text: str) -> Doc:
        """text (str): any text. RETURNS (Doc): its tokens."""
        doc: Doc = self.tokenizer(text)
        edges = {edge for one in find_variants(text) for edge in (one.start, one.end)}
        edges.difference_update(*((token.idx, token.idx + len(token)) for token in doc))
        if not edges:
            return doc
        words: list[str] = []
        spaces: list[bool] = []
        for token in doc:
            parts = list(_parts(token, edges))
            words += parts
            spaces += [False] * (len(parts) - 1) + [bool(token.whitespace_)]
        return Doc(doc.vocab, words=words, spaces=spaces)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tokenizer, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return VariantTokenizer, (self.tokenizer,)


def _parts(token: Token, edges: Iterable[int]) -> Iterator[str]:
    """edges (Iterable[int]): in the text. YIELDS (str): what a token is cut into."""
    end = token.idx + len(token)
    is_address = token.like_url or token.like_email
    inside = [] if is_address else sorted(edge for edge in edges if token.idx < edge < end)
    for first, last in pairwise([token.idx, *inside, end]):
        yield token.text[first - token.idx : last - token.idx]
