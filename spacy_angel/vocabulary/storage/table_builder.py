"""Builds a `ConceptTable` from a stream of concepts."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from tqdm import tqdm

from ..names.concepts import SCOPES, Concept, normalize_name
from .arrays import Columns
from .strings import Strings, StringsBuilder, offsets_of, to_numpy
from .table import INDEXES, ConceptTable, SharedNames, validate_and_normalize


class TableBuilder:
    """Collects concepts one by one in columns, so that millions of them are never in memory as
    objects.

    A concept with the identifier of an earlier one is joined to it: names, types, alternate
    identifiers, parents and parts are added. The first canonical name and definition are kept, as
    is the first scope of each name.
    """

    def __init__(self) -> None:
        self._index: dict[str, int] = {}
        self._name_index: dict[str, int] = {}
        self._type_index: dict[str, int] = {}
        self._spellings = _Group()
        self._spelling_name = array("i")
        self._spelling_scope = array("B")
        self._alternates = _Group()
        self._definitions = _Group()
        self._type_rows, self._type_concept = array("i"), array("i")
        self._parents = _Group()
        self._parts = _Group()
        self._joined: set[int] = set()
        self.begin_vocabulary()

    def add(self, concept: Concept) -> None:
        """Add a concept.

        concept (Concept): a new concept, or additional data of an earlier one, see
            `begin_vocabulary`.
        RAISES (AngelError): see `validate_and_normalize`.
        """
        concept = validate_and_normalize(concept)
        if (i := self._find(concept)) is None:
            i = self._index[concept.concept_id] = len(self._index)
        else:
            self._joined.add(i)
        scopes = dict(concept.scopes)
        for spelling in concept.names:
            normal = normalize_name(spelling)
            name = self._name_index.setdefault(normal, len(self._name_index)) if normal else -1
            self._spellings.append(i, spelling)
            self._spelling_name.append(name)
            scope = scopes.get(spelling)
            self._spelling_scope.append(1 + SCOPES.index(scope) if scope else 0)
        for alternate in (concept.concept_id, *concept.alternate_ids):
            if self._index.get(alternate) != i:
                self._alternates.append(i, alternate)
        for type_ in concept.types:
            self._type_rows.append(self._type_index.setdefault(type_, len(self._type_index)))
            self._type_concept.append(i)
        for parent in concept.parents:
            self._parents.append(i, parent)
        for part in concept.parts:
            self._parts.append(i, part)
        if concept.definition:
            self._definitions.append(i, concept.definition)

    def begin_vocabulary(self) -> None:
        """Begin another vocabulary: the concepts added from now on belong to it.

        Vocabularies may use different identifiers for a concept: `OMIM:219700` in one may be
        `MESH:D003550` in another, with `OMIM:219700` as an alternate. A concept is therefore also
        joined to one of an earlier vocabulary if

        * the earlier one has its identifier as an alternate, or
        * exactly one earlier concept's identifier is among its alternates.

        Concepts of the same vocabulary are distinct, so only the first of them is joined this way.
        """
        self._n_earlier = len(self._index)
        self._earlier_alternates: dict[str, int] = {}
        self._joined_as: dict[str, int] = {}
        self._taken: set[int] = set()
        for i, alternate in self._alternates:
            self._earlier_alternates.setdefault(alternate, i)

    def finish(self, shared_names: SharedNames) -> tuple[ConceptTable, dict[str, int]]:
        """Build the table; the builder cannot be used afterwards.

        shared_names (SharedNames): see `ConceptKB.build`.
        RETURNS (tuple[ConceptTable, dict[str, int]]): the table, and counts for the metadata.
        """
        n = len(self._index)
        spellings, concept_spellings, rows = self._spellings.finish(n, self._joined)
        spelling_name = to_numpy(self._spelling_name)[rows]
        scopes = _merge_scopes(to_numpy(self._spelling_scope), self._spellings.kept)[rows]
        alternates, alternate_offsets, _ = self._alternates.finish(n, self._joined)
        parts, concept_parts, _ = self._parts.finish(n, self._joined)
        name_rows = _sort_by_name(spelling_name, concept_spellings, shared_names)
        type_offsets, types = _group_values(self._type_concept, self._type_rows, n)
        strings = {
            "id": StringsBuilder(chain(self._index, alternates)).finish(),
            "name": StringsBuilder(self._name_index).finish(),
            "spelling": spellings,
            "type": StringsBuilder(self._type_index).finish(),
        }
        columns: Columns = {
            "alternates": alternate_offsets,
            "concept_spellings": concept_spellings,
            "spelling_name": spelling_name,
            "name_spellings": _offsets(spelling_name[name_rows], len(strings["name"])),
            "name_rows": name_rows,
            "concept_type_offsets": type_offsets,
            "concept_types": types,
            **self._hierarchy(n),
        }
        if scopes.any():
            columns["spelling_scope"] = scopes
        # free memory
        self._index, self._name_index = {}, {}
        if len(parts):
            columns["concept_parts"] = concept_parts
            strings["part"] = parts
        if len(self._definitions):
            strings["definition"] = self._definitions.finish_first(n)
        for name, column in strings.items():
            columns |= {f"{name}_data": column.data, f"{name}_offsets": column.offsets}
        for name in INDEXES:
            by_hash = np.argsort(strings[name].hashes(), kind="stable")
            columns[f"{name}_hash_row"] = by_hash.astype(np.int32)
        table = ConceptTable(columns)
        return table, _count(table) | {"joined_concepts": len(self._joined)}

    def _hierarchy(self, n: int) -> Columns:
        """Columns with the rows of the parents of each concept. Parents that are not in the
        vocabulary are left out; without any, there are no columns."""
        alternates: dict[str, int] = {}
        for i, alternate in self._alternates if len(self._parents) else ():
            alternates.setdefault(alternate, i)
        children, parents = array("i"), array("i")
        for i, identifier in self._parents:
            row = self._index.get(identifier, alternates.get(identifier, i))
            if row != i:
                children.append(i)
                parents.append(row)
        if not len(parents):
            return {}
        offsets, rows = _group_values(children, parents, n)
        return {"parent_offsets": offsets, "parents": rows}

    def _find(self, concept: Concept) -> int | None:
        """Row of the earlier concept that it is joined to; None if it is new."""
        concept_id = concept.concept_id
        i = self._index.get(concept_id, self._joined_as.get(concept_id))
        if i is None:
            i = self._earlier_alternates.get(concept_id)
            if i is None:
                named = {self._index.get(a, self._n_earlier) for a in concept.alternate_ids}
                earlier = [i for i in named if i < self._n_earlier]
                i = earlier[0] if len(earlier) == 1 else None
            if i is None or i in self._taken:
                return None
            self._joined_as[concept_id] = i
        self._taken.add(i)
        return i


class _Group:
    """Strings that belong to concepts, in the order in which they are appended."""

    def __init__(self) -> None:
        self._strings = StringsBuilder()
        self._concept = array("i")
        self.kept = np.zeros(0, dtype=np.int64)
        """After `finish`: for each appended string, the row of its first occurrence."""

    def __len__(self) -> int:
        return len(self._concept)

    def append(self, concept: int, text: str) -> None:
        self._strings.append(text)
        self._concept.append(concept)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """YIELDS: concept and string, in the order in which they were appended."""
        return zip(self._concept, self._strings, strict=True)

    def finish(self, n: int, joined: set[int]) -> tuple[Strings, np.ndarray, np.ndarray]:
        """Group the strings by concept and remove repetitions.

        n: number of concepts. joined: concepts that were joined, which may repeat a string.
        RETURNS: the strings, int32[n + 1] their offsets by concept, and the row as which each was
            appended.
        """
        strings, concept = self._strings.finish(), to_numpy(self._concept)
        self.kept = np.arange(len(strings))
        first: dict[tuple[int, str], int] = {}
        may_repeat = np.flatnonzero(np.isin(concept, list(joined)))
        for row, text in zip(may_repeat.tolist(), strings.texts(may_repeat), strict=True):
            self.kept[row] = first.setdefault((concept.item(row), text), row)
        rows = np.flatnonzero(self.kept == np.arange(len(strings)))
        if joined:
            rows = rows[np.argsort(concept[rows], kind="stable")]
            strings = strings.take(rows)
        return strings, _offsets(concept[rows], n), rows

    def finish_first(self, n: int) -> Strings:
        """RETURNS: n strings, the first string of each concept; empty if it has none."""
        first: dict[int, str] = {}
        for concept, text in self:
            first.setdefault(concept, text)
        return StringsBuilder(first.get(concept, "") for concept in range(n)).finish()


def _offsets(groups: np.ndarray, n: int) -> np.ndarray:
    """Offsets of n groups in a sorted array of group numbers, int32[n + 1]."""
    return offsets_of(np.bincount(groups, minlength=n))


def _merge_scopes(scopes: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Scopes by row, 0 for none. Each remaining row gets the first scope of its occurrences."""
    known = np.flatnonzero(scopes)
    rows, first = np.unique(kept[known], return_index=True)
    merged = np.zeros_like(scopes)
    merged[rows] = scopes[known[first]]
    return merged


