"""Output formats: annotated documents become the bytes of a file.

Each document is encoded by itself, so that one that a format cannot hold (an identifier with `|` in
PubTator) does not affect the others.
"""

import csv
import io
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..corpora.docs import GOLD_SPANS, to_doc
from ..corpora.formats.bioc import bioc_collection, to_bioc
from ..corpora.formats.pubtator import format_pubtator
from ..corpora.formats.rows import import_parquet
from ..errors import AngelError
from .documents import SCORES, AnnotatedDocument

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """How documents become a file.

    suffix (str): of the file's name.
    encode (Callable): makes the piece of a document; also gets the pipeline.
    join (Callable): makes the file from the pieces; is told whether they have candidates.
    header (int | None): lines that only the first of several files keeps when they are
        concatenated; None where they cannot be.
    """

    suffix: str
    encode: Callable[[AnnotatedDocument, "Language"], Any]
    join: Callable[[Sequence[Any], bool], bytes]
    header: int | None = None


def _parquet_schema(candidates: bool) -> Any:
    import pyarrow as pa

    scores = [(name, pa.float64()) for name in SCORES]
    names = [("concept_id", pa.string()), ("name", pa.string()), *scores]
    offsets = [("start", pa.int64()), ("end", pa.int64())]
    mention = [*offsets, ("text", pa.string()), ("label", pa.string()), *names]
    if candidates:
        mention.append(("candidates", pa.list_(pa.struct(names))))
    columns = [
        ("input", pa.string()),
        ("doc_id", pa.string()),
        ("title_end", pa.int64()),
        ("text", pa.string()),
        ("mentions", pa.list_(pa.struct(mention))),
    ]
    return pa.schema(columns)


def _join_parquet(rows: Sequence[Any], candidates: bool) -> bytes:
    pq = import_parquet()
    import pyarrow as pa

    table = pa.Table.from_pylist(list(rows), schema=_parquet_schema(candidates))
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _bioc(document: AnnotatedDocument, _: "Language") -> dict[str, Any]:
    """BioC as in `corpora`, with name, score and candidates as further infons."""
    value = to_bioc(document.document)
    value["infons"]["input"] = document.input
    for passage in value["passages"]:
        for annotation in passage["annotations"]:
            link = document.links[int(annotation["id"])]
            if scores := {name: str(link[name]) for name in SCORES if link[name] is not None}:
                annotation["infons"] |= {"name": link["name"], **scores}
            if "candidates" in link:
                found = [[c["concept_id"], c["name"], _score(c)] for c in link["candidates"]]
                annotation["infons"]["candidates"] = json.dumps(found, ensure_ascii=False)
    return value


def _doc(document: AnnotatedDocument, nlp: "Language") -> "Doc":
    """A Doc with all mentions in `doc.spans["gold"]`, those that do not overlap in `doc.ents`, and
    `kb_id_`, `._.kb_id` and `._.kb_ents` on each; `doc.user_data["input"]` names the file."""
    doc = to_doc(document.document, nlp)
    doc.user_data["input"] = document.input
    for span, link in zip(doc.spans[GOLD_SPANS], document.links, strict=True):
        span._.kb_id = span.kb_id_
        if (score := _score(link)) is not None:
            best = [{"concept_id": span.kb_id_, SCORES[0]: score}]
            found = link.get("candidates", best)
            span._.kb_ents = [(c["concept_id"], _score(c)) for c in found]
    return doc


def _score(values: dict[str, Any]) -> float | None:
    return next((values[name] for name in SCORES if values.get(name) is not None), None)


def _join_docs(docs: Sequence[Any], _: bool) -> bytes:
    from spacy.tokens import DocBin

    return DocBin(store_user_data=True, docs=docs).to_bytes()


def _concatenate(pieces: Sequence[bytes], _: bool) -> bytes:
    return b"".join(pieces)


def _table(suffix: str, separator: str) -> OutputFormat:
    """A table with a row per mention, quoted where needed."""

    def rows(document: AnnotatedDocument, _: "Language") -> bytes:
        row = document.to_row()
        mentions = row["mentions"]
        for mention in mentions:
            if "candidates" in mention:
                mention["candidates"] = json.dumps(mention["candidates"], ensure_ascii=False)
        return lines([row["input"], row["doc_id"], *mention.values()] for mention in mentions)

    def join(pieces: Sequence[bytes], candidates: bool) -> bytes:
        fields = ["start", "end", "text", "label", "concept_id", "name", *SCORES]
        columns = ["input", "doc_id", *fields]
        return b"".join([lines([columns + ["candidates"] * candidates]), *pieces])

    def lines(values: Iterable[Sequence[Any]]) -> bytes:
        text = io.StringIO()
        csv.writer(text, delimiter=separator, lineterminator="\n").writerows(values)
        return text.getvalue().encode("utf8")

    return OutputFormat(suffix, rows, join, header=1)


OUTPUT_FORMATS = {
    "jsonl": OutputFormat(
        ".jsonl",
        lambda each, _: (json.dumps(each.to_row(), ensure_ascii=False) + "\n").encode("utf8"),
        _concatenate,
        header=0,
    ),
    "parquet": OutputFormat(".parquet", lambda each, _: each.to_row(), _join_parquet),
    "csv": _table(".csv", ","),
    "tsv": _table(".tsv", "\t"),
    "pubtator": OutputFormat(
        ".pubtator",
        lambda each, _: format_pubtator(each.document).encode("utf8"),
        _concatenate,
        header=0,
    ),
    "bioc_json": OutputFormat(
        ".bioc.json", _bioc, lambda documents, _: b"".join(bioc_collection(documents))
    ),
    "docbin": OutputFormat(".spacy", _doc, _join_docs),
}


def shard_writer(format: str, file: BinaryIO) -> Callable[[Path], None]:
    """Concatenate the shards of an output in one stream.

    format (str): one of OUTPUT_FORMATS. file (BinaryIO): the stream.
    RETURNS (Callable[[Path], None]): to be called with each shard's file, in order.
    RAISES (AngelError): files of the format cannot be concatenated.
    """
    streams = [name for name, value in OUTPUT_FORMATS.items() if value.header is not None]
    if format not in streams:
        known = ", ".join(streams)
        raise AngelError(f"Standard output can be {known}, not {format}. Give a folder.")
    skipped = 0

    def write(shard: Path) -> None:
        nonlocal skipped
        with open(shard, "rb") as source:
            for _ in range(skipped):
                source.readline()
            shutil.copyfileobj(source, file)
        file.flush()
        skipped = OUTPUT_FORMATS[format].header or 0

    return write
