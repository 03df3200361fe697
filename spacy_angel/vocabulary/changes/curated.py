"""A vocabulary under rules, prepared once, so that a mention costs one look into a table.

`add`, `remove` and `rename` change a copy of the vocabulary. `allow` and `exclude` of concepts are
a `Subset` of it, which masks the trie and string similarity. What rules say of a string is found by
the text of a mention.
"""

import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import AngelError, AngelWarning
from ..names.concepts import normalize_name
from ..names.labels import find_entries
from .rules import CASE, NEW, SUBTREE, Rule, parse_rules, read_rules

if TYPE_CHECKING:
    from ..kb import ConceptKB
    from .overlay import Subset

# Cached labels, which may be any caller's words, and subsets.
_MAX_LABELS, _MAX_SUBSETS = 4096, 64


@dataclass(frozen=True, slots=True)
class Constraint:
    """What rules say of one mention.

    rules (tuple[Rule, ...]): those that decide or limit.
    is_mention (bool): it is linked at all.
    means (str | None): the concept that it is linked to, whatever else is found.
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


class Curated:
    """A vocabulary under rules.

    kb (ConceptKB): the vocabulary, which is not changed; its own `rules` count as well.
    rules (Sequence[Rule]): further rules. `exclude` overrides `allow` and `prefer`; between two
        conflicting `prefer` rules, the later one wins.
    """

    def __init__(self, kb: "ConceptKB", rules: Sequence[Rule]) -> None:
        self.rules = (*kb.rules, *rules)
        self.kb = kb.copy()
        self.unknown: list[Rule] = []
        self.preferred: dict[str, str] = {}
        self._by_text: defaultdict[str, list[tuple[Rule, str]]] = defaultdict(list)
        self._restrictions: list[_Restriction] = []
        self._restrictions_of = lru_cache(_MAX_LABELS)(self._find_restrictions)
        self._subset_of = lru_cache(_MAX_SUBSETS)(self._make_subset)
        for rule in rules:
            if rule.is_edit:
                if rule.condition != NEW and rule.concept not in self.kb:
                    self.unknown.append(rule)
                self.kb.apply([rule])
        for rule in self.rules:
            if not rule.is_edit and not self._take(rule):
                self.unknown.append(rule)

    def _take(self, rule: Rule) -> bool:
        """RETURNS (bool): whether the vocabulary has what a rule is about."""
        concept = self.kb.resolve(rule.instead_of or rule.concept)
        if concept is None and (rule.instead_of or rule.concept):
            return False
        if rule.instead_of:
            self.preferred[concept or ""] = rule.concept
        elif rule.string:
            if rule.action == "prefer" and not self.kb.has_name(concept or "", rule.string):
                self.kb.add_names(concept or "", [rule.string])
            self._by_text[rule.normal].append((rule, concept or ""))
        else:
            ids = self.kb.ids_of_types([rule.type])
            if concept is not None:
                subtree = rule.condition == SUBTREE
                ids = self.kb.ids_below(concept) if subtree else frozenset([concept])
            self._restrictions.append(_Restriction(rule, ids))
            return bool(ids)
        return True

    def constraint(self, text: str, label: str) -> Constraint | None:
        """text (str): of a mention, as it is written. label (str): its label.
        RETURNS (Constraint | None): what rules say of it; None if they say nothing."""
        pairs = self._by_text.get(normalize_name(text), ()) if self._by_text else ()
        means: tuple[str, Rule] | None = None
        # An empty identifier is any concept.
        excluded: dict[str, Rule] = {}
        allowed: defaultdict[str, list[Rule]] = defaultdict(list)
        for rule, concept in pairs:
            if not holds_for(rule, label) or (
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

    def subset(
        self, label: str, types: frozenset[str] | None, free_types: frozenset[str]
    ) -> "Subset | None":
        """What mentions with a label are limited to.

        label (str): of mentions. types (frozenset[str] | None), free_types (frozenset[str]): as of
        `ConceptKB.subset`, beside the rules. RETURNS (Subset | None): None: to nothing.
        """
        return self._subset_of(self._restrictions_of(label), types, free_types)

    def restricting(self, concept_id: str, label: str) -> Rule | None:
        """concept_id (str): own identifier of a concept. label (str): of a mention. RETURNS
        (Rule | None): the rule that excludes the concept; or the first that allows others only."""
        found = [self._restrictions[i] for i in self._restrictions_of(label)]
        for rule, concept_ids in found:
            if rule.action == "exclude" and concept_id in concept_ids:
                return rule
        allowing = [pair for pair in found if pair.rule.action == "allow"]
        is_allowed = not allowing or any(concept_id in ids for _, ids in allowing)
        return None if is_allowed else allowing[0].rule

    def _find_restrictions(self, label: str) -> tuple[int, ...]:
        """The indices of those that hold for a label."""
        found = enumerate(self._restrictions)
        return tuple(i for i, (rule, _) in found if holds_for(rule, label))

    def _make_subset(
        self, indices: tuple[int, ...], types: frozenset[str] | None, free_types: frozenset[str]
    ) -> "Subset | None":
        found = [self._restrictions[i] for i in indices]
        allowed = [ids for rule, ids in found if rule.action == "allow"]
        excluded = [ids for rule, ids in found if rule.action == "exclude"]
        if types is None and not found:
            return None
        return self.kb.subset(
            types,
            frozenset().union(*allowed) if allowed else None,
            free_types=free_types,
            excluded=frozenset().union(*excluded),
        )


def holds_for(rule: Rule, label: str) -> bool:
    """rule (Rule): of a file. label (str): of a mention. RETURNS (bool): whether the rule is one
    for such mentions."""
    return not rule.label or bool(find_entries(label, (rule.label,)))


class CurationFile:
    """The rules of a file as it stands, over a vocabulary as it stands; read and prepared anew
    when one of them has changed.

    path (str | None): the file; None: only the vocabulary's own rules count. data (bytes | None):
        its content, if it was saved with a pipeline as bytes; the file itself is not read then.
    """

    def __init__(self, path: str | None, data: bytes | None = None) -> None:
        self.path = path
        self._data = data
        self._lock = RLock()
        self._stamp: tuple[int, int, int] | None = None
        self._read: tuple[Rule, ...] | None = None
        self._prepared: tuple[Any, Curated, Any] | None = None

    def __reduce__(self) -> Any:
        # What is prepared is prepared anew in another process.
        return CurationFile, (self.path, self._data)

    def content(self) -> bytes:
        """RETURNS (bytes): of the file. RAISES (AngelError): it cannot be read."""
        if self._data is not None:
            return self._data
        read_rules(Path(self.path or ""))
        return Path(self.path or "").read_bytes()

    def over(self, kb: "ConceptKB") -> Curated | None:
        """kb (ConceptKB): a vocabulary. RETURNS (Curated | None): it, under the rules; None if
        there is no file and no rule.
        RAISES (AngelError): the file cannot be read, and never was."""
        if self.path is None and not kb.rules:
            return None
        with self._lock:
            rules = () if self.path is None else self._rules(Path(self.path))
            key = (id(kb), kb.version, kb.rules, rules)
            if self._prepared is None or self._prepared[0] != key:
                curated = Curated(kb, rules)
                if curated.unknown:
                    first, n = curated.unknown[0], len(curated.unknown)
                    _warn(
                        f"{self.path or kb.path}: {n:,} of {len(curated.rules):,} rules name "
                        f"unknown concepts or types, the first on line {first.number}: {first}. "
                        "See `spacy-angel kb check`."
                    )
                # With the vocabulary, so that its id is not used again.
                self._prepared = key, curated, kb
            return self._prepared[1]

    def _rules(self, path: Path) -> tuple[Rule, ...]:
        """Those of the file. A service continues with the ones that it had where the file is gone
        or empty, as it is for a moment while it is written in place."""
        stamp = None if self._data is not None else _stamp(path)
        if self._read is not None and stamp == self._stamp:
            return self._read
        try:
            found = read_rules(path) if self._data is None else parse_rules(self._data, path)
            if self._read and stamp is not None and stamp[1] == 0:
                raise AngelError(f"{path} is empty.")
            found.warn(str(path))
            self._read = found.rules
        except AngelError as error:
            if self._read is None:
                raise
            _warn(f"{path} can no longer be read; its last rules stay in use. {error}")
        self._stamp = stamp
        return self._read


def _warn(message: str) -> None:
    warnings.warn(message, AngelWarning, stacklevel=4)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells whether a file has changed; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
