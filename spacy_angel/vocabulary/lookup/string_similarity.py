"""String similarity: find the names that are most similar to a text, among millions.

Comparing a text with every name would take seconds, so two inverted indexes produce a short list:

* Character 3-grams, weighted by rarity. A 3-gram is three bytes of UTF-8 within a word, including
  the spaces around it: `gout` has ` go`, `gou`, `out` and `ut `. It is stored as the 24-bit number
  of these bytes.
* Deletion neighborhoods of short names: the name without one of its letters. A typo in a short
  word can leave no 3-gram in common: `pian` and `pain` share none, but both become `pan` or `pin`
  without one letter.

Only the names on the short list are compared letter by letter.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np

from ..storage.arrays import Columns, Layout
from ..storage.strings import Strings, encode, offsets_of
from .cached_index import CachedIndex, NameIndex

# Bytes, without spaces, of names with a deletion neighborhood; a text may be one byte longer.
SHORTEST, LONGEST = 3, 12
# Postings read for a text: frequent 3-grams are skipped once the rarer ones reach this number.
_MAX_LOOKED_AT = 300_000
_SHORTLIST = 48
MIN_COSINE = 0.2
"""Names are on the short list only if their cosine exceeds this value."""
_MAX_VECTORS = 1 << 10
_BLOCK = 1 << 18
_SPACE = 32


class Similarity(NamedTuple):
    """How similar a text and a name are. `atack` and `attack`, for example, are one edit apart in
    six letters, so `edits` is 1 - 1/6 = 0.83.

    cosine (float): cosine of their 3-gram vectors, weighted by rarity; 0 to 1.
    edits (float): 1 - distance / length of the longer one; 0 to 1. The distance is that of optimal
        string alignment: letters changed, inserted, deleted, or swapped with the next one.
    """

    cosine: float
    edits: float


class TrigramIndex(NameIndex):
    """The inverted indexes over the names of a vocabulary.

    The names with the 3-gram `grams[i]` are `gram_names[gram_starts[i]:gram_starts[i + 1]]`,
    ascending; likewise for deletions, whose columns are called `remains`.

    columns (Columns): `grams` uint32[g], sorted; `gram_starts` int64[g + 1]; `gram_names`
        int32[...]; `norms` float32[n], the length of each name's vector; `remains` uint32[r],
        sorted, CRC-32 of short names as they are and without one of their bytes; `remain_starts`
        int64[r + 1]; `remain_names` int32[...].
    """

    LAYOUT = Layout(
        "spacy-angel letters",
        1,
        (
            *("grams", "gram_starts", "gram_names", "norms"),
            *("remains", "remain_starts", "remain_names"),
        ),
    )

    def __init__(self, columns: Columns) -> None:
        super().__init__(columns)
        self.n_names = len(columns["norms"])
        self._weights = _weight(np.diff(columns["gram_starts"]), self.n_names)
        self._unknown = _weight(0, self.n_names)
        self._vector_of = lru_cache(_MAX_VECTORS)(self._make_vector)

    @classmethod
    def build(cls, names: Strings) -> "TrigramIndex":
        blocks = [np.zeros(0, dtype=np.uint64)]
        for first, codes, rows in _gram_blocks(names):
            blocks.append(
                codes.astype(np.uint64) << np.uint64(32) | (rows + first).astype(np.uint64)
            )
        grams, starts, gram_names = _invert(np.concatenate(blocks))
        weights = _weight(np.diff(starts), len(names))
        norms = np.zeros(len(names), dtype=np.float32)
        for first, codes, rows in _gram_blocks(names):
            weighed = np.bincount(rows, weights=weights[np.searchsorted(grams, codes)] ** 2)
            norms[first : first + len(weighed)] = np.sqrt(weighed)
        columns = (grams, starts, gram_names, norms, *_index_deletions(names))
        return cls(dict(zip(cls.LAYOUT.columns, columns, strict=True)))

    def compare(self, text: str, names: Sequence[str]) -> list[Similarity]:
        """text (str), names (Sequence[str]): a text and n names in normal form.
        RETURNS (list[Similarity]): similarity of the text to each name, with the 3-gram weights of
        this vocabulary."""
        if text and {text}.issuperset(names):
            return [Similarity(1.0, 1.0)] * len(names)
        from rapidfuzz.distance import OSA

        own, squares = self._vector_of(text)
        codes, rows = _distinct_codes(*_flat(names))
        weights = self._weights_of(codes) ** 2
        lengths = np.bincount(rows, weights=weights, minlength=len(names))
        shared = np.bincount(rows, weights=weights * np.isin(codes, own), minlength=len(names))
        product = np.sqrt(squares.sum() * lengths)
        cosines = np.divide(shared, product, out=np.zeros(len(names)), where=product > 0)
        return [
            Similarity(min(cosine, 1.0), OSA.normalized_similarity(text, name))
            for cosine, name in zip(cosines.tolist(), names, strict=True)
        ]

    def _make_vector(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """text (str): in normal form. RETURNS (tuple[np.ndarray, np.ndarray]): uint32[m], its
        3-grams, and float64[m], their squared weights."""
        codes, _ = _distinct_codes(*_flat([text]))
        return codes, self._weights_of(codes) ** 2

    def word_weights(self, words: Sequence[str]) -> np.ndarray:
        """words (Sequence[str]): n words in normal form.
        RETURNS (np.ndarray): float64[n], the mean weight of each word's 3-grams; the rarer the
        3-grams, the greater the weight."""
        codes, rows = _distinct_codes(*_flat(words))
        sums = np.bincount(rows, weights=self._weights_of(codes), minlength=len(words))
        return sums / np.maximum(np.bincount(rows, minlength=len(words)), 1)

    def shortlist(self, text: str, allowed: np.ndarray | None = None) -> list[int]:
        """Select names that are worth comparing with a text.

        text (str): a text in normal form.
        allowed (np.ndarray | None): bool[n_names]; None: all.
        RETURNS (list[int]): name indices: names with similar 3-grams, most similar first, then
            short names that differ by one letter.
        """
        positions = _find(self.columns["remains"], _deletion_codes(text))
        rows = [np.zeros(0, dtype=np.int32), *self._postings("remain", positions)]
        short = np.unique(np.concatenate(rows))
        short = short if allowed is None else short[allowed[short]]
        return list(dict.fromkeys([*self._by_grams(text, allowed), *short.tolist()]))

    def _by_grams(self, text: str, allowed: np.ndarray | None) -> list[int]:
        own, squares = self._vector_of(text)
        positions = _find(self.columns["grams"], own)
        starts = self.columns["gram_starts"]
        if not len(positions):
            return []
        sizes = starts[positions + 1] - starts[positions]
        rarest_first = np.argsort(sizes, kind="stable")
        looked_at = np.cumsum(sizes[rarest_first])
        n = max(int(np.searchsorted(looked_at, _MAX_LOOKED_AT, side="right")), 1)
        positions = positions[rarest_first[:n]]
        rows = self._postings("gram", positions)
        weights = np.repeat(self._weights[positions] ** 2, list(map(len, rows)))
        scores = np.bincount(np.concatenate(rows), weights=weights)
        # A name's squared length is at least what it shares with the text, so the square of the
        # cosine is at most the shared part of the text's.
        is_listed = scores > MIN_COSINE**2 * squares.sum()
        if allowed is not None:
            is_listed &= allowed[: len(scores)]
        names = np.flatnonzero(is_listed)
        scores = scores[names] / self.columns["norms"][names]
        if len(names) > _SHORTLIST:
            # sorting all of them would take longer than everything before
            best = scores >= np.partition(scores, -_SHORTLIST)[-_SHORTLIST]
            names, scores = names[best], scores[best]
        return names[np.argsort(-scores, kind="stable")[:_SHORTLIST]].tolist()

    def _postings(self, kind: str, positions: np.ndarray) -> list[np.ndarray]:
        names, starts = self.columns[f"{kind}_names"], self.columns[f"{kind}_starts"]
        return [names[starts[i] : starts[i + 1]] for i in positions.tolist()]

    def _weights_of(self, codes: np.ndarray) -> np.ndarray:
        """codes (np.ndarray): uint32[m], sorted or not. RETURNS (np.ndarray): float64[m]."""
        grams = self.columns["grams"]
        weights = np.full(len(codes), self._unknown)
        positions = np.minimum(np.searchsorted(grams, codes), max(len(grams) - 1, 0))
        known = np.flatnonzero(grams[positions] == codes) if len(grams) else positions[:0]
        weights[known] = self._weights[positions[known]]
        return weights


class SimilarName(NamedTuple):
    """A name of the vocabulary and its similarity to a text.

    name (int): name index.
    similarity (Similarity): similarity of the text and the name.
    """

    name: int
    similarity: Similarity


class SimilarNames(CachedIndex[TrigramIndex]):
    """Finds names by string similarity, including changes made at run time.

    vocabulary (VocabularyOverlay), compiled (CompiledNames): see `CachedIndex`.
    """

    INDEX = TrigramIndex

    def find(self, text: str, k: int, allowed: np.ndarray | None = None) -> list[SimilarName]:
        """Find the most similar names, by the sum of both similarities.

        text (str): in normal form.
        k (int): maximum number of names.
        allowed (np.ndarray | None): bool[n_names] of a subset; None: all.
        RETURNS (list[SimilarName]): most similar first, ties by index. The search is approximate:
            a name that shares only frequent 3-grams with the text can be missed.
        """
        kb = self._vocabulary
        names = self.index.shortlist(text, None if allowed is None else allowed[: kb.table.n_names])
        added, index = self.added
        if index is not None:
            names += [added[i] for i in index.shortlist(text)]
        # masks exclude removed names
        names = [i for i in names if (kb.is_live(i) if allowed is None else allowed[i])]
        similar = self.index.compare(text, kb.name_texts(names))
        pairs = zip(names, similar, strict=True)
        ranked = sorted([(-s.cosine - s.edits, i, s) for i, s in pairs])
        return [SimilarName(i, s) for _, i, s in ranked[:k]]


def _flat(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """RETURNS (tuple[np.ndarray, np.ndarray]): all bytes, and int64[n + 1] offsets."""
    encoded = [text.encode("utf8", "replace") for text in texts]
    data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return data, offsets_of(np.array(list(map(len, encoded)), dtype=np.int64))


def _distinct_codes(data: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """RETURNS (tuple[np.ndarray, np.ndarray]): the distinct 3-grams of each of several concatenated
    strings: uint32[m] codes and int64[m] indices of their strings, sorted by string and code; e.g.
    `pa` → ` pa` 0x207061 and `pa ` 0x706120."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    padded = np.full(len(data) + 2 * (len(offsets) - 1), _SPACE, dtype=np.uint64)
    positions = np.arange(len(data)) + 2 * rows + 1
    padded[positions] = data
    positions, rows = positions[data != _SPACE], rows[data != _SPACE]
    eight, sixteen, row = np.uint64(8), np.uint64(16), rows.astype(np.uint64) << np.uint64(24)
    codes = padded[positions - 1] << sixteen | padded[positions] << eight | padded[positions + 1]
    pairs = np.unique(row | codes)
    codes = (pairs & np.uint64(0xFFFFFF)).astype(np.uint32)
    return codes, (pairs >> np.uint64(24)).astype(np.int64)


