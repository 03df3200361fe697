"""Configs of training runs: found by name, and settings without effect are named."""

import warnings

import pytest
from support.helpers import ROOT

from spacy_angel.training.course.config import load_config

CONFIGS = [path for path in (ROOT / "configs").rglob("*.cfg") if not path.name.startswith("ner_")]
NCBI = ROOT / "configs/mini/ncbi.cfg"


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_setting_of_the_shipped_configs_has_an_effect(path):
    if path.name == "recogniser.cfg":
        pytest.skip("a recognizer's config, see test_recogniser_data.py")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_config(path)


@pytest.mark.parametrize(
    ("overrides", "setting"),
    [
        ({"negative.patience": 3}, "negative.patience (negative.rounds is 1)"),
        ({"backbone.preset": "genbioel"}, "backbone.preset (backbone.kind is encoder)"),
        (
            {"positive.optimizer.steps": 9, "positive.optimizer.epochs": 2},
            "positive.optimizer.epochs (positive.optimizer.steps is 9)",
        ),
        (
            {"negative.optimizer.end_learning_rate": 1e-7},
            "negative.optimizer.end_learning_rate (negative.optimizer.schedule is linear)",
        ),
        (
            {"positive.examples.noise": {"most_edits": 2}},
            "positive.examples.noise.most_edits (positive.examples.noise.share is 0)",
        ),
        (
            {"pretrain.negative.rounds": 3},
            "pretrain.negative.rounds (pre-training's pairs come from tf-idf, in one round)",
        ),
    ],
)
def test_a_setting_without_effect_is_warned_of(overrides, setting):
    with pytest.warns(UserWarning, match="has no effect") as caught:
        load_config(NCBI, overrides)
    assert [setting in str(warning.message) for warning in caught] == [True]


def test_settings_with_an_effect_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_config(NCBI, {"negative.rounds": 2, "negative.patience": 3})
