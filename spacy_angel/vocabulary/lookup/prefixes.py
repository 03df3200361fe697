"""Names as one types them: those that begin with a text, without a look at all others."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ..storage.arrays import Columns, open_folder, write_folder
from ..storage.strings import Strings, encode
from .cached_index import CachedIndex

KIND = "spacy-angel order of names"
VERSION = 1
COLUMNS = ("order", "lengths")
# What is sorted at a time, and bytes of a sorting key.
_BLOCK = 1 << 20
_KEY = 8
# Stored names that are looked at for one text.
_MOST = 1000


class NameOrder:
    """The names of a vocabulary in the order of their bytes.

    columns (Columns): `order` int32[n], name indices; `lengths` uint16[n], the bytes of each, at
        most 65,535.
    names (Strings): what they are of.
    """

    def __init__(self, columns: Columns, names: Strings) -> None:
        self._columns = columns
        self._names = names

    @classmethod
    def build(cls, names: Strings) -> "NameOrder":
        """names (Strings): each once. RETURNS (NameOrder): theirs."""
        order = _sorted_rows(names)
        lengths = np.minimum(np.diff(names.offsets)[order], np.iinfo(np.uint16).max)
        return cls({"order": order, "lengths": lengths.astype(np.uint16)}, names)

    @classmethod
    def from_disk(cls, path: Path, names: Strings) -> "NameOrder":
        """path (Path): as `to_disk` wrote it. names (Strings): those that it was built from.
        RETURNS (NameOrder): mapped. RAISES (AngelError): the folder is missing or damaged."""
        return cls(open_folder(path, KIND, VERSION, COLUMNS)[0], names)

    def to_disk(self, path: Path) -> None:
        """path (Path): folder to write."""
        write_folder(path, KIND, VERSION, self._columns, {})

    def find(self, prefix: str, most: int) -> np.ndarray:
        """The names that begin with a text.

        prefix (str): in normal form. most (int): how many are wanted.
        RETURNS (np.ndarray): int32[m], the shorter names first, those of one length by their
            letters; all, or at least as many as are wanted.
        """
        wanted, order = encode(prefix), self._columns["order"]
        # Two binary searches, in which some fifty names are read.
        first = bisect_left(order, wanted, key=self._bytes)
        last = bisect_right(order, wanted, key=lambda i: self._bytes(i)[: len(wanted)])
        lengths = self._columns["lengths"][first:last]
        # A million names begin with one letter; to sort them all would take longer than to type.
        enough = np.searchsorted(np.cumsum(np.bincount(lengths)), most)
        short = np.flatnonzero(lengths <= enough)
        return order[first:last][short[np.argsort(lengths[short], kind="stable")]]

    def _bytes(self, i: int) -> bytes:
        return encode(self._names[int(i)])


class NamePrefixes(CachedIndex[NameOrder]):
    """Finds names by how they begin; follows what is added and removed while running.

    vocabulary (VocabularyOverlay), fingerprint (str), folder (Path | None): see `CachedIndex`.
    """

    WHAT = "order of names"
    LAYOUT = f"{KIND} {VERSION}"

    def find(self, prefix: str) -> Iterator[int]:
        """prefix (str): in normal form, not empty. YIELDS (int): indices of the names that begin
        with it and lead to a concept: added ones first, then the shorter ones, a thousand of
        them where there are more."""
        added: Mapping[int, str] = self._vocabulary.added_names
        begun = [i for i, name in added.items() if name.startswith(prefix)]
        yield from sorted(begun, key=lambda i: (len(added[i]), added[i]))
        touched = self._vocabulary.touched
        for i in map(int, self.index.find(prefix, _MOST)):
            if i not in touched or self._vocabulary.concept_ids_of(i):
                yield i

    def _read(self, path: Path) -> NameOrder:
        return NameOrder.from_disk(path, self._vocabulary.table.names)

    def _build(self) -> NameOrder:
        return NameOrder.build(self._vocabulary.table.names)


def _sorted_rows(names: Strings) -> np.ndarray:
    """By eight bytes at a time, and by the next eight only those that are still alike."""
    order = np.arange(len(names), dtype=np.int64)
    # Places in `order` whose names are alike so far, and the number of the group that each is in.
    places, groups = order.copy(), np.zeros(len(names), dtype=np.int64)
    start, longest = 0, int(np.diff(names.offsets).max(initial=0))
    while len(places) and start < longest:
        rows = order[places]
        keys = _keys(names, rows, start)
        by_key = np.lexsort((keys, groups))
        order[places] = rows[by_key]
        keys, groups = keys[by_key], groups[by_key]
        is_new = np.ones(len(places), dtype=bool)
        is_new[1:] = (keys[1:] != keys[:-1]) | (groups[1:] != groups[:-1])
        groups = np.cumsum(is_new)
        start += _KEY
        # Of those that end here one alone can be in a group: each name is there once.
        alike = np.bincount(groups)[groups] > 1
        places, groups = places[alike], groups[alike]
    return order.astype(np.int32)


def _keys(names: Strings, rows: np.ndarray, start: int) -> np.ndarray:
    """RETURNS (np.ndarray): uint64[m], the bytes from `start` on, zero behind the end."""
    keys = np.zeros(len(rows), dtype=np.uint64)
    last = max(len(names.data) - 1, 0)
    # In pieces: positions take eight times the room of the bytes.
    for begin in range(0, len(rows), _BLOCK):
        part = rows[begin : begin + _BLOCK]
        first, end = names.offsets[part].astype(np.int64) + start, names.offsets[part + 1]
        key = np.zeros(len(part), dtype=np.uint64)
        for i in range(_KEY):
            byte = names.data[np.minimum(first + i, last)].astype(np.uint64)
            key = (key << np.uint64(8)) | np.where(first + i < end, byte, np.uint64(0))
        keys[begin : begin + _BLOCK] = key
    return keys
