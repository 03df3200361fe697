"""Documents as JSON lines, or as the rows of a Parquet file."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import AngelError, missing_package
from ...files.formats import Format, first_line
from ...files.json_values import parse_json
from ...files.reading import MAX_LINE_BYTES, check_packing, numbered_lines
from ..documents import CorpusDocument, GoldMention, Reading

_ID_FIELDS = ("doc_id", "id", "pmid")
_PARQUET_ROWS = 256
# The encoding in which a value says only how it differs from the one before it.
_BY_DIFFERENCE = "DELTA_BYTE_ARRAY"
_NO_MENTIONS = "mentions must be a list of objects"
# BioC's documents have passages.
_PASSAGES = re.compile(r'(?<!\\)"passages"\s*:')


class BadRow(Exception):
    """A field of a row is missing or of the wrong kind; the text says what."""


def read_jsonl(
    path: Path, reading: Reading, id_field: str = "", text_field: str = "text"
) -> Iterator[CorpusDocument]:
    """JSON lines: `{"doc_id": "1", "text": "…", "mentions": [{"start": 0, "end": 5}]}`.

    path (Path): UTF-8, plain or gzip.
    reading (Reading): gets faults.
    id_field (str): field with the identifier; else `doc_id`, `id` or `pmid`, else `file:line`.
    text_field (str): field with the text; where it is missing, `title` and `abstract`.
    RETURNS (Iterator[CorpusDocument]): with the mentions (`start`, `end`, and any of `text`,
        `label`, `concept_id`) that a line brings.
    """
    for number, row in json_rows(path, reading):
        try:
            yield row_document(row, reading, path, number, id_field, text_field)
        except AngelError:
            raise
        except (BadRow, ValueError) as error:
            _row_fault(reading, reading.where(number), error)


def json_rows(path: Path, reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
    """path (Path): JSON lines, plain or gzip. reading (Reading): gets faults.
    YIELDS (tuple[int, dict[str, Any]]): number of a line, and its object; blank lines are none."""
    for number, line in numbered_lines(path, reading):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
            if not isinstance(row, dict):
                raise ValueError("an object was expected")
        except ValueError as error:
            _row_fault(reading, reading.where(number), error)
        else:
            yield number, row


def read_parquet(
    path: Path, reading: Reading, id_field: str = "", text_field: str = "text"
) -> Iterator[CorpusDocument]:
    """A Parquet file with the columns of `read_jsonl`'s fields.

    path (Path), reading (Reading), id_field (str), text_field (str), RETURNS: as `read_jsonl`.
    RAISES (AngelError): it is no Parquet file, it unpacks to too much, or pyarrow is missing.
    """
    pq = import_parquet()
    known = {*_ID_FIELDS, "title", "abstract", "title_end", "mentions", id_field, text_field}
    number = unpacked = 0
    try:
        size = path.stat().st_size
        with pq.ParquetFile(path) as file:
            names = [name for name in file.schema_arrow.names if name in known]
            texts, n_rows = _text_columns(file, known)
        # A value that many rows share stays one value in memory.
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(batch_size=n_rows, columns=names):
                unpacked += sum(map(_text_bytes, batch.columns))
                check_packing(unpacked, size, f"{path}, row {number + 1}")
                for i in range(len(batch)):
                    number += 1
                    try:
                        [row] = _short_enough(batch.slice(i, 1)).to_pylist()
                        yield row_document(row, reading, path, number, id_field, text_field)
                    except BadRow as error:
                        _row_fault(reading, f"{reading.name}, row {number}", error)
                reading.report.position = size * number // file.metadata.num_rows
    except AngelError:
        raise
    # The last of them is pyarrow's for a text's number that its dictionary does not have.
    except (OSError, ValueError, IndexError) as error:
        raise AngelError(
            f"{path}, after row {number}: not a Parquet file, or damaged ({error})."
        ) from error


def import_parquet() -> Any:
    """RETURNS (Any): `pyarrow.parquet`. RAISES (AngelError): it is not installed."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise AngelError(missing_package("Parquet", "pyarrow", "parquet")) from error
    return pq


def _text_columns(file: Any, known: Collection[str]) -> tuple[list[str], int]:
    """Where a Parquet file holds text, and how many rows of it to read at a time.

    file (Any): a `pyarrow.parquet.ParquetFile`. known (Collection[str]): columns to read.
    RETURNS (tuple[list[str], int]): paths of columns within columns, such as
        `mentions.list.element.label`, that can be read as a dictionary; a number of rows.
    """
    paths, n_rows = [], _PARQUET_ROWS
    groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
    for i in range(len(file.schema)):
        column = file.schema.column(i)
        if column.physical_type != "BYTE_ARRAY" or column.path.partition(".")[0] not in known:
            continue
        if any(_BY_DIFFERENCE in group.column(i).encodings for group in groups):
            # No dictionary can be made of these, and each is unpacked with all that it shares.
            n_rows = 1
        else:
            paths.append(column.path)
    return paths, n_rows


