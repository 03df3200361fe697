"""What both stages share: transformers' arguments, data order, development accuracy as the
evaluation, checkpoints that link, metrics in a file, resuming after an interruption."""

import json
import os
import shutil
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import torch
from torch.utils.data import Sampler
from tqdm import tqdm
from transformers.trainer import TRAINER_STATE_NAME, Trainer
from transformers.trainer_callback import PrinterCallback, TrainerCallback
from transformers.trainer_utils import set_seed
from transformers.training_args import TrainingArguments

from ...errors import AngelError
from ...files.atomic import write_json, write_text
from ...files.json_values import parse_as
from ..data.batches import LengthSampler, TokenRows
from ..data.development import Development
from ..models.backbones import Backbone, set_dropout
from ..settings.config_tables import OptimizerSettings, as_plain

MODEL_FOLDER = "model"
METRICS_FILE = "metrics.jsonl"
CHECKPOINTS_FOLDER = "checkpoints"
RUN_FILE = "run.json"
RESULT_FILE = "result.json"
_Arguments = TypeVar("_Arguments", bound=TrainingArguments)
_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class Trained:
    """What a stage leaves.

    folder (Path): weights, tokenizer, prompt settings: the best checkpoint by development
        accuracy, or the last where there is no development set.
    accuracy (float | None): of that checkpoint, top 1.
    """

    folder: Path
    accuracy: float | None

    def __str__(self) -> str:
        accuracy = "" if self.accuracy is None else f" (development accuracy {self.accuracy:.1%})"
        return f"Model: {self.folder}{accuracy}"


class MeasuredTrainer(Trainer):
    """Base of all trainers: batches of rows of similar length, checkpoints compared by `measure`.

    settings (OptimizerSettings): of the training.
    train_dataset (Any): rows with their `lengths`, see `LengthSampler`.
    measured (bool): whether `measure` is called at each checkpoint.
    """

    def __init__(
        self, *, settings: OptimizerSettings, train_dataset: Any, measured: bool, **kwargs: Any
    ) -> None:
        self.settings = settings
        self.rows = train_dataset
        super().__init__(
            train_dataset=train_dataset,
            # transformers needs one for any evaluation; it is not used.
            eval_dataset=train_dataset if measured else None,
            **kwargs,
        )

    def measure(self) -> dict[str, float]:
        """RETURNS (dict[str, float]): metrics of the model as it is."""
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
        """Called by the trainer for weights that its own checkpoint lacks: the tied ones."""

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler[int]:
        return LengthSampler(self.rows.lengths, self.settings.batch_size, self.settings.seed)


