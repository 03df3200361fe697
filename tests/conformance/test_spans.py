"""The identifier of a span, for a user of spaCy's `entity_linker` and of span groups."""

import pytest
from spacy.tokens import Doc, Span
from support.tiny_linker import TEXT, make_pipeline, make_vocabulary, pipeline

from spacy_angel.vocabulary.names.concepts import Concept


@pytest.mark.parametrize("span_key", [None, "mine"])
def test_both_identifiers_of_a_span_agree_whichever_is_set(make, span_key):
    def mentions(doc):
        return list(doc.ents if span_key is None else doc.spans[span_key])

    nlp = make(span_key=span_key)
    doc = nlp.make_doc(TEXT)
    for name in nlp.pipe_names[:-1]:
        doc = nlp.get_pipe(name)(doc)
    if span_key is not None:
        doc.spans[span_key] = list(doc.ents)
    doc = nlp.get_pipe("angel_linker")(doc)
    first = mentions(doc)[0]
    assert first._.kb_id == first.kb_id_ != ""
    first._.kb_id = "MY:1"
    assert {mentions(doc)[0].kb_id_, mentions(doc)[0]._.kb_id} == {"MY:1"}
    first.kb_id_ = "MY:2"
    assert first._.kb_id == "MY:2"
    again = Span(doc, first.start, first.end, label=first.label, kb_id="MY:3")
    if span_key is None:
        doc.ents = [again, *doc.ents[1:]]
    else:
        doc.spans[span_key] = [again]
    for one in (doc, Doc(nlp.vocab).from_bytes(doc.to_bytes())):
        assert {mentions(one)[0].kb_id_, mentions(one)[0]._.kb_id} == {"MY:3"}


def test_every_token_of_a_mention_has_the_identifier(make):
    doc = make()(TEXT)
    for ent in doc.ents:
        assert {token.ent_kb_id_ for token in ent} == {ent.kb_id_}
    assert {t.ent_kb_id_ for t in doc if not t.ent_type_} == {""}
    (first, *_) = doc.sents
    assert [ent.kb_id_ for ent in first.as_doc().ents] == [doc.ents[0].kb_id_]


def test_before_the_component_that_finds_mentions_it_links_none(model, vocabulary):
    nlp = pipeline()
    nlp.add_pipe("angel_linker", config={"model": model, "vocabulary": vocabulary}, first=True)
    assert {ent.kb_id_ for ent in nlp(TEXT).ents} == {""}
    assert nlp.analyze_pipes()["problems"]["angel_linker"] == ["doc.ents"]


def test_a_linker_of_a_span_group_requires_groups(make):
    nlp = make(span_key="found")
    assert nlp.analyze_pipes()["problems"]["angel_linker"] == ["doc.spans"]
    nlp.add_pipe("span_ruler", first=True)
    assert nlp.analyze_pipes()["problems"]["angel_linker"] == []


def test_the_same_characters_under_two_labels_have_a_link_each(model, tmp_path):
    drug = Concept("MESH:D000002", "Migraine", (), ("T121",))  # named like a disease
    vocabulary = make_vocabulary(tmp_path / "kb", drug)
    types = {"DISEASE": ["T047"], "DRUG": ["T121"]}
    nlp = make_pipeline(model, vocabulary, span_key="found", types_by_label=types)
    doc = nlp.make_doc("history of migraine .")
    nlp.get_pipe("sentencizer")(doc)
    doc.spans["found"] = [Span(doc, 2, 3, label=label) for label in types]
    nlp.get_pipe("angel_linker")(doc)
    for each in (doc, Doc(nlp.vocab).from_bytes(doc.to_bytes())):
        disease, drug = each.spans["found"]
        assert (disease.kb_id_, drug.kb_id_) == ("MESH:D008881", "MESH:D000002")
        for span in (disease, drug):
            assert span._.kb_id == span.kb_id_
            assert span._.kb_ents[0][0] == span.kb_id_
            assert span._.candidates[0]["concept_id"] == span.kb_id_
        # A span without a label has the first link.
        assert each[2:3]._.kb_id == disease.kb_id_
    disease, drug = doc.spans["found"]
    drug._.kb_id = "MY:1"
    assert (disease._.kb_id, drug._.kb_id) == ("MESH:D008881", "MY:1")
    doc.spans["found"] = [drug]
    nlp.get_pipe("angel_linker")(doc)
    assert [span._.kb_id for span in doc.spans["found"]] == ["MESH:D000002"]
    assert doc[2:3]._.kb_id == "MESH:D000002"
