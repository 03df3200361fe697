"""Output formats: serialization of annotated documents.

A row is a JSON object with `input`, `doc_id`, `title_end`, `text`, and `mentions`. A mention has
`start`, `end`, `text`, `label`, `concept_id`, `name`, the two SCORES, and optionally those of
`CONTEXT` and `candidates`.
"""

import csv
import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from ..files.table import import_optional
from ..pipelines.negation import CONTEXT

Row: TypeAlias = dict[str, Any]

SCORES = ("probability", "share")
"""Names of the score of a link: a probability that it is right, or a share among names."""

# Columns and their types in Parquet.
_LINK = {"concept_id": "string", "name": "string", **dict.fromkeys(SCORES, "float64")}
_MENTION = {"start": "int64", "end": "int64", "text": "string", "label": "string", **_LINK}
_CONTEXT = {**dict.fromkeys(CONTEXT[:-1], "bool"), CONTEXT[-1]: "string"}


def _jsonl(rows: Sequence[Row], _candidates: bool, _negation: bool) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _parquet(rows: Sequence[Row], candidates: bool, negation: bool) -> bytes:
    pq = import_optional("pyarrow.parquet", "parquet")
    import pyarrow as pa

    mention: dict[str, Any] = _MENTION | (_CONTEXT if negation else {})
    if candidates:
        mention["candidates"] = pa.list_(pa.struct(_LINK.items()))
    columns = {"input": "string", "doc_id": "string", "title_end": "int64", "text": "string"}
    schema = pa.schema(columns | {"mentions": pa.list_(pa.struct(mention.items()))})
    table = pa.Table.from_pylist(list(rows), schema=schema)
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _table(rows: Sequence[Row], candidates: bool, negation: bool, separator: str) -> bytes:
    """A row per mention, quoted where needed; candidates are JSON."""
    columns = ["input", "doc_id", *_MENTION, *(_CONTEXT if negation else ())]
    columns += ["candidates"] * candidates
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, delimiter=separator, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        for mention in row["mentions"]:
            values = {"input": row["input"], "doc_id": row["doc_id"], **mention}
            if candidates:
                values["candidates"] = json.dumps(mention["candidates"], ensure_ascii=False)
            writer.writerow(values)
    return text.getvalue().encode()


OUTPUT_FORMATS: dict[str, Callable[[Sequence[Row], bool, bool], bytes]] = {
    "jsonl": _jsonl,
    "parquet": _parquet,
    "csv": partial(_table, separator=","),
    "tsv": partial(_table, separator="\t"),
}
"""By name, which is also the suffix of files: rows, and whether they have candidates and the
columns of CONTEXT, to bytes."""
