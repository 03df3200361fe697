"""A stored vocabulary with changes made at run time.

The stored table is memory-mapped, shared by processes, and never written. An added or changed
concept is kept in memory and replaces its row in the table; a removed concept is kept as None.
Every lookup therefore checks the changes before the table:

    _changed = {"MESH:D1": Concept(...), "MESH:D2": None}
    kb["MESH:D1"]  → the concept in memory
    kb["MESH:D2"]  → an error: it was removed
    kb["MESH:D3"]  → the concept in the table
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from ...errors import AngelError
from ..names.concepts import SCOPES, Concept, normalize_name
from ..names.identifiers import normal_ids
from ..storage.table import ConceptTable, validate_and_normalize
from .change_lock import ChangeLock
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
        `_links`        {}       {7: {"MESH:D1": None}, 250: {"MESH:D1": None}}
        `touched`       set()    {7, 250}

    table (ConceptTable): the stored concepts.
    meta (Mapping[str, Any]): the stored metadata, of which `counts`, `frequencies` and `own_names`
        are used: by identifier, the names in normal form that users added before it was saved.
    """

    def __init__(self, table: ConceptTable, meta: Mapping[str, Any]) -> None:
        self.table = table
        self.version = 0
        """Version number, incremented by every change."""
        self.touched: set[int] = set()
        """Indices of names whose concepts may differ from the table's."""
        self.rules: tuple[Rule, ...] = ()
        """The applied rules that decide what mentions link to."""
        self._meta = dict(meta)
        self._lock = ChangeLock()
        self._is_edited = False
        self._user_names = {i: list(names) for i, names in meta.get("own_names", {}).items()}
        # identifier → current concept; None: removed
        self._changed: dict[str, Concept | None] = {}
        # identifier of a concept that the table lacks → its position after the stored ones
        self._new: dict[str, int] = {}
        # added name in normal form → index
        self._added: dict[str, int] = {}
        # name index → changed concepts with this name, in the order of the changes
        self._links: dict[int, dict[str, None]] = {}
        # alternate identifier → changed concepts with it
        self._alternates: dict[str, dict[str, None]] = {}
        # including those of removed concepts
        self._types = set(table.types)
        # cached with the version: needed for every batch
        self._own_types: tuple[int, frozenset[str]] = (-1, frozenset())

    def __len__(self) -> int:
        return self.counts["concepts"]

    def __iter__(self) -> Iterator[Concept]:
        for row in range(self.table.n_concepts):
            concept_id = self.table.ids[row]
            if self._changed.get(concept_id, True):
                yield self[concept_id]
        # a copy, since another thread may add concepts in the meantime
        yield from map(self.__getitem__, list(self._new))

    def __contains__(self, concept_id: object) -> bool:
        return isinstance(concept_id, str) and self.resolve(concept_id) is not None

    def __getitem__(self, concept_id: str) -> Concept:
        """Look up a concept.

        concept_id (str): its identifier or an alternate one, also without its prefix (`D003920`).
        RETURNS (Concept): the concept.
        RAISES (AngelError): there is none.
        """
        concept = self.concept(self._resolved(concept_id))
        assert concept is not None
        return concept

    def get(self, concept_id: str, default: Concept | None = None) -> Concept | None:
        """concept_id (str): an identifier, or an alternate one.
        default (Concept | None): returned if there is no such concept.
        RETURNS (Concept | None): the concept."""
        own = self.resolve(concept_id)
        return default if own is None else self.concept(own)

    @property
    def n_names(self) -> int:
        """RETURNS (int): number of name indices, including those of names removed since the
        vocabulary was opened."""
        return self.table.n_names + len(self._added)

    @property
    def counts(self) -> dict[str, int]:
        """RETURNS (dict[str, int]): current numbers of `concepts`, `names` in normal form, and
        `spellings`. `meta["counts"]` has these and other numbers as of the last save."""
        now = [concept for concept in self._changed.values() if concept is not None]
        rows = [row for row in self.table.find_own_ids(list(self._changed)) if row is not None]
        n_before = sum(len(self.table.spelling_rows(row)) for row in rows)
        return {
            "concepts": self.table.n_concepts - len(rows) + len(now),
            "names": self.n_names - sum(not self._owners(i) for i in self.touched),
            "spellings": self._meta["counts"]["spellings"]
            - n_before
            + sum(len(concept.names) for concept in now),
        }

    @property
    def types(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): semantic types of all concepts, removed ones included."""
        return frozenset(self._types)

    def types_beside(self, types: Collection[str]) -> frozenset[str]:
        """types (Collection[str]): semantic types.
        RETURNS (frozenset[str]): all types of the concepts that have none of the given types."""
        added = (set(c.types) for c in self._changed.values() if c is not None)
        beside = (own for own in added if own.isdisjoint(types))
        return self.table.types_beside(types).union(*beside)

    @property
    def added_names(self) -> dict[int, str]:
        """RETURNS (dict[int, str]): index → name, for names that are not in the table."""
        return {i: name for name, i in self._added.items() if self._links[i]}

    @property
    def own_types(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): semantic types that occur only in concepts that users added, in
        this session or before the vocabulary was saved."""
        if self._own_types[0] != self.version:
            concepts = filter(None, map(self.concept, self._user_names))
            found = Counter(t for c in concepts if self._is_own(c) for t in set(c.types))
            types = (t for t, n in found.items() if len(self.ids_of_types([t])) == n)
            self._own_types = self.version, frozenset(types)
        return self._own_types[1]

    @property
    def own_names(self) -> list[int]:
        """RETURNS (list[int]): indices of the names that users added with `add` and `add_names`, in
        this session or before the vocabulary was saved, except names removed since."""
        pairs = [(c, n) for c, names in self._user_names.items() for n in names]
        indices = self.find_names([name for _, name in pairs])
        found = zip(indices, (c for c, _ in pairs), strict=True)
        kept = (i for i, c in found if i is not None and c in self.concept_ids_of(i))
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
        if self._changed.get(concept_id) is not None:
            return concept_id
        owners = {self._order(i): i for i in self._alternates.get(concept_id, ())}
        rows = self.table.find_id(concept_id)
        for row, own in zip(rows, self.table.ids.texts(rows), strict=True):
            if own not in self._changed:
                if own == concept_id:
                    return own
                owners[row] = own
        return owners[min(owners)] if owners else None

    def _resolved(self, concept_id: str) -> str:
        if (own := self.resolve(concept_id)) is None:
            raise AngelError(
                f"{concept_id!r} is not in this vocabulary. Identifiers look like `MESH:D003920`."
            )
        return own

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
        changed = (
            concept_id
            for concept_id, concept in self._changed.items()
            if concept is not None and not set(types).isdisjoint(concept.types)
        )
        return self._unchanged_ids(self.table.concepts_of_types(types)).union(changed)

    def ids_below(self, concept_id: str) -> frozenset[str]:
        """Find the concepts of a subtree.

        concept_id (str): an identifier of its root.
        RETURNS (frozenset[str]): own identifiers of the root and of all concepts below it; only the
            root if the vocabulary has no hierarchy.
        RAISES (AngelError): there is no such concept.
        """
        root = self[concept_id]
        row = self.table.find_own_id(root.concept_id)
        stored = () if row is None else self._unchanged_ids(self.table.concepts_below(row))
        below, n = {root.concept_id, *stored}, 0
        changed = [concept for concept in self._changed.values() if concept is not None]
        while n != (n := len(below)):
            below.update(c.concept_id for c in changed if not below.isdisjoint(c.parents))
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
            known = sorted(self.types)
            raise AngelError(
                f"The vocabulary has no concepts of the types {unknown}. Its types: {known}."
            )
        own = None if concept_ids is None else frozenset(map(self._resolved, concept_ids))
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
        return [i if i is not None and self._owners(i) else None for i in indices]

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
        frequencies = self._meta.get("frequencies", {})
        if self.touched.isdisjoint(indices):
            return self.table.concept_ids(indices, frequencies)
        found = []
        for i in indices:
            if i not in self.touched:
                found += self.table.concept_ids([i], frequencies)
                continue
            normal, concepts = self.name(i), [self[concept_id] for concept_id in self._owners(i)]
            concepts.sort(
                key=lambda concept: (
                    normalize_name(concept.canonical_name) != normal,
                    -frequencies.get(concept.concept_id, 0),
                    self._order(concept.concept_id),
                )
            )
            owners = [concept.concept_id for concept in concepts]
            if self.table.shared_names == "fewer_names" and len(owners) > 1:
                owners = [min(owners, key=lambda concept_id: len(self._all_names(concept_id)))]
            found.append(owners)
        return found

    def is_live(self, i: int) -> bool:
        """i (int): name index. RETURNS (bool): whether the name still has a concept."""
        return i not in self.touched or bool(self.concept_ids_of(i))

    def names_of(self, concept_id: str) -> list[int]:
        """Find the names that lead to a concept.

        concept_id (str): its identifier, or an alternate one.
        RETURNS (list[int]): distinct name indices, the canonical name first.
        RAISES (AngelError): there is no such concept.
        """
        return self.concept_names([self._resolved(concept_id)])[0]

    def concept_names(self, concept_ids: Sequence[str]) -> list[list[int]]:
        """concept_ids (Sequence[str]): own identifiers of n concepts.
        RETURNS (list[list[int]]): the names that lead to each concept, see `names_of`."""
        if (rows := self._stored_rows(concept_ids)) is not None:
            found = self.table.concept_names(rows)
        else:
            found = list(map(self._all_names, concept_ids))
        if self.table.shared_names == "all":
            return found
        return [
            [i for i in own if concept_id in self.concept_ids_of(i)]
            for concept_id, own in zip(concept_ids, found, strict=True)
        ]

    def scope_of(self, i: int, concept_id: str) -> str:
        """i (int): name index.
        concept_id (str): own identifier of one of its concepts.
        RETURNS (str): the scope of the name, see `concepts.SCOPES`; if several spellings have
        scopes, the closest one; empty if the source gives none."""
        if concept_id not in self._changed and not self.table.has_scopes:
            return ""
        concept = self.concept(concept_id)
        if concept is None or not concept.scopes:
            return ""
        normal = self.name(i)
        scopes = {scope for name, scope in concept.scopes if normalize_name(name) == normal}
        return next((scope for scope in SCOPES if scope in scopes), "")

    def spelling(self, i: int) -> str:
        """i (int): name index.
        RETURNS (str): its first spelling, see `first_spellings`."""
        return self.first_spellings([i])[0]

    def first_spellings(self, indices: Sequence[int]) -> list[str]:
        """indices (Sequence[int]): n name indices.
        RETURNS (list[str]): the first of `spellings_of` for each name; for removed names, the
        normal form."""
        if self.touched.isdisjoint(indices):
            return self.table.first_spellings(indices)
        return [next(iter(self.spellings_of(i)), self.name(i)) for i in indices]

    def spellings_of(self, i: int) -> list[str]:
        """i (int): name index.
        RETURNS (list[str]): its distinct spellings, starting with those in concepts that have it as
        canonical name."""
        if i not in self.touched:
            return self.table.spellings_of_name(i)
        normal, owners = self.name(i), self.concept_ids_of(i)
        found = sorted(
            (concept_id not in owners, position > 0, self._order(concept_id), position, name)
            for concept_id in self._owners(i)
            for position, name in enumerate(self[concept_id].names)
            if normalize_name(name) == normal
        )
        return list(dict.fromkeys(name for *_, name in found))

    def has_name(self, concept_id: str, name: str) -> bool:
        """concept_id (str): own identifier of a concept.
        name (str): a name in any spelling.
        RETURNS (bool): whether the name leads to the concept."""
        i = self.name_index(name)
        return i is not None and concept_id in self.concept_ids_of(i)

    def find(self, name: str) -> list[Concept]:
        """name (str): a name in any spelling.
        RETURNS (list[Concept]): its concepts, in the order of `concept_ids_of`; empty if the
        vocabulary does not have the name."""
        i = self.name_index(name)
        return [] if i is None else [self[concept_id] for concept_id in self.concept_ids_of(i)]

    def reading(self) -> AbstractContextManager[None]:
        """RETURNS (AbstractContextManager[None]): a context in which the vocabulary does not
        change; changes by other threads wait until it exits. Linkers use it for each batch."""
        return self._lock.reading()

    def apply(self, rules: Iterable[Rule]) -> list[Rule]:
        """Apply rules in order: `add`, `remove` and `rename` are applied by `edit`, and the others
        are appended to `rules`.

        rules (Iterable[Rule]): rules; edits that fail are ignored.
        RETURNS (list[Rule]): edits of concepts that are not in the vocabulary.
        """
        unknown = []
        with self._lock.changing():
            for rule in rules:
                if not rule.is_edit:
                    self.rules += (rule,)
                    continue
                if rule.condition != NEW and rule.concept not in self:
                    unknown.append(rule)
                with suppress(AngelError):
                    self.edit(rule)
        return unknown

    def edit(self, rule: Rule) -> None:
        """Apply an editing rule. Names that the concept already has are not added again.

        rule (Rule): `add`, `remove` or `rename`.
        RAISES (AngelError): the concept or name is not in the vocabulary, or the rule would remove
            the only name of a concept.
        """
        concept, string, target = self.get(rule.concept), rule.string, rule.concept
        if concept is None and rule.condition == NEW:
            self.add(Concept(target, string, types=(rule.type,) if rule.type else ()))
        elif rule.action == "add":
            if concept is None or not self.has_name(concept.concept_id, string):
                self.add_names(target, [string])
        elif rule.action == "rename":
            if rule.instead_of or concept is None or string != concept.canonical_name:
                self.rename(target, string, rule.instead_of or None)
        elif string:
            self.remove_name(target, string)
        else:
            self.remove(target)

    def add(self, concept: Concept | Iterable[Concept]) -> None:
        """Add concepts at run time.

        concept (Concept | Iterable[Concept]): one or several new concepts.
        RAISES (AngelError): an identifier is empty or is another concept's own identifier, or a
            field has the wrong type; nothing is changed then.
        """
        concepts: list[Any] = list(concept) if isinstance(concept, Iterable) else [concept]
        for item in concepts:
            if not isinstance(item, Concept):
                raise AngelError(f"kb.add needs a Concept or several, not {item!r}.")
            validate_and_normalize(item)
        with self._lock.changing():
            ids = Counter(new.concept_id for new in concepts)
            for concept_id, n in ids.items():
                if n > 1 or self.concept(concept_id) is not None:
                    raise AngelError(
                        f"{concept_id!r} is already in the vocabulary. Use `add_names`."
                    )
            for new in concepts:
                self._put(new.concept_id, new)
                self._user_names[new.concept_id] = _normal_forms(new.names)
            self._is_edited |= bool(concepts)

    def add_names(self, concept_id: str, names: Iterable[str]) -> None:
        """Add names to a concept at run time; names that it already has are ignored.

        concept_id (str): its identifier, or an alternate one.
        names (Iterable[str]): names in any spelling.
        RAISES (AngelError): there is no such concept, or `names` is a single string or contains
            other types; nothing is changed then.
        """
        with self._lock.changing():
            concept = self[concept_id]
            if added := self._put_names(concept, names):
                self._user_names.setdefault(concept.concept_id, []).extend(_normal_forms(added))
                self._is_edited = True

    def remove(self, concept_id: str) -> None:
        """Remove a concept at run time, together with the names that no other concept has.

        concept_id (str): its identifier, or an alternate one.
        RAISES (AngelError): there is no such concept.
        """
        with self._lock.changing():
            own = self._resolved(concept_id)
            self._put(own, None)
            self._user_names.pop(own, None)
            self._is_edited = True

    def remove_name(self, concept_id: str, name: str) -> None:
        """Remove a name, in all its spellings, from a concept at run time. If it was the canonical
        name, the first alias replaces it.

        concept_id (str): its identifier, or an alternate one.
        name (str): a name in any spelling.
        RAISES (AngelError): there is no such concept, the concept does not have the name, or it is
            the only name.
        """
        with self._lock.changing():
            concept = self[concept_id]
            spellings = _spellings_in(concept, name)
            rest = [other for other in concept.names if other not in spellings]
            if not rest:
                raise AngelError(
                    f"{name!r} is the only name of {concept.concept_id!r}. Remove the concept, or "
                    "add another name first."
                )
            own = self._user_names.get(concept.concept_id, [])
            own[:] = [n for n in own if n != normalize_name(name)]
            self._rename_all(concept, rest)

    def rename(self, concept_id: str, name: str, old: str | None = None) -> None:
        """Change the canonical name of a concept while running, or replace one of its names.

        concept_id (str): its identifier, or an alternate one.
        name (str): the new canonical name; the former one becomes an alias. With `old`, it replaces
            that name instead.
        old (str | None): a name of the concept, replaced in all its spellings.
        RAISES (AngelError): there is no such concept, it has no name `old`, or the new one is
            blank.
        """
        with self._lock.changing():
            concept = self[concept_id]
            if not name.strip():
                raise AngelError(f"The new name of {concept.concept_id} has no letters.")
            names = [name, *concept.names]
            if old is not None:
                spellings = _spellings_in(concept, old)
                names = [name if other in spellings else other for other in concept.names]
            if self._is_own(concept):
                self._user_names[concept.concept_id] += _normal_forms([name])
            self._rename_all(concept, names)

    def add_mentions(self, mentions: Iterable[tuple[str, str]], source: str) -> dict[str, Any]:
        """Add the mentions of a training corpus as names, as published work on NCBI-disease does.
        The step is recorded in the metadata, together with the frequency of each concept, by which
        the concepts of a shared name are sorted.

        mentions (Iterable[tuple[str, str]]): pairs of gold concept identifier and mention text.
        source (str): name of the corpus, recorded in the metadata.
        RETURNS (dict[str, Any]): the recorded step, with the numbers of added names and of mentions
            with an unknown identifier.
        """
        with self._lock.changing():
            texts: dict[str | None, list[str]] = {}
            for concept_id, text in mentions:
                texts.setdefault(self.resolve(concept_id), []).append(text)
            step: dict[str, Any] = {"step": "add_mentions", "source": source}
            unknown = len(texts.pop(None, ()))
            by_id = {own: names for own, names in texts.items() if own is not None}
            added = sum(len(self._put_names(self[own], names)) for own, names in by_id.items())
            step |= {"added_names": added, "unknown_mentions": unknown}
            self._meta["steps"] = [*self._meta["steps"], step]
            counts = Counter(self._meta.get("frequencies", {}))
            counts.update({own: len(names) for own, names in by_id.items()})
            self._meta["frequencies"] = dict(counts)
        return step

    @property
    def _changes(self) -> tuple[Any, ...]:
        """RETURNS (tuple[Any, ...]): the arguments of `_restore_changes` that reproduce all
        changes."""
        return dict(self._changed), self._user_names, self.rules, self._is_edited

    def _restore_changes(
        self,
        changed: Mapping[str, Concept | None],
        user_names: Mapping[str, Sequence[str]],
        rules: tuple[Rule, ...],
        is_edited: bool,
    ) -> None:
        """Reapply the changes of another overlay of the same table; the arguments are its
        attributes."""
        for concept_id, concept in changed.items():
            self._put(concept_id, concept)
        self._user_names = {i: list(names) for i, names in user_names.items()}
        self.rules, self._is_edited = rules, is_edited

    def _rename_all(self, concept: Concept, names: Iterable[str]) -> None:
        """Replace a concept's names."""
        canonical, *aliases = dict.fromkeys(names)
        renamed = replace(concept, canonical_name=canonical, aliases=tuple(aliases))
        self._put(concept.concept_id, renamed)
        self._is_edited = True

    def _put_names(self, concept: Concept, names: Iterable[str]) -> list[str]:
        """Add names to a concept.
        RETURNS (list[str]): names that it did not have before.
        """
        texts = list(names)
        if isinstance(names, str) or not all(isinstance(text, str) for text in texts):
            raise AngelError(
                f"The names for {concept.concept_id!r} must be a list of strings, not {names!r}."
            )
        new = [name for name in dict.fromkeys(texts) if name not in concept.names]
        if new:
            self._put(concept.concept_id, replace(concept, aliases=(*concept.aliases, *new)))
        return new

    def _is_own(self, concept: Concept) -> bool:
        # a concept that the user added, not one with added names only
        normal = normalize_name(concept.canonical_name)
        return normal in self._user_names.get(concept.concept_id, ())

    def _put(self, concept_id: str, concept: Concept | None) -> None:
        """Add or replace the concept with this identifier, or remove it if `concept` is None."""
        concept = None if concept is None else validate_and_normalize(concept)
        self.version += 1
        old, row = self.concept(concept_id), self.table.find_own_id(concept_id)
        if old is not None:
            for i in self._all_names(concept_id):
                self.touched.add(i)
                self._links.get(i, {}).pop(concept_id, None)
            for alternate in old.alternate_ids:
                self._alternates.get(alternate, {}).pop(concept_id, None)
        self._changed[concept_id] = concept
        if row is None and concept is None:
            del self._changed[concept_id], self._new[concept_id]
        elif row is None:
            self._new.setdefault(concept_id, self.table.n_concepts + self.version)
        if concept is not None:
            self._types.update(concept.types)
            for i in self._all_names(concept_id):
                self.touched.add(i)
                self._links.setdefault(i, {})[concept_id] = None
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

    def _owners(self, i: int) -> list[str]:
        """Return all concepts that have a name, even if the name leads to only one of them."""
        changed = self._links.get(i, ())
        if i >= self.table.n_names:
            return list(changed)
        (stored,) = self.table.concept_ids([i], {}, owners_only=False)
        return [*(c for c in stored if c not in self._changed), *changed]

    def _all_names(self, concept_id: str) -> list[int]:
        """All names of a concept, the canonical name first; new names get an index."""
        concept = self._changed.get(concept_id)
        if concept is None:
            row = None if concept_id in self._changed else self.table.find_own_id(concept_id)
            return [] if row is None else self.table.concept_names([row])[0]
        normals = list(filter(None, dict.fromkeys(map(normalize_name, concept.names))))
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

    def allows(self, concept_id: str) -> bool:
        """concept_id (str): own identifier of a concept.
        RETURNS (bool): whether the subset contains it."""
        if self.concept_ids is not None and concept_id not in self.concept_ids:
            return False
        if concept_id in self.excluded:
            return False
        return self.types is None or self.allows_types(self.vocabulary.types_of(concept_id))

    def allows_types(self, types: Collection[str]) -> bool:
        """types (Collection[str]): types of a concept.
        RETURNS (bool): whether the subset includes these types."""
        if self.types is None or self.free_types.issuperset(types):
            return True
        return not self.types.isdisjoint(types)


def _normal_forms(names: Iterable[str]) -> list[str]:
    return list(filter(None, dict.fromkeys(map(normalize_name, names))))


def _spellings_in(concept: Concept, name: str) -> list[str]:
    """Return the spellings of a name in a concept."""
    normal = normalize_name(name)
    found = [n for n in concept.names if n == name or (normalize_name(n) or None) == normal]
    if not found:
        raise AngelError(
            f"{concept.concept_id!r} has no name {name!r}. Its names: {list(concept.names)}."
        )
    return found
