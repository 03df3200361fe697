"""Documents as the rows of a CSV or TSV file with a line of column names."""

from collections.abc import Iterator
from pathlib import Path

from ...errors import AngelError
from ...files.formats import Format, first_line, read_head
from ...files.table import table_rows
from ..documents import CorpusDocument, Reading
from .rows import BadRow, row_document

_SEPARATORS = ("\t", ",", ";")


def read_csv(
    path: Path, reading: Reading, id_field: str = "", text_field: str = "text"
) -> Iterator[CorpusDocument]:
    """A table with a document a row: `doc_id,text`, or `pmid,title,abstract`.

    path (Path): UTF-8, plain or gzip; separated by tabs, commas or semicolons, whichever is most
        frequent in the line of column names.
    reading (Reading): gets faults.
    id_field (str), text_field (str): columns, see `rows.read_jsonl`; others are ignored.
    RETURNS (Iterator[CorpusDocument]): without mentions.
    RAISES (AngelError): it is a table of mentions without their documents; quotes do not close.
    """
    rows = table_rows(path, reading, separator_of(first_line(read_head(path))))
    _, names = next(rows, (1, []))
    if {"start", "end"} <= {*names}:
        raise AngelError(
            f"{reading.where(1)}: expected documents, found a table of mentions (columns: "
            f"{', '.join(names)})."
        )
    for number, fields in rows:
        with reading.leaving_out(number, "a document"):
            if len(fields) != len(names):
                raise BadRow(f"{len(names)} columns were expected, {len(fields)} came")
            # An empty cell counts as missing; a cell cannot hold mentions.
            row = {name: field or None for name, field in zip(names, fields, strict=True)}
            row.pop("mentions", None)
            yield row_document(row, reading, path, number, id_field, text_field)


def separator_of(names: str) -> str:
    """names (str): line of column names. RETURNS (str): its most frequent separator."""
    return max(_SEPARATORS, key=names.count)


def _recognises(path: Path, head: str) -> bool:
    return path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))


FORMAT = Format("csv", read_csv, _recognises, holds="texts")
