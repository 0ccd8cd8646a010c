"""What all public classifiers have in common."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB

import skewboost
from skewboost import GoalSearchCV, PastingVotesClassifier, UnderBaggingClassifier
from skewboost.errors import SkewBoostWarning
from skewboost.learners import RuleLearner
from support import awkward_data

PUBLIC = [getattr(skewboost, name) for name in skewboost.__all__]
CLASSIFIERS = [c for c in PUBLIC if isinstance(c, type) and issubclass(c, ClassifierMixin)] + [RuleLearner]
SMALL = {
    "SkewBoostClassifier": {"effort": "quick"},
    "GoalSearchCV": {
        "estimator": skewboost.RealBoostClassifier(n_estimators=3),
        "goal": "recall >= 50%",
        "confidence": None,
    },
    "CodeMatrixClassifier": {"estimator": skewboost.RealBoostClassifier(n_estimators=3)},
    "MinimumRiskClassifier": {"estimator": skewboost.RealBoostClassifier(n_estimators=3)},
}


PORTFOLIO = skewboost.SkewBoostClassifier(effort="quick", random_state=0)
CONFIGURED = [
    skewboost.SkewBoostClassifier(effort="quick", random_state=0, goal="recall >= 50%", confidence=0.5),
    GoalSearchCV(PORTFOLIO, "recall >= 50%", confidence=None, cv=2, random_state=0),
    skewboost.MinimumRiskClassifier(PORTFOLIO, cost=3),
    UnderBaggingClassifier(PORTFOLIO, n_estimators=2, random_state=0),
]


def small(classifier):
    """A classifier that is fitted in no time."""
    if not isinstance(classifier, type):
        return clone(classifier)
    params = SMALL.get(classifier.__name__, {})
    names = inspect.signature(classifier).parameters
    cheap = {"n_estimators": 3, "n_rounds": 3, "max_rounds": 3, "random_state": 0}
    return classifier(**{name: value for name, value in cheap.items() if name in names and name not in params} | params)


def name_of(classifier):
    return classifier.__name__ if isinstance(classifier, type) else str(classifier)


@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.parametrize("classifier", [*CLASSIFIERS, *CONFIGURED], ids=name_of)
def test_probabilities_come_with_their_logarithms_and_scores_agree_with_predictions(classifier):
    X, y = awkward_data(120, missing=0.0)
    clf = small(classifier).fit(X, y)
    assert hasattr(clf, "predict_log_proba") == hasattr(clf, "predict_proba")
    if hasattr(clf, "predict_proba"):
        p = clf.predict_proba(X)
        np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), p, atol=1e-12)
    scores = clf.decision_function(X)
    assert scores.shape == (120,)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(clf.classes_[(scores > 0).astype(int)], clf.predict(X))


@pytest.mark.parametrize("clf", [UnderBaggingClassifier(GaussianNB()), PastingVotesClassifier(random_state=0)], ids=str)
def test_scores_of_mean_probabilities(clf):
    X, y = awkward_data(300, missing=0.0)
    p = clf.fit(X, y).predict_proba(X)
    inside = (p > 0).all(axis=1)
    assert inside.any()
    expected = np.log(p[inside, 1] / p[inside, 0])
    np.testing.assert_allclose(clf.decision_function(X)[inside], expected, atol=1e-12)
    three = np.where(X[:, 0] > 1, 2, y)
    clf.fit(X, three)
    np.testing.assert_array_equal(clf.decision_function(X), clf.predict_proba(X))


def test_no_logarithms_without_probabilities():
    search = GoalSearchCV(RidgeClassifier(), "recall >= 50%", confidence=None)
    assert not hasattr(search, "predict_log_proba")
    assert hasattr(search.set_params(estimator=GaussianNB()), "predict_log_proba")


@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.sample(20)
@pytest.mark.parametrize("classifier", [*CLASSIFIERS, *CONFIGURED], ids=name_of)
def test_weights_that_sum_to_one_change_nothing_without_a_warning_whose_remedy_works(classifier):
    X, y = awkward_data(128, missing=0.0)
    clf, weights = small(classifier), np.full(128, 1 / 128)
    plain = clf.fit(X, y).decision_function(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        relative = clf.fit(X, y, sample_weight=weights).decision_function(X)
    told = [w for w in caught if w.category is SkewBoostWarning and "Weights count examples" in str(w.message)]
    assert told or np.allclose(relative, plain, rtol=1e-9)
    assert all(w.filename == __file__ or w.filename.endswith("parallel.py") for w in told)  # which fits members
    remedied = clf.fit(X, y, sample_weight=weights * len(weights) / weights.sum()).decision_function(X)
    np.testing.assert_allclose(remedied, clf.fit(X, y, sample_weight=np.ones(128)).decision_function(X))


@pytest.mark.parametrize(("weight", "told"), [(0.03, False), (0.01, True), (0.0075, True)])
def test_a_fit_warns_of_weights_that_are_relative(weight, told):
    X, y = awkward_data(128, missing=0.0)
    weights = np.where(np.arange(128) < 100, weight, 0.0)  # absent rows do not count
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        skewboost.RealBoostClassifier(n_estimators=2).fit(X, y, weights)
    assert bool(caught) == told
