"""A pipeline that version 0.1.0 saved, when its modules lay elsewhere, opens and links as then."""

import json

import pytest
import spacy
from support.helpers import ROOT

import spacy_angel

SAVED = ROOT / "tests/fixtures/pipelines/before_packages"


def test_a_pipeline_saved_before_the_packages_opens_and_links_as_then() -> None:
    expected = json.loads((SAVED / "expected.json").read_text("utf8"))
    doc = spacy.load(SAVED)(expected["text"])
    assert len(doc.ents) == 4
    for ent, (text, kb_id, kb_ents, candidates) in zip(doc.ents, expected["links"], strict=True):
        assert (ent.text, ent._.kb_id, ent.kb_id_) == (text, kb_id, kb_id)
        assert [concept_id for concept_id, _ in ent._.kb_ents] == [c for c, _ in kb_ents]
        for found, saved in zip(ent._.candidates, candidates, strict=True):
            assert (found["concept_id"], found["name"]) == (saved["concept_id"], saved["name"])
            assert found["log_prob"] == pytest.approx(saved["log_prob"], abs=1e-4)


def test_blocks_that_its_config_does_not_have_can_be_given() -> None:
    search = {"length_penalty": 0.5}
    settings = spacy_angel.load(SAVED, search=search).get_pipe("angel_linker").settings
    # What it was saved with stays beside them.
    assert settings.search.to_dict() == {
        **search,
        "shortcuts": False,
        "temperature": 1.0,
        "min_log_prob": -60.0,
    }
