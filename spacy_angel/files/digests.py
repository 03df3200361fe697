"""Digests of files and folders, by which later runs recognize them."""

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path


def digest(files: Iterable[tuple[str, Path]]) -> str:
    """Digest names and contents of files, without reading a file into memory as a whole.

    files (Iterable[tuple[str, Path]]): each file with its name; the name of a file that moves may
        be empty.
    RETURNS (str): SHA-256 in hexadecimal digits; with one file without a name, that of its content.
    """
    state = sha256()
    for name, path in files:
        if name:
            state.update(os.fsencode(f"{name}\0{path.stat().st_size}\0"))
        with open(path, "rb") as file:
            while block := file.read(2**20):
                state.update(block)
    return state.hexdigest()
