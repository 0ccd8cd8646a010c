"""The weak learners, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from engine.partitioned import PartitionedEngine
from skewboost import AdaBoostClassifier, GentleBoostClassifier, LogitBoostClassifier, RealBoostClassifier
from skewboost.learners import Histogram, Line, Stump, Tree
from support import awkward_data

LABEL_BOOSTERS = [AdaBoostClassifier, RealBoostClassifier, GentleBoostClassifier]


# ------------------------------------------------------------------------- histogram


@pytest.mark.parametrize("engine", ["reference", "cpu", PartitionedEngine()], ids=str)
@pytest.mark.parametrize("missing", ["learn", "abstain"])
def test_a_histogram_votes_with_the_log_odds_of_its_bins(engine, missing):
    """One round of RealBoost against the definition, bin by bin, on the feature of the lowest Z."""
    X, y = awkward_data()
    edges = [np.nanquantile(X[:, j], [0.2, 0.5, 0.8]) for j in range(9)]
    edges = [np.unique(e) for e in edges]
    clf = RealBoostClassifier(estimator=Histogram(edges=edges, missing=missing), n_estimators=1, engine=engine)
    F = clf.fit(X, y).decision_function(X)
    n = len(y)
    best = (np.inf, None)
    for j in range(9):
        part = np.where(np.isnan(X[:, j]), -1, np.searchsorted(edges[j], X[:, j]))
        z, g = 0.0, np.zeros(n)
        for b in np.unique(part):
            plus, minus = ((part == b) & (y == c) for c in (1, 0))
            if b == -1 and missing == "abstain":
                z += (part == b).mean()
                continue
            z += 2 * np.sqrt(plus.mean() * minus.mean())
            g[part == b] = 0.5 * np.log((plus.mean() + 1 / n) / (minus.mean() + 1 / n))
        if z < best[0] - 1e-12:
            best = (z, g)
    np.testing.assert_allclose(F, best[1], atol=1e-12)
    assert clf.history_[0]["criterion"] == pytest.approx(best[0], abs=1e-12)


def test_a_histogram_learns_what_a_stump_cannot_in_one_round():
    x = np.linspace(-1, 1, 400)[:, None]
    y = np.abs(x[:, 0]) < 0.4
    assert (RealBoostClassifier(estimator=Histogram(max_bins=20), n_estimators=1).fit(x, y).predict(x) == y).all()
    assert not (RealBoostClassifier(n_estimators=1).fit(x, y).predict(x) == y).all()


def test_histogram_regression_fits_bin_means():
    X, y = awkward_data(missing=0.0)
    clf = LogitBoostClassifier(estimator=Histogram(max_bins=4), n_estimators=1).fit(X[:, :1], y)
    F, cuts = clf.decision_function(X[:, :1]), clf._model.bins.features[0].cuts
    part = np.searchsorted(cuts, X[:, 0])
    for b in range(4):
        # at P = 1/2 the response is ±2 and half its mean is 2p - 1
        np.testing.assert_allclose(F[part == b], 2 * y[part == b].mean() - 1, atol=1e-12)


# ------------------------------------------------------------------------------ line


def test_a_line_is_the_weighted_least_squares_fit_of_the_best_feature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + np.array([0.0, 1e6, -5.0])
    y = X[:, 2] + rng.normal(size=200) > -5
    weights = rng.random(200) + 0.1
    clf = GentleBoostClassifier(estimator=Line(), n_estimators=1, pos_label=True).fit(X, y, sample_weight=weights)
    (term,) = clf.estimators_
    target = np.where(y, 1.0, -1.0)
    slope, intercept = np.polyfit(X[:, 2], target, 1, w=np.sqrt(weights))
    assert term.feature == 2
    assert term.slope == pytest.approx(slope, rel=1e-9)
    assert term.intercept == pytest.approx(intercept, rel=1e-9)
    np.testing.assert_allclose(clf.decision_function(X), slope * X[:, 2] + intercept, rtol=1e-8)


def test_a_line_ignores_what_is_missing_and_adds_nothing_there():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = x + 0.5 * rng.normal(size=300) > 0
    holed = np.where(rng.random(300) < 0.3, np.nan, x)
    clf = GentleBoostClassifier(estimator=Line(), n_estimators=1, pos_label=True).fit(holed[:, None], y)
    seen = ~np.isnan(holed)
    slope, _ = np.polyfit(holed[seen], np.where(y[seen], 1.0, -1.0), 1)
    assert clf.estimators_[0].slope == pytest.approx(slope, rel=1e-9)
    np.testing.assert_array_equal(clf.decision_function(holed[:, None])[~seen], 0.0)


@pytest.mark.parametrize("sampler", [None, "bootstrap"])
@pytest.mark.parametrize("unit", [5e-324, 2.0**-1040, 2.0**-1022, 2.0**-500, 2.0**500, 2.0**1017], ids=str)
def test_lines_do_not_care_about_units(unit, sampler):
    """Not even where the inverse of a unit is no double; and their sum is what the rounds add up to."""
    rng = np.random.default_rng(0)
    x = np.where(rng.random((300, 2)) < 0.05, np.nan, rng.integers(-40, 41, (300, 2)))
    y = np.nan_to_num(x[:, 0]) + 20 * rng.normal(size=300) > 10

    def fitted(x):
        clf = LogitBoostClassifier(estimator=Line(), n_estimators=8, sampler=sampler, random_state=0).fit(x, y)
        *_, last = clf.staged_decision_function(x)
        np.testing.assert_allclose(last, clf.decision_function(x), rtol=1e-12, atol=1e-13)
        return clf

    plain, scaled = fitted(x), fitted(x * unit)
    np.testing.assert_array_equal(scaled.decision_function(x * unit), plain.decision_function(x))
    np.testing.assert_allclose(scaled.contributions(x * unit), plain.contributions(x), atol=1e-13)
    assert scaled.baseline_ == pytest.approx(plain.baseline_, abs=1e-13)
    for f, g, column in zip(scaled.shape_functions(), plain.shape_functions(), x.T):
        np.testing.assert_allclose(f(column * unit), g(column), atol=1e-13)


@pytest.mark.parametrize("sampler", [None, "bootstrap"])
@pytest.mark.parametrize("offset", [1e9, -1e12, 1e15, 2.0**53 - 64], ids=str)
def test_lines_do_not_care_how_far_from_zero_a_column_is(offset, sampler):
    rng = np.random.default_rng(0)
    x = rng.integers(-40, 41, (300, 2)).astype(float)
    y = x[:, 0] + 20 * rng.normal(size=300) > 10
    plain, shifted = (
        LogitBoostClassifier(estimator=Line(), n_estimators=8, sampler=sampler, random_state=0).fit(x + k, y)
        for k in (0.0, offset)
    )
    F = plain.decision_function(x)
    np.testing.assert_allclose(shifted.decision_function(x + offset), F, atol=1e-10)
    np.testing.assert_allclose(list(shifted.staged_decision_function(x + offset))[-1], F, atol=1e-10)
    np.testing.assert_allclose(shifted.contributions(x + offset), plain.contributions(x), atol=1e-10)
    np.testing.assert_allclose(shifted.contributions(x + offset).sum(axis=1) + shifted.baseline_, F, atol=1e-10)
    for f, g, column in zip(shifted.shape_functions(), plain.shape_functions(), x.T):
        np.testing.assert_allclose(f(column + offset), g(column), atol=1e-10)


@pytest.mark.parametrize("sampler", [None, "bootstrap"])
def test_lines_are_finite_on_any_number(sampler):
    """Also where all of training was 1e600 times as small, and two lines would be infinite with opposite signs."""
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (200, 3)) * np.array([5e-324, 1e-310, 1.0])
    X[:, 2] *= 10.0 ** rng.uniform(-300, 300, 200)
    y = X[:, 0] / 5e-324 - X[:, 1] / 1e-310 + 5 * rng.normal(size=200) > 3
    clf = LogitBoostClassifier(estimator=Line(), n_estimators=12, sampler=sampler, random_state=0).fit(X, y)
    assert {t.feature for t in clf.estimators_} >= {0, 1}
    far = rng.choice([1e308, -1e308, 1.0, -1e10, 0.0, np.nan], (100, 3))
    F = clf.decision_function(far)
    assert np.isfinite(F).all()
    np.testing.assert_allclose(list(clf.staged_decision_function(far))[-1], F, rtol=1e-9)
    np.testing.assert_allclose(clf.contributions(far).sum(axis=1) + clf.baseline_, F, rtol=1e-9)


def test_lines_stay_finite_where_rows_have_next_to_no_weight():
    rng = np.random.default_rng(0)
    x = np.exp(5 * rng.normal(size=(200, 3)))
    y = x[:, 0] + rng.normal(size=200) > 1
    clf = GentleBoostClassifier(estimator=Line(), n_estimators=60).fit(x, y)
    assert np.isfinite(clf.decision_function(x)).all()
    assert np.isfinite([r["loss"] for r in clf.history_]).all()


def test_lines_under_logitboost_are_logistic_regression():
    """On one feature the rounds converge to the maximum-likelihood line."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 1))
    y = rng.random(1000) < 1 / (1 + np.exp(-(1.5 * x[:, 0] - 1)))
    clf = LogitBoostClassifier(estimator=Line(), n_estimators=30, pos_label=True).fit(x, y)
    mle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(x, y)
    np.testing.assert_allclose(2 * clf.decision_function(x), mle.decision_function(x), atol=1e-4)


