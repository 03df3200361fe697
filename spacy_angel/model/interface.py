"""What the search asks of a model: decode a tree of name tokens for each mention of a batch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor


class Decoding(Protocol):
    """A batch of mentions being decoded.

    Every mention has a tree of tokens: its prefix is the root, and what was fed hangs below in
    slots. Beams that share a prefix share slots, so nothing is copied when beams are chosen,
    dropped or multiplied.
    """

    @property
    def n_slots(self) -> int:
        """RETURNS (int): slots that each mention has so far; the next feed begins at this one."""

    def first(self) -> Tensor:
        """RETURNS (Tensor): float32[n_mentions, n_tokens], log-probabilities of a name's first
        token."""

    def feed(self, tokens: Tensor, mentions: Tensor, parents: Tensor, depths: Tensor) -> Tensor:
        """Decode some tokens more.

        tokens (Tensor): int64[n], sorted by mention.
        mentions (Tensor): int64[n], whose they are.
        parents (Tensor): int64[n], slot of the token before, -1 for the end of the prefix. The
            slot may be one of this very feed: the i-th token of a mention gets the slot
            `n_slots + i`.
        depths (Tensor): int64[n], 0 where the parent was there before, 1 for a child of such a
            token, and so on.
        RETURNS (Tensor): float32[n, n_tokens], log-probabilities of the token after each.
        """

    def keep(self, mentions: Tensor) -> None:
        """mentions (Tensor): int64[m], the mentions to go on with, in this order."""


class Model(Protocol):
    """An encoder-decoder as the search sees it."""

    device: torch.device

    def begin(self, sources: Sequence[list[int]], prefixes: Sequence[list[int]]) -> Decoding:
        """Encode a batch of mentions and their decoder prefixes.

        sources (Sequence[list[int]]): token ids of the encoder input.
        prefixes (Sequence[list[int]]): token ids of the decoder prefix, start token included.
        RETURNS (Decoding): ready for `first`.
        """

    def save(self, folder: Path, dtype: torch.dtype | None) -> None:
        """Write the weights, and nothing else.

        folder (Path): exists.
        dtype (torch.dtype | None): of the weights there; None: as they were read.
        RAISES (AngelError): the model has no weights of that type.
        """
