"""A stored vocabulary that changes while running.

The table on disk is mapped, shared by processes and never written. A concept that is added or
changed is kept whole in memory and is read instead of the table's row; of one that is removed a
None is kept. So every reading first asks the changes, then the table:

    _changed = {"MESH:D1": Concept(...), "MESH:D2": None}
    concept("MESH:D1")  → the one in memory
    concept("MESH:D2")  → None, removed
    concept("MESH:D3")  → the table's
"""

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from ..names.concepts import SCOPES, Concept, normalize_name
from ..storage.table import ConceptTable, tidy


class LiveVocabulary:
    """Concepts and names of a table with the changes that were made since it was opened.

    It answers as a vocabulary would that is built anew from its concepts, but for the name indices:
    tries and masks hold these, so a name that is added gets a new one at the end, and one that is
    removed keeps its own. E.g. the concept of row 0 has the name 7 of 250, and gets `flu` as well:

                        before   after
        `_changed`      {}       {"MESH:D1": Concept(...)}
        `_position`     {}       {"MESH:D1": 0}
        `_added`        []       ["flu"]
        `_added_index`  {}       {"flu": 250}
        `_links`        {}       {7: {"MESH:D1": None}, 250: {"MESH:D1": None}}
        `touched`       set()    {7, 250}

    table (ConceptTable): the stored concepts.
    """

    def __init__(self, table: ConceptTable) -> None:
        self.table = table
        self.version = 0
        # how often a corpus has a concept: what tells concepts of one name apart
        self.frequencies: Mapping[str, int] = {}
        self.n_concepts = table.n_concepts
        # names whose concepts may differ from the table's
        self.touched: set[int] = set()
        # concepts as they are now; None: removed
        self._changed: dict[str, Concept | None] = {}
        # where in `ids` a concept that was put or removed stands: its row, or behind the table's
        self._position: dict[str, int] = {}
        # the next one's
        self._n_positions = table.n_concepts
        # names that are not stored, in normal form, in the order of their indices, and these
        self._added: list[str] = []
        self._added_index: dict[str, int] = {}
        # name index → changed concepts that have it; the order is that in which they came
        self._links: dict[int, dict[str, None]] = {}
        # alternate identifier → changed concepts that have it
        self._alternates: dict[str, dict[str, None]] = {}
        # that concepts have or had
        self._types = set(table.types)

    def take_changes(self, other: "LiveVocabulary") -> None:
        """other (LiveVocabulary): of the same table. Its changes are made here as well, and go
        their own ways from now on."""
        self.version, self.frequencies = other.version, other.frequencies
        self.n_concepts, self._n_positions = other.n_concepts, other._n_positions
        self.touched, self._types = set(other.touched), set(other._types)
        self._changed, self._position = dict(other._changed), dict(other._position)
        self._added, self._added_index = list(other._added), dict(other._added_index)
        self._links = {i: dict(ids) for i, ids in other._links.items()}
        self._alternates = {i: dict(ids) for i, ids in other._alternates.items()}

    @property
    def n_names(self) -> int:
        """RETURNS (int): name indices run from 0 to this, without it."""
        return self.table.n_names + len(self._added)

    @property
    def types(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): all types that concepts have or had."""
        return frozenset(self._types)

    def types_beside(self, types: Collection[str]) -> frozenset[str]:
        """types (Collection[str]): semantic types. RETURNS (frozenset[str]): those that concepts
        have, or had in the table, which have none of them."""
        added = (c.types for c in self._changed.values() if c is not None)
        beside = (own for own in added if not set(own).intersection(types))
        return self.table.types_beside(types).union(*beside)

    def n_of_type(self, semantic_type: str) -> int:
        """semantic_type (str): any. RETURNS (int): how many concepts have it."""
        n = self.table.n_of_type(semantic_type)
        for concept_id, concept in self._changed.items():
            row = self.table.find_own_id(concept_id)
            n -= row is not None and semantic_type in self.table.types_of(row)
            n += concept is not None and semantic_type in concept.types
        return n

    @property
    def added_names(self) -> dict[int, str]:
        """RETURNS (dict[int, str]): names that the table has not, by index, removed ones left
        out."""
        first = self.table.n_names
        return {first + i: name for i, name in enumerate(self._added) if self._links[first + i]}

    def counts(self, stored: Mapping[str, int]) -> dict[str, int]:
        """stored (Mapping[str, int]): of the table. RETURNS (dict[str, int]): concepts, names in
        normal form, and spellings that have one, as they are now."""
        n_spellings = stored["spellings"]
        for concept_id, concept in self._changed.items():
            row = self.table.find_own_id(concept_id)
            n_spellings -= 0 if row is None else _n_spellings(self.table.concept(row))
            n_spellings += 0 if concept is None else _n_spellings(concept)
        first = self.table.n_names
        n_gone = sum(i < first and not self._holders(i) for i in self.touched)
        n_names = first - n_gone + len(self.added_names)
        return {"concepts": self.n_concepts, "names": n_names, "spellings": n_spellings}

    def ids(self) -> Iterator[str]:
        """YIELDS (str): the identifier of every concept, the table's first, in their order."""
        for row in range(self.table.n_concepts):
            concept_id = self.table.ids[row]
            if self._changed.get(concept_id, True):
                yield concept_id
        # As it is now: another thread may add while this is read.
        for concept_id, position in list(self._position.items()):
            if position >= self.table.n_concepts:
                yield concept_id

    def concept(self, concept_id: str) -> Concept | None:
        """concept_id (str): its own identifier. RETURNS (Concept | None): the concept."""
        if concept_id in self._changed:
            return self._changed[concept_id]
        row = self.table.find_own_id(concept_id)
        return None if row is None else self.table.concept(row)

    def types_of(self, concept_id: str) -> tuple[str, ...]:
        """concept_id (str): its own identifier. RETURNS (tuple[str, ...]): its types."""
        if (changed := self._changed.get(concept_id)) is not None:
            return changed.types
        row = None if concept_id in self._changed else self.table.find_own_id(concept_id)
        return () if row is None else self.table.types_of(row)

    def ids_of_types(self, types: Collection[str]) -> frozenset[str]:
        """types (Collection[str]): semantic types. RETURNS (frozenset[str]): own identifiers of the
        concepts that have one of them."""
        stored = self.table.ids.take(self.table.concepts_of_types(types))
        ids = {concept_id for concept_id in stored if concept_id not in self._changed}
        for concept_id, concept in self._changed.items():
            if concept is not None and not set(types).isdisjoint(concept.types):
                ids.add(concept_id)
        return frozenset(ids)

    def ids_below(self, concept_id: str) -> frozenset[str]:
        """concept_id (str): own identifier of a concept. RETURNS (frozenset[str]): it, and those of
        the concepts that stand below it by their tree numbers."""
        row = self.table.find_own_id(concept_id)
        rows = np.empty(0) if row is None else self.table.concepts_below(row)
        stored = self.table.ids.take(np.asarray(rows, dtype=np.int64))
        ids = {one for one in stored if one not in self._changed} | {concept_id}
        root = self.concept(concept_id)
        roots = () if root is None else root.tree_numbers
        for one, concept in self._changed.items():
            numbers = () if concept is None else concept.tree_numbers
            if any(f"{number}.".startswith(f"{above}.") for number in numbers for above in roots):
                ids.add(one)
        return frozenset(ids)

    def scope_of(self, i: int, concept_id: str) -> str:
        """i (int): name index. concept_id (str): own identifier of one of its concepts. RETURNS
        (str): the nearest of the scopes that its spellings of the name have; empty: none."""
        if (changed := self._changed.get(concept_id)) is not None:
            normal = self.name(i)
            told = {scope for name, scope in changed.scopes if normalize_name(name) == normal}
            return next((scope for scope in SCOPES if scope in told), "")
        row = None if concept_id in self._changed else self.table.find_own_id(concept_id)
        return "" if row is None else self.table.scope_of(row, i)

    def resolve(self, concept_id: str) -> str | None:
        """concept_id (str): any identifier. RETURNS (str | None): the identifier of the concept
        whose own it is, else of the first that has it as an alternate."""
        if self._changed.get(concept_id) is not None:
            return concept_id
        holders = {self._position[i]: i for i in self._alternates.get(concept_id, ())}
        for row in self.table.find_id(concept_id):
            own = self.table.id_of(row)
            if own not in self._changed:
                if own == concept_id:
                    return own
                holders[row] = own
        return holders[min(holders)] if holders else None

    def find_name(self, normal: str) -> int | None:
        """normal (str): a name in normal form. RETURNS (int | None): its index, if it has a
        concept."""
        index = self._find_index(normal)
        return index if index is not None and self._holders(index) else None

    def name(self, i: int) -> str:
        """i (int): name index. RETURNS (str): its normal form."""
        first = self.table.n_names
        return self.table.name(i) if i < first else self._added[i - first]

    def concept_ids_of(self, i: int) -> list[str]:
        """i (int): name index. RETURNS (list[str]): identifiers of the concepts that it leads to:
        those whose canonical name it is, then the more frequent, then in the order of the
        vocabulary; empty for a name that was removed."""
        is_plain = i not in self.touched and not self.frequencies
        if is_plain or (self.table.shared_names == "fewer_names" and i not in self.touched):
            return [self.table.id_of(row) for row in self.table.owners_of_name(i)]
        holders = self._holders(i)
        if len(holders) < 2:
            return holders
        holders.sort(key=lambda concept_id: self._precedence(concept_id, i))
        if self.table.shared_names == "fewer_names":
            return [min(holders, key=lambda concept_id: len(self._all_names(concept_id)))]
        return holders

    def names_of(self, concept_id: str) -> list[int]:
        """concept_id (str): its own identifier. RETURNS (list[int]): indices of the names that
        lead to it, the canonical first."""
        names = self._all_names(concept_id)
        if self.table.shared_names == "all":
            return names
        return [i for i in names if concept_id in self.concept_ids_of(i)]

    def spelling(self, i: int) -> str:
        """i (int): name index. RETURNS (str): as a source writes it: where it is canonical, if it
        is; the normal form for a name that was removed."""
        if i not in self.touched:
            return self.table.spellings[self.table.rows_of_name(i)[0]]
        normal = self.name(i)
        concepts = filter(None, map(self.concept, self.concept_ids_of(i)))
        candidates = [
            (position > 0, self._order(concept.concept_id), position, spelling)
            for concept in concepts
            for position, spelling in enumerate(concept.names)
            if normalize_name(spelling) == normal
        ]
        return min(candidates)[-1] if candidates else normal

    def spellings_of(self, i: int) -> list[str]:
        """i (int): name index. RETURNS (list[str]): every way in which its concepts write it."""
        if i not in self.touched:
            rows = self.table.rows_of_name(i)
            return list(dict.fromkeys(self.table.spellings[row] for row in rows))
        normal = self.name(i)
        names = (name for c in map(self.concept, self._holders(i)) if c for name in c.names)
        return [name for name in dict.fromkeys(names) if normalize_name(name) == normal]

    def put(self, concept: Concept) -> None:
        """concept (Concept): comes to the end, or replaces the one with its identifier."""
        concept = tidy(concept)
        concept_id = concept.concept_id
        self._withdraw(concept_id)
        self._changed[concept_id] = concept
        if concept_id not in self._position:
            self._position[concept_id] = self._n_positions
            self._n_positions += 1
        self.n_concepts += 1
        self._types.update(concept.types)
        for i in self._index_names(concept):
            self._links.setdefault(i, {})[concept_id] = None
        for alternate in concept.alternate_ids:
            self._alternates.setdefault(alternate, {})[concept_id] = None

    def remove(self, concept_id: str) -> None:
        """concept_id (str): own identifier of the concept to remove."""
        self._withdraw(concept_id)
        if self._position[concept_id] < self.table.n_concepts:
            self._changed[concept_id] = None
        else:
            del self._changed[concept_id], self._position[concept_id]

    def _withdraw(self, concept_id: str) -> None:
        """Take a concept's names and identifiers out, whichever version of it is valid."""
        self.version += 1
        old = self.concept(concept_id)
        row = self.table.find_own_id(concept_id)
        if row is not None:
            self._position[concept_id] = row
        if old is None:
            return
        self.n_concepts -= 1
        for i in self._index_names(old):
            self._links.get(i, {}).pop(concept_id, None)
        for alternate in old.alternate_ids:
            self._alternates.get(alternate, {}).pop(concept_id, None)

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
        index = self.table.find_name(normal)
        return self._added_index.get(normal) if index is None else index

    def _holders(self, i: int) -> list[str]:
        """All concepts that have a name, whoever owns it."""
        added = self._links.get(i, ())
        if i >= self.table.n_names:
            return list(added)
        stored = (self.table.id_of(row) for row in self.table.concepts_of_name(i))
        return [*(c for c in stored if c not in self._changed), *added]

    def _precedence(self, concept_id: str, i: int) -> tuple[bool, int, int]:
        """How good a claim a concept has to a name that it shares; the least is the best."""
        row = self.table.find_own_id(concept_id)
        if concept_id in self._changed or row is None:
            concept = self.concept(concept_id)
            assert concept is not None
            is_canonical = normalize_name(concept.canonical_name) == self.name(i)
        else:
            is_canonical = self.table.is_canonical(row, i)
        return not is_canonical, -self.frequencies.get(concept_id, 0), self._order(concept_id)

    def _all_names(self, concept_id: str) -> list[int]:
        """All names of a concept, the canonical first, whoever owns them."""
        if (changed := self._changed.get(concept_id)) is not None:
            return list(dict.fromkeys(self._index_names(changed)))
        row = None if concept_id in self._changed else self.table.find_own_id(concept_id)
        return [] if row is None else self.table.names_of_concept(row)

    def _order(self, concept_id: str) -> int:
        """Where a concept stands in `ids`."""
        if concept_id in self._position:
            return self._position[concept_id]
        row = self.table.find_own_id(concept_id)
        return self.table.n_concepts if row is None else row


def _n_spellings(concept: Concept) -> int:
    return sum(bool(normalize_name(name)) for name in dict.fromkeys(concept.names))
