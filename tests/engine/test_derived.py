"""Sums that the compiled engine derives from those of the round before: they decide as sums over rows do."""

from __future__ import annotations

import numpy as np
import pytest

from engine.rounds import assert_same, boost, boost_with_costs, mixed_table
from engine.tables import CPU, REFERENCE, assert_same_growth, bins_of, each_missing
from engine.tables import opened as opened_of_codes
from skewboost.engine.boundary import Request
from skewboost.engine.partition import Partition, look_up
from skewboost.engine.table import Table
from skewboost.engine.training_set import TWO, Classes, Leaves, Limits, W, itself
from support import sized

DECADES = 10.0 ** np.random.default_rng(3).uniform(-12, 0, 1500)


@pytest.mark.slow
@pytest.mark.sample(3)
@each_missing
@pytest.mark.parametrize("criterion", ["cost_loss", "cost_step"])
def test_derived_sums_choose_what_a_full_rebuild_chooses_with_costs(criterion, missing):
    """From equal weights, and from weights that span twelve decades."""
    table, y = mixed_table(1500, seed=1)
    request = Request(criterion, missing, costs=(1.0, 5.0), delta=1 / 1500)
    for weights in (None, DECADES):
        derived, rebuilt = (
            boost_with_costs(CPU, table, y, 200, request, weights=weights, anew=anew) for anew in (False, True)
        )
        assert_same(derived, rebuilt, 1e-11)


@pytest.mark.slow
def test_derived_trees_choose_what_a_full_rebuild_chooses_with_costs():
    table, y = mixed_table(1500, seed=1)
    request = Request("cost_loss", costs=(1.0, 5.0), delta=1 / 1500)
    derived, rebuilt = (
        boost_with_costs(CPU, table, y, 60, request, Limits(None, 8), anew=anew) for anew in (False, True)
    )
    assert_same(derived, rebuilt, 1e-11)


@pytest.mark.sample(2)
@pytest.mark.parametrize("limits", [Limits(1), Limits(None, 8)], ids=str)
@pytest.mark.parametrize("criterion", ["z", "gini"])
def test_derived_sums_choose_what_a_full_rebuild_chooses(criterion, limits):
    """Hundreds of rounds, from weights that span twelve decades and end spanning many more."""
    n_rounds = 400 if limits.one_split else 120
    table, y = mixed_table(1500, seed=1)
    derived, rebuilt = (
        boost(CPU, table, y, n_rounds, Request(criterion), limits, DECADES, anew) for anew in (False, True)
    )
    assert_same(derived, rebuilt, 1e-11)
    assert np.ptp(np.log10(derived[1][derived[1] > 0])) > 12


