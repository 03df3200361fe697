"""The words of mentions and names, in whatever way their numbers and plurals are written: `STAT5B`
and `stat 5b` have the same ones."""

import re
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"\d+|[^\W\d_]+")
_LONG = 4
LONGEST_KEPT = 200
"""Letters of what is kept of texts, for the next time: a service has texts of any length."""


def words_of(text: str) -> tuple[str, ...]:
    """text (str): in normal form. RETURNS (tuple[str, ...]): letters and digits apart,
    plurals without their s, e.g. `fgfr2c` → (fgfr, 2, c), `interferons beta` → (interferon,
    beta)."""
    return _known_words_of(text) if len(text) <= LONGEST_KEPT else _find_words(text)


def _find_words(text: str) -> tuple[str, ...]:
    return tuple([_plain(word[:LONGEST_KEPT]) for word in _WORD.findall(text)])


_known_words_of = lru_cache(maxsize=1 << 16)(_find_words)


def numbers_of(words: Iterable[str]) -> frozenset[str]:
    """words (Iterable[str]): see `words_of`. RETURNS (frozenset[str]): the numbers among them,
    e.g. of `diabetes type 2` → 2."""
    return frozenset(filter(str.isdecimal, words))


def _plain(word: str) -> str:
    if word.isdecimal():
        return word.lstrip("0") or "0"
    is_plural = len(word) > _LONG and word[-1] == "s" and word[-2] not in "siu"
    return word[:-1] if is_plural else word
