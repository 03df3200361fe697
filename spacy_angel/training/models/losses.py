"""The losses as pure functions of a model's logits, and the log-probability of names.

A preference loss is a row of `LOSSES`; another package adds one by an entry point of the group
`spacy_angel_losses` that gives a `Loss`.

A batch is a dictionary of right-padded tensors, `rows` = number of decoder sequences:
`input_ids`, `attention_mask` [rows, source], `decoder_input_ids`, `labels` [rows, target], where
`labels` is IGNORE on the prefix and the padding.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

import torch
from accelerate.utils import extract_model_from_parallel
from torch import Tensor
from torch.nn import functional as F

from ..settings.config_tables import LossSettings
from ..settings.registry import with_entry_points

IGNORE = -100
_INPUTS = ("input_ids", "attention_mask", "decoder_input_ids")
_MULTIPLE = 64
GAMMA = "gamma"
"""Margin that SimPO asks for."""


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
    return output.logits[: int((batch["labels"] != IGNORE).sum())].float()


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


def pair_log_probs(
    model: torch.nn.Module, batch: dict[str, Tensor]
) -> tuple[NameLogProbs, NameLogProbs, tuple[Tensor, Tensor]]:
    """Log-probabilities of the two names of each pair in one pass.

    model (torch.nn.Module): encoder-decoder.
    batch (dict[str, Tensor]): as `collate_pairs` makes it.
    RETURNS (tuple[NameLogProbs, NameLogProbs, tuple[Tensor, Tensor]]): of the chosen and of the
        rejected names, and the mean logit of either, which TRL logs.
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


class LossFunction(Protocol):
    """A loss of pairs of names."""

    def __call__(
        self,
        chosen: NameLogProbs,
        rejected: NameLogProbs,
        settings: LossSettings,
        reference: tuple[Tensor, Tensor] | None,
    ) -> Tensor:
        """Without the likelihood term, see `mean_nll`.

        chosen (NameLogProbs), rejected (NameLogProbs): under the trained model, one row a pair.
        settings (LossSettings): β, and parameters of its own.
        reference (tuple[Tensor, Tensor] | None): float32[pairs] each, log p_ref of the same names,
            for a loss that needs it.
        RETURNS (Tensor): float32[pairs].
        """


@dataclass(frozen=True)
class Loss:
    """A preference loss as a config names it.

    function (LossFunction): the loss of each pair.
    needs_reference (bool): it compares with a frozen model.
    nll_weight (float): of the likelihood term, where the config says nothing.
    trl (str | None): TRL's trainer that has it, `dpo` or `cpo`; None: only the engine `plain` has.
    parameters (Mapping[str, float]): its own, with their defaults, see `parameter`.
    """

    function: LossFunction
    needs_reference: bool = False
    nll_weight: float = 0.0
    trl: Literal["dpo", "cpo"] | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)


def dpo(
    chosen: NameLogProbs,
    rejected: NameLogProbs,
    settings: LossSettings,
    reference: tuple[Tensor, Tensor] | None,
) -> Tensor:
    """-log σ(β (r(chosen) - r(rejected))) with r = log p - log p_ref (equations 4 and 5); see
    `LossFunction`."""
    assert reference is not None
    margin = chosen.sums - rejected.sums - (reference[0] - reference[1])
    return -F.logsigmoid(settings.beta * margin)


def pairwise(
    chosen: NameLogProbs,
    rejected: NameLogProbs,
    settings: LossSettings,
    reference: tuple[Tensor, Tensor] | None,
) -> Tensor:
    """As `dpo` with r = log p (appendix C); with the likelihood term CPO (Xu et al., 2024,
    equation 7)."""
    return -F.logsigmoid(settings.beta * (chosen.sums - rejected.sums))


def simpo(
    chosen: NameLogProbs,
    rejected: NameLogProbs,
    settings: LossSettings,
    reference: tuple[Tensor, Tensor] | None,
) -> Tensor:
    """-log σ(β (r(chosen) - r(rejected)) - γ) with r = log p a token (appendix C)."""
    margin = chosen.sums / chosen.lengths - rejected.sums / rejected.lengths
    return -F.logsigmoid(settings.beta * margin - parameter(settings, GAMMA))


LOSSES: dict[str, Loss] = {
    "dpo": Loss(dpo, needs_reference=True, trl="dpo"),
    "pairwise": Loss(pairwise, trl="dpo"),
    "cpo": Loss(pairwise, nll_weight=1.0, trl="cpo"),
    "simpo": Loss(simpo, trl="cpo", parameters={GAMMA: 0.5}),
}


def all_losses() -> dict[str, Loss]:
    """RETURNS (dict[str, Loss]): by name, those of other packages among them."""
    return with_entry_points(LOSSES, "spacy_angel_losses")


def nll_weight(settings: LossSettings) -> float:
    """RETURNS (float): the weight of the likelihood term, by the settings or else by the loss."""
    if settings.nll_weight is not None:
        return settings.nll_weight
    return all_losses()[settings.kind].nll_weight


def parameter(settings: LossSettings, name: str) -> float:
    """settings (LossSettings): of a loss. name (str): of a parameter that it has.
    RETURNS (float): by the settings or else by the loss."""
    return settings.parameters.get(name, all_losses()[settings.kind].parameters[name])


def mean_nll(names: NameLogProbs) -> Tensor:
    """RETURNS (Tensor): float32 scalar, negative log-likelihood a token over all rows."""
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
    """To a multiple of `_MULTIPLE` rows: of each number that is new, a bfloat16 product on the CPU
    keeps some 30 MB of a vocabulary of 30,000 tokens."""
    return F.pad(rows, (0, 0, 0, -len(rows) % _MULTIPLE))
