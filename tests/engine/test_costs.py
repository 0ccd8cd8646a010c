"""The criteria with costs: brute force, their limits, and both engines.

``cost_loss`` gives each leaf a step of its own, ``cost_step`` gives both sides of a split the same one.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from skewboost.engine import choose
from skewboost.engine.binning import Bins, Feature
from skewboost.engine.boundary import ABSTAIN, LEFT, LONGEST_STEP, MISSING, N_CODES, RIGHT, Request
from skewboost.engine.candidates import MAX_ENUMERATED, best_split
from skewboost.engine.cost_kernels import step
from skewboost.engine.losses import abstain_loss, leaf_loss, step_length, step_loss

REFERENCE = choose("reference", 1)
CPU = choose("cpu", 1)
ENGINES = [REFERENCE, CPU]
COSTS = [(1.0, 1.0), (1.0, 5.0), (20.0, 1.0), (1.0, 1e4), (1e4, 1.0), (1e-4, 1.0), (3e-3, 2e-3)]
NONE = np.zeros(2)


def make(seed, n_values=5, nominal=(False, True, False), missing=True, decades=4, empty=0.0):
    """A random histogram of the same rows in several features, and its bins."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60)) if n_values < 50 else 20 * n_values
    weights = 10.0 ** rng.uniform(-decades, 0, n)
    weights[rng.random(n) < empty] = 0.0
    weights[:2] = 1.0
    weights /= weights.sum()
    positive = rng.random(n) < rng.uniform(0.1, 0.6)
    positive[:2] = False, True
    h = np.zeros((2, 8, N_CODES))
    for j in range(len(nominal)):
        code = np.clip(rng.normal(0.4 + rng.normal() * 0.2 * positive, 0.3, n) * n_values, 0, n_values - 1).astype(int)
        if missing:
            code[rng.random(n) < 0.15] = MISSING
        np.add.at(h, (positive.astype(int), j, code), weights)
    names = tuple(f"{k:03}" for k in range(n_values))
    cuts = np.arange(n_values - 1) + 0.5
    features = [Feature(categories=names, n_bins=n_values) if c else Feature(cuts, n_bins=n_values) for c in nominal]
    return h, Bins(tuple(features))


def search(engine, h, bins, request, counts=None):
    if engine is CPU:
        return engine.search(h, counts, NONE, bins, request)
    return best_split(h[:, : bins.n_features], counts, bins, request)


def partitions(h, nominal, missing):
    """The sums (left, right, abstaining) of every split of one feature, in plain Python."""
    codes = [k for k in range(MISSING) if h[:, k].any()]
    lost = h[:, MISSING]
    if nominal:
        if missing == "learn" and lost.any():
            codes.append(MISSING)
        sets = [s for size in range(1, len(codes)) for s in itertools.combinations(codes, size)]
    else:
        sets = [codes[:k] for k in range(1, len(codes) + 1)]
    for chosen in sets:
        left = h[:, list(chosen)].sum(axis=1)
        right = h[:, [k for k in codes if k not in chosen]].sum(axis=1)
        if nominal:
            yield left, right, lost * (missing == "abstain")
        elif missing == "abstain":
            yield left, right, lost
        else:
            yield left + lost, right, 0 * lost
            yield left, right + lost, 0 * lost


def lowest_step(no, yes, costs):
    """The lowest J of one split, by SciPy."""
    longest = LONGEST_STEP / max(costs)

    def loss(share):
        e0, e1 = np.exp(np.multiply(costs, longest * share))
        return (e1 - 1 / e1) * no[1] + (no[1] + yes[1]) / e1 + (e0 - 1 / e0) * yes[0] + (no[0] + yes[0]) / e0

    inside = minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-11})
    return min(inside.fun, loss(0.0), loss(1.0))


def loss_of(a, b, request):
    """The loss of a leaf as the paper writes it."""
    (c0, c1), delta = request.costs, request.delta
    if a + b == 0 or (delta == 0 and a * b == 0):
        return 0.0
    g = np.log((b + delta) * c1 / ((a + delta) * c0)) / (c0 + c1)
    return b * np.exp(-c1 * g) + a * np.exp(c0 * g)


