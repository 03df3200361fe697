"""Tables: CSV, TSV, Excel and Parquet, row by row."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import AngelError, cannot_read, missing_package, unknown_name
from .atomic import replacing_path
from .faults import FileReading
from .formats import first_line, read_head
from .reading import MAX_LINE_BYTES, numbered_lines

TABLES = (".csv", ".tsv", ".xlsx", ".parquet")
"""Suffixes of tables that are read and written; CSV and TSV are also read with `.gz` behind it."""
_SEPARATORS = ("\t", ",", ";")
_Write = Callable[[Sequence[Any]], Any]
# Rows of a Parquet file in memory.
_CHUNK = 10_000


def separator_of(line: str) -> str:
    """line (str): of column names. RETURNS (str): tab, comma or semicolon."""
    return "\t" if "\t" in line else max(_SEPARATORS, key=line.count)


def dialect(path: Path) -> tuple[str, bool]:
    """How the cells of a table are separated.

    path (Path): CSV or TSV, plain or gzip.
    RETURNS (tuple[str, bool]): the separator, and whether cells may be in quotes: those of a TSV
        are, as spreadsheets write them, if the whole file can be read so; in many others a quote is
        a part of a name (5" needle, 3"-acid).
    """
    separator = separator_of(first_line(read_head(path)))
    if separator != "\t":
        return separator, True
    try:
        rows = (row for _, row in table_rows(path, FileReading(str(path)), separator))
        n_columns = len(next(rows, []))
        return separator, all(len(row) <= n_columns for row in rows)
    except AngelError:
        return separator, False


def table_rows(
    path: Path, reading: FileReading, separator: str, quotes: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table, the line of column names included.

    path (Path): UTF-8, plain or gzip. reading (FileReading): gets the faults of lines.
    separator (str), quotes (bool): see `rows_of`.
    YIELDS (tuple[int, list[str]]): line on which a row begins, from 1, and its fields; blank lines
        are none.
    RAISES (AngelError): quotes do not close, or a field is too long.
    """
    lines = (line for _, line in numbered_lines(path, reading))
    yield from rows_of(lines, reading, separator, quotes)


def rows_of(
    lines: Iterable[str], reading: FileReading, separator: str, quotes: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """The same of lines that were read already.

    lines (Iterable[str]): without their ends. reading (FileReading): names the file.
    separator (str): one character.
    quotes (bool): a quote at the beginning of a field opens one that may hold separators and line
        breaks; a quote in it is written twice.
    YIELDS (tuple[int, list[str]]), RAISES (AngelError): as `table_rows`.
    """
    # The module's own limit is 128 KiB, less than a long document; it has one for all readers.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    reader = csv.reader(
        (line + "\n" for line in lines),
        delimiter=separator,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=True,
    )
    number = 1
    try:
        for row in reader:
            if row:
                yield number, row
            number = reader.line_num + 1
    except csv.Error as error:
        where = reading.where(number)
        raise AngelError(f"{where}: the separated values are broken ({error}).") from error


class Table(NamedTuple):
    """A table that is read row by row.

    columns (list[str]): their names.
    rows (Iterator[list[Any]]): a value per column: texts, and in Excel and Parquet other plain
        values; a missing one is None.
    schema (Any): `pyarrow.Schema` of a Parquet file, else None.
    """

    columns: list[str]
    rows: Iterator[list[Any]]
    schema: Any = None

    def place(self, column: str) -> int:
        """column (str): a name. RETURNS (int): its index. RAISES (AngelError): there is none."""
        if column not in self.columns:
            raise AngelError(unknown_name("column", column, ", ".join(self.columns)))
        return self.columns.index(column)

    def writer(self, path: Path, added: Mapping[str, type]) -> AbstractContextManager[_Write]:
        """Write the rows of the table with further columns behind them.

        path (Path), added (Mapping[str, type]), RAISES (AngelError): see `table_writer`; also
            columns of these names are there already.
        """
        if clash := ", ".join(name for name in added if name in self.columns):
            raise AngelError(f"The table already has the columns {clash}. Rename or remove them.")
        return table_writer(path, dict.fromkeys(self.columns, str) | dict(added), self.schema)


