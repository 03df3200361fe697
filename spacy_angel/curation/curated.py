"""Rules laid over a vocabulary: prepared once, so that a mention costs one look into a table.

Names that rules give or take are those of a copy of the vocabulary, which the trie, the string
similarity and exact matches use as they use any other; concepts that are never linked to, or the
only ones that are, are a `Subset` of it, a mask of the trie and of the similarity. What belongs to
one string is found by the mention's text.
"""

import re
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from ..errors import AngelError, AngelWarning
from ..vocabulary.changes.applied import change_concepts, concepts_of, find_concept
from ..vocabulary.changes.rule_file import RuleFile, parse_rules, read_rules
from ..vocabulary.changes.rules import CASE, ELSEWHERE, Rule
from ..vocabulary.kb import ConceptKB
from ..vocabulary.lookup.search_spaces import Subset
from ..vocabulary.names.concepts import normalize_name
from ..vocabulary.names.labels import find_entries

# Each is told from those before it, which a cache may hold results of.
_NUMBERS = count(1)
# Actions whose rules the vocabulary under them has already.
_NAMING = frozenset({"concept", "name", "canonical"})
# Letters up to which a name does not tell that the document names its concept.
_SHORT = 3
# What is kept of labels, which may be any caller's words, and of what holds for them together.
_MOST_LABELS, _MOST_LIMITS = 4096, 64


@dataclass(frozen=True, slots=True)
class Constraint:
    """What rules say of one mention.

    rules (tuple[Rule, ...]): those that hold for it and limit it.
    is_mention (bool): it is linked at all.
    means (str | None): the concept that it is linked to, whatever else is found.
    excluded (frozenset[str]): concepts that it may not have.
    allowed (frozenset[str] | None): the only ones that it may have; None: any.
    """

    rules: tuple[Rule, ...] = ()
    is_mention: bool = True
    means: str | None = None
    excluded: frozenset[str] = frozenset()
    allowed: frozenset[str] | None = None

    def allows(self, concept_id: str) -> bool:
        """concept_id (str): own identifier of a concept. RETURNS (bool): whether the mention may
        have it."""
        if self.means is not None:
            return concept_id == self.means
        if self.allowed is not None and concept_id not in self.allowed:
            return False
        return concept_id not in self.excluded


class DocumentNames:
    """Which concepts a document names, in other words than a given string; looked for when it is
    asked for.

    text (str): of the document.
    kb (ConceptKB): the vocabulary.
    """

    def __init__(self, text: str, kb: ConceptKB) -> None:
        self._text = text
        self._kb = kb
        self._normal: str | None = None

    def has(self, concept_id: str, string: str) -> bool:
        """concept_id (str): own identifier of a concept. string (str): in normal form.
        RETURNS (bool): whether a name of the concept stands in the text that is not the string, nor
        a part of it, and has more than three letters."""
        if self._normal is None:
            self._normal = normalize_name(self._text)
        for i in self._kb.names_of(concept_id):
            name = self._kb.name(i)
            is_long = len(name.replace(" ", "")) > _SHORT
            if is_long and not _stands_in(name, string) and _stands_in(name, self._normal):
                return True
        return False


def _stands_in(name: str, text: str) -> bool:
    """Whether a text has a name with no letter or digit at its ends."""
    # Both are in normal form, in which everything but letters, digits and a few signs is a space.
    return re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text) is not None


class _Restriction(NamedTuple):
    """A rule `allow` or `exclude` with its concepts."""

    rule: Rule
    concept_ids: frozenset[str]


