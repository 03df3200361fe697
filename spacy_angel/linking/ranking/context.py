"""What the words around a mention say of the concepts that it may mean: a text that has `TS` and
`thymidylate` speaks of the gene TYMS, one of whose names is thymidylate synthase."""

import math
from collections.abc import Iterable, Set
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from ...vocabulary.lookup.words import common_words
from ...vocabulary.names.concepts import normalize_name
from .wording import LONGEST_KEPT, words_of

if TYPE_CHECKING:
    from ...model.mention import Mention

_MIN_LETTERS = 3
MAX_NAMES = 48
"""Names of a concept that are looked at, the first ones."""


def words_around(mention: "Mention") -> frozenset[str]:
    """mention (Mention): as the model reads it. RETURNS (frozenset[str]): the words of its text,
    its own among them."""
    pieces = {*mention.left.split(), *mention.right.split()}
    return frozenset().union(*map(_words_of_piece, pieces))


def content_words(names: Iterable[str]) -> list[frozenset[str]]:
    """names (Iterable[str]): of a concept, in normal form. RETURNS (list[frozenset[str]]): of each
    of the first ones the words that can tell of it."""
    return list(map(_content_words, islice(names, MAX_NAMES)))


def context_overlap(names: Iterable[Set[str]], around: Set[str], mention: str) -> float:
    """How much of a name of the concept stands in the text in other words than the mention's.

    names (Iterable[Set[str]]): of the concept, see `content_words`.
    around (Set[str]): words of the text, see `words_around`.
    mention (str): in normal form.
    RETURNS (float): 0 to 1; of the name of which most stands there, the sum of the weights of its
        words that do, divided by that of all its words, which counts as 1 at least. A word's weight
        is 1 where no abstract has it, and 0 for the one that most abstracts have. The mention's own
        words count in neither.
    """
    own = frozenset(words_of(mention))
    best = 0.0
    for name in names:
        words = name - own
        if words.isdisjoint(around):
            continue
        there = sum(map(_weight, words & around))
        best = max(best, there / max(sum(map(_weight, words)), 1.0))
    return best


@lru_cache(maxsize=1 << 15)
def _content_words(name: str) -> frozenset[str]:
    return frozenset([word for word in words_of(name) if len(word) >= _MIN_LETTERS])


def _words_of_piece(piece: str) -> frozenset[str]:
    """Of what stands between spaces, most of which a text has in common with others."""
    return _known_piece(piece) if len(piece) <= LONGEST_KEPT else _find_in_piece(piece)


def _find_in_piece(piece: str) -> frozenset[str]:
    return _content_words.__wrapped__(normalize_name(piece))


_known_piece = lru_cache(maxsize=1 << 16)(_find_in_piece)


@lru_cache(maxsize=1 << 16)
def _weight(word: str) -> float:
    return 1 - math.log1p(_documents().get(word, 0)) / _most()


@cache
def _most() -> float:
    return math.log1p(max(_documents().values()))


@cache
def _documents() -> dict[str, int]:
    """RETURNS (dict[str, int]): the documents that have each word of `common_words`, in the form
    of `words_of`."""
    counts: dict[str, int] = {}
    for word, n in common_words().items():
        for part in words_of(word):
            counts[part] = max(counts.get(part, 0), n)
    return counts
