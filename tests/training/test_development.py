"""What is measured while training is what will be served, for every kind of encoder-decoder."""

import pytest
from support.models import log_prob_by_transformers
from support.tiny_training import CONCEPTS, GOLD, PAIRS, tiny_backbone

from spacy_angel.search.generator import Generator
from spacy_angel.training.data.development import Development, generator_of
from spacy_angel.training.models.backbones import Backbone, load_backbone
from spacy_angel.training.settings.config_tables import DevelopmentSettings
from spacy_angel.vocabulary.kb import ConceptKB


def quick_gelu():
    """A BART with an activation that the fast search does not know."""
    backbone = tiny_backbone()
    backbone.model.config.activation_function = "quick_gelu"
    return Backbone(
        type(backbone.model)(backbone.model.config), backbone.tokenizer, backbone.format
    )


@pytest.mark.parametrize("make", [tiny_backbone, quick_gelu])
def test_development_reads_the_weights_that_are_trained_and_served(make, tmp_path):
    backbone = make()
    backbone.model.eval()
    backbone.save(tmp_path / "model")
    mentions = [pair.mention for pair in PAIRS]
    names = [pair.chosen for pair in PAIRS]
    measured, served = (
        [value for [value] in generator.score_names(mentions, [[name] for name in names])]
        for generator in (generator_of(backbone), Generator.from_pretrained(tmp_path / "model"))
    )
    assert measured == pytest.approx(served, abs=1e-5)
    by_hand = [
        log_prob_by_transformers(backbone.model, backbone.prompts, *pair)
        for pair in zip(mentions, names, strict=True)
    ]
    assert measured == pytest.approx(by_hand, abs=1e-4)
    development = Development(GOLD, ConceptKB.build(CONCEPTS), DevelopmentSettings())
    again = load_backbone(tmp_path / "model")
    assert development.hits(backbone) == development.hits(again)
