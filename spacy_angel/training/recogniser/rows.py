"""Windows of words with their tags, in flat arrays: what a run has prepared, and keeps.

rows.safetensors        the windows of the corpora, with their tags (`TaggedRows`)
unmarked.safetensors    the texts in which nothing is marked (`reading.UnmarkedTexts`)
taught/                 what teachers say of both (`teacher`)
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file
from torch.utils.data import Dataset

from ...errors import AngelError
from ...files.atomic import replacing_path
from ...recognition.network import Row

TaggedRow = tuple[Row, np.ndarray, np.ndarray | None]
"""A window, the tags of its words, and what teachers say of them."""


@dataclass(frozen=True)
class TaggedRows(Dataset):
    """Windows with the tags of their words; window `i` has the pieces `offsets[i]` to
    `offsets[i + 1]` and the words `begins[i]` to `begins[i + 1]`.

    pieces (np.ndarray): int32[pieces], the tokens around each window included.
    cases (np.ndarray): int8[pieces]. words (np.ndarray): int16[pieces]. See `network.Row`.
    offsets (np.ndarray): int64[windows + 1].
    tags (np.ndarray): int8[words, labels].
    begins (np.ndarray): int64[windows + 1].
    taught (np.ndarray | None): float16[words, labels, tags], the teachers' probabilities.
    """

    pieces: np.ndarray
    cases: np.ndarray
    words: np.ndarray
    offsets: np.ndarray
    tags: np.ndarray
    begins: np.ndarray
    taught: np.ndarray | None = None

    @classmethod
    def of(cls, windows: Iterable[tuple[Row, np.ndarray]], n_labels: int) -> "TaggedRows":
        """windows (Iterable[tuple[Row, np.ndarray]]): each with int8[words, labels], its tags.
        n_labels (int): of the recogniser. RETURNS (TaggedRows): of them, in this order."""
        pieces, cases, words = [_none(np.int32)], [_none(np.int8)], [_none(np.int16)]
        tags = [np.zeros((0, n_labels), np.int8)]
        for row, own in windows:
            pieces.append(np.array(row.pieces, np.int32))
            cases.append(np.array(row.cases, np.int8))
            words.append(np.array(row.words, np.int16))
            tags.append(own)
        return cls(
            np.concatenate(pieces),
            np.concatenate(cases),
            np.concatenate(words),
            np.cumsum([len(part) for part in pieces]),
            np.concatenate(tags),
            np.cumsum([len(part) for part in tags]),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> TaggedRow:
        part = slice(self.begins[index], self.begins[index + 1])
        taught = None if self.taught is None else self.taught[part]
        return self.row(index), self.tags[part], taught

    def row(self, index: int) -> Row:
        """index (int): of a window. RETURNS (Row): as the encoder reads it."""
        part = slice(self.offsets[index], self.offsets[index + 1])
        n_words = int(self.begins[index + 1] - self.begins[index])
        flat = (self.pieces, self.cases, self.words)
        pieces, cases, words = (values[part].tolist() for values in flat)
        return Row(pieces, cases, words, n_words)

    @property
    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """RETURNS (tuple[np.ndarray, np.ndarray]): int64[windows], pieces, twice: `LengthSampler`
        asks for two sides."""
        lengths = np.diff(self.offsets)
        return lengths, lengths

    def to_disk(self, path: Path) -> None:
        """path (Path): file to write; without what teachers say."""
        names = ("pieces", "cases", "words", "offsets", "tags", "begins")
        write_arrays(path, {name: getattr(self, name) for name in names})

    @classmethod
    def from_disk(cls, path: Path) -> "TaggedRows":
        """path (Path): that `to_disk` wrote. RETURNS (TaggedRows): read.
        RAISES (AngelError): it is damaged."""
        return cls(**read_arrays(path))


def _none(kind: type) -> np.ndarray:
    return np.zeros(0, kind)


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """path (Path): file to write. arrays (dict[str, np.ndarray]): by name."""
    with replacing_path(path) as temporary:
        save_file({name: np.ascontiguousarray(own) for name, own in arrays.items()}, temporary)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """path (Path): that `write_arrays` wrote. RETURNS (dict[str, np.ndarray]): by name.
    RAISES (AngelError): it is damaged."""
    try:
        return load_file(path)
    except (OSError, ValueError, SafetensorError) as error:
        raise AngelError(
            f"{path} is damaged: {error}. Remove it, and run the same command again."
        ) from error


def digest_of(paths: Iterable[Path]) -> str:
    """paths (Iterable[Path]): files, and folders for all files in them, in an order.
    RETURNS (str): of what they hold, 12 hexadecimal digits."""
    whole = hashlib.md5(usedforsecurity=False)
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                whole.update(_digest_of_file(file))
    return whole.hexdigest()[:12]


def _digest_of_file(path: Path) -> bytes:
    own = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            own.update(block)
    return own.digest()
