"""Tables of concepts: CSV (with commas or semicolons), TSV, Excel, and Parquet."""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from ....errors import AngelWarning
from ....files.faults import FileReading
from ....files.formats import Format, first_line
from ....files.table import dialect, rows_of, separator_of
from ....files.table import read_table as read_cells
from ...names.concepts import SCOPES, Concept
from ...names.identifiers import normalize_id
from .lines import read_lines
from .records import (
    NO_ID,
    NO_NAME,
    TREE_NUMBER,
    Concepts,
    VocabularyReport,
    make_concept,
    own_id,
    split_cell,
    with_tree_numbers,
    wrong,
)

# What a column of each role may be called, in small letters with one space between words. A role is
# tried before those after it.
_ROLES = {
    "id": re.compile(r"(\w+ )?(id|cui|code|curie|identifier)"),
    "prefix": re.compile(r"db|database|(id )?prefix"),
    "parents": re.compile(r"parents?( (ids?|codes?|curies?|terms?))?|broader|is a|sub ?class of"),
    "scope": re.compile(r"predicate|scope"),
    "status": re.compile(r"name status"),
    "alternates": re.compile(r"(alt(ernate|ernative)?|former|retired|other) (ids?|codes?)"),
    "synonyms": re.compile(
        r"(\w+ )*synonyms?( \w+)?|alias(es)?|(other|alt|alternative) (name|label)s?"
        r"|also known as|aka|text"
    ),
    "type": re.compile(r"(\w+ )?(types?|category|categories)( ids?)?|class|tuis?"),
    "name": re.compile(r"(\w+ )?(name|label|term|title)|preferred|symbol|str"),
    "definition": re.compile(r"definition|description"),
}
_SEVERAL = ("synonyms", "type", "alternates", "parents")
NOT_USED = "not used"
"""Key in `report.columns` for columns without a role."""
# Common separators of synonyms in a cell, and the number of cells that rules out coincidence.
_SEPARATORS = (";", ", ", "|")
_MIN_CELLS = 2
# Maximum number of rows without identifier or name, in absolute terms and as a proportion.
_MAX_BLANK, _MAX_BLANK_SHARE = 10, 0.1
_WORD = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_SPREADSHEETS = (".xlsx", ".parquet")

Row = list[str]
Roles = dict[str, list[int]]


def read_table(
    path: Path,
    report: VocabularyReport,
    *,
    columns: str | None = None,
    prefix: str | None = None,
    separator: str = "|",
    tree_numbers: str | Path | None = None,
) -> Concepts:
    """A table with a line of column names, or without one if the columns are given by number or are
    `id, name, synonyms`, separated by tabs. Rows with the same identifier are one concept.

    path (Path): CSV or TSV, plain or gzip, `.xlsx`, or `.parquet`.
    columns (str | None): roles of the columns, e.g. `id=Code,name=Label,synonyms=Other
        names,type=Kind`: `id`, `name`, and any of `synonyms`, `type`, `definition`, `alternates`
        (alternate identifiers), `parents`, `prefix` (of the identifier), `scope` (of the synonyms,
        e.g. `EXACT`), and `status` (`P`: preferred name), each with the name of a column or its
        number, from 1. Repeat a role for further columns. None: inferred from the names.
    prefix (str | None): vocabulary of identifiers without a prefix; None: MeSH or UMLS if they have
        that form, otherwise none.
    separator (str): separator of the synonyms, types, or identifiers in a cell. `|` also splits
        names.
    tree_numbers (str | Path | None): tab-separated MeSH tree numbers (`id, name, number`), which
        give types (letter and branch) and the hierarchy.
    YIELDS (Concept): one for each row; `report.columns` contains the columns that were used. Rows
        without identifier or name are counted and skipped.
    RAISES (ValueError): columns are missing or cannot be inferred, a row has more cells than there
        are columns, or more than a tenth of the rows have no identifier or name.
    """
    rows = _rows(path, report)
    first = next(rows, [""])
    may_be_plain = path.suffix.lower() not in (".csv", *_SPREADSHEETS)
    roles, has_names = _roles(first, columns, may_be_plain)
    names = first if has_names else [str(i) for i in range(1, len(first) + 1)]
    report.columns = {role: ", ".join(names[i] for i in own) for role, own in roles.items()}
    used = set(chain.from_iterable(roles.values()))
    if has_names and (unused := [name for i, name in enumerate(names) if i not in used and name]):
        report.columns[NOT_USED] = ", ".join(unused)
    if not has_names:
        rows = chain([first], rows)
    if "status" in roles:
        # MedCAT marks preferred names with P; the first name of a concept is its canonical one.
        status = roles["status"][0]
        rows = iter(sorted(rows, key=lambda row: "P" not in row[status : status + 1]))
    concepts = _concepts(rows, len(first), roles, prefix, separator, report)
    if tree_numbers is not None:
        numbers: dict[str, list[str]] = {}
        for i, line in enumerate(read_lines(Path(tree_numbers), VocabularyReport())):
            code, *_, number = line.split("\t")
            # The first line may have the column names.
            if i or TREE_NUMBER.match(number):
                numbers.setdefault(normalize_id(code, "MESH"), []).append(number)
        concepts = with_tree_numbers(concepts, numbers)
    yield from concepts


