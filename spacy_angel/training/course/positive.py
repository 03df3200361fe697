"""Positive-only training: label-smoothed cross-entropy on the names of the gold concepts
(ANGEL, section 3.2; GenBioEL, section 2.1)."""

from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers.training_args import TrainingArguments

from ..data.batches import TokenRows, collate_examples
from ..data.development import Development
from ..models.backbones import Backbone
from ..models.losses import IGNORE, label_logits
from ..settings.config_tables import PositiveSettings
from .trainer import LinkingTrainer, Trained, run_training, training_arguments


class PositiveTrainer(LinkingTrainer):
    """Its loss is a mean over the labels of the whole batch, so that neither parts nor processes
    change it."""

    def __init__(self, *, label_smoothing: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.label_smoothing = label_smoothing
        # So that the labels of a whole batch are counted for the loss.
        self.model_accepts_loss_kwargs = True

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Called by the trainer; `num_items_in_batch` counts the labels over parts and
        processes."""
        labels = inputs["labels"]
        logits = label_logits(model, inputs)
        total = torch.nn.functional.cross_entropy(
            logits,
            labels[labels != IGNORE],
            reduction="sum",
            label_smoothing=self.label_smoothing,
        )
        # Gradients are averaged over the processes, and the count is theirs together.
        return total * self.accelerator.num_processes / num_items_in_batch


def train_positive(
    backbone: Backbone,
    rows: TokenRows,
    settings: PositiveSettings,
    output: Path,
    development: Development | None = None,
) -> Trained:
    """Train on positive examples; run again after an interruption, it continues.

    backbone (Backbone): trained in place.
    rows (TokenRows): as `encode_examples` gives them.
    settings (PositiveSettings): of the stage.
    output (Path): folder for checkpoints, metrics and the model.
    development (Development | None): chooses the checkpoint.
    RETURNS (Trained): where the model is.
    RAISES (AngelError): see `run_training`.
    """

    def make_trainer(checkpoints: Path) -> PositiveTrainer:
        return PositiveTrainer(
            backbone=backbone,
            settings=settings.optimizer,
            development=development,
            label_smoothing=settings.label_smoothing,
            args=training_arguments(
                TrainingArguments,
                settings.optimizer,
                checkpoints,
                measured=development is not None,
            ),
            train_dataset=rows,
            data_collator=partial(
                collate_examples, pad_token_id=backbone.model.config.pad_token_id
            ),
        )

    return run_training(make_trainer, backbone, settings, output, len(rows))
