"""Indexes of the stored names: opened or compiled on first use, then cached."""

from functools import cached_property
from typing import ClassVar, Generic, TypeVar

from typing_extensions import Self

from ..changes.overlay import VocabularyOverlay
from ..storage.arrays import Columns, Layout
from ..storage.compiled import COMPILING, CompiledNames, digest_of
from ..storage.strings import Strings, StringsBuilder


class NameIndex:
    """An index of names, stored as arrays.

    columns (Columns): the arrays of its `LAYOUT`.
    """

    LAYOUT: ClassVar[Layout]

    def __init__(self, columns: Columns) -> None:
        self.columns = columns

    @classmethod
    def build(cls, names: Strings) -> Self:
        """names (Strings): distinct names in normal form. RETURNS (NameIndex): in memory."""
        raise NotImplementedError

    @classmethod
    def source(cls) -> str:
        """RETURNS (str): digest of other data the index depends on; empty if there is none."""
        return ""


T = TypeVar("T", bound=NameIndex)


class CachedIndex(Generic[T]):
    """An index of the stored names, compiled once and saved in the folder of the vocabulary, and a
    small in-memory index of the names added since then.

    vocabulary (VocabularyOverlay): names and concepts.
    compiled (CompiledNames): stores the index.
    """

    INDEX: type[T]

    def __init__(self, vocabulary: VocabularyOverlay, compiled: CompiledNames) -> None:
        self._vocabulary = vocabulary
        self._compiled = compiled
        # version of the vocabulary, indices of the added names, and their index
        self._added: tuple[int, list[int], T | None] = (-1, [], None)

    @cached_property
    def index(self) -> T:
        """RETURNS (T): the index of the stored names, opened or compiled on first use."""
        names, index = self._vocabulary.table.names, self.INDEX
        parts = [*map(str, index.LAYOUT[:2]), index.source()]
        return self._compiled.get(
            digest_of(*filter(None, parts), self._compiled.fingerprint),
            index.LAYOUT,
            lambda: index.build(names).columns,
            index,
        )

    @property
    def added(self) -> tuple[list[int], T | None]:
        """RETURNS (tuple[list[int], T | None]): indices of the added names, and an index of these
        names, which is rebuilt after changes; None if there are no added names."""
        if self._added[0] != self._vocabulary.version:
            with COMPILING:
                version, names = self._vocabulary.version, self._vocabulary.added_names
                strings = StringsBuilder(names.values()).finish()
                self._added = version, [*names], self.INDEX.build(strings) if names else None
        return self._added[1:]