class LinkingTrainer(MeasuredTrainer):
    """Base of the trainers of both stages.

    backbone (Backbone): what is trained, in place.
    development (Development | None): measured at each checkpoint.
    kwargs (Any): see `MeasuredTrainer`.
    """

    def __init__(
        self, *, backbone: Backbone, development: Development | None, **kwargs: Any
    ) -> None:
        self.backbone = backbone
        self.development = development
        super().__init__(model=backbone.model, measured=development is not None, **kwargs)

    def measure(self) -> dict[str, float]:
        """Development accuracy by constrained search, shared among the processes."""
        assert self.development is not None
        model = self.accelerator.unwrap_model(self.model)
        counts = self.development.hits(
            Backbone(model, self.backbone.tokenizer, self.backbone.format),
            part=self.accelerator.process_index,
            parts=self.accelerator.num_processes,
        )
        values = torch.tensor(counts, dtype=torch.float32, device=self.accelerator.device)
        top1, top_k, total = self.accelerator.reduce(values, reduction="sum").tolist()
        return {"accuracy": top1 / total, "accuracy_top_k": top_k / total}

    def _save_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        # transformers considers the best checkpoint missing if its folder does not exist yet. A
        # process that checked before the first one had made it would not wait for the others at
        # the end, and they would wait for it forever.
        folder = Path(str(self.args.output_dir)) / f"checkpoint-{self.state.global_step}"
        folder.mkdir(parents=True, exist_ok=True)
        super()._save_checkpoint(*args, **kwargs)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        folder = str(output_dir or self.args.output_dir)
        super()._save(folder, state_dict)
        self.backbone.save_settings(Path(folder))


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
        # The last checkpoint is measured like the others, whatever the number of updates.
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
    options: Mapping[str, Any],
    **own: Any,
) -> _Arguments:
    """transformers' arguments.

    kind (type): `TrainingArguments`, or TRL's.
    settings (OptimizerSettings): of the training.
    output (Path): folder of the stage.
    measured (bool): development accuracy is measured, and the best checkpoint chosen.
    options (Mapping[str, Any]): arguments of `TrainingArguments` that replace these.
    own (Any): arguments of `kind` alone.
    RETURNS (_Arguments): filled.
    RAISES (AngelError): an unknown option, or a batch that does not divide over processes and
        parts.
    """
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
    on_cpu = settings.device == "cpu" or not torch.cuda.is_available()
    # transformers leaves the precision of one trainer here for the next one in the process.
    os.environ["ACCELERATE_MIXED_PRECISION"] = "no"
    same = ("learning_rate", "weight_decay", "adam_beta1", "adam_beta2", "adam_epsilon")
    arguments: dict[str, Any] = {
        **{name: getattr(settings, name) for name in (*same, "warmup_steps", "seed")},
        "output_dir": str(output / CHECKPOINTS_FOLDER),
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
    return kind(**{**arguments, **own, **options})


def run_training(
    make_trainer: Callable[..., LinkingTrainer],
    arguments: TrainingArguments,
    collate: Callable[..., Any],
    backbone: Backbone,
    rows: TokenRows,
    settings: Any,
    output: Path,
    development: Development | None,
) -> Trained:
    """Train, continue an interrupted run, or return the result of a finished one.

    make_trainer (Callable[..., LinkingTrainer]): a class, or one with some arguments filled in.
    arguments (TrainingArguments): see `training_arguments`.
    collate (Callable[..., Any]): rows and `pad_token_id` → a batch.
    backbone (Backbone): trained in place.
    rows (TokenRows): the training set.
    settings (Any): dataclass with an `optimizer`; a run in the same folder must have had the same,
        and as many rows.
    output (Path): folder of the stage.
    development (Development | None): measured at each checkpoint.
    RETURNS (Trained): the folder `model` in `output`.
    RAISES (AngelError): there are no rows, or the folder has another run.
    """
    if not len(rows):
        raise AngelError(
            f"There is nothing to train on for {output}. Check the files and the vocabulary."
        )
    optimizer: OptimizerSettings = settings.optimizer
    output.mkdir(parents=True, exist_ok=True)
    lock_run_folder(output, {"settings": as_plain(settings), "rows": len(rows)})
    if (done := finished(output)) is not None:
        return done
    set_seed(optimizer.seed)
    set_dropout(backbone.model, optimizer.dropout, optimizer.attention_dropout)
    try:
        trainer = make_trainer(
            args=arguments,
            backbone=backbone,
            settings=optimizer,
            development=development,
            train_dataset=rows,
            data_collator=partial(collate, pad_token_id=backbone.model.config.pad_token_id),
        )
    except RuntimeError as error:  # e.g. TensorBoard is not installed
        raise AngelError(f"The settings do not work here: {error}") from error
    if trainer.args.should_save:
        print(f"Training on {len(rows):,} examples: {output}")
    train_or_resume(trainer, output)
    folder = output / MODEL_FOLDER
    accuracy = trainer.state.best_metric
    if trainer.args.should_save:
        model = trainer.accelerator.unwrap_model(trainer.model)
        Backbone(model, backbone.tokenizer, backbone.format).save(folder)
        write_result(output, {"accuracy": accuracy})
    trainer.accelerator.wait_for_everyone()
    return Trained(folder, accuracy)


def train_or_resume(trainer: Trainer, output: Path) -> None:
    """Train, from the last checkpoint if there is one.

    trainer (Trainer): with `CHECKPOINTS_FOLDER` of the output as its own.
    output (Path): folder of the stage, for the metrics.
    """
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(Report(output / METRICS_FILE))
    with trainer.args.main_process_first(desc="checkpoints"):
        checkpoint = last_checkpoint(output / CHECKPOINTS_FOLDER)
    with warnings.catch_warnings():
        # transformers calls a function by its old name, and is not sure of the age of files.
        for message in (".*torch.cpu.amp.autocast", "mtime may not be reliable"):
            warnings.filterwarnings("ignore", message)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)


def write_result(output: Path, result: Any) -> None:
    """Mark a run as finished, and remove its checkpoints, which nothing needs any more.

    output (Path): folder of the run.
    result (Any): plain values.
    """
    write_json(output / RESULT_FILE, result)
    shutil.rmtree(output / CHECKPOINTS_FOLDER, ignore_errors=True)


def finished(output: Path) -> Trained | None:
    """RETURNS (Trained | None): the result of a stage, None if it has not ended."""
    result = output / RESULT_FILE
    if not result.is_file():
        return None
    return Trained(output / MODEL_FOLDER, read_own(result, dict[str, Any])["accuracy"])


def read_own(path: Path, kind: type[_Kind]) -> _Kind:
    """Read a file that a run wrote into its folder.

    path (Path): JSON.
    kind (type[_Kind]): see `parse_as`.
    RETURNS (_Kind): its values.
    RAISES (AngelError): it is damaged.
    """
    try:
        return parse_as(path.read_bytes(), kind)
    except ValueError as error:
        raise AngelError(
            f"{path} is damaged: {error}. Remove it, and run the same command again."
        ) from error


def lock_run_folder(output: Path, run: dict[str, Any]) -> None:
    """Note which run a folder is for, and refuse the folder of another one.

    output (Path): exists.
    run (dict[str, Any]): plain values.
    RAISES (AngelError): the folder belongs to another run; names what differs.
    """
    file = output / RUN_FILE
    if not file.exists():
        write_text(file, json.dumps(run, indent=2) + "\n")
        return
    found = read_own(file, dict[str, Any])
    if found != run:
        one, other = _flat(found), _flat(run)
        names = sorted(n for n in one.keys() | other.keys() if one.get(n) != other.get(n))
        raise AngelError(
            f"{output} has a run with other settings: {', '.join(names)}. Use a new folder."
        )


def last_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; unfinished newer ones are removed.

    folder (Path): of the checkpoints; may be missing.
    RETURNS (Path | None): e.g. `checkpoint-500`.
    """
    checkpoints = sorted(
        folder.glob("checkpoint-*"), key=lambda path: -int(path.name.split("-")[-1])
    )
    for path in checkpoints:
        # The trainer writes its state last.
        try:
            parse_as((path / TRAINER_STATE_NAME).read_bytes(), dict[str, Any])
            return path
        except (OSError, ValueError):
            shutil.rmtree(path, ignore_errors=True)
    return None


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = repr(value)
    return flat
