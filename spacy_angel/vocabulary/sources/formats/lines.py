"""Reads files as lines, as tables with column names, and as JSON."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ....errors import AngelError, AngelWarning, cannot_read
from ....files.faults import FileReading
from ....files.json_values import parse_json
from ....files.reading import UNFINISHED, numbered_lines, pieces
from ....files.table import rows_of
from .records import VocabularyReport, wrong


def find_files(path: Path, *names: str) -> list[Path]:
    """Find a file: plain, gzipped, or split (`NAME.aa`, `NAME.ab`).

    path (Path): folder, or a file in the same folder.
    names (str): possible locations relative to the folder.
    RETURNS (list[Path]): the file, or its parts in order; empty if there is none.
    """
    folder = path if path.is_dir() else path.parent
    patterns = (f"{name}{end}" for name in names for end in ("", ".gz", ".??*"))
    return next(filter(None, (sorted(folder.glob(pattern)) for pattern in patterns)), [])


def required_files(path: Path, name: str) -> list[Path]:
    """path (Path): folder, or the file itself.
    name (str): of the file in the folder.
    RETURNS (list[Path]): see `find_files`.
    RAISES (AngelError): there is no such file."""
    files = [path] if path.is_file() else find_files(path, name)
    if not files:
        raise AngelError(f"{path}: expected a folder with {name}. Unpack the download there.")
    return files


def read_lines(path: Path, report: VocabularyReport, cut_shows: bool = False) -> Iterator[str]:
    """Read the lines of a UTF-8 file, without line breaks. If the last line has no line break, the
    file may be truncated, and a warning is issued.

    path (Path): a file, plain or gzip.
    report (VocabularyReport): receives the file and the line number, for messages.
    cut_shows (bool): the reader reports truncated lines as errors, so do not warn.
    YIELDS (str): each line.
    RAISES (AngelError): the file cannot be read or is damaged, or a line is not valid UTF-8.
    """
    reading = FileReading(str(path))
    report.path, report.line = path, 1
    for report.line, line in numbered_lines(path, reading):
        if "\0" in line:
            # UTF-16 without a byte order mark decodes as UTF-8, with a NUL next to every letter.
            raise wrong("UTF-8 text without NUL characters", line)
        yield line
    if not cut_shows and reading.report.counts[UNFINISHED]:
        warnings.warn(
            f"{path}, line {report.line}: the last line has no line break, so the file may be cut.",
            AngelWarning,
            stacklevel=2,
        )


def read_rows(
    path: Path,
    report: VocabularyReport,
    needed: Sequence[str],
    separator: str = "\t",
    *,
    quotes: bool = False,
) -> Iterator[dict[str, str]]:
    """Read the rows of a table with column names. Lines that begin with `#` are comments; the
    column names may be in a comment.

    path (Path): a file, plain or gzip.
    report (VocabularyReport): see `read_lines`.
    needed (Sequence[str]): required columns.
    separator (str): a single character.
    quotes (bool): cells may be quoted, and quoted cells may contain separators.
    YIELDS (dict[str, str]): column name → stripped cell, for each row.
    RAISES (ValueError): a column is missing or repeated, or a row has the wrong number of cells.
    """

    def lines() -> Iterator[str]:
        for line in read_lines(path, report):
            if not line.startswith("#"):
                yield line
            else:
                yield line.lstrip("# ") if all(name in line for name in needed) else ""

    rows = (row for _, row in rows_of(lines(), FileReading(str(path)), separator, quotes))
    columns = next(rows, [""])
    if missing := [name for name in needed if name not in columns]:
        raise wrong(f"a line with the columns {', '.join(missing)}", separator.join(columns))
    if len(set(columns)) < len(columns):
        raise wrong("different names for the columns", separator.join(columns))
    for cells in rows:
        if len(cells) != len(columns):
            raise wrong(f"{len(columns)} columns", separator.join(cells))
        yield dict(zip(columns, map(str.strip, cells), strict=True))


def load_json(path: Path, report: VocabularyReport, pairs: bool = False) -> Any:
    """Load a JSON file.

    path (Path): plain or gzip. report (VocabularyReport): receives the file, for messages.
    pairs (bool): return objects as lists of key-value pairs, so that repeated keys are kept.
    RETURNS (Any): a dict, or a list of pairs.
    RAISES (ValueError): it cannot be read, or is not an object.
    """
    report.path = path
    try:
        content = parse_json(read_bytes(path), pairs)
    except AngelError:
        raise
    except ValueError as error:
        raise AngelError(cannot_read(path, error)) from error
    if not isinstance(content, list if pairs else dict):
        raise wrong("a JSON object", content)
    return content


def read_bytes(path: Path) -> bytes:
    """path (Path): a file, plain or gzip. RETURNS (bytes): its uncompressed content. RAISES
    (AngelError): it cannot be read."""
    return b"".join(piece for _, piece in pieces(path, by_line=False))
