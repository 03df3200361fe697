"""The pipeline without settings: which words it takes for mentions."""

import spacy

from spacy_angel.concepts import Concept
from spacy_angel.pipelines import open_pipeline
from spacy_angel.starter import mention_patterns


def test_patterns_allow_a_wrong_letter_in_long_words_only() -> None:
    concepts = [
        Concept("X:1", "Heart Attack", ("ALL", "edema"), ("Disease",)),
        Concept("X:2", "VLCFA acid"),
    ]
    assert list(mention_patterns(spacy.blank("en"), concepts)) == [
        {"label": "DISEASE", "pattern": [{"LOWER": "heart"}, {"LOWER": {"FUZZY1": "attack"}}]},
        {"label": "DISEASE", "pattern": [{"ORTH": "ALL"}]},
        {"label": "DISEASE", "pattern": [{"LOWER": "edema"}]},
        {"label": "ENTITY", "pattern": [{"LOWER": "vlcfa"}, {"LOWER": "acid"}]},
    ]


def test_short_forms_need_their_case_and_the_longest_name_wins() -> None:
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler", config={"validate": False})
    concepts = [
        Concept("X:1", "Acute Lymphoblastic Leukemia", ("ALL",), ("Disease",)),
        Concept("X:2", "Leukemia", (), ("Disease",)),
    ]
    ruler.add_patterns(list(mention_patterns(nlp, concepts)))
    doc = nlp("all had ALL or acute lymphoblastic leukaemia, none leukemya")
    found = [ent.text for ent in doc.ents]
    assert found == ["ALL", "acute lymphoblastic leukaemia", "leukemya"]


def test_what_ships_opens_by_its_name() -> None:
    nlp, linker = open_pipeline("en_angel_mini")
    assert nlp.meta["name"] == "angel_mini"
    doc = nlp("A heart attack.")
    assert [(ent.text, ent._.kb_id) for ent in doc.ents] == [("heart attack", "MESH:D009203")]
    assert linker.kb.resolve("MESH:D009203") == "MESH:D009203"
