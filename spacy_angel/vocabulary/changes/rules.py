"""What a curator can decide, a rule each: which strings are names, what is never linked to, which
identifier is written."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date as Date
from typing import NamedTuple

from ..names.concepts import normalize_name

CASE, ELSEWHERE, SUBTREE = "case", "elsewhere", "subtree"
"""Conditions: only as the string is written; only where the document names the concept in other
words; with all that stands below the concept."""
MOST_CHARACTERS = 1000
"""Longest cell. Strings are compared whole, in normal form: there are no patterns in a rule."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of a file of rules; a cell that is not needed is empty.

    action (str): what the rule does, see `SHAPES`.
    string (str): as it stands in texts; it counts in its normal form, or, under the condition
        `case`, as it is written.
    label (str): only of mentions with this label, by any of its spellings.
    concept (str): an identifier.
    type (str): a semantic type.
    instead_of (str): the identifier in the place of which `concept` is written.
    condition (str): `case`, `elsewhere` or `subtree`.
    author (str), date (str), reason (str): who decided, when (2024-05-31), and why.
    number (int): the line on which it stands, from 1.
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
    number: int = 0

    @property
    def normal(self) -> str:
        """RETURNS (str): the string in normal form."""
        return normalize_name(self.string)

    def is_written(self, text: str) -> bool:
        """text (str): of a mention. RETURNS (bool): whether it is the string letter by letter, but
        for its spaces."""
        return self.string.split() == text.split()

    @property
    def told(self) -> str:
        """RETURNS (str): what it does, on which line it stands, and who decided so, when and
        why."""
        who = ", ".join(filter(None, (self.author, self.date)))
        note = ": ".join(filter(None, (who, self.reason)))
        return f"{self} (line {self.number}{f'; {note}' if note else ''})"

    def __str__(self) -> str:
        limits = f" of {self.label}" if self.label else ""
        told = {
            "concept": f"{self.concept} is a concept, “{self.string}”",
            "name": f"“{self.string}” is a name of {self.concept}",
            "canonical": f"“{self.string}” is the canonical name of {self.concept}",
            "not-name": f"“{self.string}” is never a name of {self.concept}",
            "not-mention": f"“{self.string}” is never a mention",
            "only": f"“{self.string}” counts only",
            "means": f"“{self.string}” means {self.concept}",
            "exclude": f"never linked to: {self.concept or f'type {self.type}'}",
            "allow": f"linked to: {self.concept or f'type {self.type}'}",
            "prefer": f"{self.concept} is written instead of {self.instead_of}",
        }[self.action]
        if self.action == "only" and self.concept:
            told = f"“{self.string}” counts as {self.concept} only"
        condition = {
            "": "",
            CASE: " as it is written here",
            ELSEWHERE: " where the document names it in other words",
            SUBTREE: " and all below",
        }[self.condition]
        return f"{told}{condition}{limits}"


COLUMNS = tuple(field.name for field in fields(Rule) if field.name != "number")
"""Of a file of rules."""
_NOTES = frozenset({"action", "author", "date", "reason"})


class Shape(NamedTuple):
    """What a rule of an action is made of.

    needs (tuple[str, ...]): cells that are not empty. may (tuple[str, ...]): those that may be
    filled as well. conditions (tuple[str, ...]): those that it may have; an empty one: none.
    one_of (tuple[str, ...]): exactly one of them is filled.
    """

    needs: tuple[str, ...]
    may: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ("",)
    one_of: tuple[str, ...] = ()


SHAPES: Mapping[str, Shape] = {
    "concept": Shape(("string", "concept"), ("type",)),
    "name": Shape(("string", "concept"), conditions=("", CASE, ELSEWHERE)),
    "canonical": Shape(("string", "concept")),
    "not-name": Shape(("string", "concept"), ("label",), ("", CASE)),
    "not-mention": Shape(("string",), ("label",), ("", CASE)),
    "only": Shape(("string",), ("concept", "label"), (CASE, ELSEWHERE)),
    "means": Shape(("string", "concept"), ("label",), ("", CASE)),
    "exclude": Shape((), ("label",), ("", SUBTREE), ("concept", "type")),
    "allow": Shape((), ("label",), ("", SUBTREE), ("concept", "type")),
    "prefer": Shape(("concept", "instead_of")),
}


def problem_of(rule: Rule) -> str:
    """rule (Rule): as it was read. RETURNS (str): what is wrong with it; empty where nothing is."""
    shape = SHAPES.get(rule.action)
    if shape is None:
        return f"there is no action {rule.action!r}, there are {', '.join(SHAPES)}"
    long = [name for name in COLUMNS if len(getattr(rule, name)) > MOST_CHARACTERS]
    if long:
        return f"{long[0]} is longer than {MOST_CHARACTERS:,} characters"
    filled = {name for name in COLUMNS if getattr(rule, name)} - _NOTES - {"condition"}
    if missing := [name for name in shape.needs if name not in filled]:
        return f"{rule.action} needs {' and '.join(missing)}"
    if shape.one_of and len(filled.intersection(shape.one_of)) != 1:
        return f"{rule.action} needs either {' or '.join(shape.one_of)}"
    if extra := sorted(filled - {*shape.needs, *shape.may, *shape.one_of}):
        return f"{rule.action} has no {' and no '.join(extra)}"
    if rule.condition not in shape.conditions:
        known = " or ".join(condition or "none" for condition in shape.conditions)
        return f"the condition of {rule.action} is {known}, not {rule.condition!r}"
    if rule.condition == SUBTREE and not rule.concept:
        return "a subtree is that of a concept"
    if rule.string and not rule.normal:
        return f"nothing is left of {rule.string!r} in normal form"
    try:
        Date.fromisoformat(rule.date or "2024-05-31")
    except ValueError:
        return f"the date is {rule.date!r}, expected one such as 2024-05-31"
    return ""
