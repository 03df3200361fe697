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
from transformers.training_args import TrainingArguments

from ...errors import AngelError
from ..data.batches import TokenRows, collate_pairs
from ..models.backbones import Backbone
from ..models.losses import all_losses, mean_nll, nll_weight, pair_log_probs
from ..settings.config_tables import LossSettings, NegativeSettings
from .trainer import LinkingTrainer, Trained, run_training, training_arguments

if TYPE_CHECKING:
    from ..data.development import Development


def train_negative(
    backbone: Backbone,
    rows: TokenRows,
    settings: NegativeSettings,
    output: Path,
    development: "Development | None" = None,
) -> Trained:
    """Train on preference pairs; run again after a kill, it goes on.

    backbone (Backbone): trained in place.
    rows (TokenRows): as `encode_pairs` gives them; for a loss with a reference with the values
        that `reference_log_probs` gives.
    settings (NegativeSettings): loss, engine, course.
    output (Path): folder for checkpoints, metrics and the model.
    development (Development | None): chooses the checkpoint.
    RETURNS (Trained): where the model lies.
    RAISES (AngelError): no values of a reference that the loss needs, a loss that TRL does not
        have; see `run_training`.
    """
    loss = all_losses()[settings.loss.kind]
    if loss.needs_reference and "ref_chosen_logps" not in rows.values:
        raise AngelError(f"The loss {settings.loss.kind!r} needs reference log-probabilities.")
    if settings.engine == "trl" and loss.trl is None:
        raise AngelError(f"TRL does not have the loss {settings.loss.kind!r}. Set engine = plain.")

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
        self.loss_function = all_losses()[loss.kind].function
        self.nll_weight = nll_weight(loss)
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
        reference = None
        if "ref_chosen_logps" in inputs:
            reference = inputs["ref_chosen_logps"], inputs["ref_rejected_logps"]
        losses = self.loss_function(chosen, rejected, self.loss, reference)
        self._log_probs["logps/chosen"].append(chosen.sums.mean().item())
        self._log_probs["logps/rejected"].append(rejected.sums.mean().item())
        return losses.mean() + self.nll_weight * mean_nll(chosen)

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Called by the trainer: adds the means since the last line."""
        if "loss" in logs:
            logs |= {name: sum(values) / len(values) for name, values in self._log_probs.items()}
            self._log_probs.clear()
        super().log(logs, *args, **kwargs)


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

    is_dpo = all_losses()[negative.loss.kind].trl == "dpo"
    make = trl_trainers.dpo_trainer if is_dpo else trl_trainers.cpo_trainer
    return make(negative, output, measured, **common)
