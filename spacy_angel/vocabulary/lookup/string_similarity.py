"""String similarity: find the names most similar to a text among millions.

Comparing a text with every name would take seconds, so two inverted indices produce a short list:

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

from ..storage.arrays import Columns
from ..storage.compiled import Layout
from ..storage.strings import Strings, encode, offsets_of
from .cached_index import CachedIndex, NameIndex

# Bytes, spaces left out, of texts that have a deletion neighborhood; a typo may be one more.
SHORTEST, LONGEST = 3, 12
# Names looked through for one text: frequent 3-grams are left out where the rarer ones reach it.
_MAX_LOOKED_AT = 300_000
_SHORTLIST = 48
MIN_COSINE = 0.2
"""Names with no greater cosine are left out of the short list."""
# Weights of words that are kept.
_MAX_WEIGHTS = 1 << 16
_BLOCK = 1 << 18
_SPACE = 32


class Similarity(NamedTuple):
    """How similar a text and a name are; `atack` and `attack` have one edit in six letters, so
    that `edits` is 1 - 1/6 = 0.83.

    cosine (float): cosine of the vectors of their 3-grams, weighted by rarity; 0 to 1.
    edits (float): 1 - distance / length of the longer one; 0 to 1. The distance is optimal string
        alignment: letters that are changed, added, left out, or swapped with the next one.
    """

    cosine: float
    edits: float


class TrigramIndex(NameIndex):
    """The inverted indices over the names of a vocabulary.

    The names that have the 3-gram `grams[i]` are
    `gram_names[gram_starts[i]:gram_starts[i + 1]]`, ascending; likewise for deletions. In the
    columns on disk deletions are called `remains`.

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
        self.weight_of = lru_cache(_MAX_WEIGHTS)(self._weight_of)
        """Word in normal form → mean weight of its 3-grams, which is greater the rarer they are."""

    @classmethod
    def build(cls, names: Strings) -> "TrigramIndex":
        blocks = [np.unique(codes, return_counts=True) for _, codes, _ in _gram_blocks(names)]
        blocks.append((np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)))
        codes, n_names = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
        grams, inverse = np.unique(codes, return_inverse=True)
        counts = np.bincount(inverse, weights=n_names, minlength=len(grams))
        starts = offsets_of(counts.astype(np.int64)).astype(np.int64)
        weights = _weight(np.diff(starts), len(names))
        # The names of each 3-gram are filled in block by block, behind those that are there.
        filled = starts[:-1].copy()
        gram_names = np.empty(starts[-1], dtype=np.int32)
        norms = np.zeros(len(names), dtype=np.float32)
        for first, codes, rows in _gram_blocks(names):
            positions = np.searchsorted(grams, codes)
            weighed = np.bincount(rows, weights=weights[positions] ** 2)
            norms[first : first + len(weighed)] = np.sqrt(weighed)
            order = np.argsort(positions, kind="stable")
            positions = positions[order]
            begins = np.searchsorted(positions, positions)
            gram_names[filled[positions] + np.arange(len(positions)) - begins] = rows[order] + first
            filled += np.bincount(positions, minlength=len(grams))
        columns = (grams, starts, gram_names, norms, *_index_deletions(names))
        return cls(dict(zip(cls.LAYOUT.columns, columns, strict=True)))

    def compare(self, text: str, names: Sequence[str]) -> list[Similarity]:
        """text (str), names (Sequence[str]): in normal form. RETURNS (list[Similarity]): how
        similar the text is to each name, with the weights of this vocabulary's 3-grams."""
        if text and all(name == text for name in names):
            return [Similarity(1.0, 1.0) for _ in names]
        from rapidfuzz.distance import OSA

        own = gram_codes(text)
        codes, rows = _distinct_codes(*_flat([encode(name) for name in names]))
        weights = self._weights_of(codes) ** 2
        lengths = np.bincount(rows, weights=weights, minlength=len(names))
        shared = np.bincount(rows, weights=weights * np.isin(codes, own), minlength=len(names))
        product = np.sqrt((self._weights_of(own) ** 2).sum() * lengths)
        cosines = np.divide(shared, product, out=np.zeros(len(names)), where=product > 0)
        return [
            Similarity(min(cosine, 1.0), OSA.normalized_similarity(text, name))
            for cosine, name in zip(cosines.tolist(), names, strict=True)
        ]

    def _weight_of(self, word: str) -> float:
        codes = gram_codes(word)
        return float(self._weights_of(codes).mean()) if len(codes) else 0.0

    def shortlist(self, text: str, allowed: np.ndarray | None = None) -> list[int]:
        """Names worth comparing with a text.

        text (str): in normal form.
        allowed (np.ndarray | None): bool[n_names]; None: all.
        RETURNS (list[int]): name indices, those with the most similar 3-grams first; then short
            ones that are one letter away.
        """
        names = self._by_grams(text, allowed)
        for name in self._by_deletions(text).tolist():
            if allowed is None or allowed[name]:
                names.append(name)
        return list(dict.fromkeys(names))

    def _by_grams(self, text: str, allowed: np.ndarray | None) -> list[int]:
        own = gram_codes(text)
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
        # A name's squared length is at least what it shares with the text, so the square of the
        # cosine is at most the shared part of the text's.
        least = MIN_COSINE**2 * (self._weights_of(own) ** 2).sum()
        names, scores = _add_up(rows, self._weights[positions] ** 2, least, self.n_names, allowed)
        scores /= self.columns["norms"][names]
        if len(names) > _SHORTLIST:
            # To sort them all would cost more than all before.
            best = scores >= np.partition(scores, -_SHORTLIST)[-_SHORTLIST]
            names, scores = names[best], scores[best]
        return names[np.argsort(-scores, kind="stable")[:_SHORTLIST]].tolist()

    def _by_deletions(self, text: str) -> np.ndarray:
        rows = self._postings("remain", _find(self.columns["remains"], _deletion_codes(text)))
        return np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int32)

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
    """A name of the vocabulary and how similar a text is to it.

    name (int): name index.
    similarity (Similarity): see there.
    """

    name: int
    similarity: Similarity


