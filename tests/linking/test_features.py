"""Each feature with its numbers written out."""

from dataclasses import replace

import pytest

from spacy_angel.linking.ranking.features import FEATURES, MENTION_FEATURES, columns_of
from spacy_angel.linking.ranking.words import abbreviates, align
from spacy_angel.linking.types import Candidate, Query
from spacy_angel.model.mention import Mention
from spacy_angel.vocabulary.species.reader import ABSENT_SPECIES, MAIN_SPECIES, OTHER_SPECIES

NAME = Candidate(
    "MI",
    0,
    "heart attack",
    log_prob=-15.0,
    cosine=0.8,
    edits=11 / 12,
    missing=0.25,
    added=0.5,
    overlap=0.5,
    vectors=0.6,
    meaning=0.85,
)
EXACT = replace(NAME, is_query=True, cosine=1.0, edits=1.0, missing=0.0, added=0.0)


def values(candidate, mention="heart atack", features=FEATURES, **query):
    """The second of two mentions: each has its own numbers."""
    others = Query(Mention("x"), candidates=[Candidate("X", 1), Candidate("Y", 1)])
    columns = columns_of([others, Query(Mention(mention), candidates=[candidate], **query)])
    return {key: feature(columns)[2] for key, feature in features.items()}


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
            "overlap": 0.5,
        }
    )


def test_an_exact_match_and_what_the_vocabulary_says_of_it():
    told = values(replace(EXACT, scope=1))
    assert (told["exact"], told["scope"], told["overlap"], told["similarity"]) == (1, 1, 0, 1)
    spelled = values(replace(EXACT, scope=1, source="spelling"))
    assert (spelled["exact"], spelled["scope"], spelled["spelled"]) == (0, 0, 1)


def lengths(words):
    """RETURNS (list[int]): the weights of words."""
    return list(map(len, words))


def test_words_that_a_name_lacks_adds_and_shares():
    pairs = [("outer hair cells", "hair cell of mice"), ("outer hair cells", "--")]
    found, nothing = align("outer hair cells", pairs, lambda words: [1.0] * len(words))
    assert found == pytest.approx((1 / 3, 2 / 4, 2 * 2 / 7, 0))
    assert nothing == (1, 1, 0, 0)
    [found] = align("gout", [("goutt", "gout")], lengths)
    assert found[:2] != (0, 0)
    [found] = align("goutt", [("gout", "gout")], lengths)
    assert found[:2] == (0, 0)


def test_a_concept_that_the_document_names_elsewhere():
    assert values(NAME)["coherence"] == 0
    assert values(NAME, coherent={"MI"})["coherence"] == 0.2
    assert values(NAME, "ha", coherent={"MI"})["coherence"] == 1


@pytest.mark.parametrize(
    ("short", "name", "expected"),
    [
        ("htn", "hypertension", True),
        ("htn", "hyperlipidemia", False),
        ("mi", "myocardial infarction", True),
        ("dm", "myotonic dystrophy", True),
        ("ra", "arthritis", False),
    ],
)
def test_whether_a_text_abbreviates_a_name(short, name, expected):
    assert abbreviates(short, name) == expected


def test_species_names_of_genes_and_words_around():
    told = values(replace(EXACT, species=MAIN_SPECIES, name_rank=1.0), context={"MI": 0.25})
    assert (told["species"], told["name_rank"], told["context"]) == (1, 1, 0.25)
    ranks = (ABSENT_SPECIES, OTHER_SPECIES, 0)
    assert [values(replace(EXACT, species=rank))["species"] for rank in ranks] == [-1, 0.7, 0]


@pytest.mark.parametrize(
    ("mention", "log_prob", "expected"),
    [
        ("heart atack", -15.0, {"bias": 1, "short": 0, "unsure": 1}),
        ("ha", -2.0, {"bias": 1, "short": 1, "unsure": pytest.approx(0.2)}),
    ],
)
def test_what_is_of_the_mention_alone(mention, log_prob, expected):
    assert values(replace(NAME, log_prob=log_prob), mention, MENTION_FEATURES) == expected
