"""Calibration of the scores, and the precision that a threshold on them gives.

The score is that of the first concept in `kb_ents`. Mentions that should get NIL count as well:
their first concept is wrong, and a calibrated score is low for them.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def calibration_error(
    confidences: Sequence[float], right: Sequence[bool], n_bins: int = 10
) -> float:
    """Expected calibration error: |accuracy - confidence| per bin, weighted by the bin's mentions.

    confidences (Sequence[float]): probability of the first concept, 0 to 1.
    right (Sequence[bool]): whether it was right.
    n_bins (int): bins of equal width; 1.0 is in the last.
    RETURNS (float): percentage points, e.g. ([0.8, 0.8], [True, False]) → 30.
    """
    bins = reliability(confidences, right, n_bins)
    gaps = [abs(one["right"] - one["confidence"]) * one["mentions"] for one in bins]
    return sum(gaps) / max(len(confidences), 1)


def reliability(
    confidences: Sequence[float], right: Sequence[bool], n_bins: int = 10
) -> list[dict[str, float]]:
    """Accuracy by confidence.

    confidences (Sequence[float]), right (Sequence[bool]), n_bins (int): see `calibration_error`.
    RETURNS (list[dict[str, float]]): for each bin that is not empty `low`, `mentions`, and in
        percent the means `confidence` and `right`.
    """
    probabilities, hits = np.asarray(confidences, float), np.asarray(right, float)
    bins = np.minimum((probabilities * n_bins).astype(int), n_bins - 1)
    return [
        {
            "low": int(number) / n_bins,
            "mentions": int((bins == number).sum()),
            "confidence": 100 * float(probabilities[bins == number].mean()),
            "right": 100 * float(hits[bins == number].mean()),
        }
        for number in np.unique(bins)
    ]


def coverage_curve(
    scores: Sequence[float], right: Sequence[bool], covered: Sequence[bool], n_covered: int
) -> dict[str, dict[str, float]]:
    """Precision of the links if only scores above a threshold are linked.

    scores (Sequence[float]), right (Sequence[bool]): of all mentions with an answer.
    covered (Sequence[bool]): whether the vocabulary has the mention's identifiers.
    n_covered (int): mentions in the vocabulary, answered or not.
    RETURNS (dict[str, dict[str, float]]): for 10, 20 … 100 percent of the mentions in the
        vocabulary, where so many have an answer: `limit` (the highest threshold that links them),
        `links`, and `precision` of all links in percent.
    """
    all_scores, hits = np.asarray(scores, float), np.asarray(right, bool)
    descending = np.sort(all_scores[np.asarray(covered, bool)])[::-1]
    curve = {}
    for coverage in range(10, 101, 10):
        needed = math.ceil(coverage / 100 * n_covered)
        if 0 < needed <= len(descending):
            limit = float(descending[needed - 1])
            linked = all_scores >= limit
            curve[str(coverage)] = {
                "limit": limit,
                "links": int(linked.sum()),
                "precision": 100 * float(hits[linked].mean()),
            }
    return curve


def confidence_figures(
    scores: Sequence[float], right: Sequence[bool], covered: Sequence[bool], n_covered: int
) -> dict[str, Any]:
    """scores (Sequence[float]), right (Sequence[bool]), covered (Sequence[bool]), n_covered (int):
    see `coverage_curve`. RETURNS (dict[str, Any]): `mentions` with a score, `ece` in percentage
    points, `bins` (see `reliability`), `coverage` (see `coverage_curve`)."""
    return {
        "mentions": len(scores),
        "ece": calibration_error(scores, right),
        "bins": reliability(scores, right),
        "coverage": coverage_curve(scores, right, covered, n_covered),
    }
