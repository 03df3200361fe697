"""Tables written by `spacy-angel ground`, after a curator has filled in the column `accept`."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import AngelError
from ...files.formats import Format, first_line
from ...files.table import read_table
from ..documents import CorpusDocument, Reading

_YES, _NO = ("yes", "y", "true", "x"), ("no", "n", "false")


def read_grounded(
    path: Path, reading: Reading, column: str = "", context: str = "", label: str = ""
) -> Iterator[CorpusDocument]:
    """Read a table with a column `accept`, in which `yes` accepts the concept in the row, an
    identifier replaces it, and `no` means that there is no concept. Rows without a value in this
    column are skipped.

    path (Path): CSV, TSV, Excel, or Parquet.
    reading (Reading): completes identifiers.
    column (str): column with the strings.
    context (str): column with texts that contain the strings, if any.
    label (str): column with entity types, if any.
    RETURNS (Iterator[CorpusDocument]): one document per reviewed string. If candidates are in
        separate rows, `no` applies only if no candidate is accepted.
    RAISES (AngelError): if a column is missing.
    """
    table = read_table(path)
    if not column:
        raise AngelError(f"{path}: name the column of strings, `--option column=NAME`.")
    accept = table.place("accept")
    concept = table.place("candidate_id" if "candidate_id" in table.columns else "concept_id")
    places = [table.place(name) if name else None for name in (column, context, label)]
    reviewed: dict[tuple[str, ...], dict[str, int]] = {}
    for number, row in enumerate(table.rows, start=2):
        query = tuple(" ".join(_text(row, i).split()) for i in places)
        decision = _text(row, accept).strip()
        if not decision or not query[0]:
            continue
        chosen = _text(row, concept) if decision.lower() in _YES else decision
        if not chosen:
            where = reading.where(number)
            raise AngelError(f"{where}: `accept` is {decision!r}, but the row has no concept.")
        ids = "" if decision.lower() in _NO else reading.concept_ids(chosen)
        reviewed.setdefault(query, {}).setdefault(ids, number)
    for (string, around, kind), numbers in reviewed.items():
        for ids, number in numbers.items():
            if ids or len(numbers) == 1:
                doc_id = f"{path.name}:{number}"
                yield CorpusDocument.of_string(doc_id, string, around, kind, ids)


def _text(row: Sequence[Any], place: int | None) -> str:
    return "" if place is None or row[place] is None else str(row[place])


def _is_grounded(path: Path, head: str) -> bool:
    has_column = not head.startswith(("{", "[")) and re.search(r"\baccept\b", first_line(head))
    return path.suffix.lower() == ".xlsx" or bool(has_column)


FORMAT = Format("grounded", read_grounded, _is_grounded, holds="mentions")
