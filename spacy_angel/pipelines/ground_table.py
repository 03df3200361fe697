"""Link the strings in a column of a table, and write the table with what they are linked to."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import tee
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ..errors import AngelError
from ..files.table import Table, read_table
from ..linking.mentions.labels import links_label
from ..vocabulary.names.labels import entity_types_of
from .ground import Grounder, Grounding, Query, as_text

LINK = {"concept_id": str, "concept_name": str, "probability": float}
_CANDIDATE: dict[str, type] = {
    **{"rank": int, "candidate_id": str, "candidate_name": str, "candidate_probability": float}
}
_NOTHING: Sequence[Any] = (None,) * len(LINK)


def ground_table(
    path: Path,
    output: Path,
    grounder: Grounder,
    column: str,
    *,
    context: str | None = None,
    label: str | None = None,
    top: int = 1,
) -> Counter[str]:
    """Link the strings in a column, row by row.

    path (Path): table, see `files.table.read_table`.
    output (Path): table to write.
    grounder (Grounder): links; keeps at least `top` candidates.
    column (str): with the strings.
    context (str | None): column with texts in which they occur.
    label (str | None): column with entity types, or an entity type for all strings.
    top (int): candidates to write, one per row.
    RETURNS (Counter[str]): rows that are `linked`, `not linked` and `blank`.
    RAISES (AngelError): the table cannot be read or written, has no such column, or has columns of
        the names that are written.
    """
    table = read_table(path)
    string, around = table.place(column), table.place(context) if context else None
    kind = _label(table, label, grounder)
    rows, asked = tee(table.rows)
    queries = (
        Query(
            as_text(row[string]),
            "" if around is None else as_text(row[around]),
            kind if isinstance(kind, str) else as_text(row[kind]),
        )
        for row in asked
    )
    groundings = tqdm(grounder.stream(queries), "Grounding", unit=" strings", disable=None)
    counts: Counter[str] = Counter()

    def cells() -> Iterator[list[Any]]:
        for row, one in zip(rows, groundings, strict=False):
            counts["blank" if not one.string else "linked" if one.link else "not linked"] += 1
            yield from ([*row, *own, None] for own in _cells(one, top))

    table.write(output, LINK | (_CANDIDATE if top > 1 else {}) | {"accept": str}, cells())
    return counts


def _label(table: Table, label: str | None, grounder: Grounder) -> int | str:
    """RETURNS (int | str): index of the column of labels, or the label of all strings."""
    if not label or label in table.columns:
        return table.place(label) if label else ""
    if not entity_types_of(label) or not links_label(label, grounder.linker.settings):
        raise AngelError(
            f"--label {label} is neither a column ({', '.join(table.columns)}) nor an entity type "
            "that the pipeline links."
        )
    return label


def _cells(one: Grounding, top: int) -> Iterator[list[Any]]:
    """YIELDS (list[Any]): the added cells of each row of a string, except `accept`."""
    link = one.link or _NOTHING
    if top == 1:
        yield [*link]
        return
    for rank, match in enumerate(one.candidates or [_NOTHING], start=1):
        yield [*link, rank, *match]
