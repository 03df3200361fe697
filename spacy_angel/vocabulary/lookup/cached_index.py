"""What is compiled from the stored names once: opened at its first use, and kept."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from typing_extensions import Self

from ..changes.overlay import VocabularyOverlay
from ..species.suffixes import StoredEntries
from ..storage.arrays import Columns, open_folder, write_folder
from ..storage.compiled import COMPILING, digest_of, open_or_compile
from ..storage.strings import Strings


class NameIndex:
    """An index of names as arrays.

    columns (Columns): those named in `COLUMNS`.
    names (Strings): the names that it was built from.
    """

    KIND: ClassVar[str]
    VERSION: ClassVar[int] = 1
    COLUMNS: ClassVar[tuple[str, ...]]

    def __init__(self, columns: Columns, names: Strings) -> None:
        self.columns = columns
        self.names = names

    def __reduce__(self) -> tuple[Any, ...]:
        # without what is cached
        return type(self), (self.columns, self.names)

    @classmethod
    def build(cls, names: Strings) -> Self:
        """names (Strings): in normal form, each once. RETURNS (NameIndex): theirs, in memory."""
        raise NotImplementedError

    @classmethod
    def from_disk(cls, path: Path, names: Strings) -> Self:
        """path (Path): as `to_disk` wrote it. names (Strings): those that it was built from.
        RETURNS (NameIndex): mapped. RAISES (AngelError): the folder is missing or damaged."""
        return cls(open_folder(path, cls.KIND, cls.VERSION, cls.COLUMNS)[0], names)

    def to_disk(self, path: Path) -> None:
        """path (Path): folder to write."""
        write_folder(path, self.KIND, self.VERSION, self.columns, {})

    @classmethod
    def layout(cls) -> str:
        """RETURNS (str): what the index is made of beside the names."""
        return f"{cls.KIND} {cls.VERSION}"


class CompiledNames:
    """Tries and indexes of the stored names. Copies of a vocabulary share them.

    fingerprint (str): of the stored names.
    folder (Path | None): where they are kept; None: in memory.
    """

    def __init__(self, fingerprint: str, folder: Path | None) -> None:
        self.fingerprint = fingerprint
        self.folder = folder
        self.in_use: dict[str, Any] = {}
        self.entries: StoredEntries | None = None
        """Names with their suffixes, where the vocabulary has some; in memory."""

    def get(
        self, key: str, what: str, read: Callable[[Path], Any], build: Callable[[], Any]
    ) -> Any:
        """key (str): a digest of all that it is made of, the name of its folder. what (str), read
        (Callable), build (Callable): see `open_or_compile`. RETURNS (Any): what is in use, else
        opened or compiled."""
        with COMPILING:
            if key not in self.in_use:
                folder = None if self.folder is None else self.folder / key
                self.in_use[key] = open_or_compile(folder, what, read, build)
        return self.in_use[key]

    def to_disk(self, folder: Path) -> None:
        """folder (Path): gets what was in use, unless it has it."""
        for key, compiled in self.in_use.items():
            if not (folder / key).exists():
                compiled.to_disk(folder / key)


T = TypeVar("T", bound=NameIndex)
A = TypeVar("A")


class CachedIndex(Generic[T]):
    """An index of the stored names that is compiled once and kept in the vocabulary's folder.

    vocabulary (VocabularyOverlay): names and concepts.
    compiled (CompiledNames): of the stored names.
    """

    INDEX: type[T]
    WHAT: ClassVar[str]
    """The index's name in a warning."""

    def __init__(self, vocabulary: VocabularyOverlay, compiled: CompiledNames) -> None:
        self._vocabulary = vocabulary
        self._compiled = compiled
        self._stored: T | None = None
        # what was made of the names that the table does not have, and the version that it is of
        self._added: tuple[int, Any] = (-1, None)

    @property
    def index(self) -> T:
        """RETURNS (T): of the stored names, opened or compiled at its first use."""
        if self._stored is None:
            names, index = self._vocabulary.table.names, self.INDEX
            self._stored = self._compiled.get(
                digest_of(index.layout(), self._compiled.fingerprint),
                self.WHAT,
                lambda path: index.from_disk(path, names),
                lambda: index.build(names),
            )
        assert self._stored is not None
        return self._stored

    def _of_added(self, make: Callable[[Mapping[int, str]], A]) -> A:
        """make (Callable[[Mapping[int, str]], A]): takes the names that the table does not have, by
        index. RETURNS (A): what it makes of them, made again after a change."""
        if self._added[0] != self._vocabulary.version:
            with COMPILING:
                version = self._vocabulary.version
                self._added = version, make(self._vocabulary.added_names)
        made: A = self._added[1]
        return made
