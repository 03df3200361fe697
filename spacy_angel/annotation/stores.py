"""Files and folders, local or at addresses such as `s3://bucket/folder`, through fsspec."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from ..errors import AngelError
from ..files.atomic import replacing

RUN = "_run.json"
"""The file by which an output folder is recognized."""


def is_address(path: str | Path) -> bool:
    """RETURNS (bool): whether a path is an address in an object store."""
    return "://" in str(path)


def filesystem(path: str) -> tuple[Any, str]:
    """path (str): local path or address. RETURNS (tuple[Any, str]): its fsspec file system, and the
    path in it. RAISES (AngelError): the package for such addresses is missing."""
    import fsspec.core

    try:
        system, inside = fsspec.core.url_to_fs(path if is_address(path) else os.path.abspath(path))
    except (ImportError, ValueError) as error:
        raise AngelError(f"{path} cannot be opened: {error}.") from error
    return system, str(inside)


@contextmanager
def local_copy(path: str, n_bytes: int | None = None) -> Iterator[Path]:
    """Get a file for a library that reads local files only.

    path (str): local path or address. n_bytes (int | None): the beginning is enough.
    YIELDS (Path): the file itself, or a copy of the same name that exists until the context ends.
    """
    if not is_address(path):
        yield Path(path)
        return
    system, inside = filesystem(path)
    with TemporaryDirectory(prefix="spacy-angel-") as folder:
        copy = Path(folder, Path(inside).name)
        if n_bytes is None:
            system.get_file(inside, str(copy))
        else:
            copy.write_bytes(system.cat_file(inside, end=n_bytes))
        try:
            yield copy
        except AngelError as error:
            raise AngelError(str(error).replace(str(copy), path)) from error


class Store:
    """A folder whose files are written as a whole or not at all.

    path (str): local path or address.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._system, self._inside = filesystem(path)

    def create(self) -> None:
        """Create the folder if it is missing."""
        with self._writing():
            self._system.makedirs(self._inside, exist_ok=True)

    def sizes(self) -> dict[str, int]:
        """RETURNS (dict[str, int]): bytes of each file in the folder, by its name."""
        self._system.invalidate_cache()
        with suppress(FileNotFoundError):
            entries = self._system.ls(self._inside, detail=True)
            return {os.path.basename(entry["name"]): entry["size"] for entry in entries}
        return {}

    def read(self, name: str) -> bytes:
        """name (str): of a file. RETURNS (bytes): its content."""
        data: bytes = self._system.cat_file(f"{self._inside}/{name}")
        return data

    def write(self, name: str, data: bytes) -> None:
        """name (str), data (bytes): of a file, which survives a crash of the machine once this
        returns. RAISES (AngelError): it cannot be written."""
        with self._writing():
            if is_address(self.path):
                self._system.pipe_file(f"{self._inside}/{name}", data)
            else:
                _write_durably(Path(self._inside, name), data)

    def delete(self, name: str) -> None:
        """name (str): of a file that may be missing."""
        with self._writing(), suppress(FileNotFoundError):
            self._system.rm_file(f"{self._inside}/{name}")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out of the folder, where it can be locked: not in object stores.

        RAISES (AngelError): another process is working on it.
        """
        if fcntl is None or is_address(self.path):
            yield
            return
        handle = os.open(self._inside, os.O_RDONLY)
        try:
            # Some network disks have no locks.
            with suppress(OSError):
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except (BlockingIOError, PermissionError) as error:
                    raise AngelError(f"Another process is annotating into {self.path}.") from error
            yield
        finally:
            os.close(handle)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or error
            raise AngelError(f"{self.path} cannot be written: {reason}.") from error


def _write_durably(path: Path, data: bytes) -> None:
    with replacing(path) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
