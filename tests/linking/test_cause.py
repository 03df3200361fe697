"""Why a mention has its link, or none."""

import re

import pytest
import spacy
from spacy.tokens import Span

from spacy_angel.linking.linker import AngelLinker
from spacy_angel.linking.settings.linker_settings import LinkerSettings
from spacy_angel.linking.showing.cause import explain_link
from spacy_angel.linking.showing.page import link_rows, write_page
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

FOUND = [
    {"concept_id": "T:1", "name": "Kidney colic", "score": -1.0, "log_prob": -2.0},
    {"concept_id": "T:2", "name": "heart attack", "score": -2.0, "log_prob": -4.0},
    {"concept_id": "T:1", "name": "Renal colic", "score": -0.5, "log_prob": -1.0},
]
# exp(-2) + exp(-1) against exp(-4)
P1, P2 = 0.965, 0.035


@pytest.fixture
def linker() -> AngelLinker:
    made = AngelLinker(spacy.blank("en").vocab, settings=LinkerSettings(labels_discard=("GENE",)))
    concepts = (Concept("T:1", "Renal colic", ("Kidney colic",)), Concept("T:2", "Heart attack"))
    made.kb = ConceptKB.build(concepts)
    return made


def span(linker: AngelLinker, words: str, kb_id: str, found: list, label: str = "DISEASE") -> Span:
    doc = spacy.blank("en")(f"with {words} .")
    doc.ents = [Span(doc, 1, len(doc) - 1, label=label)]
    (ent,) = doc.ents
    ent._.kb_id, ent._.candidates = kb_id, found
    ent._.kb_ents = [] if kb_id == "NIL" else linker.rank(found)
    return ent


def test_all_that_was_found_is_told_most_probable_first(linker) -> None:
    explained = explain_link(span(linker, "renal colic", "T:1", FOUND), linker)
    first, second = explained.concepts
    assert (first.concept_id, first.canonical_name) == ("T:1", "Renal colic")
    assert first.names == (("Renal colic", -1.0), ("Kidney colic", -2.0))
    assert (first.probability, second.probability) == pytest.approx((P1, P2), abs=1e-3)
    assert explained.why == (
        "It is a name of the concept: “Renal colic”, probability 0.965, log-probability -1.00."
    )


@pytest.mark.parametrize(
    ("words", "kb_id", "found", "label", "settings", "why"),
    [
        ("pain", "T:1", FOUND, "D", {}, r"Most probable name: “Renal colic”, .* -1\.00\.$"),
        ("pain", "NIL", FOUND, "D", {"threshold": 0.97}, r"0\.965, .*under the threshold 0\.970"),
        (
            "pain",
            "NIL",
            FOUND,
            "D",
            {"search": {"min_log_prob": -0.5}},
            r"search\.min_log_prob -0\.50",
        ),
        ("pain", "NIL", FOUND, "D", {"threshold": 0.5}, "thresholds that have changed since"),
        ("pain", "NIL", [], "D", {}, "No name that it may have was found"),
        ("pain", "NIL", [], "GENE", {}, "label GENE is not to be linked"),
        ("pain", "T:2", [], "D", {}, "had this identifier before"),
        ("pain", "", [], "D", {}, "has not read it"),
    ],
)
def test_the_rule_that_decided_is_named(linker, words, kb_id, found, label, settings, why) -> None:
    with linker.using(**settings):
        told = explain_link(span(linker, words, kb_id, found, label), linker).why
    assert re.search(why, told)


def test_a_long_form_that_was_read_is_told(linker) -> None:
    ent = span(linker, "RC", "T:1", FOUND)
    ent.doc.user_data[("._.", "abbreviations", None, None)] = [
        {"short_start": 1, "short_end": 2, "long_text": "renal colic"}
    ]
    assert explain_link(ent, linker).why.startswith(
        "Read as “renal colic”. It is a name of the concept"
    )


def test_the_page_holds_why_and_what_else_was_found(linker, tmp_path) -> None:
    ent = span(linker, "renal <pain>", "T:1", FOUND)
    write_page(ent.doc, linker, tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text("utf8")
    why = "Most probable name: “Renal colic”, probability 0.965, log-probability -1.00."
    assert f"<summary>{why}</summary>" in html
    assert f'<mark title="Renal colic. {why}" style="background: var(--disease)">' in html
    assert "<td>Heart attack</td><td>“heart attack” (-4.00)</td>" in html
    assert "renal &lt;pain&gt;" in html
    assert "<pain>" not in html
    # the name in the box, and nothing that a browser would fetch
    box = 'T:1</span> <span style="font-weight: normal">Renal colic</span></span></mark>'
    assert box in html
    assert not re.search(r"src=|<link|<script|@import|url\(", html)


def test_the_page_says_where_there_is_no_link(linker, tmp_path) -> None:
    ent = span(linker, "pain", "NIL", [], label="SIGN")
    write_page(ent.doc, linker, tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text("utf8")
    assert '<mark title="no link. No name that it may have was found' in html
    assert 'style="background: var(--other)"' in html
    assert "no link</span></span></mark>" in html
    assert "<td>no link</td>" in html
    assert "NIL" not in html


def test_an_identifier_from_before_has_a_row_without_figures(linker) -> None:
    kept = span(linker, "pain", "T:2", [])
    kept._.kb_ents = []
    assert link_rows(kept.doc, linker) == [("pain", "DISEASE", "T:2", "Heart attack", "", "")]


def test_by_the_ranker_the_probabilities_are_those_of_the_names_and_of_nil(linker) -> None:
    found = [
        {
            "concept_id": "T:1",
            "name": "Renal colic",
            "score": 0,
            "log_prob": -9,
            "probability": 0.3,
        },
        {
            "concept_id": "T:1",
            "name": "Kidney colic",
            "score": 0,
            "log_prob": -2,
            "probability": 0.1,
        },
        {
            "concept_id": "T:2",
            "name": "Heart attack",
            "score": -1,
            "log_prob": -1,
            "probability": 0.2,
        },
    ]
    with linker.using(rerank=True, threshold=0.5, search={"min_log_prob": -0.5}):
        explained = explain_link(span(linker, "pain", "NIL", found), linker)
    assert explained.why == (
        "Most probable name: “Renal colic”, probability 0.400, log-probability -9.00: under the "
        "threshold 0.500; probability of NIL: 0.400."
    )
    assert [(c.concept_id, c.probability) for c in explained.concepts] == [
        ("T:1", pytest.approx(0.4)),
        ("T:2", 0.2),
    ]


def test_a_short_form_that_was_read_is_told(linker) -> None:
    linker.kb.add(Concept("T:3", "Hypertension"))
    found = [{"concept_id": "T:3", "name": "Hypertension", "score": -1.0, "log_prob": -1.0}]
    with linker.using(reading={"short_forms": True}):
        why = explain_link(span(linker, "HTN", "T:3", found), linker).why
    assert why.startswith("Read as “hypertension”. It is a name of the concept")


def test_a_long_form_of_the_document_set_is_told(linker, tmp_path) -> None:
    file = tmp_path / "long_forms.tsv"
    file.write_text("HT\tshort form\thypertension\n")
    linker.kb.add(Concept("T:4", "Hypertension"))
    found = [{"concept_id": "T:4", "name": "Hypertension", "score": -1.0, "log_prob": -1.0}]
    with linker.using(reading={"long_forms": str(file)}):
        why = explain_link(span(linker, "HT", "T:4", found), linker).why
        assert linker.predict([span(linker, "HT", "", []).doc])[0][0].candidates
    assert why.startswith("Read as “hypertension”. It is a name of the concept")
