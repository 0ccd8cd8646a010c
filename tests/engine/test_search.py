"""The best split: exhaustive search is the law, and the engines agree with it and with each other."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from skewboost.engine import choose
from skewboost.engine.binning import Bins, Feature
from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, N_CODES, RIGHT, Request
from skewboost.engine.candidates import best_split
from skewboost.engine.losses import leaf_loss
from skewboost.engine.reference_set import histogram

REFERENCE = choose("reference", 1)
CPU = choose("cpu", 1)
ENGINES = [REFERENCE, CPU]
CRITERIA = ["error", "gini", "entropy", "z", "zbar"]
NONE = np.zeros(2)


def make(seed, n=60, n_values=5, nominal=(False, True, False, True), missing=0.1, flat=False):
    """Codes with missing cells, labels, weights over several decades, and their histogram."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_values, size=(len(nominal), n)).astype(np.uint8)
    codes[rng.random(codes.shape) < missing] = MISSING
    y = np.where(rng.random(n) < 0.35, 1, -1)
    w = np.ones(n) if flat else 10.0 ** rng.uniform(-4, 0, n)
    w /= w.sum()
    features = tuple(
        Feature(categories=tuple("abcdefghijklmnop"[:n_values]), n_bins=n_values)
        if is_nominal
        else Feature(cuts=np.arange(n_values - 1) + 0.5, n_bins=n_values)
        for is_nominal in nominal
    )
    planes = [histogram(codes, np.flatnonzero(y == s), w[y == s]) for s in (-1, 1)]
    columns = [[None if c == MISSING else int(c) for c in row] for row in codes]
    return codes, y, w, Bins(features), planes, columns


def padded(planes):
    """The CPU engine's histograms come in blocks of eight features."""
    out = np.zeros((2, 8, N_CODES))
    out[:, : len(planes[0])] = planes
    return out


def search(engine, planes, bins, request, counts=None):
    if engine is CPU:
        return engine.search(padded(planes), counts, NONE, bins, request)
    return best_split(np.array(planes), counts, bins, request)


def value_of(split, planes, request):
    """The criterion of a split, from its children's sums."""
    sums = [np.array([h[split.feature][split.child == side].sum() for h in planes]) for side in (LEFT, RIGHT, ABSTAIN)]
    half = sums[2].sum() / 2
    return min(
        leaf_loss(request.criterion, *sums[0], -s) + leaf_loss(request.criterion, *sums[1], s)
        for s in ([split.polarity] if split.polarity else [1, -1])
    ) + leaf_loss(request.criterion, half, half, 1)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_split_is_better_than_the_one_found(criterion, missing, engine):
    request = Request(criterion, missing)
    for seed in range(12):
        _, y, w, bins, planes, columns = make(seed)
        split = search(engine, planes, bins, request)
        best = naive.best_value(columns, bins.nominal, missing, criterion, y, w)
        assert split.value == pytest.approx(best, abs=1e-12)
        assert value_of(split, planes, request) == pytest.approx(split.value, abs=1e-12)


@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("criterion", [*CRITERIA, "majority", "squares"])
def test_engines_choose_the_same_split(criterion, missing):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n_values = int(rng.integers(2, 14))
        _, _, _, bins, planes, _ = make(seed, n=int(rng.integers(4, 200)), n_values=n_values, flat=seed % 2 == 0)
        if criterion == "squares":
            planes = [planes[0] + planes[1], planes[1] - planes[0]]
        counts = None
        limits = {}
        if seed % 3 == 0:
            counts = np.array(np.round(1e3 * (np.abs(planes[0]) + np.abs(planes[1]))))
            limits = {"min_count": float(rng.integers(1, 200)), "min_weight": float(rng.random() * 0.1)}
        request = Request(criterion, missing, **limits)
        slow, fast = (search(e, planes, bins, request, counts) for e in ENGINES)
        if slow is None:
            assert fast is None
            continue
        assert (slow.feature, slow.threshold, slow.polarity) == (fast.feature, fast.threshold, fast.polarity)
        np.testing.assert_array_equal(slow.child, fast.child)
        assert slow.value == pytest.approx(fast.value, abs=1e-12)
        assert slow.before == pytest.approx(fast.before, abs=1e-12)
        assert not fast.doubtful


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_ties_go_to_the_lowest_feature_then_threshold_whatever_the_rounding(engine):
    """Three copies of a feature, sums perturbed by less than a tie: the first copy and its first best cut win."""
    h = np.zeros((2, 3, N_CODES))
    h[0, :, :4] = [0.3, 0.0, 0.2, 0.1]
    h[1, :, :4] = [0.1, 0.0, 0.2, 0.1]
    h[:, 1] *= 1 - 1e-13
    h[:, 2] *= 1 - 3e-13
    bins = Bins((Feature(cuts=np.arange(3.0), n_bins=4),) * 3)
    split = search(engine, h, bins, Request("z"))
    assert (split.feature, split.threshold) == (0, 0)
    symmetric = np.zeros((2, 1, N_CODES))
    symmetric[0, 0, :3] = [0.25, 0.0, 0.25]
    symmetric[1, 0, :3] = [0.0, 0.5, 0.0]
    split = search(engine, symmetric, Bins((Feature(cuts=np.arange(2.0), n_bins=3),)), Request("gini"))
    assert split.threshold == 0


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_limits_are_kept(engine):
    for seed in range(20):
        codes, _, w, bins, planes, _ = make(seed, n=80, nominal=(False, False, True))
        counts = histogram(codes, np.arange(80), np.ones(80))
        split = search(engine, planes, bins, Request("gini", "learn", min_count=30, min_weight=0.2), counts)
        if split is None:
            continue
        child = split.child[codes[split.feature]]
        for side in (LEFT, RIGHT):
            assert (child == side).sum() >= 30
            assert w[child == side].sum() >= 0.2 - 1e-12


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_where_missing_goes(engine):
    h = np.zeros((2, 1, N_CODES))
    h[0, 0, :2], h[1, 0, :2] = [0.4, 0.05], [0.05, 0.2]
    bins = Bins((Feature(cuts=np.array([0.5]), n_bins=2),))
    assert search(engine, h, bins, Request("z", "learn")).child[MISSING] == LEFT  # nothing to learn: the heavier side
    h[1, 0, MISSING] = 0.3
    assert search(engine, h, bins, Request("z", "learn")).child[MISSING] == RIGHT  # with the other positives
    assert search(engine, h, bins, Request("z", "abstain")).child[MISSING] == ABSTAIN
    only = np.zeros((2, 1, N_CODES))
    only[0, 0, 0], only[1, 0, MISSING] = 0.5, 0.5
    split = search(engine, only, Bins((Feature(),)), Request("z", "learn"))
    assert split.value == 0.0  # that a value is missing can be all there is to know
    assert search(engine, only, Bins((Feature(),)), Request("z", "abstain")) is None


