"""Tables of concepts: CSV (with commas or semicolons), TSV, Excel and Parquet."""

import csv
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from zipfile import BadZipFile

from ....errors import AngelError, AngelWarning, cannot_read, missing_package
from ....files.faults import FileReading
from ....files.formats import Format, first_line, read_head
from ....files.table import rows_of
from ...names.concepts import SCOPES
from ...names.identifiers import normalize_id
from .lines import read_lines, wrong
from .records import (
    NO_ID,
    NO_NAME,
    TREE_NUMBER,
    Rows,
    VocabularyReport,
    make_row,
    own_id,
    tree_parents,
    tree_types,
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
"""Where `report.columns` has the columns that no role was found for."""
# What people write between the synonyms of one cell, too; and so many cells are no accident.
_OTHER_SEPARATORS = (";", ", ", "|")
_MIN_CELLS = 2
# Rows without identifier or name that a table may have, whatever its size, and as a share.
_MAX_BLANK, _MAX_BLANK_SHARE = 10, 0.1
_WORD = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


def read_table(
    path: Path,
    report: VocabularyReport,
    *,
    columns: str | None = None,
    prefix: str | None = None,
    separator: str = "|",
    tree_numbers: str | Path | None = None,
) -> Rows:
    """A table with a line of column names; or without one, where the columns are given by number or
    are `id, name, synonyms` between tabs. Rows of one identifier are one concept.

    path (Path): CSV or TSV, gzipped or not, `.xlsx` or `.parquet`.
    columns (str | None): what they hold, as `id=Code,name=Label,synonyms=Other names,type=Kind`:
        `id`, `name`, and any of `synonyms`, `type`, `definition`, `alternates` (further
        identifiers), `parents`, `prefix` (of the identifier), `scope` (of the synonyms, e.g.
        `EXACT`) and `status` (`P`: preferred name), each with the name of a column or its number
        from 1; the same role again for a further column. None: guessed by their names.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS where the
        form says so, else none.
    separator (str): between the synonyms, types or identifiers of one cell. `|` splits names, too.
    tree_numbers (str | Path | None): tab-separated MeSH tree numbers (`id, name, number`), which
        give types (letter and branch) and the hierarchy.
    YIELDS (Row): one a line; `report.columns` tells which columns were used. Rows without
        identifier or name are counted and skipped.
    RAISES (AngelError): columns are not there or cannot be guessed, a row has more cells than there
        are columns, or more than a tenth of the rows have no identifier or name.
    """
    rows = _rows(path)
    start, first = next(rows, (1, [""]))
    roles, has_names = _roles(path, start, first, columns)
    report.columns = {
        role: ", ".join(first[i] if has_names else str(i + 1) for i in indices)
        for role, indices in roles.items()
    }
    used = set(chain.from_iterable(roles.values()))
    if unused := [name for i, name in enumerate(first) if i not in used and name and has_names]:
        report.columns[NOT_USED] = ", ".join(unused)
    preferred = _preferred(path, roles, len(first))
    numbers, owners = _tree_numbers(tree_numbers)
    found: dict[str, Counter[str]] = {role: Counter() for role in _SEVERAL if role in roles}
    n_rows = 0
    for number, cells in rows if has_names else chain([(start, first)], rows):
        if not any(cells):
            continue
        if len(cells) > len(first) and any(cells[len(first) :]):
            raise wrong(path, number, f"{len(first)} columns", cells)
        n_rows += 1
        cells += [""] * (len(first) - len(cells))
        texts = {role: [cells[i] for i in indices] for role, indices in roles.items()}
        for role, counts in found.items():
            for cell in texts[role]:
                counts.update(s for s in {*_OTHER_SEPARATORS, separator} if s in cell)
        parts = {role: _split(texts.get(role, ()), separator) for role in _SEVERAL}
        code = "".join(texts["id"])
        given = _split(texts.get("name", ()), "|" if separator == "|" else "\0")
        names = [" ".join(name.split()) for name in (*given, *parts["synonyms"])]
        if not code or not names:
            report.skipped[NO_NAME if code else NO_ID] += 1
            continue
        best = preferred.get(code, [])
        of_row = "".join(texts.get("prefix", ()))
        identifier = own_id(code, of_row if of_row and ":" not in code else prefix)
        scope = _scope("".join(texts.get("scope", ())))
        own_numbers = numbers.get(identifier, [])
        yield make_row(
            path,
            number,
            identifier,
            [*best, *(name for name in names if name not in best)],
            types=[*tree_types(path, number, own_numbers), *parts["type"]],
            definition=" ".join(texts.get("definition", ())),
            alternate_ids=[own_id(code, prefix) for code in parts["alternates"]],
            parents=[
                *tree_parents(own_numbers, owners),
                *(own_id(code, prefix) for code in parts["parents"]),
            ],
            scopes=[(name, scope) for name in names[len(given) :] if scope],
        )
    _warn_separators(path, found, separator)
    blank = report.skipped[NO_NAME] + report.skipped[NO_ID]
    if blank > max(_MAX_BLANK, _MAX_BLANK_SHARE * n_rows):
        raise AngelError(
            f"{path}: {blank:,} of {n_rows:,} rows have no identifier or no name; expected at most "
            f"a tenth. Columns: {report.columns}. Choose them with --columns, or fill the cells."
        )


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line and stripped cells of each row that is not blank, the one of column names included."""
    if path.suffix.lower() in (".xlsx", ".parquet"):
        rows = _spreadsheet(path)
    else:
        delimiter = _delimiter(first_line(read_head(path)))
        quotes = delimiter != "\t" or _is_quoted(path)
        lines = (line for _, line in read_lines(path))
        rows = rows_of(lines, FileReading(str(path)), delimiter, quotes)
    for number, cells in rows:
        if any(stripped := [cell.strip() for cell in cells]):
            yield number, stripped


def _spreadsheet(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        import pandas

        if path.suffix.lower() == ".parquet":
            frame = pandas.read_parquet(path)
            yield 1, [str(name) for name in frame.columns]
        else:
            frame = pandas.read_excel(path, header=None, dtype=str)
    except ImportError as error:
        raise AngelError(missing_package(f"Reading {path}", error.name or "", "tables")) from error
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise AngelError(cannot_read(path, error)) from error
    for number, cells in enumerate(frame.itertuples(index=False, name=None), 2):
        yield number, [_text(cell) for cell in cells]


def _text(cell: object) -> str:
    if isinstance(cell, str):
        return cell
    if hasattr(cell, "__len__"):  # a list in a Parquet file
        return "|".join(map(str, cell))  # type: ignore[call-overload]
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


def _roles(
    path: Path, line: int, first: Sequence[str], columns: str | None
) -> tuple[dict[str, list[int]], bool]:
    """The columns of each role, and whether the first row has their names."""
    guessed = _guessed(first)
    try:
        if columns is not None:
            asked = {pair.partition("=")[2].strip() for pair in columns.split(",")}
            roles, has_names = (
                _given(columns, first),
                "id" in guessed or not asked.isdisjoint(first),
            )
        elif "id" in guessed and {"name", "synonyms"} & guessed.keys():
            return guessed, True
        elif len(first) in (2, 3) and path.suffix.lower() not in (".csv", ".xlsx", ".parquet"):
            positions = {"id": [0], "name": [1], "synonyms": [2]}
            has_names = guessed.get("id") == [0]
            roles = {role: at for role, at in positions.items() if at[0] < len(first)}
        else:
            roles, has_names = guessed, True
        if missing := [role for role in ("id", "name") if role not in roles]:
            raise ValueError(f"none is known to be the {missing[0]}")
    except ValueError as error:
        found = ", ".join(repr(name[:40]) for name in first[:20])
        raise AngelError(f"{path}, line {line}: --columns: {error}. Found: {found}.") from error
    return roles, has_names


def _guessed(names: Sequence[str]) -> dict[str, list[int]]:
    """Role → the columns whose names say it."""
    roles: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        plain = " ".join(filter(None, _WORD.split(name))).lower()
        free = (role for role in _ROLES if role in _SEVERAL or role not in roles)
        role = next((role for role in free if _ROLES[role].fullmatch(plain)), None)
        if role is not None:
            roles.setdefault(role, []).append(i)
    return roles


def _given(columns: str, names: Sequence[str]) -> dict[str, list[int]]:
    numbers = {str(i): i - 1 for i in range(1, len(names) + 1)}
    numbers |= {name: names.index(name) for name in names}
    roles: dict[str, list[int]] = {}
    for pair in columns.split(","):
        role, _, column = (part.strip() for part in pair.partition("="))
        if role not in _ROLES or column not in numbers:
            raise ValueError(f"{pair!r} is not one of {', '.join(_ROLES)} with `=` and a column")
        roles.setdefault(role, []).append(numbers[column])
    return roles


def _split(cells: Sequence[str], separator: str) -> list[str]:
    parts = chain.from_iterable(cell.split(separator) for cell in cells)
    return [part.strip() for part in parts if part.strip()]


def _scope(text: str) -> str:
    """`oboInOwl:hasExactSynonym`, `exact` → `EXACT`; empty if it is none."""
    return next((scope for scope in SCOPES if scope in text.upper()), "")


def _preferred(path: Path, roles: Mapping[str, list[int]], n: int) -> dict[str, list[str]]:
    """The preferred name of each identifier, in a table that has a column for that (MedCAT's)."""
    if "status" not in roles:
        return {}
    (code, name, status) = (roles[role][0] for role in ("id", "name", "status"))
    rows = (cells for _, cells in _rows(path) if len(cells) == n and cells[status] == "P")
    return {cells[code]: [cells[name]] for cells in rows}


def _tree_numbers(path: str | Path | None) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Numbers by concept, and concepts by number."""
    numbers: dict[str, list[str]] = {}
    for line_number, line in read_lines(Path(path)) if path is not None else ():
        code, *_, number = line.split("\t")
        if line_number > 1 or TREE_NUMBER.match(number):
            numbers.setdefault(normalize_id(code, "MESH"), []).append(number)
    return numbers, {number: own for own, of in numbers.items() for number in of}


def _warn_separators(path: Path, found: Mapping[str, Counter[str]], separator: str) -> None:
    for role, counts in found.items():
        other = max(_OTHER_SEPARATORS, key=counts.__getitem__)
        if not counts[separator] and counts[other] >= _MIN_CELLS:
            warnings.warn(
                f"{path}: no {role} has {separator!r}, but {counts[other]:,} have {other!r}. Did "
                f"you mean --option 'separator={other.strip()}'?",
                AngelWarning,
                stacklevel=3,
            )


def _recognises(path: Path, head: str) -> bool:
    """Column names of which one is an identifier and another a name, or two or three columns
    between tabs."""
    if path.suffix.lower() in (".xlsx", ".parquet"):
        return True
    line = first_line(head)
    try:
        (names,) = csv.reader([line], delimiter=_delimiter(line), strict=True)
    except (csv.Error, ValueError):
        return False
    roles = _guessed(names)
    has_roles = "id" in roles and bool({"name", "synonyms"} & roles.keys())
    return has_roles or line.count("\t") in (1, 2)


FORMAT = Format("table.v1", read_table, _recognises)
