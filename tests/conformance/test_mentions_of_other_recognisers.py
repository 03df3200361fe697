"""What other recognisers find is linked under the labels that they write: stand-ins of the output
of each go through the recipe of docs/how_to/recognisers.md."""

import json
from types import SimpleNamespace

import pytest
from spacy.tokens import Span
from support.doc_blocks import read_blocks
from support.helpers import ROOT
from support.tiny_linker import make_pipeline, make_vocabulary

from spacy_angel.vocabulary.names.concepts import Concept

TEXT = "history of migraine then aspirin ."
MIGRAINE, ASPIRIN = (11, 19), (25, 32)

# of each tool the labels of a disease and of a drug, as it writes them
LABELS = [
    pytest.param("disease", "chemical", id="gliner-spacy"),
    pytest.param("DISEASE", "CHEMICAL", id="scispaCy bc5cdr, stanza bc5cdr"),
    pytest.param("Disease", "Chemical", id="HunFlair, transformers"),
    pytest.param("DiseaseOrPhenotypicFeature", "ChemicalEntity", id="BioRED"),
    pytest.param("Disease_disorder", "Medication", id="d4data"),
    pytest.param("PROBLEM", "TREATMENT", id="stanza i2b2"),
    pytest.param("PATHOLOGICAL_FORMATION", "SIMPLE_CHEMICAL", id="scispaCy bionlp13cg"),
]


@pytest.fixture(scope="module")
def recipe():
    """The functions of the page."""
    page = (ROOT / "docs/how_to/recognisers.md").read_text("utf8")
    names: dict = {}
    exec(next(block.text for block in read_blocks(page) if block.runs), names)
    return SimpleNamespace(**{k: v for k, v in names.items() if not k.startswith("__")})


@pytest.fixture(scope="module")
def nlp(model, tmp_path_factory):
    # a drug and a disease have each other's names: the label alone tells
    others = (
        Concept("MESH:D000002", "Migraine", (), ("T121",)),
        Concept("MESH:D000003", "Aspirin", (), ("T047",)),
    )
    vocabulary = make_vocabulary(tmp_path_factory.mktemp("others") / "kb", *others)
    return make_pipeline(model, vocabulary)


def linked(nlp, doc):
    nlp.get_pipe("sentencizer")(doc)
    return [(ent.label_, ent.kb_id_) for ent in nlp.get_pipe("angel_linker")(doc).ents]


@pytest.mark.parametrize(("disease", "drug"), LABELS)
def test_labels_as_the_tools_write_them_limit_the_links(nlp, disease, drug):
    doc = nlp.make_doc(TEXT)
    doc.ents = [Span(doc, 2, 3, label=disease), Span(doc, 4, 5, label=drug)]
    (_, first), (_, second) = linked(nlp, doc)
    assert (first, second) == ("MESH:D008881", "MESH:D001241")
    # what the label forbids is no candidate either
    of_disease, of_drug = ({c["concept_id"] for c in ent._.candidates} for ent in doc.ents)
    assert "MESH:D000003" not in of_drug
    assert "MESH:D000002" not in of_disease


def test_one_label_for_everything_links_to_anything(nlp):
    doc = nlp.make_doc(TEXT)
    doc.ents = [Span(doc, 2, 3, label="ENTITY")]
    assert linked(nlp, doc)[0][1] in ("MESH:D008881", "MESH:D000002")


def test_the_recipe_reads_the_output_of_every_tool(nlp, recipe):
    def span(place, label):
        return SimpleNamespace(
            start_position=place[0],
            end_position=place[1],
            get_label=lambda kind: SimpleNamespace(value=label) if kind == "ner" else None,
        )

    transformers = [
        {"entity_group": "Disease", "score": 0.9, "word": "migraine", "start": 11, "end": 19},
        {"entity_group": "Chemical", "score": 0.9, "word": "aspirin", "start": 25, "end": 32},
    ]
    spans = [span(MIGRAINE, "Disease"), span(ASPIRIN, "Chemical")]
    flair = SimpleNamespace(get_spans=lambda kind: spans if kind == "ner" else [])
    llm = [
        {"text": "Migraine", "label": "Disease"},
        {"text": "aspirin", "label": "Chemical"},
        {"text": "aspirin", "label": "Chemical"},  # there is one only
        {"text": "gout", "label": "Disease"},
        {"text": "", "label": "Disease"},
    ]
    for found in (
        recipe.from_transformers(transformers),
        recipe.from_flair(flair),
        recipe.from_llm(TEXT, json.dumps(llm)),
    ):
        assert found == [(*MIGRAINE, "Disease"), (*ASPIRIN, "Chemical")]
        doc = recipe.set_mentions(nlp.make_doc(TEXT), found)
        assert linked(nlp, doc) == [("Disease", "MESH:D008881"), ("Chemical", "MESH:D001241")]


def test_mentions_get_whole_words_and_do_not_overlap(nlp, recipe):
    doc = recipe.set_mentions(nlp.make_doc(TEXT), [(12, 18, "Disease"), (0, 19, "Disease")])
    assert [ent.text for ent in doc.ents] == ["history of migraine"]
