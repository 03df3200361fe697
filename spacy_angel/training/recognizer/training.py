"""Training of a recognizer on partially annotated corpora, with transformers' Trainer."""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import torch
from spacy.scorer import PRFScore
from transformers.trainer_utils import set_seed
from transformers.training_args import TrainingArguments

from ...files.markdown import markdown_table
from ...recognition.finder import MentionFinder
from ...recognition.found import FoundMention
from ...recognition.network import TaggingNetwork
from ..course.run_folder import is_finished, read_result
from ..course.trainer import StageTrainer, train, training_arguments
from .config import IGNORED, RecognizerConfig
from .data import Annotated, RecognizerTexts, collate, make_rows, read_texts
from .module import RecognizerModule, Start, open_start

_F_SCORE = "mean_f_score"


def count_mentions(
    texts: Sequence[Annotated], found: Sequence[Sequence[FoundMention]]
) -> dict[str, PRFScore]:
    """Compare found mentions with the annotation, by label. Labels that a corpus does not annotate
    are not counted, nor are mentions that overlap an ignored one.

    texts (Sequence[Annotated]): documents.
    found (Sequence[Sequence[FoundMention]]): the mentions found in each.
    RETURNS (dict[str, PRFScore]): by label, for exact offsets.
    """
    scores: dict[str, PRFScore] = defaultdict(PRFScore)
    for annotated, mentions in zip(texts, found, strict=True):
        for label in annotated.labels:
            own = annotated.document.mentions
            gold = {(m.start, m.end) for m in own if m.label == label}
            ignored = [(m.start, m.end) for m in own if m.label == label + IGNORED]
            offsets = {(m.start, m.end) for m in mentions if m.label == label}
            counted = {
                (start, end)
                for start, end in offsets - gold
                if not any(start < last and first < end for first, last in ignored)
            }
            scores[label].score_set(counted | (offsets & gold), gold)
    return scores


class RecognizerTrainer(StageTrainer):
    """Trainer that measures the mentions found by the recognizer.

    module (RecognizerModule): trained in place.
    start (Start): the initial state.
    texts (RecognizerTexts): those for choosing are evaluated at each checkpoint, those for testing
        at the end.
    kwargs (Any): see `StageTrainer`.
    """

    def __init__(
        self, *, module: RecognizerModule, start: Start, texts: RecognizerTexts, **kwargs: Any
    ) -> None:
        self.start = start
        self.texts = texts
        super().__init__(
            model=module,
            measured=bool(texts.choose),
            data_collator=partial(collate, pad_token_id=start.form.encoder["pad_token_id"]),
            **kwargs,
        )

    def measure(self) -> dict[str, float]:
        """F-scores of the labels, and their mean."""
        module: Any = self.accelerator.unwrap_model(self.model)
        finder = as_finder(module, self.start, self.accelerator.device)
        labels = measure(finder, self.texts.choose)
        scores = {name: labels[name].fscore for name in finder.labels if name in labels}
        by_name = {f"f_{label}": score for label, score in scores.items()}
        return {_F_SCORE: fmean(scores.values()), **by_name}

    def finish(self, folder: Path) -> dict[str, Any]:
        """Save int8 weights, and evaluate the saved model on both sets of texts."""
        module: Any = self.accelerator.unwrap_model(self.model)
        as_finder(module, self.start, torch.device("cpu")).to_disk(folder, storage="int8")
        finder = MentionFinder.from_disk(folder, self.accelerator.device.type)
        return {
            part: {label: _figures(score) for label, score in measure(finder, texts).items()}
            for part, texts in (("choose", self.texts.choose), ("test", self.texts.test))
        }


def as_finder(module: RecognizerModule, start: Start, device: torch.device) -> MentionFinder:
    """Make a recognizer with a copy of the current weights.

    module (RecognizerModule): the trained module.
    start (Start): its initial state.
    device (torch.device): device on which it runs, in float32.
    RETURNS (MentionFinder): the recognizer.
    """
    config = SimpleNamespace(**start.form.encoder)
    network = TaggingNetwork(config, module.weights(), device, torch.float32)
    return MentionFinder(start.form, start.reader, network)


def measure(finder: MentionFinder, texts: Sequence[Annotated]) -> dict[str, PRFScore]:
    """Compare the mentions that a recognizer finds with the annotation.

    finder (MentionFinder): a recognizer.
    texts (Sequence[Annotated]): documents.
    RETURNS (dict[str, PRFScore]): see `count_mentions`.
    """
    return count_mentions(texts, finder.find([annotated.document.text for annotated in texts]))


def train_recognizer(config: RecognizerConfig, output: Path) -> dict[str, Any]:
    """Train, continue an interrupted run, or return the result of a finished one.

    config (RecognizerConfig): the recipe.
    output (Path): folder of the run; the recognizer is in `model`, with int8 weights.
    RETURNS (dict[str, Any]): `mentions`, and `precision`, `recall`, `f` in percent, of each label
        for the best checkpoint, on the texts for choosing it and on the test texts:
        `{"choose": {"GENE": {"mentions": …}}, "test": …}`.
    RAISES (AngelError): a file that cannot be read, a model of the wrong kind, nothing to train on,
        or another run in the folder.
    """
    optimizer, settings = config.optimizer, config.recogniser
    set_seed(optimizer.seed)
    start = open_start(settings)
    texts = read_texts(config)
    rows = make_rows(texts.train, config.data, start.form, start.reader)
    if not is_finished(output, config, len(rows)):
        module = RecognizerModule(start.encoder, len(settings.labels))
        module.encoder.get_input_embeddings().weight.requires_grad_(settings.train_embeddings)
        if start.source is not None:
            module.copy_weights(start.source, settings.labels)
        arguments = training_arguments(
            TrainingArguments, optimizer, output, bool(texts.choose), config.trainer
        )
        if texts.choose:
            arguments.metric_for_best_model = _F_SCORE
        trainer = RecognizerTrainer(
            module=module.train(),
            start=start,
            texts=texts,
            settings=optimizer,
            train_dataset=rows,
            args=arguments,
        )
        train(trainer, output)
    result = read_result(output, dict[str, dict[str, dict[str, int | float]]])
    assert result is not None
    return result


def _figures(score: PRFScore) -> dict[str, float]:
    rates = {"precision": score.precision, "recall": score.recall, "f": score.fscore}
    return {"mentions": score.tp + score.fn, **{name: 100 * x for name, x in rates.items()}}


def score_table(scores: dict[str, Any], labels: Sequence[str]) -> str:
    """Format the result of a training as a table.

    scores (dict[str, Any]): the result of `train_recognizer`.
    labels (Sequence[str]): in the order of the table.
    RETURNS (str): a Markdown table.
    """
    return markdown_table(
        {"label": label, "texts for": use, **scores[part][label]}
        for label in labels
        for part, use in (("choose", "choosing"), ("test", "test"))
        if label in scores[part]
    )
