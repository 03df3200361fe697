"""Tables of concepts: CSV (with commas or semicolons), TSV, Excel and Parquet."""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from ....errors import AngelWarning
from ....files.faults import FileReading
from ....files.formats import Format, first_line
from ....files.table import dialect, rows_of, separator_of
from ....files.table import read_table as read_cells
from ...names.concepts import Concept
from ...names.identifiers import normalize_id
from .layout import Layout
from .lines import read_lines
from .records import TREE_NUMBER, Concepts, VocabularyReport, tree_parents, tree_types, wrong

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
    is_plain = path.suffix.lower() not in (".csv", *_SPREADSHEETS)
    roles, has_names = _roles(first, columns, is_plain)
    report.columns = _described(roles, first, has_names)
    if not has_names:
        rows = chain([first], rows)
    if "status" in roles:
        # MedCAT marks preferred names with P; the first name of a concept is its canonical one.
        status = roles["status"][0]
        rows = iter(sorted(rows, key=lambda row: "P" not in row[status : status + 1]))
    cells = (dict(enumerate(row)) for row in _checked(rows, len(first), roles, separator, path))
    concepts = Layout(roles, prefix, separator=separator).concepts(cells, report)
    if tree_numbers is not None:
        concepts = _in_trees(concepts, Path(tree_numbers))
    yield from concepts


def _rows(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """The stripped cells of each row that is not blank, the one of column names included."""
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


def _roles(first: Row, columns: str | None, is_plain: bool) -> tuple[Roles, bool]:
    """The columns of each role, and whether the first row has their names; with `is_plain`, two or
    three columns need no names."""
    roles = _guessed(first)
    has_names = "id" in roles
    if columns is not None:
        has_names |= any(pair.partition("=")[2].strip() in first for pair in columns.split(","))
        roles = _given(columns, first)
    elif not _is_complete(roles) and len(first) in (2, 3) and is_plain:
        has_names = roles.get("id") == [0]
        roles = {role: [i] for i, role in enumerate(("id", "name", "synonyms")[: len(first)])}
    if columns is None and _is_complete(roles):
        return roles, has_names
    if missing := [role for role in ("id", "name") if role not in roles]:
        raise _bad_columns(f"none is known to be the {missing[0]}", first)
    return roles, has_names


def _is_complete(roles: Roles) -> bool:
    return "id" in roles and not roles.keys().isdisjoint(("name", "synonyms"))


def _bad_columns(problem: str, first: Row) -> ValueError:
    found = ", ".join(repr(name[:40]) for name in first[:20])
    return ValueError(f"--columns: {problem}. Found: {found}.")


def _guessed(names: Row) -> Roles:
    """Role → the columns whose names say it."""
    roles: Roles = {}
    for i, name in enumerate(names):
        plain = " ".join(filter(None, _WORD.split(name))).lower()
        free = (role for role in _ROLES if role in _SEVERAL or role not in roles)
        role = next((role for role in free if _ROLES[role].fullmatch(plain)), None)
        if role is not None:
            roles.setdefault(role, []).append(i)
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


def _described(roles: Roles, first: Row, has_names: bool) -> dict[str, str]:
    """What the columns are used for, by their names or numbers."""
    names = first if has_names else [str(i) for i in range(1, len(first) + 1)]
    columns = {role: ", ".join(names[i] for i in indices) for role, indices in roles.items()}
    used = set(chain.from_iterable(roles.values()))
    unused = [name for i, name in enumerate(first) if i not in used and name]
    return columns | ({NOT_USED: ", ".join(unused)} if unused and has_names else {})


def _checked(
    rows: Iterable[Row], n_columns: int, roles: Roles, separator: str, path: Path
) -> Iterator[Row]:
    """Rows of as many cells as there are columns; warns at the end if cells seem to have another
    separator."""
    found: dict[str, Counter[str]] = {role: Counter() for role in _SEVERAL if role in roles}
    separators = {*_OTHER_SEPARATORS, separator}
    for row in rows:
        if any(row[n_columns:]):
            raise wrong(f"{n_columns} columns", row)
        cells = [*row, *[""] * (n_columns - len(row))]
        for role, counts in found.items():
            for i in roles[role]:
                counts.update(mark for mark in separators if mark in cells[i])
        yield cells
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
    for i, line in enumerate(read_lines(path, VocabularyReport())):
        code, *_, number = line.split("\t")
        # The first line may be one of column names.
        if i or TREE_NUMBER.match(number):
            numbers.setdefault(normalize_id(code, "MESH"), []).append(number)
    owners = {number: own for own, of_concept in numbers.items() for number in of_concept}
    for concept in concepts:
        own = numbers.get(concept.concept_id, ())
        types = dict.fromkeys([*tree_types(own), *concept.types])
        parents = dict.fromkeys([*tree_parents(own, owners), *concept.parents])
        yield replace(concept, types=tuple(types), parents=tuple(parents))


def _recognizes(path: Path, head: str) -> bool:
    """Column names of which one is an identifier and another a name, or two or three columns
    between tabs."""
    line = first_line(head)
    return (
        path.suffix.lower() in _SPREADSHEETS
        or _is_complete(_guessed(line.split(separator_of(line))))
        or line.count("\t") in (1, 2)
    )


FORMAT = Format("table.v1", read_table, _recognizes)
