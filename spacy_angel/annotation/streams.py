"""Standard input as an input, and an output as standard output."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from ..errors import AngelError
from .outputs import OUTPUT_FORMATS

STREAM = "-"
# What standard input holds if nothing is said.
STREAM_FORMAT = "jsonl"


def standard_input(folder: Path) -> Path:
    """Keep standard input in a file, so that it can be read twice.

    folder (Path): gets it. RETURNS (Path): the file.
    """
    path = folder / "stdin"
    with open(path, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def check_stream_format(format: str) -> None:
    """format (str): of the output. RAISES (AngelError): its files cannot follow each other in one
    stream."""
    if format in OUTPUT_FORMATS and not OUTPUT_FORMATS[format].is_stream:
        known = ", ".join(name for name, value in OUTPUT_FORMATS.items() if value.is_stream)
        raise AngelError(
            f"{format} cannot be written to standard output. Use one of {known}, or --output."
        )


def shard_writer(format: str, file: BinaryIO) -> Callable[[Path], None]:
    """Let the shards of an output follow each other in one stream.

    format (str): of the output. file (BinaryIO): gets them; names of columns once.
    RETURNS (Callable[[Path], None]): takes each shard's file, in order.
    """
    has_header = OUTPUT_FORMATS[format].has_header
    is_first = True

    def write(shard: Path) -> None:
        nonlocal is_first
        with open(shard, "rb") as source:
            if has_header and not is_first:
                source.readline()
            shutil.copyfileobj(source, file)
        file.flush()
        is_first = False

    return write
