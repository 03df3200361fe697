"""Sequences of strings as two flat arrays, with lookup by hash."""

import os
import weakref
from array import array
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise, repeat

import numpy as np

_CHUNK = 65536
# Steps of interpolation search before binary search takes over, which bounds the worst case.
_INTERPOLATIONS = 8


class Strings:
    """A sequence of strings as UTF-8 bytes and offsets, in memory or mapped from disk.

    data (np.ndarray): uint8[total], the concatenated strings.
    offsets (np.ndarray): int32[n + 1], int64 for 2 GB and more; string `i` is
        `data[offsets[i]:offsets[i + 1]]`.
    """

    def __init__(self, data: np.ndarray, offsets: np.ndarray) -> None:
        self.data = data
        self.offsets = offsets
        # Mapped data is read from the file instead: Linux would make 64 KB around every byte
        # accessed through the mapping resident in the process.
        self._file: int | None = None
        self._start = 0
        mapping = data.base
        if isinstance(mapping, np.memmap) and mapping.filename and hasattr(os, "pread"):
            self._file, self._start = os.open(mapping.filename, os.O_RDONLY), mapping.offset
            weakref.finalize(self, os.close, self._file)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> str:
        return self.texts([i])[0]

    def __iter__(self) -> Iterator[str]:
        return (text.decode("utf8") for text in self._encoded())

    def texts(self, rows: Sequence[int] | np.ndarray) -> list[str]:
        """rows (Sequence[int] | np.ndarray): n indices.
        RETURNS (list[str]): the strings at these indices.
        RAISES (IndexError): an index is out of range."""
        indices = np.asarray(rows, dtype=np.intp)
        begins, ends = self.offsets[indices], self.offsets[indices + 1]
        if self._file is None:
            pairs = zip(begins.tolist(), ends.tolist(), strict=True)
            return [self.data[a:b].tobytes().decode() for a, b in pairs]
        # safe in threads and after a fork, unlike seek and read
        at = begins.astype(np.int64) + self._start
        read = map(os.pread, repeat(self._file), (ends - begins).tolist(), at.tolist())
        return list(map(bytes.decode, read))

    def take(self, rows: np.ndarray) -> "Strings":
        """rows (np.ndarray): indices.
        RETURNS (Strings): the strings at these indices, in this order."""
        chunks = (rows[begin : begin + _CHUNK] for begin in range(0, len(rows), _CHUNK))
        return StringsBuilder(text for chunk in chunks for text in self.texts(chunk)).finish()

    def hashes(self) -> np.ndarray:
        """RETURNS (np.ndarray): uint64[n], hashes of the strings; the same on every machine."""
        return np.fromiter(map(_hash, self._encoded()), dtype=np.uint64, count=len(self))

    def find(self, texts: Sequence[str], by_hash: np.ndarray) -> list[list[int]]:
        """Look up strings by their hashes. Hashes are computed, not stored: as they are uniformly
        distributed, interpolation search (Perl, Itai and Avni 1978) hashes only a few strings.

        texts (Sequence[str]): n strings.
        by_hash (np.ndarray): int32[m], rows ordered by `hashes`, ties ascending.
        RETURNS (list[list[int]]): the rows of each text, ascending.
        """
        # no calls in the loop, which runs several times for each name of a document
        data, file, start, offsets = self.data, self._file, self._start, self.offsets
        found: list[list[int]] = []
        for text in texts:
            wanted = text.encode("utf8", errors="replace")
            hashed = int.from_bytes(blake2b(wanted, digest_size=8).digest(), "little")
            matches: list[int] = []
            # The first position with at least this hash is between `begin` and `end`, where the
            # hashes are between `low` and `high`. Once it is found, `begin` moves on from there.
            begin, end, low, high, steps = 0, len(by_hash), 0, 2**64, 0
            while begin < len(by_hash):
                guess = begin + (end - begin) * (hashed - low) // max(high - low, 1)
                position = (begin + end) // 2 if steps > _INTERPOLATIONS else guess
                position = max(min(position, end - 1), begin)
                steps += 1
                row = by_hash.item(position)
                a, b = offsets.item(row), offsets.item(row + 1)
                stored = data[a:b].tobytes() if file is None else os.pread(file, b - a, start + a)
                other = int.from_bytes(blake2b(stored, digest_size=8).digest(), "little")
                if begin == end:
                    if other != hashed:
                        break
                    if stored == wanted:
                        matches.append(row)
                    begin = end = begin + 1
                elif other < hashed:
                    begin, low = position + 1, other
                else:
                    end, high = position, other
            found.append(matches)
        return found

    def _encoded(self) -> Iterator[bytes]:
        for begin in range(0, len(self), _CHUNK):
            offsets = self.offsets[begin : begin + _CHUNK + 1].tolist()
            data = self.data[offsets[0] : offsets[-1]].tobytes()
            for a, b in pairwise(offsets):
                yield data[a - offsets[0] : b - offsets[0]]


class StringsBuilder:
    """Collects strings one by one for `Strings`."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._data = bytearray()
        self._offsets = array("q", [0])
        for text in texts:
            self.append(text)

    def __iter__(self) -> Iterator[str]:
        return (self._data[a:b].decode("utf8") for a, b in pairwise(self._offsets))

    def append(self, text: str) -> None:
        """text (str): string to append."""
        self._data += encode(text)
        self._offsets.append(len(self._data))

    def finish(self) -> Strings:
        """RETURNS (Strings): the appended strings, which share the builder's memory."""
        offsets = to_numpy(self._offsets)
        if offsets[-1] <= np.iinfo(np.int32).max:
            offsets = offsets.astype(np.int32)
        return Strings(np.frombuffer(self._data, dtype=np.uint8), offsets)


def offsets_of(lengths: np.ndarray) -> np.ndarray:
    """lengths (np.ndarray): int[n].
    RETURNS (np.ndarray): int32[n + 1], offsets of consecutive items with these lengths; int64 for 2
    GB and more."""
    total = lengths.sum(dtype=np.int64)
    fits = total <= np.iinfo(np.int32).max
    offsets = np.zeros(len(lengths) + 1, dtype=np.int32 if fits else np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def encode(text: str) -> bytes:
    """RETURNS (bytes): the text in UTF-8, with unpaired surrogates replaced by `?`."""
    return text.encode("utf8", errors="replace")


def _hash(text: bytes) -> int:
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def to_numpy(values: "array[int]") -> np.ndarray:
    """RETURNS (np.ndarray): a view of the array."""
    return np.frombuffer(values, dtype=values.typecode)
