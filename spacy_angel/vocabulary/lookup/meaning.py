"""The names of a vocabulary that are closest in meaning to a text.

No name has a stored vector: its word pieces are kept, whose static vectors are summed
(`model.name_encoder`). The cosine of a text and a name is the sum over the name's pieces of how
close each of them is to the text, divided by the length of the name's vector; so that one product
of a sparse matrix compares some texts with all names.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...model.name_encoder import shipped_name_encoder
from ..storage.arrays import Columns
from ..storage.strings import Strings, StringsBuilder
from .cached_index import CachedIndex, NameIndex

LEAST_COSINE = 0.3
"""Names with no greater cosine are not found."""
_BLOCK = 65_536


class CloseName(NamedTuple):
    """name (int): name index. cosine (float): of its static vector and the text's."""

    name: int
    cosine: float


class PieceIndex(NameIndex):
    """The word pieces of each name.

    columns (Columns): those of name i are `pieces[starts[i]:starts[i + 1]]`, uint16 and int64;
        `lengths` float32[n], the length of each name's vector.
    """

    KIND = "spacy-angel word pieces"
    COLUMNS = ("pieces", "starts", "lengths")

    def __init__(self, columns: Columns, names: Strings) -> None:
        super().__init__(columns, names)
        vectors = shipped_name_encoder().piece_vectors
        self._matrix = sparse.csr_matrix(
            (
                np.ones(len(columns["pieces"]), dtype=np.float32),
                columns["pieces"].astype(np.int32),
                columns["starts"].astype(np.int32),
            ),
            shape=(len(columns["lengths"]), len(vectors)),
        )

    @classmethod
    def layout(cls) -> str:
        return f"{super().layout()} {shipped_name_encoder().digest}"

    @classmethod
    def build(cls, names: Strings) -> "PieceIndex":
        encoder = shipped_name_encoder()
        rows, lengths = [], []
        for first in range(0, len(names), _BLOCK):
            block = encoder.pieces_of(
                [names[i] for i in range(first, min(first + _BLOCK, len(names)))]
            )
            rows += block
            counts = np.array([len(pieces) for pieces in block])
            matrix = sparse.csr_matrix(
                (
                    np.ones(counts.sum(), dtype=np.float32),
                    np.array([p for pieces in block for p in pieces], dtype=np.int32),
                    np.concatenate([[0], counts.cumsum()]),
                ),
                shape=(len(block), len(encoder.piece_vectors)),
            )
            lengths.append(np.linalg.norm(matrix @ encoder.piece_vectors, axis=1))
        columns = {
            "pieces": np.array([p for pieces in rows for p in pieces], dtype=np.uint16),
            "starts": np.concatenate([[0], np.cumsum([len(r) for r in rows], dtype=np.int64)]),
            "lengths": np.concatenate([np.zeros(0), *lengths]).astype(np.float32),
        }
        return cls(columns, names)

    def cosines(self, vectors: np.ndarray) -> np.ndarray:
        """vectors (np.ndarray): float32[k, d_static], normalized, of texts.
        RETURNS (np.ndarray): float32[k, n], of each text and name."""
        by_piece = shipped_name_encoder().piece_vectors @ vectors.T
        products = self._matrix @ by_piece
        products /= np.maximum(self.columns["lengths"], 1e-9)[:, None]
        return np.ascontiguousarray(products.T)


class CloseNames(CachedIndex[PieceIndex]):
    """Finds names by meaning; follows what is added and removed while running.

    vocabulary (VocabularyOverlay), fingerprint (str), folder (Path | None): see `CachedIndex`.
    """

    INDEX = PieceIndex
    WHAT = "index of word pieces"

    def find(
        self, texts: Sequence[str], k: int, allowed: Sequence[np.ndarray | None]
    ) -> list[list[CloseName]]:
        """The names whose static vectors are closest to those of each text.

        texts (Sequence[str]): n in normal form.
        k (int): most names of each.
        allowed (Sequence[np.ndarray | None]): of each text bool[n_names] of a subset; None: all.
        RETURNS (list[list[CloseName]]): closest first, equal ones by index.
        """
        if not texts:
            return []
        vocabulary = self._vocabulary
        vectors = shipped_name_encoder().static_vectors(texts)
        cosines = self.index.cosines(vectors)
        n_stored = cosines.shape[1]
        added, index = self._of_added(_index_of)
        if index is not None:
            cosines = np.hstack([cosines, index.cosines(vectors)])
        found = []
        for row, mask in zip(cosines, allowed, strict=True):
            if mask is not None:
                row[:n_stored] *= mask[:n_stored]
                row[n_stored:] *= mask[added]
            close = np.flatnonzero(row > LEAST_COSINE)
            # Twice as many, some of which may have been removed.
            if len(close) > 2 * k:
                close = close[np.argpartition(row[close], -2 * k)[-2 * k :]]
            names = [
                CloseName(i if i < n_stored else added[i - n_stored], float(row[i]))
                for i in close.tolist()
            ]
            kept = (
                c
                for c in names
                if c.name not in vocabulary.touched or vocabulary.concept_ids_of(c.name)
            )
            found.append(sorted(kept, key=lambda c: (-c.cosine, c.name))[:k])
        return found


def _index_of(added: Mapping[int, str]) -> tuple[list[int], PieceIndex | None]:
    strings = StringsBuilder(added.values()).finish()
    return [*added], PieceIndex.build(strings) if added else None
