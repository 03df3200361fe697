"""Positive-only training: label-smoothed cross-entropy on the names of the gold concepts
(ANGEL, section 3.2; GenBioEL, section 2.1)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers.training_args import TrainingArguments

from ..data.batches import TokenRows
from ..data.development import Development
from ..models.backbones import Backbone
from ..models.losses import IGNORE, label_logits
from ..settings.config_tables import PositiveSettings
from .run_folder import Trained, is_finished, trained
from .trainer import LinkingTrainer, train, training_arguments


class PositiveTrainer(LinkingTrainer):
    """A trainer whose loss is the mean over the labels of the whole batch, so that it depends
    neither on gradient accumulation nor on the number of processes."""

    def __init__(self, *, label_smoothing: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.label_smoothing = label_smoothing
        # Makes the trainer count the labels of a whole batch for the loss.
        self.model_accepts_loss_kwargs = True

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Called by the trainer; `num_items_in_batch` is the number of labels over all accumulation
        steps and processes."""
        labels = inputs["labels"]
        logits = label_logits(model, inputs)
        total = torch.nn.functional.cross_entropy(
            logits,
            labels[labels != IGNORE],
            reduction="sum",
            label_smoothing=self.label_smoothing,
        )
        # Gradients are averaged over the processes, but the count is their total.
        return total * self.accelerator.num_processes / num_items_in_batch


def train_positive(
    backbone: Backbone,
    rows: TokenRows,
    settings: PositiveSettings,
    output: Path,
    development: Development | None = None,
    options: Mapping[str, Any] | None = None,
) -> Trained:
    """Train on positive examples. To continue an interrupted run, call it again.

    backbone (Backbone): trained in place.
    rows (TokenRows): the result of `encode`.
    settings (PositiveSettings): settings of the stage.
    output (Path): folder for metrics and the model.
    development (Development | None): used to choose the checkpoint.
    options (Mapping[str, Any] | None): see `training_arguments`.
    RETURNS (Trained): folder of the model.
    RAISES (AngelError): there are no rows, or the folder belongs to another run.
    """
    if not is_finished(output, settings, len(rows)):
        measured = development is not None
        trainer = PositiveTrainer(
            label_smoothing=settings.label_smoothing,
            backbone=backbone,
            development=development,
            settings=settings.optimizer,
            train_dataset=rows,
            args=training_arguments(
                TrainingArguments, settings.optimizer, output, measured, options
            ),
        )
        train(trainer, output)
    return trained(output)
