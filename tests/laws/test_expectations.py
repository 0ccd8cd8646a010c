"""What users of other libraries expect of any classifier, over all public estimators."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skewboost as sb
from estimators import CONFIGURED, Configured, answers, assert_same, csra, each, fitted, portfolio, real, rows, table
from skewboost.learners import Tree

X, Y = rows(240)
NEW, NEW_Y = rows(400, seed=9)


def scores(clf, X):
    """The score of the second class."""
    if hasattr(clf, "predict_proba"):
        return clf.predict_proba(X)[:, 1]
    return clf.decision_function(X)


# ------------------------------------------------------------------------------------ they learn


@pytest.mark.sample(3)
@each()
def test_real_classes_are_told_apart(configured):
    data = load_breast_cancer(return_X_y=True)
    X_in, X_out, y_in, y_out = train_test_split(*data, train_size=200, stratify=data[1], random_state=0)
    clf = configured.make()
    if "monotonic_cst" in clf.get_params() and clf.monotonic_cst is not None:
        clf.set_params(monotonic_cst=[-1] + 29 * [0])
    if "regression" in configured.name:
        clf.set_params(estimator=make_pipeline(StandardScaler(), LogisticRegression()))
    fitted(clf, X_in, y_in)
    assert roc_auc_score(y_out, scores(clf, X_out)) > 0.85
    decided = np.isin(clf.predict(X_out), clf.classes_)
    assert decided.mean() > 0.3
    assert (clf.predict(X_out)[decided] == y_out[decided]).mean() > 0.75


@pytest.mark.sample(3)
@each(many=True)
def test_three_real_classes_are_told_apart(configured):
    X, y = load_iris(return_X_y=True)
    found = cross_val_predict(configured.make(), X, np.array(["a", "b", "c"])[y], cv=3)
    assert (found == np.array(["a", "b", "c"])[y]).mean() > 0.88


@pytest.mark.slow
@each(many=True, slow=False)
def test_ten_classes_and_classes_of_few_examples(configured):
    X, y = load_digits(return_X_y=True)
    few = np.r_[np.flatnonzero(y < 9)[:700], np.flatnonzero(y == 9)[:3]]
    clf = fitted(configured.make(), X[few], y[few])
    p = clf.predict_proba(X[700:]) if hasattr(clf, "predict_proba") else np.eye(10)[clf.predict(X[700:])]
    assert p.shape[1] == 10
    assert np.isfinite(p).all()
    usual = y[700:] < 9
    assert (clf.predict(X[700:])[usual] == y[700:][usual]).mean() > 0.3


@pytest.mark.sample(3)
@each()
def test_importances_are_shares_and_find_what_matters(configured):
    clf = fitted(configured.make(), X, Y)
    if not hasattr(clf, "feature_importances_"):
        pytest.skip("has no importances")
    found = clf.feature_importances_
    assert found.shape == (4,)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1.0)
    assert found.argmax() == 0  # of four columns the first has the largest effect, and the last has none
    assert found[3] < 0.25


# ------------------------------------------------------------------------------------- missing and categories


@pytest.mark.sample(3)
@each(table=True)
def test_a_tenth_of_missing_cells_costs_little(configured):
    """Training and new rows both have gaps."""
    rng = np.random.default_rng(3)
    with_gaps, new = (np.where(rng.random(data.shape) < 0.1, np.nan, data) for data in (X, NEW))
    whole, gaps = fitted(configured.make(), X, Y), fitted(configured.make(), with_gaps, Y)
    before = roc_auc_score(NEW_Y, scores(whole, NEW))
    assert roc_auc_score(NEW_Y, scores(gaps, new)) > before - 0.12


@pytest.mark.sample(3)
@each(table=True)
def test_names_and_order_of_categories_do_not_matter(configured):
    data, y = table(240)
    new, _ = table(60, seed=5)
    names = {"low": "zz", "mid": "mm", "high": "aa"}
    clf = fitted(configured.make(), data, y)
    if not any(name.rpartition("__")[2] == "random_state" for name in clf.get_params()):  # draws depend on contents
        other = fitted(configured.make(), data.assign(kind=data["kind"].map(names)), y)
        assert_same(answers(other, new.assign(kind=new["kind"].map(names))), answers(clf, new), rtol=1e-9, atol=1e-9)
    shuffled = data.assign(kind=data["kind"].cat.reorder_categories(["mid", "high", "low"]))
    assert_same(answers(fitted(configured.make(), shuffled, y), new), answers(clf, new), rtol=1e-9, atol=1e-9)


@pytest.mark.sample(3)
@each(table=True)
def test_categories_need_not_be_in_an_order(configured):
    """Every other one of six categories is positive."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 6, 600)
    y = np.where(rng.random(600) < 0.9, kind % 2, 1 - kind % 2)
    data = pd.DataFrame({"kind": np.array(list("abcdef"))[kind], "x": rng.normal(size=600)})
    clf = fitted(configured.make(), data[:400], y[:400])
    assert roc_auc_score(y[400:], scores(clf, data[400:])) > 0.8


