"""Each feature with its numbers written out."""

from dataclasses import replace

import pytest

from spacy_angel.linking.ranking.alignment import Alignment
from spacy_angel.linking.ranking.features import (
    FEATURES,
    MENTION_FEATURES,
    CandidateName,
    MentionCandidates,
)
from spacy_angel.vocabulary.lookup.string_similarity import Similarity
from spacy_angel.vocabulary.species.reader import ABSENT_SPECIES, MAIN_SPECIES, OTHER_SPECIES

NAME = CandidateName(
    0,
    "heart attack",
    -15.0,
    -15.0,
    "mention",
    False,
    Similarity(0.8, 11 / 12),
    Alignment(0.25, 0.5),
    ("MI", "CA"),
    vector_similarity=0.6,
    meaning=0.85,
)
EXACT = replace(NAME, is_query=True, similarity=Similarity(1, 1), alignment=Alignment(0, 0))


def values(name: CandidateName, mention: str = "heart atack", place: int = 0, coherent=()) -> dict:
    found = MentionCandidates(mention, (name,), frozenset(coherent))
    pair = list(found.pairs())[place]
    return {key: feature.value(pair) for key, feature in FEATURES.items()}


def test_a_name_that_is_not_the_mention():
    assert values(NAME) == pytest.approx(
        dict.fromkeys(FEATURES, 0.0)
        | {
            "confidence": -1.5,
            "similarity": 0.8,
            "edits": (11 / 12) ** 2,
            "vectors": 0.6,
            "meaning": 0.85,
            "same_meaning": 0.5,
            "missing": 0.25,
            "added": 0.5,
            # `heart`, of two words each
            "overlap": 0.5,
        }
    )


def test_an_exact_match_and_what_the_vocabulary_says_of_it():
    told = values(replace(EXACT, canonical=frozenset({"MI"}), scopes=("", "RELATED")))
    assert (told["exact"], told["scope"], told["overlap"], told["similarity"]) == (1, 1, 0, 1)
    related = values(replace(EXACT, scopes=("", "RELATED")), place=1)
    assert (related["exact"], related["scope"]) == (1, -1)


def test_letters_say_nothing_of_a_short_mention():
    told = values(replace(NAME, log_prob=-99.0), "ha")
    assert (told["similarity"], told["edits"], told["confidence"]) == (0, 0, -3)


@pytest.mark.parametrize(
    ("mention", "name", "number"),
    [
        ("type 2 diabetes", "diabetes type 1", 1),
        ("type 2 diabetes", "diabetes mellitus type 2", 0),
        ("type 2 diabetes", "diabetes", 0.5),
        ("fgfr2c", "fibroblast growth factor receptor 02", 0),
        ("bone marrow", "marrow 4", 0.5),
    ],
)
def test_numbers_that_are_others_or_on_one_side(mention, name, number):
    assert values(replace(NAME, text=name), mention)["number"] == number


def test_a_concept_that_the_document_names_elsewhere():
    assert [values(NAME, coherent={"CA"}, place=i)["coherence"] for i in range(2)] == [0, 0.2]
    assert values(NAME, "ha", coherent={"CA"}, place=1)["coherence"] == 1


def test_species_names_of_genes_and_words_around():
    gene = replace(
        EXACT,
        species_ranks=(MAIN_SPECIES, ABSENT_SPECIES),
        same_case=frozenset({"MI"}),
        second=frozenset({"CA"}),
        context=(0.25, 0.0),
    )
    told = [values(gene, place=i) for i in range(2)]
    assert [(t["species"], t["name_rank"], t["context"]) for t in told] == [
        (1, 1, 0.25),
        (-1, 0.5, 0),
    ]
    assert values(replace(EXACT, species_ranks=(OTHER_SPECIES, 0)))["species"] == 0.7


def test_what_is_of_the_mention_alone():
    told = [
        {key: f.value(MentionCandidates(text, names)) for key, f in MENTION_FEATURES.items()}
        for text, names in (("heart atack", (NAME,)), ("ha", (replace(NAME, log_prob=-2.0),)))
    ]
    assert told == [
        {"bias": 1, "short": 0, "unsure": 1},
        {"bias": 1, "short": 1, "unsure": pytest.approx(0.2)},
    ]
