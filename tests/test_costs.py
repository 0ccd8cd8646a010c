"""Costs are honoured or refused: estimators, ways of stating a cost, and estimators around them.

Wherever a model has probabilities without costs, its decisions are those of the least expected cost by them.
"""

from __future__ import annotations

from copy import copy
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skewboost as sb
from program_runners import run_python
from skewboost.boosting.catalogue import ONCE
from skewboost.errors import InputError
from skewboost.io import dumps, loads, to_source
from skewboost.metrics import expected_cost, total_cost
from skewboost.metrics.costs import expected_costs
from skewboost.plots import CostCurveDisplay, OperatingPointDisplay, PosteriorDisplay, Report
from support import of_any_class

RNG = np.random.default_rng(0)
N = 240
X, X_NEW = RNG.normal(size=(2, N, 3))
IS_BAD = X[:, 0] + RNG.normal(size=N) > 1.1
Y = np.where(IS_BAD, "bad", "ok")  # so that the rare class sorts first
Y_NEW = np.where(X_NEW[:, 0] + RNG.normal(size=N) > 1.1, "bad", "ok")
NOISY, NOISY_NEW = (np.digitize(rows[:, 0] + 0.5 * RNG.normal(size=N), [0.5, 1.3]) for rows in (X, X_NEW))
SHARE = IS_BAD.mean()
AMOUNT = RNG.exponential(9.0, N)  # what it costs to miss a row, if it is bad
PRICE = RNG.exponential(2.0, N)  # of a false alarm
MATRICES = np.zeros((N, 2, 2))  # the same as matrices, [true, predicted]
MATRICES[:, 0, 1], MATRICES[:, 1, 0] = AMOUNT, PRICE
BY_CLASS = np.column_stack((AMOUNT, PRICE))

pytestmark = pytest.mark.filterwarnings("ignore::skewboost.errors.CostWarning")


def quick(**params):
    return sb.SkewBoostClassifier(**{"effort": "quick", "random_state": 0, "cv": 2, **params})


@cache
def fit_portfolio():
    return quick().fit(X, Y)


@cache
def fit_of_many():
    return quick().fit(X, NOISY)


def portfolio():
    """A portfolio whose cost may be set."""
    return copy(fit_portfolio())


def least(p, miss, alarm):
    """The decisions of least expected cost, by the probabilities of "bad" and "ok"."""
    return np.where(np.asarray(miss) * p[:, 0] > np.asarray(alarm) * p[:, 1], "bad", "ok")


# how a cost is stated, and what a miss and a false alarm then cost more than the right decision
WAYS = {
    "number": ({"cost": 6}, {}, 6.0, 1.0),
    "NumPy number": ({"cost": np.float32(6)}, {}, 6.0, 1.0),
    "dict": ({"cost": {"ok": 2, "bad": 9}}, {}, 9.0, 2.0),
    "matrix": ({"cost": [[-1, 8], [2, 0.5]]}, {}, 9.0, 1.5),
    "table": ({"cost": pd.DataFrame([[0.5, 2], [8, -1]], list(x := ["ok", "bad"]), x)}, {}, 9.0, 1.5),
    "balanced": ({"cost": "balanced"}, {}, (1 - SHARE) / SHARE, 1.0),
    "cost of a miss on each row": ({}, {"sample_cost": np.where(IS_BAD, 7.0, 400.0)}, 7.0, 1.0),
    "the same, and a price": (
        {"cost": {"ok": 3, "bad": 99}}, {"sample_cost": np.where(IS_BAD, 7.0, 400.0)}, 7.0, 3.0,
    ),
    "cost of each row and class": ({}, {"sample_cost": np.tile([6.0, 2.0], (N, 1))}, 6.0, 2.0),
    "matrix of each row": ({}, {"sample_cost": np.tile([[-1.0, 8.0], [2.0, 0.5]], (N, 1, 1))}, 9.0, 1.5),
}  # fmt: skip
each_parameter = pytest.mark.parametrize("way", [way for way, (_, given, _, _) in WAYS.items() if not given])
each_way = pytest.mark.parametrize("way", WAYS)

SOUND = {  # variants whose probabilities are those of their decisions
    entry.name: entry.estimator for entry in sb.catalogue() if entry.costs == ONCE and entry.probabilistic
}


