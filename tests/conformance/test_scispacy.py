"""What a user of scispaCy writes, and both packages in one process."""

from types import SimpleNamespace

import pytest
import spacy
from scispacy.abbreviation import AbbreviationDetector
from scispacy.linking import EntityLinker
from scispacy.linking_utils import Entity
from spacy.tokens import Doc, DocBin, Span
from support.tiny_linker import TEXT, make_pipeline

from spacy_angel.vocabulary.names.concepts import Concept

pytestmark = pytest.mark.filterwarnings("ignore:.*W036")
DEFINED = "Chronic kidney disease (CKD) is common. CKD is treated."


@pytest.fixture
def nlp(model, tiny_vocabulary):
    return make_pipeline(model, tiny_vocabulary)


def test_the_loop_of_its_readme(nlp):
    linker = nlp.get_pipe("angel_linker")
    entity = nlp(TEXT).ents[0]
    lines = [str(linker.kb.cui_to_entity[umls_ent[0]]) for umls_ent in entity._.kb_ents]
    assert lines[0].startswith("CUI: MESH:D009203, Name: Myocardial Infarction\nDefinition: None\n")


@pytest.mark.parametrize("n", [0, 2, 11])
def test_a_concept_prints_as_an_entity(n):
    aliases = tuple(f"alias {i}" for i in range(n))
    ours = Concept("C1", "name", aliases, ("T047",), "What it is.")
    theirs = Entity("C1", "name", list(aliases), ["T047"], "What it is.")
    assert " ".join(str(ours).split()) == " ".join(str(theirs).split())


def test_its_linker_does_not_silently_replace_ours(nlp):
    before = Span.get_extension("kb_ents")
    try:
        # Opens nothing: a candidate generator is given.
        EntityLinker(nlp, candidate_generator=SimpleNamespace(kb=None))
        with pytest.warns(UserWarning, match=r"span\._\.kb_ents, as.*setting outputs\.kb_ents"):
            doc = nlp("aspirin")
        assert doc.ents[0]._.kb_ents[0][0] == "MESH:D001241"
    finally:
        _, _, getter, setter = before
        Span.set_extension("kb_ents", getter=getter, setter=setter, force=True)


def test_abbreviations_are_spans_whatever_detector_was_made_since(nlp):
    config = {"make_serializable": True}
    nlp.add_pipe("angel_abbreviations", before="angel_linker", config=config)
    doc = nlp(DEFINED)
    spacy.blank("en").add_pipe("angel_abbreviations")
    AbbreviationDetector(spacy.blank("en"))
    for each in (doc, nlp(DEFINED)):
        found = [(str(a), a.start, a.end, str(a._.long_form)) for a in each._.abbreviations]
        assert sorted(found) == [
            ("CKD", 4, 5, "Chronic kidney disease"),
            ("CKD", 9, 10, "Chronic kidney disease"),
        ]
    (again,) = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    for each in (doc, Doc(nlp.vocab).from_bytes(doc.to_bytes()), again, doc.copy()):
        first = min(each._.abbreviations, key=lambda a: a.start)
        assert (first.start_char, first.end_char, first.label_) == (24, 27, "")
        assert str(first._.long_form) == "Chronic kidney disease"
    first = min(doc._.abbreviations, key=lambda a: a.start)
    assert first.sent.text == "Chronic kidney disease (CKD) is common."
