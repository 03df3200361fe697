"""Tables of text: fields between separators, in quotes where they hold one or a line end."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import AngelError
from .faults import FileReading
from .reading import MAX_LINE_BYTES, numbered_lines


def table_rows(path: Path, reading: FileReading, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table, the line of column names included.

    path (Path): UTF-8, plain or gzip. reading (FileReading): gets the faults of lines.
    separator (str): one character.
    YIELDS (tuple[int, list[str]]): line on which a row begins, from 1, and its fields; blank lines
        are none.
    RAISES (AngelError): quotes do not close, or a field is too long.
    """
    yield from rows_of((line for _, line in numbered_lines(path, reading)), reading, separator)


def rows_of(
    lines: Iterable[str],
    reading: FileReading,
    separator: str,
    quotes: bool = True,
    escape: str | None = None,
) -> Iterator[tuple[int, list[str]]]:
    """The same of lines that were read already.

    lines (Iterable[str]): without their ends. reading (FileReading): names the file.
    separator (str): one character.
    quotes (bool): a quote at the begin of a field opens one that may hold separators.
    escape (str | None): the character before a quote, separator or line end that belongs to a
        field, as databases export it; None: a quote in quotes is written twice.
    YIELDS (tuple[int, list[str]]), RAISES (AngelError): as `table_rows`.
    """
    # The module's own limit is 128 KiB, less than a long document; it has one for all readers.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    ended = (line + "\n" for line in lines)
    reader = csv.reader(
        ended,
        delimiter=separator,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        escapechar=escape,
        doublequote=escape is None,
        strict=True,
    )
    while True:
        number = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            where = reading.where(number)
            raise AngelError(f"{where}: the separated values are broken ({error}).") from error
        if row:
            yield number, row