def few(make, name):
    rounds = "max_rounds" if name == "AlternatingTree" else "n_estimators"
    return lambda **cost: make(**{rounds: 8}, **cost)


BOOSTERS = {name: few(make, name) for name, make in SOUND.items()}
BOOSTERS |= {
    "RUSBoost": lambda **cost: sb.RUSBoostClassifier(n_estimators=8, random_state=0, **cost),
    "calibrated": lambda **cost: sb.CGAdaClassifier(
        n_estimators=8, calibrate="sigmoid", splits=2, random_state=0, **cost
    ),
}
DECIDERS = {
    "SkewBoost": quick,
    "minimum risk": lambda **cost: sb.MinimumRiskClassifier(sb.RealBoostClassifier(n_estimators=8), **cost),
    "minimum risk around costs": lambda **cost: sb.MinimumRiskClassifier(
        sb.CSRAClassifier(n_estimators=8, cost=3), **cost
    ),
}


# ------------------------------------------------------------------------------------------- one estimator


@pytest.mark.sample(40)
@each_way
@pytest.mark.parametrize("name", [*BOOSTERS, *DECIDERS])
def test_decisions_are_those_of_the_least_expected_cost(name, way):
    params, given, miss, alarm = WAYS[way]
    if name.startswith("minimum risk"):
        given = {}  # which its `fit` passes on, and its `predict` takes
        if WAYS[way][1]:
            return
    make = {**BOOSTERS, **DECIDERS}[name]
    clf = make(**params).fit(X, Y, **given)
    np.testing.assert_array_equal(clf.predict(X_NEW), least(clf.predict_proba(X_NEW), miss, alarm))
    in_steps = make_pipeline(StandardScaler(), make(**params))
    in_steps.fit(X, Y, **{f"{in_steps.steps[-1][0]}__{k}": v for k, v in given.items()})
    np.testing.assert_array_equal(in_steps.predict(X_NEW), least(in_steps.predict_proba(X_NEW), miss, alarm))


@pytest.mark.sample(8)
@each_parameter
@pytest.mark.parametrize("name", DECIDERS)
def test_a_cost_that_is_set_after_a_fit_is_honoured(name, way):
    params, _, miss, alarm = WAYS[way]
    clf = DECIDERS[name](cost=1).fit(X, Y)
    before = clf.predict(X_NEW)
    clf.set_params(**params)
    p = clf.predict_proba(X_NEW)
    np.testing.assert_array_equal(clf.predict(X_NEW), least(p, miss, alarm))
    assert (clf.predict(X_NEW) != before).any()
    np.testing.assert_array_equal(clf.decision_function(X_NEW) > 0, clf.predict(X_NEW) == "ok")
    again = DECIDERS[name](**params).fit(X, Y)
    np.testing.assert_allclose(clf.cost_, again.cost_)
    np.testing.assert_allclose(clf.expected_costs(X_NEW), again.expected_costs(X_NEW))
    np.testing.assert_array_equal(loads(dumps(clf)).predict(X_NEW), clf.predict(X_NEW))
    clf.cost = {"good": 1, "bad": 2}
    with pytest.raises(InputError, match=r"lacks \['ok'\]"):
        clf.predict(X_NEW)


@pytest.mark.parametrize("name", BOOSTERS)
def test_training_cannot_undo_costs_that_are_set_after_it(name):
    clf = BOOSTERS[name](cost=2).fit(X, Y)
    p, decided = clf.predict_proba(X_NEW), clf.predict(X_NEW)
    clf.set_params(cost=2.0)  # the same cost
    np.testing.assert_array_equal(clf.predict(X_NEW), decided)
    clf.cost = 50
    np.testing.assert_array_equal(clf.predict_proba(X_NEW), p)
    risk = sb.MinimumRiskClassifier(FrozenEstimator(clf), cost=50).fit(X, Y)  # as the error advises
    np.testing.assert_array_equal(risk.predict(X_NEW), least(p, 50, 1))
    if name == "AdaMEC":  # trained without costs
        np.testing.assert_array_equal(clf.predict(X_NEW), least(p, 50, 1))
        np.testing.assert_array_equal(loads(dumps(clf)).predict(X_NEW), least(p, 50, 1))
        run_python(clf, X_NEW).agrees(clf, X_NEW)
        *_, last = clf.staged_predict(X_NEW)
        np.testing.assert_array_equal(last, least(p, 50, 1))
        clf.cost = "balanced"
    for use in (
        clf.predict,
        clf.decision_function,
        clf.staged_predict,
        clf.staged_decision_function,
        lambda X: dumps(clf),
        lambda X: to_source(clf, "python"),
        lambda X: OperatingPointDisplay.from_estimator(clf, X, Y),
    ):
        with pytest.raises(InputError, match=r"was set after fit.* Call fit again"):
            use(X_NEW)
    np.testing.assert_array_equal(clf.set_params(cost=2).predict(X_NEW), decided)


