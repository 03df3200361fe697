"""Rules that decide what mentions link to: `prefer`, `allow`, and `exclude`.

Rules about a string are looked up by the text of a mention. `allow` and `exclude` rules about
concepts and types define a `Subset` of the vocabulary, which masks the trie and string similarity.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

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
        self._by_text: defaultdict[str, list[Rule]] = defaultdict(list)
        # `allow` and `exclude` rules of concepts or types, and the concepts
        self._restrictions: list[tuple[Rule, frozenset[str]]] = []
        kb.apply(rules)
        self.unknown = [rule for rule in self.rules if not self._take(rule)]
        """Rules about concepts or types that the vocabulary does not have."""
        self.subset = lru_cache(_MAX_SUBSETS)(self._subset)
        """The subset to which mentions with a label are limited, see `_subset`."""

    def _take(self, rule: Rule) -> bool:
        """RETURNS (bool): whether the vocabulary has the concept or type of a rule."""
        if rule.is_edit:
            return rule.action == "remove" or rule.concept in self._kb
        given = rule.instead_of or rule.concept
        concept = self._kb.resolve(given) if given else ""
        if concept is None:
            return False
        if rule.instead_of:
            self.preferred[concept] = rule.concept
        elif rule.string:
            if rule.action == "prefer":
                self._kb.edit(Rule("add", rule.string, concept=concept))
            self._by_text[rule.normal].append(replace(rule, concept=concept))
        else:
            ids = frozenset([concept]) if concept else self._kb.ids_of_types([rule.type])
            if rule.condition == SUBTREE:
                ids = self._kb.ids_below(concept)
            self._restrictions.append((rule, ids))
            return bool(ids)
        return True

    def constraint(self, text: str, label: str) -> Constraint | None:
        """text (str): text of a mention.
        label (str): its label.
        RETURNS (Constraint | None): the effect of the rules on the mention; None if no rule
        applies."""
        found = self._by_text.get(normalize_name(text), ()) if self._by_text else ()
        rules = [rule for rule in found if rule.holds_for(label)]
        as_written = [rule for rule in rules if rule.matches_case(text)]
        allowed = {rule.concept for rule in as_written if rule.action == "allow"}
        excluded: dict[str, Rule] = {}
        preferring = None
        for rule in rules:
            if rule.action == "allow" and rule.concept not in allowed:
                excluded[rule.concept] = rule
            if rule.condition == CASE and rule not in as_written:
                continue
            if rule.action == "exclude":
                excluded[rule.concept] = rule
            elif rule.action == "prefer":
                preferring = rule
        # without a concept: of any concept
        if "" in excluded:
            return Constraint((excluded[""],), is_mention=False)
        if preferring is not None and preferring.concept not in excluded:
            return Constraint((preferring,), means=preferring.concept)
        return (
            Constraint(tuple(excluded.values()), excluded=frozenset(excluded)) if excluded else None
        )

    def restricting(self, concept_id: str, label: str) -> Rule | None:
        """concept_id (str): own identifier of a concept.
        label (str): label of a mention.
        RETURNS (Rule | None): the rule that excludes the concept, or else the first rule that
        allows only other concepts."""
        allowing, excluding = self._restrictions_of(label)
        found = [rule for rule, ids in excluding if concept_id in ids]
        if not any(concept_id in ids for _, ids in allowing):
            found += [rule for rule, _ in allowing]
        return next(iter(found), None)

    def _restrictions_of(self, label: str) -> list[list[tuple[Rule, frozenset[str]]]]:
        """RETURNS: the rules `allow` of mentions with this label and their concepts, and the rules
        `exclude`."""
        found = [pair for pair in self._restrictions if pair[0].holds_for(label)]
        return [[pair for pair in found if pair[0].action == a] for a in ("allow", "exclude")]

    def _subset(
        self, label: str, types: frozenset[str] | None, free_types: frozenset[str]
    ) -> Subset | None:
        """label (str): label of mentions.
        types (frozenset[str] | None), free_types (frozenset[str]): see `VocabularyOverlay.subset`.
        RETURNS (Subset | None): the subset; None if all concepts are allowed."""
        allowed, excluded = ([ids for _, ids in pairs] for pairs in self._restrictions_of(label))
        if types is None and not allowed and not excluded:
            return None
        return self._kb.subset(
            types,
            frozenset().union(*allowed) if allowed else None,
            free_types=free_types,
            excluded=frozenset().union(*excluded),
        )
