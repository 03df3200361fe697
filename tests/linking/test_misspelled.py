"""Misspelled names in running text, over a vocabulary of a few names."""

import pytest

from spacy_angel.linking.mentions.misspelled import find_misspelled
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


@pytest.fixture(scope="module")
def kb() -> ConceptKB:
    concepts = [
        Concept("D:1", "Asthma", ("bronchial asthma",), ("Disease",)),
        Concept("D:2", "Arthritis", (), ("T047",)),
        Concept("C:1", "Tobramycin", (), ("Chemical",)),
        Concept("G:1", "Fibronectin", (), ("Gene",)),
        Concept("X:1", "Untyped"),
    ]
    return ConceptKB.build(concepts)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("athsma", "asthma"),
        ("astmha", "asthma"),
        # One letter of six: `scurfy` is no scurvy.
        ("asthna", None),
        ("arthrtis", "arthritis"),
        ("arthrittis", "arthritis"),
        ("tobramicyn", "tobramycin"),
        ("tobramicin", "tobramycin"),
        # Two slips.
        ("tobramcin", "tobramycin"),
        ("tobrmcin", None),
        # The first and the last letter are seldom wrong.
        ("ethritis", None),
        ("arthritic", None),
        # A name that is part of others', and one of several words.
        ("broncial", None),
        # Of no kind, or of another.
        ("fibronection", None),
        ("untypedd", None),
        # Written as they should be, or names of people.
        ("asthma", None),
        ("Athsma", None),
        ("athsma-like", None),
    ],
)
def test_a_slip_away_from_a_name(kb: ConceptKB, word: str, meant: str | None) -> None:
    text = f"Her {word} since childhood."
    found = [(text[o.start : o.end], kb.name(o.name)) for o in find_misspelled(text, kb)]
    assert found == ([] if meant is None else [(word, meant)])


def test_more_than_one_of_a_known_thing_is_no_slip() -> None:
    kb = ConceptKB.build([Concept("C:2", "Cytokines", (), ("Chemical",))])
    assert list(find_misspelled("Two cytosines.", kb)) == []
    assert len(list(find_misspelled("Two cytokeines.", kb))) == 1
