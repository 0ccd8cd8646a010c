"""The criteria with costs: brute force, their limits, and all engines.

``cost_loss`` gives each leaf a step of its own, ``cost_step`` gives both sides of a split the same one.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from engine.tables import (
    CPU,
    ENGINES,
    REFERENCE,
    assert_same_split,
    best_split,
    bins_of,
    each_engine,
    each_missing,
    one_feature,
    opened,
    sums_of,
)
from skewboost.engine.boundary import ABSTAIN, LEFT, LONGEST_STEP, MISSING, RIGHT, Request
from skewboost.engine.losses import abstain_loss, leaf_loss, step_length, step_loss
from skewboost.engine.split_search import MAX_ENUMERATED
from support import sized

COSTS = [(1.0, 1.0), (1.0, 5.0), (20.0, 1.0), (1.0, 1e4), (1e4, 1.0), (1e-4, 1.0), (3e-3, 2e-3)]

each_criterion = pytest.mark.parametrize("criterion", ["cost_loss", "cost_step"])


def make(seed, n_values=5, nominal=(False, True, False), missing=True, decades=4, empty=0.0):
    """Random codes, bins, labels and weights, in the order in which `opened` takes them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60)) if n_values < 50 else 20 * n_values
    weights = 10.0 ** rng.uniform(-decades, 0, n)
    weights[rng.random(n) < empty] = 0.0
    weights[:2] = 1.0
    weights /= weights.sum()
    positive = rng.random(n) < rng.uniform(0.1, 0.6)
    positive[:2] = False, True
    codes = np.empty((len(nominal), n), dtype=np.uint8)
    for own in codes:
        own[:] = np.clip(rng.normal(0.4 + rng.normal() * 0.2 * positive, 0.3, n) * n_values, 0, n_values - 1)
        if missing:
            own[rng.random(n) < 0.15] = MISSING
    return codes, bins_of([n_values] * len(nominal), nominal), positive, weights


def search_of(engine, h, codes, request, nominal=False):
    """The best split of one feature with these sums ``[class, code]``."""
    codes, labels, weights = one_feature(np.asarray(h), codes)
    n_bins = int(codes[codes != MISSING].max()) + 1
    return best_split(opened(engine, codes, bins_of([n_bins], [nominal]), labels, weights), request)


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


@pytest.mark.sample(3)
@each_missing
@pytest.mark.parametrize("costs", COSTS, ids=str)
@each_criterion
def test_no_split_is_better_than_the_one_found(criterion, costs, missing):
    for seed in range(4):
        smoothed = criterion == "cost_loss" and seed % 2 == 1
        nominal = (False, False, False) if smoothed else (False, True, False)  # sorting by p is exact without δ only
        codes, bins, positive, weights = make(seed, nominal=nominal)
        h = sums_of(codes, positive, weights)
        request = Request(criterion, missing, costs=costs, delta=0.03 if smoothed else 0.0)
        every = [p for j, c in enumerate(nominal) for p in partitions(h[:, j], c, missing)]
        lowest = min(value_of(*p, request) for p in every if p[0].sum() > 0 and p[1].sum() > 0)
        for engine in ENGINES:
            split = best_split(opened(engine, codes, bins, positive, weights), request)
            assert split.value == pytest.approx(lowest, abs=1e-12), engine.name
            sums = [h[:, split.feature, split.child == side].sum(axis=1) for side in (LEFT, RIGHT, ABSTAIN)]
            assert value_of(*sums, request) == pytest.approx(split.value, abs=1e-12), engine.name
            if criterion == "cost_step" and split.value < 1 - 1e-9:
                no, yes = sums[:2] if split.polarity > 0 else sums[1::-1]
                assert lowest_step(no, yes, costs) + sums[2].sum() == pytest.approx(split.value, abs=1e-12)


