"""Base classes of all trainers: transformers' arguments, the order of the data, a file with
metrics, and resuming after an interruption."""

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import torch
from torch.utils.data import Sampler
from tqdm import tqdm
from transformers.trainer import Trainer
from transformers.trainer_callback import PrinterCallback, TrainerCallback
from transformers.training_args import TrainingArguments

from ...errors import AngelError
from ...files.atomic import write_text
from ..data.batches import LengthSampler, collate
from ..data.development import Development
from ..models.backbones import Backbone, set_dropout
from ..settings.config_tables import OptimizerSettings
from .run_folder import (
    CHECKPOINTS_FOLDER,
    METRICS_FILE,
    MODEL_FOLDER,
    last_checkpoint,
    write_result,
)

_Arguments = TypeVar("_Arguments", bound=TrainingArguments)


class StageTrainer(Trainer):
    """Base of all trainers. Rows of similar length share a batch; checkpoints are compared by
    `measure`.

    settings (OptimizerSettings): settings of the training.
    train_dataset (Any): rows with their `lengths`, see `LengthSampler`.
    measured (bool): whether `measure` is called at each checkpoint.
    kwargs (Any): arguments of transformers' Trainer.
    RAISES (AngelError): the arguments do not work here, e.g. TensorBoard is not installed.
    """

    def __init__(
        self, *, settings: OptimizerSettings, train_dataset: Any, measured: bool, **kwargs: Any
    ) -> None:
        self.settings = settings
        self.rows = train_dataset
        set_dropout(kwargs["model"], settings.dropout, settings.attention_dropout)
        try:
            super().__init__(
                train_dataset=train_dataset,
                # transformers requires one for evaluation; it is not used.
                eval_dataset=train_dataset if measured else None,
                **kwargs,
            )
        except (RuntimeError, ValueError) as error:
            raise AngelError(f"The training settings do not work here: {error}") from error

    def measure(self) -> dict[str, float]:
        """RETURNS (dict[str, float]): metrics of the current weights."""
        raise NotImplementedError

    def finish(self, folder: Path) -> dict[str, Any]:
        """Save the model; called in the first process, at the end.

        folder (Path): to write.
        RETURNS (dict[str, Any]): the result of the run, as plain values.
        """
        raise NotImplementedError

    def evaluate(self, *args: Any, metric_key_prefix: str = "eval", **kwargs: Any) -> dict:
        """Called by the trainer at each checkpoint."""
        metrics = {f"{metric_key_prefix}_{name}": x for name, x in self.measure().items()}
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics

    def _issue_warnings_after_load(self, load_result: Any) -> None:
        """Called by the trainer for weights that are missing from its checkpoint: the tied ones."""

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler[int]:
        return LengthSampler(self.rows.lengths, self.settings.batch_size, self.settings.seed)

    def _save_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        # transformers considers the best checkpoint missing if its folder does not exist yet. A
        # process that checked before the first one had made it would not wait for the others at
        # the end, and they would wait for it forever.
        folder = Path(str(self.args.output_dir)) / f"checkpoint-{self.state.global_step}"
        folder.mkdir(parents=True, exist_ok=True)
        super()._save_checkpoint(*args, **kwargs)


def train(trainer: StageTrainer, output: Path) -> None:
    """Train, from the last checkpoint if there is one; the first process writes model and result.

    trainer (StageTrainer): with the arguments of `training_arguments` for this folder.
    output (Path): folder of the run.
    """
    is_first = trainer.args.should_save
    if is_first:
        print(f"Training on {len(trainer.rows):,} examples: {output}")
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(Report(output / METRICS_FILE))
    with trainer.args.main_process_first(desc="checkpoints"):
        checkpoint = last_checkpoint(output)
    with warnings.catch_warnings():
        # transformers calls a function by its old name, and is not sure of the age of files; peft
        # looks for the model's config on the hub.
        for message in ("torch.cpu.amp.autocast", "mtime may not be", "Could not find a config"):
            warnings.filterwarnings("ignore", f".*{message}")
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    if is_first:
        write_result(output, trainer.finish(output / MODEL_FOLDER))
    trainer.accelerator.wait_for_everyone()


