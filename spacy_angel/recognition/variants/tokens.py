"""Where a variant begins or ends, so does a token: `JAK2V617F` are two. spaCy's rules also leave
the full stop on `V600E.`, as they do on initials, and with it lose the end of the sentence."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from spacy.tokens import Doc, Token

from .grammar import find_variants


class VariantTokenizer:
    """Cuts the tokens of another tokenizer at the variants of the text, except in addresses. It has
    that tokenizer's settings and files.

    tokenizer (Any): makes a `Doc` of a text.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def __call__(self, text: str) -> Doc:
        """text (str): any. RETURNS (Doc): its tokens."""
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
