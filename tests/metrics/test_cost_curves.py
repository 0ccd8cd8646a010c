"""The cost curve is the lowest of all lines, under every condition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skewboost.metrics import Counts, cost_curve, probability_cost, total_cost

GRID = np.linspace(0, 1, 201)


def by_force(positive, scores, weights=None):
    """The lowest of the lines of all thresholds."""
    lines = []
    for threshold in [*np.unique(scores), np.inf]:
        counts = Counts.of(positive, scores >= threshold, weights)
        lines.append(counts.miss_rate * GRID + counts.false_alarm_rate * (1 - GRID))
    return np.min(lines, axis=0)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    arrays(np.bool_, 30),
    arrays(np.int64, 30, elements=st.integers(0, 12)),
    arrays(np.float64, 30, elements=st.integers(0, 3).map(float)),
)
def test_the_envelope_is_that_of_brute_force(positive, scores, weights):
    positive[:2], weights[:2] = (True, False), 1.0
    curve = cost_curve(positive, scores, pos_label=True, sample_weight=weights)
    np.testing.assert_allclose(curve.at(GRID), by_force(positive, scores, weights), atol=1e-12)
    assert (np.diff(curve.probability_cost) >= 0).all()
    assert curve.probability_cost[[0, -1]].tolist() == [0.0, 1.0]


@pytest.mark.slow
def test_the_best_threshold_is_the_cheapest_at_every_cost():
    rng = np.random.default_rng(0)
    y = (rng.random(500) < 0.1).astype(int)
    scores = np.round(rng.normal(size=500) + 1.5 * y, 1)
    curve = cost_curve(y, scores)
    for cost in (0.1, 1, 3, 9, 20, 200):
        condition = probability_cost(y.mean(), cost)
        paid = total_cost(y, (scores >= curve.best_threshold(condition)).astype(int), cost)
        lowest = min(total_cost(y, (scores >= t).astype(int), cost) for t in [*np.unique(scores), np.inf])
        assert paid == pytest.approx(lowest)
        # normalised: divided by what it costs to get everything wrong
        assert curve.at(condition) == pytest.approx(paid / (cost * y.sum() + (1 - y).sum()))


def test_worthless_and_perfect_scores():
    y = np.array([0, 0, 0, 1])
    worthless = cost_curve(y, np.zeros(4))
    np.testing.assert_allclose(worthless.at(GRID), np.minimum(GRID, 1 - GRID))
    assert worthless.area == pytest.approx(0.25)
    perfect = cost_curve(y, y)
    assert perfect.area == 0.0
    assert perfect.best_threshold(0.5) == 0.5
    # the rarer class is positive, whatever its label, and columns are told apart
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.65, 0.35]])
    turned = cost_curve(1 - y, p[:, ::-1])
    np.testing.assert_array_equal(turned.at(GRID), cost_curve(y, p[:, 1]).at(GRID))


def test_the_envelope_of_many_scores_has_few_corners():
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.02
    curve = cost_curve(y, rng.normal(size=200_000) + y)
    assert len(curve.thresholds) == 200_001
    assert len(curve.best) < 1000
    assert 0 < curve.area < 0.25


def test_one_class_has_no_curve():
    with pytest.raises(ValueError, match="only one class"):
        cost_curve([1, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="sample_weight is 0 for all rows of a class"):
        cost_curve([0, 1, 0], [0.1, 0.2, 0.3], sample_weight=[1, 0, 1])


@pytest.mark.parametrize(
    ("prior", "cost", "message"), [(2, 5, "prior=2"), (0.1, 0, "cost=0"), ([0.1, -1], 5, "prior=")]
)
def test_conditions_that_cannot_be_are_refused(prior, cost, message):
    with pytest.raises(ValueError, match=message):
        probability_cost(prior, cost)
