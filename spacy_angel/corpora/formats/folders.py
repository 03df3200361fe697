"""Folders with files of their own for each document: what the files are called."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from ...errors import AngelError
from ...files.atomic import replacing_path

# With an ending still a file name everywhere.
_MAX_NAME = 120


class FileNames:
    """Names of files, one for each document, none twice."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, doc_id: str) -> str:
        """doc_id (str): of a document.

        RETURNS (str): the same where it can be the name of a file; otherwise with `%` as in web
        addresses, `notes.txt%3A3`; a number behind one that is taken, `25763772-2`.
        """
        name = quote(doc_id, safe="")[:_MAX_NAME] or "document"
        if name.startswith("."):
            name = "%2E" + name[1:]
        free, number = name, 1
        # Some systems take `A` and `a` for one file.
        while free.lower() in self._taken:
            number += 1
            free = f"{name}-{number}"
        self._taken.add(free.lower())
        return free


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """path (Path): a folder that is not there yet, or is empty.

    YIELDS (Path): a temporary one, which is put in its place once it is whole.
    RAISES (AngelError): there is one with something in it, which an annotator may have corrected.
    """
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise AngelError(f"{path} already exists. Give a new folder.")
    with replacing_path(path) as temporary:
        temporary.mkdir()
        yield temporary
