"""What the search asks of a model: decode a tree of name tokens for each mention of a batch."""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple, Protocol

import torch
from torch import Tensor


class TokenScores(NamedTuple):
    """What comes next, over the whole vocabulary; only what is asked for is normalised.

    logits (Tensor): float32[n_pieces, n, width], the vocabulary in pieces of equal width.
    norm (Tensor): float32[n], their log-sum-exp.
    """

    logits: Tensor
    norm: Tensor

    def at(self, rows: Tensor, tokens: Tensor) -> Tensor:
        """rows, tokens (Tensor): int64[m]. RETURNS (Tensor): float32[m], log-probabilities."""
        width = self.logits.shape[2]
        return self.logits[tokens // width, rows, tokens % width] - self.norm[rows]


class Decoding(Protocol):
    """A batch of mentions being decoded.

    Every mention has a tree of tokens: its prefix is the root, and what was fed hangs below in
    slots. Beams that share a prefix share slots, so nothing is copied when beams are chosen,
    dropped or multiplied.
    """

    @property
    def n_slots(self) -> int:
        """RETURNS (int): slots that each mention has so far; the next feed begins at this one."""

    def first(self) -> TokenScores:
        """RETURNS (TokenScores): of a name's first token, one row a mention."""

    def feed(
        self, tokens: Tensor, mentions: Tensor, parents: Tensor, depths: Tensor
    ) -> TokenScores:
        """Decode some tokens more.

        tokens (Tensor): int64[n], sorted by mention.
        mentions (Tensor): int64[n], whose they are.
        parents (Tensor): int64[n], slot of the token before, -1 for the end of the prefix. The
            slot may be one of this very feed: the i-th token of a mention gets the slot
            `n_slots + i`.
        depths (Tensor): int64[n], 0 where the parent was there before, 1 for a child of such a
            token, and so on.
        RETURNS (TokenScores): of the token after each, one row a token; good until the next feed.
        """

    def keep(self, mentions: Tensor) -> None:
        """mentions (Tensor): int64[m], the mentions to go on with, in this order."""

    def copy(self) -> "Decoding":
        """RETURNS (Decoding): the same batch as far as it is decoded now; what is fed to one, or
        kept, is not to the other. Scores are good until the next feed of either."""


class Model(Protocol):
    """An encoder-decoder as the search sees it."""

    device: torch.device

    def begin(self, sources: Sequence[list[int]], prefixes: Sequence[list[int]]) -> Decoding:
        """Encode a batch of mentions and their decoder prefixes.

        sources (Sequence[list[int]]): token ids of the encoder input.
        prefixes (Sequence[list[int]]): token ids of the decoder prefix, start token included.
        RETURNS (Decoding): ready for `first`.
        """


class Tree:
    """Who descends from whom: the attention mask between the slots of each mention.

    A slot sees the prefix of its mention, its ancestors and itself. The first `width` slots are
    the prefix, shorter ones padded behind their end.

    lengths (Tensor): int64[n_mentions], tokens of each prefix.
    """

    def __init__(self, lengths: Tensor) -> None:
        n, width = len(lengths), int(lengths.max())
        self.lengths = lengths
        self.n_slots = width
        position = torch.arange(width, device=lengths.device)
        inside = position < lengths[:, None]
        causal = position[:, None] >= position
        self._seen = (causal & inside[:, None]) | torch.eye(
            width, dtype=torch.bool, device=position.device
        )
        self._prefix = torch.zeros(n, width, dtype=torch.bool, device=position.device)
        self._prefix[:] = inside
        self._position = position.expand(n, width).clone()

    def add(self, mentions: Tensor, parents: Tensor, depths: Tensor) -> tuple[Tensor, Tensor]:
        """Give the fed tokens their slots; the arguments are those of `Decoding.feed`.

        RETURNS (tuple[Tensor, Tensor]): int64[n] slots and int64[n] positions in the decoder
            input, the prefix counted in.
        """
        n = len(self.lengths)
        counts = torch.bincount(mentions, minlength=n)
        width = int(counts.max())
        begin = torch.cumsum(counts, 0) - counts
        slots = self.n_slots + torch.arange(len(mentions), device=mentions.device) - begin[mentions]
        total = self.n_slots + width
        seen = torch.zeros(n, total, total, dtype=torch.bool, device=mentions.device)
        seen[:, : self.n_slots, : self.n_slots] = self._seen
        new = torch.arange(self.n_slots, total, device=mentions.device)
        seen[:, new, new] = True
        position = torch.zeros(n, total, dtype=torch.int64, device=mentions.device)
        position[:, : self.n_slots] = self._position
        for depth in range(int(depths.max()) + 1):
            now = depths == depth
            mention, parent, slot = mentions[now], parents[now], slots[now]
            first = parent < 0
            above = torch.where(
                first[:, None],
                torch.nn.functional.pad(self._prefix[mention], (0, total - self._prefix.shape[1])),
                seen[mention, parent.clamp_min(0)],
            )
            seen[mention, slot] = seen[mention, slot] | above
            position[mention, slot] = torch.where(
                first, self.lengths[mention], position[mention, parent.clamp_min(0)] + 1
            )
        self._seen, self._position = seen, position
        self.n_slots = total
        return slots, position[mentions, slots]

    def mask(self, width: int) -> Tensor:
        """RETURNS (Tensor): bool[n_mentions, width, n_slots], what the last `width` slots see."""
        return self._seen[:, -width:]

    def copy(self) -> "Tree":
        """RETURNS (Tree): that grows by itself from here on."""
        # No tensor is changed in its place.
        return copy(self)

    def keep(self, mentions: Tensor) -> None:
        """mentions (Tensor): int64[m], the mentions to go on with."""
        self.lengths = self.lengths[mentions]
        self._seen = self._seen[mentions]
        self._prefix = self._prefix[mentions]
        self._position = self._position[mentions]
