"""Intervals of one system's figures, tests between two systems on the same mentions.

A resample of n mentions with replacement needs only how often each distinct outcome is drawn,
which is multinomial: memory and time do not grow with the mentions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import ttest_rel

from ..errors import AngelError


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same mentions; system B minus system A.

    difference (float): of the means, in per cent.
    low (float), high (float): its 95 % interval by paired bootstrap.
    p_bootstrap (float): two-sided, paired bootstrap: how surprising the difference is.
    t (float | None), p_t_test (float): the paper's test (section 4.3); no t where all resamples
        differ by the same. Its p falls with the number of resamples, whatever the data are: quote
        it beside the paper's only.
    """

    difference: float
    low: float
    high: float
    p_bootstrap: float
    t: float | None
    p_t_test: float


def bootstrap_interval(
    values: Sequence[float], *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval of a mean.

    values (Sequence[float]): one a mention, e.g. 1 for a hit and 0 for a miss.
    resamples (int): resamples of the same size.
    level (float): share of the resampled means inside.
    seed (int): of the random numbers.
    RETURNS (tuple[float, float]): lower and upper end in per cent.
    RAISES (AngelError): there are no values.
    """
    outcomes, means = _resample(np.asarray(values, float).reshape(-1, 1), resamples, seed)
    tail = (1 - level) / 2
    low, high = np.quantile(100 * means @ outcomes, [tail, 1 - tail], axis=0)
    return float(low[0]), float(high[0])


def compare_systems(
    a: Sequence[float],
    b: Sequence[float],
    *,
    resamples: int = 10_000,
    t_test_resamples: int = 100,
    seed: int = 0,
) -> Comparison:
    """Paired bootstrap, and the paper's test.

    a (Sequence[float]), b (Sequence[float]): one value a mention, the same mentions in both.
    resamples (int): of the paired bootstrap.
    t_test_resamples (int): resamples of the same size as the data whose means are compared by a
        paired t-test (100 in the paper).
    seed (int): of the random numbers.
    RETURNS (Comparison): of B against A.
    RAISES (AngelError): the two differ in length, or there are no values.
    """
    if len(a) != len(b):
        raise AngelError(f"Both systems need the same mentions; got {len(a)} and {len(b)}.")
    pairs = np.column_stack((np.asarray(a, float), np.asarray(b, float)))
    outcomes, weights = _resample(pairs, resamples, seed)
    differences = weights @ (outcomes[:, 1] - outcomes[:, 0])
    low, high = np.quantile(100 * differences, [0.025, 0.975])
    # The observed data count as one resample: p is never 0.
    below, above = (differences <= 0).sum() + 1, (differences >= 0).sum() + 1
    outcomes, weights = _resample(pairs, t_test_resamples, seed + 1)
    t, p = _paired_t(weights @ outcomes[:, 0], weights @ outcomes[:, 1])
    return Comparison(
        difference=100 * float((pairs[:, 1] - pairs[:, 0]).mean()),
        low=float(low),
        high=float(high),
        p_bootstrap=float(min(1.0, 2 * min(below, above) / (resamples + 1))),
        t=t,
        p_t_test=p,
    )


def _resample(rows: np.ndarray, resamples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows float[m, columns] and their shares float[resamples, m] in each resample."""
    if not len(rows):
        raise AngelError("There are no mentions to evaluate.")
    outcomes, counts = np.unique(rows, axis=0, return_counts=True)
    draws = np.random.default_rng(seed).multinomial(
        len(rows), counts / counts.sum(), size=resamples
    )
    return outcomes, draws / len(rows)


def _paired_t(a: np.ndarray, b: np.ndarray) -> tuple[float | None, float]:
    """A constant difference has no variance to test against: p is 1 where it is nothing, else 0."""
    difference = b - a
    if np.ptp(difference) < 1e-12:
        return None, float(abs(difference[0]) < 1e-12)
    t, p = ttest_rel(b, a)
    return float(t), float(p)
