"""Legal continuations by integer state: one trie, two tries, subsets; on names written out."""

import numpy as np
import pytest
import torch
from support.tries import END, trie

from spacy_angel.search.walker import Walker
from spacy_angel.vocabulary.storage.trie import NameTrie, SearchSpace


def walker(space: SearchSpace, subset: int = 0) -> Walker:
    return Walker(space, subset, END, torch.device("cpu"))


def children(walker: Walker, *states: tuple[int, ...]) -> list[tuple[int, int, tuple[int, ...]]]:
    """RETURNS: (row, token, state) of every continuation."""
    found = walker.children(torch.tensor(states))
    return [
        (row, token, tuple(state))
        for row, token, state in zip(*(column.tolist() for column in found), strict=True)
    ]


# The docstring example of NameTrie: nodes 1 = 5, 2 = 5 2, 3 = 5 7, 4 = 5 7 2.
BASE = trie((5, END), (5, 7, END))


def test_one_trie() -> None:
    one = walker(SearchSpace((BASE,)))
    assert one.roots(2).tolist() == [[0], [0]]
    assert children(one, (0,), (1,), (3,)) == [
        (0, 5, (1,)),
        (1, END, (2,)),
        (1, 7, (3,)),
        (2, END, (4,)),
    ]
    assert children(one, (4,)) == []
    assert [one.names([node]) for node in (2, 4)] == [[0], [1]]


def test_single_continuations() -> None:
    one = walker(SearchSpace((BASE,)))
    tokens, states = one.only_children(torch.tensor([[0], [1], [3], [4]]))
    assert tokens.tolist() == [5, -1, END, -1]
    assert states.tolist() == [[1], [-1], [4], [-1]]


def test_two_tries_are_walked_as_one() -> None:
    added = trie((5, 7, END), (5, 8, END), (6, END), first=2)
    two = walker(SearchSpace((BASE, added)))
    assert children(two, (0, 0)) == [(0, 5, (1, 1)), (0, 6, (-1, 2))]
    # By token; what only one of the tries has leaves the other behind.
    assert [(token, state) for _, token, state in children(two, (1, 1))] == [
        (END, (2, -1)),
        (7, (3, 3)),
        (8, (-1, 4)),
    ]
    [(_, _, both)] = children(two, (3, 3))
    assert two.names(list(both)) == [1, 2]
    tokens, _ = two.only_children(torch.tensor([[3, -1], [-1, 2], [3, 3], [0, 0]]))
    assert tokens.tolist() == [END, END, -1, -1]


def test_a_subset_closes_what_leads_to_no_name_of_it() -> None:
    allowed = np.array([False, True])
    space = SearchSpace((BASE,), (None, (BASE.leaf_prefix_sums(allowed),)), (None, allowed))
    assert children(walker(space, 1), (0,), (1,)) == [(0, 5, (1,)), (1, 7, (3,))]
    assert len(children(walker(space, 0), (0,), (1,))) == 3
    # A chain is one of the whole trie: the beam decides what is legal in it.
    assert walker(space, 1).only_children(torch.tensor([[1]]))[0].tolist() == [-1]


def test_of_the_names_of_a_leaf_only_those_of_the_subset() -> None:
    base, added = trie((5, END), (5, END)), trie((5, END), (5, END), first=2)
    allowed = np.array([False, True, True, False])
    masks = tuple(each.leaf_prefix_sums(allowed) for each in (base, added))
    space = SearchSpace((base, added), (None, masks), (None, allowed))
    leaf = walker(space).children(torch.tensor([[1, 1]])).states[0].tolist()
    assert walker(space, 0).names(leaf) == [0, 1, 2, 3]
    assert walker(space, 1).names(leaf) == [1, 2]


@pytest.mark.parametrize("largest", [40_000, 65_535, 70_000])
def test_tokens_over_32767_keep_their_number(largest: int) -> None:
    one = walker(SearchSpace((trie((largest, 3, END)),)))
    assert children(one, (0,)) == [(0, largest, (1,))]
    assert one.only_children(torch.tensor([[0]]))[0].tolist() == [largest]


def test_mapped_arrays_are_walked_without_a_warning(tmp_path, recwarn) -> None:
    BASE.to_disk(tmp_path / "trie")
    mapped = NameTrie.from_disk(tmp_path / "trie")
    assert children(walker(SearchSpace((mapped,))), (1,)) == [(0, END, (2,)), (0, 7, (3,))]
    assert not recwarn.list
