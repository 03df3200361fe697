"""Find the names of a vocabulary that are closest in meaning to a text.

The vector of a name is the sum of the static vectors of its word pieces (`model.name_encoder`). The
index stores the word pieces only: the dot product of a name's vector and a text's vector is the sum
of the dot products of its pieces, so a product with a sparse matrix compares texts with all names.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ...model.name_encoder import shipped_name_encoder
from ..storage.arrays import Columns, Layout
from ..storage.strings import Strings
from .cached_index import CachedIndex, NameIndex

LEAST_COSINE = 0.3
"""Names are found only if their cosine exceeds this value."""
_BLOCK = 65_536


class CloseName(NamedTuple):
    """A name and how close it is to a text.

    name (int): name index.
    cosine (float): cosine of the static vectors of the name and the text.
    """

    name: int
    cosine: float


class PieceIndex(NameIndex):
    """The word pieces of each name.

    columns (Columns): the pieces of name i are `pieces[starts[i]:starts[i + 1]]` (uint16 and
        int64); `lengths` float32[n] are the norms of the names' vectors.
    """

    LAYOUT = Layout("spacy-angel word pieces", 1, ("pieces", "starts", "lengths"))

    def __init__(self, columns: Columns) -> None:
        super().__init__(columns)
        self._matrix = _piece_counts(columns["pieces"], columns["starts"])

    @classmethod
    def source(cls) -> str:
        return shipped_name_encoder().digest

    @classmethod
    def build(cls, names: Strings) -> "PieceIndex":
        encoder = shipped_name_encoder()
        blocks = [range(a, min(a + _BLOCK, len(names))) for a in range(0, len(names), _BLOCK)]
        rows = [row for block in blocks for row in encoder.pieces_of(names.texts(block))]
        starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        pieces = np.fromiter(chain.from_iterable(rows), dtype=np.uint16, count=starts[-1])
        index = cls({"pieces": pieces, "starts": starts, "lengths": np.zeros(len(names), "f4")})
        for block in blocks:
            vectors = index._matrix[block.start : block.stop] @ encoder.piece_vectors
            index.columns["lengths"][block.start : block.stop] = np.linalg.norm(vectors, axis=1)
        return index

    def cosines(self, vectors: np.ndarray) -> np.ndarray:
        """vectors (np.ndarray): float32[k, d_static], normalized vectors of texts.
        RETURNS (np.ndarray): float32[k, n], cosine of each text and name."""
        by_piece = shipped_name_encoder().piece_vectors @ vectors.T
        products = self._matrix @ by_piece
        products /= np.maximum(self.columns["lengths"], 1e-9)[:, None]
        return np.ascontiguousarray(products.T)


def _piece_counts(pieces: np.ndarray, starts: np.ndarray) -> Any:
    """RETURNS (scipy.sparse.csr_matrix): float32[n, n_pieces], number of occurrences of each piece
    in each name."""
    from scipy import sparse

    shape = len(starts) - 1, len(shipped_name_encoder().piece_vectors)
    values = np.ones(len(pieces), dtype=np.float32), pieces.astype(np.int32), starts
    return sparse.csr_matrix(values, shape=shape)


class CloseNames(CachedIndex[PieceIndex]):
    """Finds names by meaning, including changes made at run time.

    vocabulary (VocabularyOverlay), compiled (CompiledNames): see `CachedIndex`.
    """

    INDEX = PieceIndex

    def find(
        self, texts: Sequence[str], k: int, allowed: Sequence[np.ndarray | None]
    ) -> list[list[CloseName]]:
        """Find the names with the closest static vectors.

        texts (Sequence[str]): n texts in normal form.
        k (int): maximum number of names per text.
        allowed (Sequence[np.ndarray | None]): for each text, bool[n_names] of a subset; None: all.
        RETURNS (list[list[CloseName]]): closest first, ties by index.
        """
        if not texts:
            return []
        vectors = shipped_name_encoder().static_vectors(texts)
        cosines = self.index.cosines(vectors)
        n_stored = cosines.shape[1]
        added, index = self.added
        if index is not None:
            cosines = np.hstack([cosines, index.cosines(vectors)])
        found = []
        for row, mask in zip(cosines, allowed, strict=True):
            if mask is not None:
                row[:n_stored] *= mask[:n_stored]
                row[n_stored:] *= mask[added]
            close = np.flatnonzero(row > LEAST_COSINE)
            # twice as many, since some may have been removed
            if len(close) > 2 * k:
                close = close[np.argpartition(row[close], -2 * k)[-2 * k :]]
            names = [
                CloseName(i if i < n_stored else added[i - n_stored], float(row[i]))
                for i in close.tolist()
            ]
            kept = (close for close in names if self._vocabulary.is_live(close.name))
            found.append(sorted(kept, key=lambda c: (-c.cosine, c.name))[:k])
        return found
