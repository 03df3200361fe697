"""Windows over the words of a text, with numbers written out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.recognition.windows import cut_windows, owned_words


def test_windows_share_what_the_overlap_says():
    # Five words of one piece each.
    offsets = np.array([0, 1, 2, 3, 4, 5])
    assert cut_windows(offsets, most=3, overlap=1) == [(0, 3), (2, 5)]
    assert cut_windows(offsets, most=3, overlap=0) == [(0, 3), (3, 5)]
    assert cut_windows(offsets, most=9, overlap=1) == [(0, 5)]
    assert cut_windows(offsets, most=3, overlap=1, first=1) == [(0, 1), (1, 4), (3, 5)]


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
