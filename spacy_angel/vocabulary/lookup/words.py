"""Spelling correction: known words, and the known words that are closest to an unknown one.

Words are known from the names of the vocabulary and from biomedical abstracts. The latter are in
`data/words.txt.gz`, one per line with its document frequency.
"""

import gzip
from collections import Counter
from functools import cache, lru_cache
from hashlib import blake2b

import numpy as np
from rapidfuzz.distance import OSA

from ...about import DATA
from ..changes.overlay import VocabularyOverlay
from ..storage.arrays import Columns, Layout
from ..storage.compiled import CompiledNames
from ..storage.strings import Strings, StringsBuilder
from .cached_index import CachedIndex, NameIndex
from .string_similarity import TrigramIndex

FILE = DATA / "words.txt.gz"
SHORTEST, LONGEST = 4, 24
"""Minimum and maximum length of words, in letters."""
_ONE_LETTER_FROM, _TWO_LETTERS_FROM = 5, 8
_REMEMBERED = 1 << 14


class WordIndex(NameIndex):
    """Lowercase words without digits, and an index to find similar words.

    columns (Columns): `words` bytes[n], at most `LONGEST` each, sorted; `counts` int64[n], the
        number of names and documents that contain each word; and the columns of a `TrigramIndex` of
        the words.
    """

    LAYOUT = Layout("spacy-angel words", 1, ("words", "counts", *TrigramIndex.LAYOUT.columns))

    def __init__(self, columns: Columns) -> None:
        super().__init__(columns)
        self._trigrams = TrigramIndex({c: columns[c] for c in TrigramIndex.LAYOUT.columns})
        self.corrections = lru_cache(_REMEMBERED)(self._corrections)
        """Word in lower case → itself if it is known, or else `nearest`, or else itself."""

    @classmethod
    def build(cls, names: Strings) -> "WordIndex":
        counts = Counter(common_words())
        counts.update(word for name in names for word in name.split() if _is_word(word))
        words = sorted(counts)
        columns = {
            "words": np.array([word.encode() for word in words], dtype=f"S{LONGEST}"),
            "counts": np.array([counts[word] for word in words], dtype=np.int64),
            **TrigramIndex.build(StringsBuilder(words).finish()).columns,
        }
        return cls(columns)

    @classmethod
    def source(cls) -> str:
        return blake2b(FILE.read_bytes(), digest_size=16).hexdigest()

    def count(self, word: str) -> int:
        """word (str): in lower case. RETURNS (int): its count, 0 if it is unknown."""
        words, wanted = self.columns["words"], np.bytes_(word.encode())
        at = int(np.searchsorted(words, wanted))
        return int(self.columns["counts"][at]) if at < len(words) and words[at] == wanted else 0

    def nearest(self, word: str) -> list[str]:
        """Find the known words closest to an unknown one.

        word (str): in lower case.
        RETURNS (list[str]): words at the least distance, in letters changed, inserted, deleted or
            swapped: at most one letter, or two in words of eight letters or more and in
            permutations (`athsma` for `asthma`). First those with the same first letter, then the
            most frequent.
        """
        if len(word) < _ONE_LETTER_FROM:
            return []
        letters = sorted(word)
        words, counts = self.columns["words"], self.columns["counts"]
        found = []
        for i in self._trigrams.shortlist(word):
            text = words[i].decode()
            distance = OSA.distance(word, text, score_cutoff=2)
            is_permuted = sorted(text) == letters
            if distance <= (2 if len(word) >= _TWO_LETTERS_FROM or is_permuted else 1):
                found.append((distance, text[0] != word[0], -int(counts[i]), text))
        return [text for distance, *_, text in sorted(found) if distance == min(found)[0]]

    def _corrections(self, word: str) -> list[str]:
        return [word] if self.count(word) else self.nearest(word) or [word]


class KnownWords(CachedIndex[WordIndex]):
    """The words of a vocabulary, including names added at run time.

    vocabulary (VocabularyOverlay), compiled (CompiledNames): see `CachedIndex`.
    """

    INDEX = WordIndex

    def __init__(self, vocabulary: VocabularyOverlay, compiled: CompiledNames) -> None:
        super().__init__(vocabulary, compiled)
        self._added_words: tuple[int, frozenset[str]] = (-1, frozenset())

    def count(self, word: str) -> int:
        """word (str): a lowercase word.
        RETURNS (int): number of stored names and abstracts that contain it; 0 if it is unknown."""
        return self.index.count(word)

    def corrections(self, word: str) -> list[str]:
        """word (str): in lower case. RETURNS (list[str]): known words that it may be a misspelling
        of, see `WordIndex.nearest`; only itself if it is known or similar to none."""
        version = self._vocabulary.version
        if self._added_words[0] != version:
            words = " ".join(self._vocabulary.added_names.values()).split()
            self._added_words = version, frozenset(words)
        return [word] if word in self._added_words[1] else self.index.corrections(word)


@cache
def common_words() -> dict[str, int]:
    """RETURNS (dict[str, int]): words of biomedical abstracts and their document frequencies."""
    lines = gzip.decompress(FILE.read_bytes()).decode().splitlines()
    return {word: int(n) for word, n in (line.split("\t") for line in lines)}


def _is_word(text: str) -> bool:
    return SHORTEST <= len(text) <= LONGEST and text.isascii() and text.isalpha()
