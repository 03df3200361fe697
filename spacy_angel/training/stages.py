"""The stages of a config, with one function per command. Each writes a model folder.

To continue an interrupted run, call the function again. All of them work with `torchrun` and
`accelerate launch`.
"""

import shutil
from pathlib import Path
from typing import Any

from accelerate.utils import gather_object
from transformers.trainer_utils import set_seed

from ..errors import AngelError
from .course.positive import train_positive
from .course.run_folder import (
    MODEL_FOLDER,
    Trained,
    lock_run_folder,
    processes,
    read_result,
    trained,
    write_result,
)
from .data.batches import PAIR, encode
from .data.corpus import LabelledMention, TrainingData
from .data.development import generator_of
from .data.examples import clause_pairs, clauses, positive_examples
from .data.preferences import mine_pairs, read_pairs, write_pairs
from .models.backbones import (
    Backbone,
    load_backbone,
    make_backbone,
    with_adapters,
)
from .settings.config_tables import (
    NegativeSettings,
    TrainingConfig,
    as_plain,
)


def pretrain(config: TrainingConfig, output: Path) -> Trained:
    """Pre-train on the vocabulary in both stages (ANGEL, section 3.3).

    config (TrainingConfig): sections `data`, `backbone`, `development`, `pretrain`.
    output (Path): folder, with the subfolders `positive` and `negative`.
    RETURNS (Trained): result of the second stage.
    """
    data = TrainingData(config)
    settings = config.pretrain
    # New rows and layers are initialized at random.
    set_seed(settings.positive.optimizer.seed)
    backbone = make_backbone(config.backbone, data.names)
    if read_result(output / "positive", dict[str, Any]) is None:
        rows = encode(clauses(data), backbone.prompts, backbone.max_target_tokens)
        # Without a development set: how well clauses transfer to the sentences of a corpus varies
        # from checkpoint to checkpoint, long before the names are learned.
        train_positive(
            backbone, rows, settings.positive, output / "positive", options=config.trainer
        )
    backbone = load_backbone(output / "positive" / MODEL_FOLDER)
    folder = output / "negative"
    pairs_file = folder / "pairs.jsonl"
    with processes().main_process_first():
        if not pairs_file.exists():
            write_pairs(pairs_file, clause_pairs(data))
    return _train_on_pairs(data, backbone, pairs_file, settings.negative, folder)


def fine_tune(config: TrainingConfig, output: Path, start: str | Path | None = None) -> Trained:
    """Positive-only training on a corpus.

    config (TrainingConfig): sections `data`, `backbone`, `development`, `positive`.
    output (Path): folder of the stage.
    start (str | Path | None): a pre-trained model, see `model.checkpoint.checkpoint_folder`; None
        starts from the backbone.
    RETURNS (Trained): the best checkpoint.
    """
    data = TrainingData(config)
    settings = config.positive
    backbone = starting_model(config, start)
    examples = positive_examples(data, settings.examples, settings.optimizer.seed)
    rows = encode(examples, backbone.prompts, backbone.max_target_tokens)
    backbone = with_adapters(backbone, config.lora)
    return train_positive(backbone, rows, settings, output, data.development, config.trainer)


def mine(config: TrainingConfig, start: str | Path, output: Path) -> int:
    """Make preference pairs from the whole training set.

    config (TrainingConfig): sections `data`, `negative.pairs`.
    start (str | Path): the positive-only model.
    output (Path): JSONL file to write.
    RETURNS (int): number of pairs.
    """
    data = TrainingData(config)
    return _mine(data, _load(config, start, None), data.train, output)


