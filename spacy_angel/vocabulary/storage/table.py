"""The stored vocabulary: concepts and names as flat, immutable columns.

Rows refer to each other as follows:

    concept i    its identifier ids[i]; spellings concept_spellings[i] .. [i + 1] - 1, the canonical
                 name first; alternate identifiers ids[n + alternates[i]] ..
    spelling r   spellings[r] as the source writes it; its name spelling_name[r], -1 where the
                 search cannot write it: the normal form is empty, or leads to another concept
    name j       names[j] in normal form, each once; its spellings are
                 name_rows[name_spellings[j]] .. name_rows[name_spellings[j + 1] - 1]

Some columns are optional. Hierarchy: the rows of the concepts directly above concept i are
parents[parent_offsets[i]] .. parents[parent_offsets[i + 1] - 1]. Scopes: `spelling_scope[r]` is
1 + the index of the scope of spelling r in `concepts.SCOPES`, 0 if its source gives none.
Definitions: definition[i] is that of concept i, empty if it has none. Parts: those of concept i are
part[concept_parts[i]] .. part[concept_parts[i + 1] - 1].
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from itertools import chain, islice
from typing import Literal

import numpy as np

from ...errors import AngelError
from ...files.json_values import checked
from ..names.concepts import SCOPES, Concept, nearest_scopes
from .arrays import Columns, Layout, digest
from .strings import Strings

SharedNames = Literal["all", "fewer_names"]

STRINGS = ("id", "name", "spelling", "type")
INDEXES = ("id", "name")
VOCABULARY = Layout(
    "spacy-angel vocabulary",
    1,
    columns=(
        *(f"{name}_{part}" for name in STRINGS for part in ("data", "offsets")),
        *(f"{name}_hash_row" for name in INDEXES),
        *("alternates", "concept_spellings", "spelling_name", "name_spellings", "name_rows"),
        *("concept_type_offsets", "concept_types"),
    ),
)
"""The required columns; those of the hierarchy, scopes, parts and definitions are there if any
concept has them."""
_FIELDS = tuple(field.name for field in fields(Concept))
# Cached, since a document refers to the same few concepts repeatedly.
_ROWS_KEPT, _CONCEPTS_KEPT = 65_536, 4_096


class ConceptTable:
    """Concepts and names in columns, in memory or mapped.

    columns (Columns): the arrays of `VOCABULARY`.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.ids, self.names, self.spellings, self.types = map(self._strings, STRINGS)
        self._scopes = columns.get("spelling_scope")
        self._parts = self._strings("part") if "part_data" in columns else None
        self._definitions = self._strings("definition") if "definition_data" in columns else None
        self.n_concepts = len(columns["concept_spellings"]) - 1
        self.n_names = len(self.names)
        # own identifier → row, of concepts looked up before
        self._row_of: dict[str, int | None] = {}
        self._type_names = list(self.types)
        self.concept = lru_cache(_CONCEPTS_KEPT)(self._concept)
        """Row → concept."""

    def __reduce__(self) -> tuple[type["ConceptTable"], tuple[Columns]]:
        # without caches
        return ConceptTable, (self.columns,)

    def _strings(self, name: str) -> Strings:
        return Strings(self.columns[f"{name}_data"], self.columns[f"{name}_offsets"])

    def fingerprint(self) -> str:
        """RETURNS (str): digest of the names in their order, on which compiled tries and indexes
        depend."""
        return digest(self.names.data, self.names.offsets)

    def find_own_ids(self, concept_ids: Sequence[str]) -> list[int | None]:
        """concept_ids (Sequence[str]): n own identifiers.
        RETURNS (list[int | None]): the row of each concept; None if there is no such concept."""
        known = self._row_of
        if unknown := list(set(concept_ids).difference(known)):
            if len(known) > _ROWS_KEPT:
                self._row_of = known = {}
            found = self.ids.find(unknown, self.columns["id_hash_row"])
            for concept_id, rows in zip(unknown, found, strict=True):
                known[concept_id] = rows[0] if rows and rows[0] < self.n_concepts else None
        return list(map(known.__getitem__, concept_ids))

    def find_own_id(self, concept_id: str) -> int | None:
        """concept_id (str): an own identifier.
        RETURNS (int | None): the row of the concept, see `find_own_ids`."""
        return self.find_own_ids([concept_id])[0]

    def find_id(self, concept_id: str) -> list[int]:
        """concept_id (str): any identifier.
        RETURNS (list[int]): row of the concept with this own identifier, then rows of concepts with
        this alternate identifier."""
        (found,) = self.ids.find([concept_id], self.columns["id_hash_row"])
        own = [row for row in found if row < self.n_concepts]
        alternates = np.array(found[len(own) :], dtype=np.int64) - self.n_concepts
        return own + _group_of(alternates, self.columns["alternates"]).tolist()

    def find_names(self, normals: Sequence[str]) -> list[int | None]:
        """normals (Sequence[str]): n names in normal form.
        RETURNS (list[int | None]): the index of each name; None if it is not in the table."""
        found = self.names.find(normals, self.columns["name_hash_row"])
        return [rows[0] if rows else None for rows in found]

    def concept_ids(self, names: Sequence[int], frequencies: Mapping[str, int]) -> list[list[str]]:
        """Look up the concepts of names.

        names (Sequence[int]): n name indices.
        frequencies (Mapping[str, int]): frequencies by identifier. Concepts with this canonical
            name come first; otherwise, the concepts of a shared name are sorted by frequency.
        RETURNS (list[list[str]]): identifiers of the concepts of each name.
        """
        groups = self._groups("name_spellings", "name_rows", names)
        rows = np.fromiter(chain.from_iterable(groups), dtype=np.intp)
        starts = self.columns["concept_spellings"]
        concepts = _group_of(rows, starts)
        ids = self.ids.texts(concepts)
        self._row_of.update(zip(ids, concepts.tolist(), strict=True))
        pairs = zip(ids, (rows != starts[concepts]).tolist(), strict=True)
        result: list[list[str]] = []
        for group in groups:
            # the first (best) row of each concept
            is_alias: dict[str, bool] = {}
            for concept_id, alias in islice(pairs, len(group)):
                is_alias.setdefault(concept_id, alias)
            own = list(is_alias)
            if frequencies and not frequencies.keys().isdisjoint(own):
                own.sort(key=lambda c: (is_alias[c], -frequencies.get(c, 0)))
            result.append(own)
        return result

    def concept_types(self, rows: Sequence[int]) -> list[tuple[str, ...]]:
        """rows (Sequence[int]): n concept rows. RETURNS (list[tuple[str, ...]]): their types."""
        types = self._groups("concept_type_offsets", "concept_types", rows)
        return [tuple(map(self._type_names.__getitem__, of_concept)) for of_concept in types]

    def canonical_names(self, rows: Sequence[int]) -> list[str]:
        """rows (Sequence[int]): n concept rows.
        RETURNS (list[str]): their canonical names, as spelled in the source."""
        starts = self.columns["concept_spellings"]
        return self.spellings.texts(starts[np.asarray(rows, dtype=np.intp)])

    def concept_names(self, rows: Sequence[int]) -> list[list[int]]:
        """rows (Sequence[int]): n concept rows. RETURNS (list[list[int]]): distinct indices of the
        names that lead to each concept, the canonical name first."""
        result = []
        for names in self._groups("concept_spellings", "spelling_name", rows):
            own = dict.fromkeys(names)
            # spellings that the search cannot write
            own.pop(-1, None)
            result.append(list(own))
        return result

    def _concept(self, i: int) -> Concept:
        rows = range(*self._range("concept_spellings", i))
        canonical, *aliases = names = self.spellings.texts(rows)
        alternates = self.ids.texts(self.n_concepts + np.arange(*self._range("alternates", i)))
        definition, scopes, parents, parts = None, [], [], []
        if self._definitions is not None:
            definition = self._definitions[i] or None
        if self._scopes is not None:
            pairs = zip(names, self._scopes[rows.start : rows.stop].tolist(), strict=True)
            scopes = [(name, SCOPES[code - 1]) for name, code in pairs if code]
        if self.has_hierarchy:
            first, last = self._range("parent_offsets", i)
            parents = self.ids.texts(self.columns["parents"][first:last])
        if self._parts is not None:
            parts = self._parts.texts(range(*self._range("concept_parts", i)))
        return Concept(
            self.ids[i],
            canonical,
            tuple(aliases),
            self.concept_types([i])[0],
            definition,
            tuple(alternates),
            tuple(parents),
            tuple(scopes),
            tuple(parts),
        )

    def spellings_of_name(self, j: int) -> list[str]:
        """j (int): name index.
        RETURNS (list[str]): its distinct spellings, those of concepts with this canonical name
        first."""
        first, last = self._range("name_spellings", j)
        return list(dict.fromkeys(self.spellings.texts(self.columns["name_rows"][first:last])))

    def first_spellings(self, names: Sequence[int]) -> list[str]:
        """names (Sequence[int]): n name indices.
        RETURNS (list[str]): the first of `spellings_of_name` for each name."""
        first = self.columns["name_spellings"][np.asarray(names, dtype=np.intp)]
        return self.spellings.texts(self.columns["name_rows"][first])

    def names_in(
        self,
        types: Collection[str] | None,
        concept_ids: Collection[str] | None,
        free_types: Collection[str],
        excluded: Collection[str],
    ) -> np.ndarray:
        """Find the names that lead to a concept of a subset.

        types (Collection[str] | None): include concepts with any of these types, or without types;
            None: all types.
        concept_ids (Collection[str] | None): own identifiers; None: all.
        free_types (Collection[str]): types to ignore.
        excluded (Collection[str]): own identifiers of concepts to leave out.
        RETURNS (np.ndarray): bool[n_names].
        """
        concepts = ~self._is_in(excluded)
        if types is not None:
            fits = np.ones(self.n_concepts, dtype=bool)
            fits[self.concepts_of_types(set(self.types).difference(free_types))] = False
            fits[self.concepts_of_types(types)] = True
            concepts &= fits
        if concept_ids is not None:
            concepts &= self._is_in(concept_ids)
        by_row = np.repeat(concepts, np.diff(self.columns["concept_spellings"]))
        names = self.columns["spelling_name"][by_row]
        return np.bincount(names[names >= 0], minlength=self.n_names) > 0

    def _is_in(self, concept_ids: Collection[str]) -> np.ndarray:
        is_in = np.zeros(self.n_concepts, dtype=bool)
        is_in[[row for row in self.find_own_ids(list(concept_ids)) if row is not None]] = True
        return is_in

    def concepts_of_types(self, types: Collection[str]) -> np.ndarray:
        """types (Collection[str]): semantic types.
        RETURNS (np.ndarray): rows of the concepts with at least one of these types, ascending."""
        wanted = np.array([name in types for name in self.types], dtype=bool)
        hits = np.flatnonzero(wanted[self.columns["concept_types"]])
        return np.unique(_group_of(hits, self.columns["concept_type_offsets"]))

    def types_beside(self, types: Collection[str]) -> frozenset[str]:
        """types (Collection[str]): semantic types.
        RETURNS (frozenset[str]): all types of the concepts that have none of the given types."""
        is_beside = np.ones(self.n_concepts, dtype=bool)
        is_beside[self.concepts_of_types(types)] = False
        n_types = np.diff(self.columns["concept_type_offsets"])
        kept = self.columns["concept_types"][np.repeat(is_beside, n_types)]
        return frozenset(self.types[t] for t in np.unique(kept).tolist())

    def concepts_below(self, i: int) -> np.ndarray:
        """i (int): concept row. RETURNS (np.ndarray): this row and the rows of all concepts below
        it in the hierarchy, ascending."""
        found = np.zeros(self.n_concepts, dtype=bool)
        found[i] = True
        if self.has_hierarchy:
            parents = self.columns["parents"]
            child = np.repeat(np.arange(self.n_concepts), np.diff(self.columns["parent_offsets"]))
            n = 0
            # one level at a time; hierarchies are a few dozen levels deep
            while n != (n := int(found.sum())):
                found[child[found[parents]]] = True
        return np.flatnonzero(found)

    @property
    def has_scopes(self) -> bool:
        """RETURNS (bool): whether names have scopes."""
        return self._scopes is not None

    @property
    def has_hierarchy(self) -> bool:
        """RETURNS (bool): whether concepts have parents."""
        return "parents" in self.columns

    def _groups(self, offsets: str, values: str, rows: Sequence[int]) -> list[list[int]]:
        """The values of several rows, given the names of two columns."""
        starts, column = self.columns[offsets], self.columns[values]
        indices = np.asarray(rows, dtype=np.intp)
        begins, ends = starts[indices].tolist(), starts[indices + 1].tolist()
        return [column[a:b].tolist() for a, b in zip(begins, ends, strict=True)]

    def _range(self, offsets: str, i: int) -> tuple[int, int]:
        first, last = self.columns[offsets][i : i + 2].tolist()
        return first, last


