"""Presets of boosting with a sampler, and bagging of under-samples."""

from __future__ import annotations

import inspect
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skewboost import (
    AdaBoostClassifier,
    CGAdaClassifier,
    CSRAClassifier,
    DataBoostIMClassifier,
    GoalSearchCV,
    RealBoostClassifier,
    RUSBoostClassifier,
    SMOTEBoostClassifier,
    UnderBaggingClassifier,
    catalogue,
)
from skewboost.boosting.catalogue import ANY, ONE_FEATURE
from skewboost.learners.samplers import DataBoost, Smote, UnderSample
from support import awkward_data, of_any_class

PRESETS = [
    (RUSBoostClassifier, {"ratio": 0.5}, UnderSample(0.5)),
    (SMOTEBoostClassifier, {"ratio": 0.7, "k_neighbors": 3}, Smote(0.7, 3)),
    (DataBoostIMClassifier, {}, DataBoost()),
]
each_preset = pytest.mark.parametrize(
    ("preset", "params", "sampler"), PRESETS, ids=lambda p: getattr(p, "__name__", "")
)


@parametrize_with_checks(
    [
        RUSBoostClassifier(n_estimators=3),
        UnderBaggingClassifier(RealBoostClassifier(n_estimators=3), n_estimators=2),
    ]
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_scikit_learn_checks(estimator, check):
    """All of them, also that a weight of two is the row twice."""
    check(estimator)


@each_preset
def test_a_preset_is_adaboost_with_its_sampler(preset, params, sampler):
    """With costs it is CGAda; so it has all that boosters have."""
    X, y = awkward_data(150)
    common = {"n_estimators": 5, "random_state": 0}
    F = preset(**params, **common).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(AdaBoostClassifier(sampler=sampler, **common).fit(X, y).decision_function(X), F)
    clf = preset(cost="balanced", **params, **common).fit(X, y)
    of_cost = CGAdaClassifier(cost="balanced", sampler=sampler, **common).fit(X, y)
    np.testing.assert_array_equal(clf.decision_function(X), of_cost.decision_function(X))
    assert not np.allclose(clf.decision_function(X), F)
    assert len(list(clf.staged_predict(X))) == len(clf.history_) == 5
    assert clf.contributions(X).shape == X.shape
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict(X), clf.predict(X))


@each_preset
def test_parameters_of_presets(preset, params, sampler):
    doc = inspect.cleandoc(preset.__doc__)
    assert all(f"\n{name} : " in doc for name in preset().get_params(deep=False))
    assert not {"sampler", "resample"} & set(preset().get_params())
    X, y = awkward_data(60)
    for name in params:
        with pytest.raises(ValueError, match=f"{name} of {type(sampler).__name__} must be .*; got -1"):
            preset(**{name: -1}).fit(X, y)


def test_only_smote_needs_imbalanced_learn(monkeypatch):
    for name in ("imblearn", "imblearn.over_sampling"):
        monkeypatch.setitem(sys.modules, name, None)  # as if it was not installed
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) < 5
    for clf in (RUSBoostClassifier(), DataBoostIMClassifier(), UnderBaggingClassifier(n_estimators=2)):
        clf.fit(X, y)
    with pytest.raises(ImportError, match=r'imbalanced-learn.*pip install "skewboost\[samplers\]"'):
        SMOTEBoostClassifier().fit(X, y)


# ------------------------------------------------------------------------------ bagging


def test_members_see_all_of_the_rare_class_and_as_many_of_the_other():
    X, y = awkward_data(300)
    clf = UnderBaggingClassifier(RealBoostClassifier(n_estimators=5), n_estimators=4, ratio=0.5, random_state=0)
    clf.fit(X, y)
    for rows in clf.estimators_samples_:
        assert len(set(rows)) == len(rows)
        assert np.bincount(y[rows]).tolist() == [2 * y.sum(), y.sum()]
    assert not np.array_equal(*(np.sort(r) for r in clf.estimators_samples_[:2]))
    mean = np.mean([member.predict_proba(X) for member in clf.estimators_], axis=0)
    np.testing.assert_allclose(clf.predict_proba(X), mean)
    np.testing.assert_array_equal(clf.predict(X), mean.argmax(axis=1))
    assert clf.feature_importances_.sum() == pytest.approx(1.0)


