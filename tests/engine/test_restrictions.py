"""Sampled columns, random thresholds, constraints and penalties: all engines grow the same restricted trees."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from engine.rounds import assert_same, mixed_table
from engine.tables import CPU, ENGINES, REFERENCE, bins_of, each_missing, opened
from skewboost.engine import choose
from skewboost.engine.binning import Bins, fit_bins
from skewboost.engine.boundary import LEFT, MISSING, RIGHT, Request
from skewboost.engine.partition import View
from skewboost.engine.restrictions import Interactions, Restrictions
from skewboost.engine.training_set import TWO, Classes, Limits, W
from support import sized

LIMITS = [Limits(1), Limits(None, 9), Limits(4)]
GROUPS = (frozenset({0, 1, 2}), frozenset({2, 3, 4, 5}), frozenset({1, 6, 7}))


def restricted(n_features, *, sampled=False, random=False, monotonic=None, **interactions):
    n_of_tree, n_of_node = (max(1, n_features - 2), max(1, n_features // 2)) if sampled else (n_features, n_features)
    return Restrictions(n_of_tree, n_of_node, random, monotonic, Interactions(**interactions))


def kinds_of(n_features, nominal, seed=0):
    """Restrictions of all kinds, alone and together."""
    rng = np.random.default_rng(seed)
    directions = tuple(int(d) * (not is_nominal) for d, is_nominal in zip(rng.integers(-1, 2, n_features), nominal))
    groups = tuple(frozenset(j for j in group if j < n_features) for group in GROUPS)
    return {
        "columns": restricted(n_features, sampled=True),
        "thresholds": restricted(n_features, random=True),
        "monotonic": restricted(n_features, monotonic=directions),
        "groups": restricted(n_features, groups=groups),
        "pairs": restricted(n_features, most=2, columns=tuple(j // 2 for j in range(n_features))),
        "all": restricted(n_features, sampled=True, random=True, monotonic=directions, groups=groups),
    }


KINDS = list(kinds_of(1, [False]))
each_kind = pytest.mark.parametrize("kind", KINDS)


def boost(engine, table, positive, bins, request, limits, restrictions, n_rounds):
    """Rounds of Real AdaBoost, or of least squares, on restricted trees; see `rounds.boost`."""
    n = len(positive)
    rows = engine.training_set(View(engine, table, bins), positive.astype(np.uint8), TWO, None)
    rounds = []
    for key in range(n_rounds):
        if request.criterion == "squares":
            growth = rows.grow_responses("y", W, request, limits, restrictions, key)
            values = growth.sums[:, 1] / (growth.sums[:, 0] + request.delta)
        else:
            growth = rows.grow(request, limits, restrictions, key)
            values = 0.5 * np.log((growth.sums[:, 1] + 1 / n) / (growth.sums[:, 0] + 1 / n))
        values[growth.abstains] = 0.0
        splits = growth.partition.splits
        chosen = [(s.feature, s.threshold, s.polarity, s.child.tolist()) for s in splits], growth.partition.links
        rounds.append((chosen, values, growth.sums))
        rows.reweight(growth.partition, np.exp(np.outer(values, [1.0, -1.0])))
    return rounds, rows.get(W)


def ordered_bins(bins):
    """The same bins, with an order of the categories of the last column."""
    return Bins((*bins.features[:-1], replace(bins.features[-1], ordered=True)))


@pytest.mark.sample(12)
@each_missing
@each_kind
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "z", "squares", "cost_loss"])
@sized("n_rounds", 4, 20)
def test_all_engines_grow_the_same_restricted_trees(criterion, limits, kind, missing, n_rounds):
    table, y = mixed_table(500)
    bins = ordered_bins(fit_bins(REFERENCE, table))
    request = Request(criterion, missing, costs=(1.0, 4.0), delta=0.01, min_weight=0.002)
    own = kinds_of(table.n_features, bins.nominal & ~bins.ordered)[kind]
    reference, *others = (boost(e, table, y, bins, request, limits, own, n_rounds) for e in ENGINES)
    for other in others:
        assert_same(reference, other, 1e-12)


@pytest.mark.sample(6)
@each_missing
@each_kind
@pytest.mark.parametrize("criterion", ["error", "zbar", "cost_step"])
@sized("n_rounds", 5, 25)
def test_all_engines_grow_the_same_restricted_stumps_of_forced_signs(criterion, kind, missing, n_rounds):
    table, y = mixed_table(500)
    bins = ordered_bins(fit_bins(REFERENCE, table))
    request = Request(criterion, missing, costs=(1.0, 4.0))
    own = kinds_of(table.n_features, bins.nominal & ~bins.ordered)[kind]
    reference, *others = (boost(e, table, y, bins, request, Limits(1), own, n_rounds) for e in ENGINES)
    for other in others:
        assert_same(reference, other, 1e-12)


@pytest.mark.sample(4)
@each_missing
@pytest.mark.parametrize("kind", ["columns", "thresholds", "groups", "pairs"])
@pytest.mark.parametrize("criterion", ["z", "class_error", "class_gini"])
def test_all_engines_grow_the_same_restricted_trees_of_many_classes(criterion, kind, missing):
    rng = np.random.default_rng(3)
    n, n_bins, nominal = 300, [40, 12, 5, 30, 6, 3, 20, 14], [False, True, True, False, False, True, False, True]
    codes = np.array([np.where(rng.random(n) < 0.1, MISSING, rng.integers(0, k, n)) for k in n_bins], dtype=np.uint8)
    labels = (codes[0] > 20) + (codes[1] % 3 == 1).astype(int)
    classes = Classes(1, 3)
    if criterion == "z":
        classes, labels = Classes(3, 2), np.eye(3, dtype=int)[labels]
    own = kinds_of(len(n_bins), nominal)[kind]
    bins = bins_of(n_bins, nominal)
    for key in range(3):
        found = []
        for engine in ENGINES:
            rows = opened(engine, codes, bins, labels, classes=classes)
            growth = rows.grow(Request(criterion, missing, min_count=3.0), Limits(None, 8), own, key)
            splits = [(s.feature, s.threshold, s.child.tolist()) for s in growth.partition.splits]
            found.append((splits, growth.partition.links, growth.sums))
        for splits, links, sums in found[1:]:
            assert (splits, links) == found[0][:2]
            np.testing.assert_allclose(sums, found[0][2], rtol=0, atol=1e-12)


@each_kind
def test_threads_change_no_bit(kind):
    table, y = mixed_table(20_000)
    bins = fit_bins(CPU, table)
    own = kinds_of(table.n_features, bins.nominal)[kind]
    for limits in (Limits(1), Limits(None, 12)):
        one, two = (boost(choose("cpu", n), table, y, bins, Request("gini"), limits, own, 3) for n in (1, 2))
        assert one[0][-1][0] == two[0][-1][0]
        assert one[1].tobytes() == two[1].tobytes()


@pytest.mark.parametrize("several", [False, True], ids=["columns", "features of columns"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_number_of_columns_is_a_rule_for_all_groups_of_so_many(most, several):
    table, y = mixed_table(300)
    p = table.n_features
    columns = tuple(j // 2 if several else j for j in range(p))
    groups = [frozenset(j for j in range(p) if columns[j] in g) for g in combinations(set(columns), most)]
    rule = Interactions(most=most, columns=columns if several else ())
    for engine in ENGINES:
        bins = fit_bins(engine, table)
        a, b = (
            boost(engine, table, y, bins, Request("gini"), Limits(None, 12), Restrictions(p, p, interactions=own), 3)
            for own in (rule, Interactions(tuple(groups)))
        )
        assert a[1].tobytes() == b[1].tobytes()
        assert [own[0] for own in a[0]] == [own[0] for own in b[0]]


def test_a_random_threshold_lies_within_the_codes_of_the_node_and_depends_on_the_key():
    rng = np.random.default_rng(0)
    codes = rng.integers(50, 200, (3, 400)).astype(np.uint8)
    rows = opened(CPU, codes, bins_of([250] * 3, [False] * 3), rng.integers(0, 2, 400))
    own = restricted(3, random=True)
    splits = [rows.grow(Request("gini"), Limits(1), own, key).partition.splits[0] for key in range(60)]
    thresholds = {split.threshold for split in splits}
    assert len(thresholds) > 40  # of about 150 possible ones
    assert min(thresholds) >= 50
    assert max(thresholds) < 199
    for split in splits:
        assert (split.child[: split.threshold + 1] == LEFT).all()
        assert (split.child[split.threshold + 1 : MISSING] == RIGHT).all()


def test_every_column_is_drawn_equally_often():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 20, (6, 300)).astype(np.uint8)
    rows = opened(CPU, codes, bins_of([20] * 6, [False] * 6), rng.integers(0, 2, 300))
    own = Restrictions(n_of_tree=3, n_of_node=1)
    n = 1200
    chosen = [rows.grow(Request("gini"), Limits(1), own, key).partition.splits[0].feature for key in range(n)]
    counts = np.bincount(chosen, minlength=6)
    assert ((counts - n / 6) ** 2 / (n / 6)).sum() < 20.5  # chi-squared with 5 degrees of freedom, 1 in 1000


def test_least_squares_with_a_penalty_shrinks_the_gains():
    """By hand: leaves of Σw = 2 and Σwz = ±2, and λ = 1: each lowers the squares by 4/3; the root by nothing."""
    codes = np.array([[0, 0, 1, 1]], dtype=np.uint8)
    for engine in ENGINES:
        rows = opened(engine, codes, bins_of([2], [False]), [0, 0, 1, 1])
        rows.put("ones", 1.0)
        growth = rows.grow_responses("y", "ones", Request("squares", delta=1.0), Limits(1))
        split = growth.partition.splits[0]
        assert split.before == 0.0
        assert split.value == pytest.approx(-8 / 3)
        assert growth.importances[0][1] == pytest.approx(8 / 3)