# ---------------------------------------------------------------------------------- weights, costs, thresholds


@pytest.mark.sample(3)
@each()
def test_a_class_that_weighs_more_is_predicted_more(configured):
    a = fitted(configured.make(), X, Y)
    b = fitted(configured.make(), X, Y, sample_weight=np.where(Y == 1, 4.0, 1.0))
    if not hasattr(a, "predict_proba") or configured.name.startswith(("bags", "code")):
        return  # they have no probabilities, or balance the classes
    assert b.predict_proba(NEW)[:, 1].mean() > a.predict_proba(NEW)[:, 1].mean()


WITH_COSTS = {
    "portfolio": portfolio(),
    "least risk": sb.MinimumRiskClassifier(real()),
    "least risk of a portfolio": sb.MinimumRiskClassifier(portfolio()),
    "CSRA": csra(),
    "AdaMEC": sb.AdaMECClassifier(n_estimators=10),
    "CGAda": sb.CGAdaClassifier(n_estimators=10),
    "AdaBoostMH": sb.AdaBoostMHClassifier(n_estimators=10),
    "RUSBoost": sb.RUSBoostClassifier(n_estimators=10, random_state=0),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", WITH_COSTS)
def test_a_dearer_miss_flags_more(name):
    flagged = []
    for cost in (0.05, 0.5, 1, 2, 20):
        clf = fitted(clone(WITH_COSTS[name]).set_params(cost=cost), X, Y)
        flagged.append((clf.predict(NEW) == 1).mean())
    assert flagged == sorted(flagged)
    assert flagged[0] < NEW_Y.mean() < flagged[-1]


IN_FOLDS = {"confidence": None, "cv": 3, "random_state": 0}
GOALS = {
    "portfolio": lambda goal: portfolio(goal=goal),
    "search of a portfolio": lambda goal: sb.GoalSearchCV(portfolio(cost=1), goal, random_state=0),
    "threshold of CSRA": lambda goal: sb.GoalSearchCV(csra(), goal, tune="threshold", **IN_FOLDS),
    "cost of CSRA": lambda goal: sb.GoalSearchCV(csra(), goal, tune="cost", max_points=8, **IN_FOLDS),
    "threshold of a regression": lambda goal: sb.GoalSearchCV(LogisticRegression(), goal, tune="threshold", **IN_FOLDS),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", GOALS)
def test_a_stricter_goal_flags_more_or_fewer(name):
    recall = [(fitted(GOALS[name](f"recall >= {r}%"), X, Y).predict(NEW) == 1).mean() for r in (40, 60, 80)]
    assert recall == sorted(recall)
    assert recall[0] < recall[-1]
    alarms = [(fitted(GOALS[name](f"false_alarm_rate <= {r}%"), X, Y).predict(NEW) == 1).mean() for r in (50, 30, 10)]
    assert alarms == sorted(alarms, reverse=True)
    assert alarms[0] > alarms[-1]


@pytest.mark.sample(3)
@each()
def test_thresholds_of_scikit_learn_apply(configured):
    clf = configured.make()
    method = "predict_proba" if hasattr(fitted(clone(clf), X, Y), "predict_proba") else "decision_function"
    fixed = fitted(FixedThresholdClassifier(clone(clf), threshold=0.3, response_method=method, pos_label=1), X, Y)
    np.testing.assert_array_equal(fixed.predict(NEW) == 1, scores(fixed.estimator_, NEW) >= 0.3)
    tuned = TunedThresholdClassifierCV(clone(clf), scoring="f1", response_method=method, cv=2, random_state=0)
    assert set(fitted(tuned, X, Y).predict(NEW)) <= {0, 1}


# ------------------------------------------------------------------------------------------------- probabilities


@pytest.mark.sample(2)
@each()
def test_others_calibrate_combine_and_search_them(configured):
    clf = configured.make()
    if isinstance(clf, sb.GoalSearchCV | sb.CascadeClassifier) or clf.get_params().get("goal"):
        return  # a part of the rows of a fold is too few for a certificate
    new = NEW[:50]
    for around in (
        CalibratedClassifierCV(clf, cv=2),
        BaggingClassifier(clf, n_estimators=2, random_state=0),
        VotingClassifier([("a", clf), ("b", LogisticRegression())], voting="soft"),
        StackingClassifier([("a", clf)], LogisticRegression(), cv=2),
        make_pipeline(StandardScaler(), clf),
    ):
        p = fitted(around, X, Y).predict_proba(new)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert np.isfinite(p).all()
    grid = {"pos_label": [0, 1]} if "pos_label" in clf.get_params() else {"n_jobs": [None, 1]}
    if "monotonic" not in configured.name:
        assert fitted(GridSearchCV(clf, grid, cv=2, error_score="raise"), X, Y).best_score_ > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("inner", [sb.AdaBoostClassifier(n_estimators=200), portfolio()], ids=["AdaBoost", "portfolio"])
def test_calibration_does_not_make_probabilities_worse(inner, method):
    X, y = rows(2000)
    new, new_y = rows(4000, seed=5)
    plain = fitted(clone(inner), X, y).predict_proba(new)[:, 1]
    ours = fitted(sb.MinimumRiskClassifier(clone(inner), cost=1, calibrate=method), X, y).predict_proba(new)[:, 1]
    assert brier_score_loss(new_y, ours) < brier_score_loss(new_y, plain) + 0.005


@pytest.mark.sample(3)
@each()
def test_small_and_large_types_of_numbers_predict_as_doubles(configured):
    coarse, new = np.clip(np.round(20 * X) + 128, 0, 255), np.clip(np.round(20 * NEW) + 128, 0, 255)
    clf = fitted(configured.make(), coarse.astype(np.uint8), Y)
    expected = answers(clf, new)
    if "predict_proba" in expected:
        assert expected["predict_proba"].dtype == np.float64
    for kind in (np.uint8, np.int16, np.uint64, np.float16, np.float32, np.longdouble):
        assert_same(answers(clf, new.astype(kind)), expected, rtol=1e-5, atol=1e-6)
    flags = (X > 0)[:, :2]
    assert set(fitted(_unconstrained(configured), flags, Y).predict((NEW > 0)[:, :2])) <= {0, 1, -1}


def _unconstrained(configured: Configured):
    clf = configured.make()
    return clf.set_params(monotonic_cst=None) if "monotonic_cst" in clf.get_params(deep=False) else clf


# ---------------------------------------------------------------------------------------------------- constraints

TREE = Tree(max_leaf_nodes=6, monotonic_cst=[1, -1, 0, 0])
CONSTRAINED = {
    "portfolio": portfolio(monotonic_cst=[1, -1, 0, 0]),
    "portfolio, additive": portfolio(monotonic_cst=[1, -1, 0, 0], interaction_cst="no_interactions"),
    "RealBoost": sb.RealBoostClassifier(estimator=TREE, n_estimators=20),
    "LogitBoost": sb.LogitBoostClassifier(estimator=TREE, n_estimators=10),
    "CSRA": sb.CSRAClassifier(estimator=TREE, n_estimators=20, cost=5),
    "calibrated": sb.CGAdaClassifier(estimator=TREE, n_estimators=20, calibrate="sigmoid", random_state=0),
    "least risk": sb.MinimumRiskClassifier(portfolio(monotonic_cst=[1, -1, 0, 0]), cost=5),
    "bags": sb.UnderBaggingClassifier(sb.RealBoostClassifier(estimator=TREE, n_estimators=5), random_state=0),
    "search": sb.GoalSearchCV(portfolio(cost=1, monotonic_cst=[1, -1, 0, 0]), "recall >= 60%", random_state=0),
    "goal": portfolio(goal="recall >= 60%", monotonic_cst=[1, -1, 0, 0]),
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", CONSTRAINED)
@pytest.mark.parametrize("labels", [(0, 1), (1, 0)], ids=str)
def test_constraints_hold_everywhere(name, labels):
    """The probability of the second class in order rises with one column and falls with another."""
    signs = [1, -1, 1, 1] if labels == (0, 1) else [-1, 1, 1, 1]  # the constraints are true
    clf, grid = fitted(clone(CONSTRAINED[name]), X * signs, np.array(labels)[Y]), np.linspace(-5, 5, 60)
    for column, direction in ((0, 1), (1, -1)):
        lines = np.repeat(NEW[:15], 60, axis=0)
        lines[:, column] = np.tile(grid, 15)
        steps = np.diff(scores(clf, lines).reshape(15, 60), axis=1)
        assert (direction * steps >= -1e-12).all()
        assert (direction * steps > 1e-6).any()


ADDITIVE = {
    "portfolio": portfolio(interaction_cst="no_interactions"),
    "stumps": sb.RealBoostClassifier(n_estimators=30),
    "consistent": sb.ConsistentBoostClassifier(n_estimators=30),
    "CSGA": sb.CSGAClassifier(n_estimators=30, cost=3),
}


@pytest.mark.parametrize("name", ADDITIVE)
def test_where_nothing_interacts_effects_add_up(name):
    clf = fitted(clone(ADDITIVE[name]), X, Y)
    start = NEW[:30]
    for i, j in ((0, 1), (1, 2), (0, 3)):
        moved = [start.copy() for _ in range(4)]
        for own, columns in zip(moved, ((), (i,), (j,), (i, j))):
            own[:, list(columns)] += 1.3
        F = [clf.decision_function(own) for own in moved]
        np.testing.assert_allclose(F[3] - F[1], F[2] - F[0], atol=1e-9)


# ---------------------------------------------------------------------------------------- rounds and members


@pytest.mark.sample(3)
@pytest.mark.parametrize("entry", sb.catalogue(), ids=lambda e: e.name)
@pytest.mark.parametrize("kind", ["names", "weights"])
def test_early_stopping_knows_labels_and_weights_of_any_kind(entry, kind):
    """Names of labels do not matter to it, nor does it when all weights are doubled and smoothing is not."""
    X, y = rows(400)
    plain = entry.make(40, early_stopping=4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a = plain.fit(X, y)
        if kind == "names":
            b = clone(plain).fit(X, np.where(y == 1, "yes", "no"))
        else:
            b = clone(plain).fit(X, y, sample_weight=np.ones(400))
    assert b.n_estimators_ == a.n_estimators_ <= 40
    np.testing.assert_allclose(b.decision_function(NEW), a.decision_function(NEW), rtol=1e-9, atol=1e-9)
    held = [r["validation_score"] for r in a.history_]
    assert a.n_estimators_ == max(1, int(np.argmax(held)) + 1)


@pytest.mark.parametrize(
    "inner", [real(), portfolio(), LogisticRegression()], ids=["booster", "portfolio", "regression"]
)
def test_members_of_bags_are_fitted_to_balanced_samples_and_averaged(inner):
    clf = fitted(sb.UnderBaggingClassifier(inner, n_estimators=4, random_state=0), X, Y)
    assert len(clf.estimators_) == len(clf.estimators_samples_) == 4
    for member, sample in zip(clf.estimators_, clf.estimators_samples_):
        assert np.bincount(Y[sample]).tolist() == [Y.sum()] * 2
        assert len(np.unique(sample)) == len(sample)
        np.testing.assert_array_equal(member.classes_, [0, 1])
    mean = np.mean([member.predict_proba(NEW) for member in clf.estimators_], axis=0)
    np.testing.assert_allclose(clf.predict_proba(NEW), mean)
    alone = fitted(sb.UnderBaggingClassifier(inner, n_estimators=1, random_state=0), X, Y)
    np.testing.assert_allclose(alone.predict_proba(NEW), alone.estimators_[0].predict_proba(NEW))


def test_every_configuration_has_a_name_of_its_own():
    assert len({configured.name for configured in CONFIGURED}) == len(CONFIGURED)
