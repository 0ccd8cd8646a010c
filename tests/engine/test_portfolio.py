"""Portfolios: Newton trees, boosters and forests of the engines."""

from __future__ import annotations

import numpy as np
import pytest

from skewboost.engine import choose
from skewboost.engine.binning import fit_bins
from skewboost.engine.constraints import ordered_columns
from skewboost.engine.newton import TreeSettings
from skewboost.engine.partition import View
from skewboost.engine.portfolio import BOOSTER, FOREST, MemberSettings, copies
from skewboost.engine.restrictions import Interactions
from skewboost.engine.scoring import Scorer
from skewboost.engine.table import Nominal, Table

TREE_ARRAYS = (
    "first_node", "first_leaf", "feature", "threshold", "which", "missing_left", "links", "sets", "values", "covers",
    "importances",
)  # fmt: skip


def mixed_table(rng, n, p):
    """Numbers of few and many values, categories, missing cells."""
    columns = []
    for _ in range(p):
        if rng.random() < 0.3:
            columns.append(Nominal(rng.integers(-1, 6, n), tuple("abcdef"), tuple("fbacxed")))
        else:
            x = rng.normal(size=n).round(int(rng.integers(0, 3)))
            x[rng.random(n) < 0.1 * rng.integers(0, 2)] = np.nan
            columns.append(x)
    return Table(n, p, columns=tuple(columns))


def portfolio(table, classes, n_classes, engine="cpu", n_jobs=1, units=None, monotonic=None):
    chosen = choose(engine, n_jobs)
    bins = fit_bins(chosen, table, ordered=ordered_columns(monotonic, table))
    return chosen.portfolio(View(chosen, table, bins), classes, n_classes, units)