def test_bagging_is_the_same_in_parallel_and_follows_its_seed():
    X, y = awkward_data(200)
    clf = UnderBaggingClassifier(RealBoostClassifier(n_estimators=5, sampler=0.5), n_estimators=3, random_state=0)
    p = clone(clf).fit(X, y).predict_proba(X)
    with parallel_config("threading"):
        np.testing.assert_array_equal(clone(clf).set_params(n_jobs=2).fit(X, y).predict_proba(X), p)
    assert not np.array_equal(clone(clf).set_params(random_state=1).fit(X, y).predict_proba(X), p)


@pytest.mark.parametrize(
    "member",
    [
        CSRAClassifier(n_estimators=5),
        GaussianNB(),
        make_pipeline(StandardScaler(), GaussianNB()),
        KNeighborsClassifier(),
        RidgeClassifier(),
    ],
    ids=lambda m: type(m).__name__,
)
def test_any_classifier_can_be_a_member(member):
    """With and without weights, with and without probabilities; labels may be words."""
    X, y = awkward_data(300, missing=0.0)
    X, labels = X[:, :5], np.array(["no", "yes"])[y]
    clf = UnderBaggingClassifier(member, n_estimators=3, random_state=0)
    weights = np.random.default_rng(0).random(300)
    for sample_weight in (None, weights, np.rint(3 * weights)):
        clf.fit(X, labels, sample_weight=sample_weight)
        assert (clf.predict(X)[y == 1] == "yes").mean() > 0.6
        np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)


def test_fractional_weights_reach_the_members():
    X, y = awkward_data(200)
    weights = np.where(X[:, 0] > 0, 5.5, 0.5)
    clf = UnderBaggingClassifier(RealBoostClassifier(n_estimators=3), n_estimators=2, random_state=0)
    clf.fit(X, y, sample_weight=weights)
    for member, rows in zip(clf.estimators_, clf.estimators_samples_, strict=True):
        alone = RealBoostClassifier(n_estimators=3, pos_label=member.pos_label_)
        alone.fit(X[rows], y[rows], sample_weight=weights[rows])
        np.testing.assert_array_equal(member.decision_function(X), alone.decision_function(X))


def test_tables_go_to_the_members_as_they_are():
    rng = np.random.default_rng(0)
    shop = np.array(["food", "fuel", "toys", None], dtype=object)[rng.integers(0, 4, 200)]
    amount = np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200))
    y = (shop == "toys") & (np.nan_to_num(amount) > 0)
    pandas = pd.DataFrame({"shop": pd.Categorical(shop), "amount": amount})
    clf = UnderBaggingClassifier(RealBoostClassifier(n_estimators=5), n_estimators=3, random_state=0)
    p = clone(clf).fit(pandas, y).predict_proba(pandas)
    assert clone(clf).fit(pandas, y).feature_names_in_.tolist() == ["shop", "amount"]
    polars = pl.from_pandas(pandas)
    for table in (polars, polars.to_arrow()):
        np.testing.assert_array_equal(clone(clf).fit(table, y).predict_proba(table), p)


