"""Stumps and trees: all engines grow the same, within the limits."""

from __future__ import annotations

import numpy as np
import pytest

from engine.rounds import assert_same, boost, boost_with_costs, mixed_table, opened
from engine.tables import ENGINES, assert_same_growth, each_engine, each_missing
from skewboost.engine.boundary import Request
from skewboost.engine.partition import View
from skewboost.engine.table import Table
from skewboost.engine.training_set import Limits
from support import sized

LIMITS = [Limits(1), Limits(3), Limits(None, 9), Limits(4, 6)]


def depths(partition):
    """Of the splits of a tree: how many tests there are on the way, itself included."""
    found = {0: 1}
    for k, links in enumerate(partition.links):
        found.update({link: found[k] + 1 for link in links if link >= 0})
    return found.values()


@pytest.mark.sample(4)
@each_missing
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "z"])
@sized("n_rounds", 5, 25)
def test_all_engines_grow_the_same(criterion, limits, missing, n_rounds):
    table, y = mixed_table(500)
    reference, *others = (boost(e, table, y, n_rounds, Request(criterion, missing), limits) for e in ENGINES)
    for other in others:
        assert_same(reference, other, 1e-12)


@each_missing
@pytest.mark.parametrize("criterion", ["error", "zbar"])
@sized("n_rounds", 10, 40)
def test_all_engines_grow_the_same_forced_stumps(criterion, missing, n_rounds):
    table, y = mixed_table(500)
    reference, *others = (boost(e, table, y, n_rounds, Request(criterion, missing), Limits(1)) for e in ENGINES)
    for other in others:
        assert_same(reference, other, 1e-12)


@pytest.mark.sample(3)
@each_missing
@pytest.mark.parametrize("criterion", ["cost_loss", "cost_step"])
@sized("n_rounds", 10, 40)
def test_all_engines_grow_the_same_with_costs(criterion, missing, n_rounds):
    table, y = mixed_table(500)
    request = Request(criterion, missing, costs=(1.0, 5.0), delta=1 / 500)
    reference, *others = (boost_with_costs(e, table, y, n_rounds, request) for e in ENGINES)
    for other in others:
        assert_same(reference, other, 1e-12)


@pytest.mark.parametrize("limits", LIMITS[1:], ids=str)
@sized("n_rounds", 5, 15)
def test_all_engines_grow_the_same_trees_with_costs(limits, n_rounds):
    table, y = mixed_table(500)
    request = Request("cost_loss", costs=(1.0, 5.0), delta=1 / 500)
    reference, *others = (boost_with_costs(e, table, y, n_rounds, request, limits) for e in ENGINES)
    for other in others:
        assert_same(reference, other, 1e-12)


@each_engine
@each_missing
def test_a_tree_keeps_its_limits_and_its_leaves_are_its_rows(engine, missing):
    table, y = mixed_table(800, seed=4)
    weights = np.random.default_rng(0).random(800)
    weights /= weights.sum()
    rows = opened(engine, table, y, weights)
    growth = rows.grow(Request("gini", missing, min_count=20, min_weight=0.02), Limits(5, 10))
    leaf = growth.partition.leaves(View(engine, table, rows.bins))
    voting = ~growth.abstains
    assert voting.sum() <= 10
    assert max(depths(growth.partition)) <= 5
    assert (np.bincount(leaf, minlength=len(voting))[voting] >= 20).all()
    assert (growth.sums.sum(axis=1)[voting] >= 0.02 - 1e-12).all()
    for k in range(growth.partition.n_leaves):
        np.testing.assert_allclose(growth.sums[k], [weights[(leaf == k) & ~y].sum(), weights[(leaf == k) & y].sum()])


@pytest.mark.slow
@pytest.mark.sample(1)
@each_engine
def test_a_tree_of_many_leaves(engine):
    """More than are written at once: each of 300 rows comes to a leaf of its own."""
    X = np.random.default_rng(0).permutation(300).astype(float)[:, None]
    table, y = Table(*X.shape, matrix=X), X[:, 0] % 2 == 0
    rows = opened(engine, table, y)
    if engine.name == "cpu":
        rows.grow(Request("gini"), Limits(None, 5))
    for limits in (Limits(None), Limits(None, 100), Limits(None, 300)):
        # an even comb: no split of all rows but the first gains much, and yet all of them are made
        growth = rows.grow(Request("gini"), limits)
        assert_same_growth(opened(ENGINES[0], table, y).grow(Request("gini"), limits), growth)
        leaf = growth.partition.leaves(View(engine, table, rows.bins))
        expected = [[np.mean((leaf == k) & ~y), np.mean((leaf == k) & y)] for k in range(growth.partition.n_leaves)]
        np.testing.assert_allclose(growth.sums, expected, atol=1e-14)
        assert growth.partition.n_leaves > 64


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_least_squares_is_the_same_on_all_engines_and_fits_means(limits):
    table, _ = mixed_table(600, seed=5)
    rng = np.random.default_rng(0)
    z, w = rng.normal(size=600) * 3, rng.random(600)
    growths = []
    for engine in ENGINES:
        rows = opened(engine, table, np.zeros(600, dtype=bool))
        rows.put("z", z)
        rows.put("own w", w)
        growth = rows.grow_responses("z", "own w", Request("squares"), limits)
        leaf = growth.partition.leaves(View(engine, table, rows.bins))
        for k in range(growth.partition.n_leaves):
            np.testing.assert_allclose(growth.sums[k], [w[leaf == k].sum(), (w * z)[leaf == k].sum()], atol=1e-12)
        growths.append(growth)
    for other in growths[1:]:
        assert_same_growth(growths[0], other)


@each_engine
def test_best_first_takes_the_most_profitable_leaf(engine):
    """With three leaves, best first splits the side that gains more, level by level both would be split."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10, dtype=float)
    y = np.array([False, True, True, True] * 10)
    y[3] = False  # the right side is nearly pure, the left side is mixed
    rows = opened(engine, Table(*X.shape, matrix=X), y)
    growth = rows.grow(Request("gini"), Limits(None, 3))
    first, second = growth.partition.splits
    assert growth.partition.links[0].index(1) == 0  # the second split hangs on the left of the first
    assert {first.feature, second.feature} == {0, 1}


@each_engine
def test_where_nothing_can_be_split_there_is_one_leaf(engine):
    """One row, one value per column, limits that no split keeps, a class alone."""
    one = Table(1, 2, matrix=np.zeros((1, 2)))
    constant = Table(5, 1, matrix=np.ones((5, 1)))
    for table, y in ((one, [True]), (constant, [True, False, True, False, False])):
        for limits in (Limits(1), Limits(None, 4)):
            growth = opened(engine, table, np.array(y)).grow(Request("z"), limits)
            assert growth.partition.splits == ()
            np.testing.assert_allclose(growth.sums, [[1 - np.mean(y), np.mean(y)]])
    table, y = mixed_table(100)
    assert opened(engine, table, y).grow(Request("z", min_count=51), Limits(1)).partition.splits == ()
    assert opened(engine, table, np.zeros(100, bool)).grow(Request("gini"), Limits(None, 9)).partition.splits == ()
