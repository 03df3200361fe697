"""Loading: `en_angel_mini`, with other settings, models and vocabularies."""

import pytest
import spacy
import torch
from spacy.tokens import Doc, Span
from support.helpers import ROOT
from support.models import make_tiny_model

import spacy_angel
from spacy_angel.errors import AngelError
from spacy_angel.linking.settings.linker_settings import PUBLISHED, LinkerSettings
from spacy_angel.pipelines.load import open_pipeline
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary
from spacy_angel.vocabulary.sources.installed import load_vocabulary

torch.set_num_threads(1)

COMMON = list(read_vocabulary(ROOT / "scripts/shipped/common_names.tsv"))
OFF = {"decision": {"threshold": None}}


@pytest.fixture(scope="module")
def nlp():
    return spacy_angel.load()


def linked(nlp, names):
    """Identifiers of names that stand where a mention is given."""
    docs = []
    for name in names:
        words = [token.text for token in nlp.make_doc(name)]
        doc = Doc(nlp.vocab, ["The", "notes", "mention", *words, "."])
        doc.ents = [Span(doc, 3, len(doc) - 1, label="Entity")]
        docs.append(doc)
    return [doc.ents[0].kb_id_ for doc in nlp.get_pipe("angel_linker").pipe(docs)]


def test_it_is_a_pipeline_of_spacy_s_with_its_limits_in_the_config(nlp):
    again = spacy.load("en_angel_mini")
    assert again.pipe_names == nlp.pipe_names
    assert nlp.pipe_names[-3:-1] == ["angel_abbreviations", "angel_consistency"]
    settings = nlp.get_pipe("angel_linker").settings
    assert settings == again.get_pipe("angel_linker").settings
    shown = nlp.config["components"]["angel_linker"]
    assert settings.to_dict() == {name: shown[name] for name in settings.to_dict()}
    opened, linker = open_pipeline("en_angel_mini")
    assert opened.get_pipe("angel_linker") is linker
    assert linker.settings == settings


@pytest.mark.parametrize("dtype", ["bfloat16", "auto"])
def test_it_runs_in_every_type(dtype):
    nlp = spacy_angel.load(dtype=dtype, **OFF)
    names = ["aspirin", "myocardial infarction", "asthma"]
    assert linked(nlp, names) == ["MESH:D001241", "MESH:D009203", "MESH:D001249"]


@pytest.mark.parametrize("matched", [False, True])
def test_a_concept_of_ones_own_needs_no_type(matched):
    nlp = spacy_angel.load()
    if matched:
        nlp.add_pipe("angel_matcher", before="angel_linker")
    kb = nlp.get_pipe("angel_linker").kb
    kb.add(Concept("MY:1", "Snark fever"))
    kb.add(Concept("MY:2", "Boojumib", ("boojumab",)))
    kb.add(Concept("MY:3", "Tulgey wood"))
    doc = nlp("He had Snark fever and was given 50 mg of boojumab in tulgey wood.")
    found = {(ent.text, ent._.kb_id) for ent in doc.ents}
    assert found >= {("Snark fever", "MY:1"), ("boojumab", "MY:2")}
    # Nothing that the recogniser knows.
    assert (("tulgey wood", "MY:3") in found) == matched
    # Given with a label that stands for some types of the vocabulary.
    doc = nlp.make_doc("Snark fever")
    doc.ents = [Span(doc, 0, 2, label="DISEASE")]
    assert nlp.get_pipe("angel_linker")(doc).ents[0]._.kb_id == "MY:1"


def test_another_vocabulary_serves_the_same_weights(tmp_path):
    concepts = [Concept("X:1", "asthma"), Concept("X:2", "aspirin")]
    ConceptKB.build(concepts, tmp_path / "kb")
    nlp = spacy_angel.load(kb=tmp_path / "kb")
    assert nlp.get_pipe("angel_linker").settings.decision.threshold == 0.5
    assert linked(nlp, ["asthma", "aspirin"]) == ["X:1", "X:2"]
    nlp = spacy_angel.load(kb=ConceptKB.build(concepts))
    assert linked(nlp, ["asthma", "aspirin"]) == ["X:1", "X:2"]
    file = tmp_path / "words.tsv"
    file.write_text("D001249\tasthma\t\n", "utf8")
    assert linked(spacy_angel.load(kb=file), ["asthma"]) == ["MESH:D001249"]


def test_types_are_those_of_the_other_vocabulary(tmp_path):
    concepts = [
        Concept("X:1", "asthma", types=("T047",)),
        Concept("X:2", "asthma pills", types=("T121",)),
    ]
    ConceptKB.build(concepts, tmp_path / "kb")
    limits = {"types_by_label": {"X": ["T047"]}}
    model_alone = {"reranker": {"enabled": False}, "decision": {"threshold": None}}
    nlp = spacy_angel.load(kb=tmp_path / "kb", candidates=limits, **model_alone)
    assert nlp.get_pipe("angel_linker").settings.candidates.types_by_label == {"X": ("T047",)}
    assert linked(nlp, ["asthma pills"]) == ["X:1"]
    with pytest.raises(
        AngelError, match=r"types_by_label has.*'T048'.*Its types: \['T047', 'T121'\]"
    ):
        spacy_angel.load(kb=tmp_path / "kb", candidates={"types_by_label": {"X": ["T048"]}})


def test_another_model_comes_without_the_limits(tmp_path):
    make_tiny_model(tmp_path / "model", [concept.canonical_name.lower() for concept in COMMON])
    # A file, so that no trie of this model is left in the package.
    nlp = spacy_angel.load(
        model=tmp_path / "model",
        kb=ROOT / "scripts/shipped/common_names.tsv",
        candidates={"num_beams": 3},
    )
    settings = nlp.get_pipe("angel_linker").settings
    expected = LinkerSettings(**PUBLISHED)
    expected.candidates.num_beams = 3
    assert settings == expected
    assert linked(nlp, ["asthma"])[0] in load_vocabulary("en_angel_mini")


def test_settings_replace_the_pipeline_s_own():
    nlp = spacy_angel.load(
        candidates={
            "num_beams": 7,
            "types_by_label": {"X": ["D"]},
            "labels_discard": ["Y"],
            "shortcuts": False,
        },
        decision={"threshold": 0.9},
    )
    settings = nlp.get_pipe("angel_linker").settings
    assert (settings.decision.threshold, settings.candidates.num_beams) == (0.9, 7)
    assert settings.candidates.types_by_label == {"X": ("D",)}
    assert settings.candidates.labels_discard == ("Y",)
    assert linked(nlp, ["aspirin", "aspirin pills"]) == ["MESH:D001241", "NIL"]


def test_mistakes_are_told():
    with pytest.raises(AngelError, match=r"\['beams'\].*num_beams"):
        spacy_angel.load(candidates={"beams": 3})
    with pytest.raises(AngelError, match="decision's setting threshold"):
        spacy_angel.load(decision={"threshold": "low"})
    with pytest.raises(AngelError, match=r"its own tokenizer and preset.*None, genbioel"):
        spacy_angel.load(preset="genbioel")
    with pytest.raises(AngelError, match="nowhere/kb"):
        spacy_angel.load(kb="nowhere/kb")


def test_a_vocabulary_in_the_place_of_a_model_is_told(tmp_path):
    ConceptKB.build([Concept("MY:1", "Snark fever")], tmp_path / "kb")
    with pytest.raises(AngelError, match=r"kb is a vocabulary.*load\(kb="):
        spacy_angel.load(str(tmp_path / "kb"))
