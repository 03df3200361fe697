"""Tables whose columns have names, as a spreadsheet writes them: CSV, with `;`, or with tabs."""

import csv
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from ....errors import AngelError, AngelWarning
from ....files.faults import FileReading
from ....files.formats import Format, first_line
from ....files.table import rows_of
from .lines import read_lines, wrong
from .records import Row, VocabularyReport, make_row, own_id

# What a column of each role may be called, in small letters with one space between words.
_ROLES = {
    "id": re.compile(r"#? ?((\w+ )?(id|cui|code|curie|identifier))"),
    "synonyms": re.compile(
        r"((\w+ )?synonyms?|alias(es)?|(other|alt|alternative) (name|label)s?"
        r"|also known as|aka)"
    ),
    "name": re.compile(r"(\w+ )?(name|label|term|title)|preferred"),
    "type": re.compile(r"((\w+ )?(types?|category|categories)|class)"),
    "definition": re.compile(r"definition|description"),
    "alternates": re.compile(r"(alt(ernate|ernative)?|former|retired|other) (ids?|codes?)"),
}
_SEVERAL = ("synonyms", "type", "alternates")
NOT_USED = "not used"
"""Where `report.columns` has the columns that no role was found for."""
# What people write between the synonyms of one cell, too; and so many cells are no accident.
_OTHER_SEPARATORS = (";", ", ", "|")
_LEAST_CELLS = 2
_WORD = re.compile(r"[ _.-]+|(?<=[a-z])(?=[A-Z])")


def read_columns(
    path: Path,
    report: VocabularyReport,
    *,
    columns: str | None = None,
    prefix: str | None = None,
    separator: str = "|",
) -> Iterator[Row]:
    """A table with a line of column names, or without one where the columns are given by number.

    path (Path): the file, gzipped or not; commas, semicolons or tabs are told from its first line.
    columns (str | None): what they hold, as `id=Code,name=Label,synonyms=Other names,type=Kind`:
        `id`, `name`, and any of `synonyms`, `type`, `definition`, `alternates` (further
        identifiers), each with the name of a column or its number from 1; the same role again for
        a further column. None: guessed by their names.
    prefix (str | None): vocabulary of identifiers without prefix; None: MeSH or UMLS where the
        form says so, else none.
    separator (str): between the synonyms, types or identifiers of one cell.
    YIELDS (Row): one a line; `report.columns` tells which were taken.
    RAISES (AngelError): columns are not there or cannot be guessed, or a line has not as many.
    """
    rows: Iterator[tuple[int, list[str]]] = _cells(path)
    number, first = next(rows, (1, []))
    roles = _guessed(first) if columns is None else _given(path, number, columns, first)
    if missing := [role for role in ("id", "name") if role not in roles]:
        problem = f"none is told to be the {missing[0]}"
        raise AngelError(f"{path}, line {number}: --columns: {problem}. Found: {_listed(first)}.")
    report.columns = {
        role: ", ".join(first[place].strip() for place in places) for role, places in roles.items()
    }
    if columns is not None and not _names_columns(columns, first):
        report.columns = {r: ", ".join(str(p + 1) for p in places) for r, places in roles.items()}
        rows = chain([(number, first)], rows)
    taken = {place for places in roles.values() for place in places}
    if unused := [name.strip() for i, name in enumerate(first) if i not in taken and name.strip()]:
        report.columns[NOT_USED] = ", ".join(unused)
    counts: dict[str, Counter[str]] = {role: Counter() for role in _SEVERAL if role in roles}
    for number, cells in rows:
        if len(cells) != len(first):
            raise wrong(path, number, f"{len(first)} columns", cells)
        for role, found in counts.items():
            for place in roles[role]:
                found.update(s for s in {*_OTHER_SEPARATORS, separator} if s in cells[place])
        texts = {
            role: [
                part.strip()
                for place in places
                for part in (cells[place].split(separator) if role in _SEVERAL else [cells[place]])
                if part.strip()
            ]
            for role, places in roles.items()
        }
        yield make_row(
            path,
            number,
            own_id("".join(texts["id"]), prefix),
            ["".join(texts["name"]), *texts.get("synonyms", ())],
            types=texts.get("type", ()),
            definition=" ".join(texts.get("definition", ())),
            alternate_ids=[own_id(code, prefix) for code in texts.get("alternates", ())],
        )
    for role, found in counts.items():
        other, n = max(((s, found[s]) for s in _OTHER_SEPARATORS), key=lambda pair: pair[1])
        if not found[separator] and n >= _LEAST_CELLS:
            warnings.warn(
                f"{path}: no {role} has {separator!r}, but {n:,} have {other.strip()!r}: try "
                f"--option 'separator={other.strip()}'.",
                AngelWarning,
                stacklevel=2,
            )


