"""The sides of benchmarks/matcher.py look for the same names."""

import pytest
from support.scripts import load_script

from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


def test_every_side_finds_the_names(tmp_path) -> None:
    pytest.importorskip("resource", reason="needs a Unix")
    benchmark = load_script("benchmarks/matcher.py")
    names = ["Heart attack", "Non-small cell carcinoma", "Fever"]
    ConceptKB.build([Concept(f"X:{i}", name) for i, name in enumerate(names)], tmp_path / "kb")
    found = {}
    for side, make in benchmark.SIDES.items():
        nlp, find = make(tmp_path / "kb")
        doc = find(nlp.make_doc("Heart-attacks, a heart attack, non small cell carcinoma; FEVER."))
        found[side] = [ent.text for ent in doc.ents]
    everything = ["Heart-attacks", "heart attack", "non small cell carcinoma", "FEVER"]
    assert found == {
        "angel_matcher": everything,
        "PhraseMatcher": ["heart attack", "FEVER"],
        "PhraseMatcher over folded words": everything,
    }
