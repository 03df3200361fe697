"""Indexes of the stored names that are compiled once and kept."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Generic, TypeVar

from ..changes.overlay import VocabularyOverlay
from ..storage.compiled import COMPILING, Compiled, digest_of, open_or_compile

T = TypeVar("T", bound=Compiled)


class CachedIndex(ABC, Generic[T]):
    """An index that is compiled once and kept in the vocabulary's folder.

    vocabulary (VocabularyOverlay): names and concepts.
    fingerprint (str): of the stored names.
    folder (Path | None): where the index is kept; None keeps it in memory.
    """

    WHAT: str
    """The index's name in a warning."""
    LAYOUT: str
    """What the index is made of beside the names."""

    def __init__(
        self, vocabulary: VocabularyOverlay, fingerprint: str, folder: Path | None
    ) -> None:
        self.folder = folder
        self._vocabulary = vocabulary
        self._fingerprint = fingerprint
        self._stored: T | None = None
        self._shared: CachedIndex[T] | None = None

    @property
    def index(self) -> T:
        """RETURNS (T): of the stored names, opened or compiled at its first use."""
        if self._shared is not None:
            return self._shared.index
        if self._stored is None:
            with COMPILING:
                if self._stored is None:
                    folder = None if self.folder is None else self.folder / self._key
                    self._stored = open_or_compile(folder, self.WHAT, self._read, self._build)
        return self._stored

    def share(self, other: "CachedIndex[T]") -> None:
        """other (CachedIndex): of the same stored names, whose index is used."""
        self._shared = other

    def to_disk(self, folder: Path) -> None:
        """folder (Path): gets the index if it was in use."""
        if self._stored is not None:
            self._stored.to_disk(folder / self._key)

    @property
    def _key(self) -> str:
        return digest_of(self.LAYOUT, self._fingerprint)

    @abstractmethod
    def _read(self, path: Path) -> T: ...

    @abstractmethod
    def _build(self) -> T: ...
