"""Names that are given, with the numbers written out."""

from types import SimpleNamespace

import pytest
import torch

from spacy_angel.model.interface import TokenScores
from spacy_angel.search.named import log_probs_of_names

# Log-probabilities of the tokens 0 to 3 after each partial name.
AFTER = {
    (): [-1.0, -2.0, -3.0, -4.0],
    (0,): [-0.1, -0.2, -0.3, -0.4],
    (0, 1): [-0.01, -0.02, -0.03, -0.04],
    (2,): [-0.5, -0.6, -0.7, -0.8],
}


class Decoding:
    """Of two mentions with prefixes of three tokens; notes what it is fed."""

    n_slots = 3

    def __init__(self):
        self.fed = []

    def first(self):
        return scores([(), ()])

    def feed(self, tokens, mentions, parents, depths):
        paths = []
        places = [0, 0]
        slots = {}
        for token, mention, parent, depth in zip(
            *(column.tolist() for column in (tokens, mentions, parents, depths)), strict=True
        ):
            above = slots[mention, parent] if parent >= 0 else ()
            assert depth == len(above)
            slots[mention, self.n_slots + places[mention]] = (*above, token)
            places[mention] += 1
            paths.append((*above, token))
            self.fed.append((mention, *above, token))
        return scores(paths)


def scores(paths):
    logits = torch.tensor([[AFTER[path] for path in paths]])
    return TokenScores(logits, torch.zeros(len(paths)))


def test_what_names_begin_with_is_decoded_once():
    decoding = Decoding()
    names = [[[0, 1, 3], [0, 3], [0, 1, 2]], [[3], [2, 3]]]
    found = log_probs_of_names(decoding, names, torch.device("cpu"))
    assert found[0] == pytest.approx([-1 - 0.2 - 0.04, -1 - 0.4, -1 - 0.2 - 0.03])
    assert found[1] == pytest.approx([-4, -3 - 0.8])
    assert decoding.fed == [(0, 0), (0, 0, 1), (1, 2)]


def test_names_of_one_token_need_no_decoding():
    decoding = SimpleNamespace(n_slots=3, first=lambda: scores([()]))
    assert log_probs_of_names(decoding, [[[3], [0]]], torch.device("cpu")) == [[-4.0, -1.0]]
    assert log_probs_of_names(decoding, [[]], torch.device("cpu")) == [[]]
