"""Files for the readers: gzip seen through, pieces and lines with their numbers."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ..errors import AngelError, Errors
from .faults import FileReading, ReadingReport


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading, unpacking gzip (known by its first bytes).

    RAISES (AngelError): where it cannot be opened.
    """
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return cast(BinaryIO, gzip.open(path, "rb")) if packed else open(path, "rb")
    except OSError as error:
        raise AngelError(Errors.E402.format(path=path, error=error)) from error


def pieces(
    path: Path, size: int = 2**16, report: ReadingReport | None = None
) -> Iterator[tuple[int, bytes]]:
    """The file in pieces of at most one line, so that a syntax error has a line number.

    path (Path): file, plain or gzip.
    size (int): longest piece in bytes; a longer line comes in several.
    report (ReadingReport | None): its `position` is kept up to date.
    RETURNS (Iterator[tuple[int, bytes]]): line number from 1, bytes with the line end.
    RAISES (AngelError): where the file cannot be read, or its compression is cut or broken.
    """
    number = 1
    with open_binary(path) as file:
        stored = file.fileobj if isinstance(file, gzip.GzipFile) else file
        while True:
            try:
                piece = file.readline(size)
            except (OSError, EOFError, zlib.error) as error:
                where = f"{path}, line {number}"
                raise AngelError(Errors.E403.format(where=where, error=error)) from error
            if not piece:
                return
            if report is not None:
                report.position = stored.tell()
            yield number, piece
            if piece.endswith(b"\n"):
                number += 1


def numbered_lines(
    path: Path, reading: FileReading, fallback: str | None = None
) -> Iterator[tuple[int, str]]:
    """Lines of a UTF-8 file; only `\\n` ends a line, since texts hold other separators.

    path (Path): file, plain or gzip.
    reading (FileReading): gets the faults: a line that is not UTF-8 is left out or raises.
    fallback (str | None): encoding for lines that are not UTF-8, counted as `latin1_lines`.
    RETURNS (Iterator[tuple[int, str]]): line number from 1, line without its end.
    RAISES (AngelError): where the file cannot be read.
    """
    line = b""
    for number, piece in pieces(path, report=reading.report):
        line += piece
        if not piece.endswith(b"\n"):
            continue
        if (text := _decode(line, number, reading, fallback)) is not None:
            yield number, text
        line = b""
    if line:
        note = f"{reading.where(number)}: no line end; if there should be more, the file is cut"
        reading.report.count("unfinished_last_lines", note=note)
    if line and (text := _decode(line, number, reading, fallback)) is not None:
        yield number, text


def _decode(line: bytes, number: int, reading: FileReading, fallback: str | None) -> str | None:
    if number == 1:
        line = line.removeprefix(b"\xef\xbb\xbf")
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    try:
        return line.decode("utf8")
    except UnicodeDecodeError as error:
        if fallback is not None:
            reading.report.count("latin1_lines")
            return line.decode(fallback)
        reading.fault(Errors.E404.format(where=reading.where(number), error=error))
    return None
