"""How often promises are made and broken, where the truth is known; `benchmarks/promises.py` prints it.

With a classifier of one number the truth is exact. With `SkewBoostClassifier` it is what its predictions say of many
new rows, and nobody says which class is positive.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from goals.ruler import PRIOR, SHIFT, Parrot, Ruler, draw, truth
from skewboost import SkewBoostClassifier
from skewboost.goals import Goal, GoalNotReachableError, GoalSearchCV
from skewboost.metrics import Counts

GOALS = [
    ("recall >= 0.8", {}),
    ("false_alarm_rate <= 0.1", {}),
    ("precision >= 0.5", {}),
    ("f1 >= 0.5", {}),
    ("g_mean >= 0.7", {}),
    ("flagged_share <= 0.3", {}),
    ("expected_cost <= 0.6", {"cost": 5}),
    ("recall >= 0.6 and precision >= 0.35", {}),
]
REFERRAL_GOALS = [
    ("precision >= 0.6 and referred_share <= 0.2", {}),
    ("recall >= 0.8 and referred_share <= 0.2", {}),
    ("false_alarm_rate <= 0.1 and referred_share <= 0.2", {}),
    ("recall >= 0.7 and precision >= 0.5 and referred_share <= 0.4", {}),
    ("recall >= 0.7 and precision >= 0.5", {"then": "referred_share"}),
]


class Sample(NamedTuple):
    """Rows, what `fit` and the search are told of them, what a row weighs on average, and as what it is seen."""

    X: np.ndarray
    y: np.ndarray
    told: Mapping[str, Any] = MappingProxyType({})
    params: Mapping[str, Any] = MappingProxyType({})
    weight: Any = None
    seen: Any = None


def plain(n, seed):
    return Sample(*draw(n, seed))


def all_weigh(weight):
    return lambda n, seed: Sample(*draw(n, seed), {"sample_weight": np.full(n, float(weight))})


def weights_by_chance(n, seed):
    weights = np.random.default_rng(seed + 10**6).integers(1, 6, n).astype(float)
    return Sample(*draw(n, seed), {"sample_weight": weights})


def weights_by_score(n, seed):
    """From 1 to 5: rows weigh the more, the more they look like the other class."""

    def chance(x, y):
        return 1 / (1 + np.exp(0.5 * (2 * y - 1) * (x - SHIFT / 2)))

    X, y = draw(n, seed)
    weights = 1.0 + np.random.default_rng(seed + 10**6).binomial(4, chance(X[:, 0], y))
    return Sample(X, y, {"sample_weight": weights}, {}, lambda x, y: 1 + 4 * chance(x, y))


def heavy_tails(n, seed):
    """Amounts, some of which are many times the others."""
    return Sample(*draw(n, seed), {"sample_weight": np.random.default_rng(seed + 10**6).lognormal(0.0, 0.7, n)})


def three_times(n, seed):
    X, y = draw(n, seed)
    order = np.random.default_rng(seed).permutation(3 * n)
    return Sample(np.repeat(X, 3, axis=0)[order], np.repeat(y, 3)[order])


def positives_repeated(n, seed):
    """Positives are there one to five times, the more often the harder they are to find."""

    def chance(x, y):
        return y / (1 + np.exp(2 * (x - SHIFT)))

    X, y = draw(n, seed)
    times = 1 + np.random.default_rng(seed + 10**6).binomial(4, chance(X[:, 0], y))
    return Sample(np.repeat(X, times, axis=0), np.repeat(y, times))  # copies count once


def groups(n, seed):
    """Of each of n groups one to six rows, of one class and much alike."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n), rng.integers(1, 7, n))
    y = (rng.random(n) < PRIOR).astype(int)[group]
    x = np.sqrt(0.8) * rng.normal(size=n)[group] + np.sqrt(0.2) * rng.normal(size=len(group)) + SHIFT * y
    return Sample(x[:, None], y, {"groups": group})


