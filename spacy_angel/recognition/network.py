"""The network that tags words: an encoder with a linear layer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..model.bart_encoder import BartEncoder, WeightStore, pack_ids
from ..model.linear import Linear
from ..model.weights import SHARED, convert_weights, storage_dtype
from .tags import N_TAGS

OWN = "recogniser."
"""Prefixes of the names of weights that an encoder-decoder does not have."""
CASES_WEIGHT = f"{OWN}cases.weight"
HEAD_WEIGHT = f"{OWN}head.weight"
HEAD_BIAS = f"{OWN}head.bias"

NO_WORD = -1


@dataclass(frozen=True, slots=True)
class Row:
    """A window as input of the encoder.

    pieces (list[int]): ids of the word pieces, including the special tokens.
    cases (list[int]): letter case of each piece's word; 0 for special tokens.
    words (list[int]): index of each piece's word in the window; `NO_WORD` for special tokens.
    n_words (int): number of words in the window.
    """

    pieces: list[int]
    cases: list[int]
    words: list[int]
    n_words: int

    def __len__(self) -> int:
        return len(self.pieces)


class TaggingNetwork:
    """An encoder, embeddings for the letter case of words, and a linear layer for the tags. The
    vector of a word is the mean of the vectors of its pieces.

    config (Any): the encoder's config, with the fields of transformers' BartConfig.
    weights (Mapping[str, Tensor]): the encoder's weights under the names of BART, and those of
        `OWN`.
    device (torch.device), dtype (torch.dtype): device and type of the encoder.
    RAISES (KeyError): a weight is missing.
    """

    def __init__(
        self, config: Any, weights: Mapping[str, Tensor], device: torch.device, dtype: torch.dtype
    ) -> None:
        self._store = WeightStore(converted(weights, dtype, device))
        self._encoder = BartEncoder(config, self._store)
        own = self._store.rest
        self._cases = own[CASES_WEIGHT].to(self._encoder.dtype)
        self._head = Linear(own[HEAD_WEIGHT], own[HEAD_BIAS]).forward
        self.n_labels = len(own[HEAD_BIAS]) // N_TAGS
        self.device = device

    def state_dict(self, dtype: torch.dtype | None = None) -> dict[str, Tensor]:
        """dtype (torch.dtype | None): type of the encoder's weights; None for int8 if they were
        loaded from int8, and otherwise for the type in use. RETURNS (dict[str, Tensor]): the
        weights, on the CPU."""
        state = self._store.checkpoint()
        dtype = dtype or storage_dtype(state) or self._encoder.dtype
        return converted(state, dtype, torch.device("cpu"))

    def score(self, rows: Sequence[Row]) -> list[np.ndarray]:
        """rows (Sequence[Row]): windows. RETURNS (list[np.ndarray]): log-probabilities of the tags
        in each window, float32[words, labels, tags]."""
        # Batch rows of similar length to reduce padding.
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        with torch.inference_mode():
            groups = self._encoder.passes([rows[i] for i in order])
            scored = [scores for group in groups for scores in self._score_group(group)]
        by_row = dict(zip(order, scored, strict=True))
        return [by_row[i] for i in range(len(rows))]

    def _score_group(self, rows: Sequence[Row]) -> list[np.ndarray]:
        cases = pack_ids([row.cases for row in rows], self.device)
        states, _ = self._encoder([row.pieces for row in rows], self._cases[cases])
        vectors = mean_by_word(
            states[: len(cases)].float(),
            pack_ids([row.words for row in rows], self.device),
            torch.tensor([len(row) for row in rows], device=self.device),
            [row.n_words for row in rows],
        )
        logits = self._head(vectors).view(-1, self.n_labels, N_TAGS)
        scores = torch.log_softmax(logits, dim=-1)
        return [part.cpu().numpy() for part in scores.split([row.n_words for row in rows])]


def mean_by_word(states: Tensor, words: Tensor, lengths: Tensor, n_words: Sequence[int]) -> Tensor:
    """Average the vectors of the pieces of each word.

    states (Tensor): [pieces, d], the rows concatenated.
    words (Tensor): int64[pieces], index of each piece's word in its row, or `NO_WORD`.
    lengths (Tensor): int64[rows], number of pieces of each row.
    n_words (Sequence[int]): number of words of each row.
    RETURNS (Tensor): [sum(n_words), d].
    """
    begins = np.cumsum([0, *n_words[:-1]])
    begin = torch.as_tensor(begins, device=states.device).repeat_interleave(lengths)
    kept = words != NO_WORD
    target = (words + begin)[kept]
    sums = states.new_zeros(sum(n_words), states.shape[1]).index_add(0, target, states[kept])
    counts = torch.bincount(target, minlength=len(sums))
    return sums / counts[:, None]


def converted(
    weights: Mapping[str, Tensor], dtype: torch.dtype, device: torch.device
) -> dict[str, Tensor]:
    """Convert weights to the type in which they run or are saved.

    weights (Mapping[str, Tensor]): weights of an encoder-decoder or of an encoder, and those of
        `OWN`, which remain float32.
    dtype (torch.dtype), device (torch.device): see `weights.convert_weights`.
    RETURNS (dict[str, Tensor]): weights of the encoder, and those of `OWN`.
    """
    own = {name: t.to(device, torch.float32) for name, t in weights.items() if name.startswith(OWN)}
    kept = (SHARED, "model.encoder.")
    encoder = {name: tensor for name, tensor in weights.items() if name.startswith(kept)}
    return convert_weights(encoder, dtype, device) | own
