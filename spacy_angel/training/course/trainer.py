"""What both stages share: transformers' arguments, data order, development accuracy as the
evaluation, checkpoints that link, metrics in a file, going on after a kill."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from pydantic import BaseModel
from torch.utils.data import Sampler
from transformers.trainer import TRAINER_STATE_NAME, Trainer
from transformers.trainer_callback import TrainerCallback
from transformers.trainer_utils import set_seed
from transformers.training_args import TrainingArguments

from ...errors import AngelError
from ...files.atomic import write_text
from ...files.json_values import parse_as
from ...model.checkpoint import open_checkpoint
from ..data.batches import LengthSampler
from ..models.backbones import Backbone, set_dropout
from ..settings.config_tables import OptimizerSettings, as_plain

if TYPE_CHECKING:
    from ..data.development import Development

MODEL_FOLDER = "model"
METRICS_FILE = "metrics.jsonl"
RUN_FILE = "run.json"
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


class LinkingTrainer(Trainer):
    """Base of the trainers of both stages.

    backbone (Backbone): what is trained, in place.
    settings (OptimizerSettings): of the course.
    development (Development | None): measured at each checkpoint.
    train_dataset (TokenRows): what it is trained on.
    """

    def __init__(
        self,
        *,
        backbone: Backbone,
        settings: OptimizerSettings,
        development: "Development | None",
        train_dataset: Any,
        **kwargs: Any,
    ) -> None:
        self.backbone = backbone
        self.settings = settings
        self.development = development
        self.rows = train_dataset
        super().__init__(
            model=backbone.model,
            train_dataset=train_dataset,
            # transformers wants one where accuracy is measured; ours is the search's.
            eval_dataset=train_dataset if development is not None else None,
            callbacks=[MeasureAtEnd()] if development is not None else [],
            **kwargs,
        )

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler[int]:
        return LengthSampler(self.rows.lengths, self.settings.batch_size, self.settings.seed)

    def evaluate(self, *args: Any, metric_key_prefix: str = "eval", **kwargs: Any) -> dict:
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
        metrics = {
            f"{metric_key_prefix}_accuracy": top1 / total,
            f"{metric_key_prefix}_accuracy_top_k": top_k / total,
        }
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics

    def _save_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        # transformers takes the best checkpoint to be none where its folder is not there yet. A
        # process that looked before the first one had made it would not wait for the others at the
        # end, and they would wait for it forever.
        folder = Path(str(self.args.output_dir)) / f"checkpoint-{self.state.global_step}"
        folder.mkdir(parents=True, exist_ok=True)
        super()._save_checkpoint(*args, **kwargs)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        folder = str(output_dir or self.args.output_dir)
        super()._save(folder, state_dict)
        self.backbone.save_settings(Path(folder))


class MeasureAtEnd(TrainerCallback):
    """The last checkpoint is measured like the others, whatever the number of updates."""

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Called by the trainer."""
        if state.global_step >= state.max_steps:
            control.should_evaluate = True


class MetricsFile(TrainerCallback):
    """Appends what is logged to a JSONL file, one object a line with its `step`; a resumed run
    first drops the lines after its checkpoint.

    path (Path): the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Called by the trainer."""
        if not state.is_world_process_zero:
            return
        kept = []
        if state.global_step and self.path.exists():
            for line in self.path.read_text(encoding="utf8").splitlines():
                if _step(line) <= state.global_step:
                    kept.append(line)
        write_text(self.path, "".join(line + "\n" for line in kept))

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """Called by the trainer."""
        if state.is_world_process_zero:
            with self.path.open("a", encoding="utf8") as file:
                file.write(json.dumps({"step": state.global_step, **logs}) + "\n")


def training_arguments(
    kind: type[_Arguments], settings: OptimizerSettings, output: Path, measured: bool, **extra: Any
) -> _Arguments:
    """transformers' arguments for one course.

    kind (type): `Seq2SeqTrainingArguments`, or TRL's.
    settings (OptimizerSettings): the course.
    output (Path): folder of the checkpoints.
    measured (bool): development accuracy is measured, and the best checkpoint chosen.
    extra (Any): arguments of `kind` alone.
    RETURNS (_Arguments): filled.
    RAISES (AngelError): the batch does not divide over processes and parts.
    """
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
    return kind(
        output_dir=str(output),
        per_device_train_batch_size=settings.batch_size // parts,
        gradient_accumulation_steps=settings.accumulate,
        max_steps=settings.steps or -1,
        num_train_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        adam_beta1=settings.adam_beta1,
        adam_beta2=settings.adam_beta2,
        adam_epsilon=settings.adam_epsilon,
        optim="adamw_torch_fused",
        max_grad_norm=settings.clip_norm,
        warmup_steps=settings.warmup_steps,
        lr_scheduler_type=settings.schedule,
        lr_scheduler_kwargs=_schedule_arguments(settings),
        bf16=settings.precision == "bfloat16",
        use_cpu=on_cpu,
        ddp_backend="gloo" if on_cpu and processes > 1 else None,
        ddp_find_unused_parameters=False,
        deepspeed=settings.deepspeed,
        seed=settings.seed,
        logging_steps=settings.log_every,
        save_steps=settings.checkpoint_every,
        save_total_limit=settings.keep_checkpoints,
        eval_strategy="steps" if measured else "no",
        eval_steps=settings.checkpoint_every,
        metric_for_best_model="accuracy" if measured else None,
        greater_is_better=True if measured else None,
        load_best_model_at_end=measured,
        remove_unused_columns=False,
        average_tokens_across_devices=True,
        report_to=_reporters(),
        **extra,
    )


