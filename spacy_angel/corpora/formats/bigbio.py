"""BigBIO's knowledge base schema, in which `datasets` can load many biomedical corpora.

from datasets import load_dataset

corpus = load_dataset("bigbio/bc5cdr", "bc5cdr_bigbio_kb")["train"]
corpus.to_json("train.jsonl")  # or corpus.save_to_disk("train")
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from ...files.formats import Format, first_line
from ...files.json_values import checked
from ...files.table import import_optional
from ..documents import CorpusDocument, GoldMention, Reading
from .rows import json_rows

# Maximum number of characters between two passages.
_MAX_GAP = 100
_UNKNOWN = ("", "-", "-1")


class _Identifier(BaseModel):
    db_name: str | None = None
    db_id: str | None = None

    def __str__(self) -> str:
        code, prefix = self.db_id or "", self.db_name or ""
        is_whole = not prefix or ":" in code or code in _UNKNOWN
        return code if is_whole else f"{prefix}:{code}"


class _Part(BaseModel):
    type: str = ""
    text: Annotated[list[str], Field(min_length=1)]
    offsets: Annotated[list[tuple[int, int]], Field(min_length=1)]
    normalized: list[_Identifier] = []


class _Row(BaseModel):
    document_id: str
    passages: list[_Part]
    entities: list[_Part] = []


def read_bigbio(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read documents in BigBIO's schema `bigbio_kb`.

    path (Path): JSON lines, plain or gzip, or a folder written by `Dataset.save_to_disk`.
    reading (Reading): handles faults.
    RETURNS (Iterator[CorpusDocument]): the documents. A discontinuous mention spans from its first
        to its last part, and its `read_as` contains only the parts.
    RAISES (AngelError): if the path is a folder and `datasets` is not installed.
    """
    rows = enumerate(_load(path), 1) if path.is_dir() else json_rows(path, reading)
    for number, values in rows:
        with reading.leaving_out(number, "a document of BigBIO's schema"):
            row = checked(values, _Row)
            text, title_end = "", None
            for passage in row.passages:
                for (start, _), part in zip(passage.offsets, passage.text, strict=True):
                    if not 0 <= start - len(text) <= _MAX_GAP:
                        raise ValueError(f"a passage begins at {start}, after {len(text)}")
                    text = text.ljust(start) + part
                if passage.type == "title":
                    title_end = len(text)
            found = (_mention(entity, text, reading, row, number) for entity in row.entities)
            mentions = tuple(mention for mention in found if mention is not None)
            yield CorpusDocument(row.document_id, text, mentions, title_end=title_end)


def _mention(
    entity: _Part, text: str, reading: Reading, row: _Row, number: int
) -> GoldMention | None:
    start, end = entity.offsets[0][0], entity.offsets[-1][1]
    ids = "|".join(filter(lambda one: one not in _UNKNOWN, map(str, entity.normalized)))
    in_parts = " ".join(entity.text) if len(entity.text) > 1 else ""
    covered = text[start:end] if in_parts else entity.text[0]
    given = GoldMention(start, end, covered, entity.type, ids, read_as=in_parts)
    return reading.mention(given, text, row.document_id, number)


def _load(path: Path) -> Iterable[dict[str, Any]]:
    dataset: Iterable[dict[str, Any]] = import_optional("datasets", "train").load_from_disk(path)
    return dataset


def _recognises(path: Path, head: str) -> bool:
    if path.is_dir():
        return (path / "state.json").is_file() and (path / "dataset_info.json").is_file()
    return all(f'"{name}":' in first_line(head) for name in ("document_id", "passages", "entities"))


FORMAT = Format("bigbio", read_bigbio, _recognises)
