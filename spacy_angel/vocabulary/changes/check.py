"""Checks rules against a vocabulary, for example after an update: which of them are in effect, and
which their author should review."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..names.identifiers import normal_ids
from .rules import CASE, NEW, SUBTREE, Rule

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
    verdicts = [list(_verdicts(rule, kb)) for rule in rules]
    first: defaultdict[Hashable, dict[Hashable, Rule]] = defaultdict(dict)
    for rule, own in zip(rules, verdicts, strict=True):
        for question, answer in own:
            first[question].setdefault(answer, rule)
    found: dict[int, Finding] = {}
    kb = kb.copy()
    # Rules of mentions apply to the vocabulary as changed by all edits.
    for i, rule in sorted(enumerate(rules), key=lambda pair: not pair[1].is_edit):
        state, note = _state(rule, kb)
        equal = [first[question][answer] for question, answer in verdicts[i]]
        opposites = (
            opposite
            for question, answer in verdicts[i]
            for other, opposite in first[question].items()
            if other != answer
        )
        if (opposite := next(opposites, None)) is not None:
            state, note = CONFLICT, f"line {opposite.number} says: {opposite}"
        elif equal and all(earlier is not rule for earlier in equal):
            state, note = SUPERFLUOUS, f"line {equal[0].number} says it"
        found[i] = Finding(rule, state, note)
    return [found[i] for i in range(len(rules))]


def _verdicts(rule: Rule, kb: "ConceptKB") -> Iterator[tuple[Hashable, Hashable]]:
    """YIELDS (tuple[Hashable, Hashable]): a question and the answer of the rule. Rules with
    different answers to the same question are in conflict."""
    concept = kb.resolve(rule.concept) or rule.concept
    string = " ".join(rule.string.split()) if rule.condition == CASE else rule.normal
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
    given = rule.instead_of if rule.action == "prefer" and rule.instead_of else rule.concept
    concept, owners = kb.get(given), kb.find(rule.string)
    own = "" if concept is None else concept.concept_id
    others = [owner for owner in owners if owner != concept]
    version = kb.version
    if rule.is_edit:
        kb.apply([rule])
    if given and concept is None and rule.condition != NEW:
        return OBSOLETE, f"the vocabulary has no {given}"
    if rule.type and rule.condition != NEW and rule.type not in kb.types:
        return OBSOLETE, f"no concept has the type {rule.type}"
    if concept is not None and own not in (given, normal_ids(given)):
        return DISCREPANT, f"{given} leads to {own} ({concept.canonical_name}) now"
    if rule.action == "remove" and kb.version == version and concept in owners:
        return DISCREPANT, "it is the only name of the concept, which stays"
    if rule.is_edit and kb.version == version:
        return SUPERFLUOUS, "it changes nothing"
    if rule.action == "add" and concept is not None and others:
        named = f"{others[0].concept_id} ({others[0].canonical_name})"
        return DISCREPANT, f"{named} has the name as well; `prefer` would decide"
    if rule.action == "prefer" and owners and not others:
        return SUPERFLUOUS, "it is a name of that concept alone"
    if rule.condition == SUBTREE and len(kb.ids_below(own)) == 1:
        has_hierarchy = kb.table.has_hierarchy
        why = "nothing is below it" if has_hierarchy else "the vocabulary has no hierarchy"
        return DISCREPANT, f"{why}, so it holds for the concept alone"
    return IN_EFFECT, ""
