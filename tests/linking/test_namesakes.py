"""Genes of one name in a text: the document says of which species."""

import pytest
import spacy
import torch
from spacy.tokens import Span
from support.helpers import ROOT
from support.tiny_linker import settings_of
from support.tiny_training import write_corpus

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.linker import AngelLinker
from spacy_angel.training import stages
from spacy_angel.training.course.config import load_config

HUMAN, MOUSE = "NCBITaxon:9606", "NCBITaxon:10090"
GENES = [
    Concept("G:1", "Abc", ("alpha",), (HUMAN,)),
    Concept("G:2", "Abc", ("beta",), (MOUSE,)),
    Concept("G:3", "Xyz", ("gamma",), (HUMAN,)),
    Concept("G:4", "Xyz", ("delta",), (MOUSE,)),
]
SENTENCES = [
    ("In man we saw abc rise.", "abc", "G:1"),
    ("In mice we saw abc rise.", "abc", "G:2"),
    ("In man we saw xyz rise.", "xyz", "G:3"),
    ("In mice we saw xyz rise.", "xyz", "G:4"),
    ("The alpha of women.", "alpha", "G:1"),
    ("The delta of a mouse.", "delta", "G:4"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """RETURNS (Path): `kb`, and `model/model`, trained on the sentences."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("namesakes")
    ConceptKB.build(GENES, folder / "kb", by_species=True)
    write_corpus(folder / "train.txt", SENTENCES, "Gene")
    config = load_config(
        ROOT / "configs/tiny/tiny.cfg",
        {
            "data.kb": str(folder / "kb"),
            "data.train": [str(folder / "train.txt")],
            "data.dev": [],
            "positive.optimizer.steps": 160,
        },
    )
    stages.fine_tune(config, folder / "model")
    stages.mine(config, folder / "model" / "model", folder / "pairs.jsonl")
    return folder


def linker(folder, **settings):
    nlp = spacy.blank("en")
    return AngelLinker(
        nlp.vocab,
        model=str(folder / "model" / "model"),
        vocabulary=str(folder / "kb"),
        settings=settings_of(**settings),
    ), nlp


def linked(pair, text, word="abc", label="GENE"):
    """RETURNS (Span): the only mention of a text, linked."""
    component, nlp = pair
    doc = nlp(text)
    start = [token.text for token in doc].index(word)
    doc.ents = [Span(doc, start, start + 1, label=label)]
    return component(doc).ents[0]


@pytest.mark.parametrize("rerank", [False, True])
def test_the_species_of_the_document_decides(folder, rerank):
    pair = linker(folder, rerank=rerank)
    assert linked(pair, "In man we saw abc rise.").kb_id_ == "G:1"
    assert linked(pair, "In mice we saw abc rise.").kb_id_ == "G:2"
    found = linked(pair, "In mice we saw xyz rise.", "xyz")
    assert found.kb_id_ == "G:4"
    assert linked(pair, "The alpha of women.", "alpha").kb_id_ == "G:1"


def test_a_name_of_one_species_means_the_gene_of_that_of_the_text(folder):
    component, nlp = linker(folder, rerank=True)
    component.kb.add(Concept("G:5", "Abc", (), ("NCBITaxon:10116",)))
    # Symbols of flies are of their own.
    component.kb.add(Concept("G:6", "abc", (), ("NCBITaxon:7227",)))
    found = {}
    for word in ("man", "rats", "flies"):
        mention = linked((component, nlp), f"in {word} alpha", "alpha")
        alpha = [c["concept_id"] for c in mention._.candidates if c["name"] == "alpha"]
        found[word] = set(alpha)
    assert found == {"man": {"G:1"}, "rats": {"G:1", "G:5"}, "flies": {"G:1"}}