def value_of(left, right, lost, request):
    if request.criterion == "cost_loss":
        return loss_of(*left, request) + loss_of(*right, request) + lost.sum()
    return min(lowest_step(*sides, request.costs) for sides in ((left, right), (right, left))) + lost.sum()


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("costs", COSTS, ids=str)
@pytest.mark.parametrize("criterion", ["cost_loss", "cost_step"])
def test_no_split_is_better_than_the_one_found(criterion, costs, missing, engine):
    for seed in range(4):
        smoothed = criterion == "cost_loss" and seed % 2 == 1
        nominal = (False, False, False) if smoothed else (False, True, False)  # sorting by p is exact without δ only
        h, bins = make(seed, nominal=nominal)
        request = Request(criterion, missing, costs=costs, delta=0.03 if smoothed else 0.0)
        split = search(engine, h, bins, request)
        every = [p for j, c in enumerate(nominal) for p in partitions(h[:, j], c, missing)]
        lowest = min(value_of(*p, request) for p in every if p[0].sum() > 0 and p[1].sum() > 0)
        assert split.value == pytest.approx(lowest, abs=1e-12)
        sums = [h[:, split.feature, split.child == side].sum(axis=1) for side in (LEFT, RIGHT, ABSTAIN)]
        assert value_of(*sums, request) == pytest.approx(split.value, abs=1e-12)
        if criterion == "cost_step" and split.value < 1 - 1e-9:
            no, yes = sums[:2] if split.polarity > 0 else sums[1::-1]
            assert lowest_step(no, yes, costs) + sums[2].sum() == pytest.approx(split.value, abs=1e-12)


@pytest.mark.parametrize("criterion", ["cost_loss", "cost_step"])
@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("n_values", [2, 7, 14, 255])
def test_engines_choose_the_same_split(n_values, missing, criterion):
    """Including weights of zero and of next to nothing, empty bins, limits, and categories beyond enumeration."""
    for seed in range(40 if n_values < 255 else 12):
        rng = np.random.default_rng(seed)
        nominal = (False, seed % 2 == 0, False, n_values <= 14)
        h, bins = make(seed, n_values, nominal, seed % 3 > 0, 12 if seed % 4 == 0 else 2, empty=0.3)
        counts, limits = None, {}
        if seed % 5 == 0:
            counts = np.ceil(1e3 * h.sum(axis=0))[: bins.n_features]
            limits = {"min_count": float(rng.integers(1, 200)), "min_weight": float(rng.random() * 0.1)}
        costs = (10.0 ** rng.uniform(-2, 2), 10.0 ** rng.uniform(-2, 2))
        request = Request(criterion, missing, **limits, costs=costs, delta=float(rng.choice([0.0, 1e-3])))
        slow, fast = (search(e, h, bins, request, counts) for e in ENGINES)
        if slow is None:
            assert fast is None
            continue
        assert (slow.feature, slow.threshold, slow.polarity) == (fast.feature, fast.threshold, fast.polarity)
        np.testing.assert_array_equal(slow.child, fast.child)
        assert slow.value == pytest.approx(fast.value, abs=1e-12)
        assert slow.before == pytest.approx(fast.before, abs=1e-12)
        assert not fast.doubtful


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize("missing", ["learn", "abstain"])
def test_equal_costs_are_no_costs(missing, engine):
    """The choice of the error with J = 2√(e (1 - e)) and α = ½ ln((1 - e)/e), and Z."""
    for seed in range(30):
        h, bins = make(seed)
        plain, costly = (search(engine, h, bins, Request(c, missing)) for c in ("z", "cost_loss"))
        assert (plain.feature, plain.threshold) == (costly.feature, costly.threshold)
        assert costly.value == pytest.approx(plain.value, abs=1e-12)
        assert costly.before == pytest.approx(plain.before, abs=1e-12)
        if missing == "abstain":
            continue  # the error counts half of what abstains, J all of it
        plain, costly = (search(engine, h, bins, Request(c, missing)) for c in ("error", "cost_step"))
        assert (plain.feature, plain.threshold, plain.polarity) == (costly.feature, costly.threshold, costly.polarity)
        error = plain.value
        assert costly.value == pytest.approx(2 * np.sqrt(error * (1 - error)), abs=1e-12)
        left, right = (h[:, costly.feature, costly.child == side].sum(axis=1) for side in (LEFT, RIGHT))
        no, yes = (left, right) if costly.polarity > 0 else (right, left)
        assert step_length(no, yes, (1.0, 1.0)) == pytest.approx(0.5 * np.log((1 - error) / error), abs=1e-12)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize("criterion", ["cost_loss", "cost_step"])
