"""Standard input as an input, and an output as standard output."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import AngelError, Errors
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
        raise AngelError(Errors.E826.format(format=format, known=known))


def write_shards(folder: Path, manifest: Mapping[str, Any], file: BinaryIO) -> None:
    """Write the shards of an output one after the other.

    folder (Path): the output. manifest (Mapping[str, Any]): its manifest.
    file (BinaryIO): gets them; names of columns once.
    """
    has_header = OUTPUT_FORMATS[manifest["settings"]["output_format"]].has_header
    for number, shard in enumerate(manifest["shards"]):
        with open(folder / shard["file"], "rb") as source:
            if has_header and number:
                source.readline()
            shutil.copyfileobj(source, file)
    file.flush()
