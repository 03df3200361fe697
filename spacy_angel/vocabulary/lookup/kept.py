"""What finds names of a vocabulary by an index of those that are stored."""

from abc import ABC, abstractmethod
from hashlib import blake2b
from pathlib import Path
from typing import Generic, TypeVar

from ..changes.live import LiveVocabulary
from ..storage.compiled import COMPILING, Compiled, open_or_compile

T = TypeVar("T", bound=Compiled)


class KeptIndex(ABC, Generic[T]):
    """An index that is compiled once, and kept in the vocabulary's folder.

    vocabulary (LiveVocabulary): names and concepts.
    fingerprint (str): of the stored names.
    folder (Path | None): where the index is kept, by fingerprint; None keeps it in memory.
    """

    WHAT: str
    """The index's name in a warning."""

    def __init__(self, vocabulary: LiveVocabulary, fingerprint: str, folder: Path | None) -> None:
        self.folder = folder
        self._vocabulary = vocabulary
        self._fingerprint = fingerprint
        self._stored: T | None = None
        self._shared: KeptIndex[T] | None = None

    @property
    def index(self) -> T:
        """RETURNS (T): of the stored names, opened or compiled if it is not yet."""
        if self._shared is not None:
            return self._shared.index
        if self._stored is None:
            with COMPILING:
                if self._stored is None:
                    folder = None if self.folder is None else self.folder / self._name()
                    self._stored = open_or_compile(folder, self.WHAT, self._read, self._build)
        return self._stored

    def share(self, other: "KeptIndex[T]") -> None:
        """other (KeptIndex): of the same stored names, whose index is used."""
        self._shared = other

    def to_disk(self, folder: Path) -> None:
        """folder (Path): gets the index of the stored names, if it was in use."""
        if self._stored is not None:
            self._stored.to_disk(folder / self._name())

    def _name(self) -> str:
        key = f"{self._version_of_index()} {self._fingerprint}"
        return blake2b(key.encode(), digest_size=16).hexdigest()

    @abstractmethod
    def _version_of_index(self) -> str:
        """Of what, beside the names, the index is made."""

    @abstractmethod
    def _read(self, path: Path) -> T: ...

    @abstractmethod
    def _build(self) -> T: ...