def test_only_the_ratio_of_costs_matters(criterion, engine):
    for seed in range(10):
        h, bins = make(seed)
        one, other = (search(engine, h, bins, Request(criterion, costs=(k, 7 * k), delta=1e-3)) for k in (1.0, 300.0))
        np.testing.assert_array_equal(one.child, other.child)
        assert (one.feature, one.polarity) == (other.feature, other.polarity)
        assert one.value == pytest.approx(other.value, abs=1e-12)


def test_one_step_is_never_better_than_one_for_each_side():
    for seed in range(10):
        h, bins = make(seed)
        for costs in COSTS:
            free, forced = (search(CPU, h, bins, Request(c, costs=costs)) for c in ("cost_loss", "cost_step"))
            assert free.value <= forced.value + 1e-12
            assert forced.value <= forced.before == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_a_step_without_mistakes_is_bounded(costs, engine):
    h = np.zeros((2, 8, N_CODES))
    h[0, 0, 0], h[1, 0, 1] = 0.7, 0.3
    split = search(engine, h, Bins((Feature(cuts=np.array([0.5]), n_bins=2),)), Request("cost_step", costs=costs))
    alpha = LONGEST_STEP / max(costs)
    assert step_length(np.array([0.7, 0.0]), np.array([0.0, 0.3]), costs) == pytest.approx(alpha)
    assert split.value == pytest.approx(0.7 * np.exp(-costs[0] * alpha) + 0.3 * np.exp(-costs[1] * alpha), abs=1e-12)
    assert split.polarity == 1


def test_what_no_vote_and_no_weight_add():
    for criterion in ("cost_loss", "cost_step"):
        assert leaf_loss(criterion, np.array(0.0), np.array(0.0), 1, (1.0, 5.0), 0.1) == 0.0
        assert abstain_loss(criterion, np.array(0.2), np.array(0.3)) == 0.5
    assert leaf_loss("cost_step", np.array(0.2), np.array(0.3), 1, (1.0, 5.0)) == 0.5
    tiny = leaf_loss("cost_loss", np.array(5e-324), np.array(1.0), 1, (1e4, 1.0))  # e^(C- g) alone would overflow
    assert np.isfinite(tiny)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_weights_of_next_to_nothing_overflow_nothing(engine):
    h = np.zeros((2, 8, N_CODES))
    h[0, 0, :4], h[1, 0, :4] = [5e-324, 0.3, 1e-300, 0.0], [0.4, 1e-310, 5e-324, 0.3]
    bins = Bins((Feature(cuts=np.arange(3.0), n_bins=4),))
    for criterion, costs in itertools.product(("cost_loss", "cost_step"), COSTS):
        slow, fast = (search(e, h, bins, Request(criterion, costs=costs)) for e in (REFERENCE, engine))
        assert np.isfinite(fast.value)
        assert fast.value == pytest.approx(slow.value, abs=1e-12)