def test_a_cost_that_was_changed_in_place_was_set_after_the_fit():
    cost = {"ok": 1.0, "bad": 3.0}
    clf, portfolio = sb.CSRAClassifier(cost=cost, n_estimators=8).fit(X, Y), quick(cost=cost).fit(X, Y)
    cost["bad"] = 50.0
    with pytest.raises(InputError, match="was set after fit"):
        clf.predict(X_NEW)
    np.testing.assert_array_equal(portfolio.predict(X_NEW), least(portfolio.predict_proba(X_NEW), 50, 1))
    with pytest.raises(ValueError, match="read-only"):
        portfolio.cost_[0, 1] = 7.0


# ------------------------------------------------------------------------------------------- costs of rows


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", [*BOOSTERS, "SkewBoost"])
def test_costs_of_rows_mean_the_same_in_whichever_form(name):
    make, price = {**BOOSTERS, **DECIDERS}[name], {"ok": 3, "bad": 1}
    several = [
        make(cost=price).fit(X, Y, sample_cost=AMOUNT),
        make(cost=[[0, 1], [3, 0]]).fit(X, Y, sample_cost=pd.Series(AMOUNT)),
        make().fit(X, Y, sample_cost=np.column_stack((AMOUNT, np.full(N, 3.0)))),
        make().fit(X, Y, sample_cost=MATRICES * [[1, 1], [0, 1]] + [[0, 0], [3, 0]]),
        make().fit(X, Y, sample_cost=of_any_class(np.where(IS_BAD, AMOUNT, 3.0))),
    ]
    for clf in several[1:]:
        np.testing.assert_allclose(clf.decision_function(X_NEW), several[0].decision_function(X_NEW), atol=1e-9)
    with pytest.raises(InputError, match="cost=5 has no effect with sample_cost"):
        make(cost=5).fit(X, Y, sample_cost=AMOUNT)
    with pytest.raises(InputError, match="has no effect with sample_cost"):
        make(cost=price).fit(X, Y, sample_cost=BY_CLASS)


@pytest.mark.parametrize("name", DECIDERS)
@pytest.mark.parametrize(
    ("cost", "given", "miss", "alarm"),
    [
        (None, AMOUNT, AMOUNT, 1.0),
        (40, AMOUNT, AMOUNT, 1.0),
        ({"ok": 4, "bad": 40}, AMOUNT, AMOUNT, 4.0),
        ([[0, 9], [4, 0]], AMOUNT, AMOUNT, 4.0),
        (40, BY_CLASS, AMOUNT, PRICE),
        (40, MATRICES + 1.5, AMOUNT, PRICE),
    ],
)
def test_costs_of_new_rows_decide(name, cost, given, miss, alarm):
    clf = DECIDERS[name]().fit(X, Y).set_params(cost=cost)
    p = clf.predict_proba(X_NEW)
    np.testing.assert_array_equal(clf.predict(X_NEW, sample_cost=given), least(p, miss, alarm))
    decided, truth = clf.predict(X_NEW, sample_cost=given), Y
    paid = np.where(truth == decided, 0.0, np.where(truth == "bad", miss, alarm))
    paid = paid.sum() + (1.5 * N if given.ndim == 3 else 0.0)
    assert total_cost(truth, decided, cost, sample_cost=given) == pytest.approx(paid)


