"""Tables of concepts: CSV (with commas or semicolons), TSV, Excel and Parquet."""

import csv
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from ....errors import AngelError, AngelWarning
from ....files.faults import FileReading
from ....files.formats import Format, first_line, read_head
from ....files.table import read_table as read_cells
from ....files.table import rows_of
from ...names.concepts import Concept
from ...names.identifiers import normalize_id
from .layout import Layout
from .lines import read_lines, wrong
from .records import TREE_NUMBER, Concepts, VocabularyReport, tree_parents, tree_types

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
"""Where `report.columns` has the columns that no role was found for."""
# What people also write between the synonyms of a cell; so many cells are no accident.
_OTHER_SEPARATORS = (";", ", ", "|")
_MIN_CELLS = 2
_WORD = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_SPREADSHEETS = (".xlsx", ".parquet")

Row = tuple[int, list[str]]
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
    """A table with a line of column names; or without one, where the columns are given by number or
    are `id, name, synonyms` between tabs. Rows of one identifier are one concept.

    path (Path): CSV or TSV, gzipped or not, `.xlsx` or `.parquet`.
    columns (str | None): what they hold, as `id=Code,name=Label,synonyms=Other names,type=Kind`:
        `id`, `name`, and any of `synonyms`, `type`, `definition`, `alternates` (further
        identifiers), `parents`, `prefix` (of the identifier), `scope` (of the synonyms, e.g.
        `EXACT`) and `status` (`P`: preferred name), each with the name of a column or its number
        from 1; the same role again for a further column. None: guessed by their names.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS if they look
        like these, else none.
    separator (str): between the synonyms, types or identifiers of one cell. `|` splits names, too.
    tree_numbers (str | Path | None): tab-separated MeSH tree numbers (`id, name, number`), which
        give types (letter and branch) and the hierarchy.
    YIELDS (Concept): one for each row; `report.columns` tells which columns were used. Rows without
        identifier or name are counted and skipped.
    RAISES (AngelError): columns are not there or cannot be guessed, a row has more cells than there
        are columns, or more than a tenth of the rows have no identifier or name.
    """
    rows = _rows(path)
    start, first = next(rows, (1, [""]))
    roles, has_names = _roles(path, start, first, columns)
    report.columns = _described(roles, first, has_names)
    if not has_names:
        rows = chain([(start, first)], rows)
    if "status" in roles:
        rows = _preferred_first(path, rows, roles["status"][0], has_names)
    rows = _with_separators_checked(path, _padded(path, rows, len(first)), roles, separator)
    cells = ((number, dict(enumerate(row))) for number, row in rows)
    concepts = Layout(roles, prefix, separator=separator).concepts(path, cells, report)
    if tree_numbers is not None:
        concepts = _in_trees(concepts, Path(tree_numbers))
    yield from concepts


def _rows(path: Path) -> Iterator[Row]:
    """Line and stripped cells of each row that is not blank, the one of column names included."""
    if path.suffix.lower() in _SPREADSHEETS:
        table = read_cells(path)
        cells = chain([table.columns], ([_text(cell) for cell in row] for row in table.rows))
        rows: Iterable[Row] = enumerate(cells, start=1)
    else:
        delimiter = _delimiter(first_line(read_head(path)))
        quotes = delimiter != "\t" or _is_quoted(path)
        lines = (line for _, line in read_lines(path))
        rows = rows_of(lines, FileReading(str(path)), delimiter, quotes)
    for number, row in rows:
        if any(stripped := [cell.strip() for cell in row]):
            yield number, stripped


def _text(cell: object) -> str:
    if isinstance(cell, list):
        return "|".join(map(str, cell))
    return "" if cell is None or cell != cell else str(cell)


def _is_quoted(path: Path) -> bool:
    """Whether the cells of a TSV may be in quotes, as spreadsheets write them: in many others a
    quote is a part of the name (5" needle, 3"-acid)."""
    lines = (line for _, line in read_lines(path))
    try:
        rows = csv.reader((line + "\n" for line in lines), delimiter="\t", strict=True)
        n_columns = len(next(rows, []))
        return all(len(row) <= n_columns for row in rows)
    except csv.Error:
        return False


def _delimiter(line: str) -> str:
    if "\t" in line:
        return "\t"
    return ";" if line.count(";") > line.count(",") else ","


def _roles(path: Path, line: int, first: Sequence[str], columns: str | None) -> tuple[Roles, bool]:
    """The columns of each role, and whether the first row has their names."""
    guessed = _guessed(first)
    if columns is None:
        if "id" in guessed and not guessed.keys().isdisjoint(("name", "synonyms")):
            return guessed, True
        if len(first) in (2, 3) and path.suffix.lower() not in (".csv", *_SPREADSHEETS):
            roles = {role: [i] for i, role in enumerate(("id", "name", "synonyms")[: len(first)])}
            return roles, guessed.get("id") == [0]
    try:
        roles = guessed if columns is None else _given(columns, first)
        if missing := [role for role in ("id", "name") if role not in roles]:
            raise ValueError(f"none is known to be the {missing[0]}")
    except ValueError as error:
        found = ", ".join(repr(name[:40]) for name in first[:20])
        raise AngelError(f"{path}, line {line}: --columns: {error}. Found: {found}.") from error
    asked = {pair.partition("=")[2].strip() for pair in (columns or "").split(",")}
    return roles, "id" in guessed or not asked.isdisjoint(first)


