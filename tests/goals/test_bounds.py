"""P-values are exact for shares, and never too small for the rest: all outcomes are enumerated, none simulated."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from skewboost.goals import bounds

DELTAS = (0.3, 0.1, 0.02)


@pytest.mark.parametrize(("n", "bound"), [(1, 0.5), (12, 0.9), (40, 0.95), (300, 0.01)])
def test_shares_have_the_tails_of_the_binomial(n, bound):
    k = np.arange(n + 1)
    np.testing.assert_allclose(bounds.at_least(k, n, bound), binom.sf(k - 1, n, bound), rtol=1e-9)
    np.testing.assert_allclose(bounds.at_most(k, n, bound), binom.cdf(k, n, bound), rtol=1e-9)


def test_nothing_shows_nothing():
    assert bounds.at_least(0, 0, 0.5) == 1.0
    assert bounds.at_most(0, 0, 0.5) == 1.0


@pytest.mark.parametrize("rates", [(0.7, 0.7), (0.5, 0.98), (0.98, 0.5), (0.6, 0.8), (0.3, 0.9)])
def test_products_are_not_promised_too_often(rates):
    # the true product is the bound itself, where a promise is most easily wrong
    n, bound = (15, 25), rates[0] * rates[1]
    outcomes = np.array(list(product(range(n[0] + 1), range(n[1] + 1))))
    chance = binom.pmf(outcomes[:, 0], n[0], rates[0]) * binom.pmf(outcomes[:, 1], n[1], rates[1])
    p = bounds.product_at_least((outcomes[:, 0], n[0]), (outcomes[:, 1], n[1]), bound)
    for delta in DELTAS:
        assert chance[p <= delta].sum() <= delta


def test_products_are_promised_where_they_are_plain():
    assert bounds.product_at_least((95, 100), (900, 1000), 0.64) < 1e-6
    assert bounds.product_at_least((60, 100), (900, 1000), 0.64) > 0.99


@pytest.mark.parametrize("values", [(0.0, 1.0, 20.0), (-2.0, 0.0, 3.0), (0.0, 5.0, 6.0)])
@pytest.mark.parametrize("chances", [(0.9, 0.08, 0.02), (0.5, 0.5, 0.0), (0.7, 0.0, 0.3), (0.2, 0.3, 0.5)])
def test_means_are_not_promised_too_often(chances, values):
    values, n = np.array(values), 25
    outcomes = np.array([(n - a - b, a, b) for a in range(n + 1) for b in range(n + 1 - a)])
    chance = multinomial.pmf(outcomes, n, chances)
    bound = float(values @ np.array(chances))
    exact = bounds.mean_at_most(outcomes.T, values, bound)
    bets = np.array([bounds._betting(o, values, bound) for o in outcomes.astype(float)])
    for delta in DELTAS:
        assert chance[exact <= delta].sum() <= delta
        assert chance[bets <= delta].sum() <= delta


def test_means_are_promised_where_they_are_plain():
    counts, values = np.array([970.0, 25.0, 5.0]), np.array([0.0, 1.0, 20.0])  # the mean is 0.125
    assert (
        0.01 < bounds.mean_at_most(counts, values, 0.25) < 0.12
    )  # 5 where 10 are too many: P(Poisson(10) <= 5) = 0.067
    assert bounds.mean_at_most(10 * counts, values, 0.25) < 1e-6
    assert bounds.mean_at_most(counts, values, 0.12) == 1.0
    assert bounds.mean_at_most(counts, values, 20.0) == 0.0
    assert bounds.mean_at_most(counts, values, 0.0) == 1.0


def test_means_of_two_values_are_shares():
    p = bounds.mean_at_most(np.array([20, 70, 10]), np.array([0.0, 0.0, 5.0]), 1.0)
    assert p == pytest.approx(binom.cdf(10, 100, 0.2))


def test_perfect_answers_needed():
    # ln 0.1 / ln 0.95 = 44.9: 45 positives, all found, and not one less
    assert bounds.perfect_needed(0.95, 0.1) == 45
    assert 0.95**45 <= 0.1 < 0.95**44
    assert bounds.perfect_needed(1.0, 0.1) == np.inf
