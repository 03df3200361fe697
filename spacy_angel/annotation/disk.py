"""Writing that outlives a machine, one process at a time, and what a disk says against it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import AngelError
from ..files.atomic import replacing
from ..files.system import advice, reason


def write_whole(path: Path, data: bytes) -> None:
    """path (Path), data (bytes): of a file. When this returns, it stays there though the machine
    may not."""
    with replacing(path) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if os.name == "posix":
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """path (Path): what is written. RAISES (AngelError): the file system refuses; says what to
    do."""
    try:
        yield
    except OSError as error:
        raise AngelError(
            f"[E824] {path} cannot be written: {reason(error)}. {advice(error)} The same command "
            "continues from there."
        ) from error


def lock(file: IO[bytes], folder: Path) -> None:
    """file (IO[bytes]): held for this process, where the system and the disk know such locks.
    folder (Path): that it stands in. RAISES (AngelError): another process holds it."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        raise AngelError(f"Another process is annotating into {folder}.") from error
    except OSError:
        # Some network disks have none.
        return
