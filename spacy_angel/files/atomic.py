"""Files and folders that are never seen half written: a temporary name first, then the true one."""

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
    """Write a file under a temporary name and put it in place once it is whole.

    path (Path): the file; its folder is made where it is missing.
    YIELDS (IO[bytes]): the open temporary file.
    """
    with replacing_path(path) as temporary, open(temporary, "wb") as file:
        yield file


@contextmanager
def replacing_path(path: Path) -> Iterator[Path]:
    """The same for what writes to a path: a library, a copy, a download.

    path (Path): a file, or a folder that is not there yet; its folder is made where it is missing.
    YIELDS (Path): a temporary name beside it, hidden and ending in `.new`, where nothing stands.
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
    """path (Path): the file. text (str): written as UTF-8."""
    with replacing(path) as file:
        file.write(text.encode("utf8"))


def write_json(path: Path, value: Any) -> None:
    """path (Path): the file. value (Any): plain values without NaN."""
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1))


@contextmanager
def replacing_folder(path: Path, is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    """Write a folder under a temporary name and put it in place once it is whole.

    path (Path): the folder. Of a symbolic link its target is replaced.
    is_ours (Callable[[Path], bool]): whether an entry of the folder that stands there is deleted
        with it; the others are moved into the new one, but for names that it has itself.
    YIELDS (Path): the temporary folder.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.parent / f".{path.name}.{uuid.uuid4().hex}.new"
    old = new.with_suffix(".old")
    moved: list[str] = []
    try:
        new.mkdir()
        yield new
        if path.exists():
            os.replace(path, old)
        os.replace(new, path)
        for entry in sorted(old.iterdir()) if old.exists() else ():
            if not is_ours(entry) and not (path / entry.name).exists():
                os.replace(entry, path / entry.name)
                moved.append(entry.name)
    except BaseException:
        if old.exists():
            for name in moved:
                os.replace(path / name, old / name)
            # still there: it could not be put in place, another process was faster
            if not new.exists():
                os.replace(path, new)
            if not path.exists():
                os.replace(old, path)
            shutil.rmtree(old, ignore_errors=True)
        raise
    else:
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)
