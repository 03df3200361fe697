"""Reading and writing of tables row by row: CSV, TSV, Excel, and Parquet."""

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
"""Suffixes of tables that can be read and written; CSV and TSV can also be read with `.gz`."""
_SEPARATORS = ("\t", ",", ";")
_Write = Callable[[Sequence[Any]], Any]
# Number of rows of a Parquet file to keep in memory.
_CHUNK = 10_000


def separator_of(line: str) -> str:
    """line (str): header line. RETURNS (str): the separator: tab, comma, or semicolon."""
    return "\t" if "\t" in line else max(_SEPARATORS, key=line.count)


def dialect(path: Path) -> tuple[str, bool]:
    """Infer the separator and the use of quotes in a table.

    A TSV file is read with quotes, as spreadsheets write it, only if the whole file can be parsed
    that way. In many TSV files, a quote is part of a name (5" needle, 3"-acid).

    path (Path): CSV or TSV, plain or gzip.
    RETURNS (tuple[str, bool]): the separator, and whether cells may be quoted.
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
    """Read the rows of a CSV or TSV file, including the header.

    path (Path): UTF-8, plain or gzip.
    reading (FileReading): handles faults in lines.
    separator (str), quotes (bool): see `rows_of`.
    YIELDS (tuple[int, list[str]]): number of the line on which the row starts, counted from 1, and
        the fields of the row. Blank lines are skipped.
    RAISES (AngelError): if a closing quote is missing or a field is too long.
    """
    lines = (line for _, line in numbered_lines(path, reading))
    yield from rows_of(lines, reading, separator, quotes)


def rows_of(
    lines: Iterable[str], reading: FileReading, separator: str, quotes: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Like `table_rows`, for lines that have already been read.

    lines (Iterable[str]): lines without their line breaks.
    reading (FileReading): provides the name of the file for error messages.
    separator (str): a single character.
    quotes (bool): whether fields may be quoted. A quoted field may contain separators and line
        breaks; quotes inside it are doubled.
    YIELDS (tuple[int, list[str]]), RAISES (AngelError): see `table_rows`.
    """
    # The default limit of 128 KiB is too low for long documents. The limit applies to all readers.
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

    columns (list[str]): names of the columns.
    rows (Iterator[list[Any]]): rows with one value per column: strings for CSV and TSV, and also
        other plain values for Excel and Parquet. Missing values are None.
    schema (Any): `pyarrow.Schema` of a Parquet file, or else None.
    """

    columns: list[str]
    rows: Iterator[list[Any]]
    schema: Any = None

    def place(self, column: str) -> int:
        """Look up the index of a column.

        column (str): name of the column.
        RETURNS (int): its index.
        RAISES (AngelError): if the table does not have this column.
        """
        if column not in self.columns:
            raise AngelError(unknown_name("column", column, ", ".join(self.columns)))
        return self.columns.index(column)

    def writer(self, path: Path, added: Mapping[str, type]) -> AbstractContextManager[_Write]:
        """Open a writer for a table with the columns of this table, followed by additional ones.

        path (Path): file to write, see `table_writer`.
        added (Mapping[str, type]): names and types of the additional columns.
        RAISES (AngelError): if a column with one of these names already exists; see also
            `table_writer`.
        """
        if clash := ", ".join(name for name in added if name in self.columns):
            raise AngelError(f"The table already has the columns {clash}. Rename or remove them.")
        return table_writer(path, dict.fromkeys(self.columns, str) | dict(added), self.schema)


def read_table(path: Path) -> Table:
    """Open a table: CSV, TSV (UTF-8, plain or gzip), Excel (its first sheet), or Parquet.

    path (Path): the file. Its format is determined by the suffix.
    RETURNS (Table): the table. Its rows are read lazily; missing cells at the end of a row are
        None.
    RAISES (AngelError): if the file cannot be read, has another suffix or no header, or requires a
        package that is not installed; while iterating, if a row has more cells than the header.
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
    # The libraries raise various exceptions for damaged files.
    except Exception as error:
        raise AngelError(f"{path} cannot be read as {suffix[1:]}: {error}.") from error
    if not any(names):
        raise AngelError(f"{path}: expected names of columns in the first row, found none.")
    return Table(names, _whole_rows(rows, len(names), path), schema)


@contextmanager
def table_writer(path: Path, columns: Mapping[str, type], schema: Any = None) -> Iterator[_Write]:
    """Write a table row by row, in bounded memory. The file is moved into place once it is
    complete.

    path (Path): the file. Its format is determined by the suffix, see `read_table`; it is never
        compressed.
    columns (Mapping[str, type]): names of the columns, with the types `str`, `int`, or `float`,
        which are used for Parquet.
    schema (Any): schema of the Parquet file from which some columns were read, or None.
    YIELDS (_Write): function that writes a row.
    RAISES (AngelError): if the file has another suffix or requires a package that is not installed.
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
    """RETURNS (pyarrow.Schema): the column types; columns of `schema` keep their types."""
    pa = import_optional("pyarrow", "parquet")
    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    known = {} if schema is None else dict(zip(schema.names, schema.types, strict=True))
    return pa.schema([(name, known.get(name, types[kind])) for name, kind in columns.items()])


def _row_group(rows: Sequence[Sequence[Any]], schema: Any) -> Any:
    """RETURNS (pyarrow.Table): the rows; values in string columns are converted to strings."""
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
    """Import a module of an optional dependency.

    module (str): e.g. `pyarrow.parquet`.
    extra (str): name of the extra that installs it.
    RETURNS (Any): the module.
    RAISES (AngelError): if the package is not installed.
    """
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