def test_a_portfolio_fitted_with_costs_of_rows_reckons_with_their_means():
    """The false alarms of `fit` are those of `predict`, if the new rows have a cost of a miss only."""
    weights = RNG.integers(1, 4, N)
    mean = lambda of, rows: np.average(of[rows], weights=weights[rows])  # noqa: E731
    for given, alarm in ((AMOUNT, 1.0), (BY_CLASS, mean(PRICE, ~IS_BAD)), (MATRICES, mean(PRICE, ~IS_BAD))):
        clf = quick().fit(X, Y, sample_weight=weights, sample_cost=given)
        np.testing.assert_allclose(clf.cost_, [[0, mean(AMOUNT, IS_BAD)], [alarm, 0]])
        p = clf.predict_proba(X_NEW)
        for model in (clf, loads(dumps(clf))):
            np.testing.assert_array_equal(model.predict(X_NEW, sample_cost=AMOUNT), least(p, AMOUNT, alarm))
        clf.cost = 30  # replaces them
        np.testing.assert_array_equal(clf.predict(X_NEW), least(p, 30, 1))
        np.testing.assert_array_equal(clf.predict(X_NEW, sample_cost=AMOUNT), least(p, AMOUNT, 1))


def test_the_majority_may_be_the_positive_class():
    clf = quick(pos_label="ok").fit(X, Y)
    p = clf.predict_proba(X_NEW)
    np.testing.assert_array_equal(clf.predict(X_NEW, sample_cost=AMOUNT), least(p, 1.0, AMOUNT))
    booster = sb.CSRAClassifier(n_estimators=8, pos_label="ok").fit(X, Y, sample_cost=AMOUNT)
    same = sb.CSRAClassifier(n_estimators=8).fit(X, Y, sample_cost=np.column_stack((np.ones(N), AMOUNT)))
    np.testing.assert_allclose(booster.decision_function(X_NEW), same.decision_function(X_NEW), atol=1e-9)


def test_costs_of_rows_of_many_classes():
    costs = RNG.uniform(1.0, 9.0, (N, 3))
    matrices = costs[:, :, None] * (1 - np.eye(3))
    true = of_any_class(costs[np.arange(N), NOISY], 3)
    for make in (
        lambda: sb.AdaBoostMHClassifier(n_estimators=5),
        lambda: sb.CodeMatrixClassifier(sb.CGAdaClassifier(n_estimators=5), code="one_vs_one"),
    ):
        a, b = (make().fit(X, NOISY, sample_cost=given) for given in (costs, true))
        np.testing.assert_array_equal(a.decision_function(X_NEW), b.decision_function(X_NEW))
        for given, message in ((costs[:, 0], r"Give the shape \(240, 3\)"), (matrices, "use MinimumRiskClassifier")):
            with pytest.raises(InputError, match=message):
                make().fit(X, NOISY, sample_cost=given)
    clf = quick().fit(X, NOISY, sample_cost=costs)
    means = [costs[k == NOISY, k].mean() for k in range(3)]
    np.testing.assert_allclose(clf.cost_, np.array(means)[:, None] * (1 - np.eye(3)))
    np.testing.assert_allclose(quick().fit(X, NOISY, sample_cost=matrices).cost_, clf.cost_)
    p = clf.predict_proba(X_NEW)
    np.testing.assert_array_equal(clf.predict(X_NEW), (means * p).argmax(axis=1))
    np.testing.assert_array_equal(clf.predict(X_NEW, sample_cost=costs), (costs * p).argmax(axis=1))
    clf.cost = "balanced"
    np.testing.assert_array_equal(clf.predict(X_NEW), (p / np.bincount(NOISY)).argmax(axis=1))


# ------------------------------------------------------------------------------------------- around them


GOALS = {"goal": "recall >= 0.9", "tune": "threshold", "confidence": None, "random_state": 0, "cv": 2}
CALIBRATED = {  # estimators by what a miss costs, and how much their probabilities may depend on it
    "AdaMEC": (lambda c: sb.AdaMECClassifier(n_estimators=8, cost=c), Y, 1e-9),
    "CSRA": (lambda c: sb.CSRAClassifier(n_estimators=8, cost=c), Y, 0.03),
    "CSLB in steps": (lambda c: make_pipeline(StandardScaler(), sb.CSLBClassifier(n_estimators=8, cost=c)), Y, 0.03),
    "minimum risk": (lambda c: sb.MinimumRiskClassifier(sb.RealBoostClassifier(n_estimators=8), cost=c), Y, 1e-9),
    "a goal": (lambda c: sb.GoalSearchCV(sb.AdaMECClassifier(n_estimators=8, cost=c), **GOALS), Y, 1e-9),
    "a goal of a portfolio": (lambda c: sb.GoalSearchCV(quick(), cost=c, **GOALS, then="expected_cost"), Y, 1e-9),
    "many classes": (
        lambda c: sb.AdaBoostMHClassifier(n_estimators=8, cost={0: 1, 1: c ** 0.5, 2: c}), NOISY, 0.03
    ),
    "minimum risk of many": (
        lambda c: sb.MinimumRiskClassifier(sb.AdaBoostMHClassifier(n_estimators=8), cost={0: 1, 1: 3, 2: c}),
        NOISY, 1e-9
    ),
}  # fmt: skip