@pytest.mark.parametrize("kind", [BOOSTER, FOREST])
@pytest.mark.parametrize("random", [False, True])
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.sample(12)
@pytest.mark.parametrize("seed", range(12))
def test_native_members_are_those_of_the_reference(kind, random, constrained, seed):
    rng = np.random.default_rng([seed, random, constrained])
    n, p, K = int(rng.integers(20, 160)), int(rng.integers(2, 11)), 3 if seed % 3 == 2 else 2
    table, classes = mixed_table(rng, n, p), rng.integers(0, K, n)
    weights = np.where(rng.random(n) < 0.8, rng.integers(1, 3, n), 0).astype(float)
    monotonic = tuple(rng.integers(-1, 2, p).tolist()) if constrained and K == 2 else None
    groups = (frozenset(range(0, p, 2)), frozenset(range(1, p, 2))) if constrained else ()
    forest = kind == FOREST
    tree = TreeSettings(
        max_leaves=int(rng.choice([0, 6])), columns_of_tree=0.8, columns_of_node=float(rng.choice([0.5, 1.0])),
        random_thresholds=random, l2=0.0 if forest else 2.0, min_hessian=0.5 if forest else 0.01,
        monotonic=monotonic, interactions=Interactions(groups) if seed % 2 else Interactions(most=2 * constrained),
    )  # fmt: skip
    settings = MemberSettings(kind, tree, seed=7, row_fraction=1.0 if forest and seed % 2 else 0.7)
    found = []
    for engine in ("cpu", "reference"):
        own = portfolio(table, classes, K, engine, units=np.arange(n) // 2, monotonic=monotonic)
        member = own.add(settings, weights, 1.0 * (weights == 0))
        own.train([member], [3])
        trees = own.trees(member)
        found.append((trees, own.scores(member, 3, trees.values, out_of_bag=forest), own.losses(member)))
        np.testing.assert_allclose(np.add.reduceat(own.covers(member), trees.first_leaf[:-1]), weights.sum())
    (a, scores_a, losses_a), (b, scores_b, losses_b) = found
    for name in TREE_ARRAYS:
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(scores_a[0], scores_b[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(scores_a[1], scores_b[1])
    np.testing.assert_allclose(losses_a, losses_b, rtol=1e-9)


def test_a_large_node_is_split_as_the_reference_does():
    # nodes of more than 96 rows have histograms, by subtraction, and with random thresholds those of more than 4096
    for random, n in ((False, 700), (True, 5000)):
        rng = np.random.default_rng(0)
        table, classes = mixed_table(rng, n, 6), rng.integers(0, 2, n)
        settings = MemberSettings(BOOSTER, TreeSettings(random_thresholds=random, l2=1.0), seed=3, row_fraction=0.9)
        trees = []
        for engine in ("cpu", "reference"):
            own = portfolio(table, classes, 2, engine)
            member = own.add(settings, np.ones(n))
            own.train([member], [3])
            trees.append(own.trees(member))
        for name in TREE_ARRAYS:
            np.testing.assert_allclose(getattr(trees[0], name), getattr(trees[1], name), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_random_thresholds_of_many_columns_are_those_of_the_reference(share):
    # codes are read in 64 columns at a time, of which some have missing values or categories
    rng = np.random.default_rng(0)
    table, classes = mixed_table(rng, 60, 150), rng.integers(0, 2, 60)
    tree = TreeSettings(random_thresholds=True, l2=1.0, columns_of_node=share)
    trees = []
    for engine in ("cpu", "reference"):
        own = portfolio(table, classes, 2, engine)
        member = own.add(MemberSettings(BOOSTER, tree, seed=3), np.ones(60))
        own.train([member], [4])
        trees.append(own.trees(member))
    for name in TREE_ARRAYS:
        np.testing.assert_allclose(getattr(trees[0], name), getattr(trees[1], name), rtol=1e-9, atol=1e-12)
    kinds = {column_kind(table.column(j)) for j in trees[0].feature.tolist()}
    assert kinds == {"numbers", "missing", "categories"}


def test_best_thresholds_of_many_columns_are_those_of_the_reference():
    # eight columns are searched side by side, and threads share them
    rng = np.random.default_rng(0)
    table = mixed_table(rng, 160, 290)
    kinds = ("numbers", "missing", "categories")
    known, gappy, nominal = (next(x for x in table.columns if column_kind(x) == kind) for kind in kinds)
    classes = (known + np.nan_to_num(gappy, nan=1.0) + 3 * (nominal.codes % 2) + rng.normal(size=160) > 1.5).astype(int)
    tree = TreeSettings(max_leaves=3, l2=1.0, columns_of_tree=0.95)
    trees = []
    for engine, n_jobs in (("cpu", 1), ("cpu", 3), ("reference", 1)):
        own = portfolio(table, classes, 2, engine, n_jobs)
        member = own.add(MemberSettings(BOOSTER, tree, seed=1), np.ones(160))
        own.train([member], [3])
        trees.append(own.trees(member))
    for name in TREE_ARRAYS:
        np.testing.assert_array_equal(getattr(trees[0], name), getattr(trees[1], name))
        np.testing.assert_allclose(getattr(trees[0], name), getattr(trees[2], name), rtol=1e-9, atol=1e-12)
    assert {column_kind(table.column(j)) for j in trees[0].feature.tolist()} == set(kinds)


def column_kind(column):
    if isinstance(column, Nominal):
        return "categories"
    return "missing" if np.isnan(column).any() else "numbers"


def test_the_number_of_threads_and_the_order_of_training_change_no_bit():
    rng = np.random.default_rng(1)
    table, classes = mixed_table(rng, 300, 7), rng.integers(0, 2, 300)
    found = []
    for n_jobs, chunks in ((1, [6]), (3, [1, 2, 3])):
        own = portfolio(table, classes, 2, n_jobs=n_jobs)
        members = [
            own.add(MemberSettings(kind, TreeSettings(random_thresholds=kind == FOREST), seed=k), np.ones(300))
            for k, kind in enumerate([BOOSTER, FOREST, BOOSTER])
        ]
        for n in chunks:
            own.train(members, [n] * 3)
        found.append([own.trees(member).values for member in members])
    for a, b in zip(*found):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("K", [2, 3])
def test_threads_that_share_the_rows_of_one_member_change_no_bit(K):
    # rows and blocks of columns of large nodes are shared by threads
    rng = np.random.default_rng(2)
    X, classes = rng.integers(0, 40, (40_000, 20)).astype(float), rng.integers(0, K, 40_000)
    found = []
    for n_jobs in (1, 3):
        own = portfolio(Table(len(X), 20, matrix=X), classes, K, n_jobs=n_jobs)
        member = own.add(MemberSettings(BOOSTER, TreeSettings(l2=1.0), row_fraction=0.8), np.ones(len(X)))
        own.train([member], [3])
        found.append(own.trees(member).values)
    np.testing.assert_array_equal(*found)


def test_a_newton_stump_has_the_values_of_its_formula():
    x = np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    classes = np.array([0, 0, 0, 1, 1])
    own = portfolio(Table(5, 1, matrix=x[:, None]), classes, 2)
    member = own.add(MemberSettings(BOOSTER, TreeSettings(2, l2=0.5), learning_rate=0.3), np.ones(5))
    own.train([member], [1])
    start = np.log(2.5) - np.log(3.5)  # half an example more of each class
    np.testing.assert_allclose(own.start(member), start)
    p = 1.0 / (1.0 + np.exp(-start))
    g, h = p - classes, np.full(5, p * (1 - p))
    expected = [-0.3 * g[part].sum() / (h[part].sum() + 0.5) for part in (slice(2), slice(2, None))]
    np.testing.assert_allclose(own.trees(member).values[:, 0], expected)


def test_leaves_of_a_forest_are_class_shares_of_its_bootstrap_sample():
    rng = np.random.default_rng(2)
    table, classes = mixed_table(rng, 120, 4), rng.integers(0, 3, 120)
    own = portfolio(table, classes, 3)
    member = own.add(MemberSettings(FOREST, TreeSettings(0, min_hessian=0.5), seed=5), np.ones(120))
    own.train([member], [20])
    trees = own.trees(member)
    np.testing.assert_allclose(trees.values.sum(axis=1), 1.0)
    sums, counts = own.scores(member, 20, np.ones((len(trees.covers), 1)), out_of_bag=True)
    np.testing.assert_array_equal(sums[:, 0], counts)
    assert abs(counts.mean() / 20 - np.exp(-1)) < 0.04  # the share of samples that lack a row
    covers = np.add.reduceat(trees.covers, trees.first_leaf[:-1])
    assert abs(covers.mean() / 120 - 1.0) < 0.05


def test_copies_are_poisson_numbers():
    drawn = copies(MemberSettings(FOREST, seed=123), 0, np.arange(200_000), np.ones(200_000))
    shares = np.bincount(drawn.astype(int), minlength=5)[:5] / len(drawn)
    np.testing.assert_allclose(shares, np.exp(-1) / np.array([1, 1, 2, 6, 24]), atol=0.004)


@pytest.mark.parametrize("row_fraction", [1.0, 0.3])
@pytest.mark.parametrize("n_units", [1, 2, 3])
def test_no_sample_is_empty(n_units, row_fraction):
    rng = np.random.default_rng(n_units)
    table, classes, units = mixed_table(rng, 12, 2), np.arange(12) % 2, np.arange(12) % n_units
    weights = (np.arange(12) < 8).astype(float)
    found = []
    for engine in ("cpu", "reference"):
        own = portfolio(table, classes, 2, engine, units=units)
        settings = MemberSettings(FOREST, TreeSettings(0, min_hessian=0.5), seed=1, row_fraction=row_fraction)
        member = own.add(settings, weights)
        own.train([member], [40])
        trees = own.trees(member)
        assert np.isfinite(trees.values).all()
        assert (trees.covers > 0).all()
        found.append((trees.values, *own.scores(member, 40, trees.values, out_of_bag=True)))
        drawn = np.array([copies(settings, t, units, weights) for t in range(40)])
        assert drawn[:, :8].any(axis=1).all()
        assert not drawn[:, 8:].any()
        np.testing.assert_array_equal(found[-1][2], (drawn == 0).sum(axis=0))
    for native, reference in zip(*found, strict=True):
        np.testing.assert_allclose(native, reference, atol=1e-12)


def test_rows_of_a_unit_are_in_the_same_samples():
    rng = np.random.default_rng(3)
    table, classes = mixed_table(rng, 90, 3), rng.integers(0, 2, 90)
    units = np.arange(90) // 3
    own = portfolio(table, classes, 2, units=units)
    member = own.add(MemberSettings(FOREST, TreeSettings(0, min_hessian=0.5), seed=5), np.ones(90))
    own.train([member], [30])
    _, counts = own.scores(member, 30, own.trees(member).values, out_of_bag=True)
    np.testing.assert_array_equal(counts, counts[units * 3])


@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_scorers_and_explanations_of_trees_add_up(engine):
    rng = np.random.default_rng(4)
    table, classes = mixed_table(rng, 150, 5), rng.integers(0, 2, 150)
    own = portfolio(table, classes, 2)
    settings = MemberSettings(BOOSTER, TreeSettings(random_thresholds=True, l2=1.0), row_fraction=0.8)
    member = own.add(settings, np.ones(150))
    own.train([member], [5])
    trees, chosen = own.trees(member), choose(engine, 1)
    bins = fit_bins(chosen, table)
    expected, _ = own.scores(member, 5, trees.values)
    F = chosen.score(Scorer.of_trees(trees, 0, bins, 5), table)
    np.testing.assert_allclose(F, expected[:, 0], atol=1e-14)
    phi = chosen.contributions(trees, 0, View(chosen, table, bins))
    np.testing.assert_allclose(phi.sum(axis=1) + trees.mean(0), F, atol=1e-13)


def test_nodes_of_many_columns_are_split_at_the_best_threshold():
    # histograms that are larger than a cache are summed by blocks of columns, and not kept
    n, p = 400, 100
    rng = np.random.default_rng(0)
    X, classes = rng.normal(size=(n, p)), rng.integers(0, 2, n)
    X[rng.random((n, p)) < 0.01] = np.nan
    own = portfolio(Table(n, p, matrix=X), classes, 2)
    member = own.add(MemberSettings(BOOSTER, TreeSettings(max_leaves=4, l2=1.0)), np.ones(n))
    own.train([member], [1])
    trees, codes = own.trees(member), np.array([own.view.column(j) for j in range(p)])
    share = 1.0 / (1.0 + np.exp(-own.start(member)[0]))
    g, h = share - classes, np.full(n, share * (1.0 - share))
    rows = {0: np.arange(n)}
    gains = np.zeros(p)
    for k in range(len(trees.feature)):
        here = rows[k]
        places = (np.arange(p)[:, None] * 256 + codes[:, here]).ravel()
        G, H = (np.bincount(places, np.tile(v[here], p), p * 256).reshape(p, 256) for v in (g, h))
        missing = [(0.0, 0.0), (G[:, 255:], H[:, 255:])]
        gain = np.full(p, -1.0)
        for a, b in missing:
            left, part = np.cumsum(G[:, :255], axis=1) + a, np.cumsum(H[:, :255], axis=1) + b
            right, rest = g[here].sum() - left, h[here].sum() - part
            own_gain = left**2 / (part + 1.0) + right**2 / (rest + 1.0)
            own_gain[(part < 1e-3) | (rest < 1e-3)] = -1.0
            gain = np.maximum(gain, own_gain.max(axis=1))
        gain -= g[here].sum() ** 2 / (h[here].sum() + 1.0)
        assert trees.feature[k] == gain.argmax()
        gains[trees.feature[k]] += gain.max()
        code = codes[trees.feature[k], here]
        goes = np.where(code == 255, trees.missing_left[k] > 0, code <= trees.threshold[k])
        for link, side in zip(trees.links[k].tolist(), (goes, ~goes)):
            rows[link] = here[side]
    np.testing.assert_allclose(trees.importances, gains, rtol=1e-9, atol=1e-12)
