"""A stored vocabulary with changes made at run time.

The stored table is memory-mapped, shared by processes, and never written. An added or changed
concept is kept in memory and replaces its row in the table; a removed concept is kept as None.
Every lookup therefore checks the changes before the table:

    _changed = {"MESH:D1": Concept(...), "MESH:D2": None}
    kb["MESH:D1"]  → the concept in memory
    kb["MESH:D2"]  → an error: it was removed
    kb["MESH:D3"]  → the concept in the table
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from threading import RLock
from typing import Any, cast

import numpy as np

from ...errors import AngelError
from ..names.concepts import SCOPES, Concept, normalize_name
from ..names.identifiers import normal_ids
from ..storage.metadata import Metadata
from ..storage.table import ConceptTable, validate_and_normalize
from .rules import NEW, Rule


class VocabularyOverlay:
    """A table of concepts and names, and the changes made since it was opened, directly or by
    rules.

    Lookups return what a vocabulary rebuilt from the current concepts would return, except that
    name indices are stable, since tries and masks refer to them: an added name gets the next free
    index, and the index of a removed name is not reused. For example, a table has 250 names, the
    concept in row 0 has name 7, and `flu` is added to it:

                        before   after
        `_changed`      {}       {"MESH:D1": Concept(...)}
        `_added`        {}       {"flu": 250}
        `touched`       {}       {7: {"MESH:D1": None}, 250: {"MESH:D1": None}}

    table (ConceptTable): the stored concepts.
    metadata (Metadata): the stored metadata; steps, frequencies and names that users add are
        recorded here.
    changed (Mapping[str, Concept | None]): changes to begin with, as in `_changed`.
    rules (Sequence[Rule]): the applied rules that decide what mentions link to.
    """

    def __init__(
        self,
        table: ConceptTable,
        metadata: Metadata,
        changed: Mapping[str, Concept | None],
        rules: Sequence[Rule],
    ) -> None:
        self.table = table
        self.metadata = metadata
        self.rules = tuple(rules)
        self.version = 0
        """Version number, incremented by every change."""
        self.types = frozenset(table.types)
        """Semantic types of all concepts, removed ones included."""
        self.touched: dict[int, dict[str, None]] = {}
        """Indices of names whose concepts may differ from the table's → changed concepts with the
        name."""
        self._lock = RLock()
        # identifier → current concept; None: removed
        self._changed: dict[str, Concept | None] = {}
        # identifier of a concept that the table lacks → its position after the stored ones
        self._new: dict[str, int] = {}
        # added name in normal form → index
        self._added: dict[str, int] = {}
        # alternate identifier → changed concepts that have or had it
        self._alternates: dict[str, dict[str, None]] = {}
        for concept_id, concept in changed.items():
            self._put(concept_id, concept)

    def __len__(self) -> int:
        n_removed = sum(concept is None for concept in self._changed.values())
        return self.table.n_concepts + len(self._new) - n_removed

    def __iter__(self) -> Iterator[Concept]:
        # a copy, since another thread may add concepts in the meantime
        ids = chain(islice(self.table.ids, self.table.n_concepts), list(self._new))
        return filter(None, map(self.concept, ids))

    def __contains__(self, concept_id: object) -> bool:
        return isinstance(concept_id, str) and self.resolve(concept_id) is not None

    def __getitem__(self, concept_id: str) -> Concept:
        """Look up a concept.

        concept_id (str): its identifier or an alternate one, also without its prefix (`D003920`).
        RETURNS (Concept): the concept.
        RAISES (AngelError): there is none.
        """
        if (concept := self.get(concept_id)) is None:
            raise AngelError(
                f"{concept_id!r} is not in this vocabulary. Identifiers look like `MESH:D003920`."
            )
        return concept

    def get(self, concept_id: str) -> Concept | None:
        """concept_id (str): an identifier, or an alternate one.
        RETURNS (Concept | None): the concept; None if there is no such concept."""
        own = self.resolve(concept_id)
        return None if own is None else self.concept(own)

    @property
    def n_names(self) -> int:
        """RETURNS (int): number of name indices, including those of names removed since the
        vocabulary was opened."""
        return self.table.n_names + len(self._added)

    @property
    def n_live_names(self) -> int:
        """RETURNS (int): number of distinct names in normal form."""
        return self.n_names - sum(not self.is_live(i) for i in self.touched)

    @property
    def _current(self) -> list[Concept]:
        """RETURNS (list[Concept]): added and changed concepts."""
        return [concept for concept in self._changed.values() if concept is not None]

    def types_beside(self, types: Collection[str]) -> frozenset[str]:
        """types (Collection[str]): semantic types.
        RETURNS (frozenset[str]): all types of the concepts that have none of the given types."""
        beside = (own.types for own in self._current if set(own.types).isdisjoint(types))
        return self.table.types_beside(types).union(*beside)

    @property
    def added_names(self) -> dict[int, str]:
        """RETURNS (dict[int, str]): index → name, for names that are not in the table."""
        return {i: name for name, i in self._added.items() if self.touched[i]}

    @cached_property
    def own_types(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): semantic types that occur only in concepts that users added, in
        this session or before the vocabulary was saved. Cached until the next change."""
        concepts = filter(None, map(self.concept, self.metadata.own_names))
        found = Counter(t for c in concepts if self._is_own(c) for t in set(c.types))
        return frozenset(t for t, n in found.items() if len(self.ids_of_types([t])) == n)

    @property
    def own_names(self) -> list[int]:
        """RETURNS (list[int]): indices of the names that users added with `add` and `add_names`, in
        this session or before the vocabulary was saved, except names removed since."""
        pairs = [(c, n) for c, names in self.metadata.own_names.items() for n in names]
        found = zip(self.find_names([name for _, name in pairs]), pairs, strict=True)
        kept = (i for i, (c, _) in found if i is not None and c in self.concept_ids_of(i))
        return list(dict.fromkeys(kept))

    def concept(self, concept_id: str) -> Concept | None:
        """concept_id (str): the concept's own identifier.
        RETURNS (Concept | None): the concept."""
        if concept_id in self._changed:
            return self._changed[concept_id]
        row = self.table.find_own_id(concept_id)
        return None if row is None else self.table.concept(row)

    def resolve(self, concept_id: str) -> str | None:
        """concept_id (str): any identifier, e.g. `MESH:D003920`, `mesh:D003920` or `D003920`.
        RETURNS (str | None): the concept's own identifier. A concept with this identifier takes
        precedence over concepts with this alternate identifier, of which the first is used."""
        return self._resolve(concept_id) or self._resolve(normal_ids(concept_id))

    def _resolve(self, concept_id: str) -> str | None:
        stored = self.table.ids.texts(self.table.find_id(concept_id))
        owners = [concept_id, *stored, *self._alternates.get(concept_id, ())]
        found = [
            own
            for own in owners
            if (concept := self.concept(own)) and concept_id in (own, *concept.alternate_ids)
        ]
        return min(found, key=lambda own: (own != concept_id, self._order(own)), default=None)

    def replacement_of(self, concept_id: str) -> str | None:
        """concept_id (str): any identifier, in any spelling.
        RETURNS (str | None): the concept that replaced it or that it was merged into; None if it is
        current, unknown, or an identifier of the concept in another source."""
        own = self.resolve(concept_id)
        if own is None or own in (concept_id, normal_ids(concept_id)):
            return None
        is_of_same_source = own.partition(":")[0] == normal_ids(concept_id).partition(":")[0]
        return own if is_of_same_source else None

    def types_of(self, concept_id: str) -> tuple[str, ...]:
        """concept_id (str): own identifier of a concept.
        RETURNS (tuple[str, ...]): its types; empty if there is no such concept."""
        return self.concept_types([concept_id])[0]

    def concept_types(self, concept_ids: Sequence[str]) -> list[tuple[str, ...]]:
        """concept_ids (Sequence[str]): own identifiers of n concepts.
        RETURNS (list[tuple[str, ...]]): the types of each concept; empty if there is no such
        concept."""
        if (rows := self._stored_rows(concept_ids)) is not None:
            return self.table.concept_types(rows)
        concepts = map(self.concept, concept_ids)
        return [() if concept is None else concept.types for concept in concepts]

    def canonical_names(self, concept_ids: Sequence[str]) -> list[str]:
        """concept_ids (Sequence[str]): own identifiers of n concepts.
        RETURNS (list[str]): the canonical name of each concept, as spelled in its source."""
        if (rows := self._stored_rows(concept_ids)) is not None:
            return self.table.canonical_names(rows)
        return [self[concept_id].canonical_name for concept_id in concept_ids]

    def ids_of_types(self, types: Collection[str]) -> frozenset[str]:
        """types (Collection[str]): semantic types.
        RETURNS (frozenset[str]): own identifiers of the concepts with at least one of these
        types."""
        stored = self._unchanged_ids(self.table.concepts_of_types(types))
        current = (c for c in self._current if not set(types).isdisjoint(c.types))
        return stored.union(concept.concept_id for concept in current)

    def ids_below(self, concept_id: str) -> frozenset[str]:
        """Find the concepts of a subtree.

        concept_id (str): an identifier of its root.
        RETURNS (frozenset[str]): own identifiers of the root and of all concepts below it; only the
            root if the vocabulary has no hierarchy.
        RAISES (AngelError): there is no such concept.
        """
        root = self[concept_id].concept_id
        row = self.table.find_own_id(root)
        below, n = {root}, 0
        if row is not None:
            below |= self._unchanged_ids(self.table.concepts_below(row))
        while n != (n := len(below)):
            below.update(c.concept_id for c in self._current if not below.isdisjoint(c.parents))
        return frozenset(below)

    def subset(
        self,
        types: Collection[str] | str | None = None,
        concept_ids: Collection[str] | str | None = None,
        *,
        branch: str | None = None,
        free_types: Collection[str] = (),
        excluded: Collection[str] = (),
    ) -> "Subset":
        """Choose a part of the vocabulary for the search.

        types (Collection[str] | str | None): one or several semantic types. Concepts without any
            type are included. None: all types.
        concept_ids (Collection[str] | str | None): one or several concepts, by any identifier;
            None: all. A concept must meet all conditions that are given.
        branch (str | None): a concept, with all concepts below it in the hierarchy; None: all.
        free_types (Collection[str]): types to ignore: a concept with no others counts as untyped.
        excluded (Collection[str]): own identifiers of concepts to leave out.
        RETURNS (Subset): for `search_space`.
        RAISES (AngelError): a type or an identifier is unknown.
        """
        types = (types,) if isinstance(types, str) else types
        concept_ids = (concept_ids,) if isinstance(concept_ids, str) else concept_ids
        if unknown := sorted(set(types or ()) - self.types):
            raise AngelError(
                f"The vocabulary has no concepts of the types {unknown}. Its types: "
                f"{sorted(self.types)}."
            )
        own = None if concept_ids is None else frozenset(self[c].concept_id for c in concept_ids)
        if branch is not None:
            below = self.ids_below(branch)
            own = below if own is None else own & below
        wanted = None if types is None else frozenset(types)
        return Subset(wanted, own, self, frozenset(free_types), frozenset(excluded))

    def name_index(self, name: str) -> int | None:
        """name (str): a name in any spelling.
        RETURNS (int | None): index of its normal form."""
        return self.find_names([normalize_name(name)])[0]

    def find_names(self, normals: Sequence[str]) -> list[int | None]:
        """normals (Sequence[str]): n names in normal form.
        RETURNS (list[int | None]): the index of each name; None if no concept has it."""
        found = self.table.find_names(normals)
        if not self.touched:
            return found
        indices = (self._added.get(n, i) for n, i in zip(normals, found, strict=True))
        return [i if i is not None and self.is_live(i) else None for i in indices]

    def name(self, i: int) -> str:
        """i (int): name index. RETURNS (str): the name in normal form."""
        return self.name_texts([i])[0]

    def name_texts(self, indices: Sequence[int]) -> list[str]:
        """indices (Sequence[int]): n name indices. RETURNS (list[str]): the names in normal
        form."""
        if not self._added:
            return self.table.names.texts(indices)
        first, added = self.table.n_names, list(self._added)
        stored = iter(self.table.names.texts([i for i in indices if i < first]))
        return [next(stored) if i < first else added[i - first] for i in indices]

    def concept_ids_of(self, i: int) -> list[str]:
        """i (int): name index.
        RETURNS (list[str]): identifiers of its concepts. Concepts with this canonical name come
        first, then concepts that are more frequent in the corpora of `add_mentions`, then the
        others in the order of the vocabulary. Empty for a removed name."""
        return self.concept_ids([i])[0]

    def concept_ids(self, indices: Sequence[int]) -> list[list[str]]:
        """indices (Sequence[int]): n name indices.
        RETURNS (list[list[str]]): the concepts of each name, see `concept_ids_of`."""
        frequencies = self.metadata.frequencies
        if self.touched.keys().isdisjoint(indices):
            return self.table.concept_ids(indices, frequencies)
        return [
            self._owners(i) if i in self.touched else self.table.concept_ids([i], frequencies)[0]
            for i in indices
        ]

    def _owners(self, i: int) -> list[str]:
        """Return the concepts of a touched name, see `concept_ids_of`."""
        (stored,) = self.table.concept_ids([i], {}) if i < self.table.n_names else [[]]
        normal, frequencies = self.name(i), self.metadata.frequencies
        return sorted(
            [*(c for c in stored if c not in self._changed), *self.touched[i]],
            key=lambda concept_id: (
                normalize_name(self[concept_id].canonical_name) != normal,
                -frequencies.get(concept_id, 0),
                self._order(concept_id),
            ),
        )

    def is_live(self, i: int) -> bool:
        """i (int): name index. RETURNS (bool): whether the name still has a concept."""
        return i not in self.touched or bool(self._owners(i))

    def names_of(self, concept_id: str) -> list[int]:
        """Find the names that lead to a concept.

        concept_id (str): its identifier, or an alternate one.
        RETURNS (list[int]): distinct name indices, the canonical name first.
        RAISES (AngelError): there is no such concept.
        """
        return self.concept_names([self[concept_id].concept_id])[0]

    def concept_names(self, concept_ids: Sequence[str]) -> list[list[int]]:
        """concept_ids (Sequence[str]): own identifiers of n concepts.
        RETURNS (list[list[int]]): the names that lead to each concept, see `names_of`."""
        if (rows := self._stored_rows(concept_ids)) is not None:
            return self.table.concept_names(rows)
        return list(map(self._all_names, concept_ids))

    def scope_of(self, i: int, concept_id: str) -> str:
        """i (int): name index.
        concept_id (str): own identifier of one of its concepts.
        RETURNS (str): the scope of the name, see `concepts.SCOPES`; if several spellings have
        scopes, the closest one; empty if the source gives none."""
        has_scopes = concept_id in self._changed or self.table.has_scopes
        concept = self.concept(concept_id) if has_scopes else None
        if concept is None or not concept.scopes:
            return ""
        normal = self.name(i)
        found = [scope for name, scope in concept.scopes if normalize_name(name) == normal]
        return min(found, key=SCOPES.index, default="")

    def spelling(self, i: int) -> str:
        """i (int): name index.
        RETURNS (str): its first spelling, see `first_spellings`."""
        return self.first_spellings([i])[0]

    def first_spellings(self, indices: Sequence[int]) -> list[str]:
        """indices (Sequence[int]): n name indices.
        RETURNS (list[str]): the first of `spellings_of` for each name; for removed names, the
        normal form."""
        if self.touched.keys().isdisjoint(indices):
            return self.table.first_spellings(indices)
        return [next(iter(self.spellings_of(i)), self.name(i)) for i in indices]

    def spellings_of(self, i: int) -> list[str]:
        """i (int): name index.
        RETURNS (list[str]): its distinct spellings, starting with those in concepts that have it as
        canonical name."""
        if i not in self.touched:
            return self.table.spellings_of_name(i)
        normal = self.name(i)
        names = (name for concept_id in self._owners(i) for name in self[concept_id].names)
        return list(dict.fromkeys(name for name in names if normalize_name(name) == normal))

    def find(self, name: str) -> list[Concept]:
        """name (str): a name in any spelling.
        RETURNS (list[Concept]): its concepts, in the order of `concept_ids_of`; empty if the
        vocabulary does not have the name."""
        i = self.name_index(name)
        return [] if i is None else [self[concept_id] for concept_id in self.concept_ids_of(i)]

    def reading(self) -> AbstractContextManager[Any]:
        """RETURNS (AbstractContextManager[Any]): a context in which the vocabulary does not change:
        other threads that change it, or also need it unchanged, wait. Linkers use it for each
        batch; threads that they start in it must not enter it again."""
        return self._lock

    def apply(self, rules: Sequence[Rule]) -> None:
        """Apply rules in order: `add`, `remove` and `rename` are applied by `edit`, and the others
        are appended to `rules`.

        rules (Sequence[Rule]): rules; edits that fail are ignored.
        """
        with self._lock:
            self.rules += tuple(rule for rule in rules if not rule.is_edit)
            for rule in rules:
                if rule.is_edit:
                    with suppress(AngelError):
                        self.edit(rule)

    def edit(self, rule: Rule) -> None:
        """Apply an editing rule. Names that the concept already has are not added again.

        rule (Rule): `add`, `remove` or `rename`.
        RAISES (AngelError): the concept or name is not in the vocabulary, the new name is blank, or
            the rule would remove the only name of a concept.
        """
        with self._lock:
            if rule.condition == NEW and rule.concept not in self:
                types = (rule.type,) if rule.type else ()
                self.add(Concept(rule.concept, rule.string, types=types))
                return
            concept = self[rule.concept]
            if rule.action == "remove" and not rule.string:
                self._edit(concept.concept_id, None)
                return
            canonical, *aliases = _edited_names(concept, rule)
            edited = replace(concept, canonical_name=canonical, aliases=tuple(aliases))
            is_named = rule.action == "add" or self._is_own(concept)
            self._edit(concept.concept_id, edited, [rule.string] if is_named else [])

    def add(self, concept: Concept | Iterable[Concept]) -> None:
        """Add concepts at run time.

        concept (Concept | Iterable[Concept]): one or several new concepts.
        RAISES (AngelError): an identifier is empty or is another concept's own identifier, or a
            field has the wrong type; nothing is changed then.
        """
        concepts: list[Any] = list(concept) if isinstance(concept, Iterable) else [concept]
        with self._lock:
            new: dict[str, Concept] = {}
            for item in concepts:
                if not isinstance(item, Concept):
                    raise AngelError(f"kb.add needs a Concept or several, not {item!r}.")
                added = validate_and_normalize(item)
                if added.concept_id in new or self.concept(added.concept_id) is not None:
                    raise AngelError(
                        f"{added.concept_id!r} is already in the vocabulary. Use `add_names`."
                    )
                new[added.concept_id] = added
            for concept_id, added in new.items():
                self._edit(concept_id, added, added.names)

    def add_names(self, concept_id: str, names: Iterable[str]) -> None:
        """Add names to a concept at run time; names that it already has are ignored.

        concept_id (str): its identifier, or an alternate one.
        names (Iterable[str]): names in any spelling.
        RAISES (AngelError): there is no such concept, or `names` is a single string or contains
            other types; nothing is changed then.
        """
        with self._lock:
            concept = self[concept_id]
            changed = _with_names(concept, names)
            self._edit(concept.concept_id, changed, changed.names[len(concept.names) :])

    def remove(self, concept_id: str) -> None:
        """Remove a concept at run time, together with the names that no other concept has.

        concept_id (str): its identifier, or an alternate one.
        RAISES (AngelError): there is no such concept.
        """
        self.edit(Rule("remove", concept=concept_id))

    def remove_name(self, concept_id: str, name: str) -> None:
        """Remove a name, in all its spellings, from a concept at run time. If it was the canonical
        name, the first alias replaces it.

        concept_id (str): its identifier, or an alternate one.
        name (str): a name in any spelling.
        RAISES (AngelError): there is no such concept, the concept does not have the name, or it is
            the only name.
        """
        # an empty string would mean the whole concept
        self.edit(Rule("remove", name or " ", concept=concept_id))

    def rename(self, concept_id: str, name: str, old: str | None = None) -> None:
        """Change the canonical name of a concept while running, or replace one of its names.

        concept_id (str): its identifier, or an alternate one.
        name (str): the new canonical name; the former one becomes an alias. With `old`, it replaces
            that name instead.
        old (str | None): a name of the concept, replaced in all its spellings.
        RAISES (AngelError): there is no such concept, it has no name `old`, or the new one is
            blank.
        """
        self.edit(Rule("rename", name, concept=concept_id, instead_of=old or ""))

    def add_mentions(self, mentions: Iterable[tuple[str, str]], source: str) -> dict[str, Any]:
        """Add the mentions of a training corpus as names, as published work on NCBI-disease does.
        The step is recorded in the metadata, together with the frequency of each concept, by which
        the concepts of a shared name are sorted.

        mentions (Iterable[tuple[str, str]]): pairs of gold concept identifier and mention text.
        source (str): name of the corpus, recorded in the metadata.
        RETURNS (dict[str, Any]): the recorded step, with the numbers of added names and of mentions
            with an unknown identifier.
        """
        with self._lock:
            texts: defaultdict[str | None, list[str]] = defaultdict(list)
            for concept_id, text in mentions:
                texts[self.resolve(concept_id)].append(text)
            n_unknown, n_added = len(texts.pop(None, ())), 0
            frequencies = self.metadata.frequencies
            for own, names in cast("dict[str, list[str]]", texts).items():
                concept = self[own]
                named = _with_names(concept, names)
                n_added += len(named.names) - len(concept.names)
                frequencies[own] = frequencies.get(own, 0) + len(names)
                self._put(own, named)
            step: dict[str, Any] = {"step": "add_mentions", "source": source}
            step |= {"added_names": n_added, "unknown_mentions": n_unknown}
            self.metadata.steps.append(step)
        return step

    def _edit(self, concept_id: str, concept: Concept | None, added: Iterable[str] = ()) -> None:
        """Record and make a user's change, see `_put`; `added`: names that the user added."""
        if concept == self.concept(concept_id):
            return
        if names := _normal_forms(added):
            self.metadata.own_names.setdefault(concept_id, []).extend(names)
        if (step := {"step": "edit"}) not in self.metadata.steps:
            self.metadata.steps.append(step)
        self._put(concept_id, concept)

    def _is_own(self, concept: Concept) -> bool:
        # a concept that the user added, not one with added names only
        normal = normalize_name(concept.canonical_name)
        return normal in self.metadata.own_names.get(concept.concept_id, ())

    def _put(self, concept_id: str, concept: Concept | None) -> None:
        """Add or replace the concept with this identifier, or remove it if `concept` is None."""
        for i in self._all_names(concept_id):
            self.touched.setdefault(i, {}).pop(concept_id, None)
        self.version += 1
        self.__dict__.pop("own_types", None)
        if concept is None and concept_id in self._new:
            del self._changed[concept_id], self._new[concept_id]
        elif concept is None:
            self._changed[concept_id] = None
        else:
            self._changed[concept_id] = concept = validate_and_normalize(concept)
            if self.table.find_own_id(concept_id) is None:
                self._new.setdefault(concept_id, self.table.n_concepts + self.version)
            self.types = self.types.union(concept.types)
            for i in self._all_names(concept_id):
                self.touched.setdefault(i, {})[concept_id] = None
            for alternate in concept.alternate_ids:
                self._alternates.setdefault(alternate, {})[concept_id] = None

    def _stored_rows(self, concept_ids: Sequence[str]) -> Sequence[int] | None:
        """Return the table rows of these concepts, or None if any of them is changed or unknown."""
        if not self._changed.keys().isdisjoint(concept_ids):
            return None
        rows = self.table.find_own_ids(concept_ids)
        return None if None in rows else cast("list[int]", rows)

    def _unchanged_ids(self, rows: np.ndarray) -> frozenset[str]:
        return frozenset(self.table.ids.texts(rows)).difference(self._changed)

    def _all_names(self, concept_id: str) -> list[int]:
        """All names of a concept, the canonical name first; new names get an index."""
        concept = self._changed.get(concept_id)
        if concept is None:
            row = None if concept_id in self._changed else self.table.find_own_id(concept_id)
            return [] if row is None else self.table.concept_names([row])[0]
        normals = _normal_forms(concept.names)
        found = zip(normals, self.table.find_names(normals), strict=True)
        return [self._added.setdefault(n, self.n_names) if i is None else i for n, i in found]

    def _order(self, concept_id: str) -> int:
        """Position of a concept in the vocabulary."""
        row = self.table.find_own_id(concept_id)
        return self._new[concept_id] if row is None else row


