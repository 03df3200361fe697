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
_MIN_CELLS = 2
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
    lines = read_lines(path)
    first_number, head = next(((n, line) for n, line in lines if line.strip()), (1, ""))
    delimiter = _delimiter(head)
    # Spreadsheets quote cells with commas in them, but not inches or primes beside tabs.
    rows = rows_of(
        chain([head], (line for _, line in lines)),
        FileReading(str(path)),
        delimiter,
        quotes=delimiter != "\t",
    )
    first = [cell.strip() for cell in next(rows, (1, [""]))[1]]
    try:
        roles = _guessed(first) if columns is None else _given(columns, first)
        if missing := [role for role in ("id", "name") if role not in roles]:
            raise ValueError(f"none is known to be the {missing[0]}")
    except ValueError as error:
        found = ", ".join(repr(name[:40]) for name in first[:20])
        where = f"{path}, line {first_number}"
        raise AngelError(f"{where}: --columns: {error}. Found: {found}.") from error
    has_names = columns is None or _names_columns(columns, first)
    report.columns = {
        role: ", ".join(first[i] if has_names else str(i + 1) for i in indices)
        for role, indices in roles.items()
    }
    used = {i for indices in roles.values() for i in indices}
    if unused := [name for i, name in enumerate(first) if i not in used and name and has_names]:
        report.columns[NOT_USED] = ", ".join(unused)
    counts: dict[str, Counter[str]] = {role: Counter() for role in _SEVERAL if role in roles}
    for number, cells in rows if has_names else chain([(1, first)], rows):
        if not any(map(str.strip, cells)):
            continue
        if len(cells) != len(first):
            raise wrong(path, first_number - 1 + number, f"{len(first)} columns", cells)
        texts = {role: [cells[i].strip() for i in indices] for role, indices in roles.items()}
        for role, found_in in counts.items():
            for cell in texts[role]:
                found_in.update(s for s in {*_OTHER_SEPARATORS, separator} if s in cell)
            parts = chain.from_iterable(cell.split(separator) for cell in texts[role])
            texts[role] = [part.strip() for part in parts if part.strip()]
        yield make_row(
            path,
            first_number - 1 + number,
            own_id("".join(texts["id"]), prefix),
            ["".join(texts["name"]), *texts.get("synonyms", ())],
            types=texts.get("type", ()),
            definition=" ".join(texts.get("definition", ())),
            alternate_ids=[own_id(code, prefix) for code in texts.get("alternates", ())],
        )
    for role, found_in in counts.items():
        other = max(_OTHER_SEPARATORS, key=found_in.__getitem__)
        if not found_in[separator] and found_in[other] >= _MIN_CELLS:
            warnings.warn(
                f"{path}: no {role} has {separator!r}, but {found_in[other]:,} have {other!r}. Did "
                f"you mean --option 'separator={other.strip()}'?",
                AngelWarning,
                stacklevel=2,
            )


def _delimiter(line: str) -> str:
    if "\t" in line:
        return "\t"
    return ";" if line.count(";") > line.count(",") else ","


def _guessed(names: Sequence[str]) -> dict[str, list[int]]:
    """Role → the columns whose names say it; id and name are the first of theirs."""
    roles: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        plain = " ".join(filter(None, _WORD.split(name.strip()))).lower()
        role = next((role for role, form in _ROLES.items() if form.fullmatch(plain)), None)
        if role is not None and (role in _SEVERAL or role not in roles):
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


def _names_columns(columns: str, names: Sequence[str]) -> bool:
    """Whether the first line has names: one that was asked for, or what an identifier's column is
    called."""
    asked = {pair.partition("=")[2].strip() for pair in columns.split(",")}
    return not asked.isdisjoint(names) or "id" in _guessed(names)


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
