"""A search space on the device of the model: legal next tokens of many states at once.

A state is a node number for each trie, or -1 if the trie does not have this prefix. If names were
added at run time, there is a second trie, and a state is a pair.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..vocabulary.storage.trie import NameTrie, SearchSpace


class Children(NamedTuple):
    """The legal continuations of some states, sorted by state.

    rows (Tensor): int64[n], index of the state.
    tokens (Tensor): int64[n], the next token.
    states (Tensor): int64[n, n_tries], the state after it.
    """

    rows: Tensor
    tokens: Tensor
    states: Tensor


class _DeviceTrie:
    """The arrays of a trie as tensors, with the current subset."""

    def __init__(
        self, trie: NameTrie, prefix_sums: np.ndarray | None, device: torch.device
    ) -> None:
        self.trie = trie
        self.token = _tensor(trie.token, device)
        self.first_child = _tensor(trie.first_child, device)
        self.leaf_begin = _tensor(trie.leaf_begin, device)
        self.leaf_end = _tensor(trie.leaf_end, device)
        self.prefix_sums = None if prefix_sums is None else _tensor(prefix_sums, device)
        # A memory-mapped uint16 column is read as int16; this removes the sign.
        self.bits = 0xFFFF if self.token.dtype == torch.int16 else -1

    def children(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """states (Tensor): int64[n]. RETURNS (tuple[Tensor, Tensor, Tensor]): int64[m] rows,
        tokens, and nodes of the children that lead to a name of the subset."""
        alive = states.clamp_min(0)
        begin = self.first_child[alive].long()
        counts = torch.where(states < 0, 0, self.first_child[alive + 1].long() - begin)
        rows = torch.repeat_interleave(counts)
        ends = counts.cumsum(0)
        nodes = torch.arange(len(rows), device=rows.device) + (begin - ends + counts)[rows]
        if self.prefix_sums is not None:
            first, last = self.leaf_begin[nodes].long(), self.leaf_end[nodes].long()
            legal = self.prefix_sums[last] > self.prefix_sums[first]
            rows, nodes = rows[legal], nodes[legal]
        return rows, self.token[nodes].long() & self.bits, nodes


class Walker:
    """Walks the tries of a search space, restricted to one of its subsets.

    space (SearchSpace): the names.
    subset (int): number of the subset.
    end_token (int): the token that ends a name.
    device (torch.device): device of the states.
    """

    def __init__(
        self, space: SearchSpace, subset: int, end_token: int, device: torch.device
    ) -> None:
        masks = space.masks[subset] or (None,) * len(space.tries)
        self._allowed = space.allowed[subset] if space.allowed else None
        self.end_token = end_token
        self.tries = [
            _DeviceTrie(trie, prefix_sums, device)
            for trie, prefix_sums in zip(space.tries, masks, strict=True)
        ]
        self.device = device

    def roots(self, n: int) -> Tensor:
        """RETURNS (Tensor): int64[n, n_tries], the states before the first token."""
        return torch.zeros(n, len(self.tries), dtype=torch.int64, device=self.device)

    def children(self, states: Tensor) -> Children:
        """states (Tensor): int64[n, n_tries]. RETURNS (Children): all legal continuations."""
        rows, tokens, nodes = self.tries[0].children(states[:, 0])
        if len(self.tries) == 1:
            return Children(rows, tokens, nodes[:, None])
        return _merge(rows, tokens, nodes, *self.tries[1].children(states[:, 1]))

    def only_children(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Follow a chain by one step.

        states (Tensor): int64[n, n_tries].
        RETURNS (tuple[Tensor, Tensor]): int64[n] tokens and int64[n, n_tries] states; the token is
            -1 if there are several continuations or none.
        """
        # If there are continuations in both tries, their tokens may differ, so it is not a chain.
        single = (states >= 0).sum(1) == 1
        tokens = torch.full((len(states),), -1, dtype=torch.int64, device=self.device)
        nodes = torch.full_like(states, -1)
        alive = states.clamp_min(0)
        for i, trie in enumerate(self.tries):
            begin = trie.first_child[alive[:, i]].long()
            # Children that the subset does not allow count as well.
            is_only = trie.first_child[alive[:, i] + 1].long() - begin == 1
            node = torch.where(single & (states[:, i] >= 0) & is_only, begin, -1)
            token = trie.token[node.clamp_min(0)].long() & trie.bits
            tokens = torch.where(node >= 0, token, tokens)
            nodes[:, i] = node
        return tokens, nodes

    def names(self, state: list[int]) -> list[int]:
        """state (list[int]): a state reached by the end token. RETURNS (list[int]): indices of its
        names that are in the subset."""
        indices: set[int] = set()
        for trie, node in zip(self.tries, state, strict=True):
            if node >= 0:
                indices.update(trie.trie.names_of_leaf(int(trie.trie.leaf_begin[node])).tolist())
        if self._allowed is None:
            return sorted(indices)
        return sorted(filter(self._allowed.__getitem__, indices))


def _merge(
    rows: Tensor, tokens: Tensor, nodes: Tensor, rows2: Tensor, tokens2: Tensor, nodes2: Tensor
) -> Children:
    """Unite the continuations in both tries; a token that both have leads to a pair."""
    if not len(rows2):
        return Children(rows, tokens, torch.stack((nodes, torch.full_like(nodes, -1)), dim=1))
    base = (rows << 32) | tokens
    added = (rows2 << 32) | tokens2
    keys, where = torch.unique(torch.cat((base, added)), return_inverse=True)
    states = torch.full((len(keys), 2), -1, dtype=torch.int64, device=keys.device)
    states[where[: len(base)], 0] = nodes
    states[where[len(base) :], 1] = nodes2
    return Children(keys >> 32, keys & 0xFFFFFFFF, states)


def _tensor(column: np.ndarray, device: torch.device) -> Tensor:
    """RETURNS (Tensor): the column, without a copy on the CPU; uint16 is viewed as int16."""
    if column.dtype == np.uint16:
        column = column.view(np.int16)
    return torch.from_numpy(column).to(device)
