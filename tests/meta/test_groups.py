"""Groups in the meta-estimators: for their own folds, and for the estimators that they fit."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_validate

import skewboost as sb
from support import awkward_data

STOPPED = sb.RealBoostClassifier(n_estimators=20, early_stopping=3, random_state=0)
PORTFOLIO = sb.SkewBoostClassifier(effort="quick", random_state=0)
SLOW_PORTFOLIO = pytest.param(PORTFOLIO, marks=pytest.mark.slow)


class Spy(ClassifierMixin, BaseEstimator):
    """Keeps the rows that it was fitted to."""

    fits: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        self.fits.append(X[:, 0].astype(int))
        return self

    def predict_proba(self, X):
        return np.tile([0.7, 0.3], (len(X), 1))


@pytest.fixture
def rows():
    X, y = awkward_data(300, seed=3)
    X = np.column_stack([np.arange(300), X])
    return np.nan_to_num(X), y, np.random.default_rng(0).integers(30, size=300)


@pytest.mark.parametrize("cv", [None, 3, GroupKFold(4)])
def test_folds_of_minimum_risk_keep_groups_together(rows, cv):
    X, y, groups = rows
    Spy.fits = []
    sb.MinimumRiskClassifier(Spy(), cost=5, calibrate="sigmoid", cv=cv).fit(X, y, groups=groups)
    assert len(Spy.fits) == {None: 5, 3: 3}.get(cv if isinstance(cv, int) else None if cv is None else "own", 4)
    held_out = [np.setdiff1d(np.arange(300), fit) for fit in Spy.fits]
    assert sorted(np.concatenate(held_out)) == list(range(300))
    for fit, others in zip(Spy.fits, held_out):
        assert not set(groups[fit]) & set(groups[others])
        assert y[others].any()


def test_folds_of_minimum_risk_in_the_order_of_time(rows):
    X, y, _ = rows
    y = np.where(np.arange(300) < 80, 0, y)  # the first part has one class, so that the first fold is left out
    Spy.fits = []
    sb.MinimumRiskClassifier(Spy(), cost=5, calibrate="sigmoid", cv=TimeSeriesSplit(4)).fit(X, y)
    assert [fit.max() for fit in Spy.fits] == [119, 179, 239]


def test_minimum_risk_passes_groups_on_to_estimators_that_split(rows):
    X, y, groups = rows
    order = np.random.default_rng(1).permutation(300)
    for clf in (
        sb.MinimumRiskClassifier(STOPPED, cost=5),
        sb.MinimumRiskClassifier(STOPPED, cost=5, calibrate="sigmoid"),
        sb.MinimumRiskClassifier(PORTFOLIO, cost=5),
    ):
        one, other = clone(clf).fit(X, y, groups=groups), clone(clf).fit(X[order], y[order], groups=groups[order])
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-9)
    with pytest.raises(ValueError, match="neither MinimumRiskClassifier nor its estimator splits rows"):
        sb.MinimumRiskClassifier(LogisticRegression(), cost=5).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="at least two groups with examples of each class"):
        sb.MinimumRiskClassifier(LogisticRegression(), cost=5, calibrate="sigmoid").fit(X, y, groups=np.zeros(300))


@pytest.mark.parametrize("inner", [STOPPED, sb.RealBoostClassifier(n_estimators=5), SLOW_PORTFOLIO], ids=str)
def test_minimum_risk_routes_groups(rows, inner):
    X, y, groups = rows
    clf = sb.MinimumRiskClassifier(inner, cost=5, calibrate="sigmoid")
    plain = clone(clf).fit(X, y, groups=groups).predict_proba(X)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(clf).fit(X, y, groups=groups).predict_proba(X)
        cross_validate(clf, X, y, params={"groups": groups}, cv=GroupKFold(3), error_score="raise")
    assert np.array_equal(plain, routed)


@pytest.mark.parametrize("inner", [STOPPED, SLOW_PORTFOLIO], ids=str)
def test_under_bagging_and_codes_pass_groups_on(rows, inner):
    X, y, groups = rows
    order = np.random.default_rng(1).permutation(300)
    clf = sb.UnderBaggingClassifier(inner, n_estimators=3, random_state=0)
    one, other = clone(clf).fit(X, y, groups=groups), clone(clf).fit(X[order], y[order], groups=groups[order])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-9)
    with pytest.raises(ValueError, match="groups have no effect"):
        sb.UnderBaggingClassifier(random_state=0).fit(X, y, groups=groups)
    three = y + (X[:, 1] > 0)
    code = sb.CodeMatrixClassifier(inner, random_state=0)
    one = clone(code).fit(X, three, groups=groups)
    other = clone(code).fit(X[order], three[order], groups=groups[order])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-9)
