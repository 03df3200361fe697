"""Names → concepts, with the numbers written out."""

import math

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.linking.decision.calibration import CalibrationItem, fit_threshold
from spacy_angel.linking.ranking.ranker import rank_concepts
from spacy_angel.linking.types import Candidate, Query
from spacy_angel.model.mention import Mention


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


def test_the_threshold_of_the_best_links():
    ranked = [[("A", 0.9)], [("B", 0.5)], [("C", 0.3)], [("D", 0.8)], []]
    gold = ({"A"}, (), (), {"D"}, {"E"})
    items = [CalibrationItem(Query(Mention("x")), of_one) for of_one in gold]
    assert fit_threshold(items, ranked) == pytest.approx(0.65)
    assert fit_threshold(items[:1], ranked[:1]) is None
