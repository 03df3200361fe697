"""The losses as pure functions of a model's logits, and the log-probability of names.

A batch is a dictionary of right-padded tensors, `rows` = number of decoder sequences:
`input_ids`, `attention_mask` [rows, source], `decoder_input_ids`, `labels` [rows, target], where
`labels` is IGNORE on the prefix and the padding.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from accelerate.utils import extract_model_from_parallel
from torch import Tensor
from torch.nn import functional as F

from .config import LossSettings

IGNORE = -100
_INPUTS = ("input_ids", "attention_mask", "decoder_input_ids")


@dataclass(frozen=True)
class NameLogProbs:
    """Log-probabilities of the names of a batch.

    sums (Tensor): float32[rows], over a name's tokens, the end token included.
    lengths (Tensor): int64[rows], tokens of each name.
    """

    sums: Tensor
    lengths: Tensor


def label_logits(model: torch.nn.Module, batch: dict[str, Tensor]) -> Tensor:
    """Logits where there is a label, and nowhere else: on a small model the projection onto the
    vocabulary is the largest part of the decoder's work, and half of it would be for the prefix.

    model (torch.nn.Module): encoder-decoder, wrapped for several processes or not.
    batch (dict[str, Tensor]): see above.
    RETURNS (Tensor): float32[labels, vocabulary], row after row.
    """
    with _projecting_only(model, batch["labels"] != IGNORE):
        output = model(**{name: batch[name] for name in _INPUTS}, use_cache=False)
    return output.logits.float()


def smoothed_cross_entropy(logits: Tensor, labels: Tensor, smoothing: float) -> Tensor:
    """Sum over the labels of (1 - ε) · -log p(label) + ε · mean over the vocabulary of -log p.

    logits (Tensor): float32[labels, vocabulary].
    labels (Tensor): int64[labels].
    smoothing (float): ε.
    RETURNS (Tensor): float32 scalar.
    """
    return F.cross_entropy(logits, labels, reduction="sum", label_smoothing=smoothing)


def name_log_probs(logits: Tensor, labels: Tensor) -> NameLogProbs:
    """Log-probability of each row's name (equation 2).

    logits (Tensor): float32[labels, vocabulary], as `label_logits` gives them.
    labels (Tensor): int64[rows, target], IGNORE where there is none.
    RETURNS (NameLogProbs): one value a row.
    """
    mask = labels != IGNORE
    tokens = -F.cross_entropy(logits, labels[mask], reduction="none")
    row = torch.nonzero(mask)[:, 0]
    sums = torch.zeros(len(labels), device=tokens.device).index_add(0, row, tokens)
    return NameLogProbs(sums, mask.sum(dim=1))


def preference_losses(
    chosen: NameLogProbs,
    rejected: NameLogProbs,
    settings: LossSettings,
    reference_chosen: Tensor | None = None,
    reference_rejected: Tensor | None = None,
) -> Tensor:
    """-log σ(β (r(chosen) - r(rejected))) a pair (equation 4), with r by the kind of loss:
    `dpo` log p - log p_ref (equation 5), `pairwise` and `cpo` log p, `simpo` log p / tokens, less
    the margin γ. The likelihood term is not in it: see `mean_nll`.

    chosen (NameLogProbs), rejected (NameLogProbs): under the trained model, one row a pair.
    settings (LossSettings): kind, β, γ.
    reference_chosen (Tensor | None), reference_rejected (Tensor | None): float32[pairs], log p_ref
        of the same names; for `dpo`.
    RETURNS (Tensor): float32[pairs].
    """
    if settings.kind == "simpo":
        margin = chosen.sums / chosen.lengths - rejected.sums / rejected.lengths
        return -F.logsigmoid(settings.beta * margin - settings.gamma)
    margin = chosen.sums - rejected.sums
    if settings.kind == "dpo":
        assert reference_chosen is not None
        assert reference_rejected is not None
        margin = margin - (reference_chosen - reference_rejected)
    return -F.logsigmoid(settings.beta * margin)


def mean_nll(names: NameLogProbs) -> Tensor:
    """RETURNS (Tensor): float32 scalar, negative log-likelihood a token over all rows."""
    return -names.sums.sum() / names.lengths.sum()


@contextmanager
def _projecting_only(model: torch.nn.Module, mask: Tensor) -> Iterator[None]:
    projection = extract_model_from_parallel(model).get_output_embeddings()
    hook = projection.register_forward_pre_hook(lambda _, inputs: (inputs[0][mask],))
    try:
        yield
    finally:
        hook.remove()
