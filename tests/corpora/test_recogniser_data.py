"""Mentions are replaced by others, and the large recognizer's config is complete."""

import random

import spacy
from spacy.util import load_config, registry
from support.helpers import ROOT

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.recogniser_data import swap_mentions


def test_swapped_mentions_move_with_the_text():
    text = "MI after MI, given X. Flu!"
    mentions = [(9, 11, "DISEASE"), (0, 2, "DISEASE"), (19, 20, "CHEMICAL"), (22, 25, "OTHER")]
    document = CorpusDocument(
        "1", text, tuple(GoldMention(a, b, text[a:b], label) for a, b, label in mentions)
    )
    names = {"DISEASE": ["T1DM of the young"], "CHEMICAL": ["Warfarin", "Heparin"]}
    found = set()
    for seed in range(20):
        swapped = swap_mentions(document, names, random.Random(seed))
        chemical = swapped.mentions[2].text
        found.add(chemical)
        young = "T1DM of the young"
        assert swapped.text == f"{young} after {young}, given {chemical}. Flu!"
        end = 47 + len(chemical)
        assert [(m.start, m.end, m.label) for m in swapped.mentions] == [
            (24, 41, "DISEASE"),
            (0, 17, "DISEASE"),
            (49, 49 + len(chemical), "CHEMICAL"),
            (end + 4, end + 7, "OTHER"),
        ]
        assert all(swapped.text[m.start : m.end] == m.text for m in swapped.mentions)
    assert found == {"Warfarin", "Heparin", "warfarin", "heparin"}


def test_the_large_config_is_complete():
    config = load_config(ROOT / "configs/ner_trf.cfg").interpolate()
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    assert nlp.pipe_names[-1] == "ner"
    training = registry.resolve(nlp.config.interpolate()["training"], validate=False)
    assert training["max_steps"] > 0
    assert config["corpora"]["train"]["augmenter"]["level"] > 0