def _gram_blocks(names: Strings) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """YIELDS (tuple[int, np.ndarray, np.ndarray]): for each block of names, the index of the first,
    the distinct 3-grams of each name, and the names of these, relative to the first."""
    for first in range(0, len(names), _BLOCK):
        offsets = names.offsets[first : first + _BLOCK + 1].astype(np.int64)
        data = np.asarray(names.data[offsets[0] : offsets[-1]])
        yield first, *_distinct_codes(data, offsets - offsets[0])


def _deletion_codes(text: str) -> np.ndarray:
    """RETURNS (np.ndarray): uint32[m], for a short text such as `pain` the CRC-32 of `pain`, `ain`,
    `pin`, `pan` and `pai`; empty for others."""
    letters = encode(text.replace(" ", ""))
    if not SHORTEST <= len(letters) <= LONGEST + 1:
        return np.zeros(0, dtype=np.uint32)
    deletions = [letters, *[letters[:i] + letters[i + 1 :] for i in range(len(letters))]]
    return np.unique(np.array([crc32(deletion) for deletion in deletions], dtype=np.uint32))


def _index_deletions(names: Strings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """RETURNS (tuple[np.ndarray, np.ndarray, np.ndarray]): the columns of the deletions."""
    # Spaces are counted here, which excludes the few names with many short words.
    short = np.flatnonzero(np.diff(names.offsets) <= LONGEST + LONGEST // 3)
    codes_of = list(map(_deletion_codes, names.texts(short)))
    codes = np.concatenate([np.zeros(0, dtype=np.uint32), *codes_of]).astype(np.uint64)
    return _invert(
        codes << np.uint64(32) | np.repeat(short, list(map(len, codes_of))).astype(np.uint64)
    )


def _invert(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """pairs (np.ndarray): uint64[m], a code in the upper half and a name in the lower half of each.
    RETURNS (tuple[np.ndarray, np.ndarray, np.ndarray]): uint32[g] codes, int64[g + 1] offsets of
    their names, and int32[m] names, ascending for each code."""
    pairs.sort()
    codes, counts = np.unique((pairs >> np.uint64(32)).astype(np.uint32), return_counts=True)
    return (
        codes,
        offsets_of(counts).astype(np.int64),
        (pairs & np.uint64(2**32 - 1)).astype(np.int32),
    )


def _find(values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """RETURNS (np.ndarray): int64[m], positions of the wanted values among the sorted values."""
    positions = np.searchsorted(values, wanted)
    inside = positions < len(values)
    positions, wanted = positions[inside], wanted[inside]
    return positions[values[positions] == wanted]


def _weight(n_with: np.ndarray | int, n_names: int) -> np.ndarray:
    """Inverse document frequency, smoothed as in scikit-learn."""
    return np.log((1 + n_names) / (1 + np.asarray(n_with))) + 1.0