@pytest.mark.sample(2)
@each_criterion
@each_missing
@pytest.mark.parametrize("n_values", [2, 7, 14, 255])
@sized("n_seeds", 10, 40)
def test_engines_choose_the_same_split(n_values, missing, criterion, n_seeds):
    """Including weights of zero and of next to nothing, empty bins, limits, and categories beyond enumeration."""
    for seed in range(n_seeds if n_values < 255 else n_seeds // 3):
        rng = np.random.default_rng(seed)
        nominal = (False, seed % 2 == 0, False, n_values <= 14)
        made = make(seed, n_values, nominal, seed % 3 > 0, 12 if seed % 4 == 0 else 2, empty=0.3)
        examples, limits = None, {}
        if seed % 5 == 0:
            examples = rng.integers(1, 20, len(made[2])).astype(float)
            limits = {"min_count": float(rng.integers(1, 200)), "min_weight": float(rng.random() * 0.1)}
        costs = (10.0 ** rng.uniform(-2, 2), 10.0 ** rng.uniform(-2, 2))
        request = Request(criterion, missing, **limits, costs=costs, delta=float(rng.choice([0.0, 1e-3])))
        slow, *others = (best_split(opened(e, *made, examples=examples), request) for e in ENGINES)
        for other in others:
            assert_same_split(slow, other)


@pytest.mark.sample(1)
@each_engine
@each_missing
def test_equal_costs_are_no_costs(missing, engine):
    """The choice of the error with J = 2√(e (1 - e)) and α = ½ ln((1 - e)/e), and Z."""
    for seed in range(30):
        made = make(seed)
        rows, h = opened(engine, *made), sums_of(made[0], *made[2:])
        plain, costly = (best_split(rows, Request(c, missing)) for c in ("z", "cost_loss"))
        assert (plain.feature, plain.threshold) == (costly.feature, costly.threshold)
        assert costly.value == pytest.approx(plain.value, abs=1e-12)
        assert costly.before == pytest.approx(plain.before, abs=1e-12)
        if missing == "abstain":
            continue  # the error counts half of what abstains, J all of it
        plain, costly = (best_split(rows, Request(c, missing)) for c in ("error", "cost_step"))
        assert (plain.feature, plain.threshold, plain.polarity) == (costly.feature, costly.threshold, costly.polarity)
        error = plain.value
        assert costly.value == pytest.approx(2 * np.sqrt(error * (1 - error)), abs=1e-12)
        left, right = (h[:, costly.feature, costly.child == side].sum(axis=1) for side in (LEFT, RIGHT))
        no, yes = (left, right) if costly.polarity > 0 else (right, left)
        assert step_length(no, yes, (1.0, 1.0)) == pytest.approx(0.5 * np.log((1 - error) / error), abs=1e-12)


@pytest.mark.sample(3)
@each_engine
@each_criterion
def test_only_the_ratio_of_costs_matters(criterion, engine):
    for seed in range(10):
        rows = opened(engine, *make(seed))
        one, other = (best_split(rows, Request(criterion, costs=(k, 7 * k), delta=1e-3)) for k in (1.0, 300.0))
        assert_same_split(one, other)


@pytest.mark.slow
@each_engine
@sized("n_seeds", 3, 10)
def test_one_step_is_never_better_than_one_for_each_side(engine, n_seeds):
    for seed in range(n_seeds):
        rows = opened(engine, *make(seed))
        for costs in COSTS:
            free, forced = (best_split(rows, Request(c, costs=costs)) for c in ("cost_loss", "cost_step"))
            assert free.value <= forced.value + 1e-12
            assert forced.value <= forced.before == pytest.approx(1.0, abs=1e-12)


@each_engine
@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_a_step_without_mistakes_is_bounded(costs, engine):
    split = search_of(engine, [[0.7, 0.0], [0.0, 0.3]], [0, 1], Request("cost_step", costs=costs))
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


@each_engine
def test_weights_of_next_to_nothing_overflow_nothing(engine):
    h = [[5e-324, 0.3, 1e-300, 0.0], [0.4, 1e-310, 5e-324, 0.3]]
    for criterion, costs in itertools.product(("cost_loss", "cost_step"), COSTS):
        slow, fast = (search_of(e, h, range(4), Request(criterion, costs=costs)) for e in (REFERENCE, engine))
        assert np.isfinite(fast.value)
        assert fast.value == pytest.approx(slow.value, abs=1e-12)


@pytest.mark.slow
@pytest.mark.sample(3)
@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_the_lowest_loss_of_a_split_whatever_its_weights(costs):
    """The compiled iteration against the reference's, over twelve decades of weights; the only split there is."""
    rng = np.random.default_rng(0)
    bins = bins_of([2], [False])
    for k in range(300):
        h = 10.0 ** rng.uniform(-12, 0, (2, 2)) * (rng.random((2, 2)) < 0.9)
        if not h.sum(axis=0).all():
            continue
        h /= h.sum()
        codes, labels, weights = one_feature(h, range(2))
        split = best_split(opened(CPU, codes, bins, labels, weights), Request("cost_step", costs=costs))
        sides = [(h[:, 0], h[:, 1]), (h[:, 1], h[:, 0])]
        slow = min(step_loss(no, yes, costs, step_length(no, yes, costs)) for no, yes in sides)
        assert split.value == pytest.approx(slow, rel=1e-13, abs=1e-16)
        if k % 20 == 0:
            assert slow == pytest.approx(min(lowest_step(*s, costs) for s in sides), abs=1e-12)


@each_engine
@each_criterion
def test_ties_go_to_the_lowest_feature_threshold_and_to_polarity_plus(criterion, engine):
    h = np.array([[0.3, 0.0, 0.2, 0.1], [0.1, 0.0, 0.2, 0.1]])
    (first,), labels, weights = one_feature(h, range(4))
    codes = np.array([[*first, 3], [*first, 0]], dtype=np.uint8)  # one more negative, which is better off on the left
    for better_by, feature in ((1e-13, 0), (1e-8, 1)):
        rows = opened(engine, codes, bins_of([4, 4], [False] * 2), [*labels, 0], [*weights, better_by])
        split = best_split(rows, Request(criterion, costs=(1.0, 2.0)))
        assert (split.feature, split.threshold) == (feature, 0)


@each_engine
def test_where_nothing_is_to_be_gained_the_first_split_is_taken(engine):
    h = [[0.1, 0.2, 0.1, 0.1]] * 2
    split = search_of(engine, h, range(4), Request("cost_step"))
    assert (split.feature, split.threshold, split.polarity) == (0, 0, 1)
    assert split.value == pytest.approx(1.0, abs=1e-12)


@each_engine
def test_categories_are_enumerated_as_for_the_error(engine):
    """Up to ten of them every subset is tried, above that the order of p is followed."""
    found = []
    for m in (MAX_ENUMERATED, MAX_ENUMERATED + 1):
        h = np.random.default_rng(m).random((2, m))
        h /= h.sum()
        request = Request("cost_step", costs=(1.0, 30.0))
        split = search_of(engine, h, range(m), request, nominal=True)
        share = h[1] / h.sum(axis=0)
        prefixes = [(h[:, share <= t].sum(axis=1), h[:, share > t].sum(axis=1)) for t in share]
        along = min(value_of(a, b, np.zeros(2), request) for a, b in prefixes if b.sum() > 0)
        assert split.value <= along + 1e-12
        found.append(split.value == pytest.approx(along, abs=1e-12))
    assert found[1]
