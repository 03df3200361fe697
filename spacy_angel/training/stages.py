"""The stages of a config, one function a command: data in, a model folder out.

Every function can be run again after a kill, and under `torchrun` or `accelerate launch`.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from accelerate import PartialState
from transformers.trainer_utils import set_seed

from ..errors import AngelError
from ..files.atomic import write_text
from ..model.checkpoint import PROMPT_FILE, checkpoint_folder
from .course.negative import train_negative
from .course.positive import train_positive
from .course.trainer import MODEL_FOLDER, Trained, claim_folder, finished
from .data.batches import TokenRows, encode_examples, encode_pairs
from .data.clauses import clause_pairs, clauses, n_clauses
from .data.corpus import LabelledMention, split_by_text
from .data.development import Development
from .data.positives import positive_examples
from .data.preferences import (
    correction_pairs,
    mine_pairs,
    read_corrections,
    read_pairs,
    write_pairs,
)
from .data.references import reference_log_probs
from .data.sources import TrainingData
from .models.backbone_kinds import make_backbone
from .models.backbones import Backbone, load_backbone
from .models.losses import all_losses
from .models.prediction import generator_of
from .settings.config_tables import (
    NegativeSettings,
    OptimizerSettings,
    TrainingConfig,
    as_plain,
)

logger = logging.getLogger(__name__)


def pretrain(config: TrainingConfig, output: Path) -> Trained:
    """Both stages over the vocabulary (ANGEL, section 3.3).

    config (TrainingConfig): sections `data`, `backbone`, `development`, `pretrain`.
    output (Path): folder; `positive` and `negative` in it.
    RETURNS (Trained): of the second stage.
    """
    data = TrainingData(config)
    settings = config.pretrain
    # New rows and layers are drawn by chance.
    set_seed(settings.positive.optimizer.seed)
    backbone = _on_device(make_backbone(config.backbone, data.names), settings.positive.optimizer)
    if finished(output / "positive") is None:
        total = n_clauses(data)
        rows = encode_examples(clauses(data), backbone.prompts, backbone.max_target_tokens, total)
        _say_dropped(rows)
        # This stage runs to its end: how clauses transfer to the sentences of a corpus wavers from
        # checkpoint to checkpoint, long before the names are learned.
        train_positive(backbone, rows, settings.positive, output / "positive")
    backbone = _on_device(
        load_backbone(output / "positive" / MODEL_FOLDER), settings.negative.optimizer
    )
    folder = output / "negative"
    folder.mkdir(parents=True, exist_ok=True)
    pairs_file = folder / "pairs.jsonl"
    if not pairs_file.exists():
        with PartialState().main_process_first():
            if not pairs_file.exists():
                write_pairs(pairs_file, clause_pairs(data))
    return _train_on_pairs(backbone, pairs_file, settings.negative, folder, data.development)


def fine_tune(config: TrainingConfig, output: Path, start: str | Path | None = None) -> Trained:
    """Positive-only training on a corpus.

    config (TrainingConfig): sections `data`, `backbone`, `development`, `positive`.
    output (Path): folder of the stage.
    start (str | Path | None): a pre-trained model, see `model.checkpoint.checkpoint_folder`; None
        starts from the backbone.
    RETURNS (Trained): the best checkpoint.
    """
    return _fine_tune(TrainingData(config), output, start)


def mine(
    config: TrainingConfig, start: str | Path, output: Path, before: str | Path | None = None
) -> int:
    """Preference pairs over the whole training set, with the corrections, if any.

    config (TrainingConfig): sections `data`, `negative.pairs`; with folds `positive` as well.
    start (str | Path): the positive-only model; unused with folds.
    output (Path): JSONL to write; the models of the folds are beside it, `pairs_folds` for
        `pairs.jsonl`.
    before (str | Path | None): the model that positive-only training began with, needed for folds.
    RETURNS (int): number of pairs.
    RAISES (AngelError): folds without `before`, or models of other folds beside `output`.
    """
    data = TrainingData(config)
    settings = config.negative
    output.parent.mkdir(parents=True, exist_ok=True)
    if settings.pairs.folds <= 1:
        backbone = _on_device(_given(config, start), settings.optimizer)
        return _mine(data, backbone, data.train, settings, output, with_corrections=True)
    if before is None:
        raise AngelError(
            f"negative.pairs.folds = {settings.pairs.folds} needs --pairs from `train mine`."
        )
    folds = output.with_name(f"{output.stem}_folds")
    folds.mkdir(exist_ok=True)
    run = {"before": str(before), "folds": settings.pairs.folds, "train": list(config.data.train)}
    claim_folder(folds, run)
    files = []
    for number, part in enumerate(split_by_text(data.train, settings.pairs.folds)):
        folder = folds / f"fold-{number}"
        trained = _fine_tune(data.without(part), folder, before)
        backbone = _on_device(load_backbone(trained.folder), settings.optimizer)
        files.append(folder / "pairs.jsonl")
        _mine(data, backbone, part, settings, files[-1], with_corrections=number == 0)
    return _join(files, output)


def train_preferences(
    config: TrainingConfig,
    start: str | Path,
    output: Path,
    pairs: Path | None = None,
    before: str | Path | None = None,
) -> Trained:
    """Negative-aware training: on a file of pairs, or mining them, by folds or in rounds.

    config (TrainingConfig): sections `data`, `development`, `negative`.
    start (str | Path): the positive-only model.
    output (Path): folder of the stage.
    pairs (Path | None): as `mine` wrote it; None mines in `negative.rounds` rounds, or by
        `negative.pairs.folds` into `pairs.jsonl` in the output.
    before (str | Path | None): the model that positive-only training began with, to mine by folds.
    RETURNS (Trained): the best checkpoint, of all rounds.
    RAISES (AngelError): folds without `pairs` or `before`, rounds with either; corrections that
        leave the model worse on the development set than the one it began with.
    """
    data = TrainingData(config)
    trained = _train_preferences(data, start, output, pairs, before)
    if config.data.corrections and data.development is not None and trained.accuracy is not None:
        own = _on_device(_given(config, start), config.negative.optimizer)
        top1, _, n = data.development.hits(own)
        if trained.accuracy < top1 / n:
            raise AngelError(
                f"The corrections did not help: {trained.accuracy:.1%} right with "
                f"{trained.folder}, {top1 / n:.1%} with {start}."
            )
    return trained


def _train_preferences(
    data: TrainingData,
    start: str | Path,
    output: Path,
    pairs: Path | None,
    before: str | Path | None,
) -> Trained:
    config, settings = data.config, data.config.negative
    folds = settings.pairs.folds
    if settings.rounds > 1 and (pairs is not None or folds > 1):
        other = f"the file {pairs}" if pairs is not None else f"negative.pairs.folds = {folds}"
        raise AngelError(f"negative.rounds = {settings.rounds} mines new pairs: leave out {other}.")
    if pairs is None and folds > 1:
        pairs = output / "pairs.jsonl"
        if not pairs.exists():
            mine(config, start, pairs, before)
    if pairs is not None:
        backbone = _on_device(_given(config, start), settings.optimizer)
        return _train_on_pairs(backbone, pairs, settings, output, data.development)
    return _train_in_rounds(data, settings, start, output)


def starting_model(config: TrainingConfig, start: str | Path | None) -> Backbone:
    """The model that positive-only training begins with.

    config (TrainingConfig): sections `data`, `backbone`, `positive`.
    start (str | Path | None): see `fine_tune`.
    RETURNS (Backbone): on the CPU.
    """
    return _starting_model(TrainingData(config), start)


def _starting_model(data: TrainingData, start: str | Path | None) -> Backbone:
    config = data.config
    # New rows and layers are drawn by chance.
    set_seed(config.positive.optimizer.seed)
    if start is None:
        return make_backbone(config.backbone, data.names)
    of_config = config.backbone
    if of_config.kind != "pretrained":
        return load_backbone(start, of_config.max_source_tokens)
    # What stands for the backbone stands for a published model in its place, too.
    return load_backbone(
        start,
        of_config.max_source_tokens,
        tokenizer=of_config.tokenizer,
        preset=of_config.preset,
    )


def _given(config: TrainingConfig, start: str | Path) -> Backbone:
    """A model that is mined with or trained on pairs: one that was trained here knows its prompts,
    of a published one the config tells."""
    of_config = config.backbone
    if of_config.kind != "pretrained" or (checkpoint_folder(start) / PROMPT_FILE).is_file():
        return load_backbone(start)
    return load_backbone(start, tokenizer=of_config.tokenizer, preset=of_config.preset)


def _fine_tune(data: TrainingData, output: Path, start: str | Path | None) -> Trained:
    settings = data.config.positive
    backbone = _with_suffixes(_on_device(_starting_model(data, start), settings.optimizer), data)
    examples = positive_examples(data, settings.examples, settings.optimizer.seed)
    rows = encode_examples(examples, backbone.prompts, backbone.max_target_tokens, len(examples))
    _say_dropped(rows)
    return train_positive(backbone, rows, settings, output, data.development)


def _train_in_rounds(
    data: TrainingData, settings: NegativeSettings, start: str | Path, output: Path
) -> Trained:
    output.mkdir(parents=True, exist_ok=True)
    claim_folder(output, {"settings": as_plain(settings), "start": str(start)})
    if (done := finished(output)) is not None:
        return done
    best: Trained | None = None
    without_gain = 0
    current = start
    for number in range(settings.rounds):
        folder = output / f"round-{number:02d}"
        folder.mkdir(exist_ok=True)
        backbone = _on_device(_given(data.config, current), settings.optimizer)
        pairs_file = folder / "pairs.jsonl"
        if not pairs_file.exists():
            part = data.train[number :: settings.rounds]
            _mine(data, backbone, part, settings, pairs_file, with_corrections=number == 0)
        reference = backbone
        if settings.reference == "initial" and number:
            reference = _on_device(_given(data.config, start), settings.optimizer)
        trained = _train_on_pairs(
            backbone, pairs_file, settings, folder, data.development, reference
        )
        current = trained.folder
        logger.info("round %d of %d: %s", number + 1, settings.rounds, trained.accuracy)
        if best is None or _gains(trained, best):
            best, without_gain = trained, 0
        else:
            without_gain += 1
        if without_gain >= settings.patience:
            break
    assert best is not None
    if PartialState().is_main_process:
        load_backbone(best.folder).save(output / MODEL_FOLDER)
        result = {"accuracy": best.accuracy, "round": best.folder.parent.name}
        write_text(output / "result.json", json.dumps(result) + "\n")
    PartialState().wait_for_everyone()
    return Trained(output / MODEL_FOLDER, best.accuracy)


def _gains(trained: Trained, best: Trained) -> bool:
    """Without a development set the last round counts."""
    if trained.accuracy is None or best.accuracy is None:
        return True
    return trained.accuracy > best.accuracy


def _train_on_pairs(
    backbone: Backbone,
    pairs_file: Path,
    settings: NegativeSettings,
    output: Path,
    development: Development | None,
    reference: Backbone | None = None,
) -> Trained:
    pairs = read_pairs(pairs_file)
    rows = encode_pairs(pairs, backbone.prompts, backbone.max_target_tokens, len(pairs))
    _say_dropped(rows)
    if all_losses()[settings.loss.kind].needs_reference:
        rows.values = reference_log_probs(
            reference or backbone,
            rows,
            settings.optimizer.precision,
            cache=pairs_file.with_suffix(".reference.npz"),
        )
    return train_negative(backbone, rows, settings, output, development)


def _mine(
    data: TrainingData,
    backbone: Backbone,
    mentions: list[LabelledMention],
    settings: NegativeSettings,
    output: Path,
    with_corrections: bool,
) -> int:
    """Every process mines its share and the first one joins them."""
    state = PartialState()
    backbone.model.eval()
    pairs = mine_pairs(
        mentions[state.process_index :: state.num_processes],
        generator_of(backbone, settings.pairs.search.dtype),
        data.kb,
        data.tfidf,
        settings.pairs,
    )
    if with_corrections and data.config.data.corrections and state.is_main_process:
        corrections = read_corrections(Path(data.config.data.corrections))
        pairs += correction_pairs(corrections, data.kb, data.tfidf.pairwise)
    shares = [output.with_suffix(f".{i}.jsonl") for i in range(state.num_processes)]
    write_pairs(shares[state.process_index], pairs)
    n_pairs = _join(shares, output)
    if state.is_main_process:
        for share in shares:
            share.unlink()
    return n_pairs


def _join(files: Sequence[Path], output: Path) -> int:
    state = PartialState()
    state.wait_for_everyone()
    if state.is_main_process:
        write_pairs(output, [pair for file in files for pair in read_pairs(file)])
    state.wait_for_everyone()
    return len(read_pairs(output))


def _with_suffixes(backbone: Backbone, data: TrainingData) -> Backbone:
    """A model writes suffixes from when it is trained on a vocabulary that has them."""
    if data.kb.suffixes is not None:
        backbone.format = replace(backbone.format, suffixes=True)
    return backbone


def _on_device(backbone: Backbone, settings: OptimizerSettings) -> Backbone:
    on_cpu = settings.device == "cpu" or not torch.cuda.is_available()
    backbone.model.to(PartialState(cpu=on_cpu).device)
    return backbone


def _say_dropped(rows: TokenRows) -> None:
    if rows.dropped:
        logger.warning(
            f"{rows.dropped} examples are longer than the model's decoder input and left out; "
            f"{len(rows)} stay."
        )
