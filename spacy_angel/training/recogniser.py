"""A recogniser's training: encoder, cases and tags by partial annotation; transformers' Trainer."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import Sampler
from transformers.modeling_outputs import ModelOutput
from transformers.trainer import Trainer
from transformers.trainer_utils import set_seed
from transformers.training_args import TrainingArguments

from ..errors import AngelError, Errors
from ..files.atomic import write_json
from ..model.bart import is_supported
from ..model.bart_encoder import SHARED
from ..model.checkpoint import Checkpoint, open_checkpoint
from ..recognition.finder import ENCODER_FIELDS, FinderConfig, MentionFinder
from ..recognition.network import OWN, TaggingNetwork, mean_by_word
from ..recognition.tags import N_TAGS
from ..recognition.words import CASES, WordReader
from .backbones import fast_attention, set_dropout
from .batches import LengthSampler
from .config import as_plain
from .losses import IGNORE
from .recogniser_config import RecogniserConfig
from .recogniser_data import (
    Annotated,
    MentionCounts,
    TaggedRows,
    by_label,
    collate,
    count_mentions,
    make_rows,
    read_texts,
)
from .recogniser_source import open_source
from .trainer import (
    METRICS_FILE,
    MODEL_FOLDER,
    MeasureAtEnd,
    MetricsFile,
    claim_folder,
    last_checkpoint,
    read_own,
    training_arguments,
)

RESULT_FILE = "result.json"
_F_SCORE = "mean_f_score"
_DROPOUT = 0.1
_TEXTS_AT_ONCE = 64
_HEAD = f"{OWN}head."


class RecogniserModule(nn.Module):
    """What is trained: `recognition.network.TaggingNetwork` with gradients.

    encoder (Any): transformers' BartEncoder.
    n_labels (int): labels.
    """

    def __init__(self, encoder: Any, n_labels: int) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.config.d_model
        self.cases = nn.Embedding(CASES, width)
        # At first the encoder reads what it is used to.
        nn.init.zeros_(self.cases.weight)
        self.dropout = nn.Dropout(_DROPOUT)
        self.head = nn.Linear(width, n_labels * N_TAGS)
        self.n_labels = n_labels

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        cases: Tensor,
        words: Tensor,
        n_words: Tensor,
        tags: Tensor,
    ) -> ModelOutput:
        """The arguments are those of `recogniser_data.collate`.

        RETURNS (ModelOutput): `loss`, see `tag_loss`.
        """
        vectors = self.encoder.embed_tokens(input_ids) + self.cases(cases)
        states = self.encoder(inputs_embeds=vectors, attention_mask=attention_mask)[0]
        lengths = attention_mask.sum(dim=1)
        pieces = states[attention_mask.bool()].float()
        of_words = mean_by_word(pieces, words, lengths, n_words.tolist())
        logits = self.head(self.dropout(of_words)).float()
        return ModelOutput(loss=tag_loss(logits.view(-1, self.n_labels, N_TAGS), tags))

    def weights(self) -> dict[str, Tensor]:
        """RETURNS (dict[str, Tensor]): as `TaggingNetwork` reads them."""
        named = {}
        for name, tensor in self.state_dict().items():
            if name == "encoder.embed_tokens.weight":
                named[SHARED] = tensor
            elif name.startswith("encoder."):
                named[f"model.{name}"] = tensor
            else:
                named[OWN + name] = tensor
        return named

    def take(self, finder: MentionFinder, labels: Sequence[str]) -> None:
        """Go on from a recogniser; tags of labels that it does not have stay as they are.

        finder (MentionFinder): with an encoder of the same shape. labels (Sequence[str]): of this
            module's tags.
        """
        theirs = finder.weights()
        weights = {name: theirs[name] for name in self.weights() if not name.startswith(_HEAD)}
        for name, own in self.weights().items():
            if name.startswith(_HEAD):
                rows = own.unflatten(0, (len(labels), N_TAGS)).clone()
                for i, label in enumerate(labels):
                    if label in finder.labels:
                        shape = (len(finder.labels), N_TAGS)
                        rows[i] = theirs[name].unflatten(0, shape)[finder.labels.index(label)]
                weights[name] = rows.flatten(0, 1)
        with torch.no_grad():
            for name, own in self.weights().items():
                own.copy_(weights[name])


def tag_loss(logits: Tensor, tags: Tensor) -> Tensor:
    """Cross entropy over the words and labels that are annotated.

    logits (Tensor): [words, labels, 3]. tags (Tensor): int64[words, labels], `IGNORE` for what is
        left open. RETURNS (Tensor): the mean; 0 where all is open.
    """
    losses = functional.cross_entropy(
        logits.flatten(0, 1), tags.flatten(), ignore_index=IGNORE, reduction="sum"
    )
    return losses / (tags != IGNORE).sum().clamp_min(1)


class RecogniserTrainer(Trainer):
    """transformers' Trainer with batches by length, measured by what is found.

    module (RecogniserModule): trained in place.
    form (FinderConfig), reader (WordReader): the recogniser's.
    texts (Sequence[Annotated]): measured on at each checkpoint.
    train_dataset (TaggedRows): what it is trained on.
    """

    def __init__(
        self,
        *,
        module: RecogniserModule,
        form: FinderConfig,
        reader: WordReader,
        texts: Sequence[Annotated],
        train_dataset: TaggedRows,
        args: TrainingArguments,
    ) -> None:
        self.form = form
        self.reader = reader
        self.texts = texts
        self.rows = train_dataset
        pad_token_id = form.encoder["pad_token_id"]
        super().__init__(
            model=module,
            args=args,
            train_dataset=train_dataset,
            # transformers wants one where something is measured; ours are the texts.
            eval_dataset=train_dataset if texts else None,
            data_collator=lambda items: collate(items, pad_token_id),
            callbacks=[MeasureAtEnd()] if texts else [],
        )

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler[int]:
        return LengthSampler(self.rows.lengths, self.args.train_batch_size, self.args.seed)

    def evaluate(self, *args: Any, metric_key_prefix: str = "eval", **kwargs: Any) -> dict:
        """F-scores of the labels, and their mean."""
        module: Any = self.accelerator.unwrap_model(self.model)
        device = self.accelerator.device
        labels = by_label(measure(as_finder(module, self.form, self.reader, device), self.texts))
        scores = {label: labels[label].f_score for label in self.form.labels if label in labels}
        metrics = {
            f"{metric_key_prefix}_{_F_SCORE}": sum(scores.values()) / len(scores),
            **{f"{metric_key_prefix}_f_{label}": score for label, score in scores.items()},
        }
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics


def as_finder(
    module: RecogniserModule, form: FinderConfig, reader: WordReader, device: torch.device
) -> MentionFinder:
    """A recogniser with the weights as they are now.

    module (RecogniserModule): its weights are copied.
    form (FinderConfig), reader (WordReader): the recogniser's.
    device (torch.device): where it runs, in float32.
    RETURNS (MentionFinder): for use.
    """
    network = TaggingNetwork(
        SimpleNamespace(**form.encoder), module.weights(), device, torch.float32
    )
    return MentionFinder(form, reader, network)


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


def train_recogniser(config: RecogniserConfig, output: Path) -> dict[str, Any]:
    """Train, or go on where a killed run stopped, or return what a finished one left.

    config (RecogniserConfig): the recipe.
    output (Path): folder of the run; the recogniser lies in `model`, with int8 weights.
    RETURNS (dict[str, Any]): of the best checkpoint, over the texts for choosing and those for the
        last look, the counts of each label: `{"choose": {"GENE": {"right": …}}, "last_look": …}`.
    RAISES (AngelError): a file that cannot be read, a model whose encoder is no BART's, or another
        run in the folder.
    """
    checkpoint = open_checkpoint(config.recogniser.start)
    form, reader = _form(config, checkpoint)
    texts = read_texts(config)
    if not texts.train:
        raise AngelError(Errors.E604.format(output=output))
    output.mkdir(parents=True, exist_ok=True)
    claim_folder(output, {"settings": as_plain(config), "texts": len(texts.train)})
    result = output / RESULT_FILE
    if result.is_file():
        return read_own(result, dict[str, dict[str, dict[str, Any]]])
    set_seed(config.optimizer.seed)
    trainer = _make_trainer(config, checkpoint, form, reader, texts.train, texts.choose, output)
    saved = last_checkpoint(output / "checkpoints")
    trainer.train(resume_from_checkpoint=str(saved) if saved else None)
    module: Any = trainer.accelerator.unwrap_model(trainer.model)
    finder = as_finder(module, form, reader, torch.device("cpu"))
    finder.to_disk(output / MODEL_FOLDER, storage="int8")
    # What was written is measured, not what it was rounded from.
    stored = MentionFinder.from_disk(output / MODEL_FOLDER)
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


def _form(config: RecogniserConfig, checkpoint: Checkpoint) -> tuple[FinderConfig, WordReader]:
    definition = checkpoint.folder / "tokenizer.json"
    if not is_supported(checkpoint.config) or not definition.is_file():
        model_type = checkpoint.config.model_type
        raise AngelError(Errors.E623.format(path=checkpoint.folder, model_type=model_type))
    settings = config.recogniser
    encoder = {name: getattr(checkpoint.config, name) for name in ENCODER_FIELDS}
    try:
        form = FinderConfig(settings.labels, settings.window, settings.overlap, encoder)
    except ValueError as error:
        raise AngelError(Errors.E600.format(path="[recogniser]", problems=error)) from error
    return form, WordReader(definition.read_text(encoding="utf8"))


def _make_trainer(
    config: RecogniserConfig,
    checkpoint: Checkpoint,
    form: FinderConfig,
    reader: WordReader,
    train: Sequence[Annotated],
    choose: Sequence[Annotated],
    output: Path,
) -> RecogniserTrainer:
    optimizer = config.optimizer
    model: Any = checkpoint.module(attn_implementation=fast_attention())
    module = RecogniserModule(model.get_encoder(), len(form.labels))
    module.encoder.embed_tokens.weight.requires_grad_(config.recogniser.train_embeddings)
    if config.recogniser.source:
        module.take(open_source(config.recogniser.source, form, reader), form.labels)
    set_dropout(module, optimizer.dropout, optimizer.attention_dropout)
    arguments = training_arguments(
        TrainingArguments, optimizer, output / "checkpoints", measured=bool(choose)
    )
    if choose:
        arguments.metric_for_best_model = _F_SCORE
    trainer = RecogniserTrainer(
        module=module.train(),
        form=form,
        reader=reader,
        texts=choose,
        train_dataset=make_rows(train, config, form, reader),
        args=arguments,
    )
    trainer.add_callback(MetricsFile(output / METRICS_FILE))
    return trainer
