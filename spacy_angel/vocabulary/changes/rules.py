"""Rules, and the tab-separated file in which they are stored, one per row.

    action   string   concept        condition   author   date         reason
    exclude  was                                 jd       2024-05-31   no gene in our notes
    prefer   MI       MESH:D009203   case        jd       2024-05-31

The first row has the names of the columns, in any order; unused columns may be missing. Empty rows
and rows that begin with # are skipped.
"""

import csv
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from ...errors import AngelError, AngelWarning, cannot_read
from ...files.atomic import write_text
from ...files.reading import decoded
from ..names.concepts import normalize_name
from ..names.labels import find_entries

CASE, SUBTREE, NEW = "case", "subtree", "new"
"""Conditions: the string is case-sensitive; concepts below the given one are included; the concept
is created if the vocabulary lacks it."""
_MAX_SHOWN = 10


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
    author (str), date (str), reason (str): who decided, when, and why.
    number (int): the line of the file, from 1.
    """

    action: str = ""
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
    def cells(self) -> list[str]:
        """RETURNS (list[str]): names of the filled cells; the condition with its value."""
        filled = [name for name in _CELLS if getattr(self, name)]
        return filled + [f"condition {self.condition}"] * bool(self.condition)

    @property
    def form(self) -> "Form | None":
        """RETURNS (Form | None): the form that its cells match; None if they match none."""
        cells = set(self.cells)
        for form in FORMS:
            needs = set(form.needs.split(" and "))
            if form.action == self.action and needs <= cells <= needs.union(form.may):
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
    """A form of an action.

    action (str): the action. needs (str): required cells, joined by " and ". text (str): what such
    a rule does. may (tuple[str, ...]): optional cells.
    """

    action: str
    needs: str
    text: str
    may: tuple[str, ...] = ()


_NEW, _LABEL = "string and concept and condition new", ("label",)
_CASE, _SUBTREE = ("label", f"condition {CASE}"), ("label", f"condition {SUBTREE}")
FORMS = (
    Form("add", "string and concept", "“{string}” is a name of {concept}"),
    Form("add", _NEW, "{concept} is a new concept, “{string}”", ("type",)),
    Form("remove", "string and concept", "“{string}” is no name of {concept}"),
    Form("remove", "concept", "{concept} is removed"),
    Form("rename", "string and concept", "“{string}” is the canonical name of {concept}"),
    Form(
        "rename",
        "string and concept and instead_of",
        "“{string}” replaces the name “{instead_of}” of {concept}",
    ),
    Form("prefer", "string and concept", "“{string}” means {concept}", _CASE),
    Form("prefer", "concept and instead_of", "{concept} is written instead of {instead_of}"),
    Form("exclude", "string", "“{string}” is never linked", _CASE),
    Form("exclude", "string and concept", "“{string}” is never {concept}", _CASE),
    Form("exclude", "concept", "never linked to: {concept}", _SUBTREE),
    Form("exclude", "type", "never linked to: type {type}", _LABEL),
    Form("allow", "string", "“{string}” is linked only as written here", _LABEL),
    Form("allow", "string and concept", "“{string}” is {concept} only as written here", _LABEL),
    Form("allow", "concept", "linked only to: {concept}", _SUBTREE),
    Form("allow", "type", "linked only to: type {type}", _LABEL),
)


def problem_of(rule: Rule) -> str:
    """rule (Rule): any rule. RETURNS (str): what is wrong with it; empty if it is valid."""
    needs = dict.fromkeys(form.needs for form in FORMS if form.action == rule.action)
    if not needs:
        actions = ", ".join(dict.fromkeys(form.action for form in FORMS))
        return f"there is no action {rule.action!r}, there are {actions}"
    if rule.form is None:
        given = " and ".join(rule.cells) or "nothing"
        return f"{rule.action} needs {' or '.join(needs)}; it has {given}"
    if rule.string and not rule.normal:
        return f"nothing is left of {rule.string!r} in normal form"
    return ""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The content of a file of rules.

    rules (tuple[Rule, ...]): in the order of the file.
    problems (tuple[tuple[int, str], ...]): line and problem of each skipped row.
    columns (tuple[str, ...]): names of its columns. header (int): line of these names.
    """

    rules: tuple[Rule, ...]
    problems: tuple[tuple[int, str], ...]
    columns: tuple[str, ...]
    header: int

    def warn(self, name: str) -> None:
        """name (str): name of the file. Warns about skipped rows."""
        if self.problems:
            first = "; ".join(f"line {n}: {text}" for n, text in self.problems[:_MAX_SHOWN])
            message = f"Invalid rows of {name} are skipped ({len(self.problems):,}): {first}."
            warnings.warn(f"{message} See `spacy-angel kb check`.", AngelWarning, stacklevel=3)


def read_rules(path: Path) -> RuleFile:
    """path (Path): a file of rules. RETURNS (RuleFile): its rules and invalid rows.
    RAISES (AngelError): it cannot be read, is not UTF-8, or the first row does not have the column
    names."""
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
    header = 0
    for number, line in enumerate(decoded(data, path).split("\n"), 1):
        try:
            # Spreadsheets quote cells that contain quotes or tabs.
            row = next(csv.reader([line.rstrip("\r")], delimiter="\t", strict=True), [])
        except csv.Error as error:
            problems.append((number, str(error)))
            continue
        cells = [" ".join(cell.split()) for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if not columns:
            columns = [cell.lower().replace(" ", "_").replace("-", "_") for cell in cells]
            header = number
            if unknown := [cell for cell in columns if cell not in COLUMNS]:
                problems.append((number, f"the columns {', '.join(unknown)} are not read"))
            continue
        values = {n: c for n, c in zip(columns, cells, strict=False) if n in COLUMNS}
        values |= {n: values.get(n, "").lower() for n in ("action", "condition")}
        rule = Rule(**values, number=number)
        problem = problem_of(rule)
        if any(cells[len(columns) :]):
            problem = f"it has {len(cells)} cells, the first row {len(columns)}"
        if problem:
            problems.append((number, problem))
        else:
            rules.append(rule)
    if "action" not in columns or len(set(columns)) < len(columns):
        raise AngelError(
            f"The first row of {path} must name the columns, `action` among them, not {columns}."
        )
    return RuleFile(tuple(rules), tuple(problems), tuple(columns), header)


def write_rules(path: Path, rules: Iterable[Rule]) -> None:
    """path (Path): file to write or replace. rules (Iterable[Rule]): its content."""
    write_text(path, _table(["\t".join(COLUMNS)], rules, COLUMNS))


def append_rules(path: Path, rules: Sequence[Rule]) -> None:
    """Append rules to a file. Its rows, comments and order of columns are kept; missing columns are
    added at the end.

    path (Path): file of rules, created if it does not exist. rules (Sequence[Rule]): to append.
    RAISES (AngelError): see `read_rules`.
    """
    if not path.is_file():
        write_rules(path, rules)
        return
    found = read_rules(path)
    lines = path.read_text("utf-8-sig").rstrip().split("\n")
    missing = [n for n in COLUMNS if n not in found.columns and any(getattr(r, n) for r in rules)]
    lines[found.header - 1] = "\t".join([lines[found.header - 1], *missing])
    write_text(path, _table(lines, rules, [*found.columns, *missing]))


def _table(lines: Sequence[str], rules: Iterable[Rule], columns: Sequence[str]) -> str:
    """Lines of a table, followed by a row for each rule."""
    text = StringIO()
    text.writelines(f"{line}\n" for line in lines)
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerows([getattr(rule, name, "") for name in columns] for rule in rules)
    return text.getvalue()