def _group_of(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the group of each row, given the offsets of the groups."""
    # with another integer type, the whole mapped column would be converted
    return np.searchsorted(offsets, rows.astype(offsets.dtype), side="right") - 1


def validate_and_normalize(concept: Concept) -> Concept:
    """Validate a concept, and convert it to the form in which it is stored.

    concept (Concept): any concept.
    RETURNS (Concept): the concept without repeated values, without its own identifier among
        alternates, parents and parts, without an empty definition, and only with scopes of its own
        names.
    RAISES (AngelError): it has no identifier, a field has the wrong type, e.g. a string instead of
        several aliases, or a scope is not in `SCOPES`.
    """
    try:
        valid = checked({name: getattr(concept, name) for name in _FIELDS}, Concept)
    except ValueError as error:
        problem = f"The concept {concept.concept_id!r} is not valid: {error}."
        raise AngelError(problem) from error
    own = valid.concept_id
    if not own:
        raise AngelError(
            f"The concept {valid.canonical_name!r} needs an identifier, e.g. `MESH:D003920`."
        )
    canonical, *aliases = names = dict.fromkeys(valid.names)
    scopes = dict(nearest_scopes(valid.scopes))
    return Concept(
        concept_id=own,
        canonical_name=canonical,
        aliases=tuple(aliases),
        types=tuple(dict.fromkeys(valid.types)),
        definition=valid.definition or None,
        alternate_ids=tuple(dict.fromkeys(a for a in valid.alternate_ids if a != own)),
        parents=tuple(dict.fromkeys(p for p in valid.parents if p and p != own)),
        scopes=tuple((name, scopes[name]) for name in names if name in scopes),
        parts=tuple(dict.fromkeys(part for part in valid.parts if part and part != own)),
    )
