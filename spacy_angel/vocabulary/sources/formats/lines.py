"""Files of a vocabulary as numbered lines, every one of them sound."""

import warnings
from collections.abc import Iterator
from pathlib import Path

from ....errors import AngelError, AngelWarning
from ....files.faults import FileReading
from ....files.reading import UNFINISHED, numbered_lines


def read_lines(path: Path, cut_shows: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file. Where the last one does not end with a line break, the file may
    have been cut there, and a warning says so.

    path (Path): a file, gzipped or not.
    cut_shows (bool): a line that is cut is an error for the reader anyway, so that there is no
        need to warn.
    YIELDS (tuple[int, str]): the number of the line (from 1), the line without its end.
    RAISES (AngelError): the file cannot be read, is damaged, or a line is not UTF-8 text.
    """
    reading = FileReading(str(path), progress=True)
    number = 0
    for number, line in numbered_lines(path, reading):
        if "\0" in line:
            # UTF-16 without its mark decodes as UTF-8 with a NUL beside every letter.
            where = reading.where(number)
            raise AngelError(
                f"{where}: expected UTF-8 text, found a NUL character. Convert the file to UTF-8."
            )
        yield number, line
    if not cut_shows and reading.report.counts[UNFINISHED]:
        warnings.warn(
            f"{path}, line {number}: the last line has no line break, so the file may be cut.",
            AngelWarning,
            stacklevel=2,
        )


def wrong(path: Path, line: int, expected: str, found: object) -> AngelError:
    """The error for a line that is not what its format asks for.

    path (Path): the file. line (int): number of the line, from 1.
    expected (str): what the format has there.
    found (object): what came instead; shortened for the message.
    RETURNS (AngelError): to be raised.
    """
    text = repr(found)
    text = text if len(text) <= 80 else f"{text[:76]} ..."
    return AngelError(f"[E203] {path}, line {line}: expected {expected}, found {text}.")
