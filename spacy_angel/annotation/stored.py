"""What `annotate` has written, read again with names, scores and candidates."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ..corpora.documents import CorpusDocument, Reading
from ..corpora.formats.rows import BadRow, import_parquet, json_rows, row_document
from ..corpora.registry import read_corpus
from ..errors import AngelError
from ..files.json_values import checked, parse_as
from ..files.table import table_rows
from .documents import SCORES, AnnotatedDocument, AnnotatedMention, ScoredConcept
from .outputs import MENTION_COLUMNS
from .source import Input

# Tables of mentions, which have no texts, and what separates their columns.
TABLES = {"csv": ",", "tsv": "\t"}


# What 0.1 called a probability as well as a share.
_ONCE = "score"


class _Candidate(BaseModel):
    concept_id: str
    name: str
    probability: float | None = None
    share: float | None = None
    score: float | None = None


class _Link(BaseModel):
    """What a stored mention says of its link, beside the identifier."""

    name: str | None = None
    probability: float | None = None
    share: float | None = None
    score: float | None = None
    candidates: list[_Candidate] | None = None


def stored_format(source: Input) -> str:
    """source (Input): a file that `annotate` wrote. RETURNS (str): of `OUTPUT_FORMATS`; as an input
    a table is `csv`, whatever separates its columns."""
    is_table = source.format == "csv" and source.paths[0].suffix == ".tsv"
    return "tsv" if is_table else source.format


def read_stored(source: Input) -> Iterator[AnnotatedDocument]:
    """Stream the documents of a shard.

    source (Input): a file in a format that `annotate` writes.
    YIELDS (AnnotatedDocument): JSON lines, Parquet files and tables of mentions hold names, scores
        and candidates; of the others there is the identifier of each mention. Of a table there are
        the documents with mentions, and their texts are empty.
    RAISES (AngelError): it cannot be read.
    """
    (path,) = source.paths
    if (format := stored_format(source)) in TABLES:
        yield from _of_table(path, TABLES[format])
    elif source.format in ("jsonl", "parquet"):
        reading = Reading(str(path))
        rows = json_rows(path, reading) if source.format == "jsonl" else _parquet_rows(path)
        for number, row in rows:
            try:
                document = row_document(row, reading, path, number, "", "text")
                yield _annotated(document, row["mentions"] or ())
            except (BadRow, KeyError, TypeError, ValueError) as error:
                where = f"{path}, row {number}"
                raise AngelError(f"{where}: not a document: {error}.") from error
    else:
        for document in read_corpus(path, source.format, keep_duplicates=True):
            yield _annotated(document, [{}] * len(document.mentions))


def _of_table(path: Path, separator: str) -> Iterator[AnnotatedDocument]:
    reading = Reading(str(path))
    rows = table_rows(path, reading, separator)
    _, names = next(rows, (1, []))
    if missing := sorted({*MENTION_COLUMNS} - {*SCORES} - {*names}):
        raise AngelError(
            f"{path} is not a table of mentions by `annotate`: the columns {', '.join(missing)} "
            "are missing."
        )
    cells = ((number, _named(reading, number, names, row)) for number, row in rows)
    for doc_id, group in groupby(cells, key=lambda pair: pair[1]["doc_id"]):
        mentions = tuple(_of_row(reading, number, row) for number, row in group)
        yield AnnotatedDocument(doc_id, "", mentions)


def _named(reading: Reading, number: int, names: list[str], row: list[str]) -> dict[str, str]:
    if len(row) < len(names):
        problem = f"{len(names)} columns were expected, not {len(row)}"
        raise AngelError(f"{reading.where(number)}: not a document: {problem}.")
    return dict(zip(names, row, strict=False))


def _of_row(reading: Reading, number: int, row: Mapping[str, str]) -> AnnotatedMention:
    try:
        candidates = parse_as(row.get("candidates") or "[]", list[_Candidate])
        probability, *others = (float(row[n]) if row.get(n) else None for n in (*SCORES, _ONCE))
        return AnnotatedMention(
            int(row["start"]),
            int(row["end"]),
            row["text"],
            row["label"],
            concept_id=row["concept_id"],
            name=row["name"],
            score=_first_of(probability, *others),
            candidates=_scored(candidates),
            is_share=_is_share(probability, candidates),
        )
    except (KeyError, TypeError, ValueError) as error:
        where = reading.where(number)
        raise AngelError(f"{where}: not a document: {error}.") from error


def _parquet_rows(path: Path) -> Iterator[tuple[int, Any]]:
    pq = import_parquet()
    try:
        with pq.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches() for row in batch.to_pylist())
            yield from enumerate(rows, start=1)
    except (OSError, ValueError) as error:
        raise AngelError(
            f"{path}, after row 1: not a Parquet file, or damaged ({error})."
        ) from error


def _annotated(document: CorpusDocument, rows: Any) -> AnnotatedDocument:
    links = checked(list(rows), list[_Link])
    mentions = tuple(
        AnnotatedMention(
            mention.start,
            mention.end,
            mention.text,
            mention.label,
            concept_id=mention.concept_ids,
            name=link.name or "",
            score=_first_of(link.probability, link.share, link.score),
            candidates=_scored(link.candidates or ()),
            parts=mention.parts,
            is_share=_is_share(link.probability, link.candidates or ()),
        )
        for mention, link in zip(document.mentions, links, strict=True)
    )
    return AnnotatedDocument(document.doc_id, document.text, mentions, title_end=document.title_end)


def _scored(candidates: Iterable[_Candidate]) -> tuple[ScoredConcept, ...]:
    return tuple(
        ScoredConcept(c.concept_id, c.name, _first_of(c.probability, c.share, c.score) or 0.0)
        for c in candidates
    )


def _first_of(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _is_share(probability: float | None, candidates: Iterable[_Candidate]) -> bool:
    """A mention without a link has no score of its own; then its candidates tell."""
    return probability is None and all(each.probability is None for each in candidates)
