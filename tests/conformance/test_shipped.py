"""What ships: `nlp.add_pipe("angel_linker")` links as it does, and spaCy trains beside it."""

import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

import spacy_angel
from spacy_angel.about import SHIPPED_NAMES, shipped_folder
from spacy_angel.linking.settings.linker_settings import PUBLISHED, LinkerSettings

TEXT = "He took aspirin for a heart attack."


def test_the_shipped_pipelines_have_the_defaults():
    linker = spacy.blank("en").add_pipe("angel_linker")
    assert linker.settings == spacy_angel.load().get_pipe("angel_linker").settings
    plain, bio = linker.settings.to_dict(), shipped_folder("en_angel_bio") / "config.cfg"
    block = spacy.util.load_config(bio)["components"]["angel_linker"]
    plain["decision"]["drop_unlinked_below"] = 0.6
    plain["candidates"]["types_by_label"] = block["candidates"]["types_by_label"]
    assert {name: block[name] for name in plain} == plain
    doc = Doc(linker.vocab, ["aspirin"])
    doc.ents = [Span(doc, 0, 1, label="CHEMICAL")]
    assert linker(doc).ents[0].kb_id_ == "MESH:D001241"


def test_the_method_as_published_is_one_word():
    linker = spacy_angel.load(preset="published").get_pipe("angel_linker")
    assert linker.settings == LinkerSettings(**PUBLISHED)
    doc = Doc(linker.vocab, ["He", "took", "Snarkolin", "."])
    doc.ents = [Span(doc, 2, 3, label="CHEMICAL")]
    assert linker(doc).ents[0].kb_id_.startswith("MESH:")


def test_labels_are_limited_to_the_types_of_a_shipped_vocabulary(vocabulary):
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("angel_linker", config={"vocabulary": vocabulary})
    assert linker.settings.candidates.types_by_label == {}
    loaded = spacy_angel.load(kb=vocabulary).get_pipe("angel_linker").settings
    assert loaded == linker.settings
    nlp = spacy.blank("en")
    linker = nlp.add_pipe("angel_linker", config={"vocabulary": "en_angel_bio"})
    assert linker.settings.candidates.types_by_label["GENE"] == ("Gene",)


def test_without_its_linker_a_pipeline_still_finds_mentions():
    nlp = spacy_angel.load()
    nlp.remove_pipe("angel_linker")
    excluded = spacy.load("en_angel_mini", exclude=["angel_linker"])
    for pipeline in (nlp, excluded):
        assert "heart attack" in [ent.text for ent in pipeline(TEXT).ents]


def test_a_short_form_is_not_the_disease_beside_it():
    doc = spacy_angel.load()("PMH: HTN, hyperlipidemia, gout.")
    links = {ent.text: ent.kb_id_ for ent in doc.ents}
    assert links["HTN"] == "MESH:D006973"
    assert links["gout"] == "MESH:D006073"


@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_another_component_is_trained_beside_it(name):
    nlp = spacy.load(name)
    expected = [(ent.text, ent.kb_id_) for ent in nlp(TEXT).ents]
    assert ("aspirin", "MESH:D001241") in expected
    assert nlp.resume_training() is not nlp.create_optimizer()
    nlp.add_pipe("textcat")
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {"A": float(a), "B": float(not a)}})
        for text, a in ((TEXT, True), ("She is well.", False))
    ]
    optimizer = nlp.initialize(lambda: examples)
    assert nlp.update(examples, sgd=optimizer)["textcat"] > 0
    doc = nlp(TEXT)
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == expected
    assert set(doc.cats) == {"A", "B"}
