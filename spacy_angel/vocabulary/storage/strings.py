"""Many strings as two flat arrays, and an index that finds one without a Python dict."""

import os
import weakref
from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import pairwise

import numpy as np

_CHUNK = 65536
# Steps after which the search for a hash halves the rest instead, which bounds the worst case.
_INTERPOLATIONS = 8


class Strings:
    """A sequence of strings as UTF-8 bytes and offsets, in memory or mapped from disk.

    data (np.ndarray): uint8[total], the strings one after the other.
    offsets (np.ndarray): int32[n + 1], int64 for 2 GB and more; string `i` is
        `data[offsets[i]:offsets[i + 1]]`.
    """

    def __init__(self, data: np.ndarray, offsets: np.ndarray) -> None:
        self.data = data
        self.offsets = offsets
        self._file = _MappedFile.of(data)

    def __reduce__(self) -> tuple[type["Strings"], tuple[np.ndarray, np.ndarray]]:
        # without the open file, whose number means nothing in another process
        return Strings, (self.data, self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> str:
        return self.encoded(i).decode("utf8")

    def __iter__(self) -> Iterator[str]:
        return (text.decode("utf8") for text in self._encoded())

    def encoded(self, i: int) -> bytes:
        """i (int): index. RETURNS (bytes): the string as UTF-8."""
        if not 0 <= i < len(self):
            raise IndexError(i)
        begin, end = self.offsets[i : i + 2].tolist()
        if self._file is not None:
            return self._file.read(begin, end)
        return self.data[begin:end].tobytes()

    def take(self, rows: np.ndarray) -> "Strings":
        """rows (np.ndarray): indices. RETURNS (Strings): these strings, in this order."""
        lengths = np.diff(self.offsets)[rows]
        offsets = offsets_of(lengths)
        data = np.empty(offsets[-1], dtype=np.uint8)
        # in pieces: the byte positions take eight times the room of the bytes
        for begin in range(0, len(rows), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            into = np.arange(offsets[begin], offsets[min(begin + _CHUNK, len(rows))])
            shift = self.offsets[rows[part]] - offsets[:-1][part]
            data[into] = self.data[into + np.repeat(shift, lengths[part])]
        return Strings(data, offsets)

    def hashes(self) -> np.ndarray:
        """RETURNS (np.ndarray): uint64[n], a digest a string, the same on every machine."""
        return np.fromiter(map(_hash, self._encoded()), dtype=np.uint64, count=len(self))

    def _encoded(self) -> Iterator[bytes]:
        for begin in range(0, len(self), _CHUNK):
            offsets = self.offsets[begin : begin + _CHUNK + 1].tolist()
            data = self.data[offsets[0] : offsets[-1]].tobytes()
            for a, b in pairwise(offsets):
                yield data[a - offsets[0] : b - offsets[0]]


class _MappedFile:
    """Reads single strings of a mapped column from its file: the same pages of the same cache,
    but Linux makes 64 KB around every touched byte of a mapping resident in the process."""

    def __init__(self, path: str, start: int) -> None:
        self._file = os.open(path, os.O_RDONLY)
        self._start = start
        weakref.finalize(self, os.close, self._file)

    @classmethod
    def of(cls, column: np.ndarray) -> "_MappedFile | None":
        """RETURNS (_MappedFile | None): None for a column in memory, or without `os.pread`."""
        mapping = column.base
        if isinstance(mapping, np.memmap) and mapping.filename and hasattr(os, "pread"):
            return cls(mapping.filename, mapping.offset)
        return None

    def read(self, begin: int, end: int) -> bytes:
        # unlike seek and read, safe in threads and after a fork
        return os.pread(self._file, end - begin, self._start + begin)


class StringsBuilder:
    """Collects strings one by one for `Strings`."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._data = bytearray()
        self._offsets = array("q", [0])
        for text in texts:
            self.append(text)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __iter__(self) -> Iterator[str]:
        return (self._data[a:b].decode("utf8") for a, b in pairwise(self._offsets))

    def append(self, text: str) -> None:
        """text (str): goes to the end."""
        self._data += encode(text)
        self._offsets.append(len(self._data))

    def finish(self) -> Strings:
        """RETURNS (Strings): what was collected; the builder's memory is shared, not copied."""
        offsets = to_numpy(self._offsets)
        if offsets[-1] <= np.iinfo(np.int32).max:
            offsets = offsets.astype(np.int32)
        return Strings(np.frombuffer(self._data, dtype=np.uint8), offsets)


class HashIndex:
    """Finds a string's rows by its 64-bit hash, without storing the hashes: they are uniform, so
    interpolation search (Perl, Itai and Avni 1978) reads and hashes few of the strings.

    rows (np.ndarray): int32[n], the rows of the strings in the order of their hashes.
    """

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows

    @classmethod
    def build(cls, hashes: np.ndarray) -> "HashIndex":
        """hashes (np.ndarray): of the strings to be found, see `Strings.hashes`.
        RETURNS (HashIndex): their index."""
        return cls(np.argsort(hashes, kind="stable").astype(np.int32))

    def find(self, text: str, strings: Strings) -> Iterator[int]:
        """text (str): the string; strings (Strings): the indexed ones.
        YIELDS (int): its rows, ascending."""
        wanted = encode(text)
        hashed = _hash(wanted)
        for position in range(self._first(hashed, strings), len(self.rows)):
            row = self.rows.item(position)
            found = strings.encoded(row)
            if found == wanted:
                yield row
            elif _hash(found) != hashed:
                return

    def _first(self, hashed: int, strings: Strings) -> int:
        """The first position of a hash; the number of rows where no string has it."""
        begin, end = 0, len(self.rows)
        low, high = 0, 2**64
        steps = 0
        while begin < end:
            if steps < _INTERPOLATIONS:
                position = begin + (end - begin) * (hashed - low) // (high - low)
            else:
                position = (begin + end) // 2
            steps += 1
            found = self._hash_at(position, strings)
            if found < hashed:
                begin, low = position + 1, found
            elif found > hashed:
                end, high = position, found
            else:
                while position > begin and self._hash_at(position - 1, strings) == hashed:
                    position -= 1
                return position
        return len(self.rows)

    def _hash_at(self, position: int, strings: Strings) -> int:
        return _hash(strings.encoded(self.rows.item(position)))


def offsets_of(lengths: np.ndarray) -> np.ndarray:
    """lengths (np.ndarray): int[n]. RETURNS (np.ndarray): int32[n + 1] where things of these
    lengths begin and end, one after the other; int64 where they reach 2 GB."""
    total = lengths.sum(dtype=np.int64)
    fits = total <= np.iinfo(np.int32).max
    offsets = np.zeros(len(lengths) + 1, dtype=np.int32 if fits else np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def encode(text: str) -> bytes:
    """RETURNS (bytes): UTF-8; half a surrogate pair, which has none, becomes `?`."""
    return text.encode("utf8", errors="replace")


def to_numpy(values: "array[int]") -> np.ndarray:
    """RETURNS (np.ndarray): the array's own memory, with its type."""
    return np.frombuffer(values, dtype=values.typecode)


def _hash(text: bytes) -> int:
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
