"""Digests that identify files and folders across runs."""

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path


def digest(files: Iterable[tuple[str, Path]]) -> str:
    """Compute a digest of the names and contents of files, which are read in blocks.

    files (Iterable[tuple[str, Path]]): pairs of name and path. An empty name leaves the name out of
        the digest, e.g. for files that may be renamed.
    RETURNS (str): the SHA-256 digest in hexadecimal. For a single file with an empty name, it is
        the digest of its content.
    """
    state = sha256()
    for name, path in files:
        if name:
            state.update(os.fsencode(f"{name}\0{path.stat().st_size}\0"))
        with open(path, "rb") as file:
            while block := file.read(2**20):
                state.update(block)
    return state.hexdigest()
