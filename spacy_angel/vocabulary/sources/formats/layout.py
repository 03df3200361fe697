"""Tables whose columns are known: a layout says what they hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...names.concepts import SCOPES
from .records import NO_ID, NO_NAME, Concepts, VocabularyReport, make_concept, own_id, tree_types

Cells = Mapping[Any, str]
"""The cells of a row by column: the name of the column, or its index."""
# Rows without identifier or name that a table may have, whatever its size, and as a share.
_MAX_BLANK, _MAX_BLANK_SHARE = 10, 0.1


@dataclass(frozen=True, slots=True)
class Layout:
    """What the columns of a table hold.

    columns (Mapping[str, Sequence[Any]]): role → its columns; those that a table lacks count as
        blank. Roles:

            id           the identifier
            prefix       its vocabulary
            name         a name; the first one is canonical
            synonyms     further names
            scope        what they are to the concept, e.g. `EXACT`
            type         semantic types
            tree         MeSH tree numbers, of which types are made
            definition   a text
            alternates   further identifiers
            parents      identifiers of the concepts above it

    prefix (str | None): vocabulary of identifiers without prefix, see `own_id`.
    prefixes (Mapping[str, str]): the same for single columns of `alternates`.
    separator (str): between the values of a cell; in the columns of `name`, only `|` is one.
    distinct (bool): drop repeated names, where several columns have the same one.
    """

    columns: Mapping[str, Sequence[Any]]
    prefix: str | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)
    separator: str = "|"
    distinct: bool = False

    def concepts(self, rows: Iterable[Cells], report: VocabularyReport) -> Concepts:
        """Make a concept of each row. Rows without identifier or name are counted and skipped.

        rows (Iterable[Cells]): the table. report (VocabularyReport): gets the counts.
        YIELDS (Concept): one for each row.
        RAISES (ValueError): more than a tenth of the rows have no identifier or name.
        """
        n_rows = n_blank = 0
        for cells in rows:
            n_rows += 1
            code = self._text("id", cells)
            names = self._values("name", cells)
            synonyms = self._values("synonyms", cells)
            if not code or not (names or synonyms):
                report.skipped[NO_NAME if code else NO_ID] += 1
                n_blank += 1
                continue
            vocabulary = self._text("prefix", cells) if ":" not in code else ""
            scope = _scope(self._text("scope", cells))
            all_names = [*names, *synonyms]
            yield make_concept(
                own_id(code, vocabulary or self.prefix),
                dict.fromkeys(all_names) if self.distinct else all_names,
                types=[*tree_types(self._values("tree", cells)), *self._values("type", cells)],
                definition=self._text("definition", cells),
                alternate_ids=[
                    own_id(code, self.prefixes.get(column, self.prefix))
                    for column in self.columns.get("alternates", ())
                    for code in _split(cells.get(column, ""), self.separator)
                ],
                parents=[own_id(code, self.prefix) for code in self._values("parents", cells)],
                scopes=[(name, scope) for name in synonyms if scope],
            )
        if n_blank > max(_MAX_BLANK, _MAX_BLANK_SHARE * n_rows):
            raise ValueError(
                f"{n_blank:,} of {n_rows:,} rows have no identifier or no name; expected at most "
                f"a tenth. Columns: {report.columns or dict(self.columns)}. Choose them with "
                "--columns, or fill the cells."
            )

    def _text(self, role: str, cells: Cells) -> str:
        return " ".join(cells.get(column, "") for column in self.columns.get(role, ())).strip()

    def _values(self, role: str, cells: Cells) -> list[str]:
        separator = self.separator if role != "name" or self.separator == "|" else "\0"
        columns = self.columns.get(role, ())
        return [value for c in columns for value in _split(cells.get(c, ""), separator)]


def _split(cell: str, separator: str) -> list[str]:
    if not cell:
        return []
    return [text for part in cell.split(separator) if (text := " ".join(part.split()))]


def _scope(text: str) -> str:
    """`oboInOwl:hasExactSynonym`, `exact` → `EXACT`; empty if it is none."""
    return next((scope for scope in SCOPES if scope in text.upper()), "")
