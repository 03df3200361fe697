"""The names of a vocabulary that are most similar to a text, added ones included."""

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..changes.live import LiveVocabulary
from ..storage.compiled import COMPILING, open_or_compile
from ..storage.strings import StringsBuilder
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


class SimilarNames:
    """Finds names by string similarity; follows what is added and removed while running.

    The stored names have an index that is built once and kept in the folder; the few names that
    were added since have a small one in memory.

    vocabulary (LiveVocabulary): names and concepts.
    fingerprint (str): of the stored names.
    folder (Path | None): where the index is kept, by fingerprint; None keeps it in memory.
    """

    def __init__(self, vocabulary: LiveVocabulary, fingerprint: str, folder: Path | None) -> None:
        self.folder = folder
        both = f"{KIND} {VERSION} {fingerprint}"
        self._fingerprint = blake2b(both.encode(), digest_size=16).hexdigest()
        self._vocabulary = vocabulary
        self._stored: TrigramIndex | None = None
        self._shared: SimilarNames | None = None
        self._added: TrigramIndex | None = None
        self._added_names: list[int] = []
        self._version = 0
        self._word_weights: dict[str, float] = {}

    @property
    def index(self) -> TrigramIndex:
        """RETURNS (TrigramIndex): of the stored names, opened or compiled if it is not yet."""
        if self._shared is not None:
            return self._shared.index
        if self._stored is None:
            with COMPILING:
                self._stored = self._stored or self._open()
        return self._stored

    def share(self, other: "SimilarNames") -> None:
        """other (SimilarNames): of the same stored names, whose index is used."""
        self._shared = other

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
        # Other threads may empty the table meanwhile.
        weight = self._word_weights.get(word)
        if weight is None:
            weight = self.index.weight_of(word)
            if len(self._word_weights) >= _MOST_WEIGHTS:
                self._word_weights.clear()
            self._word_weights[word] = weight
        return weight

    def to_disk(self, folder: Path) -> None:
        """folder (Path): gets the index of the stored names, if it was in use."""
        if self._stored is not None:
            self._stored.to_disk(folder / self._fingerprint)

    def _open(self) -> TrigramIndex:
        return open_or_compile(
            None if self.folder is None else self.folder / self._fingerprint,
            "index of 3-grams",
            TrigramIndex.from_disk,
            lambda: TrigramIndex.build(self._vocabulary.table.names),
        )

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