# --------------------------------------------------------------------------- adapter


@pytest.mark.sample(6)
@pytest.mark.parametrize("booster", LABEL_BOOSTERS)
@pytest.mark.parametrize(
    "learner",
    [
        GaussianNB(),
        SVC(C=0.5),
        DecisionTreeClassifier(max_depth=2),
        KNeighborsClassifier(5),
    ],
    ids=lambda e: type(e).__name__,
)
def test_any_classifier_can_be_boosted(booster, learner):
    X, y = awkward_data(300, missing=0.0)
    clf = booster(estimator=learner, n_estimators=5, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.8
    again = booster(estimator=learner, n_estimators=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    losses = [1.0] + [r["loss"] for r in clf.history_]
    if booster is not GentleBoostClassifier:
        assert all(b <= a + 1e-12 for a, b in itertools.pairwise(losses))


def test_weights_reach_a_classifier_that_takes_them():
    seen = []

    class Spy(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append(sample_weight)
            return super().fit(X, y, sample_weight)

    X, y = awkward_data(missing=0.0)
    AdaBoostClassifier(estimator=Spy(), n_estimators=3).fit(X, y)
    np.testing.assert_allclose(seen[0], 1.0)
    assert all(w.sum() == pytest.approx(len(y)) for w in seen)
    assert np.ptp(seen[1]) > 0.1


def test_rows_are_drawn_by_weight_for_one_that_does_not():
    seen = []

    class Spy(KNeighborsClassifier):
        def fit(self, X, y):
            seen.append(X[:, 0].astype(int))
            return super().fit(X, y)

    X = np.column_stack((np.arange(400.0), np.random.default_rng(0).normal(size=400)))
    y = np.arange(400) % 2
    weights = np.where(np.arange(400) < 200, 9.0, 1.0)
    AdaBoostClassifier(estimator=Spy(3), n_estimators=1, random_state=0).fit(X, y, sample_weight=weights)
    assert len(seen[0]) == 400
    assert (seen[0] < 200).mean() == pytest.approx(0.9, abs=0.05)


def test_a_sklearn_tree_votes_by_leaf():
    """RealBoost on a scikit-learn tree gives each leaf its own log-odds, as on ours."""
    X, y = awkward_data(240, missing=0.0)
    theirs = RealBoostClassifier(estimator=DecisionTreeClassifier(max_depth=2, random_state=0), n_estimators=1).fit(
        X, y
    )
    ours = RealBoostClassifier(estimator=Tree(criterion="gini", max_depth=2, max_leaf_nodes=None), n_estimators=1).fit(
        X, y
    )
    assert len(np.unique(theirs.decision_function(X))) == 4
    np.testing.assert_allclose(theirs.decision_function(X), ours.decision_function(X), atol=1e-12)


def test_a_tree_that_does_not_split_is_a_constant():
    X, y = np.ones((100, 2)), np.arange(100) < 10
    for booster in LABEL_BOOSTERS:
        clf = booster(estimator=DecisionTreeClassifier(max_depth=1), n_estimators=5).fit(X, y)
        assert not clf.predict(X).any()


def test_every_part_of_a_pipeline_is_seeded():
    X, y = awkward_data(missing=0.0)
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1, max_depth=2))
    a, b = (RealBoostClassifier(estimator=pipeline, n_estimators=5, random_state=0).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_regressors_answer_logitboost_and_gentleboost():
    X, y = awkward_data(missing=0.0)
    for booster in (LogitBoostClassifier, GentleBoostClassifier):
        clf = booster(estimator=LinearRegression(), n_estimators=10).fit(X, y)
        assert clf.score(X, y) > 0.85


def test_pipelines_get_the_table_they_know():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"kind": rng.choice(list("abc"), 300), "x": rng.normal(size=300)})
    y = (X["kind"] == "b") & (X["x"] > 0)
    encode = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    clf = AdaBoostClassifier(estimator=make_pipeline(encode, DecisionTreeClassifier(max_depth=2)), n_estimators=3)
    assert clf.fit(X, y).score(X, y) == 1.0


