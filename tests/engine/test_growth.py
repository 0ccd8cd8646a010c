"""Stumps and trees: the two engines, shortcuts and full rebuilds, any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from engine.partitioned import PartitionedEngine
from skewboost.engine import choose, cpu
from skewboost.engine.binning import fit_bins
from skewboost.engine.boundary import LEFT, RIGHT, Request
from skewboost.engine.cpu import CpuEngine
from skewboost.engine.losses import step_length
from skewboost.engine.partition import View
from skewboost.engine.training_set import TWO, Limits, itself
from skewboost.tables import Nominal, Table
from support import awkward_data

ENGINES = ["reference", "cpu", PartitionedEngine()]


class Rebuilding(CpuEngine):
    """The CPU engine without its shortcuts: every histogram is a sum over rows."""

    derives = False


def mixed_table(n, seed=0):
    X, y = awkward_data(n, seed)
    rng = np.random.default_rng(seed)
    names = tuple(f"c{k:02}" for k in range(12))
    columns = (*tuple(X.T), Nominal(rng.integers(-1, 12, n), names), Nominal(rng.integers(-1, 3, n), names[:3]))
    return Table(n, len(columns), columns=columns), y.astype(bool)


def opened(engine, table, positive, weights=None):
    """The training set of a table, with these weights at first."""
    rows = engine.open(View(engine, table, fit_bins(engine, table)), positive.astype(np.uint8), TWO, None)
    if weights is not None:
        rows.put("first", weights)
        rows.assign(itself, ("first",))
    return rows


def boost(engine, table, positive, n_rounds, request, limits, weights=None, step=1.0):
    """Real AdaBoost by hand: splits, leaf values and sums of every round, and the last weights."""
    n = len(positive)
    rows = opened(engine, table, positive, weights)
    rounds = []
    for _ in range(n_rounds):
        growth = rows.grow(request, limits)
        negative, plus = growth.sums.T
        values = step * 0.5 * np.log((plus + 1 / n) / (negative + 1 / n))
        values[growth.abstains] = 0.0
        splits = [(s.feature, s.threshold, s.child.tobytes()) for s in growth.partition.splits]
        rounds.append((splits, values, growth.sums))
        rows.reweight(growth.partition, np.exp(np.outer(values, [1.0, -1.0])))
    return rounds, rows.get("w")


def boost_with_costs(engine, table, positive, n_rounds, request, limits=None, weights=None):
    """The same with ``w exp(-C y g)``: g is a value per leaf for ``cost_loss``, ±α for ``cost_step``."""
    rows = opened(engine, table, positive, weights)
    c0, c1 = request.costs
    rounds = []
    for _ in range(n_rounds):
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
        chosen = [(s.feature, s.threshold, s.polarity, s.child.tobytes()) for s in splits]
        rounds.append((chosen, values, growth.sums))
        loss = rows.reweight(growth.partition, np.exp(np.outer(values, [c0, -c1])))
        if limits is None:
            assert loss == pytest.approx(splits[0].value, abs=1e-11)
    return rounds, rows.get("w")


def depths(partition):
    """Of the splits of a tree: how many tests there are on the way, itself included."""
    found = {0: 1}
    for k, links in enumerate(partition.links):
        found.update({link: found[k] + 1 for link in links if link >= 0})
    return found.values()


def assert_same(a, b, tolerance):
    for m, ((splits, values, sums), (other, other_values, other_sums)) in enumerate(zip(*(a[0], b[0]), strict=True)):
        assert splits == other, f"round {m + 1} splits differently"
        np.testing.assert_allclose(values, other_values, atol=tolerance, rtol=0)
        np.testing.assert_allclose(sums, other_sums, atol=tolerance, rtol=0)
    np.testing.assert_allclose(a[1], b[1], atol=tolerance, rtol=0)


LIMITS = [Limits(1), Limits(3), Limits(None, 9), Limits(4, 6)]


@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "z"])
def test_all_engines_grow_the_same(criterion, limits, missing):
    table, y = mixed_table(500)
    request = Request(criterion, missing)
    reference, *others = (boost(choose(e, 0, 0, 1), table, y, 25, request, limits) for e in ENGINES)
    for other in others:
        assert_same(reference, other, 1e-12)


@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("criterion", ["error", "zbar"])
def test_all_engines_grow_the_same_forced_stumps(criterion, missing):
    table, y = mixed_table(500)
    request = Request(criterion, missing)
    reference, *others = (boost(choose(e, 0, 0, 1), table, y, 40, request, Limits(1)) for e in ENGINES)
    for other in others:
        assert_same(reference, other, 1e-12)


@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("criterion", ["cost_loss", "cost_step"])
def test_all_engines_grow_the_same_with_costs(criterion, missing):
    table, y = mixed_table(500)
    request = Request(criterion, missing, costs=(1.0, 5.0), delta=1 / 500)
    reference, *others = (boost_with_costs(choose(e, 0, 0, 1), table, y, 40, request) for e in ENGINES)
    for other in others:
        assert_same(reference, other, 1e-12)


@pytest.mark.parametrize("limits", LIMITS[1:], ids=str)
def test_all_engines_grow_the_same_trees_with_costs(limits):
    table, y = mixed_table(500)
    request = Request("cost_loss", costs=(1.0, 5.0), delta=1 / 500)
    reference, *others = (boost_with_costs(choose(e, 0, 0, 1), table, y, 15, request, limits) for e in ENGINES)
    for other in others:
        assert_same(reference, other, 1e-12)


@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("criterion", ["cost_loss", "cost_step"])
def test_derived_histograms_choose_what_a_full_rebuild_chooses_with_costs(criterion, missing):
    """From equal weights, and from weights that span twelve decades."""
    table, y = mixed_table(1500, seed=1)
    request = Request(criterion, missing, costs=(1.0, 5.0), delta=1 / 1500)
    for weights in (None, 10.0 ** np.random.default_rng(3).uniform(-12, 0, 1500)):
        derived = boost_with_costs(CpuEngine(1), table, y, 200, request, weights=weights)
        rebuilt = boost_with_costs(Rebuilding(1), table, y, 200, request, weights=weights)
        assert_same(derived, rebuilt, 1e-11)


def test_derived_trees_choose_what_a_full_rebuild_chooses_with_costs():
    table, y = mixed_table(1500, seed=1)
    request = Request("cost_loss", costs=(1.0, 5.0), delta=1 / 1500)
    runs = [boost_with_costs(e(1), table, y, 60, request, Limits(None, 8)) for e in (CpuEngine, Rebuilding)]
    assert_same(*runs, 1e-11)


@pytest.mark.parametrize("limits", [Limits(1), Limits(None, 8)], ids=str)
@pytest.mark.parametrize("criterion", ["z", "gini"])
def test_derived_histograms_choose_what_a_full_rebuild_chooses(criterion, limits):
    """Hundreds of rounds, from weights that span twelve decades and end spanning many more."""
    n_rounds = 400 if limits.one_split else 120
    table, y = mixed_table(1500, seed=1)
    weights = 10.0 ** np.random.default_rng(3).uniform(-12, 0, 1500)
    derived = boost(CpuEngine(1), table, y, n_rounds, Request(criterion), limits, weights)
    rebuilt = boost(Rebuilding(1), table, y, n_rounds, Request(criterion), limits, weights)
    assert_same(derived, rebuilt, 1e-11)
    assert np.ptp(np.log10(derived[1][derived[1] > 0])) > 12


def test_derived_histograms_survive_a_separable_problem():
    """Where one leaf holds next to nothing of a class, what is left of a difference is mostly rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    y = X[:, 0] + 0.01 * X[:, 1] > 0.7
    table = Table(*X.shape, matrix=X)
    derived = boost(CpuEngine(1), table, y, 300, Request("z"), Limits(1))
    rebuilt = boost(Rebuilding(1), table, y, 300, Request("z"), Limits(1))
    assert_same(derived, rebuilt, 1e-11)


