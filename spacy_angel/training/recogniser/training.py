"""A recogniser's training: encoder, cases and tags by partial annotation; transformers' Trainer."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils.data import Sampler
from transformers.trainer import Trainer
from transformers.trainer_utils import set_seed
from transformers.training_args import TrainingArguments

from ...errors import AngelError
from ...files.atomic import write_json
from ...recognition.finder import MentionFinder
from ...recognition.network import TaggingNetwork
from ..course.trainer import (
    METRICS_FILE,
    MODEL_FOLDER,
    RUN_FILE,
    MeasureAtEnd,
    MetricsFile,
    claim_folder,
    last_checkpoint,
    read_own,
    training_arguments,
)
from ..data.batches import LengthSampler
from ..models.backbones import set_dropout
from ..settings.config_tables import as_plain
from .config import ReadingSettings, RecogniserConfig
from .counts import MentionCounts, by_label, count_mentions
from .data import collate, make_rows
from .module import RecogniserModule
from .reading import UnmarkedTexts, read_unmarked
from .rows import TaggedRows, digest_of
from .start import Start, open_start
from .teacher import Teachers, TeachersNetwork, open_teacher, save_teacher
from .texts import Annotated, RecogniserTexts, read_texts

RESULT_FILE = "result.json"
_ROWS_FILE = "rows.safetensors"
_UNMARKED_FILE = "unmarked.safetensors"
_TAUGHT_FOLDER = "taught"
_F_SCORE = "mean_f_score"
_TEXTS_AT_ONCE = 64


@dataclass(frozen=True)
class Prepared:
    """What a run has read.

    start (Start): where it begins.
    texts (RecogniserTexts): the documents, those to measure on among them.
    rows (TaggedRows): what is learned from.
    unmarked (UnmarkedTexts | None): what is read beside them.
    """

    start: Start
    texts: RecogniserTexts
    rows: TaggedRows
    unmarked: UnmarkedTexts | None


class RecogniserTrainer(Trainer):
    """transformers' Trainer with batches by length, measured by what is found.

    module (RecogniserModule): trained in place.
    start (Start): what it began as.
    texts (Sequence[Annotated]): measured on at each checkpoint.
    train_dataset (TaggedRows): what it is trained on.
    unmarked (UnmarkedTexts | None): what it reads beside them.
    width (int): pieces of each window with what fills it up; 0: those of the longest in a batch.
    """

    def __init__(
        self,
        *,
        module: RecogniserModule,
        start: Start,
        texts: Sequence[Annotated],
        train_dataset: TaggedRows,
        unmarked: UnmarkedTexts | None,
        width: int,
        args: TrainingArguments,
    ) -> None:
        self.start = start
        self.unmarked = unmarked
        self.texts = texts
        self.rows = train_dataset
        pad_token_id = start.form.encoder["pad_token_id"]
        super().__init__(
            model=module,
            args=args,
            train_dataset=train_dataset,
            # transformers wants one where something is measured; ours are the texts.
            eval_dataset=train_dataset if texts else None,
            data_collator=lambda items: collate(items, pad_token_id, width),
            callbacks=[MeasureAtEnd()] if texts else [],
        )

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler[int]:
        return LengthSampler(self.rows.lengths, self.args.train_batch_size, self.args.seed)

    def compute_loss(self, model: Any, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """With what is read beside the examples."""
        if self.unmarked is not None:
            # Each process reads windows of its own.
            seed = self.args.seed + self.args.process_index
            batch: dict[str, Any] = {**self.unmarked.batch(seed, self.state.global_step)}
            inputs = {**inputs, **self._prepare_inputs(batch)}
        return super().compute_loss(model, inputs, *args, **kwargs)

    def evaluate(self, *args: Any, metric_key_prefix: str = "eval", **kwargs: Any) -> dict:
        """F-scores of the labels, and their mean."""
        module: Any = self.accelerator.unwrap_model(self.model)
        device = self.accelerator.device
        # Texts have other shapes than those that layers were compiled for.
        with torch.compiler.set_stance("force_eager"):
            labels = by_label(measure(as_finder(module, self.start, device), self.texts))
        known = self.start.form.labels
        scores = {label: labels[label].f_score for label in known if label in labels}
        metrics = {
            f"{metric_key_prefix}_{_F_SCORE}": sum(scores.values()) / len(scores),
            **{f"{metric_key_prefix}_f_{label}": score for label, score in scores.items()},
        }
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics


def as_finder(module: RecogniserModule, start: Start, device: torch.device) -> MentionFinder:
    """A recogniser with the weights as they are now.

    module (RecogniserModule): its weights are copied, but for a teacher's.
    start (Start): what it began as.
    device (torch.device): where it runs, in float32.
    RETURNS (MentionFinder): for use.
    """
    network: Any
    if start.is_teacher:
        network = TeachersNetwork(module, start.form, device)
    else:
        config = SimpleNamespace(**start.form.encoder)
        network = TaggingNetwork(config, module.weights(), device, torch.float32)
    return MentionFinder(start.form, start.reader, network)


def measure(
    finder: MentionFinder, texts: Sequence[Annotated]
) -> dict[tuple[str, str], MentionCounts]:
    """finder (MentionFinder): a recogniser. texts (Sequence[Annotated]): documents.
    RETURNS (dict[tuple[str, str], MentionCounts]): see `count_mentions`."""
    found = []
    for begin in range(0, len(texts), _TEXTS_AT_ONCE):
        group = texts[begin : begin + _TEXTS_AT_ONCE]
        found += finder.find([annotated.document.text for annotated in group])
    return count_mentions(texts, found)


def prepare_recogniser(config: RecogniserConfig, output: Path) -> Prepared:
    """Read all that is learned from, or what an earlier call has left of it.

    config (RecogniserConfig): the recipe.
    output (Path): folder of the run, where it is kept; it may go to another machine.
    RETURNS (Prepared): before any teacher has been asked.
    RAISES (AngelError): a file that cannot be read, a model whose encoder is no BART's, or another
        run in the folder.
    """
    set_seed(config.optimizer.seed)
    start = open_start(config.recogniser)
    texts = read_texts(config)
    if not texts.train:
        raise AngelError(
            f"There is nothing to train on for {output}. Check the files and the vocabulary."
        )
    output.mkdir(parents=True, exist_ok=True)
    run = {"settings": as_plain(config), "texts": len(texts.train)}
    claim_folder(output, run | {"read": _read(config, start, output)})
    file = output / _ROWS_FILE
    if not file.is_file():
        make_rows(texts.train, config, start.form, start.reader).to_disk(file)
    rows = TaggedRows.from_disk(file)
    return Prepared(start, texts, rows, _unmarked(config.reading, start, output / _UNMARKED_FILE))


def _read(config: RecogniserConfig, start: Start, output: Path) -> dict[str, str]:
    """Digests of what is prepared from. Texts that were read may be missing on another machine."""
    corpora = digest_of([Path(corpus.path) for corpus in config.corpora.values()])
    tokenizer = hashlib.md5(start.reader.definition.encode(), usedforsecurity=False).hexdigest()
    digests = {"corpora": corpora, "tokenizer": tokenizer[:12]}
    reading = config.reading
    files = [Path(path) for path in reading.files if reading.windows or reading.taught]
    if all(path.is_file() for path in files):
        return {**digests, "texts": digest_of(files)}
    there = output / RUN_FILE
    recorded = read_own(there, dict[str, Any]) if there.is_file() else {}
    return {**digests, "texts": recorded.get("read", {}).get("texts", "")}


def _unmarked(reading: ReadingSettings, start: Start, file: Path) -> UnmarkedTexts | None:
    if file.is_file():
        return UnmarkedTexts.from_disk(file, reading, start.form, start.reader)
    unmarked = read_unmarked(reading, start.form, start.reader)
    if unmarked is not None:
        unmarked.to_disk(file)
    return unmarked


def train_recogniser(config: RecogniserConfig, output: Path) -> dict[str, Any]:
    """Train, or go on where a killed run stopped, or return what a finished one left.

    config (RecogniserConfig): the recipe.
    output (Path): folder of the run; the recogniser lies in `model`, with int8 weights.
    RETURNS (dict[str, Any]): of the best checkpoint, over the texts for choosing and those for the
        last look, the counts of each label: `{"choose": {"GENE": {"right": …}}, "last_look": …}`.
    RAISES (AngelError): those of `prepare_recogniser`, and of `teacher.Teachers`.
    """
    prepared = prepare_recogniser(config, output)
    result = output / RESULT_FILE
    if result.is_file():
        return read_own(result, dict[str, dict[str, dict[str, Any]]])
    start, texts = prepared.start, prepared.texts
    trainer = _make_trainer(config, prepared, output)
    saved = last_checkpoint(output / "checkpoints")
    trainer.train(resume_from_checkpoint=str(saved) if saved else None)
    module: Any = trainer.accelerator.unwrap_model(trainer.model)
    folder = output / MODEL_FOLDER
    if start.is_teacher:
        save_teacher(folder, module, start.form, start.reader)
    else:
        as_finder(module, start, torch.device("cpu")).to_disk(folder, storage="int8")
    # What was written is measured, not what it was rounded from.
    stored = open_teacher(folder)
    scores = {
        part: {label: asdict(one) for label, one in by_label(measure(stored, some)).items()}
        for part, some in (("choose", texts.choose), ("last_look", texts.last_look))
    }
    write_json(result, scores)
    return scores


def score_table(scores: dict[str, Any], labels: Sequence[str]) -> str:
    """scores (dict[str, Any]): of `train_recogniser`. labels (Sequence[str]): in the table's order.
    RETURNS (str): precision, recall and F-score in per cent as a Markdown table."""
    lines = ["| label | texts for | mentions | precision | recall | F-score |", "|" + "---|" * 6]
    for label in labels:
        for part in ("choose", "last_look"):
            if label not in scores[part]:
                continue
            one = MentionCounts(**scores[part][label])
            rates = (one.right / max(one.found, 1), one.right / max(one.gold, 1), one.f_score)
            figures = " | ".join(f"{100 * rate:.1f}" for rate in rates)
            use = "choosing" if part == "choose" else "the last look"
            lines.append(f"| {label} | {use} | {one.gold:,} | {figures} |")
    return "\n".join(lines)


def _make_trainer(config: RecogniserConfig, prepared: Prepared, output: Path) -> RecogniserTrainer:
    optimizer, settings, start = config.optimizer, config.recogniser, prepared.start
    rows, unmarked = _taught(config, prepared, output / _TAUGHT_FOLDER)
    module = RecogniserModule(
        start.encoder,
        len(settings.labels),
        is_teacher=start.is_teacher,
        reading=config.reading if unmarked else None,
    )
    embeddings = module.encoder.get_input_embeddings()
    embeddings.weight.requires_grad_(settings.train_embeddings)
    for layer in module.layers[: settings.frozen_layers]:
        layer.requires_grad_(False)
    if start.source is not None:
        module.take(start.source, settings.labels)
    set_dropout(module, optimizer.dropout, optimizer.attention_dropout)
    if settings.compiled:
        module.compile_layers()
    choose = prepared.texts.choose
    arguments = training_arguments(
        TrainingArguments,
        optimizer,
        output / "checkpoints",
        measured=bool(choose),
        # Another shape would be compiled for; a batch there has to be.
        dataloader_drop_last=settings.compiled and len(rows) >= optimizer.batch_size,
    )
    if choose:
        arguments.metric_for_best_model = _F_SCORE
    trainer = RecogniserTrainer(
        module=module.train(),
        start=start,
        texts=choose,
        train_dataset=rows,
        unmarked=unmarked,
        width=settings.window if settings.compiled or unmarked else 0,
        args=arguments,
    )
    trainer.add_callback(MetricsFile(output / METRICS_FILE))
    return trainer


def _taught(
    config: RecogniserConfig, prepared: Prepared, folder: Path
) -> tuple[TaggedRows, UnmarkedTexts | None]:
    """With what the teachers say, where there are some."""
    rows, unmarked, settings = prepared.rows, prepared.unmarked, config.recogniser
    if settings.teachers:
        teachers = Teachers(settings.teachers, prepared.start.reader, settings.labels)
        rows = replace(rows, taught=teachers.teach(len(rows), rows.row, folder / "corpora"))
        if unmarked is not None and config.reading.taught:
            said = teachers.teach(unmarked.n_cased, unmarked.row, folder / "texts")
            unmarked = replace(unmarked, taught=said)
    return rows, unmarked