def train_preferences(
    config: TrainingConfig, start: str | Path, output: Path, pairs: Path | None = None
) -> Trained:
    """Train on a file of preference pairs, or on pairs mined in rounds (negative-aware training).

    config (TrainingConfig): sections `data`, `development`, `negative`.
    start (str | Path): the positive-only model.
    output (Path): folder of the stage.
    pairs (Path | None): file written by `mine`; None mines in `negative.rounds` rounds.
    RETURNS (Trained): the best checkpoint of all rounds.
    RAISES (AngelError): both several rounds and `pairs` are given.
    """
    data = TrainingData(config)
    settings = config.negative
    if pairs is None:
        return _train_in_rounds(data, start, output)
    if settings.rounds > 1:
        raise AngelError(
            f"negative.rounds = {settings.rounds} mines new pairs: leave out the file {pairs}."
        )
    return _train_on_pairs(data, _load(config, start, None), pairs, settings, output)


def starting_model(config: TrainingConfig, start: str | Path | None) -> Backbone:
    """Load the model from which positive-only training starts.

    config (TrainingConfig): sections `data`, `backbone`, `positive`.
    start (str | Path | None): see `fine_tune`.
    RETURNS (Backbone): on the CPU.
    """
    # New rows and layers are initialized at random.
    set_seed(config.positive.optimizer.seed)
    settings = config.backbone
    if start is None:
        return make_backbone(settings, TrainingData(config).names)
    return _load(config, start, settings.max_source_tokens)


def _load(config: TrainingConfig, start: str | Path, max_source_tokens: int | None) -> Backbone:
    tokenizer, preset = config.backbone.tokenizer, config.backbone.preset
    return load_backbone(start, max_source_tokens, tokenizer=tokenizer, preset=preset)


def _train_in_rounds(data: TrainingData, start: str | Path, output: Path) -> Trained:
    settings = data.config.negative
    lock_run_folder(output, {"settings": as_plain(settings), "start": str(start)})
    if read_result(output, dict[str, Any]) is not None:
        return trained(output)
    results: list[Trained] = []
    without_gain = 0
    current = start
    for number in range(settings.rounds):
        folder = output / f"round-{number:02d}"
        backbone = _load(data.config, current, None)
        pairs_file = folder / "pairs.jsonl"
        if not pairs_file.exists():
            _mine(data, backbone, data.train[number :: settings.rounds], pairs_file)
        results.append(_train_on_pairs(data, backbone, pairs_file, settings, folder))
        current = results[-1].folder
        without_gain = 0 if _best(results) is results[-1] else without_gain + 1
        if without_gain >= settings.patience:
            break
    if processes().is_main_process:
        best = _best(results)
        load_backbone(best.folder).save(output / MODEL_FOLDER)
        write_result(output, {"accuracy": best.accuracy, "round": best.folder.parent.name})
        for folder in output.glob(f"round-*/{MODEL_FOLDER}"):
            shutil.rmtree(folder)
    processes().wait_for_everyone()
    return trained(output)


def _best(rounds: list[Trained]) -> Trained:
    """RETURNS (Trained): the result with the highest accuracy (on a tie, the earlier one); without
    a development set, the last one."""
    if rounds[-1].accuracy is None:
        return rounds[-1]
    return max(rounds, key=lambda result: result.accuracy or 0.0)


def _train_on_pairs(
    data: TrainingData,
    backbone: Backbone,
    pairs_file: Path,
    settings: NegativeSettings,
    output: Path,
) -> Trained:
    # Importing TRL takes seconds, and the other stages do not need it.
    from .course.negative import train_negative

    backbone.model.to(processes().device)
    pairs = read_pairs(pairs_file)
    rows = encode(pairs, backbone.prompts, backbone.max_target_tokens, PAIR)
    backbone = with_adapters(backbone, data.config.lora)
    return train_negative(backbone, rows, settings, output, data.development, data.config.trainer)


def _mine(
    data: TrainingData, backbone: Backbone, mentions: list[LabelledMention], output: Path
) -> int:
    """Mine pairs, divided among the processes."""
    state = processes()
    settings = data.config.negative.pairs
    backbone.model.eval().to(state.device)
    pairs = gather_object(
        mine_pairs(
            mentions[state.process_index :: state.num_processes],
            generator_of(backbone, settings.search.dtype),
            data.kb,
            data.tfidf,
            settings,
        )
    )
    if state.is_main_process:
        write_pairs(output, pairs)
    state.wait_for_everyone()
    return len(pairs)
