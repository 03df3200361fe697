"""`doc._.abbreviations` of a linked document reads as scispaCy's users read it, whatever other
pipelines there are."""

import pytest
import spacy
from scispacy.abbreviation import AbbreviationDetector
from spacy.tokens import Doc, DocBin
from support.tiny_linker import make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore:.*W036")
TEXT = "Chronic kidney disease (CKD) is common. CKD is treated."


def pipeline(model, tiny_vocabulary):
    nlp = make_pipeline(model, tiny_vocabulary)
    config = {"make_serializable": True}
    nlp.add_pipe("angel_abbreviations", before="angel_linker", config=config)
    return nlp


def read(doc):
    return [(str(a), a.start, a.end, str(a._.long_form)) for a in doc._.abbreviations]


FOUND = [("CKD", 4, 5, "Chronic kidney disease"), ("CKD", 9, 10, "Chronic kidney disease")]


def test_another_pipeline_with_a_detector(model, tiny_vocabulary):
    nlp = pipeline(model, tiny_vocabulary)
    before = nlp(TEXT)
    spacy.blank("en").add_pipe("angel_abbreviations")
    assert sorted(read(before)) == sorted(read(nlp(TEXT))) == FOUND


def test_scispacys_own_detector_was_made_since(model, tiny_vocabulary):
    nlp = pipeline(model, tiny_vocabulary)
    AbbreviationDetector(spacy.blank("en"))
    assert sorted(read(nlp(TEXT))) == FOUND


def test_an_abbreviation_is_a_span(model, tiny_vocabulary):
    nlp = pipeline(model, tiny_vocabulary)
    doc = nlp(TEXT)
    (again,) = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    for each in (doc, Doc(nlp.vocab).from_bytes(doc.to_bytes()), again, doc.copy()):
        first = min(each._.abbreviations, key=lambda a: a.start)
        assert (first.start_char, first.end_char, first.label_) == (24, 27, "")
        assert str(first._.long_form) == "Chronic kidney disease"
    first = min(doc._.abbreviations, key=lambda a: a.start)
    assert first.sent.text == "Chronic kidney disease (CKD) is common."
