"""Negative-aware training: a preference loss on pairs of a right and a wrong name (ANGEL, section
3.2, equations 4 and 5, appendix C), with TRL's DPOTrainer.

TRL 0.20 pads prompts on the left, drops the last label of an encoder-decoder, and does not support
decoder inputs. Its trainer therefore gets token ids, and log-probabilities that are computed here
from explicit decoder inputs; losses, metrics, and checkpoints are those of TRL.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from trl.trainer.dpo_config import DPOConfig
from trl.trainer.dpo_trainer import DPOTrainer

from ..data.batches import TokenRows, collate, progress
from ..data.development import Development
from ..models.backbones import Backbone, set_dropout
from ..models.losses import label_logits, mean_nll, name_log_probs, pair_log_probs
from ..settings.config_tables import LOSSES, Loss, NegativeSettings
from .run_folder import Trained, is_finished, trained
from .trainer import LinkingTrainer, train, training_arguments

_REFERENCE = ("ref_chosen_logps", "ref_rejected_logps")


def train_negative(
    backbone: Backbone,
    rows: TokenRows,
    settings: NegativeSettings,
    output: Path,
    development: Development | None = None,
    options: Mapping[str, Any] | None = None,
) -> Trained:
    """Train on preference pairs. To continue an interrupted run, call it again.

    backbone (Backbone): trained in place.
    rows (TokenRows): the result of `encode`. If the loss needs a reference and the rows have no
        values of one, the model before training is the reference.
    settings (NegativeSettings): loss and optimizer.
    output (Path): folder for metrics and the model.
    development (Development | None): used to choose the checkpoint.
    options (Mapping[str, Any] | None): see `training_arguments`.
    RETURNS (Trained): folder of the model.
    RAISES (AngelError): see `train_positive`.
    """
    loss = LOSSES[settings.loss.kind]
    nll_weight = settings.loss.nll_weight
    nll_weight = loss.nll_weight if nll_weight is None else nll_weight
    if not is_finished(output, settings, len(rows)):
        arguments = training_arguments(
            DPOConfig,
            settings.optimizer,
            output,
            development is not None,
            options,
            beta=settings.loss.beta,
            rpo_alpha=nll_weight or None,
            reference_free=not loss.needs_reference,
            precompute_ref_log_probs=True,
            # Dropout is set on the model, according to the settings.
            disable_dropout=False,
        )
        if loss.needs_reference and not rows.values:
            rows.values = reference_log_probs(backbone, rows, settings.optimizer.precision)
        trainer = PrefixDPOTrainer(
            loss=loss,
            processing_class=backbone.tokenizer,
            backbone=backbone,
            development=development,
            settings=settings.optimizer,
            train_dataset=rows,
            args=arguments,
        )
        train(trainer, output)
    return trained(output)


class PrefixDPOTrainer(LinkingTrainer, DPOTrainer):
    """A DPOTrainer whose batches come from `collate`, with the log-probabilities of the reference.

    loss (Loss): a row of `LOSSES`.
    """

    def __init__(self, *, loss: Loss, **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)
        # They are already columns of the rows, or the loss needs none.
        self._precomputed_train_ref_log_probs = True

    def _prepare_dataset(self, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        return dataset

    def compute_ref_log_probs(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Called by TRL if the batch has no reference log-probabilities: the loss needs none."""
        zeros = torch.zeros(len(batch["labels"]) // 2, device=batch["labels"].device)
        return zeros, zeros

    def concatenated_forward(
        self, model: torch.nn.Module, batch: dict[str, Tensor], is_ref_model: bool = False
    ) -> dict[str, Tensor]:
        """Called by TRL for the log-probabilities of a batch. The margin of the loss is subtracted
        from those of the chosen names."""
        chosen, rejected, logits = pair_log_probs(model, batch)
        both = [
            one.sums / one.lengths if self.loss.per_token else one.sums
            for one in (chosen, rejected)
        ]
        return {
            "chosen_logps": both[0] - self.loss.margin / self.beta,
            "rejected_logps": both[1],
            "mean_chosen_logits": logits[0],
            "mean_rejected_logits": logits[1],
            "nll_loss": mean_nll(chosen),
        }

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Called by TRL at each checkpoint; the project writes its own card."""


def reference_log_probs(
    backbone: Backbone, rows: TokenRows, precision: str = "float32", batch_size: int = 32
) -> dict[str, np.ndarray]:
    """Compute the log-probabilities of the names of each pair under the frozen reference model
    (equation 5).

    backbone (Backbone): the reference; set to evaluation mode without dropout.
    rows (TokenRows): the result of `encode`.
    precision (str): the same as in training, so that policy and reference are initially equal.
    batch_size (int): number of pairs per batch.
    RETURNS (dict[str, np.ndarray]): `ref_chosen_logps` and `ref_rejected_logps`, float32[rows].
    """
    model = backbone.model.eval()
    set_dropout(model, 0.0, 0.0)
    # Rows of similar length together need less padding.
    order = np.lexsort(rows.lengths[::-1])
    values = {name: np.zeros(len(rows), dtype=np.float32) for name in _REFERENCE}
    half = torch.float16 if precision == "float16" else torch.bfloat16
    autocast = torch.autocast(model.device.type, half, enabled=precision != "float32")
    for start in progress(range(0, len(rows), batch_size), "Reference", "batches"):
        part = order[start : start + batch_size]
        batch = collate([rows[int(i)] for i in part], model.config.pad_token_id)
        batch = {name: tensor.to(model.device) for name, tensor in batch.items()}
        with torch.inference_mode(), autocast:
            sums = name_log_probs(label_logits(model, batch), batch["labels"]).sums
        for name, own in zip(_REFERENCE, sums.float().cpu().numpy().reshape(2, -1), strict=True):
            values[name][part] = own
    return values