@pytest.mark.sample(9)
@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("name", CALIBRATED)
def test_a_calibration_counts_no_costs(name, calibrate):
    """The probabilities do not depend on the costs of what is calibrated; decisions count those around it, once."""
    make, y, tolerance = CALIBRATED[name]
    classes = np.unique(y)
    cost = dict(zip(classes.tolist(), [20.0, 1.0, 7.0]))
    few, dear = (sb.MinimumRiskClassifier(make(c), cost=cost, calibrate=calibrate, cv=2).fit(X, y) for c in (1, 30))
    p, q = few.predict_proba(X_NEW), dear.predict_proba(X_NEW)
    np.testing.assert_allclose(p.mean(axis=0), q.mean(axis=0), atol=tolerance)
    prices = np.array(list(cost.values()))
    np.testing.assert_array_equal(dear.predict(X_NEW), classes[(prices * q).argmax(axis=1)])
    dear.cost = dict.fromkeys(classes.tolist(), 1.0)
    np.testing.assert_array_equal(dear.predict(X_NEW), classes[q.argmax(axis=1)])
    if calibrate != "temperature" and name != "CSLB in steps":
        np.testing.assert_array_equal(loads(dumps(dear)).predict_proba(X_NEW), q)


@pytest.mark.sample(3)
@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize(("y", "y_new"), [(Y, Y_NEW), (NOISY, NOISY_NEW)], ids=["two", "three"])
def test_a_calibrated_portfolio_is_nearly_as_good_as_the_plain_one(y, y_new, calibrate):
    """Its costs are balanced, and would make the rare classes far too probable."""
    p, q = (
        clf.fit(X, y).predict_proba(X_NEW)
        for clf in (quick(), sb.MinimumRiskClassifier(quick(), calibrate=calibrate, cv=2))
    )
    q = np.clip(q, 0.01, 1)  # isotonic regression says 0
    assert log_loss(y_new, q / q.sum(axis=1, keepdims=True)) < 1.25 * log_loss(y_new, p)


def test_temperature_without_costs_is_that_of_scikit_learn():
    for y, labels in ((Y, Y), (NOISY, NOISY), (NOISY.astype(str), NOISY.astype(str))):
        for ensemble in (True, False):
            ours = sb.MinimumRiskClassifier(LogisticRegression(), calibrate="temperature", ensemble=ensemble, cv=3)
            theirs = CalibratedClassifierCV(LogisticRegression(), method="temperature", ensemble=ensemble, cv=3)
            weights = RNG.integers(1, 3, N)
            p, q = (clf.fit(X, y, sample_weight=weights).predict_proba(X_NEW) for clf in (ours, theirs))
            np.testing.assert_allclose(p, q, atol=1e-5)
            np.testing.assert_array_equal(ours.classes_, np.unique(labels))


def test_scikit_learns_calibration_is_without_costs_where_it_has_a_constant():
    for method in ("sigmoid", "isotonic"):
        p = CalibratedClassifierCV(quick(cost=50), method=method, cv=2).fit(X, Y).predict_proba(X)
        assert p[:, 0].mean() == pytest.approx(SHARE, abs=0.04)
    p = CalibratedClassifierCV(quick(cost=50), method="temperature", cv=2).fit(X, Y).predict_proba(X)
    assert p[:, 0].mean() > 2 * SHARE  # as docs/decisions.md says


GOAL = "expected_cost <= 0.9"


