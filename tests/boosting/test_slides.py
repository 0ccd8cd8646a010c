"""The ten-point line of the lecture slides: bagging and boosting come out as printed (figures 5.35 to 5.39)."""

from __future__ import annotations

import numpy as np
import pytest

from skewboost import AdaBoostClassifier
from skewboost.boosting.variants.adaboost import AdaBoost
from skewboost.learners import Stump
from skewboost.learners.resampling import ResampledLearner
from skewboost.learners.samplers import Sample
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


class PrintedSamples:
    """A sampler that draws, round by round, what the slides drew."""

    def __init__(self, samples, X):
        self.rows = [[int(np.argmin(np.abs(X - v))) for v in sample] for sample in samples]

    def draw(self, data, weights, rng):
        return Sample(np.array(self.rows.pop(0)))


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
    """Boosting by resampling, on the samples as they were drawn (the second is of one class).

    The printed steps 1.738, 2.7784 and 4.1195 rest on the slip; the standard error gives the other trace.
    """
    trace = load_trace(f"doc_slides_boosting_{name}")
    X, y = np.array(trace["X"]), np.array(trace["y"])
    learner = ResampledLearner(Stump(constant=True), PrintedSamples(trace["samples"], X))
    clf = booster(estimator=learner, n_estimators=3, pos_label=1.0).fit(X[:, None], y)
    np.testing.assert_allclose([r["step"] for r in clf.history_], [r["alpha"] for r in trace["rounds"]], atol=1e-9)
    np.testing.assert_allclose(clf.decision_function(X[:, None]), trace["F_train"], atol=1e-9)
    for F, expected in zip(clf.staged_decision_function(X[:, None]), trace["rounds"], strict=True):
        np.testing.assert_allclose(F, expected["F_train"], atol=1e-9)
    if name == "printed":
        assert [round(r["step"], 3) for r in clf.history_] == [1.738, 2.778, 4.119]
    assert (clf.predict(X[:, None]) == y).all()
