"""What rules mean for a vocabulary, told after it was updated: which of them are in effect, and
which no longer are what their author meant."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..vocabulary.changes.applied import change_concepts, find_concept
from ..vocabulary.changes.rules import CASE, SUBTREE, Rule
from ..vocabulary.kb import ConceptKB
from ..vocabulary.names.concepts import normalize_name
from ..vocabulary.names.identifiers import normal_ids

CONFLICT, OBSOLETE, DISCREPANT = "in conflict", "obsolete", "discrepant"
SUPERFLUOUS, IN_EFFECT = "superfluous", "in effect"
STATES = (CONFLICT, OBSOLETE, DISCREPANT, SUPERFLUOUS, IN_EFFECT)
"""In conflict: another rule says the opposite. Obsolete: the vocabulary does not have the concept
or type. Discrepant: it sees the matter otherwise than the rule, as where the concept was merged
into another. Superfluous: it says so by itself, or another rule does. In effect: the rest. The
first three need a person."""
# Rules of one matter that each other one is held against.
_MOST_COMPARED = 1000
NEEDS_A_PERSON = frozenset({CONFLICT, OBSOLETE, DISCREPANT})


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about a rule.

    rule (Rule): the rule. state (str): one of `STATES`. note (str): why; may be empty.
    """

    rule: Rule
    state: str
    note: str = ""


def check_rules(rules: Sequence[Rule], kb: ConceptKB) -> list[Finding]:
    """rules (Sequence[Rule]): of a file. kb (ConceptKB): the vocabulary without them.
    RETURNS (list[Finding]): one a rule, in their order; of several states the first of `STATES`."""
    stored = kb
    kb = kb.copy()
    change_concepts(kb, [rule for rule in rules if rule.action == "concept"])
    conflicts = _conflicts(rules, kb)
    seen: dict[tuple[str, ...], Rule] = {}

    def states(i: int, rule: Rule) -> Iterator[tuple[str, str]]:
        first = seen.setdefault(_key(rule, kb), rule)
        yield CONFLICT, conflicts.get(i, "")
        yield OBSOLETE, _obsolete(rule, kb)
        yield SUPERFLUOUS, "" if first is rule else f"line {first.number} says it"
        if rule.action != "concept" or find_concept(stored, rule.concept) is not None:
            yield SUPERFLUOUS, _superfluous(rule, kb)
            yield DISCREPANT, _discrepant(rule, kb)

    findings = []
    for i, rule in enumerate(rules):
        state, note = next((pair for pair in states(i, rule) if pair[1]), (IN_EFFECT, ""))
        findings.append(Finding(rule, state, note))
    return findings


def _concept(rule: Rule, kb: ConceptKB) -> str:
    """The own identifier of a rule's concept, as the rule has it where there is none."""
    return find_concept(kb, rule.concept) or rule.concept


def _key(rule: Rule, kb: ConceptKB) -> tuple[str, ...]:
    """What two rules that say the same have in common."""
    string = " ".join(rule.string.split()) if rule.condition == CASE else rule.normal
    concept = rule.concept if rule.action == "prefer" else _concept(rule, kb)
    instead_of = find_concept(kb, rule.instead_of) or rule.instead_of
    return (rule.action, string, rule.label, concept, rule.type, instead_of, rule.condition)


def _conflicts(rules: Sequence[Rule], kb: ConceptKB) -> dict[int, str]:
    """Which rules contradict another one, by their place, and which that is."""
    groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, rule in enumerate(rules):
        for key in _matters(rule, kb):
            groups[key].append(i)
    conflicts: dict[int, str] = {}
    for places in groups.values():
        # Of many rules of one matter, each is held against the first that says something else.
        for i in places:
            some = places[:_MOST_COMPARED]
            other = next((j for j in some if _contradict(rules[i], rules[j], kb)), None)
            if other is not None:
                rule = rules[other]
                conflicts.setdefault(i, f"line {rule.number} says: {rule}")
    return conflicts


def _matters(rule: Rule, kb: ConceptKB) -> Iterator[tuple[str, ...]]:
    """What a rule is about: two that contradict each other are about one matter."""
    if rule.string:
        yield "string", rule.normal
    if rule.action in ("concept", "canonical"):
        yield "concept", _concept(rule, kb)
    if rule.string:
        return
    if rule.action == "prefer":
        yield "prefer", find_concept(kb, rule.instead_of) or rule.instead_of
    elif rule.type:
        yield "type", rule.type
    else:
        yield "concept", _concept(rule, kb)


