"""The ten-point line of the lecture slides: bagging and boosting come out as printed (figures 5.35 to 5.39)."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from skewboost import AdaBoostClassifier
from skewboost.boosting.adaboost import AdaBoost
from skewboost.learners import Stump
from support import load_trace


def stump_on(x, y):
    """The labels that one of our stumps, fitted to a sample, gives any points; constants compete."""
    x = np.asarray(x, dtype=float)
    if len(set(y)) == 1:
        return lambda points: np.full(len(points), y[0])
    clf = AdaBoostClassifier(estimator=Stump(constant=True), n_estimators=1, pos_label=1.0).fit(x[:, None], y)
    return lambda points: clf.predict(np.asarray(points, dtype=float)[:, None])


def labels_of(sample, X, y):
    return np.array([y[int(np.argmin(np.abs(X - v)))] for v in sample])


def test_bagging_comes_out_as_printed():
    trace = load_trace("doc_slides_bagging")
    X, y = np.array(trace["X"]), np.array(trace["y"])
    votes = np.zeros(len(X))
    for bag in trace["bags"]:
        sample = np.array(bag["x"])
        votes += stump_on(sample, labels_of(sample, X, y))(X)
    assert votes.tolist() == trace["votes"]
    assert (np.sign(votes) == y).all()


class OnPrintedSamples(ClassifierMixin, BaseEstimator):
    """A weak learner that is fitted to the samples as the slides drew them, whatever the weights."""

    def __init__(self, samples=()):
        self.samples = samples

    def fit(self, X, y, sample_weight):
        self.classes_ = np.array([0, 1])
        drawn = self.samples.pop(0)
        self.says_ = stump_on(drawn, np.where(labels_of(drawn, X[:, 0], y) > 0, 1.0, -1.0))
        return self

    def predict(self, X):
        return (self.says_(X[:, 0]) > 0).astype(int)

    def __deepcopy__(self, memo):
        return self

    def __sklearn_clone__(self):
        return OnPrintedSamples(self.samples)  # the rounds share one list, and each takes the next sample


class WithTheSlip(AdaBoost):
    """The slides divide the weighted error by the number of points once more: it is ten times too small."""

    def step(self, state, h):
        right, wrong = super().step(state, h)
        return 1.0 - 0.1 * wrong / (right + wrong), 0.1 * wrong / (right + wrong)


class SlippedAdaBoost(AdaBoostClassifier):
    """AdaBoost with the slip of the slides."""

    def _rule(self):
        return WithTheSlip()


@pytest.mark.parametrize(("name", "booster"), [("printed", SlippedAdaBoost), ("standard", AdaBoostClassifier)])
def test_boosting_comes_out_as_printed(name, booster):
    """The printed steps 1.738, 2.7784 and 4.1195 rest on the slip; the standard error gives the other trace."""
    trace = load_trace(f"doc_slides_boosting_{name}")
    X, y = np.array(trace["X"]), np.array(trace["y"])
    learner = OnPrintedSamples([list(s) for s in trace["samples"]])
    clf = booster(estimator=learner, n_estimators=3, pos_label=1.0).fit(X[:, None], y)
    np.testing.assert_allclose([r["step"] for r in clf.history_], [r["alpha"] for r in trace["rounds"]], atol=1e-9)
    np.testing.assert_allclose(clf.decision_function(X[:, None]), trace["F_train"], atol=1e-9)
    for F, expected in zip(clf.staged_decision_function(X[:, None]), trace["rounds"], strict=True):
        np.testing.assert_allclose(F, expected["F_train"], atol=1e-9)
    if name == "printed":
        assert [round(r["step"], 3) for r in clf.history_] == [1.738, 2.778, 4.119]
    assert (clf.predict(X[:, None]) == y).all()
