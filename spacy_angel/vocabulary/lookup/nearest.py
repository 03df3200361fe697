"""The names of a vocabulary that are most similar to a text, added ones included."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..storage.strings import StringsBuilder
from .cached_index import CachedIndex
from .string_similarity import Similarity, TrigramIndex


class SimilarName(NamedTuple):
    """A name of the vocabulary and how similar a text is to it.

    name (int): name index.
    similarity (Similarity): see there.
    """

    name: int
    similarity: Similarity


class SimilarNames(CachedIndex[TrigramIndex]):
    """Finds names by string similarity; follows what is added and removed while running.

    The stored names have an index that is built once and kept in the folder; the few names that
    were added since have a small one in memory.

    vocabulary (VocabularyOverlay), fingerprint (str), folder (Path | None): see `CachedIndex`.
    """

    INDEX = TrigramIndex
    WHAT = "index of 3-grams"

    def find(self, text: str, k: int, allowed: np.ndarray | None = None) -> list[SimilarName]:
        """The nearest names: those with the greatest sum of both similarities.

        text (str): in normal form.
        k (int): maximum number of names.
        allowed (np.ndarray | None): bool[n_names] of a subset; None: all.
        RETURNS (list[SimilarName]): nearest first, equal ones by index. The search is thorough but
            not complete: a name that shares only frequent 3-grams with the text can be missed.
        """
        kb = self._vocabulary
        names = self.index.shortlist(text, None if allowed is None else allowed[: kb.table.n_names])
        added, index = self._of_added(_index_of)
        if index is not None:
            names += [added[i] for i in index.shortlist(text)]
        if allowed is not None:
            # A mask excludes names that were removed.
            names = [i for i in names if allowed[i]]
        else:
            names = [i for i in names if i not in kb.touched or kb.concept_ids_of(i)]
        similar = map(SimilarName, names, self.compare(text, names))
        ranked = sorted(similar, key=lambda n: (-n.similarity.cosine - n.similarity.edits, n.name))
        return ranked[:k]

    def compare(self, text: str, names: Sequence[int]) -> list[Similarity]:
        """text (str): in normal form. names (Sequence[int]): name indices.
        RETURNS (list[Similarity]): how similar the text is to each."""
        return self.index.compare(text, [self._vocabulary.name(i) for i in names])

    def word_weight(self, word: str) -> float:
        """word (str): in normal form. RETURNS (float): see `TrigramIndex.weight_of`."""
        return self.index.weight_of(word)


def _index_of(added: Mapping[int, str]) -> tuple[list[int], TrigramIndex | None]:
    strings = StringsBuilder(added.values()).finish()
    return [*added], TrigramIndex.build(strings) if added else None