@dataclass(frozen=True)
class Subset:
    """A part of a vocabulary that a search is limited to, see `VocabularyOverlay.subset`. It
    contains the concepts that meet all conditions.

    types (frozenset[str] | None): include concepts with any of these semantic types, or without
        types; None: all types.
    concept_ids (frozenset[str] | None): own identifiers of the concepts to include; None: all.
    vocabulary (VocabularyOverlay): the whole vocabulary.
    free_types (frozenset[str]): types to ignore.
    excluded (frozenset[str]): own identifiers of concepts to exclude.
    """

    types: frozenset[str] | None
    concept_ids: frozenset[str] | None
    vocabulary: VocabularyOverlay = field(repr=False)
    free_types: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()

    def allowed(self, concept_ids: Sequence[str]) -> list[str]:
        """concept_ids (Sequence[str]): own identifiers of concepts.
        RETURNS (list[str]): those that the subset contains, in any order."""
        ids, free, wanted = set(concept_ids) - self.excluded, self.free_types, self.types
        own = list(ids if self.concept_ids is None else ids & self.concept_ids)
        if wanted is None:
            return own
        types = zip(own, self.vocabulary.concept_types(own), strict=True)
        return [c for c, kinds in types if free.issuperset(kinds) or not wanted.isdisjoint(kinds)]


