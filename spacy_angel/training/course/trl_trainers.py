"""TRL's DPO and CPO trainers for an encoder-decoder whose decoder has a prefix.

TRL 0.20 pads prompts on the left, drops the last label of an encoder-decoder, and has no place
for decoder inputs. Here it gets token ids as they are and log-probabilities computed from them;
losses, metrics and checkpoints stay its own.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from trl.trainer.cpo_config import CPOConfig
from trl.trainer.cpo_trainer import CPOTrainer
from trl.trainer.dpo_config import DPOConfig
from trl.trainer.dpo_trainer import DPOTrainer

from ..data.batches import TokenRows
from ..models.losses import GAMMA, mean_nll, nll_weight, pair_log_probs, parameter
from ..settings.config_tables import NegativeSettings
from .trainer import LinkingTrainer, training_arguments


class PrefixDPOTrainer(LinkingTrainer, DPOTrainer):
    """DPOTrainer whose batches come from `collate_pairs`, the reference's values in them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # They are columns of the rows already, or the loss needs none.
        self._precomputed_train_ref_log_probs = True

    def _prepare_dataset(self, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        return dataset

    def compute_ref_log_probs(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Called by TRL where the batch has none: the loss is without reference."""
        zeros = torch.zeros(len(batch["labels"]) // 2, device=batch["labels"].device)
        return zeros, zeros

    def concatenated_forward(
        self, model: torch.nn.Module, batch: dict[str, Tensor], is_ref_model: bool = False
    ) -> dict[str, Tensor]:
        """Called by TRL for the log-probabilities of a batch."""
        chosen, rejected, logits = pair_log_probs(model, batch)
        return {
            "chosen_logps": chosen.sums,
            "rejected_logps": rejected.sums,
            "mean_chosen_logits": logits[0],
            "mean_rejected_logits": logits[1],
            "nll_loss": mean_nll(chosen),
        }

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Called by TRL at each checkpoint; the project writes its own card."""


class PrefixCPOTrainer(LinkingTrainer, CPOTrainer):
    """CPOTrainer whose batches come from `collate_pairs`; for CPO and SimPO."""

    def __init__(self, *, train_dataset: TokenRows, **kwargs: Any) -> None:
        super().__init__(train_dataset=_Ready(train_dataset), **kwargs)
        self.train_dataset = self.rows = train_dataset

    def concatenated_forward(self, model: torch.nn.Module, batch: dict[str, Tensor]) -> tuple:
        """Called by TRL for the log-probabilities of a batch; SimPO's are means over tokens."""
        chosen, rejected, logits = pair_log_probs(model, batch)
        means = self.loss_type == "simpo"
        return (
            chosen.sums / chosen.lengths if means else chosen.sums,
            rejected.sums / rejected.lengths if means else rejected.sums,
            *logits,
            mean_nll(chosen),
        )

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Called by TRL at each checkpoint; the project writes its own card."""


class _Ready:
    """Rows that TRL's tokenizing `map` leaves as they are."""

    def __init__(self, rows: TokenRows) -> None:
        self.rows = rows

    def map(self, *args: Any, **kwargs: Any) -> "_Ready":
        return self

    def __len__(self) -> int:
        return len(self.rows)


def dpo_trainer(
    negative: NegativeSettings, output: Path, measured: bool, **common: Any
) -> PrefixDPOTrainer:
    """Trainer for `dpo` and, without reference, `pairwise`.

    negative (NegativeSettings): loss and course.
    output (Path): folder of the checkpoints.
    measured (bool): development accuracy is measured.
    common (Any): what `LinkingTrainer` takes.
    RETURNS (PrefixDPOTrainer): ready to train.
    """
    loss = negative.loss
    arguments = training_arguments(
        DPOConfig,
        negative.optimizer,
        output,
        measured,
        beta=loss.beta,
        loss_type="sigmoid",
        rpo_alpha=nll_weight(loss) or None,
        reference_free=loss.kind == "pairwise",
        precompute_ref_log_probs=True,
        # The settings' own dropout is already set on the model.
        disable_dropout=False,
        gradient_checkpointing=False,
    )
    tokenizer = common["backbone"].tokenizer
    return PrefixDPOTrainer(args=arguments, processing_class=tokenizer, **common)


def cpo_trainer(
    negative: NegativeSettings, output: Path, measured: bool, **common: Any
) -> PrefixCPOTrainer:
    """Trainer for `cpo` and `simpo`, whose likelihood term weighs `nll_weight`; arguments as of
    `dpo_trainer`.

    RETURNS (PrefixCPOTrainer): ready to train.
    """
    loss = negative.loss
    is_simpo = loss.kind == "simpo"
    arguments = training_arguments(
        CPOConfig,
        negative.optimizer,
        output,
        measured,
        beta=loss.beta,
        loss_type="simpo" if is_simpo else "sigmoid",
        simpo_gamma=parameter(loss, GAMMA) if is_simpo else 0.0,
        cpo_alpha=nll_weight(loss),
        disable_dropout=False,
        gradient_checkpointing=False,
        # Rows come tokenized; without these TRL warns of defaults that it will not use.
        max_length=512,
        max_prompt_length=256,
        max_completion_length=256,
    )
    tokenizer = common["backbone"].tokenizer
    return PrefixCPOTrainer(args=arguments, processing_class=tokenizer, **common)