def test_the_lowest_loss_of_a_split_whatever_its_weights():
    """The kernel's iteration against the reference's, from anywhere, over twelve decades of weights."""
    rng = np.random.default_rng(0)
    n = 3000
    no, yes = 10.0 ** rng.uniform(-12, 0, (2, 2, n)) * (rng.random((2, 2, n)) < 0.9)
    for costs in COSTS:
        slow = step_loss(no, yes, costs, step_length(no, yes, costs))
        c0, c1 = np.array(costs) / max(costs)
        starts = rng.choice([0.0, 0.3, 5.0, LONGEST_STEP], n)
        fast = [step(yes[0, k], no[1, k], no[0, k], yes[1, k], c0, c1, starts[k], np.inf)[0] for k in range(n)]
        np.testing.assert_allclose(fast, slow, rtol=1e-13, atol=0)
        for k in range(0, n, 100):
            assert slow[k] == pytest.approx(lowest_step(no[:, k], yes[:, k], costs), abs=1e-12)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_ties_go_to_the_lowest_feature_threshold_and_to_polarity_plus(engine):
    h = np.zeros((2, 8, N_CODES))
    h[0, :3, :4] = [0.3, 0.0, 0.2, 0.1]
    h[1, :3, :4] = [0.1, 0.0, 0.2, 0.1]
    h[:, 1] *= 1 - 1e-13
    h[:, 2] *= 1 - 3e-13
    bins = Bins((Feature(cuts=np.arange(3.0), n_bins=4),) * 3)
    for criterion in ("cost_loss", "cost_step"):
        split = search(engine, h, bins, Request(criterion, costs=(1.0, 2.0)))
        assert (split.feature, split.threshold) == (0, 0)
    h[0, :, :4] = h[1, :, :4] = [0.1, 0.2, 0.1, 0.1]  # nothing to be gained with equal costs
    split = search(engine, h, bins, Request("cost_step"))
    assert (split.feature, split.threshold, split.polarity) == (0, 0, 1)
    assert split.value == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_categories_are_enumerated_as_for_the_error(engine):
    """Up to ten of them every subset is tried, above that the order of p is followed."""
    found = []
    for m in (MAX_ENUMERATED, MAX_ENUMERATED + 1):
        rng = np.random.default_rng(m)
        h = np.zeros((2, 8, N_CODES))
        h[:, 0, :m] = rng.random((2, m)) / m
        bins = Bins((Feature(categories=tuple("abcdefghijk"[:m]), n_bins=m),))
        request = Request("cost_step", costs=(1.0, 30.0))
        split = search(engine, h, bins, request)
        share = h[1, 0, :m] / h[:, 0, :m].sum(axis=0)
        prefixes = [(h[:, 0, :m][:, share <= t].sum(axis=1), h[:, 0, :m][:, share > t].sum(axis=1)) for t in share]
        along = min(value_of(a, b, np.zeros(2), request) for a, b in prefixes if b.sum() > 0)
        assert split.value <= along + 1e-12
        found.append(split.value == pytest.approx(along, abs=1e-12))
    assert found[1]


@pytest.mark.parametrize("criterion", ["cost_loss", "cost_step"])
def test_a_derived_histogram_that_cannot_decide_says_so(criterion):
    h = np.zeros((2, 8, N_CODES))
    h[0, :2, :2], h[1, :2, :2] = [0.3, 0.2], [0.1, 0.4]
    h[1, 1, 0] -= 1e-9  # feature 1 is better by about 1e-9
    bins = Bins((Feature(cuts=np.array([0.5]), n_bins=2),) * 2)
    request = Request(criterion, costs=(1.0, 5.0))
    assert CPU.search(h, None, np.full(2, 1e-13), bins, request).feature == 1
    assert not CPU.search(h, None, np.full(2, 1e-13), bins, request).doubtful
    assert CPU.search(h, None, np.full(2, 1e-9), bins, request).doubtful


@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("costs", [(1.0, 5.0), (200.0, 1.0)], ids=str)
@pytest.mark.parametrize("criterion", ["cost_loss", "cost_step", "z"])
def test_a_choice_that_is_not_doubtful_stands_whatever_the_errors(criterion, costs, missing):
    """Errors up to the bounds, in any bin, do not change a split that was given without a doubt.

    Two features nearly alike: the first is worse by about as much as makes them equal.
    """
    decided, doubtful = 0, 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        h, bins = make(seed, 3, (False, False), decades=3)
        request = Request(criterion, missing, costs=costs, delta=float(seed % 2) * 1e-3)
        h[:, 1] = h[:, 0]
        amount = 10.0 ** rng.uniform(-11.5, -9) * rng.choice([-1, 1])
        k = int(rng.integers(2))
        if not ((h[k, 0, :3] > 1e-8).all() and (h[k, 0, MISSING] == 0 or h[k, 0, MISSING] > 1e-8)):
            continue
        h[k, 1, :3] += amount * np.array([1.0, -1.0, 0.0])[rng.permutation(3)]
        error = 10.0 ** rng.uniform(-13, -10.5)
        split = CPU.search(h, None, np.full(2, error), bins, request)
        if split.doubtful:
            doubtful += 1
            continue
        decided += 1
        for _ in range(30):
            noise = rng.normal(size=h.shape) ** 3 * (h > 0)
            noise *= error / np.maximum(np.abs(noise).sum(axis=2, keepdims=True), 1e-300)
            other = CPU.search(np.maximum(h + noise, 0.0), None, NONE, bins, request)
            assert (other.feature, other.threshold, other.polarity) == (split.feature, split.threshold, split.polarity)
    assert decided > 20
    assert doubtful > 5