def _rows(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """The stripped cells of each row that is not blank, including the column names."""
    if path.suffix.lower() in _SPREADSHEETS:
        table, report.path = read_cells(path), path
        texts = chain([table.columns], ([_text(cell) for cell in row] for row in table.rows))
        numbered: Iterable[tuple[int, Row]] = enumerate(texts, start=1)
    else:
        numbered = rows_of(read_lines(path, report), FileReading(str(path)), *dialect(path))
    for report.line, row in numbered:
        if any(stripped := [cell.strip() for cell in row]):
            yield stripped


def _text(cell: object) -> str:
    if isinstance(cell, list):
        return "|".join(map(str, cell))
    return "" if cell is None or cell != cell else str(cell)


def _roles(first: Row, columns: str | None, may_be_plain: bool) -> tuple[Roles, bool]:
    """The columns of each role, and whether the first row has their names; with `may_be_plain`, two
    or three columns need no names."""
    roles = _guessed(first)
    has_names = "id" in roles
    if columns is not None:
        has_names |= any(pair.partition("=")[2].strip() in first for pair in columns.split(","))
        roles = _given(columns, first)
    elif not _is_complete(roles) and len(first) in (2, 3) and may_be_plain:
        has_names = roles.get("id") == [0]
        roles = {role: [i] for i, role in enumerate(("id", "name", "synonyms")[: len(first)])}
    if not _is_complete(roles):
        raise _bad_columns(f"none is known to be the {'name' if 'id' in roles else 'id'}", first)
    return roles, has_names


def _is_complete(roles: Roles) -> bool:
    return "id" in roles and not roles.keys().isdisjoint(("name", "synonyms"))


def _bad_columns(problem: str, first: Row) -> ValueError:
    found = ", ".join(repr(name[:40]) for name in first[:20])
    return ValueError(f"--columns: {problem}. Found: {found}.")


def _guessed(names: Row) -> Roles:
    """Role → the columns whose names match it."""
    roles: Roles = {}
    for i, name in enumerate(names):
        plain = " ".join(filter(None, _WORD.split(name))).lower()
        for role, pattern in _ROLES.items():
            if pattern.fullmatch(plain) and (role in _SEVERAL or role not in roles):
                roles.setdefault(role, []).append(i)
                break
    return roles


def _given(columns: str, names: Row) -> Roles:
    numbers = {str(i): i - 1 for i in range(1, len(names) + 1)}
    numbers |= {name: names.index(name) for name in names}
    roles: Roles = {}
    for pair in columns.split(","):
        role, _, column = (part.strip() for part in pair.partition("="))
        if role not in _ROLES or column not in numbers:
            expected = f"{', '.join(_ROLES)} with `=` and a column"
            raise _bad_columns(f"{pair!r} is not one of {expected}", names)
        roles.setdefault(role, []).append(numbers[column])
    return roles


def _concepts(
    rows: Iterable[Row],
    n_columns: int,
    roles: Roles,
    prefix: str | None,
    separator: str,
    report: VocabularyReport,
) -> Concepts:
    """One concept for each row. At the end, too many incomplete rows are an error, and cells that
    seem to have another separator give a warning."""
    found: Counter[str] = Counter()
    n_rows = 0
    for row in rows:
        n_rows += 1
        if any(row[n_columns:]):
            raise wrong(f"{n_columns} columns", row)
        cells = {role: [row[i] for i in own if i < len(row)] for role, own in roles.items()}
        synonyms = cells.get("synonyms", ())
        found.update(mark for mark in _SEPARATORS if any(mark in cell for cell in synonyms))
        yield _concept(cells, prefix, separator)
    n_blank = report.skipped[NO_ID] + report.skipped[NO_NAME]
    if n_blank > max(_MAX_BLANK, _MAX_BLANK_SHARE * n_rows):
        raise ValueError(
            f"{n_blank:,} of {n_rows:,} rows have no identifier or no name; expected at most a "
            f"tenth. Columns: {report.columns}. Choose them with --columns, or fill the cells."
        )
    for mark, n_cells in found.items():
        if n_cells >= _MIN_CELLS and mark != separator.strip() and not found[separator]:
            warnings.warn(
                f"{report.path}: no synonyms have {separator!r}, but {n_cells:,} have {mark!r}. "
                f"Did you mean --option 'separator={mark.strip()}'?",
                AngelWarning,
                stacklevel=2,
            )


def _concept(cells: Mapping[str, Row], prefix: str | None, separator: str) -> Concept:
    def text(role: str) -> str:
        return " ".join(cells.get(role, ())).strip()

    def values(role: str, separator: str = separator) -> list[str]:
        return [value for cell in cells.get(role, ()) for value in split_cell(cell, separator)]

    code, scope_text = text("id"), text("scope").upper()
    own_prefix = (text("prefix") if ":" not in code else "") or prefix
    synonyms = values("synonyms")
    # `oboInOwl:hasExactSynonym`, `exact`
    scope = next((scope for scope in SCOPES if scope in scope_text), "")
    return make_concept(
        own_id(code, own_prefix),
        [*values("name", "|" if separator == "|" else "\0"), *synonyms],
        types=values("type"),
        definition=text("definition"),
        alternate_ids=[own_id(other, prefix) for other in values("alternates")],
        parents=[own_id(parent, prefix) for parent in values("parents")],
        scopes=[(name, scope) for name in synonyms if scope],
    )


def _recognizes(path: Path, head: str) -> bool:
    """Check whether these are column names: one is an identifier and another a name, or there are
    two or three columns separated by tabs."""
    line = first_line(head)
    return (
        path.suffix.lower() in _SPREADSHEETS
        or _is_complete(_guessed(line.split(separator_of(line))))
        or line.count("\t") in (1, 2)
    )


FORMAT = Format("table.v1", read_table, _recognizes)
