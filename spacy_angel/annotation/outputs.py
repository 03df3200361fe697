"""Output formats: annotated documents become the bytes of a file.

Each document is encoded by itself, so that one that a format cannot hold (an identifier with `|` in
PubTator) does not affect the others.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..corpora.documents import CorpusDocument
from ..corpora.formats.bioc import bioc_collection, to_bioc
from ..corpora.formats.pubtator import format_pubtator
from ..corpora.formats.rows import import_parquet

SCORES = ("probability", "share")
"""Names of the score of a link: a probability that it is right, or a share among names."""


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A document with its links.

    document (CorpusDocument): its mentions have the identifiers that they were linked to, empty
        for NIL.
    links (list[dict[str, Any]]): for each mention the canonical `name` of its concept, and one of
        `probability` (with `rerank`) and `share`, rounded; the others are None, as all are without
        a concept. With `candidates`, all concepts that were found, best first.
    input (str): name of the file that the document is from, without its folder.
    """

    document: CorpusDocument
    links: list[dict[str, Any]]
    input: str = ""

    def to_row(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): a JSON object or table row, with `input`, `doc_id`,
        `title_end`, `text` and `mentions`; a mention has `start`, `end`, `text`, `label`,
        `concept_id`, and the fields of its link."""
        mentions = [
            {"start": m.start, "end": m.end, "text": m.text, "label": m.label}
            | {"concept_id": m.concept_ids or None, **link}
            for m, link in zip(self.document.mentions, self.links, strict=True)
        ]
        return {
            "input": self.input,
            "doc_id": self.document.doc_id,
            "title_end": self.document.title_end,
            "text": self.document.text,
            "mentions": mentions,
        }


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """How documents become a file.

    suffix (str): of the file's name.
    encode (Callable): makes the piece of a document.
    join (Callable): makes the file from the pieces; is told whether they have candidates.
    """

    suffix: str
    encode: Callable[[AnnotatedDocument], Any]
    join: Callable[[Sequence[Any], bool], bytes] = lambda pieces, _: b"".join(pieces)


def _join_parquet(rows: Sequence[Any], candidates: bool) -> bytes:
    pq = import_parquet()
    import pyarrow as pa

    scores = [(name, pa.float64()) for name in SCORES]
    names = [("concept_id", pa.string()), ("name", pa.string()), *scores]
    offsets = [("start", pa.int64()), ("end", pa.int64())]
    mention = [*offsets, ("text", pa.string()), ("label", pa.string()), *names]
    if candidates:
        mention.append(("candidates", pa.list_(pa.struct(names))))
    columns = [("input", pa.string()), ("doc_id", pa.string()), ("title_end", pa.int64())]
    columns += [("text", pa.string()), ("mentions", pa.list_(pa.struct(mention)))]
    table = pa.Table.from_pylist(list(rows), schema=pa.schema(columns))
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _bioc(document: AnnotatedDocument) -> dict[str, Any]:
    """BioC as in `corpora`, with name, score and candidates as further infons."""
    value = to_bioc(document.document)
    value["infons"]["input"] = document.input
    for passage in value["passages"]:
        for annotation in passage["annotations"]:
            link = document.links[int(annotation["id"])]
            if scores := {name: str(link[name]) for name in SCORES if link[name] is not None}:
                annotation["infons"] |= {"name": link["name"], **scores}
            if "candidates" in link:
                found = [
                    [c["concept_id"], c["name"], *(c[n] for n in SCORES if c[n] is not None)]
                    for c in link["candidates"]
                ]
                annotation["infons"]["candidates"] = json.dumps(found, ensure_ascii=False)
    return value


def _table(suffix: str, separator: str) -> OutputFormat:
    """A table with a row per mention, quoted where needed."""

    def encode(document: AnnotatedDocument) -> bytes:
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

    return OutputFormat(suffix, encode, join)


OUTPUT_FORMATS = {
    "jsonl": OutputFormat(
        ".jsonl", lambda each: (json.dumps(each.to_row(), ensure_ascii=False) + "\n").encode("utf8")
    ),
    "parquet": OutputFormat(".parquet", AnnotatedDocument.to_row, _join_parquet),
    "csv": _table(".csv", ","),
    "tsv": _table(".tsv", "\t"),
    "pubtator": OutputFormat(
        ".pubtator", lambda each: format_pubtator(each.document).encode("utf8")
    ),
    "bioc_json": OutputFormat(
        ".bioc.json", _bioc, lambda documents, _: b"".join(bioc_collection(documents))
    ),
}
