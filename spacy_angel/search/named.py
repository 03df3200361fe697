"""Log-probabilities of given names, for a batch of mentions that is already encoded."""

from collections.abc import Sequence

import torch

from ..model.interface import Decoding


def log_probs_of_names(
    decoding: Decoding, names: Sequence[Sequence[list[int]]], device: torch.device
) -> list[list[float]]:
    """Decode the names of each mention as a tree, in which common prefixes are decoded once.

    decoding (Decoding): n mentions, with nothing decoded yet.
    names (Sequence[Sequence[list[int]]]): for each mention, the token ids of names, including the
        end token.
    device (torch.device): device of the model.
    RETURNS (list[list[float]]): for each name, the sum over its tokens, in nats.
    """
    begin = decoding.n_slots
    # Tokens that are fed, and of each token of a name: its name, the row that it is scored by.
    fed: list[tuple[int, int, int, int]] = []
    first: list[tuple[int, int, int]] = []
    later: list[tuple[int, int, int]] = []
    number = 0
    for mention, own in enumerate(names):
        n_before = len(fed)
        row_of: dict[tuple[int, ...], int] = {}
        for ids in own:
            first.append((number, mention, ids[0]))
            parent = -1
            for depth, token in enumerate(ids[:-1]):
                prefix = tuple(ids[: depth + 1])
                if prefix not in row_of:
                    row_of[prefix] = len(fed)
                    fed.append((token, mention, parent, depth))
                row = row_of[prefix]
                parent = begin + row - n_before
                later.append((number, row, ids[depth + 1]))
            number += 1
    sums = torch.zeros(number, device=device)
    if first:
        of_name, mentions, tokens = torch.tensor(first, device=device).unbind(1)
        sums.index_add_(0, of_name, decoding.first()[mentions, tokens])
    if fed:
        scores = decoding.feed(*torch.tensor(fed, device=device).unbind(1))
        of_name, rows, tokens = torch.tensor(later, device=device).unbind(1)
        sums.index_add_(0, of_name, scores[rows, tokens])
    values = iter(sums.tolist())
    return [[next(values) for _ in own] for own in names]
