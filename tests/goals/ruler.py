"""A classifier of one number that fits in microseconds, and data whose rates are known exactly."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin

from skewboost.metrics import Counts
from skewboost.metrics.counts import ReferralCounts

PRIOR, SHIFT = 0.2, 1.5


class Ruler(ClassifierMixin, BaseEstimator):
    """The log-odds of two normal distributions of variance 1, with the means and the costs of the classes."""

    def __init__(self, cost=None):
        self.cost = cost

    def fit(self, X, y, sample_weight=None):
        x, y = np.asarray(X)[:, 0], np.asarray(y)
        w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.classes_ = np.array([0, 1])
        self.means_ = tuple(np.average(x[y == k], weights=w[y == k]) for k in (0, 1))
        cost = self.cost or {0: 1.0, 1: 1.0}
        self.bias_ = math.log(cost[1] / cost[0]) + math.log(w[y == 1].sum() / w[y == 0].sum())
        return self

    def decision_function(self, X):
        low, high = self.means_
        return (high - low) * (np.asarray(X)[:, 0] - 0.5 * (low + high)) + self.bias_


class Parrot(Ruler):
    """A ruler that knows the rows it was fitted to by heart: all positives score above all negatives."""

    def fit(self, X, y, sample_weight=None):
        x = np.asarray(X)[:, 0]
        self.known_ = {k: np.unique(x[np.asarray(y) == k]) for k in (0, 1)}
        return super().fit(X, y, sample_weight)

    def decision_function(self, X):
        x = np.asarray(X)[:, 0]
        known = np.isin(x, self.known_[1]).astype(float) - np.isin(x, self.known_[0])
        return super().decision_function(X) + 100.0 * known


def draw(n, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < PRIOR).astype(int)
    return (rng.normal(size=n) + SHIFT * y)[:, None], y


def truth(clf, weight=None, seen=None):
    """The rates of a fitted search on new data, as shares of all rows.

    Rows may count by what they weigh, ``weight(x, y)``, and be seen as something else than they are, ``seen(x)``.
    """
    ruler = clf.estimator_
    low, high = ruler.means_

    def cut(threshold):
        return (threshold - ruler.bias_) / (high - low) + 0.5 * (low + high)

    x = np.linspace(-8.0, 10.0, 18001)  # where all rows are, by thousandths
    mass = [(1 - PRIOR) * norm.pdf(x), PRIOR * norm.pdf(x - SHIFT)]
    if weight is not None:
        mass = [mass[k] * weight(x, k) for k in (0, 1)]
    at = x if seen is None else seen(x)

    def above(threshold):
        if weight is None and seen is None:
            return PRIOR * norm.sf(cut(threshold) - SHIFT), (1 - PRIOR) * norm.sf(cut(threshold))
        return tuple(mass[k][at >= cut(threshold)].sum() for k in (1, 0))

    everything = above(-np.inf)
    tp, fp = above(clf.threshold_)
    if clf.lower_threshold_ is None:
        return Counts(tp, fp, everything[0] - tp, everything[1] - fp)
    not_below = above(clf.lower_threshold_)
    fn, tn = (total - own for total, own in zip(everything, not_below))
    return ReferralCounts(tp, fp, fn, tn, not_below[0] - tp, not_below[1] - fp)
