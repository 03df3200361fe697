"""Spans of a group over the same characters with two labels: each shows its own link."""

import pytest
from spacy.tokens import Doc, Span
from support.tiny_linker import make_pipeline, make_vocabulary

from spacy_angel.vocabulary.names.concepts import Concept


@pytest.fixture(scope="module")
def nlp(model, tmp_path_factory):
    # a drug that is called as a disease is
    drug = Concept("MESH:D000002", "Migraine", (), ("T121",))
    vocabulary = make_vocabulary(tmp_path_factory.mktemp("two") / "kb", drug)
    types = {"DISEASE": ["T047"], "DRUG": ["T121"]}
    return make_pipeline(model, vocabulary, span_key="found", types_by_label=types)


def link(nlp, *labels, overwrite=True):
    doc = nlp.make_doc("history of migraine .")
    nlp.get_pipe("sentencizer")(doc)
    doc.spans["found"] = [Span(doc, 2, 3, label=label) for label in labels]
    return nlp.get_pipe("angel_linker")(doc)


def test_each_shows_its_own(nlp):
    doc = link(nlp, "DISEASE", "DRUG")
    for each in (doc, Doc(nlp.vocab).from_bytes(doc.to_bytes())):
        disease, drug = each.spans["found"]
        assert (disease.kb_id_, drug.kb_id_) == ("MESH:D008881", "MESH:D000002")
        for span in (disease, drug):
            assert span._.kb_id == span.kb_id_
            assert span._.kb_ents[0][0] == span.kb_id_
            assert span._.candidates[0]["concept_id"] == span.kb_id_
        # a span without label: the first that is linked
        assert each[2:3]._.kb_id == disease.kb_id_


def test_what_is_set_on_a_span_is_read_there_and_linking_anew_forgets_it(nlp):
    doc = link(nlp, "DISEASE", "DRUG")
    disease, drug = doc.spans["found"]
    drug._.kb_id = "MY:1"
    assert (disease._.kb_id, drug._.kb_id) == ("MESH:D008881", "MY:1")
    doc.spans["found"] = [drug]
    nlp.get_pipe("angel_linker")(doc)
    assert [span._.kb_id for span in doc.spans["found"]] == ["MESH:D000002"]
    assert doc[2:3]._.kb_id == "MESH:D000002"