@pytest.mark.sample(2)
@pytest.mark.parametrize("way", [name for name, way in WAYS.items() if not way[1] and name != "balanced"])
def test_a_goal_has_the_costs_of_the_user(way):
    params, _, miss, alarm = WAYS[way]
    clf = quick(goal=GOAL.replace("0.9", "3"), confidence=0.5, **params).fit(X, Y)
    C = clf.cost_
    assert (C[0, 1] - C[0, 0], C[1, 0] - C[1, 1]) == pytest.approx((miss, alarm))
    p = clf.predict_proba(X_NEW)
    np.testing.assert_allclose(clf.expected_costs(X_NEW), p @ C)
    search = sb.GoalSearchCV(quick(cost=1), clf.goal, confidence=0.5, random_state=0, **params).fit(X, Y)
    np.testing.assert_allclose(search.cost_matrix_, C[::-1, ::-1])
    assert clf.certificate_.counts.average_cost(C[::-1, ::-1]) == pytest.approx(
        search.certificate_.counts.average_cost(search.cost_matrix_)
    )
    for model in (clf, loads(dumps(clf)), search, loads(dumps(search))):
        decided = model.predict(X_NEW)
        model.cost = 77
        for use in (
            model.predict,
            model.decision_function,
            lambda X, model=model: dumps(model),
            lambda X, model=model: to_source(model, "python"),
        ):
            with pytest.raises(InputError, match=r"cost=77 was set after fit, but the threshold for the goal.* again"):
                use(X_NEW)
        if isinstance(model, sb.SkewBoostClassifier):
            with pytest.raises(InputError, match="cost=77 was set after fit"):
                model.expected_costs(X_NEW)
        np.testing.assert_array_equal(model.set_params(**params).predict(X_NEW), decided)
    clf.reject_cost = 0.1
    with pytest.raises(InputError, match=r"reject_cost=0\.1 was set after fit, but the threshold for the goal"):
        clf.predict(X_NEW)
    search.estimator_.cost = 5  # its scores would shift, and the threshold would not
    with pytest.raises(InputError, match=r"estimator_\.cost=5 was set after fit"):
        search.predict(X_NEW)


def test_a_goal_without_costs_reckons_with_equal_ones():
    clf = quick(goal="recall >= 20%", confidence=0.5).fit(X, Y)
    np.testing.assert_array_equal(clf.cost_, [[0, 1], [1, 0]])
    np.testing.assert_allclose(clf.expected_costs(X_NEW, sample_cost=BY_CLASS),
                               clf.predict_proba(X_NEW) * BY_CLASS @ (1 - np.eye(2)))  # fmt: skip


@pytest.mark.parametrize(
    ("clf", "message"),
    [
        (sb.GoalSearchCV(quick(reject_cost=0.3, cost=5), "recall >= 50%", tune="threshold"), "reject_cost=0.3 of the"),
        (
            sb.GoalSearchCV(make_pipeline(StandardScaler(), quick(reject_cost=0.3)), "recall >= 50%"),
            "skewboostclassifier__reject_cost=0.3 of the estimator has no effect",
        ),
        (sb.MinimumRiskClassifier(quick(reject_cost=0.3)), "reject_cost=0.3 of the estimator has no effect"),
        (sb.MinimumRiskClassifier(quick(cost=5)), "cost=5 of SkewBoostClassifier has no effect"),
        (sb.MinimumRiskClassifier(make_pipeline(StandardScaler(), quick(cost=5))), "cost=5 of SkewBoost"),
        (sb.MinimumRiskClassifier(quick(goal="recall >= 50%")), "goal='recall >= 50%' of SkewBoostClassifier"),
        (sb.UnderBaggingClassifier(quick(reject_cost=0.3)), "reject_cost=0.3 of the estimator has no effect"),
        (sb.UnderBaggingClassifier(quick(cost=5)), "cost=5 of SkewBoostClassifier has no effect"),
        (sb.CodeMatrixClassifier(quick(reject_cost=0.3)), "reject_cost=0.3 of the estimator has no effect"),
        (sb.CodeMatrixClassifier(quick(cost=5)), "cost=5 of SkewBoostClassifier does not fit the columns"),
        (sb.CodeMatrixClassifier(sb.CSRAClassifier(cost=5)), "cost=5 of CSRAClassifier does not fit the columns"),
    ],
)
def test_costs_that_something_around_an_estimator_would_ignore_are_refused(clf, message):
    with pytest.raises(InputError, match=message):
        clf.fit(X, Y)


