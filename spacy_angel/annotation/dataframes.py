"""Tables of documents → tables of annotated documents, for engines that bring their own readers,
writers and fault tolerance: Ray Data's `map_batches`, Spark's `mapInPandas`."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..corpora.documents import CorpusDocument, Reading
from ..corpora.formats.rows import BadRow, row_document
from ..errors import AngelError
from .document_linker import LinkingSettings, open_linker
from .documents import AnnotatedDocument, to_row
from .outputs import parquet_schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SPARK_SCHEMA = (
    "doc_id string, title_end bigint, text string, mentions array<struct<start: bigint, end: "
    "bigint, text: string, label: string, concept_id: string, name: string, probability: double, "
    "share: double>>, error string"
)
"""The columns of what `frames_linker` gives, without candidates."""


class TableLinker:
    """Links tables of documents; the class for `map_batches(…, batch_format="pyarrow")`.

    folder (str): of the pipeline, on a disk that every machine sees.
    device (str | None): see `document_linker.open_linker`.
    settings (LinkingSettings): see there.
    options (Mapping[str, Any] | None): `id_field`, `text_field`, `prefix`, as for Parquet input.
    strict (bool): raise at the first fault of a row and at a document that fails, instead of
        telling of it in the column `error`.
    RAISES (AngelError): the pipeline cannot be opened.
    """

    def __init__(
        self,
        folder: str,
        device: str | None = None,
        settings: LinkingSettings = LinkingSettings(),  # noqa: B008 (frozen)
        options: Mapping[str, Any] | None = None,
        strict: bool = False,
    ) -> None:
        self._strict = strict
        values = dict(options or {})
        self._prefix = values.pop("prefix", "")
        self._fields = {"id_field": "", "text_field": "text", **values}
        self._candidates = settings.candidates
        self._link = open_linker(folder, device, settings)

    def __call__(self, table: "pa.Table") -> "pa.Table":
        """Link the documents of a table.

        table (pa.Table): columns as a Parquet input has them; others are left out.
        RETURNS (pa.Table): a row for each row, columns as the Parquet output has them, and
            `error`: why a document has no links, or a mention is missing; else null.
        RAISES (AngelError): see `strict`, and `DocumentLinker`.
        """
        import pyarrow as pa

        readings = [self._read(row, number) for number, row in enumerate(table.to_pylist())]
        documents = [document for document, _ in readings if document is not None]
        results = iter(self._link(documents, strict=self._strict))
        rows: list[dict[str, Any]] = []
        for document, error in readings:
            if document is None:
                rows.append({"error": error})
                continue
            result = next(results)
            if not isinstance(result, AnnotatedDocument):
                failed = AnnotatedDocument(document.doc_id, document.text)
                rows.append({**to_row(failed, candidates=False), "error": result.reason})
            else:
                row = to_row(result, candidates=self._candidates)
                rows.append({**row, "error": error or None})
        schema = parquet_schema(candidates=self._candidates, error=True)
        return pa.Table.from_pylist(rows, schema=schema)

    def _read(self, row: Mapping[str, Any], number: int) -> tuple[CorpusDocument | None, str]:
        reading = Reading("table", self._strict, prefix=self._prefix)
        try:
            document = row_document(row, reading, Path("row"), number, **self._fields)
        except BadRow as problem:
            if self._strict:
                where = f"row {number} of a table"
                raise AngelError(f"{where}: not a document: {problem}.") from problem
            return None, str(problem)
        return document, "; ".join(reading.report.notes)


def frames_linker(
    folder: str, **settings: Any
) -> "Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]":
    """A function for Spark's `mapInPandas`; each Python process opens the pipeline once.

        frame.mapInPandas(frames_linker("/shared/pipeline"), schema=SPARK_SCHEMA)

    folder (str): of the pipeline, on a disk that every machine sees.
    settings (Any): fields of `LinkingSettings`.
    RETURNS (Callable): takes and gives frames with the columns of `TableLinker`.
    """
    chosen = LinkingSettings(**settings)

    def link_frames(frames: "Iterator[pd.DataFrame]") -> "Iterator[pd.DataFrame]":
        import pyarrow as pa

        linker = _opened(folder, chosen)
        for frame in frames:
            linked = linker(pa.Table.from_pandas(frame, preserve_index=False))
            yield linked.to_pandas(integer_object_nulls=True)

    return link_frames


@cache
def _opened(folder: str, settings: LinkingSettings) -> TableLinker:
    return TableLinker(folder, settings=settings)
