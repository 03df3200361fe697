"""Names as one types them: those that begin with a text, without a look at all others."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping

import numpy as np

from ..storage.strings import Strings, encode
from .cached_index import CachedIndex, NameIndex

# Bytes of a name by which it is sorted.
_KEY = 64
# Stored names that are looked at for one text.
_MAX_FOUND = 1000


class NameOrder(NameIndex):
    """The names of a vocabulary in the order of their bytes.

    columns (Columns): `order` int32[n], name indices; `lengths` uint16[n], the bytes of each, at
        most 65,535.
    names (Strings): what they are of.
    """

    KIND = "spacy-angel order of names"
    COLUMNS = ("order", "lengths")

    @classmethod
    def build(cls, names: Strings) -> "NameOrder":
        keys = np.array([encode(name)[:_KEY] for name in names], dtype=f"S{_KEY}")
        order = np.argsort(keys, kind="stable").astype(np.int32)
        lengths = np.minimum(np.diff(names.offsets)[order], np.iinfo(np.uint16).max)
        return cls({"order": order, "lengths": lengths.astype(np.uint16)}, names)

    def find(self, prefix: str, most: int) -> np.ndarray:
        """The names that begin with a text.

        prefix (str): in normal form. most (int): how many are wanted.
        RETURNS (np.ndarray): int32[m], the shorter names first, those of one length by their
            letters; all, or at least as many as are wanted. Of a text of more than 64 bytes only
            the beginning counts.
        """
        wanted, order = encode(prefix)[:_KEY], self.columns["order"]
        # Two binary searches, in which some fifty names are read.
        first = bisect_left(order, wanted, key=self._bytes)
        last = bisect_right(order, wanted, key=lambda i: self._bytes(i)[: len(wanted)])
        lengths = self.columns["lengths"][first:last]
        # A million names begin with one letter; to sort them all would take longer than to type.
        enough = np.searchsorted(np.cumsum(np.bincount(lengths)), most)
        short = np.flatnonzero(lengths <= enough)
        return order[first:last][short[np.argsort(lengths[short], kind="stable")]]

    def _bytes(self, i: int) -> bytes:
        return encode(self.names[int(i)])


class NamePrefixes(CachedIndex[NameOrder]):
    """Finds names by how they begin; follows what is added and removed while running.

    vocabulary (VocabularyOverlay), fingerprint (str), folder (Path | None): see `CachedIndex`.
    """

    INDEX = NameOrder
    WHAT = "order of names"

    def find(self, prefix: str) -> Iterator[int]:
        """prefix (str): in normal form, not empty. YIELDS (int): indices of the names that begin
        with it and lead to a concept: added ones first, then the shorter ones, a thousand of
        them where there are more."""
        added: Mapping[int, str] = self._vocabulary.added_names
        begun = [i for i, name in added.items() if name.startswith(prefix)]
        yield from sorted(begun, key=lambda i: (len(added[i]), added[i]))
        touched = self._vocabulary.touched
        for i in map(int, self.index.find(prefix, _MAX_FOUND)):
            is_there = i not in touched or self._vocabulary.concept_ids_of(i)
            if is_there and self._vocabulary.name(i).startswith(prefix):
                yield i
