"""Which words of a mention a name lacks, and which it adds: `outer hair cell` and `inner hair cell`
share letters, and mean two things."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from .wording import words_of

# Letters that a word and an inflected or derived form of it begin with, and their least share.
_STEM = 4
_LEAST_STEM = 0.55
# A typo, from so many letters on.
_TYPO_FROM, _TYPO = 5, 0.9


class Alignment(NamedTuple):
    """Of a mention and a name, as shares of the weight of all words, 0 to 1.

    missing (float): what the mention says and the name does not.
    added (float): what the name says and the mention does not.
    """

    missing: float
    added: float


def align(mention: str, name: str, weight: Callable[[str], float]) -> Alignment:
    """mention (str), name (str): in normal form.
    weight (Callable[[str], float]): of a word, the rarer the more.
    RETURNS (Alignment): e.g. of `lung epithelial cells` and `epithelial cell, lung` none and
        none; a word and another with the same stem, or one edit away, have a part in common."""
    if mention == name:
        return Alignment(0.0, 0.0)
    ours, theirs = (tuple(dict.fromkeys(words_of(text))) for text in (mention, name))
    return Alignment(_lacking(ours, theirs, weight), _lacking(theirs, ours, weight))


def _lacking(words: Sequence[str], others: Sequence[str], weight: Callable[[str], float]) -> float:
    total = lacking = 0.0
    for word in words:
        own = weight(word)
        total += own
        lacking += own * (1 - max((_common_part(word, other) for other in others), default=0.0))
    return lacking / total if total else 1.0


@lru_cache(maxsize=1 << 16)
def _common_part(word: str, other: str) -> float:
    """RETURNS (float): 0 to 1, e.g. `cerebellar` and `cerebellum` 0.8."""
    if word == other:
        return 1.0
    if word.isdecimal() or other.isdecimal():
        return 0.0
    if f"{word}s" == other or f"{other}s" == word:
        return 1.0
    shortest, longest = sorted((len(word), len(other)))
    same = next((i for i in range(shortest) if word[i] != other[i]), shortest)
    share = same / longest
    in_common = share if same >= _STEM and share >= _LEAST_STEM else 0.0
    if shortest >= _TYPO_FROM and longest - shortest <= 1 and OSA.distance(word, other) == 1:
        return max(in_common, _TYPO)
    return in_common
