"""Vocabularies that share no identifiers, joined by names."""

import pytest

from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup.by_name import joined_by_name
from spacy_angel.vocabulary.names.concepts import Concept

TAXA = [
    Concept("T:1", "Snark virus", ("Hunted virus",), alternate_ids=("V:9",)),
    Concept("T:2", "Boojum virus", ("Virus of the snark",)),
    Concept("T:3", "Jubjub virus", ("Virus of the snark", "Jubjub")),
    Concept("T:4", "Jubjub", ("Bird virus",)),
]


def same(*concepts: Concept) -> dict[str, tuple[str, ...]]:
    """RETURNS (dict[str, tuple[str, ...]]): identifier → what it was given."""
    joined = joined_by_name(list(concepts), ConceptKB.build(TAXA))
    return {c.concept_id: c.alternate_ids for c in joined}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("Boojumvirus carrolli", "BOOJUM-virus"), ("T:2",)),
        # The first of its names that is known
        (("X", "Bird virus", "Boojum virus"), ("T:4",)),
        # One whose canonical name it is goes before the other that has it.
        (("Jubjub",), ("T:4",)),
        # Several have it, and it is no one's canonical name.
        (("X", "Virus of the snark"), ()),
        (("Bandersnatch virus",), ()),
    ],
)
def test_a_concept_is_the_one_that_bears_its_name(names, expected):
    assert same(Concept("V:1", names[0], names[1:])) == {"V:1": expected}


def test_canonical_names_go_before_aliases():
    old = Concept("V:1", "Snarkvirus one", ("Snark virus",))
    new = Concept("V:2", "Snark virus")
    for concepts in ((old, new), (new, old)):
        assert same(*concepts) == {"V:1": (), "V:2": ("T:1",)}


def test_where_two_would_be_the_same_neither_is():
    first = Concept("V:1", "one", ("Boojum virus",))
    second = Concept("V:2", "two", ("boojum virus",))
    assert same(first, second) == {"V:1": (), "V:2": ()}
    # Nor does a third get it by a weaker right.
    canonical = [Concept(i, "Boojum virus") for i in ("V:3", "V:4")]
    assert same(*canonical, first) == {"V:3": (), "V:4": (), "V:1": ()}


def test_identifiers_go_before_names():
    by_id = Concept("V:9", "Boojum virus")
    by_name = Concept("V:1", "Snark virus")
    assert same(by_id, by_name) == {"V:9": (), "V:1": ()}


def test_merging_by_name_adds_names_to_the_first_vocabulary():
    viruses = ConceptKB.build([Concept("V:1", "Boojumvirus", ("Boojum virus",), ("species",))])
    first = ConceptKB.build(TAXA)
    kb = ConceptKB.merge([first, viruses], by_name=True)
    assert kb["V:1"] == Concept(
        "T:2",
        "Boojum virus",
        ("Virus of the snark", "Boojumvirus"),
        ("species",),
        alternate_ids=("V:1",),
    )
    assert kb.meta["steps"] == [{"step": "merge", "concepts": [4, 1], "by_name": True}]
    assert len(ConceptKB.merge([first, viruses])) == 5
