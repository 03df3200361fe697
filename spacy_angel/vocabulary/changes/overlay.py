"""A stored vocabulary that changes while running.

The table on disk is mapped, shared by processes and never written. A concept that is added or
changed is kept whole in memory and read instead of the table's row; for one that is removed, None
is kept. So every lookup first asks the changes, then the table:

    _changed = {"MESH:D1": Concept(...), "MESH:D2": None}
    kb["MESH:D1"]  → the one in memory
    kb["MESH:D2"]  → an error, it was removed
    kb["MESH:D3"]  → the table's
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ...errors import AngelError
from ..names.concepts import SCOPES, Concept, normalize_name
from ..names.identifiers import normal_ids
from ..storage.table import ConceptTable, validate_and_normalize


class VocabularyOverlay:
    """Concepts and names of a table with the changes that were made since it was opened.

    It answers like a vocabulary that is built anew from its concepts, except for the name indices:
    tries and masks hold these, so an added name gets a new one at the end, and a removed one keeps
    its own. E.g. the concept of row 0 has the name 7 of 250, and gets `flu` as well:

                        before   after
        `_changed`      {}       {"MESH:D1": Concept(...)}
        `_position`     {}       {"MESH:D1": 0}
        `_added`        []       ["flu"]
        `_added_index`  {}       {"flu": 250}
        `_links`        {}       {7: {"MESH:D1": None}, 250: {"MESH:D1": None}}
        `touched`       set()    {7, 250}

    table (ConceptTable): the stored concepts.
    meta (Mapping[str, Any]): what is stored beside them; `counts` and `frequencies` are read.
    """

    def __init__(self, table: ConceptTable, meta: Mapping[str, Any]) -> None:
        self.table = table
        self.version = 0
        """Grows with every change."""
        self.touched: set[int] = set()
        """Names whose concepts may differ from the table's."""
        self._meta = dict(meta)
        self._n_concepts = table.n_concepts
        self._n_added_spellings = 0
        # concepts as they are now; None: removed
        self._changed: dict[str, Concept | None] = {}
        # where in `ids` a concept that was put or removed comes: its row, or after the table's
        self._position: dict[str, int] = {}
        self._n_positions = table.n_concepts
        # names that are not stored, in normal form, in the order of their indices, and these
        self._added: list[str] = []
        self._added_index: dict[str, int] = {}
        # name index → changed concepts that have it, in the order in which they came
        self._links: dict[int, dict[str, None]] = {}
        # alternate identifier → changed concepts that have it
        self._alternates: dict[str, dict[str, None]] = {}
        # all that concepts have or had
        self._types = set(table.types)

    def _copy_changes(self, other: "VocabularyOverlay") -> None:
        """Make the changes of another overlay of the same table here as well."""
        self.version, self._n_added_spellings = other.version, other._n_added_spellings
        self._n_concepts, self._n_positions = other._n_concepts, other._n_positions
        self.touched, self._types = set(other.touched), set(other._types)
        self._changed, self._position = dict(other._changed), dict(other._position)
        self._added, self._added_index = list(other._added), dict(other._added_index)
        self._links = {i: dict(ids) for i, ids in other._links.items()}
        self._alternates = {i: dict(ids) for i, ids in other._alternates.items()}

    def __len__(self) -> int:
        return self._n_concepts

    def __iter__(self) -> Iterator[Concept]:
        return map(self.__getitem__, self._ids())

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
        """concept_id (str): an identifier, or an alternate one. default (Concept | None): returned
        if there is no such concept. RETURNS (Concept | None): the concept."""
        own = self.resolve(concept_id)
        return default if own is None else self.concept(own)

    @property
    def n_names(self) -> int:
        """RETURNS (int): name indices run from 0 up to this, exclusive; names removed since the
        vocabulary was opened keep theirs."""
        return self.table.n_names + len(self._added)

    @property
    def counts(self) -> dict[str, int]:
        """RETURNS (dict[str, int]): current number of `concepts`, `names` in normal form and
        `spellings`; `meta["counts"]` has those that were stored, and more."""
        n_gone = sum(not self._owners(i) for i in self.touched)
        n_spellings = self._meta["counts"]["spellings"] + self._n_added_spellings
        return {
            "concepts": len(self),
            "names": self.n_names - n_gone,
            "spellings": n_spellings,
        }

    @property
    def types(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): all semantic types that concepts have or had."""
        return frozenset(self._types)

    def types_beside(self, types: Collection[str]) -> frozenset[str]:
        """types (Collection[str]): semantic types. RETURNS (frozenset[str]): those of the concepts
        that have none of them."""
        added = (set(c.types) for c in self._changed.values() if c is not None)
        beside = (own for own in added if own.isdisjoint(types))
        return self.table.types_beside(types).union(*beside)

    @property
    def added_names(self) -> dict[int, str]:
        """RETURNS (dict[int, str]): names that the table does not have, by index, without removed
        ones."""
        first = self.table.n_names
        return {first + i: name for i, name in enumerate(self._added) if self._links[first + i]}

    def concept(self, concept_id: str) -> Concept | None:
        """concept_id (str): its own identifier. RETURNS (Concept | None): the concept."""
        if concept_id in self._changed:
            return self._changed[concept_id]
        row = self.table.find_own_id(concept_id)
        return None if row is None else self.table.concept(row)

    def resolve(self, concept_id: str) -> str | None:
        """concept_id (str): any identifier, e.g. `MESH:D003920`, `mesh:D003920` or `D003920`.
        RETURNS (str | None): the identifier of the concept whose own it is, else of the first that
        has it as an alternate."""
        return self._resolve(concept_id) or self._resolve(normal_ids(concept_id))

    def _resolve(self, concept_id: str) -> str | None:
        if self._changed.get(concept_id) is not None:
            return concept_id
        owners = {self._position[i]: i for i in self._alternates.get(concept_id, ())}
        for row in self.table.find_id(concept_id):
            own = self.table.id_of(row)
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
        """concept_id (str): any identifier, in any spelling. RETURNS (str | None): the concept that
        its source has replaced it by or merged it into; None: it is current, unknown, or the
        identifier of another source."""
        own = self.resolve(concept_id)
        if own is None or own in (concept_id, normal_ids(concept_id)):
            return None
        is_of_same_source = own.partition(":")[0] == normal_ids(concept_id).partition(":")[0]
        return own if is_of_same_source else None

    def types_of(self, concept_id: str) -> tuple[str, ...]:
        """concept_id (str): own identifier of a concept. RETURNS (tuple[str, ...]): its types;
        empty if there is no such concept."""
        if (changed := self._changed.get(concept_id)) is not None:
            return changed.types
        row = self._stored_row(concept_id)
        return () if row is None else self.table.types_of(row)

    def ids_of_types(self, types: Collection[str]) -> frozenset[str]:
        """types (Collection[str]): semantic types. RETURNS (frozenset[str]): own identifiers of the
        concepts that have one of them."""
        changed = (
            concept_id
            for concept_id, concept in self._changed.items()
            if concept is not None and not set(types).isdisjoint(concept.types)
        )
        return self._unchanged_ids(self.table.concepts_of_types(types)).union(changed)

    def ids_below(self, concept_id: str) -> frozenset[str]:
        """Concepts of a subtree.

        concept_id (str): an identifier of its root.
        RETURNS (frozenset[str]): own identifiers of the root and of all concepts below it; of the
            root alone if the vocabulary has no hierarchy.
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

    def name_index(self, name: str) -> int | None:
        """name (str): in any spelling. RETURNS (int | None): index of its normal form."""
        return self.find_name(normalize_name(name))

    def find_name(self, normal: str) -> int | None:
        """normal (str): a name in normal form. RETURNS (int | None): its index, if it has a
        concept."""
        index = self._find_index(normal)
        return index if index is not None and self._owners(index) else None

    def find_names(self, normals: Sequence[str]) -> list[int | None]:
        """normals (Sequence[str]): n names in normal form. RETURNS (list[int | None]): the index of
        each that has a concept."""
        if not self.touched:
            return self.table.find_names(normals)
        return [self.find_name(normal) for normal in normals]

    def name_texts(self, indices: Sequence[int]) -> list[str]:
        """indices (Sequence[int]): n name indices. RETURNS (list[str]): the names in normal
        form."""
        if not self._added:
            return self.table.names.texts(indices)
        return [self.name(i) for i in indices]

    def concept_ids(self, indices: Sequence[int]) -> list[list[str]]:
        """indices (Sequence[int]): n name indices. RETURNS (list[list[str]]): of each, see
        `concept_ids_of`."""
        if self.touched.isdisjoint(indices):
            return self.table.concept_ids(indices, self._meta.get("frequencies", {}))
        return [self.concept_ids_of(i) for i in indices]

    def concept_types(self, concept_ids: Sequence[str]) -> list[tuple[str, ...]]:
        """concept_ids (Sequence[str]): n identifiers of concepts, their own. RETURNS
        (list[tuple[str, ...]]): the types of each."""
        if (rows := self._stored_rows(concept_ids)) is not None:
            return self.table.concept_types(rows)
        return [self.types_of(concept_id) for concept_id in concept_ids]

    def canonical_names(self, concept_ids: Sequence[str]) -> list[str]:
        """concept_ids (Sequence[str]): n identifiers of concepts, their own. RETURNS (list[str]):
        the canonical name of each, as its source writes it."""
        if (rows := self._stored_rows(concept_ids)) is not None:
            return self.table.canonical_names(rows)
        return [self[concept_id].canonical_name for concept_id in concept_ids]

    def concept_names(self, concept_ids: Sequence[str]) -> list[list[int]]:
        """concept_ids (Sequence[str]): n identifiers of concepts, their own. RETURNS
        (list[list[int]]): of each the names that lead to it, see `names_of`."""
        rows = self._stored_rows(concept_ids)
        if rows is not None and self.table.shared_names == "all":
            return self.table.concept_names(rows)
        return [self._own_names_of(concept_id) for concept_id in concept_ids]

    def name(self, i: int) -> str:
        """i (int): name index. RETURNS (str): the name in normal form."""
        first = self.table.n_names
        return self.table.name(i) if i < first else self._added[i - first]

    def concept_ids_of(self, i: int) -> list[str]:
        """i (int): name index. RETURNS (list[str]): identifiers of the concepts that it leads to:
        those whose canonical name it is, then the more frequent, then in the order of the
        vocabulary; empty for a name that was removed."""
        frequencies = self._meta.get("frequencies")
        owns_one = self.table.shared_names == "fewer_names"
        if i not in self.touched and (owns_one or not frequencies):
            return [self.table.id_of(row) for row in self.table.owners_of_name(i)]
        owners = self._owners(i)
        if len(owners) < 2:
            return owners
        owners.sort(key=lambda concept_id: self._precedence(concept_id, i))
        if owns_one:
            return [min(owners, key=lambda concept_id: len(self._all_names(concept_id)))]
        return owners

    def names_of(self, concept_id: str) -> list[int]:
        """Names that lead to a concept.

        concept_id (str): its identifier, or an alternate one.
        RETURNS (list[int]): name indices, each once, the canonical name first.
        RAISES (AngelError): there is no such concept.
        """
        return self._own_names_of(self._resolved(concept_id))

    def is_second_name(self, i: int, concept_id: str) -> bool:
        """i (int): name index. concept_id (str): one of its concepts, by its own identifier.
        RETURNS (bool): whether it follows the canonical name, as the full name of a gene follows
        its symbol."""
        return self._own_names_of(concept_id)[1:2] == [i]

    def scope_of(self, i: int, concept_id: str) -> str:
        """i (int): name index. concept_id (str): one of its concepts, by its own identifier.
        RETURNS (str): how the name belongs to it, see `concepts.SCOPES`: the nearest of what its
        sources say of its spellings; empty if they say nothing."""
        if (changed := self._changed.get(concept_id)) is not None:
            normal = self.name(i)
            scopes = {scope for name, scope in changed.scopes if normalize_name(name) == normal}
            return next((scope for scope in SCOPES if scope in scopes), "")
        row = self._stored_row(concept_id)
        return "" if row is None else self.table.scope_of(row, i)

    def spelling(self, i: int) -> str:
        """i (int): name index. RETURNS (str): the first of `spellings_of`; the normal form of a
        name that was removed."""
        return next(iter(self.spellings_of(i)), self.name(i))

    def spellings_of(self, i: int) -> list[str]:
        """i (int): name index. RETURNS (list[str]): every way in which its concepts write it, that
        of one whose canonical name it is first."""
        if i not in self.touched:
            rows = self.table.rows_of_name(i)
            return list(dict.fromkeys(self.table.spellings[row] for row in rows))
        normal, owners = self.name(i), self.concept_ids_of(i)
        found = sorted(
            (concept_id not in owners, position > 0, self._order(concept_id), position, name)
            for concept_id in self._owners(i)
            for position, name in enumerate(self[concept_id].names)
            if normalize_name(name) == normal
        )
        return list(dict.fromkeys(name for *_, name in found))

    def has_name(self, concept_id: str, name: str) -> bool:
        """concept_id (str): own identifier of a concept. name (str): in any spelling.
        RETURNS (bool): whether the name leads to the concept."""
        i = self.name_index(name)
        return i is not None and concept_id in self.concept_ids_of(i)

    def find(self, name: str) -> list[Concept]:
        """name (str): in any spelling. RETURNS (list[Concept]): the concepts that it leads to, in
        the order of `concept_ids_of`; none if it is no name of the vocabulary."""
        i = self.name_index(name)
        return [] if i is None else [self[concept_id] for concept_id in self.concept_ids_of(i)]

    def _put(self, concept: Concept) -> None:
        """Append a concept, or replace the one with its identifier."""
        concept = validate_and_normalize(concept)
        concept_id = concept.concept_id
        self._withdraw(concept_id)
        self._changed[concept_id] = concept
        if concept_id not in self._position:
            self._position[concept_id] = self._n_positions
            self._n_positions += 1
        self._n_concepts += 1
        self._n_added_spellings += len(concept.names)
        self._types.update(concept.types)
        for i in self._index_names(concept):
            self._links.setdefault(i, {})[concept_id] = None
        for alternate in concept.alternate_ids:
            self._alternates.setdefault(alternate, {})[concept_id] = None

    def _take_out(self, concept_id: str) -> None:
        """Remove a concept, by its own identifier."""
        self._withdraw(concept_id)
        if self._position[concept_id] >= self.table.n_concepts:
            del self._position[concept_id]

    def _withdraw(self, concept_id: str) -> None:
        """Remove what a concept, if there is one with this identifier of its own, is now."""
        self.version += 1
        old, row = self.concept(concept_id), self.table.find_own_id(concept_id)
        if old is not None:
            self._n_concepts -= 1
            self._n_added_spellings -= len(old.names)
            names = self._all_names(concept_id)
            self.touched.update(names)
            for i in names:
                self._links.get(i, {}).pop(concept_id, None)
            for alternate in old.alternate_ids:
                self._alternates.get(alternate, {}).pop(concept_id, None)
        if row is not None:
            self._position[concept_id], self._changed[concept_id] = row, None
        else:
            self._changed.pop(concept_id, None)

    def _ids(self) -> Iterator[str]:
        """The identifier of every concept, the table's first, in their order."""
        for row in range(self.table.n_concepts):
            concept_id = self.table.ids[row]
            if self._changed.get(concept_id, True):
                yield concept_id
        # As it is now: another thread may add while this is read.
        for concept_id, position in list(self._position.items()):
            if position >= self.table.n_concepts:
                yield concept_id

    def _stored_row(self, concept_id: str) -> int | None:
        """The table's row of a concept that was neither changed nor removed."""
        return None if concept_id in self._changed else self.table.find_own_id(concept_id)

    def _stored_rows(self, concept_ids: Sequence[str]) -> Sequence[int] | None:
        """The table's rows of these concepts; None if one was changed, or is unknown."""
        if not self._changed.keys().isdisjoint(concept_ids):
            return None
        rows = self.table.find_own_ids(concept_ids)
        return None if None in rows else cast("list[int]", rows)

    def _unchanged_ids(self, rows: np.ndarray) -> frozenset[str]:
        ids = self.table.ids.take(np.asarray(rows, dtype=np.int64))
        return frozenset(concept_id for concept_id in ids if concept_id not in self._changed)

    def _own_names_of(self, own_id: str) -> list[int]:
        names = self._all_names(own_id)
        if self.table.shared_names == "all":
            return names
        return [i for i in names if own_id in self.concept_ids_of(i)]

    def _index_names(self, concept: Concept) -> list[int]:
        """Indices of a concept's names, new ones made where needed; all count as touched."""
        indices = []
        for normal in filter(None, map(normalize_name, concept.names)):
            i = self._find_index(normal)
            if i is None:
                i = self._added_index[normal] = self.n_names
                self._added.append(normal)
            indices.append(i)
        self.touched.update(indices)
        return indices

    def _find_index(self, normal: str) -> int | None:
        (index,) = self.table.find_names([normal])
        return self._added_index.get(normal) if index is None else index

    def _owners(self, i: int) -> list[str]:
        """All concepts that have a name, whoever owns it."""
        added = self._links.get(i, ())
        if i >= self.table.n_names:
            return list(added)
        stored = (self.table.id_of(row) for row in self.table.concepts_of_name(i))
        return [*(c for c in stored if c not in self._changed), *added]

    def _precedence(self, concept_id: str, i: int) -> tuple[bool, int, int]:
        """How good a claim a concept has to a name that it shares; the least is the best."""
        row = self._stored_row(concept_id)
        if row is None:
            concept = self.concept(concept_id)
            assert concept is not None
            is_canonical = normalize_name(concept.canonical_name) == self.name(i)
        else:
            is_canonical = self.table.is_canonical(row, i)
        frequency = self._meta.get("frequencies", {}).get(concept_id, 0)
        return not is_canonical, -frequency, self._order(concept_id)

    def _all_names(self, concept_id: str) -> list[int]:
        """All names of a concept, the canonical first, whoever owns them."""
        if (changed := self._changed.get(concept_id)) is not None:
            return list(dict.fromkeys(self._index_names(changed)))
        row = self._stored_row(concept_id)
        return [] if row is None else self.table.concept_names([row])[0]

    def _order(self, concept_id: str) -> int:
        """Where a concept comes in the vocabulary."""
        if concept_id in self._position:
            return self._position[concept_id]
        row = self.table.find_own_id(concept_id)
        return self.table.n_concepts if row is None else row


@dataclass(frozen=True)
class Subset:
    """A part of a vocabulary that a search is limited to; made by `ConceptKB.subset`. A concept is
    in where every one of these conditions holds.

    types (frozenset[str] | None): it has one of these semantic types, or no type at all; None: any.
    concept_ids (frozenset[str] | None): its identifier is one of these; None: any.
    vocabulary (VocabularyOverlay): the whole.
    free_types (frozenset[str]): types that do not count: a concept that has no others is in as one
        without types is.
    excluded (frozenset[str]): its identifier is none of these.
    """

    types: frozenset[str] | None
    concept_ids: frozenset[str] | None
    vocabulary: VocabularyOverlay = field(repr=False)
    free_types: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()

    def allows(self, concept_id: str) -> bool:
        """concept_id (str): own identifier of a concept. RETURNS (bool): whether it is in."""
        if self.concept_ids is not None and concept_id not in self.concept_ids:
            return False
        if concept_id in self.excluded:
            return False
        if self.types is None:
            return True
        types = self.vocabulary.types_of(concept_id)
        return self.free_types.issuperset(types) or not self.types.isdisjoint(types)