class SimilarNames(CachedIndex[TrigramIndex]):
    """Finds names by string similarity; follows what is added and removed while running.

    vocabulary (VocabularyOverlay), compiled (CompiledNames): see `CachedIndex`.
    """

    INDEX = TrigramIndex

    def find(self, text: str, k: int, allowed: np.ndarray | None = None) -> list[SimilarName]:
        """The nearest names: those with the greatest sum of both similarities.

        text (str): in normal form.
        k (int): maximum number of names.
        allowed (np.ndarray | None): bool[n_names] of a subset; None: all.
        RETURNS (list[SimilarName]): nearest first, equal ones by index. The search is thorough but
            not complete: a name that shares only frequent 3-grams with the text can be missed.
        """
        kb = self._vocabulary
        names = self.index.shortlist(text, None if allowed is None else allowed[: kb.table.n_names])
        added, index = self.added
        if index is not None:
            names += [added[i] for i in index.shortlist(text)]
        if allowed is not None:
            # A mask excludes names that were removed.
            names = [i for i in names if allowed[i]]
        else:
            names = [i for i in names if i not in kb.touched or kb.concept_ids_of(i)]
        similar = map(SimilarName, names, self.compare(text, names))
        ranked = sorted(similar, key=lambda n: (-n.similarity.cosine - n.similarity.edits, n.name))
        return ranked[:k]

    def compare(self, text: str, names: Sequence[int]) -> list[Similarity]:
        """text (str): in normal form. names (Sequence[int]): name indices.
        RETURNS (list[Similarity]): how similar the text is to each."""
        return self.index.compare(text, [self._vocabulary.name(i) for i in names])

    def word_weight(self, word: str) -> float:
        """word (str): in normal form. RETURNS (float): see `TrigramIndex.weight_of`."""
        return self.index.weight_of(word)


