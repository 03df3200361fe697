"""Search spaces: compiled tries of the names, and masks for subsets of the vocabulary.

A search walks tries of the names as token sequences. A large trie holds the stored names; it is
compiled once per tokenizer and kept in the vocabulary's folder. A small trie holds the names added
while running. A mention that is limited to a part of the vocabulary, such as diseases, uses the
same tries with a mask of the allowed names. With prefix sums over the leaves, one subtraction
checks whether a node leads to an allowed name. With five leaves, of which 1 and 3 are allowed:

    leaf           0  1  2  3  4
    allowed        -  x  -  x  -
    prefix sums    0  0  1  1  2  2      a node over the leaves 2 to 4 has 2 - 1 = 1 allowed name
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...errors import AngelError
from ..changes.overlay import Subset, VocabularyOverlay
from ..storage.compiled import COMPILING, CompiledNames, digest_of
from ..storage.trie import TRIE, NameTrie, SearchSpace
from ..storage.trie_compiler import AddedNames, NameTokenizer, compile_names

# Least recently used masks are dropped; a mask of 6 million names takes 30 MB.
_MAX_MASKS = 16


# The prefix sums of each trie, int32[n_leaves + 1], and the allowed names, bool[n_names]; None if
# all names are allowed.
_Mask = tuple[tuple[np.ndarray, ...], np.ndarray] | tuple[None, None]


class SearchSpaces:
    """Compiles and caches the tries of a vocabulary, one for each tokenizer, and the masks of its
    subsets.

    vocabulary (VocabularyOverlay): names and concepts.
    compiled (CompiledNames): stores the tries, by digest of the names and the tokenizer.
    """

    def __init__(self, vocabulary: VocabularyOverlay, compiled: CompiledNames) -> None:
        self._vocabulary = vocabulary
        self._compiled = compiled
        self._added: dict[str, AddedNames] = {}
        self._mask = lru_cache(_MAX_MASKS)(self._make_mask)

    def space(
        self, tokenizer: NameTokenizer, subsets: Sequence[Subset | None] = (None,)
    ) -> SearchSpace:
        """tokenizer (NameTokenizer), subsets (Sequence[Subset | None]): see
        `ConceptKB.search_space`. RETURNS (SearchSpace): tries and masks."""
        names, added = self._vocabulary.table.names, self._vocabulary.added_names
        version = self._vocabulary.version
        key = digest_of(tokenizer.fingerprint, self._compiled.fingerprint)
        with COMPILING:
            stored: NameTrie = self._compiled.get(
                key,
                TRIE,
                lambda: compile_names(names, np.arange(len(names)), tokenizer).columns,
                lambda columns: NameTrie(**columns),
            )
            tries = [stored]
            if added or key in self._added:
                trie = self._added.setdefault(key, AddedNames(tokenizer)).update(added)
                tries += [trie] if trie.n_leaves else []
            masks = [self._mask(subset, version, *tries) for subset in subsets]
        return SearchSpace(
            tuple(tries), tuple([sums for sums, _ in masks]), tuple([names for _, names in masks])
        )

    def _make_mask(self, subset: Subset | None, version: int, *tries: NameTrie) -> _Mask:
        """The mask of a subset in a version of the vocabulary."""
        if subset is not None and subset.vocabulary is not self._vocabulary:
            raise AngelError("This subset belongs to another vocabulary.")
        allowed = self._allowed_names(subset)
        if subset is None and allowed[: self._vocabulary.table.n_names].all():
            return None, None
        return tuple(trie.leaf_prefix_sums(allowed) for trie in tries), allowed

    def _allowed_names(self, subset: Subset | None) -> np.ndarray:
        """RETURNS (np.ndarray): bool[n_names], computed by column for unchanged names."""
        vocabulary, table = self._vocabulary, self._vocabulary.table
        allowed = np.ones(vocabulary.n_names, dtype=bool)
        if subset is not None:
            conditions = subset.types, subset.concept_ids, subset.free_types, subset.excluded
            allowed[: table.n_names] = table.names_in(*conditions)
        touched = list(vocabulary.touched)
        for i, ids in zip(touched, vocabulary.concept_ids(touched), strict=True):
            allowed[i] = bool(ids if subset is None else subset.allowed(ids))
        return allowed
