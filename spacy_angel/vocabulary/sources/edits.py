"""The rules of a stored vocabulary, in `rules.tsv` beside it, as commands write them.

What the vocabulary was built from is not changed: the rules are applied when it is opened, so they
also hold for its next release. The file is one that `rule_file` reads, and may be edited by hand.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from ...errors import AngelError
from ...files.atomic import write_text
from ..changes.applied import find_concept, has_name
from ..changes.rule_file import added_rows, read_rules
from ..changes.rules import Rule
from ..kb import RULES, ConceptKB
from ..names.concepts import normalize_name


def add_to_concept(folder: Path, concept_id: str, names: Sequence[str]) -> int:
    """Give a concept names, or the vocabulary the concept if it has none.

    folder (Path): the vocabulary.
    concept_id (str): any identifier of the concept.
    names (Sequence[str]): at least one; the first is the canonical name of a new concept.
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

    return _write(folder, rules)


def remove_concepts(folder: Path, concept_ids: Sequence[str]) -> int:
    """folder (Path): the vocabulary, which loses concepts. concept_ids (Sequence[str]): any
    identifiers. RETURNS (int): see `add_to_concept`. RAISES (AngelError): one is unknown; nothing
    is changed then."""
    return _write(
        folder, lambda kb: [Rule("exclude", concept=kb[one].concept_id) for one in concept_ids]
    )


def remove_names(folder: Path, concept_id: str, names: Sequence[str]) -> int:
    """folder (Path): the vocabulary. concept_id (str): any identifier of a concept, which loses
    names. names (Sequence[str]): in any spelling. RETURNS (int): see `add_to_concept`. RAISES
    (AngelError): the concept has no such name, or no other."""

    def rules(kb: ConceptKB) -> Iterable[Rule]:
        own = kb[concept_id].concept_id
        for name in names:
            kb.remove_name(own, name)
            yield Rule("not-name", name, concept=own)

    return _write(folder, rules)


def rename(folder: Path, concept_id: str, new: str, old: str | None) -> int:
    """folder (Path): the vocabulary. concept_id (str): any identifier of a concept. new (str): its
    canonical name from now on; with `old`, the name that replaces that one. old (str | None): a
    name that goes in all its spellings. RETURNS (int): see `add_to_concept`. RAISES (AngelError):
    see `ConceptKB.rename`."""

    def rules(kb: ConceptKB) -> Iterable[Rule]:
        concept = kb[concept_id]
        kb.rename(concept_id, new, old)
        normal = None if old is None else normalize_name(old)
        is_canonical = normal in (None, normalize_name(concept.canonical_name))
        action = "canonical" if is_canonical else "name"
        yield Rule(action, new, concept=concept.concept_id)
        if old is not None and normal != normalize_name(new):
            yield Rule("not-name", old, concept=concept.concept_id)

    return _write(folder, rules)


def _write(folder: Path, rules_for: Callable[[ConceptKB], Iterable[Rule]]) -> int:
    """Append the rules for a vocabulary as it is now, if all of them have an effect."""
    path = folder / RULES
    before = read_rules(path).rules if path.is_file() else ()
    day = date.today().isoformat()
    rules = [replace(rule, date=day) for rule in rules_for(ConceptKB.from_disk(folder))]
    after = ConceptKB.from_disk(folder, rules=False)
    after.apply([*before, *rules])
    for rule in rules:
        if not _is_in_effect(after, rule):
            raise AngelError(
                f"The new rule would have no effect: {rule}. In {path}, {_opposite(rule, before)}. "
                "Remove that rule first."
            )
    if rules:
        write_text(path, added_rows(path, rules))
    return len(rules)


def _is_in_effect(kb: ConceptKB, rule: Rule) -> bool:
    own = find_concept(kb, rule.concept)
    if rule.action == "exclude" or own is None:
        return rule.action == "exclude" and own is None
    if rule.action == "canonical":
        return kb[own].canonical_name == rule.string
    return rule.action == "concept" or has_name(kb, own, rule.string) == (rule.action == "name")


def _opposite(rule: Rule, before: Iterable[Rule]) -> str:
    """The earlier rule that keeps a new one from having an effect."""
    for other in before:
        same_string = other.action == "not-name" and other.normal == rule.normal
        if other.concept == rule.concept and (same_string or other.action == "exclude"):
            return f"line {other.number} says: {other}"
    return "an earlier row says the opposite"
