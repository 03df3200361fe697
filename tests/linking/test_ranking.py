"""Names → concepts, with the numbers written out."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.errors import AngelError
from spacy_angel.linking.ranking.ranker import choose_link, rank_concepts
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
    assert ranked.concepts == [("A", pytest.approx(0.5 / 0.6)), ("B", pytest.approx(0.1 / 0.6))]
    parts = [(c.concept_id, p) for c, p in ranked.candidates]
    assert parts == [(c, pytest.approx(p / 0.6)) for c, p in (("A", 0.4), ("A", 0.1), ("B", 0.1))]


def test_ties_stay_as_found_whatever_the_order_of_summation():
    # 0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1 in floating point
    found = candidates((0.1, "Z"), (0.3, "B"), (0.2, "Z"), (0.2, "B"), (0.3, "Z"), (0.1, "B"))
    assert rank_concepts(found).concepts == [("Z", 0.5), ("B", 0.5)]


def test_nothing_found_and_nothing_possible():
    assert rank_concepts([]).concepts == []
    assert rank_concepts([Candidate("A", 0, log_prob=-math.inf)]).concepts == []
    impossible = [Candidate("A", 0, log_prob=-1.0), Candidate("B", 1, log_prob=-math.inf)]
    assert rank_concepts(impossible).concepts == [("A", 1.0), ("B", 0.0)]
    with pytest.raises(AngelError, match="is not a number"):
        rank_concepts([Candidate("MESH:D1", 0, log_prob=math.nan)])


@given(
    st.lists(
        st.tuples(st.floats(-50, 0), st.sets(st.sampled_from("ABCDEF"), min_size=1, max_size=4)),
        min_size=1,
        max_size=8,
    )
)
def test_probabilities_sum_to_one(names):
    found = [
        Candidate(concept, i, log_prob=log_prob)
        for i, (log_prob, concepts) in enumerate(names)
        for concept in sorted(concepts)
    ]
    ranked, parts = rank_concepts(found)
    assert math.fsum(p for _, p in ranked) == pytest.approx(1)
    assert math.fsum(p for _, p in parts) == pytest.approx(1)
    assert ranked == sorted(ranked, key=lambda pair: -pair[1])
    assert sorted(rank_concepts(found[::-1]).concepts) == sorted(ranked)


@pytest.mark.parametrize(("threshold", "link"), [(None, "A"), (0.7, "A"), (0.71, NIL), (0.0, "A")])
def test_the_threshold(threshold, link):
    assert choose_link([("A", 0.7), ("B", 0.3)], threshold) == link
    assert choose_link([], threshold) == NIL