@pytest.mark.parametrize("limits", [Limits(1), Limits(None, 12)], ids=str)
def test_the_number_of_threads_changes_no_bit(limits):
    """Large enough that rows are cut into chunks."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(140_000, 12)).astype(np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X)) > 2
    table = Table(*X.shape, matrix=X)
    runs = [boost(CpuEngine(n_jobs), table, y, 6, Request("z"), limits) for n_jobs in (1, 2, 3, 7)]
    for run in runs[1:]:
        assert [r[0] for r in run[0]] == [r[0] for r in runs[0][0]]
        for a, b in zip(run[0], runs[0][0], strict=True):
            assert np.array_equal(a[1], b[1])
            assert np.array_equal(a[2], b[2])
        assert np.array_equal(run[1], runs[0][1])


@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("limits", [Limits(1), Limits(None, 12)], ids=str)
def test_neither_do_small_tasks(limits, missing, monkeypatch):
    """Everything that can be shared is, in many chunks, slices and blocks: the sums differ by rounding at most."""
    table, y = mixed_table(4000, seed=1)
    request = Request("z", missing)
    plain = boost(CpuEngine(1), table, y, 10, request, limits)
    monkeypatch.setattr(cpu, "_SHARED", 0)
    monkeypatch.setattr(cpu, "_SERIAL", 0)
    monkeypatch.setattr(cpu, "_CHUNK", 100)
    cpu._plan.cache_clear()
    runs = [boost(CpuEngine(n_jobs), table, y, 10, request, limits) for n_jobs in (1, 2, 3)]
    cpu._plan.cache_clear()
    assert_same(plain, runs[0], 1e-12)
    for run in runs[1:]:
        assert_same(run, runs[0], 0.0)


@pytest.mark.parametrize("criterion", ["cost_loss", "cost_step"])
def test_neither_do_threads_with_costs(criterion, monkeypatch):
    table, y = mixed_table(4000, seed=1)
    request = Request(criterion, costs=(1.0, 5.0), delta=1 / 4000)
    monkeypatch.setattr(cpu, "_SHARED", 0)
    monkeypatch.setattr(cpu, "_SERIAL", 0)
    limits = None if criterion == "cost_step" else Limits(None, 12)
    one, other = (boost_with_costs(CpuEngine(n_jobs), table, y, 10, request, limits) for n_jobs in (1, 3))
    assert_same(one, other, 0.0)


@pytest.mark.parametrize("engine", ENGINES, ids=str)
@pytest.mark.parametrize("missing", ["learn", "abstain"])
def test_a_tree_keeps_its_limits_and_its_leaves_are_its_rows(engine, missing):
    engine = choose(engine, 1)
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


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_least_squares_is_the_same_on_all_engines_and_fits_means(limits):
    table, _ = mixed_table(600, seed=5)
    rng = np.random.default_rng(0)
    z, w = rng.normal(size=600) * 3, rng.random(600)
    growths = []
    for engine in (choose(e, 0, 0, 1) for e in ENGINES):
        rows = opened(engine, table, np.zeros(600, dtype=bool))
        rows.put("z", z)
        rows.put("own w", w)
        growth = rows.grow_responses("z", "own w", Request("squares"), limits)
        leaf = growth.partition.leaves(View(engine, table, rows.bins))
        for k in range(growth.partition.n_leaves):
            np.testing.assert_allclose(growth.sums[k], [w[leaf == k].sum(), (w * z)[leaf == k].sum()], atol=1e-12)
        growths.append(growth)
    a, *others = growths
    for b in others:
        assert [(s.feature, s.threshold) for s in a.partition.splits] == [
            (s.feature, s.threshold) for s in b.partition.splits
        ]
        np.testing.assert_allclose(a.sums, b.sums, atol=1e-12)


def test_best_first_takes_the_most_profitable_leaf():
    """With three leaves, best first splits the side that gains more, level by level both would be split."""
    engine = choose("reference", 1)
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10, dtype=float)
    y = np.array([False, True, True, True] * 10)
    y[3] = False  # the right side is nearly pure, the left side is mixed
    table = Table(*X.shape, matrix=X)
    rows = opened(engine, table, y)
    growth = rows.grow(Request("gini"), Limits(None, 3))
    first, second = growth.partition.splits
    assert growth.partition.links[0].index(1) == 0  # the second split hangs on the left of the first
    assert {first.feature, second.feature} == {0, 1}
