"""Annotate tables of documents inside of Ray Data (`map_batches`) or Spark (`mapInPandas`), which
read, write and restart by themselves."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..corpora.documents import CorpusDocument, Reading
from ..corpora.formats.rows import BadRow, row_document
from ..errors import AngelError
from .document_linker import LinkingSettings, open_linker
from .documents import Failure
from .outputs import parquet_schema

if TYPE_CHECKING:
    import pyarrow as pa


class TableLinker:
    """Links tables of documents; the class for `map_batches(…, batch_format="pyarrow")`.

    folder (str): of the pipeline, on a disk that every machine sees.
    device (str | None): see `document_linker.open_linker`.
    settings (LinkingSettings): see there.
    options (Mapping[str, Any] | None): `id_field`, `text_field`, `prefix`, as for Parquet input.
    strict (bool): raise at the first fault of a row and at a document that fails, instead of
        writing it to the column `error`.
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
        self._schema = parquet_schema(candidates=settings.candidates, error=True)
        self._link = open_linker(folder, device, settings)

    def __call__(self, table: "pa.Table") -> "pa.Table":
        """Link the documents of a table.

        table (pa.Table): columns as in Parquet input; others are ignored.
        RETURNS (pa.Table): a row for each row, with the columns of the Parquet output and `error`:
            why a document has no links or lacks a mention, else null.
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
            elif isinstance(result := next(results), Failure):
                row = {"doc_id": document.doc_id, "text": document.text, "mentions": []}
                rows.append({**row, "error": result.reason})
            else:
                rows.append({**result.to_row(), "error": error or None})
        return pa.Table.from_pylist(rows, schema=self._schema)

    def _read(self, row: Mapping[str, Any], number: int) -> tuple[CorpusDocument | None, str]:
        reading = Reading("table", self._strict, prefix=self._prefix)
        try:
            document = row_document(row, reading, Path("row"), number, **self._fields)
        except BadRow as problem:
            if self._strict:
                raise AngelError(f"Row {number} is not a document: {problem}.") from problem
            return None, str(problem)
        return document, "; ".join(reading.report.notes)