def test_costs_of_rows_that_something_around_an_estimator_would_ignore_are_refused():
    with pytest.raises(InputError, match="sample_cost has no effect on the training of SkewBoostClassifier"):
        sb.MinimumRiskClassifier(quick()).fit(X, Y, sample_cost=AMOUNT)
    search = sb.GoalSearchCV(sb.CSRAClassifier(n_estimators=4), "recall >= 50%", confidence=None, max_points=3)
    with pytest.raises(InputError, match="sample_cost cannot be passed to a search for costs"):
        search.fit(X, Y, sample_cost=AMOUNT)
    search.set_params(tune="threshold").fit(X, Y, sample_cost=AMOUNT)
    alone = clone(search.estimator).fit(X, Y, sample_cost=AMOUNT)
    np.testing.assert_array_equal(search.estimator_.decision_function(X_NEW), alone.decision_function(X_NEW))


def test_under_bagging_and_codes_use_the_costs_of_training():
    """Their decisions are those of the members' probabilities and scores, so more is flagged if a miss costs more."""
    flagged = [
        (sb.UnderBaggingClassifier(sb.AdaC2Classifier(n_estimators=4, cost=c), n_estimators=3, random_state=0)
         .fit(X, Y).predict(X_NEW) == "bad").mean() for c in (0.5, 1.0, 4.0)
    ]  # fmt: skip
    assert flagged[0] < flagged[1] < flagged[2]
    share = [
        (sb.CodeMatrixClassifier(sb.CGAdaClassifier(n_estimators=8), code="one_vs_rest", random_state=0)
         .fit(X, NOISY, sample_cost=np.tile([1.0, 1.0, c], (N, 1))).predict(X_NEW) == 2).mean() for c in (0.2, 1, 9)
    ]  # fmt: skip
    assert share[0] < share[1] < share[2]


# ------------------------------------------------------------------------------------------- referral


def test_a_price_of_referral_is_read_where_rows_are_decided():
    clf = portfolio().set_params(cost=5)
    p = clf.predict_proba(X_NEW)
    costs = np.column_stack((p[:, 1], 5 * p[:, 0]))
    assert not hasattr(clf, "reject_label_")
    for price, label in ((0.1, None), (0.4, "ask"), (0.4, 7)):
        clf.set_params(reject_cost=price, reject_label=label)
        expected = least(p, 5, 1).astype(object)
        expected[costs.min(axis=1) > price] = "refer" if label is None else label
        for model in (clf, loads(dumps(clf))):
            assert model.predict(X_NEW).tolist() == expected.tolist()
        if label != 7:  # a program has one type of label
            assert list(run_python(clf, X_NEW).label) == expected.tolist()
    dear = clf.predict(X_NEW, sample_cost=np.tile([900.0, 900.0], (N, 1)))
    assert (dear == 7).mean() > 0.9
    for params, message in (
        ({"reject_cost": 0.9}, r"reject_cost=0\.9 has no effect: no decision has a higher expected cost than 0\.8333"),
        ({"reject_cost": -1}, "reject_cost"),
        ({"reject_cost": None}, "reject_label=7 has no effect without reject_cost"),
        ({"reject_label": "ok"}, "is a class of y"),
    ):
        changed = clone(clf).set_params(**params)
        vars(changed).update({k: v for k, v in vars(clf).items() if k not in clf.get_params()})
        for use in (changed.predict, lambda X: dumps(changed), lambda X: to_source(changed, "python")):  # noqa: B023
            with pytest.raises(InputError, match=message):
                use(X_NEW)
        with pytest.raises(InputError, match=message):
            quick(**{**clf.get_params(), **params}).fit(X, Y)


