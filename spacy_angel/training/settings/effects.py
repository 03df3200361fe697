"""Which settings of a config do nothing, for another one makes them idle."""

from collections.abc import Iterator, Mapping
from typing import Any

from .config_tables import OptimizerSettings, TrainingConfig

_FRESH = {"width", "heads", "vocabulary_size"}
_SMALL = {"encoder_layers", "decoder_layers"}
_PUBLISHED = {"tokenizer", "preset"}
_IDLE_OF_BACKBONE = {
    "pretrained": _FRESH | _SMALL,
    "encoder": _FRESH | _PUBLISHED,
    "fresh": _PUBLISHED | {"name"},
}


def without_effect(config: TrainingConfig, values: Mapping[str, Any]) -> list[str]:
    """Settings that a config file or its overrides name, and that change nothing.

    config (TrainingConfig): as read.
    values (Mapping[str, Any]): sections as they were written, nested.
    RETURNS (list[str]): e.g. `negative.patience (negative.rounds is 1)`, in the order of the rules.
    """
    return [f"{name} ({why})" for name, why in _idle(config) if _is_named(values, name)]


def _idle(config: TrainingConfig) -> Iterator[tuple[str, str]]:
    kind = config.backbone.kind
    for name in sorted(_IDLE_OF_BACKBONE.get(kind, ())):
        yield f"backbone.{name}", f"backbone.kind is {kind}"
    yield from _idle_of_optimizer(config.pretrain.positive.optimizer, "pretrain.positive.optimizer")
    made = ("positives", "select", "embedding_model", "passes", "substitutes", "copies", "noise")
    for name in made:
        yield f"pretrain.positive.examples.{name}", "pre-training's are made of the vocabulary"
    yield from _idle_of_optimizer(config.pretrain.negative.optimizer, "pretrain.negative.optimizer")
    for name in ("rounds", "patience", "reference", "pairs"):
        yield f"pretrain.negative.{name}", "pre-training's pairs come from tf-idf, in one round"
    yield from _idle_of_optimizer(config.positive.optimizer, "positive.optimizer")
    examples = config.positive.examples
    if examples.select != "embedding":
        why = f"positive.examples.select is {examples.select}"
        yield "positive.examples.embedding_model", why
    if not examples.substitutes:
        yield "positive.examples.copies", "positive.examples.substitutes is 0"
    if not examples.noise.share:
        for name in ("kinds", "most_edits", "context"):
            yield f"positive.examples.noise.{name}", "positive.examples.noise.share is 0"
    yield from _idle_of_optimizer(config.negative.optimizer, "negative.optimizer")
    if config.negative.rounds == 1:
        for name in ("patience", "reference"):
            yield f"negative.{name}", "negative.rounds is 1"
    if config.negative.pairs.rule == "tfidf":
        for name in ("without_right", "search"):
            yield f"negative.pairs.{name}", "negative.pairs.rule is tfidf"


def _idle_of_optimizer(settings: OptimizerSettings, section: str) -> Iterator[tuple[str, str]]:
    if settings.steps:
        yield f"{section}.epochs", f"{section}.steps is {settings.steps}"
    if settings.schedule != "polynomial":
        yield f"{section}.end_learning_rate", f"{section}.schedule is {settings.schedule}"
    if settings.schedule == "constant":
        yield f"{section}.warmup_steps", f"{section}.schedule is constant"


def _is_named(values: Mapping[str, Any], name: str) -> bool:
    section: Any = values
    for part in name.split("."):
        if not isinstance(section, Mapping) or part not in section:
            return False
        section = section[part]
    return True
