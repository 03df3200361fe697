"""Data compiled once from a stored vocabulary, and cached in its folder or in the user's cache:
tries and indexes of its names, and its columns if they are stored compressed."""

import json
import logging
import shutil
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from ...errors import AngelError
from ...files.download import cache_folder
from .arrays import PACKED, TRIES, Columns, Layout, decompress, open_folder, read_meta, write_folder

logger = logging.getLogger(__name__)

COMPILING = RLock()
"""Held while data is opened or compiled, so that only one thread at a time does so."""
T = TypeVar("T")


class CompiledNames:
    """Tries and indexes of the stored names, shared by copies of a vocabulary.

    fingerprint (str): fingerprint of the stored names.
    folder (Path | None): folder to store them in; None: keep them in memory.
    """

    def __init__(self, fingerprint: str, folder: Path | None) -> None:
        self.fingerprint = fingerprint
        self.folder = folder
        self._in_use: dict[str, tuple[Layout, Columns, Any]] = {}

    def get(
        self,
        key: str,
        layout: Layout,
        build: Callable[[], Columns],
        make: Callable[[Columns], T],
    ) -> T:
        """Open a trie or index, or compile and store it. It is stored in the folder or, if that is
        read-only (e.g. in a package installed by another user), in the user's cache.

        key (str): digest of all inputs of the compilation, used as folder name.
        layout (Layout): layout of the arrays.
        build (Callable[[], Columns]): compiles the arrays.
        make (Callable[[Columns], T]): creates the object from the arrays.
        RETURNS (T): the object, which is created only once; its arrays are mapped if they could be
            stored.
        """
        with COMPILING:
            if key not in self._in_use:
                columns = self._open(key, layout) or self._store(key, layout, build())
                self._in_use[key] = layout, columns, make(columns)
        made: T = self._in_use[key][-1]
        return made

    def to_disk(self, folder: Path) -> None:
        """folder (Path): where to write the tries and indexes in use; existing ones are kept."""
        for key, (layout, columns, _) in self._in_use.items():
            if not (folder / key).exists():
                write_folder(folder / key, layout, columns, {})

    def _folders(self, key: str) -> Iterator[Path]:
        if self.folder is not None:
            yield self.folder / key
            yield compiled_cache() / key

    def _open(self, key: str, layout: Layout) -> Columns | None:
        for path in self._folders(key):
            if path.exists():
                try:
                    return open_folder(path, layout)[0]
                except AngelError as error:
                    logger.warning(f"The stored {layout.kind} is compiled again. {error}")
                    shutil.rmtree(path, ignore_errors=True)
        return None

    def _store(self, key: str, layout: Layout, columns: Columns) -> Columns:
        problem: Exception | None = None
        for path in self._folders(key):
            try:
                # If several processes compile it at once, the first result is kept.
                if not path.exists():
                    write_folder(path, layout, columns, {})
                return open_folder(path, layout)[0]
            except (OSError, AngelError) as error:
                problem = error
        if problem is not None:
            logger.warning(
                f"[W102] The {layout.kind} cannot be stored: {problem} Every process compiles it "
                "again; use a writable folder."
            )
        return columns


def open_vocabulary(path: Path, layout: Layout) -> tuple[Columns, dict[str, Any]]:
    """Open a folder of arrays. Compressed arrays are decompressed once, and mapped from then on.

    path (Path), layout (Layout): see `open_folder`.
    RETURNS (tuple[Columns, dict[str, Any]]): the arrays and the metadata.
    RAISES (AngelError): see `open_folder`.
    """
    if not (path / PACKED).is_file():
        return open_folder(path, layout)
    meta = read_meta(path, layout)
    whole = Layout(f"decompressed {layout.kind}", layout.version, tuple(meta["columns"]))
    key = digest_of(json.dumps(meta["columns"], sort_keys=True))
    store = CompiledNames("", path / TRIES)
    return store.get(key, whole, lambda: decompress(path, meta), lambda columns: columns), meta


def compiled_cache() -> Path:
    """RETURNS (Path): folder for data compiled from vocabularies that have no folder."""
    return cache_folder() / "compiled"


def digest_of(*parts: str) -> str:
    """RETURNS (str): folder name for data compiled from these parts."""
    return blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()
