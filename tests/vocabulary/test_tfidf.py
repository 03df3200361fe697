import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_angel.vocabulary.lookup.tfidf import TrigramTfidf


def test_pairwise_written_out():
    # "ab" has the 3-grams " ab", "ab "; "ac" has " ac", "ac ": each in one of three names,
    # "abc" has " ab", "abc", "bc "; only " ab" is shared (in two of three names).
    tfidf = TrigramTfidf().fit(["ab", "ac", "abc"])
    shared, single = np.log(4 / 3) + 1, np.log(4 / 2) + 1
    expected = shared**2 / (np.hypot(shared, single) * np.sqrt(shared**2 + 2 * single**2))
    values = tfidf.pairwise(["ab", "ab", "ab"], ["ab", "ac", "abc"])
    np.testing.assert_allclose(values, [1, 0, expected], atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(alphabet="abc ", min_size=1, max_size=8), min_size=1, max_size=30),
    st.lists(st.text(alphabet="abcd ", max_size=8), min_size=1, max_size=5),
    st.integers(1, 6),
    st.integers(1, 4),
)
def test_nearest_equals_brute_force_in_any_chunk(names, queries, k, chunk):
    names = ["cab", *names]
    tfidf = TrigramTfidf().fit(names)
    indices, values = tfidf.nearest(queries, k=k, chunk=chunk)
    for query, found, similar in zip(queries, indices, values, strict=True):
        dense = tfidf.pairwise([query] * len(names), names)
        expected = sorted(np.flatnonzero(dense), key=lambda i: (-round(float(dense[i]), 5), i))
        assert len([i for i in found if i >= 0]) == min(k, len(expected))
        np.testing.assert_allclose(
            similar[: len(expected)], [dense[i] for i in expected[:k]], atol=2e-5
        )
        np.testing.assert_allclose(similar[found >= 0], dense[found[found >= 0]], atol=2e-5)
