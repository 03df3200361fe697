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


def _jsonl(rows: Sequence[Row], _candidates: bool, _negation: bool) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _parquet(rows: Sequence[Row], candidates: bool, negation: bool) -> bytes:
    pq = import_optional("pyarrow.parquet", "parquet")
    import pyarrow as pa

    scores = [(name, pa.float64()) for name in SCORES]
    names = [("concept_id", pa.string()), ("name", pa.string()), *scores]
    offsets = [("start", pa.int64()), ("end", pa.int64())]
    mention = [*offsets, ("text", pa.string()), ("label", pa.string()), *names]
    if negation:
        mention += [(name, pa.bool_()) for name in CONTEXT[:-1]] + [(CONTEXT[-1], pa.string())]
    if candidates:
        mention.append(("candidates", pa.list_(pa.struct(names))))
    columns = [("input", pa.string()), ("doc_id", pa.string()), ("title_end", pa.int64())]
    columns += [("text", pa.string()), ("mentions", pa.list_(pa.struct(mention)))]
    table = pa.Table.from_pylist(list(rows), schema=pa.schema(columns))
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _table(rows: Sequence[Row], candidates: bool, negation: bool, separator: str) -> bytes:
    """A row per mention, quoted where needed; candidates are JSON."""
    columns = ["input", "doc_id", "start", "end", "text", "label", "concept_id", "name", *SCORES]
    columns += [*(CONTEXT if negation else ()), *["candidates"] * candidates]
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
