"""The words that the names of a vocabulary are made of, with those of biomedical abstracts, and
what a word that is none of them was meant to be.

The list of the abstracts' words, `data/words.txt.gz`, has a word and the number of documents that
have it a line; `tools/build_word_list.py` wrote it.
"""

import gzip
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import numpy as np
from rapidfuzz.distance import OSA

from ...about import DATA
from ..changes.overlay import VocabularyOverlay
from ..storage.arrays import Columns, open_folder, write_folder
from ..storage.strings import Strings, StringsBuilder
from .cached_index import CachedIndex
from .string_similarity import COLUMNS as TRIGRAM_COLUMNS
from .string_similarity import TrigramIndex

KIND = "spacy-angel words"
VERSION = 1
COLUMNS = ("words", "counts", *TRIGRAM_COLUMNS)
FILE = DATA / "words.txt.gz"
SHORTEST, LONGEST = 4, 24
"""Letters of the words that count."""
_ONE_LETTER_FROM, _TWO_LETTERS_FROM = 5, 8
_BLOCK = 1 << 16
_REMEMBERED = 1 << 14


class WordIndex:
    """Words in lower case, without digits, and those similar to a text.

    columns (Columns): `words` bytes[n], at most `LONGEST` each, sorted; `counts` int64[n], names
        and documents that have each; and the columns of a `TrigramIndex` over the words.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._trigrams = TrigramIndex({name: columns[name] for name in TRIGRAM_COLUMNS})
        self.corrections = lru_cache(_REMEMBERED)(self._corrections)
        """Word in lower case → itself if it is a word of the index, else `nearest`, else itself."""

    def __reduce__(self) -> tuple[type["WordIndex"], tuple[Columns]]:
        # without what is cached
        return WordIndex, (self.columns,)

    @classmethod
    def build(cls, names: Strings, common: Mapping[str, int]) -> "WordIndex":
        """names (Strings): of a vocabulary, in normal form. common (Mapping[str, int]): further
        words and how often they were seen. RETURNS (WordIndex): of both."""
        counts = Counter({word.encode(): n for word, n in common.items()})
        for block in _blocks(names):
            counts.update(word for word in block.split() if _is_word(word))
        words = sorted(counts)
        letters = TrigramIndex.build(StringsBuilder(word.decode() for word in words).finish())
        return cls(
            {
                "words": np.array(words, dtype=f"S{LONGEST}"),
                "counts": np.array([counts[word] for word in words], dtype=np.int64),
                **letters.columns,
            }
        )

    @classmethod
    def from_disk(cls, path: Path) -> "WordIndex":
        """path (Path): as `to_disk` wrote it. RETURNS (WordIndex): mapped.
        RAISES (AngelError): the folder is missing, foreign or damaged."""
        return cls(open_folder(path, KIND, VERSION, COLUMNS)[0])

    def to_disk(self, path: Path) -> None:
        """path (Path): folder to write."""
        write_folder(path, KIND, VERSION, self.columns, {})

    def count(self, word: str) -> int:
        """word (str): in lower case. RETURNS (int): how often it was seen, 0 for no word."""
        words, wanted = self.columns["words"], np.bytes_(word.encode())
        at = int(np.searchsorted(words, wanted))
        return int(self.columns["counts"][at]) if at < len(words) and words[at] == wanted else 0

    def nearest(self, word: str) -> list[str]:
        """The words that another may have been meant to be.

        word (str): in lower case, no word of the index.
        RETURNS (list[str]): those fewest letters away, at most one, or two of eight and more
            (changed, added, left out, or swapped with the next one), or one in the wrong place,
            `athsma` for `asthma`; first those that begin alike, of these first the ones seen most
            often.
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
    """The words of a vocabulary; follows names that are added while running.

    vocabulary (VocabularyOverlay), fingerprint (str), folder (Path | None): see `CachedIndex`.
    """

    WHAT = "index of words"

    def __init__(
        self, vocabulary: VocabularyOverlay, fingerprint: str, folder: Path | None
    ) -> None:
        super().__init__(vocabulary, fingerprint, folder)
        self._added: tuple[int, frozenset[str]] = (0, frozenset())

    def count(self, word: str) -> int:
        """word (str): in lower case. RETURNS (int): how often it was seen in stored names and
        abstracts, 0 for no word."""
        return self.index.count(word)

    def corrections(self, word: str) -> list[str]:
        """word (str): in lower case. RETURNS (list[str]): the words that it may have been meant to
        be, see `WordIndex.nearest`; only itself if it is a word, or similar to none."""
        version = self._vocabulary.version
        if self._added[0] != version:
            names = self._vocabulary.added_names.values()
            self._added = version, frozenset(word for name in names for word in name.split())
        return [word] if word in self._added[1] else self.index.corrections(word)

    @property
    def LAYOUT(self) -> str:  # type: ignore[override]
        return f"{KIND} {VERSION} {_digest()}"

    def _read(self, path: Path) -> WordIndex:
        return WordIndex.from_disk(path)

    def _build(self) -> WordIndex:
        return WordIndex.build(self._vocabulary.table.names, common_words())


@cache
def common_words() -> dict[str, int]:
    """RETURNS (dict[str, int]): words of biomedical abstracts, and the documents that have each."""
    lines = gzip.decompress(FILE.read_bytes()).decode().splitlines()
    return {word: int(n) for word, n in (line.split("\t") for line in lines)}


@cache
def _digest() -> str:
    return blake2b(FILE.read_bytes(), digest_size=16).hexdigest()


def _is_word(text: bytes) -> bool:
    return SHORTEST <= len(text) <= LONGEST and text.isalpha()


def _blocks(names: Strings) -> Iterator[bytes]:
    """YIELDS (bytes): many names, a space between two."""
    for first in range(0, len(names), _BLOCK):
        offsets = names.offsets[first : first + _BLOCK + 1].astype(np.int64)
        data = names.data[offsets[0] : offsets[-1]].tobytes()
        yield b" ".join(data[a:b] for a, b in pairwise((offsets - offsets[0]).tolist()))