def mixed_groups(n, seed):
    """Of each of n groups ten rows, of both classes: where one scores high, the others do."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n), 10)
    y = (rng.random(len(group)) < PRIOR).astype(int)
    x = np.sqrt(0.5) * rng.normal(size=n)[group] + np.sqrt(0.5) * rng.normal(size=len(group)) + SHIFT * y
    return Sample(x[:, None], y, {"groups": group})


def aggregated(n, seed):
    """Rows of few distinct values, each with the number of times it was there."""

    def seen(x):
        return 0.25 * np.round(x / 0.25)

    X, y = draw(n, seed)
    rows, counts = np.unique(np.column_stack((seen(X), y)), axis=0, return_counts=True)
    told = {"sample_weight": counts.astype(float)}
    return Sample(rows[:, :1], rows[:, 1].astype(int), told, {"weights": "counts"}, seen=seen)


CASES = {
    "plain": (plain, Ruler),
    "all weights 3": (all_weigh(3), Parrot),
    "all weights 10": (all_weigh(10), Parrot),
    "weights 1 to 5 at random": (weights_by_chance, Parrot),
    "weights 1 to 5, the harder the heavier": (weights_by_score, Parrot),
    "lognormal weights": (heavy_tails, Parrot),
    "each row three times": (three_times, Parrot),
    "positives one to five times, the harder the more": (positives_repeated, Parrot),
    "groups of 1 to 6 of one class": (groups, Ruler),
    "groups of 10 of both classes": (mixed_groups, Ruler),
    "aggregated, weights='counts'": (aggregated, Ruler),
}


def promise(goal, tune, n_rows, case, params, seed):
    """Whether the promise of one search is kept, and the value of its first measure; None if it was not made."""
    make, estimator = CASES[case]
    sample = make(n_rows, seed)
    clf = GoalSearchCV(
        estimator(), goal, tune=tune, cv=2, max_points=8, pos_label=1, random_state=seed, confidence=0.9, **params
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.set_params(**sample.params).fit(sample.X, sample.y, **sample.told)
    except GoalNotReachableError:
        return None
    matrix = None if "cost" not in params else np.array([[0.0, 1.0], [params["cost"], 0.0]])
    found = truth(clf, sample.weight, sample.seen)
    return bool(clf.goal_.met(found, matrix)), float(clf.goal_.conditions[0].measure.value(found, matrix))


def broken_promises(goal, tune, n_repeats, n_rows, case="plain", **params):
    """How often a promise was made, how often of these it was broken, and the values of the first measure."""
    found = [promise(goal, tune, n_rows, case, params, seed) for seed in range(n_repeats)]
    made = [own for own in found if own is not None]
    return len(made), sum(not kept for kept, _ in made), np.array([value for _, value in made])


# --------------------------------------------------------------------------- the portfolio, on new rows

N_NEW = 20_000
PORTFOLIO_GOALS = ["recall >= 0.8", "false_alarm_rate <= 0.4", "precision >= 0.5", "accuracy >= 0.6"]


def two_columns(y, rng):
    """Both classes overlap; the second one varies more."""
    return rng.normal(size=(len(y), 2)) * (1 + y[:, None]) + 1.5 * y[:, None]


def exactly(n_positive, n, rng):
    """Labels of n rows in any order, so many of which are positive."""
    return rng.permutation(np.arange(n) < n_positive).astype(int)


def tied(n, rng):
    """One class has a row more than the other, and as many if a third of each is held out."""
    k = n // 6 * 3 + 1
    y = exactly(k + 1, 2 * k + 1, rng)
    return two_columns(y, rng), y, {}


def drifting(n, rng):
    """In the order of time: 45 % of the rows are positive, and of the latest third 66 %."""
    late = n // 3
    y = np.concatenate([exactly(round(p * k), k, rng) for k, p in ((n - late, 0.45), (late, 0.66))])
    return two_columns(y, rng), y, {}


def few_groups(n, rng, n_groups=40):
    """Groups whose rows are alike, with both classes."""
    group = np.arange(n) % n_groups
    y = (rng.random(n) < 0.5).astype(int)
    return two_columns(y, rng) + rng.normal(size=(n_groups, 2))[group], y, {"groups": group}


def repeated(n, rng):
    """A tenth of the rows is there three times, in any order."""
    y = (rng.random(n) < 0.4).astype(int)
    rows = rng.permutation(np.repeat(np.arange(n), np.where(np.arange(n) % 10, 1, 3)))
    return two_columns(y, rng)[rows], y[rows], {}


def rounded(n, rng):
    """Values with one decimal, so that some rows are equal by chance."""
    y = (rng.random(n) < 0.4).astype(int)
    return two_columns(y, rng).round(1), y, {}


# How rows are made, what the classifier is told of them, and the share of positives among new rows. The latter are made
# in the same way, as one group each.
PORTFOLIO_CASES = {
    "ties of classes": (tied, {}, 0.5),
    "drift": (drifting, {"cv": TimeSeriesSplit(3)}, 0.66),
    "few groups": (few_groups, {}, 0.5),
    "repeated rows": (repeated, {}, 0.4),
    "rounded values": (rounded, {}, 0.4),
}


def new_rows(case, rng):
    make, _, share = PORTFOLIO_CASES[case]
    y = (rng.random(N_NEW) < share).astype(int)
    X = two_columns(y, rng)
    if make is few_groups:
        X += rng.normal(size=X.shape)
    return X.round(1) if make is rounded else X, y


def promise_on_new_rows(case, goal, n_rows, confidence, seed):
    """Whether predictions of new rows keep the promise of a `SkewBoostClassifier`; None if it was not made."""
    make, told, _ = PORTFOLIO_CASES[case]
    rng = np.random.default_rng(seed)
    X, y, params = make(n_rows, rng)
    clf = SkewBoostClassifier(goal=goal, confidence=confidence, effort="quick", random_state=seed, **told)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(X, y, **params)
    except GoalNotReachableError:
        return None
    X_new, y_new = new_rows(case, rng)
    found = Counts.of(y_new == clf.pos_label_, clf.predict(X_new) == clf.pos_label_)
    return bool(Goal.of(goal).met(found))


def broken_on_new_rows(case, goal, n_repeats, n_rows, confidence=0.9):
    """How often `SkewBoostClassifier` made a promise, and how often its predictions of new rows broke it."""
    found = [promise_on_new_rows(case, goal, n_rows, confidence, seed) for seed in range(n_repeats)]
    made = [kept for kept in found if kept is not None]
    return len(made), sum(not kept for kept in made)