def test_a_derived_histogram_that_cannot_decide_says_so():
    """Two candidates closer than the error bound are doubtful; with a smaller bound they are not."""
    h = np.zeros((2, 8, N_CODES))
    h[0, :2, :2], h[1, :2, :2] = [0.3, 0.2], [0.1, 0.4]
    h[1, 1, 0] -= 1e-9  # feature 1 is better by about 1e-9
    bins = Bins((Feature(cuts=np.array([0.5]), n_bins=2),) * 2)
    assert CPU.search(h, None, np.full(2, 1e-12), bins, Request("z")).feature == 1
    assert not CPU.search(h, None, np.full(2, 1e-12), bins, Request("z")).doubtful
    assert CPU.search(h, None, np.full(2, 1e-9), bins, Request("z")).doubtful
    h[:, 1] = h[:, 0] * (1 - 1e-12)
    h[0, 0, MISSING] = 1e-13  # a missing value of next to no weight, or none at all?
    assert CPU.search(h, None, np.full(2, 1e-12), bins, Request("z")).doubtful
    assert not CPU.search(h, None, np.full(2, 1e-14), bins, Request("z")).doubtful


@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("criterion", ["class_error", "class_gini"])
def test_the_best_split_of_many_classes_is_found_by_both_engines(criterion, missing):
    """By its definition, over all thresholds: W - Σ_leaves max_l W_l, or Σ W_l (1 - W_l/W); with limits too."""

    def impurity(sums):
        total = sums.sum()
        if criterion == "class_error" or total == 0:
            return total - sums.max()
        return total - (sums**2).sum() / total

    for seed in range(20):
        codes, _, w, bins, _, _ = make(seed, nominal=(False, False, False), flat=seed % 3 == 0)
        classes = np.random.default_rng(seed).integers(0, 3 + seed % 3, len(w))
        K = classes.max() + 1
        planes = np.array([histogram(codes, np.flatnonzero(classes == k), w[classes == k]) for k in range(K)])
        wide = np.zeros((K, 8, N_CODES))
        wide[:, :3] = planes
        least = 0.2 if seed % 2 else 0.0
        request = Request(criterion, missing, min_weight=least)
        a = best_split(planes, None, bins, request)
        b = CPU.search(wide, None, np.zeros(K), bins, request)
        found = []
        for h in planes.transpose(1, 0, 2):
            for t in range(5):
                for side in (0, 1):
                    left, right = h[:, : t + 1].sum(axis=1), h[:, t + 1 : MISSING].sum(axis=1)
                    rest = h[:, MISSING].sum() / 2 if missing == "abstain" else 0.0
                    if missing == "learn":
                        left, right = (left + h[:, MISSING], right) if side == 0 else (left, right + h[:, MISSING])
                    if min(left.sum(), right.sum()) > max(least - 1e-12, 0.0):
                        found.append(impurity(left) + impurity(right) + rest)
        assert a.value == pytest.approx(min(found), abs=1e-12)
        assert (a.feature, a.threshold) == (b.feature, b.threshold)
        assert a.value == pytest.approx(b.value, abs=1e-12)
        assert a.before == pytest.approx(b.before, abs=1e-12)
        np.testing.assert_array_equal(a.child, b.child)