def test_errors_of_bagging():
    X, y = awkward_data(60)
    for params, message in [
        (
            {"booster": RealBoostClassifier},
            "must be an instance of a classifier, or None",
        ),
        ({"booster": "stump"}, "booster of UnderBaggingClassifier must be"),
        ({"n_estimators": 0}, "n_estimators of UnderBaggingClassifier must be an integer >= 1"),
        ({"ratio": 0.0}, "ratio of UnderBaggingClassifier must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            UnderBaggingClassifier(**params).fit(X, y)


def test_balance_is_worth_recall():
    """On one positive in fifty: members of balanced draws, or costs, find twice as many as plain boosting."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    y = X[:, 0] + X[:, 1] + 1.5 * rng.normal(size=6000) > np.quantile(X[:, 0] + X[:, 1], 0.998)
    train, new = slice(None, 3000), slice(3000, None)

    def recall(clf):
        return clf.fit(X[train], y[train]).predict(X[new])[y[new]].mean()

    plain = recall(AdaBoostClassifier(n_estimators=40))
    assert recall(UnderBaggingClassifier(RealBoostClassifier(n_estimators=20), random_state=0)) > max(2 * plain, 0.5)
    assert recall(RUSBoostClassifier(n_estimators=40, cost="balanced", random_state=0)) > max(2 * plain, 0.5)


@pytest.mark.parametrize("variant", ["RealBoost", "GentleBoost", "LogitBoost", "CSRA", "AdaC2", "WeightBoost"])
def test_any_variant_may_be_underneath(variant):
    X, y = awkward_data(300, missing=0.0)
    entry = next(e for e in catalogue() if e.name == variant)
    preset = RUSBoostClassifier(variant=variant, n_estimators=5, random_state=0).fit(X, y)
    own = entry.make(5, sampler=UnderSample(), random_state=0).fit(X, y)
    np.testing.assert_array_equal(preset.decision_function(X), own.decision_function(X))
    np.testing.assert_array_equal(preset.predict_proba(X), own.predict_proba(X))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"variant": "Boost"}, "variant of RUSBoostClassifier must be one of 'AdaBoost'"),
        ({"variant": "AlternatingTree"}, "variant of RUSBoostClassifier must be one of"),
        ({"variant": "RealBoost", "cost": 3}, "RealBoost does not use costs"),
        ({"variant": "CSRA", "calibrate": "sigmoid"}, "has no effect with variant='CSRA'"),
    ],
)
def test_what_a_variant_cannot_be_told_is_refused(params, message):
    X, y = awkward_data(100)
    with pytest.raises(ValueError, match=message):
        RUSBoostClassifier(**params).fit(X, y)


@pytest.mark.sample(12)
@pytest.mark.parametrize("entry", [e for e in catalogue() if e.learners in (ANY, ONE_FEATURE)], ids=lambda e: e.name)
def test_a_variant_underneath_reads_costs_in_its_own_way(entry):
    X, y = awkward_data(200, missing=0.0)
    each = of_any_class(1.0 + np.arange(200) % 3)
    preset = RUSBoostClassifier(variant=entry.name, n_estimators=3, random_state=0)
    if not entry.cost_sensitive:
        with pytest.raises(ValueError, match=f"sample_cost has no effect, because {entry.name} does not use costs"):
            preset.fit(X, y, sample_cost=each)
        return
    for params, given in [({}, {}), ({"cost": 3.0}, {}), ({}, {"sample_cost": each})]:
        own = entry.make(3, sampler=UnderSample(), random_state=0, **params).fit(X, y, **given)
        F = clone(preset).set_params(**params).fit(X, y, **given).decision_function(X)
        np.testing.assert_array_equal(F, own.decision_function(X))


def test_a_variant_underneath_minds_what_it_can_boost():
    X, y = awkward_data(100)
    with pytest.raises(ValueError, match="ConsistentBoostClassifier needs a learner that tests one feature, but Tree"):
        RUSBoostClassifier(variant="ConsistentBoost", estimator="tree").fit(X, y)


def test_a_goal_for_a_variant_that_is_told_no_costs():
    """Costs then reach it as weights, as they reach the variant itself."""
    X, y = awkward_data(200, missing=0.0)
    preset = RUSBoostClassifier(variant="RealBoost", n_estimators=3, random_state=0)
    search = GoalSearchCV(preset, "recall>=0.5", confidence=None, cv=2, max_points=3, random_state=0).fit(X, y)
    assert search.predict(X).shape == y.shape


def test_a_failed_fit_of_bagging_leaves_the_model_as_it_was():
    X, y = awkward_data(100)
    clf = UnderBaggingClassifier(RealBoostClassifier(n_estimators=3), n_estimators=2, random_state=0).fit(X, y)
    p = clf.predict_proba(X)
    with pytest.raises(ValueError, match="at least 2 classes"):
        clf.fit(X[:, :2], np.zeros(100))
    np.testing.assert_array_equal(clf.predict_proba(X), p)


@pytest.mark.parametrize("clf", [RUSBoostClassifier, CSRAClassifier])
def test_a_model_keeps_no_costs_of_rows(clf):
    """Its size does not depend on how many rows it was trained on."""
    X, y = np.arange(4000.0)[:, None] % 7, np.arange(4000) % 4 == 0
    sizes = []
    for n in (1000, 4000):
        model = clf(n_estimators=2, random_state=0).fit(X[:n], y[:n], sample_cost=of_any_class(1.0 + np.arange(n)))
        sizes.append(len(pickle.dumps(model)))
    assert abs(sizes[0] - sizes[1]) < 1000


@pytest.mark.parametrize(("preset", "params", "sampler"), PRESETS)
def test_a_fitted_preset_can_be_displayed(preset, params, sampler):
    X, y = awkward_data(80)
    assert preset.__name__ in preset(n_estimators=1, **params).fit(X, y)._repr_html_()
