import numpy as np
import pytest
from scipy.stats import binom

from spacy_angel.errors import AngelError
from spacy_angel.evaluation.statistics import bootstrap_interval, compare_systems


def test_interval_is_the_binomial_one():
    hits = [1] * 80 + [0] * 20
    low, high = bootstrap_interval(hits, resamples=50_000)
    assert low == pytest.approx(binom.ppf(0.025, 100, 0.8), abs=1)
    assert high == pytest.approx(binom.ppf(0.975, 100, 0.8), abs=1)


def test_interval_of_certain_outcomes_has_no_width():
    assert bootstrap_interval([1, 1, 1]) == (100, 100)
    assert bootstrap_interval([0, 0]) == (0, 0)


def test_same_seed_same_figures():
    ranks = np.random.default_rng(1).random(50)
    assert bootstrap_interval(ranks, seed=3) == bootstrap_interval(ranks, seed=3)
    assert bootstrap_interval(ranks, seed=3) != bootstrap_interval(ranks, seed=4)


def test_equal_systems():
    same = compare_systems([1, 0, 1], [1, 0, 1])
    assert (same.difference, same.low, same.high) == (0, 0, 0)
    assert (same.p_bootstrap, same.t, same.p_t_test) == (1, None, 1)


def test_always_better_system():
    better = compare_systems([0] * 20, [1] * 20, resamples=999)
    assert better.difference == better.low == better.high == 100
    assert better.p_bootstrap == pytest.approx(2 / 1000)
    assert (better.t, better.p_t_test) == (None, 0)


def test_pairing_matters():
    """B wins 10 mentions of 200 and loses none: paired, that is clear; the sign test gives
    2 * 0.5**10 = 0.002."""
    a = [1] * 100 + [0] * 100
    b = [1] * 110 + [0] * 90
    paired = compare_systems(a, b)
    assert paired.difference == pytest.approx(5)
    assert paired.low > 0
    assert paired.p_bootstrap < 0.005
    assert paired.t > 0
    # wins and losses that cancel are no difference
    cancelling = compare_systems([1, 0] * 50, [0, 1] * 50)
    assert cancelling.difference == 0
    assert cancelling.p_bootstrap > 0.5
    assert cancelling.low < 0 < cancelling.high


def test_sign_follows_the_order_and_the_papers_p_shrinks_with_resamples():
    rng = np.random.default_rng(0)
    a, b = rng.random(300) < 0.70, rng.random(300) < 0.76
    ab, ba = compare_systems(a, b), compare_systems(b, a)
    assert ab.difference == pytest.approx(-ba.difference)
    few = compare_systems(a, b, t_test_resamples=20).p_t_test
    many = compare_systems(a, b, t_test_resamples=2000).p_t_test
    assert many < few
    assert ab.p_bootstrap == pytest.approx(ba.p_bootstrap, abs=0.05)


def test_unequal_or_no_mentions_are_refused():
    with pytest.raises(AngelError, match="got 2 and 1"):
        compare_systems([1, 0], [1])
    with pytest.raises(AngelError, match="has a gold identifier"):
        bootstrap_interval([])
