"""Negative-aware training: a preference loss on pairs of a right and a wrong name
(ANGEL, section 3.2, equations 4 and 5, appendix C).

TRL's trainers know prompt and answer, but no decoder prefix; here they get log-probabilities
computed from explicit decoder inputs, and the reference's as numbers.
"""

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from transformers.training_args import TrainingArguments

from ..errors import AngelError, Errors
from .backbones import Backbone
from .batches import TokenRows, collate_pairs
from .config import LossSettings, NegativeSettings
from .losses import IGNORE, NameLogProbs, label_logits, mean_nll, name_log_probs, preference_losses
from .trainer import LinkingTrainer, Trained, run_training, training_arguments

if TYPE_CHECKING:
    from .development import Development


def train_negative(
    backbone: Backbone,
    rows: TokenRows,
    settings: NegativeSettings,
    output: Path,
    development: "Development | None" = None,
) -> Trained:
    """Train on preference pairs; run again after a kill, it goes on.

    backbone (Backbone): trained in place.
    rows (TokenRows): as `encode_pairs` gives them; for `dpo` with the values that
        `reference_log_probs` gives.
    settings (NegativeSettings): loss, engine, course.
    output (Path): folder for checkpoints, metrics and the model.
    development (Development | None): chooses the checkpoint.
    RETURNS (Trained): where the model lies.
    RAISES (AngelError): `dpo` without values of the reference; see `run_training`.
    """
    if settings.loss.kind == "dpo" and "ref_chosen_logps" not in rows.values:
        raise AngelError(Errors.E608)

    def make_trainer(checkpoints: Path) -> LinkingTrainer:
        make = _trl_trainer if settings.engine == "trl" else _plain_trainer
        return make(
            settings,
            checkpoints,
            development is not None,
            backbone=backbone,
            settings=settings.optimizer,
            development=development,
            train_dataset=rows,
            data_collator=partial(collate_pairs, pad_token_id=backbone.model.config.pad_token_id),
        )

    return run_training(make_trainer, backbone, settings, output, len(rows))


class PairTrainer(LinkingTrainer):
    """The losses of `losses.py` on transformers alone."""

    def __init__(self, *, loss: LossSettings, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.loss = loss
        self.model_accepts_loss_kwargs = False
        self._log_probs: dict[str, list[float]] = defaultdict(list)

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Called by the trainer: mean over the pairs of the batch."""
        chosen, rejected, _ = pair_log_probs(model, inputs)
        losses = preference_losses(
            chosen,
            rejected,
            self.loss,
            inputs.get("ref_chosen_logps"),
            inputs.get("ref_rejected_logps"),
        )
        self._log_probs["logps/chosen"].append(chosen.sums.mean().item())
        self._log_probs["logps/rejected"].append(rejected.sums.mean().item())
        return losses.mean() + self.loss.nll_weight * mean_nll(chosen)

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Called by the trainer: adds the means since the last line."""
        if "loss" in logs:
            logs |= {name: sum(values) / len(values) for name, values in self._log_probs.items()}
            self._log_probs.clear()
        super().log(logs, *args, **kwargs)


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


def _plain_trainer(
    negative: NegativeSettings, output: Path, measured: bool, **common: Any
) -> LinkingTrainer:
    arguments = training_arguments(TrainingArguments, negative.optimizer, output, measured)
    return PairTrainer(loss=negative.loss, args=arguments, **common)


def _trl_trainer(
    negative: NegativeSettings, output: Path, measured: bool, **common: Any
) -> LinkingTrainer:
    # Here, so that the rest of the package runs where trl is not installed.
    from . import trl_trainers

    with_reference = negative.loss.kind in ("dpo", "pairwise")
    make = trl_trainers.dpo_trainer if with_reference else trl_trainers.cpo_trainer
    return make(negative, output, measured, **common)