def _add_up(
    rows: Sequence[np.ndarray],
    weights: np.ndarray,
    least: float,
    n_names: int,
    allowed: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Names by the weights of the rows that they are in.

    rows (Sequence[np.ndarray]): int32[...] each, ascending. weights (np.ndarray): float64[rows].
    least (float): names with no more are left out. n_names (int): of all. allowed (np.ndarray |
    None): see `TrigramIndex.shortlist`.
    RETURNS (tuple[np.ndarray, np.ndarray]): int64[m] names, ascending, and float64[m], their sums.
    """
    # A block of names at a time: the sums of all would be new memory for each text, and in millions
    # of names that would take longer than to add them up.
    edges = np.arange(0, n_names + _BLOCK, _BLOCK)
    cuts = [np.searchsorted(row, edges) for row in rows]
    found, sums = [], []
    for block, first in enumerate(edges[:-1].tolist()):
        parts = [row[cut[block] : cut[block + 1]] for row, cut in zip(rows, cuts, strict=True)]
        scores = np.bincount(
            np.concatenate(parts) - first,
            weights=np.repeat(weights, [len(part) for part in parts]),
        )
        reached = scores > least
        if allowed is not None:
            reached &= allowed[first : first + len(scores)]
        # To count truth values takes a fifth of the time that numbers take.
        names = np.flatnonzero(reached)
        found.append(names + first)
        sums.append(scores[names])
    return np.concatenate(found), np.concatenate(sums)


def gram_codes(text: str) -> np.ndarray:
    """text (str): in normal form. RETURNS (np.ndarray): uint32[m], its 3-grams, each once,
    sorted; e.g. `pa` → ` pa` 0x207061 and `pa ` 0x706120."""
    return _distinct_codes(*_flat([encode(text)]))[0]


def _flat(texts: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """RETURNS (tuple[np.ndarray, np.ndarray]): all bytes, and int64[n + 1] offsets."""
    data = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return data, offsets_of(np.array([len(text) for text in texts], dtype=np.int64))


def _distinct_codes(data: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """3-grams of strings that lie one after the other. RETURNS (tuple[np.ndarray, np.ndarray]):
    uint32[m] codes and int64[m], the string of each; each once a string, sorted by string and
    code."""
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
    """YIELDS (tuple[int, np.ndarray, np.ndarray]): the first name of a block, the 3-grams of its
    names, and whose they are, counted from the first; each once a name."""
    for first in range(0, len(names), _BLOCK):
        offsets = names.offsets[first : first + _BLOCK + 1].astype(np.int64)
        data = np.asarray(names.data[offsets[0] : offsets[-1]])
        yield first, *_distinct_codes(data, offsets - offsets[0])


def _deletion_codes(text: str) -> np.ndarray:
    """RETURNS (np.ndarray): uint32[m] for a short text, e.g. CRC-32 of `pain`, `ain`, `pin`,
    `pan`, `pai` for `pain`; none for another."""
    letters = encode(text.replace(" ", ""))
    if not SHORTEST <= len(letters) <= LONGEST + 1:
        return np.zeros(0, dtype=np.uint32)
    deletions = [letters, *(letters[:i] + letters[i + 1 :] for i in range(len(letters)))]
    return np.unique(np.array([crc32(deletion) for deletion in deletions], dtype=np.uint32))


def _index_deletions(names: Strings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """RETURNS (tuple[np.ndarray, np.ndarray, np.ndarray]): as the columns of that name."""
    # Spaces count here, so that the few names with many short words are left out.
    short = np.flatnonzero(np.diff(names.offsets) <= LONGEST + LONGEST // 3)
    codes_of = list(map(_deletion_codes, names.texts(short)))
    codes = np.concatenate([np.zeros(0, dtype=np.uint32), *codes_of])
    rows = np.repeat(short.astype(np.int32), list(map(len, codes_of)))
    order = np.argsort(codes, kind="stable")
    deletions, counts = np.unique(codes, return_counts=True)
    return deletions, offsets_of(counts).astype(np.int64), rows[order]


def _find(values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """RETURNS (np.ndarray): int64[m], places of those wanted that stand in the sorted values."""
    positions = np.searchsorted(values, wanted)
    inside = positions < len(values)
    positions, wanted = positions[inside], wanted[inside]
    return positions[values[positions] == wanted]


def _weight(n_with: np.ndarray | int, n_names: int) -> np.ndarray:
    """Inverse document frequency as scikit-learn smooths it."""
    return np.log((1 + n_names) / (1 + np.asarray(n_with))) + 1.0