def test_importances_are_those_of_the_estimator_or_unavailable():
    X, y = awkward_data(missing=0.0)
    tree = AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=2), n_estimators=3, random_state=0).fit(X, y)
    assert tree.feature_importances_.sum() == pytest.approx(1.0)
    bayes = AdaBoostClassifier(estimator=GaussianNB(), n_estimators=3).fit(X, y)
    with pytest.raises(AttributeError, match="does not provide feature importances"):
        bayes.feature_importances_  # noqa: B018


# ----------------------------------------------------------------------- stump, tree


def test_abstention_adds_nothing_where_a_value_is_missing():
    X, y = awkward_data(missing=0.2)
    clf = RealBoostClassifier(estimator=Stump(missing="abstain"), n_estimators=1).fit(X, y)
    feature = clf.estimators_[0].partition.splits[0].feature
    F = clf.decision_function(X)
    assert (F[np.isnan(X[:, feature])] == 0).all()
    assert (F[~np.isnan(X[:, feature])] != 0).all()


def test_missing_values_can_be_informative():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    y = rng.random(500) < 0.3
    x[~y] = np.nan
    learn = RealBoostClassifier(n_estimators=1).fit(x[:, None], y)
    abstain = RealBoostClassifier(estimator=Stump(missing="abstain"), n_estimators=20).fit(x[:, None], y)
    assert learn.score(x[:, None], y) == 1.0
    assert abstain.score(x[:, None], y) < 0.8