def test_derived_sums_survive_a_separable_problem():
    """Where one leaf holds next to nothing of a class, what is left of a difference is mostly rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    y = X[:, 0] + 0.01 * X[:, 1] > 0.7
    table = Table(*X.shape, matrix=X)
    derived, rebuilt = (boost(CPU, table, y, 300, Request("z"), Limits(1), anew=anew) for anew in (False, True))
    assert_same(derived, rebuilt, 1e-11)


# Two copies of a feature, and one row of little weight that is elsewhere in the second: the two differ by about as
# much as derived sums may be wrong. A third feature, or a category of next to no weight, is there for company.
@pytest.mark.sample(3)
@pytest.mark.parametrize("criterion", ["error", "gini", "entropy", "z", "zbar", "cost_loss", "cost_step"])
@sized("n_seeds", 12, 25)
def test_features_that_are_nearly_alike_are_told_apart_as_by_fresh_sums(criterion, n_seeds):
    chosen = set()
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        n, nominal = int(rng.integers(150, 400)), [seed % 3 == 0] * 2 + [False]
        codes = rng.integers(0, 4, (3, n)).astype(np.uint8)
        codes[1] = codes[0]
        codes[1, :2] = (codes[0, :2] + 1) % 4
        if seed % 4 == 0:
            codes[:2, 2] = 4  # a category, or an end of the range, that only this row has
        labels = rng.random(n) < 0.2 + 0.15 * codes[0]
        weights = rng.random(n) + 0.1
        weights[:3] = 10.0 ** rng.uniform(-10, -6, 3)
        request = Request(criterion, ("learn", "abstain")[seed % 2], costs=(1.0, 3.0), delta=0.0)
        bins = bins_of([5, 5, 5], nominal)
        rows = opened_of_codes(CPU, codes, bins, labels, weights)
        fresh = opened_of_codes(CPU, codes, bins, labels)
        for _ in range(25):
            growth = rows.grow(request, Limits(1))
            fresh.put("now", rows.get(W))
            fresh.assign(itself, ("now",))
            assert_same_growth(fresh.grow(request, Limits(1)), growth, 1e-10)
            chosen.add(growth.partition.splits[0].feature)
            rows.reweight(growth.partition, np.exp(rng.normal(size=growth.sums.shape)))
    assert chosen == {0, 1, 2}


@pytest.mark.slow
def test_sums_do_not_drift_in_thousands_of_rounds():
    """Sums of every round against those over rows, whose weights are followed by hand; votes are shrunk and noisy."""
    rng = np.random.default_rng(0)
    n = 600
    codes = rng.integers(0, 20, (9, n)).astype(np.uint8)
    labels = rng.random(n) < 0.1 + 0.02 * codes[0]
    rows = opened_of_codes(CPU, codes, bins_of([20] * 9, [False] * 9), labels)
    w = np.full(n, 1 / n)
    for m in range(5000):
        growth = rows.grow(Request(("z", "gini")[m % 2]), Limits(1))
        (split,) = growth.partition.splits
        leaf = split.child[codes[split.feature]]
        direct = np.bincount(2 * leaf + labels, w, minlength=4).reshape(2, 2)
        np.testing.assert_allclose(growth.sums, direct, rtol=0, atol=1e-12)
        negative, positive = growth.sums.T
        votes = 0.05 * np.log((positive + 1 / n) / (negative + 1 / n)) + rng.normal(size=2) * 0.01
        factors = np.exp(np.outer(votes, [1.0, -1.0]))
        w *= factors[leaf, labels.astype(int)]
        assert rows.reweight(growth.partition, factors) == pytest.approx(w.sum(), rel=1e-12)
        w /= w.sum()
    np.testing.assert_allclose(rows.get(W), w, rtol=1e-10)
    np.testing.assert_allclose(rows.histogram().sum(axis=2), np.tile(np.bincount(labels, w)[:, None], 9), atol=1e-12)


# -------------------------------------------------------------------- partitions of all kinds, one after another


def grown_stump(rng, rows, request):
    return rows.grow(request, Limits(1)).partition


def grown_tree(rng, rows, request):
    return rows.grow(request, Limits(None, int(rng.integers(2, 9)))).partition


def equal_to_grown(rng, rows, request):
    """Not the object that was grown: the engine has to find its leaves."""
    partition = rows.grow(request, Limits(3)).partition
    return Partition(partition.splits, partition.links, partition.n_leaves)


def codes_of_one_feature(rng, rows, request):
    return look_up(int(rng.integers(rows.bins.n_features)), rng.integers(0, 5, 256))[0]


def codes_of_the_feature_of_a_stump(rng, rows, request):
    return look_up(grown_stump(rng, rows, request).splits[0].feature, rng.integers(0, 3, 256))[0]


def given_leaves(rng, rows, request):
    rows.put("leaf", rng.integers(0, 7, rows.n_rows))
    return Leaves("leaf", 7)


def all_rows(rng, rows, request):
    return Partition((), (), 1)


PARTITIONS = [
    grown_stump,
    grown_tree,
    equal_to_grown,
    codes_of_one_feature,
    codes_of_the_feature_of_a_stump,
    given_leaves,
    all_rows,
]
KINDS = {"two": TWO, "many": Classes(1, 4), "labels": Classes(3, 2)}


@pytest.mark.sample(3)
@each_missing
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@sized("n_seeds", 2, 6)
def test_weights_move_by_any_partitions_in_any_order(kind, missing, n_seeds):
    """After each of them: weights, sums, the histogram of all rows, and what is grown next."""
    request = Request("class_gini" if kind.n_classes > 2 else "z", missing)
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        n, nominal = int(rng.choice([20, 300, 2000])), rng.random(10) < 0.3
        codes = rng.integers(0, 12, (10, n)).astype(np.uint8)
        codes[rng.random(codes.shape) < 0.05] = 255
        labels = rng.integers(0, kind.n_classes, n if kind.n_labels == 1 else (n, kind.n_labels))
        sets = [
            opened_of_codes(engine, codes, bins_of([12] * 10, nominal), labels, None, kind)
            for engine in (REFERENCE, CPU)
        ]
        for _ in range(15):
            make, draws = PARTITIONS[rng.integers(len(PARTITIONS))], int(rng.integers(2**31))
            partitions = [make(np.random.default_rng(draws), rows, request) for rows in sets]
            sums, others = (rows.sums(partition) for rows, partition in zip(sets, partitions))
            np.testing.assert_allclose(sums, others, rtol=0, atol=1e-12)
            factors = np.exp(rng.normal(size=sums.shape) * rng.choice([0.01, 0.5]))
            slow, fast = (rows.reweight(partition, factors) for rows, partition in zip(sets, partitions))
            assert fast == pytest.approx(slow, rel=1e-12)
            slow, fast = (rows.get(W) for rows in sets)
            np.testing.assert_allclose(fast, slow, rtol=1e-10)
            if rng.random() < 0.3:
                slow, fast = (rows.histogram() for rows in sets)
                np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-12)
            if rng.random() < 0.1:
                for rows in sets:
                    rows.assign(np.sqrt, (W,))
        assert_same_growth(*(rows.grow(request, Limits(None, 6)) for rows in sets), 1e-11)
