"""The file of rules: a table with tabs between the cells, a rule a row.

    action       string   concept        condition   author   date         reason
    not-mention  was                                  jd       2024-05-31   no gene in our notes
    name         MI       MESH:D009203   case         jd       2024-05-31

The first row names the columns, in any order; those that no rule needs may be missing. Empty rows
and rows that begin with # are passed over.
"""

import csv
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from ...errors import AngelError, AngelWarning, cannot_read
from ...files.atomic import write_text
from .rules import COLUMNS, Rule, problem_of

MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class RuleFile:
    """What was read.

    rules (tuple[Rule, ...]): in the order of the file.
    problems (tuple[tuple[int, str], ...]): of the rows that are left out: line, and what is wrong.
    """

    rules: tuple[Rule, ...]
    problems: tuple[tuple[int, str], ...] = ()

    def warn(self, name: str, stacklevel: int = 2) -> None:
        """Warn of the rows that are left out, one warning each.

        name (str): of the file. stacklevel (int): as of `warnings.warn`.
        """
        shown = self.problems[:MAX_SHOWN]
        messages = [f"{name}, line {n}, is left out: {problem}." for n, problem in shown]
        if (n := len(self.problems) - MAX_SHOWN) > 0:
            messages.append(f"{name}: {n:,} more rows are left out; see `spacy-angel kb check`.")
        for message in messages:
            warnings.warn(message, AngelWarning, stacklevel=stacklevel + 1)


def read_rules(path: Path) -> RuleFile:
    """path (Path): a file of rules, UTF-8. RETURNS (RuleFile): its rules, and the rows that are
    none.
    RAISES (AngelError): it cannot be read, or its first row does not name columns."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AngelError(cannot_read(path, error.strerror or error)) from error
    return parse_rules(data, path)


def parse_rules(data: bytes, path: Path) -> RuleFile:
    """data (bytes): of a file of rules. path (Path): names it. RETURNS (RuleFile), RAISES
    (AngelError): see `read_rules`."""
    columns: list[str] = []
    rules: list[Rule] = []
    problems: list[tuple[int, str]] = []
    for number, line in enumerate(data.decode("utf-8-sig", "surrogateescape").split("\n"), 1):
        try:
            cells = _cells(line)
        except ValueError as error:
            cells, problem = [line[:80]], str(error)
        else:
            if not _is_row(cells):
                continue
            rule, problem = _rule(columns, cells, number) if columns else (None, "")
        if not columns:
            columns = _columns(cells)
            if problem or "action" not in columns or len(set(columns)) < len(columns):
                raise AngelError(
                    f"The first row of {path} must name the columns, `action` among them, not "
                    f"{cells!r}."
                )
            if unknown := [cell for cell in columns if cell not in COLUMNS]:
                problems.append((number, f"the columns {', '.join(unknown)} are not read"))
        elif problem:
            problems.append((number, problem))
        elif rule is not None:
            rules.append(rule)
    return RuleFile(tuple(rules), tuple(problems))


def digest_of(rules: Iterable[Rule]) -> str:
    """rules (Iterable[Rule]): of a file. RETURNS (str): the same where they are the same."""
    return blake2b(repr(list(rules)).encode(), digest_size=16).hexdigest()


def added_rows(path: Path, rules: Sequence[Rule]) -> str:
    """path (Path): a file of rules, or where there is none yet. rules (Sequence[Rule]): to be
    written at its end. RETURNS (str): what the file is with them; rows, comments and the order of
    the columns stay, columns that are missing come last.
    RAISES (AngelError): as `read_rules`."""
    if not path.is_file():
        return _table(COLUMNS, rules)
    read_rules(path)
    lines = path.read_text("utf8").removeprefix("\ufeff").split("\n")
    head = next(i for i, line in enumerate(lines) if (cells := _cells(line)) and _is_row(cells))
    columns = _columns(_cells(lines[head]))
    needed = {name for rule in rules for name in COLUMNS if getattr(rule, name)}
    missing = [name for name in COLUMNS if name in needed and name not in columns]
    lines[head] = "\t".join([lines[head].rstrip("\r"), *missing])
    if not lines[-1].strip():
        lines.pop()
    return "\n".join(lines) + "\n" + _table([*columns, *missing], rules, with_head=False)


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
    try:
        line.encode("utf8")
        row = next(csv.reader([line.rstrip("\r")], delimiter="\t", strict=True), [])
    except UnicodeEncodeError as error:
        raise ValueError("it is not UTF-8") from error
    except csv.Error as error:
        raise ValueError(str(error)) from error
    return [" ".join(cell.split()) for cell in row]


def _cell(text: str) -> str:
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if text.startswith('"') else text


def _rule(columns: list[str], cells: list[str], number: int) -> tuple[Rule, str]:
    """A rule and what is wrong with it, if anything is."""
    if any(cells[len(columns) :]):
        return Rule(""), f"it has {len(cells)} cells, the first row {len(columns)}"
    pairs = zip(columns, cells, strict=False)
    values = {name: cell for name, cell in pairs if name in COLUMNS}
    values["action"] = values.get("action", "").lower().replace("_", "-").replace(" ", "-")
    values["condition"] = values.get("condition", "").lower()
    rule = Rule(**values, number=number)
    return rule, problem_of(rule)
