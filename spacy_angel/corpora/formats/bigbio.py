"""BigBIO's knowledge base schema, in which `datasets` can load many biomedical corpora.

from datasets import load_dataset

corpus = load_dataset("bigbio/bc5cdr", "bc5cdr_bigbio_kb")["train"]
corpus.to_json("train.jsonl")
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...files.formats import Format
from ...files.json_objects import read_objects
from ...files.json_values import checked
from ..documents import CorpusDocument, Reading
from .bioc import bioc_document


class _Identifier(BaseModel):
    db_name: str | None = None
    db_id: str | None = None

    def __str__(self) -> str:
        code, prefix = self.db_id or "", self.db_name or ""
        is_whole = not prefix or ":" in code or code in ("", "-", "-1")
        return code if is_whole else f"{prefix.replace(' ', '')}:{code.replace('|', f'|{prefix}:')}"


class _Part(BaseModel):
    type: str | list[str] = ""
    text: list[str]
    offsets: list[tuple[int, int]]
    normalized: list[_Identifier] = []


class _Row(BaseModel):
    document_id: str
    passages: list[_Part]
    entities: list[_Part] = []


def read_bigbio(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read documents in BigBIO's schema `bigbio_kb`.

    path (Path): JSON lines or a list, plain or gzip.
    reading (Reading): handles faults.
    RETURNS (Iterator[CorpusDocument]): the documents. A discontinuous mention spans from its first
        to its last part, and its `read_as` contains only the parts.
    """
    for number, values in read_objects(path, reading):
        with reading.leaving_out(number, "a document of BigBIO's schema"):
            yield bioc_document(_as_bioc(checked(values, _Row)), reading, number)


def _as_bioc(row: _Row) -> dict[str, Any]:
    passages = [
        {"offset": start, "text": text, "infons": {"type": passage.type}}
        for passage in row.passages
        for (start, _), text in zip(passage.offsets, passage.text, strict=True)
    ]
    annotations = []
    for entity in row.entities:
        locations = [{"offset": start, "length": end - start} for start, end in entity.offsets]
        text, ids = " ".join(entity.text), "|".join(map(str, entity.normalized))
        infons: dict[str, Any] = {"type": entity.type, "identifier": ids}
        infons["read_as"] = text if len(locations) > 1 else ""
        annotations.append({"text": text, "locations": locations, "infons": infons})
    return {"id": row.document_id, "passages": passages, "annotations": annotations}


def _recognises(path: Path, head: str) -> bool:
    return all(f'"{name}":' in head for name in ("document_id", "passages", "entities"))


FORMAT = Format("bigbio", read_bigbio, _recognises)
