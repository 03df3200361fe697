"""Documents as JSON objects, or as rows of a CSV or Parquet file.

The JSON formats of several annotation tools are also supported: doccano, Prodigy, spaCy,
PubAnnotation, BERN2, and Label Studio's short form (JSON-MIN).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from ...errors import AngelError
from ...files.formats import Format, first_line, is_json
from ...files.json_objects import read_objects
from ...files.json_values import checked, parse_json
from ...files.reading import numbered_lines
from ...files.table import dialect, import_optional, table_rows
from ..documents import NOTED_IDS, CorpusDocument, GoldMention, Reading

ID_FIELDS = ("doc_id", "id", "pmid", "sourceid")
_TEXT_FIELDS = ("title", "abstract", "title_end")
_PARQUET_ROWS = 256
# BioC's documents have passages; Label Studio's tasks have data.
_OTHER = re.compile(
    r'(?<!\\)"(passages|completions|was_cancelled)"\s*:|^{("id"[^"]*)?"data"\s*:\s*{'
)
# Keys under which annotation tools list mentions, and keys of a mention.
_TOOL_KEYS = {"ents", "spans", "entities", "denotations", "label", "labels"}
_TOOL_KEYS |= {"annotation", "annotations", "mentions"}
_IDS = ("concept_id", "concept_ids", "kb_id", "cui")
_STARTS, _ENDS = ("begin", "start_offset", "start_char", "offset"), ("end_offset", "end_char")
_LABELS = ("label", "obj", "labels", "type", "tag", "entity_group", "category")
# Offsets in a list in a list, or in an object, in JSON or as Python prints them.
_OFFSETS = re.compile(
    r"""(?i)\[\[(["'][^"']*["'], )?\d+, \d+|["'][^"']*(start|begin|offset|pos)[^"']*["']: """
    r"""(\[\d|\d+, ["'][^"']*(end|stop|offset|length)[^"']*["']: \d)"""
)
# Keys whose offsets are not those of mentions.
_NO_MENTIONS = {"tokens", "sents", "sentences", "sections", "passages", "relations", "attributes"}
_EDGE = re.compile(r"(?i)((start|begin|end|stop)(_?(char|offset|index|pos))?|offset|length)")


def read_json(
    path: Path, reading: Reading, id_field: str = "", text_field: str = "text"
) -> Iterator[CorpusDocument]:
    """Read objects such as `{"doc_id": "1", "text": "…", "mentions": [{"start": 0, "end": 5}]}`.

    path (Path): one object per line, a list of objects (also as `documents` in an object), or an
        object; UTF-8, plain or gzip.
    reading (Reading): handles faults.
    id_field (str): field with the identifier; by default, the first of `doc_id`, `id`, and `pmid`,
        or else `file:line` is the identifier.
    text_field (str): field with the text; if it is missing, `title` and `abstract` are read.
    RETURNS (Iterator[CorpusDocument]): documents with their mentions (`start`, `end`, and
        optionally `text`, `label`, `concept_id`).
    """
    is_lines = _is_named(path, ".jsonl", ".ndjson")
    rows = json_rows(path, reading) if is_lines else read_objects(path, reading, ["documents"])
    return _documents(rows, reading, path, id_field, text_field)


def _documents(
    rows: Iterable[tuple[int, Any]],
    reading: Reading,
    path: Path,
    id_field: str,
    text_field: str,
) -> Iterator[CorpusDocument]:
    for number, row in rows:
        with reading.leaving_out(number, "a document"):
            if not isinstance(row, dict):
                message = "an object with a text was expected, found a "
                raise ValueError(f"{message}{type(row).__name__}: {str(row)[:60]}")
            if row.get("answer") in ("reject", "ignore"):
                # Prodigy.
                reading.report.count("rejected_documents")
                continue
            yield row_document(row, reading, path, number, id_field, text_field)


def _tool_mentions(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Convert the mentions of an annotation tool to fields of `_Mention`. Strings, e.g. labels of
    the whole text, are ignored.

    RAISES (ValueError): if a list looks like mentions in an unknown form."""
    # An attribute without a digit is a property, such as negation.
    given = [one for one in row.get("attributes") or () if isinstance(one, dict)]
    ids = {str(a.get("subj")): a["obj"] for a in given if re.search(r"\d", str(a.get("obj")))}
    if (own := row.get("mentions")) is not None:
        return [_tool_mention(item, ids) for item in checked(own, list[Any])]
    unread = []
    for key, value in row.items():
        # spaCy and Prodigy have a list for each span group, MedCAT an object for each mention.
        groups = [*value.values()] if isinstance(value, dict) else [value]
        lists = [group for group in groups if isinstance(group, list)]
        items = chain(*lists, (group for group in groups if isinstance(group, dict)))
        found = [_tool_mention(item, ids) for item in items] if key in _TOOL_KEYS else []
        if any(isinstance(mention.get("start"), int) for mention in found):
            return found
        values = () if key in _NO_MENTIONS else [value] if key in _TOOL_KEYS else lists
        if any(found) or any(_OFFSETS.search(json.dumps(one, default=str)) for one in values):
            unread.append(f"{key} seems to hold mentions in an unknown form ({str(value)[:80]})")
    if unread:
        raise ValueError(f"{unread[0]}; give `mentions` with `start`, `end`, and `concept_id`")
    return []


def _tool_mention(given: Any, ids: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(given, list):
        # The offsets are first in doccano and spaCy, the label in Argilla.
        known = sorted(
            (one for one in given if isinstance(one, int | str)), key=lambda x: isinstance(x, str)
        )
        return dict(zip(("start", "end", "label", "concept_id"), known, strict=False))
    if not isinstance(given, dict):
        return {}
    span = given.get("span")
    values = {**given, **(span if isinstance(span, dict) else {})}

    def first(*keys: str) -> Any:
        return next((values[key] for key in keys if values.get(key) is not None), None)

    own_id, concept_id = values.get("id"), first(*_IDS)
    start, end = first("start", *_STARTS), first("end", *_ENDS)
    if end is None and isinstance(start, int) and isinstance(values.get("length"), int):
        end = start + values["length"]
    if concept_id is None:
        # BERN2 has lists of identifiers; PubAnnotation refers to mentions by name.
        concept_id = own_id if isinstance(own_id, list) else ids.get(str(own_id))
    return {
        "start": start,
        "end": end,
        "text": first("text", "mention"),
        "label": first(*_LABELS),
        "concept_id": concept_id,
    }


def json_rows(path: Path, reading: Reading) -> Iterator[tuple[int, Any]]:
    """path (Path): JSON lines. YIELDS (tuple[int, Any]): line number and value."""
    for number, line in numbered_lines(path, reading):
        with reading.leaving_out(number, "a document"):
            if line.strip():
                yield number, parse_json(line)


def read_parquet(
    path: Path, reading: Reading, id_field: str = "", text_field: str = "text"
) -> Iterator[CorpusDocument]:
    """Read Parquet with the fields of JSON lines as columns.

    path (Path), reading (Reading), RETURNS: see `read_json`.
    id_field (str): column with the identifier, as for JSON lines.
    text_field (str): column with the text, as for JSON lines.
    RAISES (AngelError): if the file is not a Parquet file, or pyarrow is not installed.
    """
    columns = {*ID_FIELDS, *_TEXT_FIELDS, *_TOOL_KEYS, id_field, text_field}
    return _documents(_parquet_rows(path, reading, columns), reading, path, id_field, text_field)


def _parquet_rows(
    path: Path, reading: Reading, columns: Set[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    pq = import_optional("pyarrow.parquet", "parquet")
    number = 0
    try:
        size = path.stat().st_size
        with pq.ParquetFile(path) as file:
            names = [name for name in file.schema_arrow.names if {name, name.lower()} & columns]
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS, columns=names):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
                reading.report.position = size * number // file.metadata.num_rows
    except (OSError, ValueError, IndexError) as error:
        raise AngelError(
            f"{path}, after row {number}: not a Parquet file, or damaged ({error})."
        ) from error


def read_csv(
    path: Path, reading: Reading, id_field: str = "", text_field: str = "text"
) -> Iterator[CorpusDocument]:
    """Read a table with one document per row: `doc_id,text`, or `pmid,title,abstract`.

    path (Path): UTF-8, plain or gzip; separated by tabs, commas, or semicolons, inferred from the
        line of column names.
    reading (Reading): handles faults.
    id_field (str): column with the identifier, as for JSON lines.
    text_field (str): column with the text, as for JSON lines.
    RETURNS (Iterator[CorpusDocument]): documents; with mentions if a cell lists them as JSON.
    RAISES (AngelError): if the table lists mentions instead of documents, or a closing quote is
        missing.
    """
    rows = table_rows(path, reading, *dialect(path))
    _, names = next(rows, (1, []))
    if len([*filter(_EDGE.fullmatch, names)]) > 1:
        raise AngelError(
            f"{reading.where(1)}: expected documents, found a table of mentions (columns: "
            f"{', '.join(names)}). Write JSON lines, one per document, with `text` and `mentions`."
        )
    for number, fields in rows:
        with reading.leaving_out(number, "a document"):
            if len(fields) != len(names):
                raise ValueError(f"{len(names)} columns were expected, {len(fields)} came")
            row = {name: _cell(name, text) for name, text in zip(names, fields, strict=True)}
            yield row_document(row, reading, path, number, id_field, text_field)


def _cell(name: str, text: str) -> Any:
    """The value of a cell. Label Studio writes JSON; `mentions` may also be a number."""
    if name in _TOOL_KEYS and text.startswith('[{"'):
        return parse_json(text)
    return None if name == "mentions" else text or None


_Words = str | int | list[str | int | None] | None


class _Mention(BaseModel):
    start: int
    end: int
    text: str | None = None
    label: _Words = None
    concept_id: _Words = None


class _Row(BaseModel):
    doc_id: Annotated[str, BeforeValidator(lambda v: str(v) if isinstance(v, int | float) else v)]
    text: str
    mentions: list[Any]


def row_document(
    row: Mapping[str, Any],
    reading: Reading,
    path: Path,
    number: int,
    id_field: str,
    text_field: str,
) -> CorpusDocument:
    """Convert a JSON object or a row of a table to a document.

    row (Mapping[str, Any]): see `read_json`.
    reading (Reading): handles faults in mentions.
    path (Path), number (int): file and line number, which name documents without an identifier.
    id_field (str), text_field (str): see `read_json`.
    RETURNS (CorpusDocument): the document with its mentions.
    RAISES (ValueError): if a field is missing or has the wrong type.
    """
    names = ", ".join(row)[:200]
    row = {**{name.lower(): value for name, value in row.items()}, **row}
    fields = (id_field,) if id_field else ID_FIELDS
    doc_id = next((row[name] for name in fields if row.get(name) is not None), None)
    if doc_id is None and id_field:
        raise ValueError(f"the field {id_field} is missing")
    text = row.get(text_field)
    title_end: Any = row.get("title_end")
    if text is None:
        parts = [row.get("title"), row.get("abstract")]
        if not any(isinstance(part, str) for part in parts):
            raise ValueError(
                f"the field {text_field}, or title and abstract, is missing; found {names}. The "
                "option text_field names the field"
            )
        text = " ".join(str(part) for part in parts if part)
        title_end = len(str(parts[0])) if parts[0] else None
    doc_id = f"{path.name}:{number}" if doc_id is None else doc_id
    found = checked({"doc_id": doc_id, "text": text, "mentions": _tool_mentions(row)}, _Row)
    # pandas stores integer columns with missing values as floats.
    title_end = int(title_end) if title_end in range(len(found.text) + 1) else None
    valid = reading.valid(found.mentions, _Mention, number)
    own = (_mention(mention, found, reading, number) for mention in valid)
    return CorpusDocument(found.doc_id, found.text, tuple(filter(None, own)), title_end)


def _mention(mention: _Mention, row: _Row, reading: Reading, number: int) -> GoldMention | None:
    start, end = mention.start, mention.end
    covered = row.text[start:end] if 0 <= start < end <= len(row.text) else ""
    label, ids = _joined(mention.label, ","), _joined(mention.concept_id, "|")
    if not ids and NOTED_IDS.fullmatch(label):
        ids = label
    text = mention.text or covered
    # Label Studio writes a line end as `\\n`.
    text = text if text.split() == covered.split() else text.replace("\\n", "\n")
    given = GoldMention(start, end, text, label, ids)
    return reading.mention(given, row.text, row.doc_id, number)


def _joined(words: _Words, mark: str) -> str:
    words = words if isinstance(words, list) else [words]
    return mark.join(str(word) for word in words if word is not None)


def _is_named(path: Path, *endings: str) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(endings)


def _is_jsonl(path: Path, head: str) -> bool:
    return _is_named(path, ".jsonl", ".ndjson") and not _OTHER.search(first_line(head))


JSONL = Format("jsonl", read_json, _is_jsonl)
JSON = Format("json", read_json, lambda path, head: is_json(head))
CSV = Format("csv", read_csv, lambda path, head: _is_named(path, ".csv", ".tsv"), holds="texts")
PARQUET = Format("parquet", read_parquet, lambda path, head: head.startswith("PAR1"))
