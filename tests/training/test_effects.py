"""Settings that do nothing are named, whichever other setting makes them idle."""

import warnings

import pytest
from support.helpers import ROOT

from spacy_angel.training.course.config import load_config
from spacy_angel.training.settings.configs import shipped_configs

NCBI = ROOT / "configs/mini/ncbi.cfg"


# A recogniser's config is of another kind, see test_recogniser.py.
@pytest.mark.parametrize("name", sorted(shipped_configs().keys() - {"recogniser"}))
def test_every_setting_of_the_configs_that_ship_does_something(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_config(ROOT / f"configs/{name}.cfg")


@pytest.mark.parametrize(
    ("overrides", "setting"),
    [
        ({"negative.patience": 3}, "negative.patience (negative.rounds is 1)"),
        ({"negative.reference": "round"}, "negative.reference (negative.rounds is 1)"),
        ({"backbone.preset": "genbioel"}, "backbone.preset (backbone.kind is encoder)"),
        ({"backbone.width": 99}, "backbone.width (backbone.kind is encoder)"),
        (
            {"positive.optimizer.steps": 9, "positive.optimizer.epochs": 2},
            "positive.optimizer.epochs (positive.optimizer.steps is 9)",
        ),
        (
            {"negative.optimizer.end_learning_rate": 1e-7},
            "negative.optimizer.end_learning_rate (negative.optimizer.schedule is linear)",
        ),
        (
            {"positive.examples.substitutes": 0, "positive.examples.copies": 0.5},
            "positive.examples.copies (positive.examples.substitutes is 0)",
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
def test_an_idle_setting_is_warned_of(overrides, setting):
    with pytest.warns(UserWarning, match="has no effect") as caught:
        load_config(NCBI, overrides)
    assert [setting in str(warning.message) for warning in caught] == [True]


def test_what_is_not_given_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_config(NCBI, {"negative.rounds": 2, "negative.patience": 3, "negative.pairs.folds": 1})
