"""Tables in Markdown."""

from collections.abc import Iterable, Mapping
from typing import Any


def markdown_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Format rows as a Markdown table.

    rows (Iterable[Mapping[str, Any]]): the rows, each a mapping of column names to values.
    RETURNS (str): the table. Floats are rounded to one decimal place, and all columns except the
        first are right-aligned.
    """
    rows = list(rows)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [
        columns,
        ["---", *["--:"] * (len(columns) - 1)],
        *([_cell(row.get(column)) for column in columns] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines if columns)


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "–".join(map(_cell, value))
    if isinstance(value, (int, float)):
        return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
    return "–" if value in (None, "") else str(value).replace("|", "\\|").replace("\n", " ")