class Curated:
    """A vocabulary under rules.

    kb (ConceptKB): the vocabulary, which is not changed.
    rules (Sequence[Rule]): of two that contradict each other, the one that forbids holds; of two
        that choose, the later one.
    """

    def __init__(self, kb: ConceptKB, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self.number = next(_NUMBERS)
        self.kb = kb.copy()
        self.unknown: list[Rule] = []
        self.preferred: dict[str, str] = {}
        self._by_text: dict[str, list[tuple[Rule, str]]] = {}
        self._restrictions: list[_Restriction] = []
        self._restrictions_of = lru_cache(_MOST_LABELS)(self._find_restrictions)
        self._limits_of = lru_cache(_MOST_LIMITS)(self._make_limits)
        self._subset_of = lru_cache(_MOST_LIMITS)(self._make_subset)
        by_text: defaultdict[str, list[tuple[Rule, str]]] = defaultdict(list)
        change_concepts(self.kb, rules)
        for rule in rules:
            concept = find_concept(self.kb, rule.concept) if rule.concept else ""
            if concept is None and rule.action != "prefer":
                self.unknown.append(rule)
            elif rule.action in ("exclude", "allow"):
                self._restrict(rule)
            elif rule.action == "prefer":
                self._prefer(rule)
            # That a string is a name says nothing more of a mention.
            elif rule.condition or rule.action not in _NAMING:
                by_text[rule.normal].append((rule, concept or ""))
        self._by_text = dict(by_text)

    def constraint(self, text: str, label: str, document: DocumentNames) -> Constraint | None:
        """What rules say of a mention.

        text (str): as it is written. label (str): its label. document (DocumentNames): its own.
        RETURNS (Constraint | None): None where they say nothing.
        """
        if not self._by_text:
            return None
        pairs = self._by_text.get(normalize_name(text))
        if pairs is None:
            return None
        found = [pair for pair in pairs if holds_for(pair[0], label)]
        return self._constraint(text, found, document) if found else None

    def subset(
        self, label: str, types: frozenset[str] | None, free_types: frozenset[str]
    ) -> Subset | None:
        """What mentions with a label are limited to.

        label (str): of mentions. types (frozenset[str] | None), free_types (frozenset[str]): as of
        `ConceptKB.subset`, beside the rules. RETURNS (Subset | None): None: to nothing.
        """
        return self._subset_of(self._restrictions_of(label), types, free_types)

    def _find_restrictions(self, label: str) -> tuple[int, ...]:
        """The places of those that hold for a label."""
        found = enumerate(self._restrictions)
        return tuple(i for i, one in found if holds_for(one.rule, label))

    def _make_limits(self, places: tuple[int, ...]) -> tuple[frozenset[str] | None, frozenset[str]]:
        found = [self._restrictions[i] for i in places]
        allowed = [one.concept_ids for one in found if one.rule.action == "allow"]
        excluded = [one.concept_ids for one in found if one.rule.action == "exclude"]
        return frozenset().union(*allowed) if allowed else None, frozenset().union(*excluded)

    def _make_subset(
        self,
        places: tuple[int, ...],
        types: frozenset[str] | None,
        free_types: frozenset[str],
    ) -> Subset | None:
        allowed, excluded = self._limits_of(places)
        if types is None and allowed is None and not excluded:
            return None
        return self.kb.subset(types, allowed, free_types=free_types, excluded=excluded)

    def restricting(self, concept_id: str, label: str) -> Rule | None:
        """concept_id (str): own identifier of a concept. label (str): of a mention. RETURNS
        (Rule | None): the rule that excludes the concept; or the first that allows others only."""
        found = [one for one in self._restrictions if holds_for(one.rule, label)]
        allowing = [one for one in found if one.rule.action == "allow"]
        excluding = (one for one in found if one.rule.action == "exclude")
        if rule := next((one.rule for one in excluding if concept_id in one.concept_ids), None):
            return rule
        is_allowed = not allowing or any(concept_id in one.concept_ids for one in allowing)
        return None if is_allowed else allowing[0].rule

    def _constraint(
        self, text: str, pairs: Sequence[tuple[Rule, str]], document: DocumentNames
    ) -> Constraint | None:
        string = normalize_name(text)
        means: tuple[str, Rule] | None = None
        excluded: dict[str, Rule] = {}
        # Whether the string is written as one of the rules of a concept has it; empty: of any.
        written: dict[str, tuple[bool, Rule]] = {}
        elsewhere: Rule | None = None
        rules: list[Rule] = []
        for rule, concept in pairs:
            is_written = rule.is_written(text)
            if rule.action in ("name", "only") and rule.condition == CASE:
                before = written.get(concept, (False, rule))[0]
                written[concept] = (before or is_written, rule)
            elif rule.action in ("name", "only") and rule.condition == ELSEWHERE:
                if not concept:
                    elsewhere = rule
                elif not document.has(concept, string):
                    excluded[concept] = rule
            elif rule.condition == CASE and not is_written:
                continue
            elif rule.action == "not-mention":
                return Constraint((rule,), is_mention=False)
            elif rule.action == "not-name":
                excluded[concept] = rule
            elif rule.action == "means":
                means = concept, rule
        for concept, (is_right, rule) in written.items():
            if is_right:
                continue
            if not concept:
                return Constraint((rule,), is_mention=False)
            excluded[concept] = rule
        if means is not None and means[0] not in excluded:
            return Constraint((means[1],), means=means[0])
        allowed = None
        if elsewhere is not None:
            name = self.kb.name_index(text)
            holders = [] if name is None else self.kb.concept_ids_of(name)
            allowed = frozenset(c for c in holders if document.has(c, string))
            rules.append(elsewhere)
        if not excluded and allowed is None:
            return None
        rules += dict.fromkeys(excluded.values())
        return Constraint(tuple(rules), excluded=frozenset(excluded), allowed=allowed)

    def _restrict(self, rule: Rule) -> None:
        ids = frozenset(concepts_of(self.kb, rule))
        if not ids:
            self.unknown.append(rule)
        self._restrictions.append(_Restriction(rule, ids))

    def _prefer(self, rule: Rule) -> None:
        found = find_concept(self.kb, rule.instead_of)
        if found is None:
            self.unknown.append(rule)
        else:
            self.preferred[found] = rule.concept


def holds_for(rule: Rule, label: str) -> bool:
    """rule (Rule): of a file. label (str): of a mention. RETURNS (bool): whether the rule is one
    for such mentions."""
    return not rule.label or bool(find_entries(label, (rule.label,)))


class CurationFile:
    """The rules of a file as it stands, over a vocabulary as it stands; read and prepared anew
    where one of them has changed.

    path (str): the file. data (bytes | None): its content, where it was saved with a pipeline as
        bytes; the file itself is not read then.
    """

    def __init__(self, path: str, data: bytes | None = None) -> None:
        self.path = path
        self._data = data
        self._lock = RLock()
        self._stamp: tuple[int, int, int] | None = None
        self._read: RuleFile | None = None
        self._prepared: tuple[Any, Curated, ConceptKB, RuleFile] | None = None

    def __reduce__(self) -> Any:
        # What is prepared is prepared anew in another process.
        return CurationFile, (self.path, self._data)

    def content(self) -> bytes:
        """RETURNS (bytes): of the file. RAISES (AngelError): it cannot be read."""
        if self._data is not None:
            return self._data
        read_rules(Path(self.path))
        return Path(self.path).read_bytes()

    def over(self, kb: ConceptKB) -> Curated:
        """kb (ConceptKB): a vocabulary. RETURNS (Curated): it, under the rules.
        RAISES (AngelError): the file cannot be read, and never was."""
        with self._lock:
            rules = self._rules()
            key = (id(kb), kb.version, id(rules))
            if self._prepared is None or self._prepared[0] != key:
                curated = Curated(kb, rules.rules)
                if curated.unknown:
                    first = curated.unknown[0]
                    warnings.warn(
                        f"{self.path}: {len(curated.unknown):,} of {len(rules.rules):,} rules name "
                        f"unknown concepts or types, the first on line {first.number}: "
                        f"{first}. See `spacy-angel kb check`.",
                        AngelWarning,
                        stacklevel=2,
                    )
                # With the vocabulary and the rules, so that their ids are not used again.
                self._prepared = key, curated, kb, rules
            return self._prepared[1]

    def _rules(self) -> RuleFile:
        if self._data is not None:
            self._read = self._read or parse_rules(self._data, Path(self.path))
            return self._read
        stamp, before = self._stat(), self._read
        if before is not None and stamp == self._stamp:
            return before
        try:
            found = read_rules(Path(self.path))
            # As a file is for a moment while it is written in place.
            if before is not None and before.rules and stamp is not None and stamp[1] == 0:
                raise AngelError(f"{self.path} is empty.")
            found.warn(self.path)
        except AngelError as error:
            if before is None:
                raise
            # A service goes on with what it had.
            warnings.warn(
                f"{self.path} can no longer be read; its last rules stay in use. {error}",
                AngelWarning,
                stacklevel=2,
            )
            found = before
        self._stamp, self._read = stamp, found
        return found

    def _stat(self) -> tuple[int, int, int] | None:
        """What tells whether the file has changed; None if there is no file."""
        try:
            found = Path(self.path).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
