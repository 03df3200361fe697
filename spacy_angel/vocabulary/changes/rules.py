"""Rules, and the tab-separated file in which they are stored, one per row.

    action   string   concept        condition   author   date         reason
    exclude  was                                 jd       2024-05-31   no gene in our notes
    prefer   MI       MESH:D009203   case        jd       2024-05-31

The first row has the names of the columns, in any order; unused columns may be missing. Empty rows
and rows that begin with # are skipped.
"""

import csv
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import date as Date
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from ...errors import AngelError, AngelWarning, cannot_read
from ...files.atomic import write_text
from ..names.concepts import normalize_name
from ..names.labels import find_entries

CASE, SUBTREE, NEW = "case", "subtree", "new"
"""Conditions: the string is case-sensitive; concepts below the given one are included; the concept
is created if the vocabulary lacks it."""
_MAX_WARNINGS = 20


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of a file of rules; unused cells are empty.

    action (str): what the rule does, one of `FORMS`.
    string (str): a name, or the text of a mention; compared in normal form or, with the condition
        `case`, as written.
    label (str): only mentions with this label, in any of its spellings.
    concept (str): an identifier.
    type (str): a semantic type.
    instead_of (str): the identifier, or with `rename` the name, that is replaced.
    condition (str): `case`, `subtree` or `new`.
    author (str), date (str), reason (str): who decided, when (2024-05-31), and why.
    number (int): the line of the file, from 1.
    """

    action: str
    string: str = ""
    label: str = ""
    concept: str = ""
    type: str = ""
    instead_of: str = ""
    condition: str = ""
    author: str = ""
    date: str = ""
    reason: str = ""
    number: int = field(default=0, compare=False)

    @property
    def normal(self) -> str:
        """RETURNS (str): the string in normal form."""
        return normalize_name(self.string)

    @property
    def matched(self) -> str:
        """RETURNS (str): the string in normal form or, with the condition `case`, as written."""
        return " ".join(self.string.split()) if self.condition == CASE else self.normal

    @property
    def is_edit(self) -> bool:
        """RETURNS (bool): whether it changes concepts or names of the vocabulary; other rules
        decide what mentions link to."""
        return self.action in ("add", "remove", "rename")

    def matches_case(self, text: str) -> bool:
        """text (str): text of a mention.
        RETURNS (bool): whether it equals the string, ignoring differences in white space."""
        return self.string.split() == text.split()

    def holds_for(self, label: str) -> bool:
        """label (str): label of a mention.
        RETURNS (bool): whether the rule applies to this label."""
        return not self.label or bool(find_entries(label, (self.label,)))

    @property
    def form(self) -> "Form | None":
        """RETURNS (Form | None): the form that its cells match; None if they match none."""
        filled = {name for name in _CELLS if getattr(self, name)}
        for form in FORMS.get(self.action, ()):
            needs = set(form.needs.split())
            if needs <= filled <= needs.union(form.may) and self.condition in form.conditions:
                return form
        return None

    @property
    def description(self) -> str:
        """RETURNS (str): what the rule does, followed by its line, author, date and reason."""
        who = ", ".join(filter(None, (self.author, self.date)))
        note = ": ".join(filter(None, (who, self.reason)))
        return f"{self} (line {self.number}{f'; {note}' if note else ''})"

    def __str__(self) -> str:
        text = "" if self.form is None else self.form.text.format_map(asdict(self))
        condition = {CASE: " as written here", SUBTREE: " and all below"}.get(self.condition, "")
        return f"{text}{condition}{f' of {self.label}' if self.label else ''}"


COLUMNS = tuple(column.name for column in fields(Rule) if column.name != "number")
"""Columns of a file of rules."""
_CELLS = ("string", "label", "concept", "type", "instead_of")


class Form(NamedTuple):
    """One of the forms of an action.

    needs (str): required cells. text (str): what such a rule does. may (tuple[str, ...]): optional
    cells. conditions (tuple[str, ...]): allowed conditions; an empty one stands for none.
    """

    needs: str
    text: str
    may: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ("",)


_LABEL, _BY_CASE, _WITH_SUBTREE = ("label",), ("", CASE), ("", SUBTREE)
FORMS: Mapping[str, Sequence[Form]] = {
    "add": (
        Form("string concept", "“{string}” is a name of {concept}"),
        Form("string concept", "{concept} is a new concept, “{string}”", ("type",), (NEW,)),
    ),
    "remove": (
        Form("string concept", "“{string}” is no name of {concept}"),
        Form("concept", "{concept} is removed"),
    ),
    "rename": (
        Form("string concept", "“{string}” is the canonical name of {concept}"),
        Form(
            "string concept instead_of", "“{string}” replaces the name “{instead_of}” of {concept}"
        ),
    ),
    "prefer": (
        Form("string concept", "“{string}” means {concept}", _LABEL, _BY_CASE),
        Form("concept instead_of", "{concept} is written instead of {instead_of}"),
    ),
    "exclude": (
        Form("string", "“{string}” is never linked", _LABEL, _BY_CASE),
        Form("string concept", "“{string}” is never {concept}", _LABEL, _BY_CASE),
        Form("concept", "never linked to: {concept}", _LABEL, _WITH_SUBTREE),
        Form("type", "never linked to: type {type}", _LABEL),
    ),
    "allow": (
        Form("string", "“{string}” is linked only as written here", _LABEL),
        Form("string concept", "“{string}” is {concept} only as written here", _LABEL),
        Form("concept", "linked only to: {concept}", _LABEL, _WITH_SUBTREE),
        Form("type", "linked only to: type {type}", _LABEL),
    ),
}


def problem_of(rule: Rule) -> str:
    """rule (Rule): any rule. RETURNS (str): what is wrong with it; empty if it is valid."""
    if rule.action not in FORMS:
        return f"there is no action {rule.action!r}, there are {', '.join(FORMS)}"
    if rule.form is None:
        filled = [name for name in _CELLS if getattr(rule, name)]
        given = " and ".join(filled + [f"condition {rule.condition}"] * bool(rule.condition))
        needs = dict.fromkeys(form.needs.replace(" ", " and ") for form in FORMS[rule.action])
        return f"{rule.action} needs {' or '.join(needs)}; it has {given or 'nothing'}"
    if rule.string and not rule.normal:
        return f"nothing is left of {rule.string!r} in normal form"
    try:
        Date.fromisoformat(rule.date or "2024-05-31")
    except ValueError:
        return f"the date is {rule.date!r}, expected one such as 2024-05-31"
    return ""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The content of a file of rules.

    rules (tuple[Rule, ...]): in the order of the file.
    problems (tuple[tuple[int, str], ...]): line and problem of each skipped row.
    """

    rules: tuple[Rule, ...]
    problems: tuple[tuple[int, str], ...] = ()

    def warn(self, name: str) -> None:
        """Warn about skipped rows.

        name (str): name of the file.
        """
        messages = [f"{name}, line {n}, is skipped: {text}." for n, text in self.problems]
        if (n := len(messages) - _MAX_WARNINGS) > 0:
            rest = f"{name}: {n:,} more rows are skipped; see `spacy-angel kb check`."
            messages[_MAX_WARNINGS:] = [rest]
        for message in messages:
            warnings.warn(message, AngelWarning, stacklevel=3)


