"""The rules of a stored vocabulary, in `rules.tsv` beside it, written and taken back one command at
a time.

What the vocabulary was built of is not touched: the rules are laid over it where it is opened, so
that they hold for its next release, too. The file is one that `rule_file` reads, and may be edited
by hand; the rows of one command have it as their reason.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from ...errors import AngelError
from ...files.atomic import write_text
from ..changes.applied import find_concept, has_name
from ..changes.rule_file import added_rows, read_rules, without_rows
from ..changes.rules import Rule
from ..kb import RULES, ConceptKB
from ..names.concepts import normalize_name
from .older_changes import convert_changes


def add_to_concept(
    folder: Path, concept_id: str, names: Sequence[str], command: str, author: str = ""
) -> int:
    """Give a concept names, and the vocabulary the concept where it has none.

    folder (Path): the vocabulary.
    concept_id (str): any identifier of the concept.
    names (Sequence[str]): at least one; of a new concept the first is canonical.
    command (str), author (str): what a person will read of the rules.
    RETURNS (int): rules that were written.
    RAISES (AngelError): the folder cannot be read, or an earlier rule says the opposite.
    """

    def rules(kb: ConceptKB) -> Iterable[Rule]:
        own = find_concept(kb, concept_id)
        if own is None:
            yield Rule("concept", names[0], concept=concept_id)
        for name in names if own is not None else names[1:]:
            if own is None or not has_name(kb, own, name):
                yield Rule("name", name, concept=own or concept_id)

    return _change(folder, rules, command, author)


def remove_concepts(
    folder: Path, concept_ids: Sequence[str], command: str, author: str = ""
) -> int:
    """folder (Path): the vocabulary, which loses concepts. concept_ids (Sequence[str]): any
    identifiers. command (str), author (str), RETURNS (int): see `add_to_concept`. RAISES
    (AngelError): one is unknown; nothing is changed then."""
    return _change(
        folder,
        lambda kb: [Rule("exclude", concept=kb[one].concept_id) for one in concept_ids],
        command,
        author,
    )


def remove_names(
    folder: Path, concept_id: str, names: Sequence[str], command: str, author: str = ""
) -> int:
    """folder (Path): the vocabulary. concept_id (str): any identifier of a concept, which loses
    names. names (Sequence[str]): in any spelling. command (str), author (str), RETURNS (int): see
    `add_to_concept`. RAISES (AngelError): the concept has no such name, or no other."""

    def rules(kb: ConceptKB) -> Iterable[Rule]:
        own = kb[concept_id].concept_id
        for name in names:
            kb.remove_name(own, name)
            yield Rule("not-name", name, concept=own)

    return _change(folder, rules, command, author)


def rename(
    folder: Path,
    concept_id: str,
    new: str,
    old: str | None,
    command: str,
    author: str = "",
) -> int:
    """folder (Path): the vocabulary. concept_id (str): any identifier of a concept. new (str): its
    canonical name from now on; with `old` the name in the place of that one. old (str | None): a
    name that goes in all its spellings. command (str), author (str), RETURNS (int): see
    `add_to_concept`. RAISES (AngelError): see `ConceptKB.rename`."""

    def rules(kb: ConceptKB) -> Iterable[Rule]:
        concept = kb[concept_id]
        kb.rename(concept_id, new, old)
        normal = None if old is None else normalize_name(old)
        is_canonical = normal in (None, normalize_name(concept.canonical_name))
        action = "canonical" if is_canonical else "name"
        yield Rule(action, new, concept=concept.concept_id)
        if old is not None and normal != normalize_name(new):
            yield Rule("not-name", old, concept=concept.concept_id)

    return _change(folder, rules, command, author)


def undo(folder: Path) -> tuple[list[Rule], list[Rule]]:
    """Take back the rules of the last command, or the last rule where a person wrote it.

    folder (Path): the vocabulary.
    RETURNS (tuple[list[Rule], list[Rule]]): the rules that were taken out, and those that are left.
    RAISES (AngelError): there is none.
    """
    convert_changes(folder)
    path = folder / RULES
    rules = read_rules(path).rules if path.is_file() else ()
    if not rules:
        raise AngelError(
            f"{folder} has no rule to undo. `kb add --concept`, `remove` and `rename` write rules."
        )
    last = rules[-1]
    n = 1
    while last.reason and n < len(rules) and _is_of_one_command(rules[-n - 1], last):
        n += 1
    taken, left = list(rules[-n:]), list(rules[:-n])
    write_text(path, without_rows(path, {rule.number for rule in taken}))
    return taken, left


def _is_of_one_command(one: Rule, other: Rule) -> bool:
    return (one.reason, one.date, one.author) == (other.reason, other.date, other.author)


def stands(kb: ConceptKB, rule: Rule) -> bool:
    """kb (ConceptKB): a vocabulary. rule (Rule): one that this module writes. RETURNS (bool):
    whether the vocabulary is as the rule has it."""
    own = find_concept(kb, rule.concept)
    if rule.action == "exclude":
        return own is None
    if own is None:
        return False
    if rule.action == "canonical":
        return kb[own].canonical_name == rule.string
    return rule.action == "concept" or has_name(kb, own, rule.string) == (rule.action == "name")


def _change(
    folder: Path, rules_for: Callable[[ConceptKB], Iterable[Rule]], command: str, author: str
) -> int:
    """Write the rules that are asked for of a vocabulary as it stands."""
    kb = ConceptKB.from_disk(folder)
    convert_changes(folder)
    path = folder / RULES
    before = read_rules(path).rules if path.is_file() else ()
    day = date.today().isoformat()
    rules = [
        replace(rule, author=author, date=day, reason=command) for rule in rules_for(kb.copy())
    ]
    if not rules:
        return 0
    after = ConceptKB.from_disk(folder, rules=False)
    after.apply([*before, *rules])
    for rule in rules:
        if not stands(after, rule):
            raise AngelError(
                f"The new rule would have no effect: {rule}. In {path}, {_why(rule, before)}. "
                "Remove that rule first."
            )
    write_text(path, added_rows(path, rules))
    return len(rules)


def _why(rule: Rule, before: Iterable[Rule]) -> str:
    """Which earlier rule keeps a new one from having an effect."""
    for other in before:
        same_string = other.action == "not-name" and other.normal == rule.normal
        if other.concept == rule.concept and (same_string or other.action == "exclude"):
            return f"line {other.number} says: {other}"
    return "an earlier row says the opposite"
