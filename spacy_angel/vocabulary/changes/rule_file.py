"""The file of rules: a table with tabs between the cells, a rule a row.

    action       string   concept        condition   author   date         reason
    not-mention  was                                  jd       2024-05-31   no gene in our notes
    name         MI       MESH:D009203   case         jd       2024-05-31

The first row names the columns, in any order; those that no rule needs may be missing. Empty rows
and rows that begin with # are passed over.
"""

import csv
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from ...errors import AngelError, AngelWarning, cannot_read
from ...files.atomic import write_text
from ...files.reading import decoded
from .rules import COLUMNS, Rule, problem_of

MAX_BYTES = 2**24
MAX_RULES = 100_000
_MOST_TOLD = 20


@dataclass(frozen=True, slots=True)
class RuleFile:
    """What was read.

    rules (tuple[Rule, ...]): in the order of the file.
    problems (tuple[tuple[int, str], ...]): of the rows that are left out: line, and what is wrong.
    """

    rules: tuple[Rule, ...]
    problems: tuple[tuple[int, str], ...] = ()

    def warn(self, name: str, stacklevel: int = 2) -> None:
        """Tell of the rows that are left out, a line each.

        name (str): of the file. stacklevel (int): as of `warnings.warn`.
        """
        for number, problem in self.problems[:_MOST_TOLD]:
            warnings.warn(
                f"{name}, line {number}, is left out: {problem}.",
                AngelWarning,
                stacklevel=stacklevel + 1,
            )
        if (n := len(self.problems) - _MOST_TOLD) > 0:
            warnings.warn(
                f"{name}: {n:,} more rows are left out; see `spacy-angel kb check`.",
                AngelWarning,
                stacklevel=stacklevel + 1,
            )


def read_rules(path: Path) -> RuleFile:
    """path (Path): a file of rules, UTF-8. RETURNS (RuleFile): its rules, and the rows that are
    none.
    RAISES (AngelError): it cannot be read, is too large, or its first row does not name columns."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise AngelError(cannot_read(path, error.strerror or error)) from error
    return parse_rules(data, path)


def parse_rules(data: bytes, path: Path) -> RuleFile:
    """data (bytes): of a file of rules. path (Path): names it. RETURNS (RuleFile), RAISES
    (AngelError): see `read_rules`."""
    if len(data) > MAX_BYTES:
        raise AngelError(
            f"The rule file {path} has more than {MAX_BYTES:,} bytes. Split it, or use types."
        )
    columns: list[str] | None = None
    rules: list[Rule] = []
    problems: list[tuple[int, str]] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            cells = _cells(decoded(line.rstrip(b"\r"), path))
        except (AngelError, csv.Error) as error:
            if columns is None:
                raise AngelError(
                    f"The first row of {path} must name the columns, `action` among them, not "
                    f"{line[:80]!r}."
                ) from error
            reason = "it is not UTF-8" if isinstance(error, AngelError) else str(error)
            problems.append((number, reason))
            continue
        if not _is_row(cells):
            continue
        if columns is None:
            columns = _columns(cells)
            if "action" not in columns or len(set(columns)) < len(columns):
                raise AngelError(
                    f"The first row of {path} must name the columns, `action` among them, not "
                    f"{cells!r}."
                )
            if unknown := [cell for cell in columns if cell not in COLUMNS]:
                problems.append((number, f"the columns {', '.join(unknown)} are not read"))
            continue
        rule, problem = _rule(columns, cells, number)
        if problem:
            problems.append((number, problem))
            continue
        rules.append(rule)
        if len(rules) > MAX_RULES:
            raise AngelError(
                f"The rule file {path} has more than {MAX_RULES:,} rules. Split it, or use types."
            )
    return RuleFile(tuple(rules), tuple(problems))


def digest_of(rules: Iterable[Rule]) -> str:
    """rules (Iterable[Rule]): of a file. RETURNS (str): the same where they are the same."""
    return blake2b(repr(list(rules)).encode(), digest_size=16).hexdigest()


def added_rows(path: Path, rules: Sequence[Rule]) -> str:
    """path (Path): a file of rules, or where there is none yet. rules (Sequence[Rule]): to be
    written at its end. RETURNS (str): what the file is with them; rows, comments and the order of
    the columns stay, columns that are missing come last.
    RAISES (AngelError): as `read_rules`, or there would be too many."""
    if not path.is_file():
        return _table(COLUMNS, rules)
    before = read_rules(path)
    if len(before.rules) + len(rules) > MAX_RULES:
        raise AngelError(
            f"The rule file {path} has more than {MAX_RULES:,} rules. Split it, or use types."
        )
    lines = path.read_text("utf8").removeprefix("\ufeff").split("\n")
    head = next(i for i, line in enumerate(lines) if (cells := _cells(line)) and _is_row(cells))
    columns = _columns(_cells(lines[head]))
    needed = {name for rule in rules for name in COLUMNS if getattr(rule, name)}
    missing = [name for name in COLUMNS if name in needed and name not in columns]
    lines[head] = "\t".join([lines[head].rstrip("\r"), *missing])
    if not lines[-1].strip():
        lines.pop()
    return "\n".join(lines) + "\n" + _table([*columns, *missing], rules, with_head=False)


def without_rows(path: Path, numbers: Collection[int]) -> str:
    """path (Path): a file of rules. numbers (Collection[int]): of lines, from 1. RETURNS (str):
    what the file is without them."""
    lines = path.read_text("utf8").split("\n")
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in numbers)


def write_rules(rules: Sequence[Rule], path: Path) -> None:
    """rules (Sequence[Rule]): to write. path (Path): a file, which is replaced."""
    write_text(path, _table(COLUMNS, rules))


def _table(columns: Sequence[str], rules: Iterable[Rule], *, with_head: bool = True) -> str:
    rows = [columns] if with_head else []
    rows += [[getattr(rule, name, "") for name in columns] for rule in rules]
    return "".join("\t".join(map(_cell, row)) + "\n" for row in rows)


def _is_row(cells: Sequence[str]) -> bool:
    return any(cells) and not cells[0].startswith("#")


def _columns(cells: Iterable[str]) -> list[str]:
    return [cell.lower().replace(" ", "_").replace("-", "_") for cell in cells]


def _cells(line: str) -> list[str]:
    """The cells of a row; spreadsheets put those with a quote or a tab into quotes."""
    if not line.strip():
        return []
    (row,) = csv.reader([line], delimiter="\t", strict=True)
    return [" ".join(cell.split()) for cell in row]


def _cell(text: str) -> str:
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if text.startswith('"') else text


def _rule(columns: list[str], cells: list[str], number: int) -> tuple[Rule, str]:
    if any(cells[len(columns) :]):
        return Rule("", number=number), f"it has {len(cells)} cells, the first row {len(columns)}"
    pairs = zip(columns, cells, strict=False)
    values = {name: cell for name, cell in pairs if name in COLUMNS}
    values["action"] = values.get("action", "").lower().replace("_", "-").replace(" ", "-")
    values["condition"] = values.get("condition", "").lower()
    rule = Rule(**values, number=number)
    return rule, problem_of(rule)
