"""Rules that decide what mentions link to: `prefer`, `allow`, and `exclude`.

Rules about a string are looked up by the text of a mention. `allow` and `exclude` rules about
concepts and types define a `Subset` of the vocabulary, which masks the trie and string similarity.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ..names.concepts import normalize_name
from .overlay import Subset, VocabularyOverlay
from .rules import CASE, SUBTREE, Rule

# Maximum number of cached subsets, by label; a label may be any string from a user.
_MAX_SUBSETS = 256


@dataclass(frozen=True, slots=True)
class Constraint:
    """The effect of the rules on a mention.

    rules (tuple[Rule, ...]): the rules that apply.
    is_mention (bool): whether the mention is linked at all.
    means (str | None): the concept that it is always linked to, overriding other candidates.
    excluded (frozenset[str]): concepts that it is not linked to.
    """

    rules: tuple[Rule, ...] = ()
    is_mention: bool = True
    means: str | None = None
    excluded: frozenset[str] = frozenset()

    def allows(self, concept_id: str) -> bool:
        """concept_id (str): own identifier of a concept. RETURNS (bool): whether the mention may
        be linked to it."""
        return concept_id not in self.excluded if self.means is None else concept_id == self.means


class _Restriction(NamedTuple):
    """A rule `allow` or `exclude` with its concepts."""

    rule: Rule
    concept_ids: frozenset[str]


class AppliedRules:
    """Rules applied to a vocabulary, prepared so that each mention needs only one lookup.

    kb (VocabularyOverlay): the vocabulary. Edits change it, and `prefer` rules add names to its
        concepts. Its own `rules` also apply.
    rules (Sequence[Rule]): additional rules. `exclude` overrides `allow` and `prefer`; between two
        conflicting `prefer` rules, the later one wins.
    """

    def __init__(self, kb: VocabularyOverlay, rules: Sequence[Rule]) -> None:
        self.rules = (*kb.rules, *rules)
        self.preferred: dict[str, str] = {}
        """Own identifier of a concept → the identifier to output instead."""
        self._kb = kb
        self._by_text: defaultdict[str, list[tuple[Rule, str]]] = defaultdict(list)
        self._restrictions: list[_Restriction] = []
        self.unknown = kb.apply(rules)
        """Rules about concepts or types that the vocabulary does not have."""
        self.unknown += [rule for rule in kb.rules if not self._take(rule)]
        self.subset = lru_cache(_MAX_SUBSETS)(self._subset)
        """The subset to which mentions with a label are limited, see `_subset`."""

    def _take(self, rule: Rule) -> bool:
        """RETURNS (bool): whether the vocabulary has the concept or type of a rule."""
        concept = self._kb.resolve(rule.instead_of or rule.concept)
        if concept is None and (rule.instead_of or rule.concept):
            return False
        if rule.instead_of:
            self.preferred[concept or ""] = rule.concept
        elif rule.string:
            if rule.action == "prefer" and not self._kb.has_name(concept or "", rule.string):
                self._kb.add_names(concept or "", [rule.string])
            self._by_text[rule.normal].append((rule, concept or ""))
        else:
            ids = self._kb.ids_of_types([rule.type])
            if concept is not None:
                subtree = rule.condition == SUBTREE
                ids = self._kb.ids_below(concept) if subtree else frozenset([concept])
            self._restrictions.append(_Restriction(rule, ids))
            return bool(ids)
        return True

    def constraint(self, text: str, label: str) -> Constraint | None:
        """text (str): text of a mention.
        label (str): its label.
        RETURNS (Constraint | None): the effect of the rules on the mention; None if no rule
        applies."""
        pairs = self._by_text.get(normalize_name(text), ()) if self._by_text else ()
        means: tuple[str, Rule] | None = None
        # An empty identifier matches any concept.
        excluded: dict[str, Rule] = {}
        allowed: defaultdict[str, list[Rule]] = defaultdict(list)
        for rule, concept in pairs:
            if not rule.holds_for(label) or (
                rule.condition == CASE and not rule.matches_case(text)
            ):
                continue
            if rule.action == "allow":
                allowed[concept].append(rule)
            elif rule.action == "prefer":
                means = concept, rule
            else:
                excluded[concept] = rule
        for concept, rules in allowed.items():
            if not any(rule.matches_case(text) for rule in rules):
                excluded.setdefault(concept, rules[-1])
        if "" in excluded:
            return Constraint((excluded[""],), is_mention=False)
        if means is not None and means[0] not in excluded:
            return Constraint((means[1],), means=means[0])
        if not excluded:
            return None
        return Constraint(tuple(dict.fromkeys(excluded.values())), excluded=frozenset(excluded))

    def restricting(self, concept_id: str, label: str) -> Rule | None:
        """concept_id (str): own identifier of a concept.
        label (str): label of a mention.
        RETURNS (Rule | None): the rule that excludes the concept, or else the first rule that
        allows only other concepts."""
        found = self._restrictions_of(label)
        for rule, concept_ids in found:
            if rule.action == "exclude" and concept_id in concept_ids:
                return rule
        allowing = [pair for pair in found if pair.rule.action == "allow"]
        is_allowed = not allowing or any(concept_id in ids for _, ids in allowing)
        return None if is_allowed else allowing[0].rule

    def _restrictions_of(self, label: str) -> list[_Restriction]:
        return [pair for pair in self._restrictions if pair.rule.holds_for(label)]

    def _subset(
        self, label: str, types: frozenset[str] | None, free_types: frozenset[str]
    ) -> Subset | None:
        """label (str): label of mentions.
        types (frozenset[str] | None), free_types (frozenset[str]): see `VocabularyOverlay.subset`.
        RETURNS (Subset | None): the subset; None if all concepts are allowed."""
        found = self._restrictions_of(label)
        if types is None and not found:
            return None
        allowed = [ids for rule, ids in found if rule.action == "allow"]
        excluded = [ids for rule, ids in found if rule.action == "exclude"]
        return self._kb.subset(
            types,
            frozenset().union(*allowed) if allowed else None,
            free_types=free_types,
            excluded=frozenset().union(*excluded),
        )