def read_rules(path: Path) -> RuleFile:
    """path (Path): a file of rules, UTF-8. RETURNS (RuleFile): its rules and invalid rows.
    RAISES (AngelError): it cannot be read, or the first row does not have the column names."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AngelError(cannot_read(path, error.strerror or error)) from error
    return parse_rules(data, path)


def parse_rules(data: bytes, path: Path) -> RuleFile:
    """data (bytes): content of a file of rules. path (Path): its path, for messages. RETURNS
    (RuleFile), RAISES (AngelError): see `read_rules`."""
    columns: list[str] = []
    rules: list[Rule] = []
    problems: list[tuple[int, str]] = []
    for number, line in enumerate(data.decode("utf-8-sig", "replace").split("\n"), 1):
        cells, problem = _cells(line)
        if not problem and not _is_row(cells):
            continue
        if not columns:
            columns = _columns(cells)
            if problem or "action" not in columns or len(set(columns)) < len(columns):
                raise AngelError(
                    f"The first row of {path} must name the columns, `action` among them, not "
                    f"{cells!r}."
                )
            if unknown := [cell for cell in columns if cell not in COLUMNS]:
                problems.append((number, f"the columns {', '.join(unknown)} are not read"))
            continue
        if not problem and any(cells[len(columns) :]):
            problem = f"it has {len(cells)} cells, the first row {len(columns)}"
        values = {n: c for n, c in zip(columns, cells, strict=False) if n in COLUMNS}
        values |= {n: values.get(n, "").lower() for n in ("action", "condition")}
        rule = Rule(**values, number=number)
        if problem := problem or problem_of(rule):
            problems.append((number, problem))
        else:
            rules.append(rule)
    return RuleFile(tuple(rules), tuple(problems))


def write_rules(path: Path, rules: Iterable[Rule]) -> None:
    """path (Path): file to write or replace. rules (Iterable[Rule]): its content."""
    write_text(path, _table(["\t".join(COLUMNS)], rules, COLUMNS))


def append_rules(path: Path, rules: Sequence[Rule]) -> None:
    """Append rules to a file. Its rows, comments and order of columns are kept; missing columns are
    added at the end.

    path (Path): file of rules, created if it does not exist. rules (Sequence[Rule]): to append.
    RAISES (AngelError): see `read_rules`.
    """
    columns, lines = list(COLUMNS), ["\t".join(COLUMNS)]
    if path.is_file():
        read_rules(path)
        lines = path.read_text("utf-8-sig").rstrip().split("\n")
        head = next(i for i, line in enumerate(lines) if _is_row(_cells(line)[0]))
        named = _cells(lines[head])[0]
        columns = _columns(named)
        missing = [n for n in COLUMNS if n not in columns and any(getattr(r, n) for r in rules)]
        columns += missing
        lines[head] = "\t".join([*named, *missing])
    write_text(path, _table(lines, rules, columns))


def _is_row(cells: Sequence[str]) -> bool:
    return any(cells) and not cells[0].startswith("#")


def _columns(cells: Iterable[str]) -> list[str]:
    return [cell.lower().replace(" ", "_").replace("-", "_") for cell in cells]


def _cells(line: str) -> tuple[list[str], str]:
    """The cells of a row, and its problem, if any. Spreadsheets quote cells with quotes or tabs."""
    if "\ufffd" in line:
        return [line[:80]], "it is not UTF-8"
    try:
        row = next(csv.reader([line.rstrip("\r")], delimiter="\t", strict=True), [])
    except csv.Error as error:
        return [line[:80]], str(error)
    return [" ".join(cell.split()) for cell in row], ""


def _table(lines: Sequence[str], rules: Iterable[Rule], columns: Sequence[str]) -> str:
    """Lines of a table, followed by a row for each rule."""
    text = StringIO()
    text.writelines(f"{line}\n" for line in lines)
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerows([getattr(rule, name, "") for name in columns] for rule in rules)
    return text.getvalue()
