"""Calibration of the scores.

The score is that of the first concept in `kb_ents`. Mentions that should get NIL count as well:
their first concept is wrong, and a calibrated score is low for them.
"""

from collections.abc import Sequence

import numpy as np

_N_BINS = 10


def calibration_error(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """Expected calibration error: |accuracy - confidence| per bin, weighted by the bin's mentions.

    confidences (Sequence[float]): probability of the first concept, 0 to 1.
    right (Sequence[bool]): whether it was right.
    RETURNS (float): percentage points, e.g. ([0.8, 0.8], [True, False]) → 30.
    """
    bins = reliability(confidences, right)
    gaps = [abs(one["right"] - one["confidence"]) * one["mentions"] for one in bins]
    return sum(gaps) / max(len(confidences), 1)


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> list[dict[str, float]]:
    """Accuracy by confidence.

    confidences (Sequence[float]), right (Sequence[bool]): see `calibration_error`.
    RETURNS (list[dict[str, float]]): for each of ten bins of equal width that is not empty `low`,
        `mentions`, and in percent the means `confidence` and `right`. 1.0 is in the last bin.
    """
    probabilities, hits = np.asarray(confidences, float), np.asarray(right, float)
    bins = np.minimum((probabilities * _N_BINS).astype(int), _N_BINS - 1)
    return [
        {
            "low": int(number) / _N_BINS,
            "mentions": int((bins == number).sum()),
            "confidence": 100 * float(probabilities[bins == number].mean()),
            "right": 100 * float(hits[bins == number].mean()),
        }
        for number in np.unique(bins)
    ]
