"""Mentions that link under another label than their own."""

import pytest
from spacy.tokens import Span
from support.tiny_linker import blocks, pipeline

from spacy_angel.linking.types import NIL

TYPES = {"DRUG": ["T121"], "DISEASE": ["T047"]}


@pytest.fixture
def nlp(model, vocabulary):
    nlp = pipeline()
    config = {"model": model, "vocabulary": vocabulary, "types_by_label": TYPES, "rerank": True}
    config["threshold"] = 0.9
    nlp.add_pipe("angel_linker", config=blocks(**config))
    return nlp


def test_an_entity_gets_the_label_that_it_links_under(nlp):
    doc = nlp.make_doc("diabetes aspirin aspirin asprin")
    doc.ents = [Span(doc, i, i + 1, label="DISEASE") for i in range(4)]
    for ent, others in zip(doc.ents, [{"DRUG": 0.9}, {"DRUG": 0.7}, {}, {}], strict=True):
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
        # The name of a drug only; the misspelled one is not a name.
        ("aspirin", "DRUG", *["MESH:D001241"] * 2),
        ("asprin", "DISEASE", NIL, NIL),
    ]
    assert [ent._.mention_probability for ent in doc.ents] == [0.8, 0.7, 0.8, 0.8]
    # A group is linked as it is given.
    with linker.using(candidates={"span_key": "mine"}):
        linker(doc)
    assert [span.label_ for span in doc.spans["mine"]] == ["DISEASE"] * 4
