"""Character 3-gram tf-idf as in the ANGEL paper, which uses it to choose positives (section 3.1)
and negatives of pre-training (section 3.3), and for the bins of figures 3, 4, B, and C.

Training and evaluation use it; it is exact and works with any list of names. The search for similar
names at run time is `string_similarity`, an approximate index that is stored with the vocabulary.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer


class TrigramTfidf:
    """Cosine similarity of character 3-gram tf-idf vectors (3-grams within words, padded with
    spaces).

    names (Iterable[str]): names, on which the inverse document frequencies are computed, and among
        which `nearest` searches; at least one of them contains a letter.
    RAISES (ValueError): no name has a 3-gram.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), dtype=np.float32)
        self._names = self._vectorizer.fit_transform(names).T.tocsr()

    def pairwise(self, a: Sequence[str], b: Sequence[str]) -> np.ndarray:
        """Compute the similarity of each text in `a` to the corresponding text in `b`.

        a (Sequence[str]), b (Sequence[str]): texts; both sequences have the same length.
        RETURNS (np.ndarray): float32[len(a)], 0 to 1; 0 if a text has no known 3-gram.
        """
        if not a:
            return np.zeros(0, dtype=np.float32)
        product = self._vectorizer.transform(a).multiply(self._vectorizer.transform(b))
        return np.clip(np.asarray(product.sum(axis=1)).ravel(), 0, 1)

    def nearest(
        self, queries: Sequence[str], k: int = 10, chunk: int = 32
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the fitted names most similar to each query, exactly and in bounded memory.

        queries (Sequence[str]): n texts.
        k (int): number of names per query.
        chunk (int): queries per matrix product; affects memory use, not the result.
        RETURNS (tuple[np.ndarray, np.ndarray]): indices int64[n, k] of the fitted names and
            similarities float32[n, k], best first, ties by index; -1 and 0 if fewer than k names
            share a 3-gram with the query.
        """
        indices = np.full((len(queries), k), -1, dtype=np.int64)
        similarities = np.zeros((len(queries), k), dtype=np.float32)
        for start in range(0, len(queries), chunk):
            product = self._vectorizer.transform(queries[start : start + chunk]) @ self._names
            for row in range(product.shape[0]):
                entries = slice(product.indptr[row], product.indptr[row + 1])
                names, values = product.indices[entries], product.data[entries]
                if len(values) > k:
                    # sorting all of them would be slow
                    kept = values >= np.partition(values, len(values) - k)[len(values) - k]
                    names, values = names[kept], values[kept]
                best = np.lexsort((names, -values))[:k]
                indices[start + row, : len(best)] = names[best]
                similarities[start + row, : len(best)] = np.clip(values[best], 0, 1)
        return indices, similarities
