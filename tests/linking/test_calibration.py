"""Thresholds on development sets whose best values are known."""

import math

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.linking.decision.calibration import CalibrationItem, calibrate, fit_threshold
from spacy_angel.linking.types import Candidate, Query
from spacy_angel.model.mention import Mention


def item(gold, **log_probs):
    found = [Candidate(c, i, log_prob=lp) for i, (c, lp) in enumerate(log_probs.items())]
    return CalibrationItem(Query(Mention("x"), candidates=found), frozenset(gold))


def test_the_threshold_of_the_best_links():
    ranked = [[("A", 0.9)], [("B", 0.5)], [("C", 0.3)], [("D", 0.8)], []]
    assert fit_threshold(ranked, [{"A"}, (), (), {"D"}, {"E"}]) == pytest.approx(0.65)
    assert fit_threshold(ranked[:1], [{"A"}]) is None


def test_calibration_of_the_model_alone():
    items = [
        *[item("A", A=-1.0, B=-3.0)] * 3,
        item("B", A=-1.0, B=-1.2),
        *[item("", C=-12.0, D=-12.0)] * 2,
    ]
    fitted = calibrate(items, None)
    sure, unsure = (1 / (1 + math.exp(-gap)) for gap in (2.0, 0.2))
    assert fitted.threshold == pytest.approx((sure + unsure) / 2)
    assert (fitted.n_mentions, fitted.n_found) == (6, 4)
    assert (fitted.n_right, fitted.n_outside, fitted.n_outside_nil) == (3, 2, 2)
    # Without the threshold 3 of 6 links are right; with it, 3 of 3.
    assert fitted.f == pytest.approx(6 / 7)
    assert "n_right         3\n" in fitted.report()
    lost = [item("X", A=-1.0, B=-3.0), item("", A=-1.0), item("A")]
    with pytest.raises(AngelError, match="None of the 3 mentions"):
        calibrate(lost, None)
