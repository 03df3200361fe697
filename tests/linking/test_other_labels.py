"""Mentions that link under another label than their own."""

from dataclasses import replace

import pytest
import spacy
from spacy.tokens import Doc, Span
from support.tiny_linker import blocks, pipeline, settings_of

from spacy_angel.linking.decision.links import other_readings, with_other_labels
from spacy_angel.linking.types import NIL, Link, Query
from spacy_angel.model.mention import Mention

UNLINKED, LINKED = Link(NIL, [], []), Link("MESH:D1", [("MESH:D1", 0.9)], [])
TYPES = {"DRUG": ["T121"], "DISEASE": ["T047"]}


def mentions(*others: dict[str, float] | None) -> list[Span]:
    """others (dict[str, float] | None): what each mention may be besides. RETURNS (list[Span]): one
    word each, all diseases."""
    doc = Doc(spacy.blank("en").vocab, words=["word"] * len(others))
    spans = [Span(doc, i, i + 1, label="DISEASE") for i in range(len(others))]
    for span, some in zip(spans, others, strict=True):
        span._.mention_labels = some
    return spans


def test_of_several_labels_the_product_of_both_probabilities_decides() -> None:
    spans = mentions({"DRUG": 0.4, "GENE": 0.6}, {"DRUG": 0.9})
    settings = settings_of()
    readings = other_readings(spans, [Query(Mention("word"))] * 2, [UNLINKED] * 2, settings)
    gene = Link("G:1", [("G:1", 0.55)], [])
    chosen = with_other_labels([UNLINKED] * 2, readings, [LINKED, gene, UNLINKED])
    # 0.4 × 0.9 against 0.6 × 0.55
    assert chosen == [replace(LINKED, label="DRUG"), UNLINKED]


@pytest.fixture
def nlp(model, vocabulary):
    nlp = pipeline()
    config = {"model": model, "vocabulary": vocabulary, "types_by_label": TYPES, "rerank": True}
    config["threshold"] = 0.9
    nlp.add_pipe("angel_linker", config=blocks(**config))
    return nlp


def test_an_entity_gets_the_label_that_it_links_under(nlp) -> None:
    doc = nlp.make_doc("diabetes aspirin aspirin")
    doc.ents = [Span(doc, i, i + 1, label="DISEASE") for i in range(3)]
    for ent, others in zip(doc.ents, [{"DRUG": 0.9}, {"DRUG": 0.7}, {}], strict=True):
        ent._.mention_probability, ent._.mention_labels = 0.8, others
    doc.spans["mine"] = list(doc.ents)
    linker = nlp.get_pipe("angel_linker")
    [links] = linker.predict([doc])
    assert {ent.label_ for ent in doc.ents} == {"DISEASE"}
    linker.set_annotations([doc], [links])
    written = [(e.text, e.label_, e.kb_id_, e._.kb_id) for e in doc.ents]
    assert written == [
        ("diabetes", "DISEASE", *["MESH:D003920"] * 2),
        ("aspirin", "DRUG", *["MESH:D001241"] * 2),
        ("aspirin", "DISEASE", NIL, NIL),
    ]
    assert [ent._.mention_probability for ent in doc.ents] == [0.8, 0.7, 0.8]
    # A group is linked as it is given.
    with linker.using(candidates={"span_key": "mine"}):
        linker(doc)
    assert [span.label_ for span in doc.spans["mine"]] == ["DISEASE"] * 3
