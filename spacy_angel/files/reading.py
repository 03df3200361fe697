"""Reading of files in pieces and lines, with line numbers, gzip, and progress bars.

Limits make sure that reading a hostile or damaged file ends with an error and not after hours or
gigabytes: the length of a line and the compression ratio here, the size and depth of an object in
`json_stream` and `xml_stream`.
"""

import gzip
import itertools
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from tqdm import tqdm

from ..errors import AngelError, cannot_read
from .faults import FileReading

PIECE_BYTES = 2**16
# A full text with all its mentions has a few million.
MAX_LINE_BYTES = 2**24
# Texts and tables shrink to a fifth or a tenth. Files that unpack to less than the second number
# are harmless.
MAX_PACKING = 300
PACKING_MATTERS_FROM = 2**26

# Counter of files whose last line has no line end.
UNFINISHED = "unfinished_last_lines"

_GZIP = b"\x1f\x8b"
_PIECES_PER_UPDATE = 2**13
_BOM = b"\xef\xbb\xbf"


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading; gzip is recognized by its first bytes.

    RAISES (AngelError): it cannot be opened.
    """
    try:
        with open(path, "rb") as file:
            first = file.read(2)
        if first and _GZIP.startswith(first):  # also a file cut after one byte
            return cast(BinaryIO, gzip.open(path, "rb"))
        return open(path, "rb")
    except OSError as error:
        raise AngelError(cannot_read(path, error.strerror or error)) from error


def pieces(
    path: Path,
    reading: FileReading | None = None,
    size: int = PIECE_BYTES,
    *,
    by_line: bool = True,
) -> Iterator[tuple[int, bytes]]:
    """Read a file in pieces of at most one line, so that a syntax error has a line number.

    path (Path): file, plain or gzip.
    reading (FileReading | None): its report's `position` is updated; asks for progress.
    size (int): maximum bytes of a piece; longer lines come in several.
    by_line (bool): if False, pieces end anywhere.
    YIELDS (tuple[int, bytes]): number of the line in which the piece begins, from 1; bytes with
        line ends.
    RAISES (AngelError): the file cannot be read, is cut or damaged, or unpacks to more than
        MAX_PACKING times its size.
    """
    number, unpacked = 1, 0
    with open_binary(path) as file, _bar(path, reading) as bar:
        stored = file.fileobj if isinstance(file, gzip.GzipFile) else None
        read = file.readline if by_line else file.read
        for count in itertools.count():
            try:
                piece = read(size)
            except (OSError, EOFError, zlib.error) as error:
                message = f"{path}, line {number}: the file is cut or damaged ({error})."
                raise AngelError(message) from error
            if not piece:
                return
            unpacked += len(piece)
            position = unpacked if stored is None else stored.tell()
            check_packing(unpacked, position, f"{path}, line {number}")
            if reading is not None:
                reading.report.position = position
            if count % _PIECES_PER_UPDATE == 0:
                bar.update(position - bar.n)
            yield number, piece
            number += piece.endswith(b"\n") if by_line else piece.count(b"\n")


def check_packing(unpacked: int, packed: int, where: str) -> None:
    """unpacked (int), packed (int): bytes so far. where (str): file and line.

    RAISES (AngelError): the file unpacks to more than MAX_PACKING times its size.
    """
    if unpacked > PACKING_MATTERS_FROM and unpacked > MAX_PACKING * packed:
        raise AngelError(f"{where}: the file unpacks to over {MAX_PACKING} times its size.")


def _bar(path: Path, reading: FileReading | None) -> "tqdm[NoReturn]":
    """No bar for short files (delay) and where there is no terminal (disable=None)."""
    return tqdm(
        total=path.stat().st_size,
        desc=path.name,
        unit="B",
        unit_scale=True,
        leave=False,
        delay=2,
        disable=None if reading is not None and reading.progress else True,
    )


def numbered_lines(
    path: Path, reading: FileReading, fallback: str | None = None
) -> Iterator[tuple[int, str]]:
    """Lines of a UTF-8 file; only `\\n` ends a line, since texts contain other separators.

    path (Path): file, plain or gzip.
    reading (FileReading): gets the faults: lines that are not UTF-8, or longer than MAX_LINE_BYTES.
    fallback (str | None): encoding of lines that are not UTF-8, counted as `latin1_lines`.
    YIELDS (tuple[int, str]): line number from 1, line without its end.
    RAISES (AngelError): the file cannot be read.
    """
    is_cut = False
    for number, piece in pieces(path, reading, MAX_LINE_BYTES + 1):
        is_rest, is_cut = is_cut, not piece.endswith(b"\n")
        if is_rest:
            continue
        if len(piece) > MAX_LINE_BYTES:
            reading.fault_at(number, f"the line has more than {MAX_LINE_BYTES} bytes.")
        elif (text := _line(piece, number, reading, fallback)) is not None:
            yield number, text
    if is_cut:
        note = f"{reading.where(number)}: no line end; the file may be cut"
        reading.report.count(UNFINISHED, note=note)


def _line(line: bytes, number: int, reading: FileReading, fallback: str | None) -> str | None:
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    try:
        return (line.removeprefix(_BOM) if number == 1 else line).decode("utf8")
    except UnicodeDecodeError as error:
        if fallback is not None:
            reading.report.count("latin1_lines")
            return line.decode(fallback)
        reading.fault(_not_utf8(error, reading.name, number))
    return None


def decoded(data: bytes, path: Path) -> str:
    """data (bytes): content of a file. path (Path): names it.

    RETURNS (str): the text, without a byte order mark.
    RAISES (AngelError): it is not UTF-8; names the line.
    """
    try:
        return data.removeprefix(_BOM).decode("utf8")
    except UnicodeDecodeError as error:
        raise AngelError(_not_utf8(error, str(path), 1)) from error


def _not_utf8(error: UnicodeDecodeError, name: str, number: int) -> str:
    *before, last = error.object[: error.start].split(b"\n")
    return (
        f"{name}, line {number + len(before)}: expected UTF-8 text, found byte "
        f"0x{error.object[error.start]:02x} at column {len(last) + 1}. Convert the file to UTF-8."
    )