def _text_bytes(array: Any) -> int:
    """array (Any): of pyarrow. RETURNS (int): bytes of all its text, were every value unpacked."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_dictionary(kind):
        lengths = _lengths(array.dictionary)
        return 0 if lengths is None else pc.sum(lengths.take(array.indices)).as_py() or 0
    if pa.types.is_struct(kind):
        return sum(map(_text_bytes, array.flatten()))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        return _text_bytes(array.flatten())
    lengths = _lengths(array)
    return 0 if lengths is None else pc.sum(lengths).as_py() or 0


def _lengths(array: Any) -> Any:
    """array (Any): of pyarrow. RETURNS (Any): bytes of each value as integers of 64 bits; None
    where it holds no text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_text = (pa.types.is_string, pa.types.is_large_string)
    is_bytes = (pa.types.is_binary, pa.types.is_large_binary)
    if not any(is_it(array.type) for is_it in (*is_text, *is_bytes)):
        return None
    return pc.cast(pc.binary_length(array), pa.int64())


def _short_enough(row: Any) -> Any:
    """row (Any): a batch of one row. RETURNS (Any): the same.
    RAISES (BadRow): a column of it has more than a line of JSON may have."""
    for name, column in zip(row.schema.names, row.columns, strict=True):
        if (length := _text_bytes(column)) > MAX_LINE_BYTES:
            raise BadRow(f"{name} has {length:,} bytes, more than {MAX_LINE_BYTES:,}")
    return row


def _row_fault(reading: Reading, where: str, problem: Exception) -> None:
    reading.fault(f"{where}: not a document: {problem}.", lost="documents_left_out")


def row_document(
    row: Mapping[str, Any],
    reading: Reading,
    path: Path,
    number: int,
    id_field: str,
    text_field: str,
) -> CorpusDocument:
    """A JSON object or a row of a table as a document.

    row (Mapping[str, Any]): see `read_jsonl`.
    reading (Reading): gets the faults of mentions.
    path (Path), number (int): name the document where the row does not.
    id_field (str), text_field (str): see `read_jsonl`.
    RETURNS (CorpusDocument): with the mentions of the row.
    RAISES (BadRow): a field is missing or of the wrong kind.
    """
    fields = (id_field,) if id_field else _ID_FIELDS
    doc_id = next((row[name] for name in fields if row.get(name) is not None), None)
    if doc_id is None:
        if id_field:
            raise BadRow(f"the field {id_field} is missing")
        doc_id = f"{path.name}:{number}"
    if not isinstance(doc_id, str | int | float):
        raise BadRow(f"the identifier must be a string or a number, not {type(doc_id).__name__}")
    doc_id = _whole_characters(str(doc_id), id_field or "the identifier")
    text, title_end = _row_text(row, text_field)
    given = row.get("mentions")
    if not isinstance(given, list | None):
        raise BadRow(_NO_MENTIONS)
    mentions = []
    for mention in given or ():
        if (found := _row_mention(mention, text, doc_id, reading, number)) is not None:
            mentions.append(found)
    return CorpusDocument(doc_id, text, tuple(mentions), title_end=title_end)


def _row_text(row: Mapping[str, Any], text_field: str) -> tuple[str, int | None]:
    text, title_end = row.get(text_field), row.get("title_end")
    if text is None:
        pieces = [row.get("title"), row.get("abstract")]
        if not any(isinstance(piece, str) for piece in pieces):
            raise BadRow(f"the field {text_field}, or title and abstract, is missing")
        title = pieces[0] or ""
        text = " ".join(str(piece) for piece in pieces if piece)
        title_end = len(str(title)) if title else None
    if not isinstance(text, str):
        raise BadRow(f"{text_field} must be a string, {type(text).__name__} came")
    if isinstance(title_end, float) and title_end.is_integer():
        # pandas' only whole numbers that may be missing
        title_end = int(title_end)
    is_inside = isinstance(title_end, int) and 0 <= title_end <= len(text)
    return _whole_characters(text, text_field), title_end if is_inside else None


def _whole_characters(text: str, name: str) -> str:
    try:
        text.encode("utf8")
    except UnicodeEncodeError as error:
        raise BadRow(f"{name} holds half a character ({error})") from error
    return text


def _row_mention(
    value: Any, text: str, doc_id: str, reading: Reading, number: int
) -> GoldMention | None:
    if not isinstance(value, Mapping):
        raise BadRow(_NO_MENTIONS)
    start, end = value.get("start"), value.get("end")
    if not isinstance(start, int) or not isinstance(end, int) or bool in map(type, (start, end)):
        raise BadRow("a mention needs whole numbers for start and end")
    mention, label, ids = (value.get(key) or "" for key in ("text", "label", "concept_id"))
    if not all(isinstance(item, str) for item in (mention, label, ids)):
        raise BadRow("text, label and concept_id of a mention must be strings")
    mention = mention or (text[start:end] if 0 <= start < end <= len(text) else "")
    return reading.mention(text, (start, end), mention, doc_id, number, label, ids)


def _is_jsonl(path: Path, head: str) -> bool:
    name = path.name.lower().removesuffix(".gz")
    return name.endswith((".jsonl", ".ndjson")) and not _PASSAGES.search(first_line(head))


JSONL = Format("jsonl", read_jsonl, _is_jsonl)
PARQUET = Format("parquet", read_parquet, lambda path, head: head.startswith("PAR1"))
