"""The best split: exhaustive search is the law, and the engines agree with it and with each other."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from engine.tables import (
    ENGINES,
    assert_same_split,
    best_split,
    best_split_of_responses,
    bins_of,
    each_engine,
    each_missing,
    one_feature,
    opened,
    sums_of,
)
from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, RIGHT, ZBAR_PRINTED, Request
from skewboost.engine.growing import grow_by_histogram
from skewboost.engine.losses import leaf_loss
from skewboost.engine.training_set import Classes

CRITERIA = ["error", "gini", "entropy", "z", "zbar"]


def make(seed, n=60, n_values=5, nominal=(False, True, False, True), missing=0.1, flat=False):
    """Codes with missing cells, labels, weights over several decades, and bins."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_values, size=(len(nominal), n)).astype(np.uint8)
    codes[rng.random(codes.shape) < missing] = MISSING
    labels = (rng.random(n) < 0.35).astype(np.uint8)
    w = np.ones(n) if flat else 10.0 ** rng.uniform(-4, 0, n)
    w /= w.sum()
    return codes, labels, w, bins_of([n_values] * len(nominal), nominal)


def value_of(split, h, request):
    """The criterion of a split, from its children's sums."""
    sums = [h[:, split.feature, split.child == side].sum(axis=1) for side in (LEFT, RIGHT, ABSTAIN)]
    half = sums[2].sum() / 2
    return min(
        leaf_loss(request.criterion, *sums[0], -s) + leaf_loss(request.criterion, *sums[1], s)
        for s in ([split.polarity] if split.polarity else [1, -1])
    ) + leaf_loss(request.criterion, half, half, 1)


@pytest.mark.sample(5)
@each_engine
@each_missing
@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_split_is_better_than_the_one_found(criterion, missing, engine):
    request = Request(criterion, missing)
    for seed in range(12):
        codes, labels, w, bins = make(seed)
        split = best_split(opened(engine, codes, bins, labels, w), request)
        columns = [[None if c == MISSING else int(c) for c in row] for row in codes]
        best = naive.best_value(columns, bins.nominal, missing, criterion, 2 * labels.astype(int) - 1, w)
        assert split.value == pytest.approx(best, abs=1e-12)
        assert value_of(split, sums_of(codes, labels, w), request) == pytest.approx(split.value, abs=1e-12)


@each_engine
@each_missing
def test_no_split_has_a_lower_zbar_as_it_is_printed(missing, engine):
    """The search in NumPy, from the histogram of the weights."""
    for seed in range(20):
        codes, labels, w, bins = make(seed)
        columns = [[None if c == MISSING else int(c) for c in row] for row in codes]
        best = naive.best_value(columns, bins.nominal, missing, ZBAR_PRINTED, 2 * labels.astype(int) - 1, w)
        rows = opened(engine, codes, bins, labels, w)
        growth = grow_by_histogram(rows, Request(ZBAR_PRINTED, missing))
        if not growth.partition.splits:
            assert best == np.inf  # both ways to put the signs oppose a pure side, in every split
            continue
        (split,) = growth.partition.splits
        assert split.value == pytest.approx(best, abs=1e-12)
        request = Request(ZBAR_PRINTED, missing)
        assert value_of(split, sums_of(codes, labels, w), request) == pytest.approx(best, abs=1e-12)
        assert growth.sums.sum() == pytest.approx(1.0)


@pytest.mark.sample(3)
@each_missing
@pytest.mark.parametrize("criterion", [*CRITERIA, "majority", "squares"])
def test_engines_choose_the_same_split(criterion, missing):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, n_values = int(rng.integers(4, 200)), int(rng.integers(2, 14))
        codes, labels, w, bins = make(seed, n, n_values, flat=seed % 2 == 0)
        examples, limits = None, {}
        if seed % 3 == 0:
            examples = rng.integers(1, 4, n).astype(float)
            limits = {"min_count": float(rng.integers(1, n)), "min_weight": float(rng.random() * 0.1)}
        request = Request(criterion, missing, **limits)
        found = []
        for engine in ENGINES:
            rows = opened(engine, codes, bins, labels, w, examples=examples)
            if criterion == "squares":
                found.append(best_split_of_responses(rows, 2.0 * labels - 1.0, w, request))
            else:
                found.append(best_split(rows, request))
        for other in found[1:]:
            assert_same_split(found[0], other)


