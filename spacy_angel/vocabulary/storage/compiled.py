"""What is compiled from a vocabulary once and kept: in its folder, or in the user's cache."""

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import RLock
from typing import Protocol, TypeVar

from ...errors import AngelError
from ...files.download import cache_folder

logger = logging.getLogger(__name__)

COMPILING = RLock()
"""Held while something is opened or compiled at its first use: of several threads, one does."""


class Compiled(Protocol):
    """A trie or an index, as it is kept."""

    def to_disk(self, path: Path) -> None: ...


T = TypeVar("T", bound=Compiled)


def open_or_compile(
    folder: Path | None, what: str, read: Callable[[Path], T], build: Callable[[], T]
) -> T:
    """Open what was compiled before; else compile it, and put it in the folder for the next time,
    or, where that cannot be written (a package that another user has installed), in the cache.

    folder (Path | None): where it is, or will be, named after what it is compiled from; None keeps
        it in memory.
    what (str): its name in a warning, e.g. `name trie`.
    read (Callable[[Path], T]): opens the folder; one that is damaged is compiled anew.
    build (Callable[[], T]): compiles it.
    RETURNS (T): mapped where it could be stored, else in memory.
    """
    if folder is None:
        return build()
    for place in _places(folder):
        if not place.exists():
            continue
        try:
            return read(place)
        except AngelError as error:
            logger.warning(f"The stored {what} is compiled again. {error}")
            shutil.rmtree(place, ignore_errors=True)
    made = build()
    problem: Exception
    for place in _places(folder):
        try:
            # Of several processes that compile at once the first one's stays.
            if not place.exists():
                made.to_disk(place)
            return read(place)
        except (OSError, AngelError) as error:
            problem = error
    logger.warning(
        f"[W102] The {what} cannot be stored: {problem} Every process makes it again; use a folder "
        "that can be written."
    )
    return made


def _places(folder: Path) -> Iterator[Path]:
    yield folder
    # Asked for only where it is needed: what knows it takes its time to import.
    yield cache_folder() / "compiled" / folder.name
