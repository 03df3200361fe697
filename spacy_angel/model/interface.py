"""What the search needs from a model: decoding of a tree of name tokens for each mention of a
batch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor


class Decoding(Protocol):
    """A batch of mentions that is being decoded.

    Each mention has a tree of tokens: the root is its prefix, and decoded tokens are stored below
    in slots. Beams that share a prefix share slots, so nothing is copied when beams are selected,
    dropped, or duplicated.
    """

    @property
    def n_slots(self) -> int:
        """RETURNS (int): number of slots of each mention; the next feed starts at this one."""

    def first(self) -> Tensor:
        """RETURNS (Tensor): float32[n_mentions, n_tokens], log-probabilities of a name's first
        token."""

    def feed(self, tokens: Tensor, mentions: Tensor, parents: Tensor, depths: Tensor) -> Tensor:
        """Decode more tokens.

        tokens (Tensor): int64[n], sorted by mention.
        mentions (Tensor): int64[n], index of the mention.
        parents (Tensor): int64[n], slot of the preceding token, -1 for the end of the prefix. The
            slot may be created by the same feed: the i-th token of a mention gets the slot `n_slots
            + i`.
        depths (Tensor): int64[n], 0 if the parent was decoded before, 1 for a child of such a
            token, and so on.
        RETURNS (Tensor): float32[n, n_tokens], log-probabilities of the next token.
        """

    def keep(self, mentions: Tensor) -> None:
        """mentions (Tensor): int64[m], the mentions to continue with, in this order."""


class Model(Protocol):
    """An encoder-decoder, as the search uses it."""

    device: torch.device

    def begin(self, sources: Sequence[list[int]], prefixes: Sequence[list[int]]) -> Decoding:
        """Encode a batch of mentions and their decoder prefixes.

        sources (Sequence[list[int]]): token ids of the encoder input.
        prefixes (Sequence[list[int]]): token ids of the decoder prefix, including the start token.
        RETURNS (Decoding): ready for `first`.
        """

    def save(self, folder: Path, dtype: torch.dtype | None) -> None:
        """Write the weights only.

        folder (Path): exists.
        dtype (torch.dtype | None): type of the saved weights; None: as they were read.
        RAISES (AngelError): the model cannot be saved in this type.
        """