def _guessed(names: Sequence[str]) -> Roles:
    """Role → the columns whose names say it."""
    roles: Roles = {}
    for i, name in enumerate(names):
        plain = " ".join(filter(None, _WORD.split(name))).lower()
        free = (role for role in _ROLES if role in _SEVERAL or role not in roles)
        role = next((role for role in free if _ROLES[role].fullmatch(plain)), None)
        if role is not None:
            roles.setdefault(role, []).append(i)
    return roles


def _given(columns: str, names: Sequence[str]) -> Roles:
    numbers = {str(i): i - 1 for i in range(1, len(names) + 1)}
    numbers |= {name: names.index(name) for name in names}
    roles: Roles = {}
    for pair in columns.split(","):
        role, _, column = (part.strip() for part in pair.partition("="))
        if role not in _ROLES or column not in numbers:
            raise ValueError(f"{pair!r} is not one of {', '.join(_ROLES)} with `=` and a column")
        roles.setdefault(role, []).append(numbers[column])
    return roles


def _described(roles: Roles, first: Sequence[str], has_names: bool) -> dict[str, str]:
    """What the columns are used for, by their names or numbers."""
    names = first if has_names else [str(i) for i in range(1, len(first) + 1)]
    columns = {role: ", ".join(names[i] for i in indices) for role, indices in roles.items()}
    used = set(chain.from_iterable(roles.values()))
    unused = [name for i, name in enumerate(first) if i not in used and name]
    return columns | ({NOT_USED: ", ".join(unused)} if unused and has_names else {})


def _padded(path: Path, rows: Iterable[Row], n_columns: int) -> Iterator[Row]:
    for number, cells in rows:
        if any(cells[n_columns:]):
            raise wrong(path, number, f"{n_columns} columns", cells)
        yield number, [*cells, *[""] * (n_columns - len(cells))]


def _preferred_first(
    path: Path, rows: Iterable[Row], status: int, has_names: bool
) -> Iterator[Row]:
    """The rows of preferred names before the others, for MedCAT's tables, which mark them with P:
    the first name of a concept is its canonical one."""
    yield from (row for row in rows if "P" in row[1][status : status + 1])
    rest = islice(_rows(path), int(has_names), None)
    yield from (row for row in rest if "P" not in row[1][status : status + 1])


def _with_separators_checked(
    path: Path, rows: Iterable[Row], roles: Roles, separator: str
) -> Iterator[Row]:
    """Warn at the end if cells seem to have another separator."""
    found: dict[str, Counter[str]] = {role: Counter() for role in _SEVERAL if role in roles}
    separators = {*_OTHER_SEPARATORS, separator}
    for number, cells in rows:
        for role, counts in found.items():
            for i in roles[role]:
                counts.update(mark for mark in separators if mark in cells[i])
        yield number, cells
    for role, counts in found.items():
        other = max(_OTHER_SEPARATORS, key=counts.__getitem__)
        if not counts[separator] and counts[other] >= _MIN_CELLS:
            warnings.warn(
                f"{path}: no {role} has {separator!r}, but {counts[other]:,} have {other!r}. Did "
                f"you mean --option 'separator={other.strip()}'?",
                AngelWarning,
                stacklevel=2,
            )


def _in_trees(concepts: Iterable[Concept], path: Path) -> Concepts:
    """Concepts with the types and parents that a table of MeSH tree numbers gives them."""
    numbers: dict[str, list[str]] = {}
    for line_number, line in read_lines(path):
        code, *_, number = line.split("\t")
        if line_number > 1 or TREE_NUMBER.match(number):
            numbers.setdefault(normalize_id(code, "MESH"), []).append(number)
    owners = {number: own for own, of_concept in numbers.items() for number in of_concept}
    for concept in concepts:
        own = numbers.get(concept.concept_id, ())
        types = dict.fromkeys([*tree_types(path, 0, own), *concept.types])
        parents = dict.fromkeys([*tree_parents(own, owners), *concept.parents])
        yield replace(concept, types=tuple(types), parents=tuple(parents))


def _recognizes(path: Path, head: str) -> bool:
    """Column names of which one is an identifier and another a name, or two or three columns
    between tabs."""
    if path.suffix.lower() in _SPREADSHEETS:
        return True
    line = first_line(head)
    try:
        (names,) = csv.reader([line], delimiter=_delimiter(line), strict=True)
    except (csv.Error, ValueError):
        return False
    roles = _guessed(names)
    has_roles = "id" in roles and not roles.keys().isdisjoint(("name", "synonyms"))
    return has_roles or line.count("\t") in (1, 2)


FORMAT = Format("table.v1", read_table, _recognizes)
