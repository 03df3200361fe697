"""Temperature and thresholds on development sets whose best values are known."""

import math

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.linking.decision.calibration import (
    TEMPERATURES,
    CalibrationItem,
    calibrate,
    fit_temperature,
    fit_thresholds,
    link_f_score,
    temperature_loss,
)
from spacy_angel.linking.ranking.concepts import NIL, Candidate, RankedConcept


def item(gold, **log_probs):
    found = tuple(Candidate(c, i, lp, lp) for i, (c, lp) in enumerate(log_probs.items()))
    return CalibrationItem(found, frozenset(gold))


def test_temperature_makes_the_probabilities_true():
    # the model gives odds of e² : 1, but is right 3 times of 4: 2 / T = log 3
    items = [item("A", A=-1.0, B=-3.0)] * 3 + [item("B", A=-1.0, B=-3.0)]
    assert fit_temperature(items) == pytest.approx(2 / math.log(3), rel=1e-3)


def test_temperature_stays_within_its_bounds_and_at_one_where_it_is_idle():
    always_right = [item("A", A=-1.0, B=-1.2)]
    assert fit_temperature(always_right) == pytest.approx(TEMPERATURES[0], rel=0.01)
    assert fit_temperature([item("A", A=-4.0)]) == 1.0


def test_mentions_without_their_concept_do_not_count():
    items = [item("A", A=-1.0, B=-3.0)] * 3 + [item("B", A=-1.0, B=-3.0)]
    lost = [item("X", A=-1.0, B=-3.0), item("", A=-1.0), item("A")]
    assert fit_temperature(items + lost) == fit_temperature(items)
    with pytest.raises(AngelError, match="None of the 3 mentions"):
        fit_temperature(lost)


def test_likelihood_by_hand():
    items = [item("A", A=math.log(0.6), B=math.log(0.2)), item("BC", B=0.0, C=0.0, D=0.0, E=0.0)]
    expected = (-math.log(0.75) - math.log(0.5)) / 2
    assert temperature_loss(items, 1.0) == pytest.approx(expected)


def top(concept, probability, log_prob):
    return [RankedConcept(concept, probability, log_prob)]


def test_limits_refuse_what_is_outside_the_vocabulary():
    # lone candidates: probability 1 throughout, only the log-probability tells them
    ranked = [top("A", 1.0, -1.0), top("B", 1.0, -2.0), top("C", 1.0, -8.0), top("D", 1.0, -9.0)]
    assert fit_thresholds(ranked, [{"A"}, {"B"}, (), ()]) == (None, -5.0)


def test_limits_refuse_the_improbable():
    ranked = [top("A", 0.9, -1.0), top("B", 0.8, -1.0), top("C", 0.4, -1.0), []]
    assert fit_thresholds(ranked, [{"A"}, {"B"}, {"X"}, {"Y"}]) == (pytest.approx(0.6), None)


def test_limits_together():
    ranked = [top("A", 0.9, -1.0), top("B", 0.9, -9.0), top("C", 0.3, -1.0), top("D", 0.8, -2.0)]
    assert fit_thresholds(ranked, [{"A"}, (), (), {"D"}]) == (
        pytest.approx(0.55),
        pytest.approx(-5.5),
    )


def test_no_limit_where_none_helps():
    assert fit_thresholds([top("A", 0.2, -9.0), top("B", 0.9, -1.0)], [{"A"}, {"B"}]) == (
        None,
        None,
    )
    assert fit_thresholds([[], []], [{"A"}, ()]) == (None, None)


def test_f_score_counts_as_spacy_does():
    # right, wrong, missed, invented, right nothing: tp 1, fp 2, fn 2
    links = ["A", "B", NIL, "C", NIL]
    gold = [{"A", "Z"}, {"X"}, {"Y"}, (), ()]
    assert link_f_score(links, gold) == pytest.approx(2 / (2 + 2 + 2))
    assert link_f_score([], []) == 0.0


def test_calibration_in_one_go():
    items = [
        *[item("A", A=-1.0, B=-3.0)] * 3,
        item("B", A=-1.0, B=-3.0),
        *[item("", C=-12.0)] * 2,
    ]
    fitted = calibrate(items)
    assert fitted.temperature == pytest.approx(2 / math.log(3), rel=1e-3)
    assert (fitted.threshold, fitted.min_log_prob) == (None, -6.5)
    assert (fitted.n_mentions, fitted.n_found) == (6, 4)
    assert fitted.nll < fitted.nll_before
    assert (fitted.n_right, fitted.n_outside, fitted.n_outside_nil) == (3, 2, 2)
    assert fitted.report().splitlines()[-2:] == [
        "  in the vocabulary: 4, 3 get the right link",
        "  not in it:         2, 2 get none",
    ]
    assert "  threshold     off\n  min_log_prob  -6.5\n" in fitted.report()
    # without thresholds tp 3 of 6 links and 4 gold; with them 3 of 4 links
    assert fitted.f_before == pytest.approx(6 / 10)
    assert fitted.f == pytest.approx(6 / 8)