def read_table(path: Path) -> Table:
    """Open a table: CSV, TSV (UTF-8, plain or gzip), Excel (its first sheet), or Parquet.

    path (Path): the suffix says what it is.
    RETURNS (Table): its rows are read while they are taken; missing cells at a row's end are None.
    RAISES (AngelError): it cannot be read, has no row of names or another suffix, or a package for
        it is not installed. Rows raise it, too, if they have more cells than there are columns.
    """
    suffix, schema = _suffix(path), None
    rows: Iterator[Any]
    if not path.is_file():
        raise AngelError(cannot_read(path, "there is no such file"))
    try:
        if suffix == ".parquet":
            file = import_optional("pyarrow.parquet", "parquet").ParquetFile(path)
            schema, batches = file.schema_arrow, file.iter_batches(_CHUNK)
            values = ([column.to_pylist() for column in batch.columns] for batch in batches)
            rows = chain([schema.names], chain.from_iterable(zip(*v, strict=True) for v in values))
        elif suffix == ".xlsx":
            book = import_optional("openpyxl", "tables").load_workbook(
                path, read_only=True, data_only=True
            )
            rows = book.worksheets[0].iter_rows(values_only=True)
        else:
            rows = (row for _, row in table_rows(path, FileReading(str(path)), *dialect(path)))
        names = ["" if name is None else str(name).strip() for name in next(rows, ())]
    except AngelError:
        raise
    # Whatever the libraries raise for a damaged file.
    except Exception as error:
        raise AngelError(f"{path} cannot be read as {suffix[1:]}: {error}.") from error
    if not any(names):
        raise AngelError(f"{path}: expected names of columns in the first row, found none.")
    return Table(names, _whole_rows(rows, len(names), path), schema)


@contextmanager
def table_writer(path: Path, columns: Mapping[str, type], schema: Any = None) -> Iterator[_Write]:
    """Write a table row by row, in bounded memory; the file appears once it is complete.

    path (Path): the suffix says what it is, see `read_table`; never packed.
    columns (Mapping[str, type]): names, and `str`, `int` or `float` for Parquet.
    schema (Any): of the Parquet file that some of the columns were read from, or None.
    YIELDS (_Write): writes a row.
    RAISES (AngelError): another suffix, or a package for it is not installed.
    """
    suffix = _suffix(path)
    with replacing_path(path) as temporary:
        if suffix == ".xlsx":
            book = import_optional("openpyxl", "tables").Workbook(write_only=True)
            sheet = book.create_sheet()
            sheet.append(list(columns))
            yield sheet.append
            book.save(temporary)
        elif suffix == ".parquet":
            full, rows = _parquet_schema(columns, schema), []
            with import_optional("pyarrow.parquet", "parquet").ParquetWriter(
                temporary, full
            ) as file:

                def write_row(row: Sequence[Any]) -> None:
                    rows.append(row)
                    if len(rows) == _CHUNK:
                        file.write_table(_row_group(rows, full))
                        rows.clear()

                yield write_row
                if rows:
                    file.write_table(_row_group(rows, full))
        else:
            with temporary.open("w", newline="", encoding="utf8") as file:
                separator = "\t" if suffix == ".tsv" else ","
                writer = csv.writer(file, delimiter=separator, lineterminator="\n")
                writer.writerow(columns)
                yield writer.writerow


def _parquet_schema(columns: Mapping[str, type], schema: Any) -> Any:
    """RETURNS (pyarrow.Schema): types of columns; those that were read keep theirs."""
    pa = import_optional("pyarrow", "parquet")
    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    known = {} if schema is None else dict(zip(schema.names, schema.types, strict=True))
    return pa.schema([(name, known.get(name, types[kind])) for name, kind in columns.items()])


def _row_group(rows: Sequence[Sequence[Any]], schema: Any) -> Any:
    """RETURNS (pyarrow.Table): the rows; a number or date in a column of texts becomes text."""
    pa = import_optional("pyarrow", "parquet")
    cells = [
        [None if cell is None else str(cell) for cell in column]
        if field.type == pa.string()
        else column
        for field, column in zip(schema, zip(*rows, strict=True), strict=True)
    ]
    return pa.table(cells, schema)


def _suffix(path: Path) -> str:
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in TABLES:
        raise AngelError(f"Expected a table ({', '.join(TABLES)}), not {path}.")
    return suffix


def import_optional(module: str, extra: str) -> Any:
    """module (str): e.g. `pyarrow.parquet`. extra (str): that installs it. RETURNS (Any): the
    module. RAISES (AngelError): it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise AngelError(missing_package("This", package, extra)) from error


def _whole_rows(rows: Iterable[Sequence[Any]], n_columns: int, path: Path) -> Iterator[list[Any]]:
    for number, row in enumerate(rows, start=2):
        if any(cell not in (None, "") for cell in row[n_columns:]):
            expected = f"expected {n_columns} cells as in the first row, found {len(row)}"
            raise AngelError(f"{path}, row {number}: {expected}.")
        yield [*row[:n_columns], *[None] * (n_columns - len(row))]
