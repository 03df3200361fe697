"""Mentions that consist of several names with shared words."""

import pytest
import spacy
from spacy.tokens import Span
from support.tiny_linker import blocks

from spacy_angel.linking.types import describe_link
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.composites import coordinated_names
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name

NAMES = (
    *("gastric ulcer", "duodenal ulcer", "renal cell cancer", "basal cell cancer", "hepatitis A"),
    *("hepatitis E", "T-cell lymphoma", "B-cell lymphoma", "sickle cell and thalassemia trait"),
    *("thalassemia trait", "sickle cell trait", "fever"),
    *("type 1 diabetes", "type 2 diabetes", "type 3 diabetes", "hepatitis C"),
)


@pytest.mark.parametrize(
    ("mention", "names"),
    [
        ("gastric and duodenal ulcers", ["gastric ulcer", "duodenal ulcer"]),
        ("Gastric/duodenal ulcer", ["Gastric ulcer", "duodenal ulcer"]),
        ("basal or renal cell cancer", ["basal cell cancer", "renal cell cancer"]),
        ("type 1, 2 and 3 diabetes", [f"type {i} diabetes" for i in (1, 2, 3)]),
        ("T- and B-cell lymphoma", ["T- cell lymphoma", "B-cell lymphoma"]),
        ("hepatitis A, or E", ["hepatitis A", "hepatitis E"]),
        # A list of names, a name, and words that are part of no name.
        ("fever and duodenal ulcer", []),
        ("sickle cell and thalassemia trait", []),
        ("severe and duodenal ulcer", []),
        ("gastric ulcer", []),
        ("and", []),
    ],
)
def test_names_that_share_words_are_told_apart(mention, names):
    known = set(map(normalize_name, NAMES))
    assert coordinated_names(mention, lambda name: normalize_name(name) in known) == names


@pytest.fixture(scope="module")
def nlp(model, tmp_path_factory):
    kb = tmp_path_factory.mktemp("coordinations") / "kb"
    ConceptKB.build([Concept(f"A:{i}", n, (), ("T047",)) for i, n in enumerate(NAMES)], kb)
    nlp = spacy.blank("en")
    nlp.add_pipe("angel_linker", config=blocks(published=False, model=model, vocabulary=str(kb)))
    nlp.add_pipe("angel_matcher", before="angel_linker", config={"names": "none"})
    return nlp


def doc_of(nlp, text, *mentions):
    doc = nlp.make_doc(text)
    doc.ents = [Span(doc, start, end, label="DISEASE") for start, end in mentions]
    return doc


@pytest.mark.parametrize(
    ("text", "mentions", "expected"),
    [
        ("Gastric or duodenal ulcer is seen", [(0, 1), (2, 4)], "Gastric or duodenal ulcer"),
        ("a gastric or duodenal ulcer", [(3, 5)], "gastric or duodenal ulcer"),
        ("a gastric or duodenal ulcer", [(4, 5)], "gastric or duodenal ulcer"),
        ("hepatitis A and E", [(0, 2)], "hepatitis A and E"),
        ("hepatitis A and E.", [(0, 2)], "hepatitis A"),
        ("hepatitis A, C, and E", [(0, 2)], "hepatitis A, C, and E"),
        ("a renal, or basal cell cancer", [(4, 7)], "renal, or basal cell cancer"),
        ("type 1, 2 or 3 diabetes", [(5, 7)], "type 1, 2 or 3 diabetes"),
        ("fever or duodenal ulcer", [(0, 1), (2, 4)], "fever"),
    ],
)
def test_cut_coordinations_are_joined(nlp, text, mentions, expected):
    doc = nlp.get_pipe("angel_matcher")(doc_of(nlp, text, *mentions))
    assert doc.ents[0].text == expected


def test_a_coordination_is_linked_to_all_of_its_concepts(nlp):
    linker = nlp.get_pipe("angel_linker")
    doc = linker(doc_of(nlp, "gastric or duodenal ulcer then fever", (0, 4), (5, 6)))
    ulcers, fever = doc.ents
    assert (ulcers.kb_id_, ulcers._.kb_id, fever.kb_id_) == ("A:0+A:1", "A:0+A:1", "A:11")
    assert [concept_id for concept_id, _ in ulcers._.kb_ents] == ["A:0", "A:1"]
    described = describe_link(ulcers.kb_id_, ulcers._.kb_ents, linker.kb)
    assert described == ("gastric ulcer + duodenal ulcer", ulcers._.kb_ents[0][1])
    assert linker.explain(ulcers).kb_id == "A:0+A:1"
