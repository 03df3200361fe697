"""Every config can be read, and wrong settings are named."""

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


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: str(path.relative_to(ROOT)))
def test_config_can_be_read(path):
    config = load_config(path)
    assert config.backbone.max_source_tokens >= 64


def test_the_recognisers_config_can_be_read():
    config = load_recognizer_config(RECOGNISER)
    assert {"biored", "ncbi_disease", "bc5cdr", "gsc"} <= set(config.corpora)
    assert config.corpora["gnormplus"].annotated == {"GENE"}
    assert config.corpora["biored"].annotated == {*config.recogniser.labels} - {"PHENOTYPE"}


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
