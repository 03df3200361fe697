"""What is compiled from a vocabulary once and kept: in its folder, or in the user's cache."""

import logging
import shutil
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Protocol, TypeVar

from ...errors import AngelError
from ...files.download import cache_folder

logger = logging.getLogger(__name__)

COMPILING = RLock()
"""Held while something is opened or compiled at its first use: of several threads, one does."""


class Compiled(Protocol):
    """A trie or an index that can be stored."""

    def to_disk(self, path: Path) -> None: ...


T = TypeVar("T", bound=Compiled)


def open_or_compile(
    folder: Path | None, what: str, read: Callable[[Path], T], build: Callable[[], T]
) -> T:
    """Open what was compiled before. Otherwise compile it and store it in the folder, or, where
    that cannot be written (a package that another user has installed), in the cache.

    folder (Path | None): where it is or will be, named after what it is compiled from; None keeps
        it in memory.
    what (str): its name in a warning, e.g. `name trie`.
    read (Callable[[Path], T]): opens the folder; a damaged one is compiled anew.
    build (Callable[[], T]): compiles it.
    RETURNS (T): mapped where it could be stored, else in memory.
    """
    if folder is None:
        return build()
    for path in _paths(folder):
        if not path.exists():
            continue
        try:
            return read(path)
        except AngelError as error:
            logger.warning(f"The stored {what} is compiled again. {error}")
            shutil.rmtree(path, ignore_errors=True)
    made = build()
    problem: Exception
    for path in _paths(folder):
        try:
            # If several processes compile it at once, that of the first is kept.
            if not path.exists():
                made.to_disk(path)
            return read(path)
        except (OSError, AngelError) as error:
            problem = error
    logger.warning(
        f"[W102] The {what} cannot be stored: {problem} Every process compiles it again; use a "
        "writable folder."
    )
    return made


def _paths(folder: Path) -> Iterator[Path]:
    yield folder
    yield compiled_cache() / folder.name


def compiled_cache() -> Path:
    """RETURNS (Path): folder of what was compiled for vocabularies without a folder of their
    own."""
    return cache_folder() / "compiled"


def digest_of(*parts: str) -> str:
    """RETURNS (str): name of a folder for what is compiled from these parts."""
    return blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()
