"""Which words of a mention a name lacks, and which it adds: `outer hair cell` and `inner hair cell`
share letters, and mean two things."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from .wording import numbers_of, words_of

# Letters that a word and an inflected or derived form of it begin with, and their least share.
_STEM = 4
_MIN_STEM = 0.55
# A typo, from so many letters on.
_TYPO_FROM, _TYPO = 5, 0.9


class Alignment(NamedTuple):
    """How the words of a mention and a name agree, 0 to 1.

    missing (float): share of the weight of the mention's words that the name lacks.
    added (float): share of the weight of the name's words that the mention lacks.
    overlap (float): 2 · shared / (words of both); 0 if both are the same text.
    number (float): 1 if their numbers differ, 0.5 if only one of them has numbers.
    """

    missing: float
    added: float
    overlap: float
    number: float


def align(mention: str, written: str, name: str, weight: Callable[[str], float]) -> Alignment:
    """Compare a name with a mention.

    mention (str): as the model reads it, in normal form; `overlap` and `number` compare with it.
    written (str): the wording that the name resembles most, in normal form, for the rest.
    name (str): in normal form.
    weight (Callable[[str], float]): of a word, the rarer the greater.
    RETURNS (Alignment): e.g. of `lung epithelial cells` and `epithelial cell, lung` nothing is
        missing or added; a word and another with the same stem, or one edit away, agree in part.
    """
    theirs = words_of(name)
    numbers, own_numbers = numbers_of(theirs), numbers_of(words_of(mention))
    number = 0.5 if bool(numbers) != bool(own_numbers) else float(numbers != own_numbers)
    words, own_words = set(theirs), set(words_of(mention))
    overlap = 2 * len(words & own_words) / max(len(words) + len(own_words), 1)
    if written == name:
        return Alignment(0.0, 0.0, overlap, number)
    ours, theirs = tuple(dict.fromkeys(words_of(written))), tuple(dict.fromkeys(theirs))
    return Alignment(
        _missing(ours, theirs, weight), _missing(theirs, ours, weight), overlap, number
    )


def _missing(words: Sequence[str], others: Sequence[str], weight: Callable[[str], float]) -> float:
    total = missing = 0.0
    for word in words:
        own = weight(word)
        total += own
        if word not in others:
            missing += own * (1 - max([_common_part(word, other) for other in others], default=0.0))
    return missing / total if total else 1.0


@lru_cache(maxsize=1 << 16)
def _common_part(word: str, other: str) -> float:
    """RETURNS (float): 0 to 1, e.g. `cerebellar` and `cerebellum` 0.8."""
    if word.isdecimal() or other.isdecimal():
        return 0.0
    if f"{word}s" == other or f"{other}s" == word:
        return 1.0
    shortest, longest = sorted((len(word), len(other)))
    same = next((i for i in range(shortest) if word[i] != other[i]), shortest)
    share = same / longest
    in_common = share if same >= _STEM and share >= _MIN_STEM else 0.0
    if shortest >= _TYPO_FROM and longest - shortest <= 1 and OSA.distance(word, other) == 1:
        return max(in_common, _TYPO)
    return in_common
