"""Doc → Mention."""

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin, Span
from spacy.tokens.underscore import Underscore

from spacy_angel.linking.mentions import reading
from spacy_angel.linking.mentions.reading import ABBREVIATIONS, ReadDocument, find_spans
from spacy_angel.model.mention import Mention, mention_at
from spacy_angel.model.prompts import PromptFormat
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

TEXT = "Metachromatic leukodystrophy (MLD) is rare. MLD begins early. Patients with MLD lose gait."


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    return nlp


def read_mentions(doc, spans):
    kb = ConceptKB.build([Concept("X:1", "gait")])
    return reading.read_mentions(ReadDocument(doc), spans, PromptFormat(), kb)


def span_of(doc, text, nth=0):
    at = -1
    for _ in range(nth + 1):
        at = doc.text.index(text, at + 1)
    return doc.char_span(at, at + len(text))


def test_whole_document_is_the_context(nlp):
    doc = nlp("Severe pain. A heart attack\n\nfollowed.  Then rest.")
    (mention,) = read_mentions(doc, [span_of(doc, "heart attack")])
    assert mention == Mention("heart attack", "Severe pain. A", "followed. Then rest.")


@pytest.mark.parametrize("serializable", [True, False])
def test_long_form_replaces_mention_and_context(nlp, serializable):
    nlp.add_pipe("angel_abbreviations", config={"make_serializable": serializable})
    doc = nlp(TEXT)
    ents = [span_of(doc, "MLD", 2), span_of(doc, "gait"), span_of(doc, "Metachromatic")]
    before = [(e.start_char, e.end_char, e.text) for e in ents]
    long_form = "Metachromatic leukodystrophy"
    left = f"{long_form} ({long_form}) is rare. {long_form} begins early. Patients with"
    assert read_mentions(doc, ents) == [
        Mention(long_form, left, "lose gait."),
        Mention("gait", f"{left} {long_form} lose", "."),
        Mention(
            "Metachromatic",
            "",
            f"leukodystrophy ({long_form}) is rare. {long_form} begins early. "
            f"Patients with {long_form} lose gait.",
        ),
    ]
    assert [(e.start_char, e.end_char, e.text) for e in ents] == before
    assert doc.text == TEXT


@pytest.mark.parametrize(
    ("long_form", "read"),
    [
        ("West Nile virus of birds", "West Nile virus of birds"),
        ("Nile virus", "West Nile virus"),
        ("virus) replicon particle", "West Nile virus"),
        ("virus (West Nile) particle", "virus (West Nile) particle"),
    ],
)
def test_what_is_shorter_or_lacks_a_bracket_is_no_long_form(nlp, long_form, read):
    doc = nlp("Horses have West Nile virus.")
    found = {"short_start": 2, "short_end": 5, "long_text": long_form}
    doc.user_data[ABBREVIATIONS] = [found]
    assert read_mentions(doc, [doc[2:5]])[0].text == read


def test_abbreviations_of_a_docbin_need_no_detector(nlp, monkeypatch):
    nlp.add_pipe("angel_abbreviations", config={"make_serializable": True})
    data = DocBin(docs=[nlp(TEXT)], store_user_data=True).to_bytes()
    # as in a process that has not loaded scispaCy
    monkeypatch.delitem(Underscore.doc_extensions, "abbreviations")
    (doc,) = DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab)
    (mention,) = read_mentions(doc, [span_of(doc, "MLD", 2)])
    assert mention.text == "Metachromatic leukodystrophy"


def test_entities_or_a_span_group_that_may_overlap(nlp):
    doc = nlp("chronic heart failure today")
    doc.ents = [Span(doc, 1, 3, label="DISEASE")]
    doc.spans["found"] = [Span(doc, 0, 3, label="A"), Span(doc, 1, 3, label="B")]
    assert [s.text for s in find_spans(doc, None)] == ["heart failure"]
    spans = find_spans(doc, "found")
    assert [m.text for m in read_mentions(doc, spans)] == ["chronic heart failure", "heart failure"]
    assert [m.left for m in read_mentions(doc, spans)] == ["", "chronic"]
    with pytest.warns(UserWarning, match=r"no span group 'other'.*found"):
        assert find_spans(doc, "other") == []
    assert find_spans(nlp(""), "other") == []


@given(st.text(min_size=1, max_size=80), st.data())
def test_any_cut_keeps_every_visible_character(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    mention = mention_at(text, start, end)
    whole = "".join((mention.left, mention.text, mention.right))
    assert "".join(whole.split()) == "".join(text.split())
