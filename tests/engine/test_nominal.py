"""The best partition of categories: sorting by p finds what trying all partitions finds, and what it does where not."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from engine.tables import (
    ENGINES,
    best_split,
    best_split_of_responses,
    bins_of,
    each_engine,
    each_missing,
    one_feature,
    opened,
)
from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, RIGHT, Request

CONCAVE = ["gini", "entropy", "z", "squares"]
FORCED = ["error", "zbar"]
TIE = 1e-10  # a share of the weight


def leaf(criterion, a, b, sign=1):
    if criterion == "squares":
        return -b * b / a if a > 0 else 0.0
    return naive.leaf_loss(criterion, a, b, sign)


def abstaining(criterion, a, b):
    return 0.0 if criterion == "squares" else leaf(criterion, (a + b) / 2, (a + b) / 2)


def loss(criterion, left, right):
    """Of two sides, with the signs that suit them."""
    return min(leaf(criterion, *left, -s) + leaf(criterion, *right, s) for s in (1, -1))


def best_of_all_partitions(criterion, h):
    """h[plane, value]; the last value is always on the right, which leaves no partition out."""
    m = h.shape[1]
    masks = (np.arange(1, 2 ** (m - 1))[:, None] >> np.arange(m)) & 1
    return min(loss(criterion, left, right) for left, right in zip(masks @ h.T, (1 - masks) @ h.T))


def categories(criterion, kind, m, rng):
    """Class weights (or Σw, Σwz) of m categories."""
    if kind == "decades":
        h = 10.0 ** rng.uniform(-12, 0, (2, m))
    elif kind == "ties":  # few shares of positives, and equal ones of different weight
        p = rng.integers(0, 3, m) / 2
        h = rng.integers(1, 4, m) * np.array([1 - p, p])
    elif kind == "pure":  # shares of positives that no sum of p would tell from 0, and some that are 0
        w = rng.uniform(0.5, 1.0, m)
        h = np.array([w, w * 10.0 ** rng.uniform(-15, -12, m)])
        h[1, rng.random(m) < 0.2] = 0.0
    else:
        h = rng.random((2, m)) * (rng.random((2, m)) < 0.8) + [[0.01], [0.0]]
    if criterion == "squares":
        h[1] *= np.where(rng.random(m) < 0.5, -1.0, 1.0)
        h[0] += np.abs(h[1]) / 4
    return h / h.sum() if criterion != "squares" else h / h[0].sum()


def search(engine, h, codes, criterion, missing, bins=None):
    """The split of one feature whose codes have these sums; all other codes have none."""
    bins = bins or bins_of([255], [True])
    request = Request(criterion, missing)
    if criterion == "squares":
        w, wz = h
        rows = opened(engine, np.asarray(codes, dtype=np.uint8)[None], bins, np.zeros(len(w)))
        return best_split_of_responses(rows, wz / w, w, request)
    codes, labels, weights = one_feature(h, codes)
    split = best_split(opened(engine, codes, bins, labels, weights), request)
    split.value *= weights.sum()  # of weights that sum to one
    return split


def value_of(split, criterion, h, codes):
    sides = [h[:, split.child[codes] == side].sum(axis=1) for side in (LEFT, RIGHT, ABSTAIN)]
    return loss(criterion, sides[0], sides[1]) + abstaining(criterion, *sides[2])


def close(criterion, h, best):
    """Candidates within a tie of the best count as equally good."""
    return pytest.approx(best, rel=1e-12, abs=1.01 * TIE * (abs(best) if criterion == "squares" else h.sum()))


@pytest.mark.sample(6)
@each_engine
@each_missing
@pytest.mark.parametrize("kind", ["plain", "decades", "ties", "pure"])
@pytest.mark.parametrize("criterion", CONCAVE + FORCED)
def test_no_partition_of_up_to_ten_values_is_better(criterion, kind, missing, engine):
    """With missing="learn" what is missing is one of the values; a category without weight is none."""
    for m in range(2, 11):
        rng = np.random.default_rng(m)
        h = categories(criterion, kind, m, rng)
        codes = np.sort(rng.choice(255, m, replace=False))
        if missing == "learn":
            codes[-1] = MISSING
            best = best_of_all_partitions(criterion, h)
        else:
            codes = np.append(codes, MISSING)
            h = np.column_stack((h, [0.1, 0.2]))
            best = best_of_all_partitions(criterion, h[:, :-1]) + abstaining(criterion, 0.1, 0.2)
        split = search(engine, h, codes, criterion, missing)
        assert split.value == close(criterion, h, best)
        assert value_of(split, criterion, h, codes) == pytest.approx(split.value, abs=1e-12)
        assert (split.child[MISSING] == ABSTAIN) == (missing == "abstain")
        unseen = np.setdiff1d(np.arange(255), codes)
        assert (split.child[unseen] == split.child[MISSING]).all()


@pytest.mark.sample(12)
@each_engine
@pytest.mark.parametrize("m", [11, 12, 40, 255])
@pytest.mark.parametrize("criterion", FORCED)
def test_above_ten_values_the_best_prefix_in_the_order_of_p_is_taken(criterion, m, engine):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        h = categories(criterion, "decades" if seed % 2 else "plain", m, rng)
        codes = np.sort(rng.choice(255, m, replace=False))
        order = sorted(range(m), key=lambda k: (h[1, k] / h[0, k], k) if h[0, k] > 0 else (np.inf, k))
        prefixes = [(h[:, order[:k]].sum(axis=1), h[:, order[k:]].sum(axis=1)) for k in range(1, m)]
        split = search(engine, h, codes, criterion, "learn")
        assert split.value == close(criterion, h, min(loss(criterion, *sides) for sides in prefixes))
        assert value_of(split, criterion, h, codes) == pytest.approx(split.value, abs=1e-12)
        assert split.polarity in (1, -1)


@each_engine
def test_opposite_signs_need_not_be_a_prefix(engine):
    """Why few values are enumerated: all are mostly positive, and the lightest is the cheapest to call negative."""
    h = np.array([[0.10, 0.20, 0.001], [0.15, 0.50, 0.049]])
    codes = np.arange(3)
    split = search(engine, h, codes, "error", "learn")
    assert (split.child[codes] != split.child[2]).tolist() == [True, True, False]
    assert split.value == pytest.approx(0.10 + 0.20 + 0.049)
    by_p = min(loss("error", h[:, :k].sum(axis=1), h[:, k:].sum(axis=1)) for k in (1, 2))
    assert split.value <= by_p


@pytest.mark.parametrize("criterion", FORCED)
def test_engines_take_the_first_of_many_subsets_that_tie(criterion):
    """Categories that are all but balanced: hundreds of subsets lie within a few ties of each other."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(3, 11))
        spread = 1e-9 if criterion == "error" else 3e-5  # Z is off by its square
        h = np.full((2, m), 0.5 / m) * (1 + spread * rng.normal(size=(2, m)))
        slow, *others = (search(e, h, np.arange(m), criterion, "learn") for e in ENGINES)
        for other in others:
            np.testing.assert_array_equal(slow.child, other.child)


@pytest.mark.sample(9)
@each_engine
@pytest.mark.parametrize("criterion", [*CONCAVE, *FORCED])
def test_missing_numbers_go_to_the_better_side(criterion, engine):
    """Never worse than all left or all right, and as good as the best of both over all thresholds."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        h = categories(criterion, "decades" if seed % 2 else "plain", 7, rng)
        cuts = [(h[:, :k].sum(axis=1), h[:, k:6].sum(axis=1)) for k in range(1, 7)]
        lost = h[:, 6]
        to_left = min(loss(criterion, left + lost, right) for left, right in cuts[:-1])
        to_right = min(loss(criterion, left, right + lost) for left, right in cuts)  # the last splits off the missing
        without = min(loss(criterion, left, right) for left, right in cuts[:-1]) + abstaining(criterion, *lost)
        codes = [*range(6), MISSING]
        learn, abstain = (search(engine, h, codes, criterion, m, bins_of([6], [False])) for m in ("learn", "abstain"))
        assert learn.value == close(criterion, h, min(to_left, to_right))
        assert abstain.value == close(criterion, h, without)
        assert abstain.child[MISSING] == ABSTAIN
