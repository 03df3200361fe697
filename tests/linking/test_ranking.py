"""Names → concepts, with the numbers written out."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.errors import AngelError
from spacy_angel.linking.ranking.concepts import (
    RankedConcept,
    choose_link,
    rank_concepts,
)
from spacy_angel.linking.types import NIL, Candidate


def candidates(*names):
    """Each name: its probability, then its concepts."""
    return [
        Candidate(concept, i, log_prob=math.log(p))
        for i, (p, *concepts) in enumerate(names)
        for concept in concepts
    ]


def test_probabilities_add_up_and_a_shared_name_is_split():
    ranked = rank_concepts(candidates((0.4, "A"), (0.2, "A", "B")))
    assert [(r.concept_id, round(r.probability, 12)) for r in ranked] == [
        ("A", round(0.5 / 0.6, 12)),
        ("B", round(0.1 / 0.6, 12)),
    ]
    assert [r.log_prob for r in ranked] == [math.log(0.4), math.log(0.2)]


def test_temperature():
    # weights 0.16 and 0.04 at temperature 0.5, 0.4 ** 0.5 and 0.2 ** 0.5 at 2
    found = candidates((0.4, "A"), (0.2, "B"))
    assert rank_concepts(found, 0.5)[0].probability == pytest.approx(0.8)
    flat = rank_concepts(found, 2.0)[0].probability
    assert flat == pytest.approx(0.4**0.5 / (0.4**0.5 + 0.2**0.5))


def test_ties_stay_as_found_whatever_the_order_of_summation():
    # 0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1 in floating point
    ranked = rank_concepts(
        candidates((0.1, "Z"), (0.3, "B"), (0.2, "Z"), (0.2, "B"), (0.3, "Z"), (0.1, "B"))
    )
    assert [r.concept_id for r in ranked] == ["Z", "B"]
    assert ranked[0].probability == ranked[1].probability == 0.5


def test_nothing_found_and_nothing_possible():
    assert rank_concepts([]) == []
    assert rank_concepts([Candidate("A", 0, log_prob=-math.inf)]) == []
    impossible = [Candidate("A", 0, log_prob=-1.0), Candidate("B", 1, log_prob=-math.inf)]
    assert [r.probability for r in rank_concepts(impossible)] == [1.0, 0.0]


def test_not_a_number_is_an_error():
    with pytest.raises(AngelError, match="is not a number"):
        rank_concepts([Candidate("MESH:D1", 0, log_prob=math.nan)])


@given(
    st.lists(
        st.tuples(st.floats(-50, 0), st.sets(st.sampled_from("ABCDEF"), min_size=1, max_size=4)),
        min_size=1,
        max_size=8,
    ),
    st.floats(0.1, 10),
)
def test_probabilities_sum_to_one(names, temperature):
    found = [
        Candidate(concept, i, log_prob=log_prob)
        for i, (log_prob, concepts) in enumerate(names)
        for concept in sorted(concepts)
    ]
    ranked = rank_concepts(found, temperature)
    assert math.fsum(r.probability for r in ranked) == pytest.approx(1)
    assert ranked == sorted(ranked, key=lambda r: -r.probability)
    by_id = sorted(ranked, key=lambda r: r.concept_id)
    again = rank_concepts(found[::-1], temperature)
    assert sorted(again, key=lambda r: r.concept_id) == by_id


@pytest.mark.parametrize(
    ("threshold", "min_log_prob", "link"),
    [
        (None, None, "A"),
        (0.7, None, "A"),
        (0.71, None, NIL),
        (None, -5.0, "A"),
        (None, -4.9, NIL),
        (0.7, -5.0, "A"),
        (0.0, None, "A"),
    ],
)
def test_limits(threshold, min_log_prob, link):
    ranked = [RankedConcept("A", 0.7, -5.0), RankedConcept("B", 0.3, -1.0)]
    assert choose_link(ranked, threshold, min_log_prob) == link