def _group_values(
    concepts: "array[int]", values: "array[int]", n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and distinct values by concept, in the order in which they were appended."""
    pair = (to_numpy(concepts).astype(np.int64) << 32) | to_numpy(values)
    first = np.sort(np.unique(pair, return_index=True)[1])
    rows = first[np.argsort(pair[first] >> 32, kind="stable")]
    return _offsets(pair[rows] >> 32, n), (pair[rows] & 0xFFFFFFFF).astype(np.int32)


def _sort_by_name(
    spelling_name: np.ndarray, concept_spellings: np.ndarray, shared_names: SharedNames
) -> np.ndarray:
    """Rows of the spellings by name, those of concepts with this canonical name first.

    With `fewer_names`, a shared name is taken from all concepts except the one with the fewest
    names (GenBioEL's rule, appendix E.1), of several the first one: `spelling_name` is -1 there.
    """
    n = len(concept_spellings) - 1
    concept = np.repeat(np.arange(n, dtype=np.int32), np.diff(concept_spellings))
    rows = np.flatnonzero(spelling_name >= 0).astype(np.int32)
    name = spelling_name[rows]
    is_alias = rows != concept_spellings[concept[rows]]
    order = np.lexsort((rows, is_alias, name))
    if shared_names == "fewer_names":
        pairs = np.unique((concept[rows].astype(np.int64) << 32) | name)
        n_names = np.bincount(pairs >> 32, minlength=n)[concept[rows]]
        by_size = np.lexsort((rows, is_alias, n_names, name))
        owner = concept[rows[by_size[np.unique(name[by_size], return_index=True)[1]]]]
        is_lost = owner[name] != concept[rows]
        spelling_name[rows[is_lost]] = -1
        order = order[~is_lost[order]]
    return rows[order]


def _count(table: ConceptTable) -> dict[str, int]:
    """Counts for the metadata."""
    columns, n = table.columns, table.n_concepts
    concept = np.repeat(np.arange(n), np.diff(columns["concept_spellings"]))
    is_searchable = columns["spelling_name"] >= 0
    pairs = concept[is_searchable].astype(np.int64) << 32 | columns["spelling_name"][is_searchable]
    return {
        "concepts": n,
        "names": table.n_names,
        "spellings": len(concept),
        "shared_names": int((np.bincount(np.unique(pairs) & 0xFFFFFFFF) > 1).sum()),
        "unsearchable_spellings": int((~is_searchable).sum()),
        "alternate_ids": len(table.ids) - n,
        "types": len(table.types),
        "definitions": int((np.diff(columns.get("definition_offsets", [])) > 0).sum()),
    }


def read_table(
    vocabularies: Iterable[Iterable[Concept]], shared_names: SharedNames
) -> tuple[ConceptTable, dict[str, int]]:
    """vocabularies (Iterable[Iterable[Concept]]), shared_names (SharedNames): see `ConceptKB.join`.
    RETURNS (tuple[ConceptTable, dict[str, int]]): see `TableBuilder.finish`."""
    builder = TableBuilder()
    with tqdm(desc="Reading concepts", unit=" concepts", disable=None) as progress:
        for concepts in vocabularies:
            builder.begin_vocabulary()
            for concept in concepts:
                builder.add(concept)
                progress.update()
    return builder.finish(shared_names)
