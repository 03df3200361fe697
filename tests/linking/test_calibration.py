"""Temperature and thresholds on development sets whose best values are known."""

import math

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.linking.decision.calibration import (
    CalibrationItem,
    calibrate,
    fit_temperature,
    fit_thresholds,
)
from spacy_angel.linking.ranking.concepts import RankedConcept
from spacy_angel.linking.types import Candidate, Query
from spacy_angel.model.mention import Mention


def item(gold, **log_probs):
    found = [Candidate(c, i, log_prob=lp) for i, (c, lp) in enumerate(log_probs.items())]
    return CalibrationItem(Query(Mention("x"), candidates=found), frozenset(gold))


def test_mentions_without_their_concept_do_not_count():
    items = [item("A", A=-1.0, B=-3.0)] * 3 + [item("B", A=-1.0, B=-3.0)]
    lost = [item("X", A=-1.0, B=-3.0), item("", A=-1.0), item("A")]
    assert fit_temperature(items + lost) == fit_temperature(items)
    with pytest.raises(AngelError, match="None of the 3 mentions"):
        fit_temperature(lost)


def top(concept, probability, log_prob):
    return [RankedConcept(concept, probability, log_prob)]


def test_limits_together():
    ranked = [top("A", 0.9, -1.0), top("B", 0.9, -9.0), top("C", 0.3, -1.0), top("D", 0.8, -2.0)]
    assert fit_thresholds(ranked, [{"A"}, (), (), {"D"}]) == (
        pytest.approx(0.55),
        pytest.approx(-5.5),
    )


def test_calibration_in_one_go():
    items = [
        *[item("A", A=-1.0, B=-3.0)] * 3,
        item("B", A=-1.0, B=-3.0),
        *[item("", C=-12.0)] * 2,
    ]
    fitted = calibrate(items)
    assert fitted.settings["search.temperature"] == pytest.approx(2 / math.log(3), rel=1e-3)
    assert fitted.settings["threshold"] is None
    assert fitted.settings["search.min_log_prob"] == -6.5
    assert (fitted.n_mentions, fitted.n_found) == (6, 4)
    assert fitted.nll < fitted.nll_before
    assert (fitted.n_right, fitted.n_outside, fitted.n_outside_nil) == (3, 2, 2)
    assert fitted.report().splitlines()[-2:] == [
        "  in the vocabulary: 4, 3 get the right link",
        "  not in it:         2, 2 get none",
    ]
    assert "  threshold           null\n  search.min_log_prob -6.5\n" in fitted.report()
    # without thresholds tp 3 of 6 links and 4 gold; with them 3 of 4 links
    assert fitted.f_before == pytest.approx(6 / 10)
    assert fitted.f == pytest.approx(6 / 8)
