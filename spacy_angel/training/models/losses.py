"""Log-probabilities of names from the logits of a model.

The preference losses are TRL's; `LOSSES` in the settings lists them.

A batch is a dictionary of right-padded tensors, where `rows` is the number of decoder sequences:
`input_ids`, `attention_mask` [rows, source], and `decoder_input_ids`, `labels` [rows, target];
`labels` is IGNORE for the prefix and the padding.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from accelerate.utils import extract_model_from_parallel
from torch import Tensor
from torch.nn import functional as F

IGNORE = -100
_INPUTS = ("input_ids", "attention_mask", "decoder_input_ids")
_MULTIPLE = 64


@dataclass(frozen=True)
class NameLogProbs:
    """Log-probabilities of the names in a batch.

    sums (Tensor): float32[rows], sum over the tokens of the name, including the end token.
    lengths (Tensor): int64[rows], number of tokens of each name.
    """

    sums: Tensor
    lengths: Tensor


def label_logits(model: torch.nn.Module, batch: dict[str, Tensor]) -> Tensor:
    """Compute logits only at positions with a label. For a small model, the projection onto the
    vocabulary is most of the decoder's work, and half of it would be spent on the prefix.

    model (torch.nn.Module): encoder-decoder, possibly wrapped for several processes.
    batch (dict[str, Tensor]): see above.
    RETURNS (Tensor): float32[labels, vocabulary], row by row.
    """
    with _projecting_only(model, batch["labels"] != IGNORE):
        output = model(**{name: batch[name] for name in _INPUTS}, use_cache=False)
    return output.logits[: int((batch["labels"] != IGNORE).sum())].float()


def name_log_probs(logits: Tensor, labels: Tensor) -> NameLogProbs:
    """Log-probability of the name in each row (equation 2).

    logits (Tensor): float32[labels, vocabulary], from `label_logits`.
    labels (Tensor): int64[rows, target], IGNORE if there is none.
    RETURNS (NameLogProbs): one value per row.
    """
    mask = labels != IGNORE
    tokens = -F.cross_entropy(logits, labels[mask], reduction="none")
    row = torch.nonzero(mask)[:, 0]
    sums = torch.zeros(len(labels), device=tokens.device).index_add(0, row, tokens)
    return NameLogProbs(sums, mask.sum(dim=1))


def pair_log_probs(
    model: torch.nn.Module, batch: dict[str, Tensor]
) -> tuple[NameLogProbs, NameLogProbs, tuple[Tensor, Tensor]]:
    """Log-probabilities of both names of each pair in one pass.

    model (torch.nn.Module): encoder-decoder.
    batch (dict[str, Tensor]): from `collate`.
    RETURNS (tuple[NameLogProbs, NameLogProbs, tuple[Tensor, Tensor]]): of the chosen and the
        rejected names, and the mean logits of both, which TRL logs.
    """
    labels = batch["labels"]
    logits = label_logits(model, batch)
    both = name_log_probs(logits, labels)
    half = len(labels) // 2
    n_chosen = int((labels[:half] != IGNORE).sum())
    return (
        NameLogProbs(both.sums[:half], both.lengths[:half]),
        NameLogProbs(both.sums[half:], both.lengths[half:]),
        (logits[:n_chosen].detach().mean(), logits[n_chosen:].detach().mean()),
    )


def mean_nll(names: NameLogProbs) -> Tensor:
    """RETURNS (Tensor): float32 scalar, negative log-likelihood per token over all rows."""
    return -names.sums.sum() / names.lengths.sum()


@contextmanager
def _projecting_only(model: torch.nn.Module, mask: Tensor) -> Iterator[None]:
    projection = extract_model_from_parallel(model).get_output_embeddings()
    hook = projection.register_forward_pre_hook(lambda _, inputs: (_padded(inputs[0][mask]),))
    try:
        yield
    finally:
        hook.remove()


def _padded(rows: Tensor) -> Tensor:
    """Pad to a multiple of `_MULTIPLE` rows: with a vocabulary of 30,000 tokens, a bfloat16 product
    on the CPU keeps about 30 MB for every new number of rows."""
    return F.pad(rows, (0, 0, 0, -len(rows) % _MULTIPLE))
