"""Trees of tokens and packed rows, with numbers written out."""

import torch

from spacy_angel.model.bart import Tree
from spacy_angel.model.bart_encoder import Packing


def test_a_tree_sees_prefix_ancestors_and_itself() -> None:
    tree = Tree(torch.tensor([2, 1]))
    # Mention 0: a, b below a in the same feed. Mention 1: c.
    slots, positions = tree.add(
        torch.tensor([0, 0, 1]), torch.tensor([-1, 2, -1]), torch.tensor([0, 1, 0])
    )
    assert slots.tolist() == [2, 3, 2]
    assert positions.tolist() == [2, 3, 1]
    assert tree.n_slots == 4
    seen = tree.seen[:, -2:].int().tolist()
    assert seen[0] == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert seen[1][0] == [1, 0, 1, 0]
    # Then d below a: it does not see b.
    slots, positions = tree.add(torch.tensor([0]), torch.tensor([2]), torch.tensor([0]))
    assert slots.tolist() == [4]
    assert positions.tolist() == [3]
    assert tree.seen[0, -1:].int().tolist() == [[1, 1, 1, 0, 1]]


def test_a_prefix_is_causal_and_its_padding_sees_itself_only() -> None:
    mask = Tree(torch.tensor([3, 1])).seen.int().tolist()
    assert mask[0] == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert mask[1][0] == [1, 0, 0]
    assert mask[1][2] == [1, 0, 1]


def test_packing_and_back() -> None:
    packing = Packing.of_lengths([1, 3], torch.device("cpu"), multiple=3)
    x = torch.arange(12.0).view(6, 2)  # the last two rows fill up
    assert packing.order.tolist() == [0, 1, 2, 3, 3, 3]
    assert packing.index.tolist() == [0, 3, 4, 5]
    assert packing.positions.tolist() == [0, 0, 1, 2, 2, 2]
    assert packing.inside.tolist() == [[True, False, False], [True] * 3]
    assert packing.pad(x)[0].tolist() == [[0, 1], [0, 0], [0, 0]]
    heads = packing.split_heads(x, parts=1, heads=2)
    assert heads.shape == (1, 2, 2, 3, 1)
    assert torch.equal(packing.join_heads(heads[0]), x[packing.order])
