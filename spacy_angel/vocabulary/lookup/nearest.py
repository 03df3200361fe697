"""The names of a vocabulary that are most similar to a text, added ones included."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..changes.live import LiveVocabulary
from ..storage.caching import BoundedCache
from ..storage.compiled import COMPILING
from ..storage.strings import StringsBuilder
from .kept import KeptIndex
from .string_similarity import KIND, VERSION, Similarity, TrigramIndex

# Weights of words that are kept.
_MOST_WEIGHTS = 1 << 16


class SimilarName(NamedTuple):
    """A name of the vocabulary and how similar a text is to it.

    name (int): name index.
    similarity (Similarity): see there.
    """

    name: int
    similarity: Similarity


class SimilarNames(KeptIndex[TrigramIndex]):
    """Finds names by string similarity; follows what is added and removed while running.

    The stored names have an index that is built once and kept in the folder; the few names that
    were added since have a small one in memory.

    vocabulary (LiveVocabulary), fingerprint (str), folder (Path | None): see `KeptIndex`.
    """

    WHAT = "index of 3-grams"

    def __init__(self, vocabulary: LiveVocabulary, fingerprint: str, folder: Path | None) -> None:
        super().__init__(vocabulary, fingerprint, folder)
        self._added: TrigramIndex | None = None
        self._added_names: list[int] = []
        self._version = 0
        self._word_weights: BoundedCache[str, float] = BoundedCache(_MOST_WEIGHTS)

    def find(self, text: str, k: int, allowed: np.ndarray | None = None) -> list[SimilarName]:
        """The nearest names: those with the greatest sum of both similarities.

        text (str): in normal form.
        k (int): most names.
        allowed (np.ndarray | None): bool[n_names] of a subset; None: all.
        RETURNS (list[SimilarName]): nearest first, equal ones by index. The search is thorough but
            not complete: a name that shares only frequent 3-grams with the text can be missed.
        """
        first = self._vocabulary.table.n_names
        stored = None if allowed is None else allowed[:first]
        names = self.index.shortlist(text, stored)
        if added := self._index_of_added():
            names += [self._added_names[i] for i in added.shortlist(text)]
        touched = self._vocabulary.touched
        names = [
            i
            for i in names
            if (
                # A mask knows which names are gone.
                allowed[i]
                if allowed is not None
                else i not in touched or self._vocabulary.concept_ids_of(i)
            )
        ]
        similar = map(SimilarName, names, self.compare(text, names))
        return sorted(similar, key=lambda n: (-n.similarity.cosine - n.similarity.edits, n.name))[
            :k
        ]

    def compare(self, text: str, names: Sequence[int]) -> list[Similarity]:
        """text (str): in normal form. names (Sequence[int]): name indices.
        RETURNS (list[Similarity]): how similar the text is to each."""
        return self.index.compare(text, [self._vocabulary.name(i) for i in names])

    def word_weight(self, word: str) -> float:
        """word (str): in normal form. RETURNS (float): see `TrigramIndex.weight_of`."""
        return self._word_weights.take(word, self.index.weight_of)

    def _version_of_index(self) -> str:
        return f"{KIND} {VERSION}"

    def _read(self, path: Path) -> TrigramIndex:
        return TrigramIndex.from_disk(path)

    def _build(self) -> TrigramIndex:
        return TrigramIndex.build(self._vocabulary.table.names)

    def _index_of_added(self) -> TrigramIndex | None:
        """The index of the names that the table has not, made anew when some have come or gone."""
        if self._version != self._vocabulary.version:
            with COMPILING:
                version = self._vocabulary.version
                if self._version != version:
                    added = self._vocabulary.added_names
                    self._added_names = list(added)
                    builder = StringsBuilder(added.values())
                    self._added = TrigramIndex.build(builder.finish()) if added else None
                    self._version = version
        return self._added