@pytest.mark.parametrize(
    ("cost", "most"),
    [
        ({0: 1, 1: 1, 2: 1}, 2 / 3),
        ({0: 3, 1: 3, 2: 3}, 2.0),
        ({0: 4, 1: 5, 2: 6}, 2 / (1 / 4 + 1 / 5 + 1 / 6)),
        ({0: 1, 1: 2, 2: 4}, 4 / 3),  # hardest to decide is a row that is surely none of the class of least cost
        ([[0, 1, 9], [9, 0, 1], [1, 9, 0]], 10 / 3),
        ([[-1, 1, 4], [2, 0, 4], [3, 3, 0]], 24 / 13),
    ],
)
def test_a_price_of_referral_that_is_too_high_for_many_classes(cost, most):
    """It has an effect exactly if it is below the least expected cost of some probabilities."""
    clf = copy(fit_of_many())
    clf.cost = cost
    grid = np.array([(a, b, 100 - a - b) for a in range(101) for b in range(101 - a)]) / 100
    highest = expected_costs(grid, clf.cost_).min(axis=1).max()
    assert highest <= most * (1 + 1e-12)
    assert highest == pytest.approx(most, rel=0.02)
    clf.reject_cost = most * (1 - 1e-6)
    clf.predict(X_NEW)
    for price in (most, 50):
        clf.reject_cost = price
        with pytest.raises(InputError, match=r"reject_cost=.* has no effect: no decision has a higher expected cost"):
            clf.predict(X_NEW)
        with pytest.raises(InputError, match=r"reject_cost=.* has no effect"):
            quick(cost=cost, reject_cost=price).fit(X, NOISY)
    clf.predict(X_NEW, sample_cost=np.full((N, 3), 99.0))  # rows with costs of their own may be referred


@pytest.mark.parametrize("label", [[1, 2], float("nan"), np.array([1]), object()])
def test_a_label_of_referred_rows_is_a_label(label):
    with pytest.raises(InputError, match=r"reject_label=.* is no label"):
        quick(cost=1, reject_cost=0.2, reject_label=label).fit(X, Y)


def test_a_matrix_that_rewards_mistakes_is_refused():
    for clf in (quick(), sb.MinimumRiskClassifier(GaussianNB())):
        with pytest.raises(InputError, match="has a mistake that costs no more than the right decision"):
            clf.set_params(cost=[[1, 0], [0, 1]]).fit(X, Y)


# ------------------------------------------------------------------------------------------- programs and figures


def test_programs_decide_by_the_present_cost():
    clf = portfolio()
    clf.cost = {"ok": 2, "bad": 40}
    run_python(clf, X_NEW).agrees(clf, X_NEW)
    assert clf.baseline_ + clf.contributions(X_NEW).sum(axis=1) == pytest.approx(clf.decision_function(X_NEW))


@pytest.mark.parametrize("display", [OperatingPointDisplay, CostCurveDisplay, PosteriorDisplay])
def test_figures_use_the_costs_of_the_model(display):
    plt = pytest.importorskip("matplotlib.pyplot")
    chosen = {
        OperatingPointDisplay: lambda d: (d.miss_cost, d.false_alarm_cost),
        CostCurveDisplay: lambda d: d.probability_cost,
        PosteriorDisplay: lambda d: d.target,
    }[display]
    clf = portfolio()
    clf.cost = {"ok": 2.0, "bad": 30.0}
    fitted = [(clf, clf.cost), (sb.CSRAClassifier(n_estimators=4, cost=6).fit(X, Y), 6)]
    fitted.append((quick().fit(X, Y, sample_cost=np.tile([6.0, 2.0], (N, 1))), {"ok": 2.0, "bad": 6.0}))
    fitted.append((make_pipeline(StandardScaler(), sb.CSRAClassifier(n_estimators=4, cost=6)).fit(X, Y), 6))
    fitted.append((portfolio(), "balanced"))
    for model, cost in fitted[: None if display is OperatingPointDisplay else 1]:
        drawn = chosen(display.from_estimator(model, X_NEW, Y))
        assert drawn == pytest.approx(chosen(display.from_estimator(model, X_NEW, Y, cost=cost)))
        assert drawn != pytest.approx(chosen(display.from_estimator(model, X_NEW, Y, cost=100)))
        plt.close("all")


@pytest.mark.parametrize(
    "clf", [quick(goal="expected_cost <= 3", confidence=0.5, cost={"ok": 2.0, "bad": 12.0}), quick(cost=1)]
)
def test_a_report_has_the_costs_of_the_model(clf):
    pytest.importorskip("matplotlib")
    clf = clone(clf).fit(X, Y)
    if clf.goal is None:
        clf.cost = {"ok": 2.0, "bad": 12.0}
    report = Report(clf, X_NEW, Y)
    assert (report.evidence.costs.positive, report.evidence.costs.negative) == (12.0, 2.0)
    paid = expected_cost(Y, clf.predict(X_NEW), {"ok": 2.0, "bad": 12.0})
    assert report.evidence.counts.average_cost(np.array([[0.0, 2.0], [12.0, 0.0]])) == pytest.approx(paid)
