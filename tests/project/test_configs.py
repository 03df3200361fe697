"""Every config can be read, and the large ones hold the paper's table B."""

from dataclasses import replace

import pytest
from support.helpers import ROOT

from spacy_angel.errors import AngelError
from spacy_angel.training.course.config import load_config
from spacy_angel.training.recognizer.config import load_recognizer_config

RECOGNISER = ROOT / "configs" / "recogniser.cfg"
CONFIGS = sorted(
    path
    for path in (ROOT / "configs").rglob("*.cfg")
    if not path.name.startswith("ner_") and path != RECOGNISER
)
# steps, learning rate, warm-up; then learning rate and batch size of the second stage.
TABLE_B = {
    "ncbi": (20_000, 3e-7, 0, 1e-5, 16),
    "bc5cdr": (30_000, 5e-6, 500, 1e-6, 16),
    "cometa": (40_000, 2e-5, 1000, 5e-6, 32),
    "aap": (30_000, 5e-6, 0, 5e-6, 8),
    "mm_st21pv": (40_000, 3e-5, 1000, 5e-6, 16),
}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: str(path.relative_to(ROOT)))
def test_config_can_be_read(path):
    config = load_config(path)
    assert config.backbone.max_source_tokens >= 64


def test_the_recognisers_config_can_be_read():
    config = load_recognizer_config(RECOGNISER)
    assert {"biored", "ncbi_disease", "bc5cdr", "gsc"} <= set(config.corpora)
    assert config.corpora["gnormplus"].annotated == {"GENE"}
    assert config.corpora["biored"].annotated == {*config.recogniser.labels} - {"PHENOTYPE"}


def test_as_released_differs_in_its_data_and_dropout_only():
    own = load_config(ROOT / "configs" / "ncbi.cfg")
    dropout = {"dropout": 0.1, "attention_dropout": 0.1}
    stages = ("pretrain.negative", "negative")
    overrides = {f"{s}.optimizer.{name}": x for s in stages for name, x in dropout.items()}
    released = load_config(ROOT / "configs" / "as_released.cfg")
    like_ours = load_config(ROOT / "configs" / "ncbi.cfg", overrides)
    assert replace(released, data=own.data) == like_ours != own
    assert released.data.dev == ()
    assert not {own.data.kb, *own.data.train} & {released.data.kb, *released.data.train}


@pytest.mark.parametrize("name", TABLE_B)
def test_table_b(name):
    config = load_config(ROOT / "configs" / f"{name}.cfg")
    first, second = config.positive, config.negative
    assert config.backbone.name == "facebook/bart-large"
    optimizers = (
        config.pretrain.positive.optimizer,
        config.pretrain.negative.optimizer,
        first.optimizer,
        second.optimizer,
    )
    for optimizer in optimizers:
        assert (optimizer.schedule, optimizer.end_learning_rate) == ("polynomial", 1e-7)
        assert optimizer.weight_decay == 0.01
    for stage in (config.pretrain.positive, first):
        assert stage.label_smoothing == 0.1
        assert stage.optimizer.clip_norm == 0.1
        assert stage.optimizer.attention_dropout == 0.1
    for stage in (config.pretrain.negative, second):
        assert (stage.loss.kind, stage.loss.beta) == ("dpo", 0.1)
    pre, pre_second = optimizers[:2]
    assert (pre.steps, pre.learning_rate, pre.batch_size, pre.warmup_steps) == (
        80_000,
        4e-5,
        384,
        1600,
    )
    assert (pre_second.epochs, pre_second.learning_rate, pre_second.batch_size) == (5, 1e-5, 64)
    assert (pre_second.warmup_steps, pre_second.checkpoint_every) == (1000, 500)
    assert (
        first.optimizer.steps,
        first.optimizer.learning_rate,
        first.optimizer.warmup_steps,
        second.optimizer.learning_rate,
        second.optimizer.batch_size,
    ) == TABLE_B[name]
    assert (first.optimizer.batch_size, second.optimizer.epochs) == (16, 1)
    assert first.examples.positives == 3
    assert (second.pairs.top_k, second.pairs.rule, second.pairs.without_right) == (
        5,
        "above",
        "skip",
    )
    # As the released code does, which the paper does not tell.
    assert second.pairs.search.num_beams == 10
    assert second.rounds == 10


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"positive.optimizer.learning_rate": "fast"}, "positive.optimizer.learning_rate"),
        ({"positive.optimizer.stepz": 7}, "stepz"),
        ({"negative.loss.kind": "ppo"}, "negative.loss: .*ppo"),
        ({"positive.optimizer.schedule": "polynomail"}, "polynomail"),
    ],
)
def test_wrong_settings_are_named(overrides, named):
    with pytest.raises(AngelError, match=named):
        load_config(ROOT / "configs/ncbi.cfg", overrides)
