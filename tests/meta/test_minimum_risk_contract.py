"""scikit-learn's contract around decisions: checks, routing, searches, pipelines, tables."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, TimeSeriesSplit, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skewboost import CSRAClassifier, MinimumRiskClassifier, RealBoostClassifier
from skewboost.datasets import make_fraud
from skewboost.metrics import make_cost_scorer
from support import awkward_data

X, Y = awkward_data(300, missing=0.0)
X = StandardScaler().fit_transform(X)
WEIGHTS = np.random.default_rng(0).integers(1, 9, 300).astype(float)


@pytest.mark.sample(12)
@parametrize_with_checks(
    [
        MinimumRiskClassifier(RealBoostClassifier(n_estimators=3)),
        MinimumRiskClassifier(make_pipeline(StandardScaler(), GaussianNB()), calibrate="isotonic", cv=2),
    ]
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_parameter_is_documented():
    for name in MinimumRiskClassifier(GaussianNB()).get_params(deep=False):
        assert f"\n{name} : " in inspect.cleandoc(MinimumRiskClassifier.__doc__)


def test_clone_and_pickle_keep_the_decisions():
    clf = MinimumRiskClassifier(RealBoostClassifier(n_estimators=5), cost=[[0, 1], [9, 0]], calibrate="sigmoid")
    clf.fit(X, Y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict(X), clf.predict(X))
    assert not hasattr(clone(clf), "classes_")
    np.testing.assert_array_equal(clone(clf).fit(X, Y).predict(X), clf.predict(X))
    with pytest.raises(NotFittedError):
        clone(clf).predict(X)


@pytest.mark.parametrize("calibrate", [None, "sigmoid"])
@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_the_estimator_and_the_shares(calibrate, routing):
    inner = GaussianNB()
    with sklearn.config_context(enable_metadata_routing=routing):
        if routing:
            inner.set_fit_request(sample_weight=True)
        clf = MinimumRiskClassifier(inner, calibrate=calibrate).fit(X, Y, sample_weight=WEIGHTS)
        plain = MinimumRiskClassifier(inner, calibrate=calibrate).fit(X, Y)
    alone = GaussianNB()
    if calibrate is not None:
        alone = CalibratedClassifierCV(alone)
    alone.fit(X, Y, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(clf.predict_proba(X), alone.predict_proba(X))
    assert not np.allclose(plain.predict_proba(X), alone.predict_proba(X), atol=0.01)
    assert clf.train_prior_[1] == pytest.approx(WEIGHTS[Y == 1].sum() / WEIGHTS.sum())


@pytest.mark.parametrize("as_table", [np.asarray, pd.DataFrame, pl.DataFrame, list], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("calibrate", [None, "sigmoid", "isotonic"])
@pytest.mark.parametrize("grouped", [False, True])
def test_rows_of_weight_zero_are_in_no_fold(calibrate, grouped, as_table):
    """With their groups and costs; a class that has only such rows is none."""
    present = np.arange(300) % 4 > 0
    labels = np.where(present | (Y == 1), np.where(Y == 1, "yes", "no"), "unknown")
    weights, rows = np.where(present, WEIGHTS, 0.0), np.flatnonzero(present)
    clf = MinimumRiskClassifier(CSRAClassifier(n_estimators=3), calibrate=calibrate)
    given = {"sample_weight": weights, "sample_cost": np.column_stack((WEIGHTS, WEIGHTS[::-1]))}
    if grouped and calibrate is not None:
        given["groups"] = np.arange(300) // 3
    weighted = clone(clf).fit(as_table(X), labels, **given)
    absent = clone(clf).fit(as_table(X[rows]), labels[rows], **{name: of[rows] for name, of in given.items()})
    assert weighted.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(weighted.predict_proba(as_table(X)), absent.predict_proba(as_table(X)))
    np.testing.assert_array_equal(weighted.train_prior_, absent.train_prior_)


@pytest.mark.parametrize("grouped", [False, True])
def test_folds_that_were_given_are_of_all_rows(grouped):
    """Rows of weight 0 count for the splitter, but not for the model."""
    present = np.arange(300) % 4 > 0
    rows, groups = np.flatnonzero(present), np.arange(300) // 3
    cv, place = GroupKFold(3) if grouped else TimeSeriesSplit(3), np.cumsum(present) - 1
    sides = [[place[side[present[side]]] for side in fold] for fold in cv.split(X, Y, groups if grouped else None)]
    clf = MinimumRiskClassifier(GaussianNB(), calibrate="sigmoid")
    weighted = clone(clf).set_params(cv=cv).fit(X, Y, groups if grouped else None, sample_weight=present)
    absent = clone(clf).set_params(cv=sides).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), absent.predict_proba(X), rtol=1e-12)


def test_weights_that_nobody_asked_for_are_refused():
    with sklearn.config_context(enable_metadata_routing=True), pytest.raises(ValueError, match="sample_weight"):
        MinimumRiskClassifier(GaussianNB()).fit(X, Y, sample_weight=WEIGHTS)


@pytest.mark.parametrize("routing", [False, True])
def test_costs_of_training_reach_a_booster(routing):
    inner = CSRAClassifier(n_estimators=5)
    with sklearn.config_context(enable_metadata_routing=routing):
        if routing:
            inner.set_fit_request(sample_cost=True)
        clf = MinimumRiskClassifier(inner, cost=3).fit(X, Y, sample_cost=WEIGHTS)
    alone = CSRAClassifier(n_estimators=5).fit(X, Y, sample_cost=WEIGHTS)
    np.testing.assert_array_equal(clf.estimator_.decision_function(X), alone.decision_function(X))


def test_costs_of_rows_pass_through_pipelines_and_folds():
    amount = np.random.default_rng(0).lognormal(1, 2, 300)
    clf = MinimumRiskClassifier(GaussianNB())
    direct = clf.fit(StandardScaler().fit_transform(X), Y).predict(StandardScaler().fit_transform(X), amount)
    plain = make_pipeline(StandardScaler(), clone(clf)).fit(X, Y)
    np.testing.assert_array_equal(plain.predict(X, sample_cost=amount), direct)
    assert (plain.predict(X) != direct).any()
    with sklearn.config_context(enable_metadata_routing=True):
        asks = clone(clf).set_predict_request(sample_cost=True)
        routed = make_pipeline(StandardScaler(), asks).fit(X, Y)
        np.testing.assert_array_equal(routed.predict(X, sample_cost=amount), direct)


def test_a_search_finds_the_cost_that_it_is_scored_by():
    search = GridSearchCV(
        MinimumRiskClassifier(GaussianNB()), {"cost": [0.01, 20, [[0, 1], [2000, 0]]]}, scoring=make_cost_scorer(20)
    ).fit(X, Y)
    assert search.best_params_ == {"cost": 20}
    deep = GridSearchCV(
        MinimumRiskClassifier(RealBoostClassifier(), cost=20),
        {"estimator__n_estimators": [1, 10], "calibrate": [None, "sigmoid"]},
        scoring=make_cost_scorer(20, savings=True),
        cv=2,
    ).fit(X, Y)
    assert len(set(deep.cv_results_["mean_test_score"])) == 4
    assert 0 < deep.best_score_ < 1


def test_other_estimators_use_its_scores_and_probabilities():
    inner = GaussianNB()
    clf = MinimumRiskClassifier(inner, cost=20)
    alone = cross_val_score(inner, X, Y, scoring="roc_auc")
    np.testing.assert_allclose(cross_val_score(clf, X, Y, scoring="roc_auc"), alone, atol=0.005)  # ties at p = 1
    both = [cross_val_predict(model, X, Y, method="predict_proba") for model in (clf, inner)]
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("calibrate", [None, "sigmoid"])
def test_tables_with_categories_reach_a_booster(calibrate):
    frame, y = make_fraud(1500)
    clf = MinimumRiskClassifier(
        RealBoostClassifier(n_estimators=10), cost=20, calibrate=calibrate, cv=2 if calibrate else None
    )
    clf.fit(frame, y)
    assert clf.feature_names_in_.tolist() == frame.columns.tolist()
    assert clf.n_features_in_ == 10
    flagged = clf.predict(frame)
    assert flagged[y == 1].mean() > 0.5 > 0.2 > flagged.mean()
    other = clone(clf).fit(pl.from_pandas(frame), pl.Series(y.to_numpy()))
    np.testing.assert_array_equal(other.predict(pl.from_pandas(frame)), flagged)
    named = clone(clf).fit(frame, pd.Series(np.where(y == 1, "fraud", "ok"), dtype=object))
    assert named.pos_label_ == "fraud"
    np.testing.assert_array_equal(named.predict(frame) == "fraud", flagged == 1)