def run_training(
    make_trainer: Callable[[Path], LinkingTrainer],
    backbone: Backbone,
    settings: Any,
    output: Path,
    n_rows: int,
) -> Trained:
    """Train, or go on where a killed run stopped, or return what a finished one left.

    make_trainer (Callable[[Path], LinkingTrainer]): gets the folder of the checkpoints.
    backbone (Backbone): trained in place.
    settings (Any): dataclass with an `optimizer`; a run that stands in `output` must have had the
        same.
    output (Path): folder of the stage.
    n_rows (int): rows of the training set, compared like the settings.
    RETURNS (Trained): the folder `model` in `output`.
    RAISES (AngelError): there are no rows; another run stands in `output`.
    """
    if not n_rows:
        raise AngelError(
            f"There is nothing to train on for {output}. Check the files and the vocabulary."
        )
    optimizer: OptimizerSettings = settings.optimizer
    output.mkdir(parents=True, exist_ok=True)
    claim_folder(output, {"settings": as_plain(settings), "rows": n_rows})
    if (done := finished(output)) is not None:
        backbone.model.load_state_dict(load_weights(done.folder), strict=False)
        return done
    set_seed(optimizer.seed)
    set_dropout(backbone.model, optimizer.dropout, optimizer.attention_dropout)
    trainer = make_trainer(output / "checkpoints")
    trainer.add_callback(MetricsFile(output / METRICS_FILE))
    with trainer.args.main_process_first(desc="checkpoints"):
        checkpoint = last_checkpoint(output / "checkpoints")
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    folder = output / MODEL_FOLDER
    accuracy = trainer.state.best_metric
    if trainer.args.should_save:
        model = trainer.accelerator.unwrap_model(trainer.model)
        Backbone(model, backbone.tokenizer, backbone.format).save(folder)
        write_text(output / "result.json", json.dumps({"accuracy": accuracy}) + "\n")
    trainer.accelerator.wait_for_everyone()
    return Trained(folder, accuracy)


def finished(output: Path) -> Trained | None:
    """RETURNS (Trained | None): what a stage left in its folder, None where it has not ended."""
    result = output / "result.json"
    if not result.is_file():
        return None
    return Trained(output / MODEL_FOLDER, read_own(result, _Result).accuracy)


class _Result(BaseModel):
    """`result.json` of a stage: the `Trained.accuracy`."""

    accuracy: float | None


class _Logged(BaseModel):
    """What every line of the metrics has."""

    step: float


def read_own(path: Path, kind: type[_Kind]) -> _Kind:
    """path (Path): JSON that a run wrote into its folder. kind (type[_Kind]): see `parse_as`.
    RETURNS (_Kind): its values. RAISES (AngelError): it is damaged."""
    try:
        return parse_as(path.read_bytes(), kind)
    except ValueError as error:
        raise AngelError(
            f"{path} is damaged: {error}. Remove it, and run the same command again."
        ) from error


def claim_folder(output: Path, run: dict[str, Any]) -> None:
    """Note what a folder's run is, and refuse the folder of another.

    output (Path): exists.
    run (dict[str, Any]): plain values.
    RAISES (AngelError): another run stands there; names what differs.
    """
    file = output / RUN_FILE
    if not file.exists():
        write_text(file, json.dumps(run, indent=2) + "\n")
        return
    there = read_own(file, dict[str, Any])
    if there != run:
        one, other = _flat(there), _flat(run)
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


def load_weights(folder: Path) -> dict[str, torch.Tensor]:
    """RETURNS (dict[str, Tensor]): the weights of a saved model, tied ones perhaps once."""
    return open_checkpoint(folder).module().state_dict()


def _schedule_arguments(settings: OptimizerSettings) -> dict[str, float]:
    return {"lr_end": settings.end_learning_rate} if settings.schedule == "polynomial" else {}


def _reporters() -> list[str]:
    from transformers.integrations import is_tensorboard_available

    return ["tensorboard"] if is_tensorboard_available() else []


def _step(line: str) -> float:
    """Step of a line of the metrics; a line cut off by a kill counts as after everything."""
    try:
        return parse_as(line, _Logged).step
    except ValueError:
        return float("inf")


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = repr(value)
    return flat
