"""Files of a vocabulary as numbered lines and as rows under column names, every one valid."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ....errors import AngelError, AngelWarning, cannot_read
from ....files.faults import FileReading
from ....files.json_values import parse_json
from ....files.reading import UNFINISHED, numbered_lines, pieces
from ....files.table import rows_of


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


def read_rows(
    path: Path,
    needed: Sequence[str],
    separator: str = "\t",
    *,
    quotes: bool = False,
    lines: Iterable[str] | None = None,
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table under a line of column names.

    path (Path): a file, gzipped or not.
    needed (Sequence[str]): columns that must be there.
    separator (str): one character.
    quotes (bool): a quote at the beginning of a cell opens one that may hold separators.
    lines (Iterable[str] | None): the lines of the file, blank ones in the place of those that are
        no rows; None reads them.
    YIELDS (tuple[int, dict[str, str]]): the line on which a row begins, and its stripped cells by
        column name; a `#` before the first name is left out.
    RAISES (AngelError): a column is missing or named twice, or a row does not have as many cells.
    """
    lines = (line for _, line in read_lines(path)) if lines is None else lines
    rows = rows_of(lines, FileReading(str(path)), separator, quotes)
    number, columns = next(rows, (1, [""]))
    columns[0] = columns[0].removeprefix("#")
    if missing := [name for name in needed if name not in columns]:
        expected = f"a line with the columns {', '.join(missing)}"
        raise wrong(path, number, expected, separator.join(columns))
    if len(set(columns)) < len(columns):
        raise wrong(path, number, "different names for the columns", separator.join(columns))
    for number, cells in rows:
        if len(cells) != len(columns):
            raise wrong(path, number, f"{len(columns)} columns", separator.join(cells))
        yield number, dict(zip(columns, map(str.strip, cells), strict=True))


def load_json(path: Path) -> dict[str, Any]:
    """path (Path): a JSON file, gzipped or not. RETURNS (dict[str, Any]): its object. RAISES
    (AngelError): it cannot be read, or is something else."""
    data = read_bytes(path)
    try:
        content = parse_json(data)
    except ValueError as error:
        raise AngelError(cannot_read(path, error)) from error
    if not isinstance(content, dict):
        raise wrong(path, 1, "a JSON object", content)
    return content


def read_bytes(path: Path) -> bytes:
    """path (Path): a file, gzipped or not. RETURNS (bytes): all of it. RAISES (AngelError): it
    cannot be read."""
    return b"".join(piece for _, piece in pieces(path, by_line=False))


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
