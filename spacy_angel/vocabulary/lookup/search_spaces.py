"""What a vocabulary gives to a search: compiled tries, and subsets of their names as masks.

A search walks a trie, whose leaves are the names as token sequences of one tokenizer. There are two
of them: a large one of the stored names, compiled once and kept in the vocabulary's folder, and a
small one of the names that were added while running. A mention may be limited to a part of the
vocabulary, such as diseases. No trie is compiled for that: the mask of the subset says which names
are allowed, and prefix sums over the leaves say in one subtraction whether a node has an allowed
name below it. With five leaves of which 1 and 3 are allowed, the prefix sums are 0, 0, 1, 1, 2, 2:
a node over the leaves 2 to 4 has 2 - 1 = 1 of them.

Where a model writes disambiguating suffixes, the leaves are entries (`suffixes.Entries`) instead of
names.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import AngelError
from ..changes.overlay import Subset, VocabularyOverlay
from ..species.suffixes import Entries, StoredEntries, Suffixes
from ..storage.compiled import COMPILING, digest_of
from ..storage.table import ConceptTable
from ..storage.trie import NameTrie, SearchSpace
from ..storage.trie_compiler import AddedNames, NameTokenizer, compile_names
from .cached_index import CompiledNames

# Of those that were used last; one of 6 million names takes 30 MB.
_MAX_MASKS = 16


class _Mask(NamedTuple):
    """A subset as a search uses it; all None where every name is allowed.

    prefix_sums (tuple[np.ndarray, ...] | None): of each trie, int32[n_leaves + 1]: how many of the
        leaves before each one are allowed.
    allowed (np.ndarray | None): bool[n_names], the names that are allowed.
    entries (np.ndarray | None): bool[n_entries], the same where the tries hold entries.
    """

    prefix_sums: tuple[np.ndarray, ...] | None = None
    allowed: np.ndarray | None = None
    entries: np.ndarray | None = None


class SearchSpaces:
    """Compiles the tries of a vocabulary, one for each tokenizer, and keeps tries and masks.

    vocabulary (VocabularyOverlay): names and concepts.
    compiled (CompiledNames): gets the tries, each under a digest of the names and the tokenizer.
    suffixes (Suffixes | None): of the names, where the vocabulary has some.
    """

    def __init__(
        self, vocabulary: VocabularyOverlay, compiled: CompiledNames, suffixes: Suffixes | None
    ) -> None:
        self._suffixes = suffixes
        self._entries: Entries | None = None
        self._vocabulary = vocabulary
        self._compiled = compiled
        self._added: dict[str, AddedNames] = {}
        self._masks: OrderedDict[tuple[str, Subset | None, int], _Mask] = OrderedDict()

    def space(
        self, tokenizer: NameTokenizer, subsets: Sequence[Subset | None] = (None,)
    ) -> SearchSpace:
        """tokenizer (NameTokenizer), subsets (Sequence[Subset | None]): see
        `ConceptKB.search_space`. RETURNS (SearchSpace): tries and masks."""
        with COMPILING:
            entries = self._opened_entries() if tokenizer.writes_suffixes else None
            key, stored = self._stored_names(tokenizer, entries)
            added = self._added.setdefault(key, AddedNames())
            names = self._vocabulary.added_names if entries is None else entries.added()
            tries = [stored, added.update(names, tokenizer)]
            if not tries[1].n_leaves:
                del tries[1]
            masks = [self._mask(key, subset, tries, entries) for subset in subsets]
            while len(self._masks) > max(_MAX_MASKS, len(subsets)):
                self._masks.popitem(last=False)
        return SearchSpace(
            tuple(tries),
            tuple(m.prefix_sums for m in masks),
            tuple(m.allowed for m in masks),
            entries,
            tuple(m.entries for m in masks) if entries is not None else (),
        )

    def _opened_entries(self) -> Entries | None:
        """Names with their suffixes, listed at the first use."""
        if self._entries is None and self._suffixes is not None:
            stored = self._compiled.entries
            if stored is None:
                stored = StoredEntries.build(self._vocabulary.table, self._suffixes)
                self._compiled.entries = stored
            self._entries = Entries(stored, self._vocabulary, self._suffixes)
        return self._entries

    def _stored_names(
        self, tokenizer: NameTokenizer, entries: Entries | None
    ) -> tuple[str, NameTrie]:
        """The trie of the stored names and its key: from the folder, else compiled and put
        there."""
        names = self._vocabulary.table.names
        parts = [tokenizer.fingerprint, self._compiled.fingerprint]
        key = digest_of(*parts, *([] if entries is None else ["suffixes"]))

        def compile_trie() -> NameTrie:
            if entries is None:
                return compile_names(names, len(names), tokenizer, key)
            written = entries.stored.with_suffixes(names)
            return compile_names(written, len(entries.stored), tokenizer, key)

        trie: NameTrie = self._compiled.get(
            key, "name trie", lambda path: NameTrie.from_disk(path, key), compile_trie
        )
        return key, trie

    def _mask(
        self,
        trie_key: str,
        subset: Subset | None,
        tries: Sequence[NameTrie],
        entries: Entries | None,
    ) -> _Mask:
        """Leaf prefix sums of a subset, kept until the vocabulary changes.

        Numbers are those of names or, where the tries hold them, of entries; stored ones come
        first, then those that were added while running:

            number    0 .. n_stored - 1 | n_stored ..
            trie      tries[0]          | tries[1], if any
            allowed   bool[n_names]: by `_allowed_names`
            numbers   bool[n_names] = allowed, or bool[n_entries]: by `_allowed_entries`
        """
        if subset is not None and subset.vocabulary is not self._vocabulary:
            raise AngelError("This subset belongs to another vocabulary.")
        key = (trie_key, subset, self._vocabulary.version)
        if key not in self._masks:
            allowed = numbers = self._allowed_names(subset)
            n_stored = self._vocabulary.table.n_names
            if entries is not None:
                numbers, n_stored = self._allowed_entries(subset, entries), len(entries.stored)
            if subset is None and numbers[:n_stored].all():
                self._masks[key] = _Mask()
            else:
                sums = tuple(trie.leaf_prefix_sums(numbers) for trie in tries)
                self._masks[key] = _Mask(sums, allowed, None if entries is None else numbers)
        self._masks.move_to_end(key)
        return self._masks[key]

    def _allowed_names(self, subset: Subset | None) -> np.ndarray:
        """bool[n_names]: by whole columns for what is stored, one by one for what has changed."""
        vocabulary = self._vocabulary
        allowed = np.ones(vocabulary.n_names, dtype=bool)
        if subset is not None:
            concepts = _stored_concepts(subset, vocabulary.table)
            allowed[: vocabulary.table.n_names] = vocabulary.table.names_in(concepts)
        for i in vocabulary.touched:
            ids = vocabulary.concept_ids_of(i)
            allowed[i] = bool(ids) if subset is None else any(map(subset.allows, ids))
        return allowed

    def _allowed_entries(self, subset: Subset | None, entries: Entries) -> np.ndarray:
        """bool[n_entries], likewise."""
        table = self._vocabulary.table
        if subset is None:
            return entries.allowed(np.ones(table.n_concepts, dtype=bool), lambda _: True)
        return entries.allowed(_stored_concepts(subset, table), subset.allows)


def _stored_concepts(subset: Subset, table: ConceptTable) -> np.ndarray:
    allowed = table.concepts_in(subset.types, subset.concept_ids, subset.free_types)
    rows = map(table.find_own_id, subset.excluded)
    allowed[[row for row in rows if row is not None]] = False
    return allowed
