"""Rows of different lengths side by side without padding, and back."""

from collections.abc import Sequence

import torch
from torch import Tensor


class Packing:
    """Rows of different lengths side by side without padding, and back.

    lengths (Sequence[int]): tokens a row.
    device (torch.device): of the tensors.
    """

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        self.n = len(lengths)
        self.width = max(lengths)
        self.total = sum(lengths)
        self.uniform = self.total == self.n * self.width
        self.lengths = torch.tensor(lengths, device=device)
        position = torch.arange(self.width, device=device)
        self.inside = position < self.lengths[:, None]
        self.flat = torch.nonzero(self.inside.flatten()).squeeze(1)
        self.positions = self.flat % self.width

    def pad(self, x: Tensor) -> Tensor:
        """x (Tensor): [total, ...]. RETURNS (Tensor): [n, width, ...], zeros in the gaps."""
        if self.uniform:
            return x.view(self.n, self.width, *x.shape[1:])
        padded = x.new_zeros(self.n * self.width, *x.shape[1:])
        padded[self.flat] = x
        return padded.view(self.n, self.width, *x.shape[1:])

    def pack(self, x: Tensor) -> Tensor:
        """x (Tensor): [n, width, ...]. RETURNS (Tensor): [total, ...]."""
        x = x.reshape(self.n * self.width, *x.shape[2:])
        return x if self.uniform else x[self.flat]


def pack_ids(rows: Sequence[list[int]], device: torch.device) -> Tensor:
    """RETURNS (Tensor): int64[total], the ids of all rows one after the other."""
    return torch.tensor([token for row in rows for token in row], device=device)
