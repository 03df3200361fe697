from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.evaluation.confidence import (
    calibration_error,
    confidence_figures,
    coverage_curve,
    reliability,
)


def test_calibration_error_written_out():
    assert calibration_error([0.8, 0.8], [True, False]) == pytest.approx(30)
    assert calibration_error([1.0, 0.95], [True, True]) == pytest.approx(2.5)
    assert calibration_error([0.05, 0.9], [True, True]) == pytest.approx((95 + 10) / 2)
    assert calibration_error([], []) == 0


def test_reliability_of_bins():
    low, high = reliability([0.1, 0.9, 0.95, 1.0], [False, True, True, False])
    assert low == {"low": 0.1, "mentions": 1, "confidence": pytest.approx(10), "right": 0}
    assert (high["low"], high["mentions"]) == (0.9, 3)
    assert high["confidence"] == pytest.approx(95)
    assert high["right"] == pytest.approx(200 / 3)


# Scores, whether they are right, and in the vocabulary: the second should get NIL.
ANSWERS = (
    [0.9, 0.8, 0.7, 0.7, 0.2],
    [True, False, True, False, False],
    [True, False, True, True, True],
)


def test_coverage_is_of_the_mentions_in_the_vocabulary_precision_of_all_links():
    curve = coverage_curve(*ANSWERS, n_covered=5)
    assert curve["20"] == {"limit": 0.9, "links": 1, "precision": 100}
    # Both with 0.7 are linked: three of five in the vocabulary, two of four links right.
    assert curve["30"] == curve["40"] == curve["60"]
    assert curve["60"] == {"limit": 0.7, "links": 4, "precision": 50}
    assert curve["80"] == {"limit": 0.2, "links": 5, "precision": 40}
    assert "100" not in curve  # the fifth has no answer at all


def test_nothing_answered_or_nothing_covered():
    assert coverage_curve([], [], [], 3) == {}
    assert coverage_curve([0.5], [False], [False], 0) == {}
    figures = confidence_figures([], [], [], 3)
    assert figures == {"mentions": 0, "ece": 0, "bins": [], "coverage": {}}


def test_all_figures():
    figures = confidence_figures(*ANSWERS, 4)
    assert figures["mentions"] == 5
    # Bins 0.2 (20 said, 0 right), 0.7 (70, 50: two mentions), 0.8 (80, 0), 0.9 (90, 100)
    assert figures["ece"] == pytest.approx((20 + 2 * 20 + 80 + 10) / 5)
    assert figures["coverage"]["100"]["precision"] == 40


@given(
    st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.booleans(), st.booleans()), min_size=1)
)
def test_limits_fall_and_links_grow_with_the_coverage(rows):
    scores, right, covered = zip(*rows, strict=True)
    n_covered = sum(covered)
    points = list(coverage_curve(scores, right, covered, n_covered).values())
    assert len(points) == (10 if n_covered else 0)
    for one, more in pairwise(points):
        assert one["limit"] >= more["limit"]
        assert one["links"] <= more["links"]
    for point in points:
        linked = [is_right for score, is_right, _ in rows if score >= point["limit"]]
        assert point["links"] == len(linked)
        assert point["precision"] == pytest.approx(100 * sum(linked) / len(linked))