def _with_names(concept: Concept, names: Iterable[str]) -> Concept:
    """Return the concept with these names as further aliases."""
    texts = list(names)
    if isinstance(names, str) or not all(isinstance(text, str) for text in texts):
        raise AngelError(
            f"The names for {concept.concept_id!r} must be a list of strings, not {names!r}."
        )
    aliases = list(dict.fromkeys([*concept.names, *texts]))[1:]
    return replace(concept, aliases=tuple(aliases))


def _normal_forms(names: Iterable[str]) -> list[str]:
    return list(filter(None, dict.fromkeys(map(normalize_name, names))))


def _edited_names(concept: Concept, rule: Rule) -> list[str]:
    """Return the names that a rule `add`, `rename` or `remove` leaves a concept."""
    names, string = concept.names, rule.string
    if rule.action == "add":
        return [*names] if rule.normal in _normal_forms(names) else [*names, string]
    if rule.action == "rename" and not string.strip():
        raise AngelError(f"The new name of {concept.concept_id} has no letters.")
    if rule.action == "rename" and not rule.instead_of:
        return list(dict.fromkeys([string, *names]))
    new, old = ([string], rule.instead_of) if rule.action == "rename" else ([], string)
    normal = normalize_name(old)
    spellings = {n for n in names if n == old or (normalize_name(n) or None) == normal}
    if not spellings:
        raise AngelError(
            f"{concept.concept_id!r} has no name {old!r}. Its names: {list(concept.names)}."
        )
    edited = chain.from_iterable(new if name in spellings else [name] for name in names)
    if not (left := list(dict.fromkeys(edited))):
        raise AngelError(
            f"{old!r} is the only name of {concept.concept_id!r}. Remove the concept, or add "
            "another name first."
        )
    return left
