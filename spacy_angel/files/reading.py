"""Reading of plain and gzip files in pieces or lines, with line numbers.

Limits ensure that a malicious or damaged file causes an error instead of using hours of time or
gigabytes of memory. This module limits the length of a line and the compression ratio;
`json_values` limits the depth of an object.
"""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ..errors import AngelError, cannot_read
from .faults import FileReading

PIECE_BYTES = 2**16
# A full-text article with all its mentions takes a few million bytes.
MAX_LINE_BYTES = 2**24
# Maximum compression ratio; for texts and tables, it is typically 5 to 10. Files that unpack to at
# most PACKING_MATTERS_FROM bytes are not checked.
MAX_PACKING = 300
PACKING_MATTERS_FROM = 2**26

# Counter of files whose last line does not end with a line break.
UNFINISHED = "unfinished_last_lines"

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading; gzip is recognized by its first bytes.

    RAISES (AngelError): if the file cannot be opened.
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
    """Read a file in pieces of at most one line, so that errors can include the line number.

    path (Path): file, plain or gzip.
    reading (FileReading | None): receives the current position in its report.
    size (int): maximum number of bytes in a piece; longer lines are split.
    by_line (bool): end pieces at line breaks. If False, a piece may contain several lines.
    YIELDS (tuple[int, bytes]): number of the line in which the piece starts, counted from 1, and
        the bytes of the piece, including line breaks.
    RAISES (AngelError): if the file cannot be read, is truncated or damaged, or unpacks to more
        than MAX_PACKING times its size.
    """
    number, unpacked = 1, 0
    with open_binary(path) as file:
        stored = file.fileobj if isinstance(file, gzip.GzipFile) else None
        read = file.readline if by_line else file.read
        while True:
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
            yield number, piece
            number += piece.endswith(b"\n") if by_line else piece.count(b"\n")


def check_packing(unpacked: int, packed: int, where: str) -> None:
    """Check the compression ratio of a file.

    unpacked (int), packed (int): number of bytes read so far, after and before decompression.
    where (str): file name and line number, for the error message.
    RAISES (AngelError): if the file unpacks to more than MAX_PACKING times its size.
    """
    if unpacked > PACKING_MATTERS_FROM and unpacked > MAX_PACKING * packed:
        raise AngelError(f"{where}: the file unpacks to over {MAX_PACKING} times its size.")


def numbered_lines(
    path: Path, reading: FileReading, fallback: str | None = None
) -> Iterator[tuple[int, str]]:
    """Read the lines of a UTF-8 file. Only `\\n` ends a line: texts may contain other separators.

    path (Path): file, plain or gzip.
    reading (FileReading): handles faults, i.e. lines that are not valid UTF-8 or are longer than
        MAX_LINE_BYTES.
    fallback (str | None): encoding of lines that are not valid UTF-8; they are counted as
        `latin1_lines`.
    YIELDS (tuple[int, str]): line number, counted from 1, and the line without its line break.
    RAISES (AngelError): if the file cannot be read.
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
    """Decode the content of a UTF-8 file.

    data (bytes): content of the file.
    path (Path): path of the file, for the error message.
    RETURNS (str): the text, without a byte order mark.
    RAISES (AngelError): if the content is not valid UTF-8. The message includes the line number.
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
