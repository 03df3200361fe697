"""What is compiled from a vocabulary once and kept in its folder."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from ..errors import AngelError, Warnings

logger = logging.getLogger(__name__)


class Compiled(Protocol):
    """A trie or an index, as it is kept."""

    def to_disk(self, path: Path) -> None: ...


T = TypeVar("T", bound=Compiled)


def open_or_compile(
    folder: Path | None, what: str, read: Callable[[Path], T], build: Callable[[], T]
) -> T:
    """Open what was compiled before; else compile it, and put it in the folder for the next time.

    folder (Path | None): where it is, or will be; None keeps it in memory.
    what (str): its name in a warning, e.g. `name trie`.
    read (Callable[[Path], T]): opens the folder; one that is damaged is compiled anew.
    build (Callable[[], T]): compiles it.
    RETURNS (T): mapped where it could be stored, else in memory.
    """
    if folder is not None and folder.exists():
        try:
            return read(folder)
        except AngelError as error:
            logger.warning(Warnings.W101.format(what=what, error=error))
            shutil.rmtree(folder, ignore_errors=True)
    made = build()
    if folder is None:
        return made
    try:
        made.to_disk(folder)
        return read(folder)
    except OSError as error:
        logger.warning(Warnings.W102.format(what=what, error=error))
        return made
