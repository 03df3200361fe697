"""Character 3-gram tf-idf, the similarity by which the method chooses and explains names.

The paper takes it for the positives nearest to a mention (section 3.1), for the negatives of
pre-training (section 3.3), and for its bins (figures 3, 4, B, C).
"""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from ...errors import AngelError

# Columns of one product: with some 20 million entries in the worst chunk it stays under 200 MB,
# however large the vocabulary is.
_BLOCK = 65_536


class TrigramTfidf:
    """Cosine of character 3-gram tf-idf vectors (3-grams within words, spaces at their edges).

    The inverse document frequencies are those of the names it was fitted on.
    """

    def __init__(self) -> None:
        self._vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), dtype=np.float32)
        self._blocks: list[sparse.csr_matrix] = []

    def fit(self, names: Iterable[str]) -> "TrigramTfidf":
        """Learn the weights, and keep the names for `nearest`.

        names (Iterable[str]): at least one with a letter in it.
        RETURNS (TrigramTfidf): itself.
        RAISES (ValueError): no name has a 3-gram.
        """
        vectors = self._vectorizer.fit_transform(names)
        self._blocks = [
            vectors[start : start + _BLOCK].T.tocsr()
            for start in range(0, vectors.shape[0], _BLOCK)
        ]
        return self

    def pairwise(self, a: Sequence[str], b: Sequence[str]) -> np.ndarray:
        """Similarity of each text with its partner.

        a (Sequence[str]), b (Sequence[str]): texts, as many in `b` as in `a`.
        RETURNS (np.ndarray): float32[len(a)], 0 to 1; 0 where a text has no known 3-gram.
        RAISES (AngelError): `a` and `b` differ in length.
        """
        check_is_fitted(self._vectorizer)
        if len(a) != len(b):
            raise AngelError(f"Expected as many texts in `b` as in `a`; got {len(a)} and {len(b)}.")
        if not a:
            return np.zeros(0, dtype=np.float32)
        product = self._vectorizer.transform(a).multiply(self._vectorizer.transform(b))
        return np.clip(np.asarray(product.sum(axis=1)).ravel(), 0, 1)

    def nearest(
        self, queries: Sequence[str], k: int = 10, chunk: int = 256
    ) -> tuple[np.ndarray, np.ndarray]:
        """The fitted names most similar to each query, exactly, in bounded memory.

        queries (Sequence[str]): texts.
        k (int): names a query.
        chunk (int): queries of one product; memory grows with it, the result does not change.
        RETURNS (tuple[np.ndarray, np.ndarray]): indices int64[n, k] into the fitted names and
            similarities float32[n, k], best first, equal ones by index; -1 and 0 where fewer than
            k names share a 3-gram with the query.
        """
        check_is_fitted(self._vectorizer)
        indices = np.full((len(queries), k), -1, dtype=np.int64)
        similarities = np.zeros((len(queries), k), dtype=np.float32)
        for start in range(0, len(queries), chunk):
            vectors = self._vectorizer.transform(queries[start : start + chunk])
            best = [(np.zeros(0, np.int64), np.zeros(0, np.float32))] * vectors.shape[0]
            for number, block in enumerate(self._blocks):
                product = vectors @ block
                for row in range(product.shape[0]):
                    entries = slice(product.indptr[row], product.indptr[row + 1])
                    name_indices = product.indices[entries].astype(np.int64) + number * _BLOCK
                    best[row] = _top(
                        np.concatenate((best[row][0], name_indices)),
                        np.concatenate((best[row][1], product.data[entries])),
                        k,
                    )
            for row, (name_indices, values) in enumerate(best):
                indices[start + row, : len(name_indices)] = name_indices
                similarities[start + row, : len(name_indices)] = np.clip(values, 0, 1)
        return indices, similarities


def _top(indices: np.ndarray, values: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest values, equal ones by index; cut first, for sorting all would be slow."""
    if len(values) > k:
        kept = values >= np.partition(values, len(values) - k)[len(values) - k]
        indices, values = indices[kept], values[kept]
    order = np.lexsort((indices, -values))[:k]
    return indices[order], values[order]
