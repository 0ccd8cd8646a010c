"""The compiled engine on random tables of every kind: what it grows and how weights move, against the reference."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from engine.tables import REFERENCE, assert_same_growth, bins_of, opened
from skewboost.engine import choose
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import MISSING, OF_CLASSES, Request
from skewboost.engine.training_set import TWO, Classes, Limits, W

LIMITS = [Limits(1), Limits(None, 2), Limits(None, 8), Limits(3), Limits(None, 31), Limits(4, 6)]
OF_TWO = ["error", "majority", "gini", "entropy", "z", "zbar", "cost_loss", "cost_step"]
UNFORCED = {"error": "majority", "zbar": "z", "cost_step": "cost_loss"}  # what trees minimise
N_ROUNDS = 6


@dataclass
class Case:
    """A random table with random labels, and what is asked of it."""

    codes: np.ndarray
    bins: Bins
    labels: np.ndarray
    weights: np.ndarray
    classes: Classes
    examples: np.ndarray | None
    request: Request
    limits: Limits
    n_jobs: int
    responses: np.ndarray | None = field(default=None)


def random_table(rng, n):
    """One column to twenty, of one value to 255, numbers and categories, complete or not."""
    n_features = int(rng.integers(1, 21))
    n_bins = rng.choice([1, 2, 3, 5, 8, 10, 11, 14, 40, 255], n_features)
    codes = np.array([rng.integers(0, m, n) for m in n_bins], dtype=np.uint8)
    incomplete = rng.random(n_features) < 0.4
    codes[incomplete] = np.where(rng.random((incomplete.sum(), n)) < 0.2, MISSING, codes[incomplete])
    return codes, bins_of(n_bins, rng.random(n_features) < 0.3)


def random_case(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([3, 20, 100, 200, 500, 1500, 4000]))
    codes, bins = random_table(rng, n)
    limits = LIMITS[rng.integers(len(LIMITS))]
    kind = str(rng.choice(["two", "two", "two", "many", "labels", "responses"]))
    signal = codes[0].astype(float) + codes[-1] + rng.normal(size=n) * 40
    labels, weights, classes, responses = signal > np.quantile(signal, 0.7), rng.random(n) + 0.01, TWO, None
    costs, delta = (1.0, 1.0), 0.0
    if kind == "two":
        criterion = str(rng.choice(OF_TWO))
        if not limits.one_split:
            criterion = UNFORCED.get(criterion, criterion)
        if "cost" in criterion:
            costs = (1.0, float(rng.choice([1.0, 3.0, 10.0])))
        if criterion == "cost_loss":
            delta = float(rng.choice([0.0, 1 / n]))
        if rng.random() < 0.2:
            weights = 10.0 ** rng.uniform(-12, 0, n)
        if rng.random() < 0.1:
            weights[rng.random(n) < 0.3] = 0.0
            weights[0] = 1.0
    elif kind == "many":
        classes, criterion = Classes(1, int(rng.integers(3, 6))), str(rng.choice(OF_CLASSES))
        labels = rng.integers(0, classes.n_classes, n)
    elif kind == "labels":
        classes, criterion = Classes(int(rng.integers(2, 5)), 2), "z"
        shape = (n, classes.n_labels)
        labels, weights = rng.random(shape) < 0.3, rng.random(shape) + 0.01
    else:
        criterion, responses = "squares", rng.normal(size=n) + labels
    request = Request(
        criterion,
        str(rng.choice(["learn", "abstain"])),
        min_count=float(rng.choice([0, 0, 2, 5])),
        min_weight=float(rng.choice([0, 0, 0.02])) * (weights.sum() if kind == "responses" else 1.0),
        costs=costs,
        delta=delta,
    )
    examples = None if rng.random() < 0.6 else rng.integers(1, 4, n).astype(float)
    return Case(
        codes, bins, np.asarray(labels), weights, classes, examples, request, limits, 1 + seed % 3, responses
    )  # fmt: skip


def check(seed):
    """Six rounds of random factors on both engines."""
    case = random_case(seed)
    slow, fast = (
        opened(engine, case.codes, case.bins, case.labels, case.weights, case.classes, case.examples)
        for engine in (REFERENCE, choose("cpu", case.n_jobs))
    )
    if case.responses is not None:
        for rows in (slow, fast):
            rows.put("z", case.responses)
            rows.put("w of z", case.weights)
        growths = (rows.grow_responses("z", "w of z", case.request, case.limits) for rows in (slow, fast))
        assert_same_growth(*growths, 1e-11, of_values=1e-8)
        return
    rng = np.random.default_rng(seed)
    for _ in range(N_ROUNDS):
        a, b = (rows.grow(case.request, case.limits) for rows in (slow, fast))
        assert_same_growth(a, b, 1e-11, of_values=1e-8)
        factors = np.exp(0.5 * rng.normal(size=a.sums.shape))
        total = slow.reweight(a.partition, factors)
        assert fast.reweight(b.partition, factors) == pytest.approx(total, rel=1e-12)
        np.testing.assert_allclose(fast.get(W), slow.get(W), rtol=1e-11)


def check_all(seeds):
    for seed in seeds:
        try:
            check(seed)
        except AssertionError as error:
            raise AssertionError(f"with the seed {seed}: {error}") from error


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "first", [0, 15, *(pytest.param(first, marks=pytest.mark.slow) for first in range(30, 120, 15))]
)
def test_random_tables_are_grown_and_reweighted_as_by_the_reference(first):
    check_all(range(first, first + 15))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 6000, 250))
def test_thousands_of_random_tables(first):
    check_all(range(first, first + 250))