def _cells(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line on which a row begins, and its cells; blank lines are left out."""
    lines = read_lines(path)
    before, first = next(((n - 1, line) for n, line in lines if line.strip()), (0, ""))
    delimiter = _delimiter(first)
    # Spreadsheets quote cells with commas in them, but not inches or primes beside tabs.
    rows = rows_of(
        chain([first], (line for _, line in lines)),
        FileReading(str(path)),
        delimiter,
        quotes=delimiter != "\t",
    )
    for number, cells in rows:
        if any(cell.strip() for cell in cells):
            yield before + number, cells


def _delimiter(line: str) -> str:
    if "\t" in line:
        return "\t"
    return ";" if line.count(";") > line.count(",") else ","


def _guessed(names: Sequence[str]) -> dict[str, list[int]]:
    """Role → the columns whose names say it; id and name are the first of theirs."""
    roles: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        plain = " ".join(filter(None, _WORD.split(name.strip()))).lower()
        role = next((role for role, form in _ROLES.items() if form.fullmatch(plain)), None)
        if role is not None and (role in _SEVERAL or role not in roles):
            roles.setdefault(role, []).append(place)
    return roles


def _given(path: Path, line: int, columns: str, names: Sequence[str]) -> dict[str, list[int]]:
    plain = [name.strip() for name in names]
    roles: dict[str, list[int]] = {}
    for pair in columns.split(","):
        role, _, column = (part.strip() for part in pair.partition("="))
        place = plain.index(column) if column in plain else _number(column, len(plain))
        if role not in _ROLES or place is None:
            problem = f"{pair!r} is not one of {', '.join(_ROLES)} with `=` and a column"
            raise AngelError(f"{path}, line {line}: --columns: {problem}. Found: {_listed(names)}.")
        roles.setdefault(role, []).append(place)
    return roles


def _number(column: str, n_columns: int) -> int | None:
    is_number = column.isascii() and column.isdecimal() and len(column) < 6
    return int(column) - 1 if is_number and 1 <= int(column) <= n_columns else None


def _names_columns(columns: str, names: Sequence[str]) -> bool:
    """Whether the first line has names: one that was asked for, or what an identifier's column is
    called."""
    plain = {name.strip() for name in names}
    asked = {pair.partition("=")[2].strip() for pair in columns.split(",")}
    return bool(asked & plain) or "id" in _guessed(names)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name.strip()[:40]) for name in names[:20]) or "nothing"


def _recognises(path: Path, head: str) -> bool:
    """A line of column names of which one is an identifier and another a name, unless it is the
    table of `id, name, synonyms` that needs no names."""
    line = first_line(head)
    delimiter = _delimiter(line)
    try:
        (names,) = csv.reader([line], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        return False
    roles = _guessed(names)
    if not {"id", "name"} <= roles.keys():
        return False
    is_table = delimiter == "\t" and len(names) <= 3 and roles["id"] == [0] and roles["name"] == [1]
    return not is_table or not roles.keys() <= {"id", "name", "synonyms"}


FORMAT = Format("columns.v1", read_columns, _recognises)
