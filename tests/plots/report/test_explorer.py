"""The binned table against counts over all rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skewboost.metrics import Counts, cost_curve, probability_cost
from skewboost.plots import ScoreTable
from skewboost.plots.report.explorer import shortest


def scores_of(rng, n=5000, share=0.05):
    y = rng.random(n) < share
    return y, 1 / (1 + np.exp(-rng.normal(np.where(y, 1.0, -2.0), 1.5)))


def brute(y, scores, threshold, weights=None):
    return Counts.of(y, scores >= threshold, weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_exact_at_all_edges(weighted):
    rng = np.random.default_rng(0)
    y, scores = scores_of(rng)
    weights = rng.integers(0, 4, len(y)).astype(float) if weighted else None
    table = ScoreTable.from_scores(y, scores, threshold=0.3, max_bins=100, sample_weight=weights)
    assert not table.lossless
    assert table.n_bins <= 102
    assert table.thresholds[table.own] == 0.3
    for k, threshold in enumerate(table.thresholds):
        assert table.counts_at(threshold) == brute(y, scores, threshold, weights)
        assert table.index_at(threshold) == k
    assert table.counts_at(table.thresholds[-1]).flagged == 0
    assert table.counts_at(table.thresholds[0]).flagged == table.counts_at(0).total


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(-6, 6)), min_size=2, max_size=40),
    st.floats(-8, 8),
    st.one_of(st.none(), st.floats(-8, 8)),
)
def test_nothing_is_lost_where_there_are_fewer_scores_than_bins(rows, threshold, own):
    y, scores = np.array([r[0] for r in rows]), np.array([r[1] / 3 for r in rows])
    if y.all() or not y.any():
        y[0] = not y[0]
    table = ScoreTable.from_scores(y, scores, threshold=own, pos_label=True)
    assert table.lossless
    assert table.counts_at(threshold) == brute(y, scores, threshold)
    if own is not None:
        assert table.counts_at(own) == brute(y, scores, own)
        assert table.thresholds[table.own] == own
    assert (np.diff(table.thresholds) > 0).all()


def test_the_best_threshold_is_the_best_of_all_rows_whatever_costs_and_prevalence():
    rng = np.random.default_rng(1)
    y, scores = scores_of(rng, 20_000)
    table = ScoreTable.from_scores(y, scores, max_bins=150)
    curve = cost_curve(y, scores)
    for _ in range(50):
        miss, prevalence = float(np.exp(rng.normal(1, 2))), float(np.exp(rng.uniform(-7, -0.5)))
        costs = table.costs(miss, 1.0, prevalence)
        least = curve.at(probability_cost(prevalence, miss)) * (prevalence * miss + 1 - prevalence)
        assert costs.min() == pytest.approx(least, rel=1e-9)
        best = table.best_threshold(miss, 1.0, prevalence)
        assert table.outcome(best, miss, 1.0, prevalence).cost == costs.min()


def test_prevalence_reweighs_the_classes():
    y, scores = scores_of(np.random.default_rng(2))
    table = ScoreTable.from_scores(y, scores)
    as_tested = table.outcome(0.2, miss=20, alarm=2)
    rows = brute(y, scores, table.thresholds[table.index_at(0.2)])
    assert as_tested.cost == pytest.approx((20 * rows.fn + 2 * rows.fp) / rows.total)
    assert as_tested.none == pytest.approx(20 * rows.positives / rows.total)
    assert as_tested.all == pytest.approx(2 * rows.negatives / rows.total)
    rarer = table.outcome(0.2, miss=20, alarm=2, prevalence=0.001)
    assert rarer.counts.total == pytest.approx(1.0)
    assert rarer.counts.positives == pytest.approx(0.001)
    assert rarer.counts.recall == pytest.approx(rows.recall)
    assert rarer.counts.false_alarm_rate == pytest.approx(rows.false_alarm_rate)
    assert rarer.counts.precision < as_tested.counts.precision


def test_between_edges_at_most_a_bin_is_lost():
    y, scores = scores_of(np.random.default_rng(3), 50_000)
    table = ScoreTable.from_scores(y, scores, max_bins=200)
    P, N = table.total
    most = table.positives.max() / P, table.negatives.max() / N
    assert max(most) < 0.03
    for threshold in np.random.default_rng(4).choice(scores, 100):
        found, true = table.counts_at(threshold), brute(y, scores, threshold)
        assert abs(found.recall - true.recall) <= most[0]
        assert abs(found.false_alarm_rate - true.false_alarm_rate) <= most[1]


def test_many_scores_are_few_bins():
    rng = np.random.default_rng(5)
    y = rng.random(100_000) < 0.01
    table = ScoreTable.from_scores(y, rng.beta(np.where(y, 5, 1), 5), threshold=1 / 21)
    assert table.n_bins <= 2002
    assert len(json.dumps(table.as_dict())) < 150_000
    assert sum(table.total) == 100_000


def test_thresholds_have_as_few_decimals_as_there_can_be():
    low, high = np.array([0.12, 0.1201, -3.7, 0.5]), np.array([0.31, 0.1219, -3.2, 0.5000001])
    assert shortest(low, high).tolist() == [0.3, 0.121, -3.2, 0.5000001]
    assert shortest(np.array([-np.inf]), np.array([-0.4])).tolist() == [-1.0]


def test_one_class_has_nothing_to_explore():
    with pytest.raises(ValueError, match="one class"):
        ScoreTable.from_scores([1, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="sample_weight leaves only one class"):
        ScoreTable.from_scores([0, 1], [0.1, 0.2], sample_weight=[1, 0])