class LinkingTrainer(StageTrainer):
    """Base of the trainers of both stages.

    backbone (Backbone): the model, trained in place.
    development (Development | None): evaluated at each checkpoint.
    kwargs (Any): see `StageTrainer`.
    """

    def __init__(
        self, *, backbone: Backbone, development: Development | None, **kwargs: Any
    ) -> None:
        self.backbone = backbone
        self.development = development
        super().__init__(
            model=backbone.model,
            measured=development is not None,
            data_collator=partial(collate, pad_token_id=backbone.model.config.pad_token_id),
            **kwargs,
        )

    def measure(self) -> dict[str, float]:
        """Development accuracy by constrained search, shared among the processes."""
        assert self.development is not None
        counts = self.development.hits(
            self._trained(),
            part=self.accelerator.process_index,
            parts=self.accelerator.num_processes,
        )
        values = torch.tensor(counts, dtype=torch.float32, device=self.accelerator.device)
        top1, top_k, total = self.accelerator.reduce(values, reduction="sum").tolist()
        return {"accuracy": top1 / total, "accuracy_top_k": top_k / total}

    def finish(self, folder: Path) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): `accuracy` on the development set, if there is one."""
        self._trained().save(folder)
        return {"accuracy": self.state.best_metric}

    def _trained(self) -> Backbone:
        model = self.accelerator.unwrap_model(self.model)
        return Backbone(model, self.backbone.tokenizer, self.backbone.format)


class Report(TrainerCallback):
    """Prints a line at each checkpoint and at the end of each epoch, and writes everything that is
    logged to a JSONL file, one object per line with its `step`. The log of a resumed run goes back
    to its checkpoint, and so does the file.

        step 500, epoch 1.3: loss 0.412, accuracy 0.871, accuracy top k 0.934

    path (Path): the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.losses: list[float] = []
        self.reported = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Called by the trainer."""
        self.bar = tqdm(total=state.max_steps, disable=None, leave=False, unit=" steps")

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Called by the trainer."""
        self.bar.update(state.global_step - self.bar.n)
        # The last checkpoint is always measured, regardless of the number of updates.
        if args.load_best_model_at_end and state.global_step >= state.max_steps:
            control.should_evaluate = True
        control.should_log |= control.should_evaluate or control.should_save

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Called by the trainer."""
        control.should_log = True

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """Called by the trainer."""
        if not state.is_world_process_zero:
            return
        self.losses += [logs["loss"]] if "loss" in logs else []
        write_text(self.path, "".join(json.dumps(logged) + "\n" for logged in state.log_history))

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: Any = None, **kwargs: Any
    ) -> None:
        """Called by the trainer."""
        if not state.is_world_process_zero or state.global_step == self.reported:
            return
        figures = {"loss": fmean(self.losses)} if self.losses else {}
        figures |= {name.removeprefix("eval_"): x for name, x in (metrics or {}).items()}
        shown = ", ".join(f"{name.replace('_', ' ')} {x:.3f}" for name, x in figures.items())
        tqdm.write(f"step {state.global_step}, epoch {state.epoch or 0:.1f}: {shown}")
        self.losses, self.reported = [], state.global_step

    # Without a development set, lines are printed at these points.
    on_save = on_epoch_begin = on_train_end = on_evaluate


def training_arguments(
    kind: type[_Arguments],
    settings: OptimizerSettings,
    output: Path,
    measured: bool,
    options: Mapping[str, Any] | None,
    **own: Any,
) -> _Arguments:
    """Make transformers' arguments.

    kind (type): `TrainingArguments`, or TRL's subclass.
    settings (OptimizerSettings): settings of the training.
    output (Path): folder of the stage.
    measured (bool): whether development accuracy is measured, and the best checkpoint chosen.
    options (Mapping[str, Any] | None): arguments of `TrainingArguments` that override these.
    own (Any): additional arguments of `kind`.
    RETURNS (_Arguments): the arguments.
    RAISES (AngelError): an unknown or invalid option, a batch size that is not divisible by
        processes and accumulation steps, or float16 without a GPU.
    """
    options = options or {}
    if unknown := options.keys() - {item.name for item in fields(TrainingArguments)}:
        raise AngelError(
            f"[trainer] takes arguments of transformers' TrainingArguments, which has no "
            f"{', '.join(sorted(unknown))}."
        )
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    parts = processes * settings.accumulate
    if settings.batch_size % parts:
        raise AngelError(
            f"batch_size {settings.batch_size} must be divisible by {processes} processes times "
            f"{settings.accumulate} parts."
        )
    on_cpu = not torch.cuda.is_available()
    if on_cpu and settings.precision == "float16":
        raise AngelError(
            "precision = 'float16' needs a GPU with CUDA. On a CPU, set 'bfloat16' or 'float32'."
        )
    # transformers keeps the precision of a trainer here for the next one in the process.
    os.environ["ACCELERATE_MIXED_PRECISION"] = "no"
    same = ("learning_rate", "weight_decay", "warmup_steps", "seed")
    arguments: dict[str, Any] = {
        **{name: getattr(settings, name) for name in same},
        "output_dir": str(output / CHECKPOINTS_FOLDER),
        # By default in the folder of the checkpoints, which is removed at the end.
        "logging_dir": str(output / "runs"),
        "per_device_train_batch_size": settings.batch_size // parts,
        "gradient_accumulation_steps": settings.accumulate,
        "max_steps": settings.steps or -1,
        "num_train_epochs": settings.epochs,
        "optim": "adamw_torch_fused",
        "max_grad_norm": settings.clip_norm,
        "lr_scheduler_type": settings.schedule,
        "bf16": settings.precision == "bfloat16",
        "fp16": settings.precision == "float16",
        "use_cpu": on_cpu,
        "ddp_backend": "gloo" if on_cpu and processes > 1 else None,
        "ddp_find_unused_parameters": False,
        "logging_steps": settings.log_every,
        "save_steps": settings.checkpoint_every,
        "save_total_limit": settings.keep_checkpoints,
        "remove_unused_columns": False,
        "label_names": ["labels"],
        "gradient_checkpointing_kwargs": {"use_reentrant": False},
        "average_tokens_across_devices": True,
        "disable_tqdm": True,
        "report_to": [],
    }
    if settings.schedule == "polynomial":
        arguments["lr_scheduler_kwargs"] = {"lr_end": settings.end_learning_rate}
    if measured:
        arguments |= {
            "eval_strategy": "steps",
            "eval_steps": settings.checkpoint_every,
            "metric_for_best_model": "accuracy",
            "greater_is_better": True,
            "load_best_model_at_end": True,
        }
    try:
        return kind(**{**arguments, **own, **options})
    except (TypeError, ValueError) as error:
        raise AngelError(f"The section [trainer] is not valid: {error}") from error
