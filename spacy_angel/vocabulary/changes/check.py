"""Checks rules against a vocabulary, for example after an update: which of them are in effect, and
which their author should review."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..names.identifiers import normal_ids
from .rules import NEW, SUBTREE, Rule

if TYPE_CHECKING:
    from ..kb import ConceptKB

CONFLICT, OBSOLETE, DISCREPANT = "in conflict", "obsolete", "discrepant"
SUPERFLUOUS, IN_EFFECT = "superfluous", "in effect"
STATES = (CONFLICT, OBSOLETE, DISCREPANT, SUPERFLUOUS, IN_EFFECT)
"""In conflict: another rule contradicts it. Obsolete: the vocabulary lacks the concept or type.
Discrepant: the vocabulary disagrees with the rule, for example because the concept was merged into
another. Superfluous: the vocabulary agrees without the rule, or another rule is equivalent. In
effect: the rest. The first three need a decision."""
NEEDS_A_PERSON = frozenset({CONFLICT, OBSOLETE, DISCREPANT})


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of a rule.

    rule (Rule): the rule. state (str): one of `STATES`. note (str): the reason; may be empty.
    """

    rule: Rule
    state: str
    note: str = ""


def check_rules(rules: Sequence[Rule], kb: "ConceptKB") -> list[Finding]:
    """rules (Sequence[Rule]): rules of a file.
    kb (ConceptKB): the vocabulary without them.
    RETURNS (list[Finding]): a finding for each rule, in the same order."""
    with_new, kb = kb.copy(), kb.copy()
    with_new.apply(rule for rule in rules if rule.condition == NEW)
    said: defaultdict[Hashable, dict[Hashable, Rule]] = defaultdict(dict)
    first: dict[Rule, Rule] = {}
    for rule in rules:
        first.setdefault(_without_author(rule), rule)
        for matter, verdict in _verdicts(rule, with_new):
            said[matter].setdefault(verdict, rule)
    found: dict[int, Finding] = {}
    # Rules of mentions apply to the vocabulary as changed by all edits.
    for i, rule in sorted(enumerate(rules), key=lambda pair: not pair[1].is_edit):
        state, note = _state(rule, kb)
        opposites = (
            opposite
            for matter, verdict in _verdicts(rule, with_new)
            for other, opposite in said[matter].items()
            if other != verdict
        )
        if (opposite := next(opposites, None)) is not None:
            state, note = CONFLICT, f"line {opposite.number} says: {opposite}"
        elif (earlier := first[_without_author(rule)]) is not rule:
            state, note = SUPERFLUOUS, f"line {earlier.number} says it"
        found[i] = Finding(rule, state, note)
    return [found[i] for i in range(len(rules))]


def _without_author(rule: Rule) -> Rule:
    """RETURNS: a key that is equal for rules with the same meaning."""
    return replace(rule, string=rule.matched, author="", date="", reason="")


def _verdicts(rule: Rule, kb: "ConceptKB") -> Iterator[tuple[Hashable, Hashable]]:
    """YIELDS (tuple[Hashable, Hashable]): a question and the answer of the rule. Rules with
    different answers to the same question are in conflict."""
    concept = kb.resolve(rule.concept) or rule.concept
    string = rule.matched
    agrees = rule.action not in ("remove", "exclude")
    if rule.action == "prefer" and rule.instead_of:
        yield ("instead of", kb.resolve(rule.instead_of) or rule.instead_of), concept
    elif not string or rule.condition == NEW:
        condition = SUBTREE if rule.condition == SUBTREE else ""
        yield ("target", concept or rule.type, condition, rule.label), agrees
    elif rule.action != "allow":
        if concept:
            yield ("name", string, concept, rule.label), agrees
        if not concept or agrees:
            yield ("mention", string, rule.label), agrees
    if rule.action == "prefer" and string:
        yield ("means", string, rule.label), concept
    if rule.action == "rename" and not rule.instead_of:
        yield ("canonical name", concept), string


def _state(rule: Rule, kb: "ConceptKB") -> tuple[str, str]:
    """State and note of a rule by itself. Edits are applied to the vocabulary."""
    is_preference = rule.action == "prefer" and bool(rule.instead_of)
    concept = rule.instead_of if is_preference else rule.concept
    own, owners = kb.resolve(concept), [c.concept_id for c in kb.find(rule.string)]
    version = kb.version
    if rule.is_edit:
        kb.apply([rule])
    if concept and own is None and rule.condition != NEW:
        return OBSOLETE, f"the vocabulary has no {concept}"
    if rule.type and rule.condition != NEW and rule.type not in kb.types:
        return OBSOLETE, f"no concept has the type {rule.type}"
    if rule.action == "allow" and rule.string and not owners:
        return OBSOLETE, "the string is no name of the vocabulary"
    if own is not None and own not in (concept, normal_ids(concept)):
        return DISCREPANT, f"{concept} leads to {own} ({_name(kb, own)}) now"
    others = [other for other in owners if other != own]
    if rule.is_edit and kb.version == version:
        if rule.action == "remove" and own in owners:
            return DISCREPANT, "it is the only name of the concept, which stays"
        has = "does not have" if rule.action == "remove" or rule.instead_of else "has"
        what = "concept" if rule.condition == NEW else "name"
        return SUPERFLUOUS, f"the vocabulary {has} the {what}"
    if rule.action == "add" and own is not None and others:
        named = f"{others[0]} ({_name(kb, others[0])})"
        return DISCREPANT, f"{named} has the name as well; `prefer` would decide"
    if rule.action == "prefer" and rule.string and owners == [own]:
        return SUPERFLUOUS, "it is a name of that concept alone"
    if rule.action == "allow" and rule.string and own is not None and own not in owners:
        return SUPERFLUOUS, "the vocabulary does not have the name"
    if is_preference and rule.concept == own:
        return SUPERFLUOUS, "it is the concept's own identifier"
    if is_preference and rule.concept not in kb:
        return DISCREPANT, f"the vocabulary has no {rule.concept}; it is written all the same"
    if rule.condition == SUBTREE and own is not None and len(kb.ids_below(own)) == 1:
        has_hierarchy = kb.table.has_hierarchy
        why = "nothing is below it" if has_hierarchy else "the vocabulary has no hierarchy"
        return DISCREPANT, f"{why}, so it holds for the concept alone"
    return IN_EFFECT, ""


def _name(kb: "ConceptKB", concept_id: str) -> str:
    return "" if (concept := kb.get(concept_id)) is None else concept.canonical_name
