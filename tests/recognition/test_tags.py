"""Mentions as tags and back, with tags written out; the best path against all paths."""

from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.recognition.tags import INSIDE, OUTSIDE, best_tags, spans_of, tags_of


def test_mentions_of_different_labels_may_overlap():
    # human breast cancer cells: DISEASE 1 to 3, CELL_TYPE 0 to 4
    tags = tags_of([(1, 0, 4), (0, 1, 3)], n_words=4, n_labels=2)
    assert tags.tolist() == [[0, 1], [1, 2], [2, 2], [0, 2]]
    assert spans_of(tags) == [(1, 0, 4), (0, 1, 3)]


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_the_best_path_is_the_best_of_all(seed, length):
    scores = np.random.default_rng(seed).normal(size=(length, 1, 3)).astype(np.float32)
    legal = [
        path
        for path in product(range(3), repeat=length)
        if path[0] != INSIDE and (OUTSIDE, INSIDE) not in pairwise(path)
    ]
    best = max(legal, key=lambda path: sum(scores[i, 0, tag] for i, tag in enumerate(path)))
    assert best_tags([scores])[0][:, 0].tolist() == list(best)
