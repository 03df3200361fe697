"""Files of a vocabulary as numbered lines: gzip seen through, UTF-8 checked, progress shown."""

import gzip
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from tqdm import tqdm

from ...errors import AngelError, Errors, Warnings

_GZIP = b"\x1f\x8b"
_PIECES_PER_UPDATE = 1 << 13


def read_pieces(path: Path, limit: int = -1) -> Iterator[tuple[int, bytes]]:
    """The bytes of a file, decompressed, line by line.

    path (Path): a file, gzipped or not.
    limit (int): longest piece in bytes; a longer line comes in several. -1: whole lines.
    YIELDS (tuple[int, bytes]): the number of the line (from 1), the line or a piece of it.
    RAISES (AngelError): the file cannot be read, or is a damaged gzip file.
    """
    number = 1
    try:
        with (
            path.open("rb") as raw,
            # Short files show no bar, and neither does what is no terminal (disable=None).
            tqdm(
                total=path.stat().st_size,
                desc=path.name,
                unit="B",
                unit_scale=True,
                leave=False,
                delay=2,
                disable=None,
            ) as bar,
        ):
            zipped = raw.peek(2).startswith(_GZIP)
            file = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if zipped else raw
            for count, piece in enumerate(iter(lambda: file.readline(limit), b"")):
                yield number, piece
                number += piece.endswith(b"\n")
                if count % _PIECES_PER_UPDATE == 0:
                    bar.update(raw.tell() - bar.n)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise AngelError(Errors.E201.format(path=path, line=number, reason=error)) from error
    except OSError as error:
        reason = error.strerror or error
        raise AngelError(Errors.E200.format(path=path, reason=reason)) from error


def read_lines(path: Path, cut_shows: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file. Where the last one does not end with a line break, the file may
    have been cut there, and a warning says so.

    path (Path): a file, gzipped or not.
    cut_shows (bool): a line that is cut is an error for the reader anyway, so that there is no
        need to warn.
    YIELDS (tuple[int, str]): the number of the line (from 1), the line without its end.
    RAISES (AngelError): as `read_pieces`, and where a line is not UTF-8 text.
    """
    number, piece = 0, b"\n"
    for number, piece in read_pieces(path):
        try:
            line = piece.decode("utf-8")
        except UnicodeDecodeError as error:
            reason = f"byte 0x{piece[error.start]:02x} at column {error.start + 1}"
            raise AngelError(Errors.E202.format(path=path, line=number, reason=reason)) from error
        if "\0" in line:
            # UTF-16 without its mark decodes as UTF-8 with a NUL beside every letter.
            raise AngelError(Errors.E202.format(path=path, line=number, reason="a NUL character"))
        yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
    if not cut_shows and not piece.endswith(b"\n"):
        warnings.warn(Warnings.W201.format(path=path, line=number), stacklevel=2)


def wrong(path: Path, line: int, expected: str, found: object) -> AngelError:
    """The error for a line that is not what its format asks for.

    path (Path): the file. line (int): number of the line, from 1.
    expected (str): what the format has there.
    found (object): what came instead; shortened for the message.
    RETURNS (AngelError): to be raised.
    """
    text = repr(found)
    text = text if len(text) <= 80 else f"{text[:76]} ..."
    return AngelError(Errors.E203.format(path=path, line=line, expected=expected, found=text))
