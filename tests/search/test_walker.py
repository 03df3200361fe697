"""Legal continuations by integer state: one trie, two tries, subsets; on names written out."""

import numpy as np
import pytest
import torch

from spacy_angel.search.walker import Walker
from spacy_angel.vocabulary.storage.trie import NameTrie, SearchSpace

END = 2


def trie(*names, first=0):
    """names (tuple[int, ...]): token ids, END last. first (int): number of the first name.
    RETURNS (NameTrie)."""
    flat = np.array([token for name in names for token in name], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, names)])
    return NameTrie.build(flat, offsets, np.arange(first, first + len(names), dtype=np.int32))


def walker(space, subset=0):
    return Walker(space, subset, END, torch.device("cpu"))


def children(walker, *states):
    """RETURNS: (row, token, state) of every continuation."""
    found = walker.children(torch.tensor(states))
    return [
        (row, token, tuple(state))
        for row, token, state in zip(*(column.tolist() for column in found), strict=True)
    ]


def test_of_the_names_of_a_leaf_only_those_of_the_subset():
    base, added = trie((5, END), (5, END)), trie((5, END), (5, END), first=2)
    allowed = np.array([False, True, True, False])
    masks = tuple(each.leaf_prefix_sums(allowed) for each in (base, added))
    space = SearchSpace((base, added), (None, masks), (None, allowed))
    leaf = walker(space).children(torch.tensor([[1, 1]])).states[0].tolist()
    assert walker(space, 0).names(leaf) == [0, 1, 2, 3]
    assert walker(space, 1).names(leaf) == [1, 2]


@pytest.mark.parametrize("largest", [40_000, 65_535, 70_000])
def test_tokens_over_32767_keep_their_number(largest):
    one = walker(SearchSpace((trie((largest, 3, END)),)))
    assert children(one, (0,)) == [(0, largest, (1,))]
    assert one.only_children(torch.tensor([[0]]))[0].tolist() == [largest]
