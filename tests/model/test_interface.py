"""Trees of tokens and packed rows, with numbers written out."""

import pytest
import torch

from spacy_angel.model.interface import TokenScores, Tree
from spacy_angel.model.packing import Packing


def test_log_probabilities_are_read_across_the_pieces_of_the_vocabulary() -> None:
    # Two rows, a vocabulary of 4 in two pieces: row 0 has 1 2 | 3 4, row 1 has 5 6 | 7 8.
    logits = torch.tensor([[[1.0, 2.0], [5.0, 6.0]], [[3.0, 4.0], [7.0, 8.0]]])
    norm = torch.tensor([10.0, 20.0])
    found = TokenScores(logits, norm).at(torch.tensor([0, 0, 1, 1]), torch.tensor([1, 2, 0, 3]))
    assert found.tolist() == [2 - 10, 3 - 10, 5 - 20, 8 - 20]


def test_a_tree_sees_prefix_ancestors_and_itself() -> None:
    tree = Tree(torch.tensor([2, 1]))
    # Mention 0: a, b below a in the same feed. Mention 1: c.
    slots, positions = tree.add(
        torch.tensor([0, 0, 1]), torch.tensor([-1, 2, -1]), torch.tensor([0, 1, 0])
    )
    assert slots.tolist() == [2, 3, 2]
    assert positions.tolist() == [2, 3, 1]
    assert tree.n_slots == 4
    seen = tree.mask(2).int().tolist()
    assert seen[0] == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert seen[1][0] == [1, 0, 1, 0]
    # Then d below a: it does not see b.
    slots, positions = tree.add(torch.tensor([0]), torch.tensor([2]), torch.tensor([0]))
    assert slots.tolist() == [4]
    assert positions.tolist() == [3]
    assert tree.mask(1)[0].int().tolist() == [[1, 1, 1, 0, 1]]


def test_a_prefix_is_causal_and_its_padding_sees_itself_only() -> None:
    mask = Tree(torch.tensor([3, 1])).mask(3).int().tolist()
    assert mask[0] == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert mask[1][0] == [1, 0, 0]
    assert mask[1][2] == [1, 0, 1]


@pytest.mark.parametrize("lengths", [[3, 1, 2], [2, 2], [1]])
def test_packing_and_back(lengths: list[int]) -> None:
    packing = Packing(lengths, torch.device("cpu"))
    x = torch.arange(1.0, 1 + sum(lengths))[:, None]
    padded = packing.pad(x)
    assert padded.shape == (len(lengths), max(lengths), 1)
    assert packing.pack(padded).tolist() == x.tolist()
    assert packing.positions.tolist() == [i for n in lengths for i in range(n)]
