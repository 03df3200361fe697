"""The name trie against a plain dictionary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.storage.trie import NameTrie

END = 2

# few distinct tokens make shared beginnings and equal sequences likely; 70000 needs int32
sequences = st.lists(
    st.lists(st.sampled_from([0, 1, 3, 4, 70000]), min_size=1, max_size=6).map(lambda s: [*s, END]),
    max_size=40,
)


def make_trie(token_lists):
    flat = np.array([token for tokens in token_lists for token in tokens], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, token_lists)]).astype(np.int64)
    return NameTrie.build(flat, offsets)


@given(sequences)
def test_children_and_leaves_equal_those_of_a_dictionary(token_lists):
    trie = make_trie(token_lists)
    children: dict = {(): set()}
    for tokens in token_lists:
        for n in range(len(tokens)):
            children.setdefault(tuple(tokens[:n]), set()).add(tokens[n])
    distinct = sorted(set(map(tuple, token_lists)))
    stack = [(0, ())]
    visited = 0
    while stack:
        node, path = stack.pop()
        visited += 1
        below = [i for i, tokens in enumerate(distinct) if tokens[: len(path)] == path]
        assert list(range(trie.leaf_begin[node], trie.leaf_end[node])) == below
        nodes = range(trie.first_child[node], trie.first_child[node + 1])
        assert [trie.token[child] for child in nodes] == sorted(children.get(path, ()))
        stack += [(child, (*path, int(trie.token[child]))) for child in nodes]
    assert visited == len(trie.token)
    for leaf, tokens in enumerate(distinct):
        expected = [i for i, other in enumerate(token_lists) if tuple(other) == tokens]
        assert trie.names_of_leaf(leaf).tolist() == expected


@pytest.mark.parametrize(
    "token_lists", [[[5, 2], [5, 7]], [[5, 2], [2, 5, 2]], [[5, 2], []], [[], [5, 2]]]
)
def test_the_end_token_stands_at_the_end_only(token_lists):
    with pytest.raises(AngelError, match="must contain the end token"):
        make_trie(token_lists)