def _contradict(one: Rule, other: Rule, kb: ConceptKB) -> bool:
    if one.label and other.label and one.label != other.label:
        return False
    actions = {one.action, other.action}
    same_concept = _concept(one, kb) == _concept(other, kb)
    if "not-name" in actions and actions & {"name", "means", "canonical"}:
        # `AMI` is a name and `ami` is none: both may be so.
        return same_concept and _may_be_one(one, other)
    if "not-mention" in actions and actions & {"name", "means"}:
        return _may_be_one(one, other)
    if actions == {"means"}:
        return not same_concept and _may_be_one(one, other) and one.label == other.label
    if actions == {"canonical"}:
        return same_concept and one.string != other.string
    if actions == {"concept", "exclude"}:
        return same_concept
    if actions == {"prefer"}:
        return one.concept != other.concept
    if actions == {"allow", "exclude"}:
        return one.condition == other.condition and one.label == other.label
    return False


def _may_be_one(one: Rule, other: Rule) -> bool:
    """Whether there is a mention for which both hold."""
    return CASE not in (one.condition, other.condition) or one.is_written(other.string)


def _obsolete(rule: Rule, kb: ConceptKB) -> str:
    """Why a rule can have no effect any more; empty where it may."""
    for text in (rule.concept if rule.action != "prefer" else "", rule.instead_of):
        if text and find_concept(kb, text) is None:
            return f"the vocabulary has no {text}"
    if rule.type and rule.type not in kb.types:
        return f"no concept has the type {rule.type}"
    if rule.action == "only" and not rule.concept and kb.name_index(rule.string) is None:
        return "the string is no name of the vocabulary"
    return ""


def _superfluous(rule: Rule, kb: ConceptKB) -> str:
    """Why a rule changes nothing; empty where it may."""
    concept = find_concept(kb, rule.concept) if rule.concept else None
    index = kb.name_index(rule.string) if rule.string else None
    holders = [] if index is None else kb.concept_ids_of(index)
    if rule.action == "name" and not rule.condition and concept in holders:
        return "the vocabulary has the name"
    if rule.action in ("not-name", "only") and concept is not None and concept not in holders:
        return "the vocabulary does not have the name"
    if rule.action == "means" and holders == [concept]:
        return "it is a name of that concept alone"
    if rule.action == "concept" and concept in (rule.concept, normal_ids(rule.concept)):
        return "the vocabulary has the concept"
    is_canonical = rule.action == "canonical" and concept is not None
    if is_canonical and kb[concept or ""].canonical_name == rule.string:
        return "it is the canonical name"
    if rule.action == "prefer" and rule.concept == find_concept(kb, rule.instead_of):
        return "it is the concept's own identifier"
    return ""


def _discrepant(rule: Rule, kb: ConceptKB) -> str:
    """How the vocabulary sees a matter otherwise than a rule; empty where it does not."""
    for text in (rule.concept if rule.action != "prefer" else "", rule.instead_of):
        own = find_concept(kb, text) if text else None
        if own is not None and own not in (text, normal_ids(text)):
            return f"{text} leads to {own} ({kb[own].canonical_name}) now"
    if rule.action == "prefer" and find_concept(kb, rule.concept) is None:
        return f"the vocabulary has no {rule.concept}; it is written all the same"
    if rule.condition == SUBTREE and len(kb.ids_below(_concept(rule, kb))) == 1:
        why = (
            "nothing stands below it"
            if kb.table.has_hierarchy
            else "the vocabulary has no hierarchy"
        )
        return f"{why}, so that it holds for the concept alone"
    if rule.action == "name":
        index = kb.name_index(rule.string)
        others = [] if index is None else kb.concept_ids_of(index)
        others = [one for one in others if one != _concept(rule, kb)]
        if others:
            named = f"{others[0]} ({kb[others[0]].canonical_name})"
            return f"{named} has the name as well; `means` would decide"
    if rule.action == "not-name":
        concept = kb[_concept(rule, kb)]
        if len({normalize_name(name) for name in concept.names}) == 1:
            return "it is the only name of the concept, which other mentions may still find"
    return ""
