"""Every config can be read, and the large ones hold the paper's table B."""

from dataclasses import replace

import pytest
from support.helpers import ROOT

from spacy_angel.errors import AngelError
from spacy_angel.training.course.config import load_config, parse_overrides
from spacy_angel.training.recogniser.config import load_recogniser_config

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
    config = load_recogniser_config(RECOGNISER)
    assert {"biored", "ncbi_disease", "bc5cdr", "gsc"} <= set(config.corpora)
    assert config.corpora["gnormplus"].annotated == {"GENE"}
    assert config.corpora["biored"].annotated == {*config.recogniser.labels} - {"PHENOTYPE"}


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
        assert (optimizer.adam_beta1, optimizer.adam_beta2) == (0.9, 0.999)
        assert optimizer.adam_epsilon == 1e-8
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
    assert (first.examples.positives, first.examples.select) == (3, "tfidf")
    assert (second.pairs.top_k, second.pairs.rule, second.pairs.without_right) == (
        5,
        "above",
        "skip",
    )
    # As the released code does, which the paper does not tell.
    assert second.pairs.search.num_beams == 10
    assert second.rounds == 10


def test_overrides():
    arguments = ["--positive.optimizer.steps", "7", "--data.kb=here", "--data.train", '["a", "b"]']
    overrides = parse_overrides(arguments)
    assert overrides == {
        "positive.optimizer.steps": 7,
        "data.kb": "here",
        "data.train": ["a", "b"],
    }
    config = load_config(ROOT / "configs/ncbi.cfg", overrides)
    assert config.positive.optimizer == replace(
        load_config(ROOT / "configs/ncbi.cfg").positive.optimizer, steps=7
    )
    assert (config.data.kb, config.data.train) == ("here", ("a", "b"))


@pytest.mark.parametrize("argument", ["positive.steps", "--steps", "--positive.steps"])
def test_unreadable_overrides(argument):
    with pytest.raises(AngelError, match=r"section\.name value"):
        parse_overrides([argument])


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
