"""Rounds of boosting by hand, by the verbs of a training set: what the tests of growth share."""

from __future__ import annotations

import numpy as np
import pytest

from skewboost.engine.binning import fit_bins
from skewboost.engine.boundary import LEFT, RIGHT
from skewboost.engine.losses import step_length
from skewboost.engine.partition import View
from skewboost.engine.table import Nominal, Table
from skewboost.engine.training_set import TWO, Limits, W, itself
from support import awkward_data


def mixed_table(n, seed=0):
    """Numbers of all kinds and categories, with missing cells; and labels."""
    X, y = awkward_data(n, seed)
    rng = np.random.default_rng(seed)
    names = tuple(f"c{k:02}" for k in range(12))
    columns = (*tuple(X.T), Nominal(rng.integers(-1, 12, n), names), Nominal(rng.integers(-1, 3, n), names[:3]))
    return Table(n, len(columns), columns=columns), y.astype(bool)


def opened(engine, table, positive, weights=None):
    """The training set of a table, with these weights at first."""
    rows = engine.training_set(View(engine, table, fit_bins(engine, table)), positive.astype(np.uint8), TWO, None)
    if weights is not None:
        rows.put("first", weights)
        rows.assign(itself, ("first",))
    return rows


def boost(engine, table, positive, n_rounds, request, limits, weights=None, anew=False):
    """Real AdaBoost: splits, leaf values and sums of every round, and the last weights.

    With `anew` all weights are assigned before every round, so that nothing can be derived from the one before.
    """
    n = len(positive)
    rows = opened(engine, table, positive, weights)
    rounds = []
    for _ in range(n_rounds):
        if anew:
            rows.assign(itself, (W,))
        growth = rows.grow(request, limits)
        negative, plus = growth.sums.T
        values = 0.5 * np.log((plus + 1 / n) / (negative + 1 / n))
        values[growth.abstains] = 0.0
        rounds.append((_chosen(growth), values, growth.sums))
        rows.reweight(growth.partition, np.exp(np.outer(values, [1.0, -1.0])))
    return rounds, rows.get(W)


def boost_with_costs(engine, table, positive, n_rounds, request, limits=None, weights=None, anew=False):
    """The same with ``w exp(-C y g)``: g is a value per leaf for ``cost_loss``, ±α for ``cost_step``."""
    rows = opened(engine, table, positive, weights)
    c0, c1 = request.costs
    rounds = []
    for _ in range(n_rounds):
        if anew:
            rows.assign(itself, (W,))
        growth = rows.grow(request, limits or Limits(1))
        splits = growth.partition.splits
        if request.criterion == "cost_loss":
            negative, plus = growth.sums.T + request.delta
            values = np.log(plus * c1 / (negative * c0)) / (c0 + c1)
            values[growth.abstains] = 0.0
        else:
            values = np.zeros(len(growth.sums))
            no, yes = (LEFT, RIGHT) if splits[0].polarity > 0 else (RIGHT, LEFT)
            alpha = step_length(growth.sums[no], growth.sums[yes], request.costs)
            values[no], values[yes] = -alpha, alpha
        rounds.append((_chosen(growth), values, growth.sums))
        loss = rows.reweight(growth.partition, np.exp(np.outer(values, [c0, -c1])))
        if limits is None:
            assert loss == pytest.approx(splits[0].value, abs=1e-11)
    return rounds, rows.get(W)


def _chosen(growth):
    return [(s.feature, s.threshold, s.polarity, s.child.tobytes()) for s in growth.partition.splits]


def assert_same(a, b, tolerance):
    """Two runs that split alike, with values, sums and weights that differ by no more than this."""
    for m, ((splits, values, sums), (other, other_values, other_sums)) in enumerate(zip(a[0], b[0], strict=True)):
        assert splits == other, f"round {m + 1} splits differently"
        np.testing.assert_allclose(values, other_values, atol=tolerance, rtol=0)
        np.testing.assert_allclose(sums, other_sums, atol=tolerance, rtol=0)
    np.testing.assert_allclose(a[1], b[1], atol=tolerance, rtol=0)
