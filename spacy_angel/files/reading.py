"""Files for the readers: gzip seen through, pieces and lines with their numbers, progress shown.

What a file can ask for is limited, so that a hostile or damaged one ends in a message and not in
hours or gigabytes: the length of a line here, the size of an object and its depth in `json_stream`
and `xml_stream`, and how far a compressed file unpacks.
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
# The longest line; a full text with all its mentions has a few million.
MAX_LINE_BYTES = 2**24
# Texts and tables pack to a fifth or a tenth, never to a 300th; what is smaller than the second
# number does no harm.
MAX_PACKING = 300
PACKING_MATTERS_FROM = 2**26

# Counter of files of which the last line does not end.
UNFINISHED = "unfinished_last_lines"

_GZIP = b"\x1f\x8b"
_PIECES_PER_UPDATE = 2**13


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading, unpacking gzip (known by its first bytes).

    RAISES (AngelError): where it cannot be opened, or is a gzip file of which not even the first
        two bytes are there.
    """
    try:
        with open(path, "rb") as file:
            first = file.read(2)
        is_packed = first == _GZIP
        if not is_packed and (first == _GZIP[:1] or (path.suffix == ".gz" and len(first) < 2)):
            error = f"{len(first)} bytes are no gzip file"
            raise AngelError(f"{path}, line 1: the file is cut or damaged ({error}).")
        return cast(BinaryIO, gzip.open(path, "rb")) if is_packed else open(path, "rb")
    except OSError as error:
        raise AngelError(cannot_read(path, error.strerror or error)) from error


def pieces(
    path: Path,
    reading: FileReading | None = None,
    size: int = PIECE_BYTES,
    *,
    by_line: bool = True,
) -> Iterator[tuple[int, bytes]]:
    """The file in pieces of at most one line, so that a syntax error has a line number.

    path (Path): file, plain or gzip.
    reading (FileReading | None): its report's `position` is kept up to date; asks for progress.
    size (int): longest piece in bytes; a longer line comes in several.
    by_line (bool): if not, pieces end wherever they are full.
    YIELDS (tuple[int, bytes]): number of the line in which it begins, from 1; bytes with the line
        ends.
    RAISES (AngelError): where the file cannot be read, its compression is cut or broken, or it
        unpacks to more than MAX_PACKING times its size.
    """
    number, unpacked = 1, 0
    with open_binary(path) as file, _bar(path, reading) as bar:
        stored = file.fileobj if isinstance(file, gzip.GzipFile) else None
        read = file.readline if by_line else file.read
        for count in itertools.count():
            try:
                piece = read(size)
            except (OSError, EOFError, zlib.error) as error:
                where = f"{path}, line {number}"
                raise AngelError(f"{where}: the file is cut or damaged ({error}).") from error
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


def whole(path: Path, limit: int, reading: FileReading | None = None) -> bytes | None:
    """A file that is in memory whole.

    path (Path): file, plain or gzip. limit (int): bytes that it may have, unpacked.
    reading (FileReading | None): as `pieces`.
    RETURNS (bytes | None): its content; None where that is longer.
    RAISES (AngelError): as `pieces`.
    """
    parts: list[bytes] = []
    size = 0
    for _, piece in pieces(path, reading):
        parts.append(piece)
        size += len(piece)
        if size > limit:
            return None
    return b"".join(parts)


def check_packing(unpacked: int, packed: int, where: str) -> None:
    """unpacked (int), packed (int): bytes so far. where (str): file and line.

    RAISES (AngelError): it unpacks to more than MAX_PACKING times its size.
    """
    if unpacked > PACKING_MATTERS_FROM and unpacked > MAX_PACKING * packed:
        raise AngelError(f"[E905] {where}: the file unpacks to over {MAX_PACKING} times its size.")


def _bar(path: Path, reading: FileReading | None) -> "tqdm[NoReturn]":
    """Short files show no bar, and neither does what is no terminal (disable=None)."""
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
    """Lines of a UTF-8 file; only `\\n` ends a line, since texts hold other separators.

    path (Path): file, plain or gzip.
    reading (FileReading): gets the faults: a line that is not UTF-8, or longer than
        MAX_LINE_BYTES, is left out or raises.
    fallback (str | None): encoding for lines that are not UTF-8, counted as `latin1_lines`.
    YIELDS (tuple[int, str]): line number from 1, line without its end.
    RAISES (AngelError): where the file cannot be read.
    """
    parts: list[bytes] = []
    length = number = 0
    for number, piece in pieces(path, reading):
        length += len(piece)
        if length <= MAX_LINE_BYTES:
            parts.append(piece)
        elif parts:
            parts = []
            reading.fault(
                f"{reading.where(number)}: the line has more than {MAX_LINE_BYTES} bytes."
            )
        if not piece.endswith(b"\n"):
            continue
        if parts and (text := _decode(b"".join(parts), number, reading, fallback)) is not None:
            yield number, text
        parts, length = [], 0
    if length:
        note = f"{reading.where(number)}: no line end; if there should be more, the file is cut"
        reading.report.count(UNFINISHED, note=note)
    if parts and (text := _decode(b"".join(parts), number, reading, fallback)) is not None:
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
        bad_byte = f"byte 0x{error.object[error.start]:02x} at column {error.start + 1}"
        reading.fault(
            f"{reading.where(number)}: expected UTF-8 text, found {bad_byte}. Convert the file to "
            "UTF-8."
        )
    return None


def decoded(data: bytes, path: Path) -> str:
    """data (bytes): of a whole file. path (Path): names it.

    RETURNS (str): the text, without a byte order mark.
    RAISES (AngelError): it is not UTF-8; names the line.
    """
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf8")
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        number, begin = before.count(b"\n") + 1, before.rfind(b"\n") + 1
        byte = f"byte 0x{error.object[error.start]:02x} at column {error.start - begin + 1}"
        raise AngelError(
            f"{path}, line {number}: expected UTF-8 text, found {byte}. Convert the file to UTF-8."
        ) from error
