"""One thing to annotate."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Input:
    """A file to annotate, or a folder of plain texts, which are one document each.

    name (str): the path as it was given.
    paths (tuple[Path, ...]): the files.
    format (str): one of `inputs.input_formats()`.
    size (int): bytes of all files.
    """

    name: str
    paths: tuple[Path, ...]
    format: str
    size: int