@each_engine
def test_ties_go_to_the_lowest_feature_then_threshold_whatever_the_rounding(engine):
    """Copies of a feature, of which the later ones are better by less than a tie: the first and its first cut win."""
    h = np.array([[0.3, 0.0, 0.2, 0.1], [0.1, 0.0, 0.2, 0.1]])
    (first,), labels, weights = one_feature(h, range(4))
    for better_by, feature in ((1e-13, 0), (1e-11, 0), (1e-8, 2)):
        # two more negatives: they help to tell the classes apart where they have code 0
        codes = np.array([[*first, 3, 3], [*first, 0, 3], [*first, 0, 0]], dtype=np.uint8)
        rows = opened(engine, codes, bins_of([4] * 3, [False] * 3), [*labels, 0, 0], [*weights, better_by, better_by])
        split = best_split(rows, Request("z"))
        assert (split.feature, split.threshold) == (feature, 0)
    codes, labels, weights = one_feature([[0.25, 0.0, 0.25], [0.0, 0.5, 0.0]], range(3))
    assert best_split(opened(engine, codes, bins_of([3], [False]), labels, weights), Request("gini")).threshold == 0


@each_engine
def test_limits_are_kept(engine):
    kept = 0
    for seed in range(20):
        codes, labels, w, bins = make(seed, n=80, nominal=(False, False, True))
        rows = opened(engine, codes, bins, labels, w)
        split = best_split(rows, Request("gini", "learn", min_count=30, min_weight=0.2))
        if split is None:
            continue
        kept += 1
        child = split.child[codes[split.feature]]
        for side in (LEFT, RIGHT):
            assert (child == side).sum() >= 30
            assert w[child == side].sum() >= 0.2 - 1e-12
    assert kept > 10


@each_engine
def test_a_limit_does_not_fail_by_the_rounding_of_sums(engine):
    """Ten weights of a tenth: no order of adding up five of them may come to less than a half."""
    codes, labels = np.repeat([0, 1], 5)[None].astype(np.uint8), np.tile([0, 0, 0, 1, 0], 2)
    rows = opened(engine, codes, bins_of([2], [False]), labels, np.full(10, 0.1), examples=np.full(10, 0.1))
    assert best_split(rows, Request("z", min_weight=0.5, min_count=0.5)) is not None
    assert best_split(rows, Request("z", min_weight=0.5 + 1e-6)) is None
    assert best_split(rows, Request("z", min_count=0.5 + 1e-6)) is None


@each_engine
def test_where_missing_goes(engine):
    def search(h, codes, n_bins, missing):
        codes, labels, weights = one_feature(h, codes)
        return best_split(opened(engine, codes, bins_of([n_bins], [False]), labels, weights), Request("z", missing))

    heavy_left = [[0.4, 0.05], [0.05, 0.2]]
    assert search(heavy_left, [0, 1], 2, "learn").child[MISSING] == LEFT  # nothing to learn: the heavier side
    more = [[0.4, 0.05, 0.0], [0.05, 0.2, 0.3]]
    assert search(more, [0, 1, MISSING], 2, "learn").child[MISSING] == RIGHT  # with the other positives
    assert search(more, [0, 1, MISSING], 2, "abstain").child[MISSING] == ABSTAIN
    only = [[0.5, 0.0], [0.0, 0.5]]
    assert search(only, [0, MISSING], 1, "learn").value == 0.0  # that a value is missing can be all there is to know
    assert search(only, [0, MISSING], 1, "abstain") is None


@each_missing
@pytest.mark.parametrize("criterion", ["class_error", "class_gini"])
def test_the_best_split_of_many_classes_is_found_by_all_engines(criterion, missing):
    """By its definition, over all thresholds: W - Σ_leaves max_l W_l, or Σ W_l (1 - W_l/W); with limits too."""

    def impurity(sums):
        total = sums.sum()
        if criterion == "class_error" or total == 0:
            return total - sums.max()
        return total - (sums**2).sum() / total

    for seed in range(20):
        codes, _, w, bins = make(seed, nominal=(False, False, False), flat=seed % 3 == 0)
        classes = np.random.default_rng(seed).integers(0, 3 + seed % 3, len(w))
        K = int(classes.max()) + 1
        least = 0.2 if seed % 2 else 0.0
        request = Request(criterion, missing, min_weight=least)
        first, *others = (
            best_split(opened(engine, codes, bins, classes, w, Classes(1, K)), request) for engine in ENGINES
        )
        found = []
        for h in sums_of(codes, classes, w, K).transpose(1, 0, 2):
            for t in range(5):
                for side in (0, 1):
                    left, right = h[:, : t + 1].sum(axis=1), h[:, t + 1 : MISSING].sum(axis=1)
                    rest = h[:, MISSING].sum() / 2 if missing == "abstain" else 0.0
                    if missing == "learn":
                        left, right = (left + h[:, MISSING], right) if side == 0 else (left, right + h[:, MISSING])
                    if min(left.sum(), right.sum()) > max(least - 1e-12, 0.0):
                        found.append(impurity(left) + impurity(right) + rest)
        assert first.value == pytest.approx(min(found), abs=1e-12)
        for other in others:
            assert_same_split(first, other)
