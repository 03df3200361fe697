"""Are the scores calibrated, and what does a threshold on them cost? Pure rules over plain values.

The score is the one beside the first concept in `kb_ents`. A mention that should link to NIL,
or whose concept the vocabulary lacks, counts as well: its first concept is wrong, and a calibrated
score says so.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

COVERAGES = tuple(range(10, 101, 10))
"""Per cent of the mentions in the vocabulary for which `coverage_curve` gives the precision."""


class Confidence(NamedTuple):
    """A mention's first concept.

    score (float): its probability, 0 to 1.
    right (bool): it is a gold one.
    covered (bool): the vocabulary holds the mention's identifiers.
    """

    score: float
    right: bool
    covered: bool


def calibration_error(
    confidences: Sequence[float], right: Sequence[bool], n_bins: int = 10
) -> float:
    """Expected calibration error: |accuracy - confidence| a bin, weighted by the bin's mentions.

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
    """How often what is said with a confidence is right.

    confidences (Sequence[float]), right (Sequence[bool]), n_bins (int): see `calibration_error`.
    RETURNS (list[dict[str, float]]): for each bin that is not empty `low`, `mentions`, and in per
        cent the means `confidence` and `right`.
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
    answers: Sequence[Confidence], n_covered: int, coverages: Sequence[int] = COVERAGES
) -> dict[str, dict[str, float]]:
    """What share of the links is right if only scores from a threshold on are linked.

    answers (Sequence[Confidence]): of all mentions, those outside the vocabulary included.
    n_covered (int): mentions in the vocabulary, answered or not.
    coverages (Sequence[int]): per cent of these that are to keep a link.
    RETURNS (dict[str, dict[str, float]]): for each of them that can be reached `limit` (the highest
        score that reaches it), `links` and `precision`, the per cent of all links that are right,
        e.g. of (0.9, right), (0.8, wrong, outside), (0.7, right) with two mentions in the
        vocabulary {"50": limit 0.9, precision 100, "100": limit 0.7, precision 66.7}.
    """
    scores = np.array([answer.score for answer in answers])
    thresholds, firsts = np.unique(-scores, return_inverse=True)
    # [thresholds, (links, right, covered)]: answers of one score are linked together
    counts = np.zeros((len(thresholds), 3))
    np.add.at(counts, firsts, [(1, answer.right, answer.covered) for answer in answers] or 0)
    links, right, covered = np.cumsum(counts, axis=0).T
    curve = {}
    for coverage in coverages:
        reached = np.flatnonzero(covered >= coverage / 100 * n_covered)
        if n_covered and len(reached):
            first = reached[0]
            curve[str(coverage)] = {
                "limit": float(-thresholds[first]),
                "links": int(links[first]),
                "precision": 100 * float(right[first] / links[first]),
            }
    return curve


def confidence_figures(answers: Sequence[Confidence], n_covered: int) -> dict[str, Any]:
    """All figures of the scores.

    answers (Sequence[Confidence]), n_covered (int): see `coverage_curve`.
    RETURNS (dict[str, Any]): `mentions` with a score, `ece` in percentage points, `bins` as
        `reliability` gives them, `coverage` as `coverage_curve` does.
    """
    scores = [answer.score for answer in answers]
    right = [answer.right for answer in answers]
    return {
        "mentions": len(answers),
        "ece": calibration_error(scores, right),
        "bins": reliability(scores, right),
        "coverage": coverage_curve(answers, n_covered),
    }
