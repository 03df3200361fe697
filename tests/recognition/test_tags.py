"""The best path of tags against all paths; every word in one window."""

from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.recognition.tags import INSIDE, OUTSIDE, best_tags
from spacy_angel.recognition.windows import cut_windows, owned_words


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


@given(
    st.lists(st.integers(1, 6), max_size=60),
    st.integers(4, 20),
    st.integers(0, 3),
    st.none() | st.integers(1, 20),
)
def test_every_word_has_one_window_that_answers_for_it(sizes, most, overlap, first):
    offsets = np.cumsum([0, *sizes])
    windows = cut_windows(offsets, most, overlap, first)
    owned = owned_words(windows)
    assert [word for begin, end in owned for word in range(begin, end)] == list(range(len(sizes)))
    for (begin, end), (start, stop) in zip(owned, windows, strict=True):
        assert start <= begin <= end <= stop
        assert stop - start == 1 or offsets[stop] - offsets[start] <= max(most, first or 0)
