"""Atomic writes: files and folders have a temporary name until they are complete."""

import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write a file under a temporary name and move it into place once it is complete.

    path (Path): the file; its folder is created if it is missing.
    YIELDS (IO[bytes]): the open temporary file.
    """
    with replacing_path(path) as temporary, open(temporary, "wb") as file:
        yield file


@contextmanager
def replacing_path(path: Path) -> Iterator[Path]:
    """Like `replacing`, for code that needs a path instead of an open file.

    path (Path): a file, or a folder that does not exist yet; its parent is created if needed.
    YIELDS (Path): an unused, hidden path in the same folder, with the suffix `.new`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically.

    path (Path): the file to write.
    text (str): the content, encoded as UTF-8.
    """
    with replacing(path) as file:
        file.write(text.encode("utf8"))


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically.

    path (Path): the file to write.
    value (Any): any JSON-serializable value without NaN.
    """
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1))


@contextmanager
def replacing_folder(path: Path, is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    """Write a folder under a temporary name and move it into place once it is complete.

    path (Path): the folder. If it is a symbolic link, its target is replaced.
    is_ours (Callable[[Path], bool]): whether to replace an entry of the existing folder. All
        other entries are moved to the new folder, unless it has an entry with the same name.
    YIELDS (Path): the temporary folder.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.parent / f".{path.name}.{uuid.uuid4().hex}.new"
    old = new.with_suffix(".old")
    try:
        new.mkdir()
        yield new
        if path.exists():
            os.replace(path, old)
        try:
            os.replace(new, path)
        except OSError:
            # Restore the old folder, unless another process has already put one in place.
            if not path.exists():
                os.replace(old, path)
            raise
        for entry in sorted(old.iterdir()) if old.exists() else ():
            if not is_ours(entry) and not (path / entry.name).exists():
                os.replace(entry, path / entry.name)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)
