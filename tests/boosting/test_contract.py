"""scikit-learn's contract: checks, cloning, pickling, pipelines, searches, routing, tables of all kinds."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator, parametrize_with_checks

from skewboost import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    AdaBoostRegClassifier,
    AdaC2Classifier,
    AdaC2M1Classifier,
    AlternatingTreeClassifier,
    CGAdaClassifier,
    ConsistentBoostClassifier,
    CSB2Classifier,
    CSRealBoostClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RealBoostClassifier,
    catalogue,
)
from skewboost.learners import AlternatingTree, Stump, Tree
from support import FLAWED, awkward_data, each_engine, make

BOOSTERS = [AdaBoostClassifier, RealBoostClassifier, GentleBoostClassifier, LogitBoostClassifier]
ALL = [entry.estimator for entry in catalogue()]
each_booster = pytest.mark.parametrize("booster", BOOSTERS)
every_booster = pytest.mark.parametrize("booster", ALL)


# One of each way through fit and predict; test_all_scikit_learn_checks has the others.
REPRESENTATIVES = [
    AdaBoostClassifier(n_estimators=10),
    RealBoostClassifier(n_estimators=5, estimator="tree", n_jobs=2),
    LogitBoostClassifier(n_estimators=10),  # asks for responses
    ConsistentBoostClassifier(n_estimators=10),  # what a round adds is not its vote
    AdaBoostRegClassifier(n_estimators=10),  # its rule depends on the classes
    AdaC2Classifier(n_estimators=10),  # costs
    CSB2Classifier(n_estimators=10),
    CSRealBoostClassifier(n_estimators=10),  # costs in the exponent, two values of a leaf
    CGAdaClassifier(n_estimators=10),  # calibrated on held-out rows
    AdaBoostMHClassifier(n_estimators=10),  # many classes and labels
    AdaC2M1Classifier(n_estimators=10),
    AlternatingTreeClassifier(max_rounds=10),
]
OF_PARAMETERS = {
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
}
ignore_casts = pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")


@pytest.mark.sample(27)
@parametrize_with_checks(REPRESENTATIVES)
@ignore_casts
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_booster
def test_scikit_learn_checks_of_parameters(booster):
    done = set()
    for estimator, check in estimator_checks_generator(booster()):
        if (name := check.func.__name__) in OF_PARAMETERS:
            check(estimator)
            done.add(name)
    assert done == OF_PARAMETERS


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [make(booster, 20) for booster in ALL]
    + [booster(engine="cpu", n_jobs=2, n_estimators=20) for booster in BOOSTERS]
    + [booster(estimator="tree", n_estimators=10) for booster in (RealBoostClassifier, LogitBoostClassifier)],
    ids=str,
)
@ignore_casts
def test_all_scikit_learn_checks(estimator):
    check_estimator(estimator, on_skip=None, expected_failed_checks=FLAWED)


@every_booster
def test_clone_and_pickle_keep_the_model(booster):
    X, y = awkward_data()
    clf = make(booster, 15, Stump(max_bins=16)).fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    assert again.stop_reason_ == clf.stop_reason_
    fresh = clone(clf)
    assert not hasattr(fresh, "classes_")
    if booster is not AlternatingTreeClassifier:
        assert fresh.get_params()["estimator__max_bins"] == 16
    np.testing.assert_array_equal(fresh.fit(X, y).decision_function(X), clf.decision_function(X))


def test_parameters_show_in_signature_and_repr():
    params = LogitBoostClassifier(z_max=2.0, n_estimators=7).get_params()
    assert params["z_max"] == 2.0
    assert params["n_estimators"] == 7
    assert set(AdaBoostClassifier().get_params()) == set(params) - {"z_max", "max_step"}
    assert {"cost", "cost_on", "n_estimators"} <= set(inspect.signature(CSB2Classifier).parameters)
    assert "z_max=2.0" in repr(LogitBoostClassifier(z_max=2.0))
    assert "n_estimators" in RealBoostClassifier(n_estimators=3)._repr_html_()


@pytest.mark.parametrize("booster", [*ALL, Stump, Tree, AlternatingTree])
def test_every_parameter_is_documented(booster):
    for name in booster().get_params(deep=False):
        assert f"\n{name} : " in inspect.cleandoc(booster.__doc__)


@each_booster
def test_grid_search_reaches_into_the_learner(booster):
    X, y = awkward_data()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), booster(estimator=Tree(), n_estimators=10)),
        {f"{booster.__name__.lower()}__estimator__max_leaf_nodes": [2, 5]},
        cv=2,
        scoring="roc_auc",
    ).fit(X, y)
    assert search.best_score_ > 0.8
    assert len(set(search.cv_results_["mean_test_score"])) == 2


def test_grids_may_be_numpy_arrays():
    X, y = awkward_data(200)
    grid = {"estimator__missing": np.array(["learn", "abstain"]), "early_stopping": np.array([True, False])}
    search = GridSearchCV(RealBoostClassifier(estimator=Stump(), n_estimators=30, random_state=0), grid, cv=2)
    best = search.fit(X, y).cv_results_["mean_test_score"]
    plain = GridSearchCV(search.estimator, {k: v.tolist() for k, v in grid.items()}, cv=2).fit(X, y)
    np.testing.assert_array_equal(best, plain.cv_results_["mean_test_score"])


def test_early_stopping_works_inside_pipeline_and_search():
    X, y = awkward_data(800)
    pipeline = make_pipeline(StandardScaler(), RealBoostClassifier(n_estimators=300, early_stopping=5, random_state=0))
    search = GridSearchCV(pipeline, {"realboostclassifier__learning_rate": [0.3, 1.0]}, cv=2).fit(X, y)
    clf = search.best_estimator_[-1]
    assert clf.n_estimators_ < 300
    assert clf.stop_reason_.startswith("early stopping")


@pytest.mark.sample(12)
@every_booster
def test_sample_weight_is_routed(booster):
    X, y = awkward_data()
    weights = np.random.default_rng(0).random(len(y)) * 20
    with sklearn.config_context(enable_metadata_routing=True):
        clf = make(booster, 5).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = cross_validate(clf, X, y, params={"sample_weight": weights}, return_estimator=True, cv=2)
        unrouted = cross_validate(make(booster, 5), X, y, return_estimator=True, cv=2)
    a, b = (r["estimator"][0].decision_function(X) for r in (routed, unrouted))
    assert not np.allclose(a, b)


def frames():
    rng = np.random.default_rng(0)
    n = 300
    amount = np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n))
    shop = np.array(["food", "fuel", "toys", None], dtype=object)[rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])]
    online = rng.random(n) < 0.3
    visits = rng.integers(0, 5, n)
    known = pd.array(visits, dtype="Int64")
    known[rng.random(n) < 0.2] = pd.NA
    risky = (shop == "toys") * 1.5 + online + np.nan_to_num(amount) / 4 + rng.normal(size=n) > 2.2
    pandas = pd.DataFrame({"amount": amount, "shop": shop, "online": online, "visits": visits, "known": known})
    pandas["shop"] = pandas["shop"].astype("category")
    polars = pl.from_pandas(pandas)
    return {"pandas": pandas, "polars": polars, "arrow": polars.to_arrow()}, risky


@pytest.mark.sample(12)
@every_booster
@each_engine
def test_pandas_polars_and_arrow_are_one(booster, engine):
    tables, y = frames()
    clf = make(booster, 40, engine=engine).fit(tables["pandas"], y)
    F = clf.decision_function(tables["pandas"])
    assert clf.feature_names_in_.tolist() == ["amount", "shop", "online", "visits", "known"]
    if booster in BOOSTERS:  # others trade accuracy for recall
        assert (clf.predict(tables["pandas"]) == y).mean() > 0.85
        assert clf.feature_importances_[1] > 0.05
    for name in ("polars", "arrow"):
        np.testing.assert_array_equal(clf.decision_function(tables[name]), F)
        other = make(booster, 40, engine=engine).fit(tables[name], y)
        np.testing.assert_array_equal(other.decision_function(tables["pandas"]), F)


def test_text_and_categories_are_one_and_unseen_ones_are_missing():
    tables, y = frames()
    X = tables["pandas"]
    clf = RealBoostClassifier(n_estimators=20).fit(X, y)
    as_text = X.assign(shop=X["shop"].astype(object))
    np.testing.assert_array_equal(clf.decision_function(as_text), clf.decision_function(X))
    unseen, missing = X.assign(shop="weapons"), X.assign(shop=pd.Categorical([None] * len(X), categories=["food"]))
    np.testing.assert_array_equal(clf.decision_function(unseen), clf.decision_function(missing))


def test_numbers_of_any_type_and_order_are_one():
    X, y = awkward_data(missing=0.0)
    X = np.round(X * 4)
    clf = RealBoostClassifier(n_estimators=20).fit(X, y)
    F = clf.decision_function(X)
    for other in (np.asfortranarray(X), X.astype(np.float32), X.astype(np.int64), X.tolist(), X[::-1][::-1]):
        np.testing.assert_array_equal(RealBoostClassifier(n_estimators=20).fit(other, y).decision_function(X), F)
        np.testing.assert_array_equal(clf.decision_function(other), F)


@each_booster
@pytest.mark.parametrize("learner", ["stump", "tree"])
@each_engine
def test_stages_end_at_the_whole_and_scoring_is_their_sum(booster, learner, engine):
    X, y = awkward_data()
    clf = booster(estimator=learner, n_estimators=30, engine=engine).fit(X, y)
    F = list(clf.staged_decision_function(X))
    assert len(F) == clf.n_estimators_ == len(clf.estimators_)
    np.testing.assert_allclose(F[-1], clf.decision_function(X), atol=1e-11)
    np.testing.assert_array_equal(list(clf.staged_predict(X))[-1], clf.predict(X))
    np.testing.assert_allclose(list(clf.staged_predict_proba(X))[-1], clf.predict_proba(X), atol=1e-11)
    shorter = booster(estimator=learner, n_estimators=7, engine=engine).fit(X, y)
    np.testing.assert_allclose(F[6], shorter.decision_function(X), atol=1e-11)


def test_odd_text_and_object_labels_come_back_as_they_were():
    X = pd.DataFrame({"a": ["\0", "b", None, "\0\0"] * 10})
    y = np.array(["no", "yes", "no", "no"] * 10, dtype=object)
    clf = RealBoostClassifier(n_estimators=3).fit(X, y)
    assert clf.predict(X).dtype == object
    assert (clf.predict(X) == y).all()


def test_importances_find_what_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    y = X[:, 2] + 0.5 * X[:, 4] > 1
    for booster in BOOSTERS:
        for learner in ("stump", "tree"):
            importances = booster(estimator=learner, n_estimators=20).fit(X, y).feature_importances_
            assert importances.sum() == pytest.approx(1.0)
            assert np.argsort(importances)[::-1][:2].tolist() == [2, 4]
            assert (importances >= 0).all()