def test_a_tree_finds_an_interaction_that_stumps_cannot():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(800, 2))
    y = (X[:, 0] > 0.1) ^ (X[:, 1] > 0.2)
    assert RealBoostClassifier(estimator=Tree(max_leaf_nodes=6), n_estimators=30).fit(X, y).score(X, y) > 0.98
    assert RealBoostClassifier(n_estimators=30).fit(X, y).score(X, y) < 0.8


@pytest.mark.parametrize("engine", ["reference", "cpu", PartitionedEngine()], ids=str)
def test_limits_forgive_rounding(engine):
    """Six of thirty are exactly a share of 0.2, whatever 6 · (1/30) is in floating point."""
    X, y = np.arange(30.0)[:, None], np.arange(30) < 6
    tree = Tree(max_leaf_nodes=2, min_weight_leaf=0.2, min_samples_leaf=6)
    assert RealBoostClassifier(estimator=tree, n_estimators=1, engine=engine).fit(X, y).score(X, y) == 1.0


def test_fractional_weights_count_as_fractions_of_examples():
    X, y = awkward_data(200)
    tenth = np.full(200, 0.1)
    clf = RealBoostClassifier(estimator=Tree(min_samples_leaf=1, max_leaf_nodes=40), n_estimators=1)
    leaves = clf.fit(X, y, sample_weight=tenth).estimators_[0].partition.n_leaves
    assert leaves <= 20  # ten rows are one example
    tens = RealBoostClassifier(estimator=Tree(min_samples_leaf=10, max_leaf_nodes=40), n_estimators=1).fit(X, y)
    assert tens.estimators_[0].partition.n_leaves == leaves


def test_max_bins_coarsens():
    X, y = awkward_data(2000)
    coarse = RealBoostClassifier(estimator=Stump(max_bins=3), n_estimators=30).fit(X, y)
    assert max(f.n_bins for f in coarse._model.bins.features) == 3
