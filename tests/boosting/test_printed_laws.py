"""What must hold for every booster holds for the options that follow what papers print, too."""

from __future__ import annotations

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_estimator

import skewboost as sb
from program_runners import run_python
from skewboost.engine.native_set import NativeSet
from skewboost.errors import CostWarning
from skewboost.io import dumps, loads
from skewboost.learners import Line, Probabilities, Stump, Tree
from support import FLAWED, awkward_data, of_any_class

COST = {0: 1.0, 1: 3.0}
PRINTED = {
    "AdaC1": sb.AdaC1Classifier(as_printed=True, cost=COST),
    "AdaC3": sb.AdaC3Classifier(as_printed=True, cost=COST),
    "AdaCost, cost 0": sb.AdaCostClassifier(initial="equal", cost={0: 0.0, 1: 0.7}),
    "CSB1": sb.CSB1Classifier(as_printed=True, cost=1.1),
    "CSRA": sb.CSRAClassifier(as_printed=True, cost=COST),
    "CSGA": sb.CSGAClassifier(as_printed=True, cost=COST),
    "CSLB": sb.CSLBClassifier(as_printed=True, cost=COST),
    "CSLogitBoost": sb.CSLogitBoostClassifier(as_printed=True, cost=COST),
    "Z̄": sb.RealBoostClassifier(estimator=Stump(criterion="zbar_printed")),
    "FavoredBoost": sb.FavoredBoostClassifier(beta="sign", cost=COST),
    "SoftMarginBoost, signed": sb.SoftMarginBoostClassifier(as_printed=True, p=2.0, C=2000.0, cost=COST),
    "SoftMarginBoost, sign": sb.SoftMarginBoostClassifier(beta="sign", cost=COST),
    "SoftMarginBoost, full": sb.SoftMarginBoostClassifier(search="full", C=40.0, cost=COST),
    "SoftMarginBoost, full, p=2": sb.SoftMarginBoostClassifier(search="full", p=2.0, C=4000.0, beta="sign", cost=COST),
    "CSGentleBoost": sb.CSGentleBoostClassifier(cost=COST),
    "Arcing": sb.ArcingClassifier(cost=COST),
    "AdaBoostReg": sb.AdaBoostRegClassifier(C={0: 10.0, 1: 3.0}, cost=COST),
    "WeightBoost": sb.WeightBoostClassifier(cost=COST),
    "ConsistentBoost": sb.ConsistentBoostClassifier(cost=COST),
    "LogitBoost, short steps": sb.LogitBoostClassifier(max_step=0.3),
    "CSLB, Newton": sb.CSLBClassifier(as_printed=True, max_step=None, cost=1e3),
    "RealBoost, unsmoothed": sb.RealBoostClassifier(smoothing=0.0),
    "RareBoost, unsmoothed": sb.RareBoostClassifier(smoothing=0.0),
    "CSRealBoost, unsmoothed": sb.CSRealBoostClassifier(smoothing=0.0, cost=COST),
    "ConsistentBoost, unsmoothed": sb.ConsistentBoostClassifier(smoothing=0.0, cost=COST),
}
COSTLY = {name: clf for name, clf in PRINTED.items() if "cost" in clf.get_params()}
N_ROUNDS = 8


def each(printed):
    """A full search takes seconds in each law; that with p = 2 is quick, and the other one slow."""
    cases = (
        pytest.param(clf, marks=[pytest.mark.slow] * (name == "SoftMarginBoost, full"), id=name)
        for name, clf in printed.items()
    )
    return pytest.mark.parametrize("printed", list(cases))


def made(printed, n_rounds=N_ROUNDS, **params):
    return clone(printed).set_params(n_estimators=n_rounds, pos_label=1, **params)


@each(PRINTED)
def test_the_switch_is_off_by_default_and_changes_the_model(printed):
    X, y = awkward_data()
    default = type(printed)().get_params(deep=False)
    off = {
        "as_printed": False,
        "beta": "label",
        "initial": "cost",
        "search": "step",
        "smoothing": None,
        "max_step": 4.0,
    }
    switches = {name: default[name] for name in off if name in default}
    if "beta" in switches and not isinstance(switches["beta"], str):  # the damping of WeightBoost
        del switches["beta"]
    assert switches.items() <= off.items()
    if isinstance(getattr(printed, "cost", None), dict) and 0.0 in printed.cost.values():
        return  # it cannot be switched off
    changed = {name for name in switches if getattr(printed, name) != switches[name]}
    if isinstance(printed.estimator, Stump):
        switches["estimator"] = Stump(criterion="zbar")
        changed.add("estimator")
    if not changed:
        switches, changed = {"cost": None}, {"cost"}  # costs where the papers have none
    on, off = made(printed).fit(X, y), made(printed, **switches).fit(X, y)
    assert np.abs(on.decision_function(X) - off.decision_function(X)).max() > 1e-3


@each(PRINTED)
def test_order_threads_engines_and_repetition_mean_nothing(printed, monkeypatch):
    X, y = awkward_data(200)
    rng = np.random.default_rng(0)
    order, counts = rng.permutation(len(y)), rng.integers(0, 3, len(y))
    F = made(printed).fit(X, y).decision_function(X)
    close = {"atol": 1e-8, "rtol": 1e-8}
    np.testing.assert_allclose(made(printed).fit(X[order], y[order]).decision_function(X), F, **close)
    np.testing.assert_allclose(made(printed, engine="reference").fit(X, y).decision_function(X), F, **close)
    weighted = made(printed).fit(X, y, sample_weight=counts).decision_function(X)
    repeated = made(printed).fit(X.repeat(counts, 0), y.repeat(counts)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, **close)
    monkeypatch.setattr(NativeSet, "block", 100)
    one, two = (made(printed, n_jobs=n).fit(X, y).decision_function(X) for n in (1, 3))
    np.testing.assert_array_equal(one, two)


@each(PRINTED)
def test_either_class_may_be_the_second_one(printed):
    """Swapping the labels swaps the sign of the decision."""
    X, y = awkward_data(200)
    params = {}
    if isinstance(getattr(printed, "cost", None), dict):
        params["cost"] = {0: printed.cost[1], 1: printed.cost[0]}
    if isinstance(getattr(printed, "C", None), dict):
        params["C"] = {0: printed.C[1], 1: printed.C[0]}
    a = made(printed).fit(X, y)
    b = made(printed, **params).set_params(pos_label=0).fit(X, 1 - y)
    np.testing.assert_allclose(b.decision_function(X), -a.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(b.predict_proba(X)[:, ::-1], a.predict_proba(X), atol=1e-9)


@each(COSTLY)
def test_a_cost_is_the_same_however_it_is_said(printed):
    X, y = awkward_data(200)
    if not isinstance(printed.cost, dict) or 0.0 in printed.cost.values():
        return
    F = made(printed).fit(X, y).decision_function(X)
    for clf in (
        made(printed, cost=3.0).fit(X, y),
        made(printed, cost=[[0.0, 1.0], [3.0, 0.0]]).fit(X, y),
        made(printed, cost=None).fit(X, y, sample_cost=of_any_class(np.where(y == 1, 3.0, 1.0))),
    ):
        np.testing.assert_allclose(clf.decision_function(X), F, atol=1e-12)
    nearly = np.where(y == 1, 3.0, 1.0) * (1 + 1e-13 * np.random.default_rng(0).normal(size=len(y)))
    by_row = made(printed, cost=None).fit(X, y, sample_cost=of_any_class(nearly))
    np.testing.assert_allclose(by_row.decision_function(X), F, atol=1e-6)


@each(COSTLY)
def test_rows_may_differ_in_cost(printed):
    X, y = awkward_data(200)
    rng = np.random.default_rng(0)
    costs, counts = of_any_class(rng.uniform(0.5, 2.0, len(y))), rng.integers(1, 3, len(y))
    clf = made(printed, cost=None)
    F = clf.fit(X, y, sample_weight=counts, sample_cost=costs).decision_function(X)
    again = clf.fit(X.repeat(counts, 0), y.repeat(counts), sample_cost=costs.repeat(counts, 0)).decision_function(X)
    np.testing.assert_allclose(F, again, atol=1e-8)
    assert np.abs(F - clf.fit(X, y, sample_weight=counts).decision_function(X)).max() > 1e-3


@each(PRINTED)
def test_models_are_saved_truncated_explained_and_exported(printed, tmp_path):
    X, y = awkward_data(200)
    clf = made(printed).fit(X, y)
    F, p = clf.decision_function(X), clf.predict_proba(X)
    for again in (loads(dumps(clf)), pickle.loads(pickle.dumps(clf))):
        np.testing.assert_array_equal(again.decision_function(X), F)
        np.testing.assert_array_equal(again.predict_proba(X), p)
        assert again.get_params(deep=False).keys() == clf.get_params(deep=False).keys()
        assert repr(again) == repr(clf)
    stages = list(zip(clf.staged_decision_function(X), clf.staged_predict_proba(X), clf.staged_predict(X)))
    assert len(stages) == clf.n_estimators_
    np.testing.assert_allclose(stages[-1][0], F, atol=1e-11)
    np.testing.assert_allclose(stages[-1][1], p, atol=1e-11)
    assert (stages[-1][2] == clf.predict(X)).all()
    for n in (1, min(5, len(stages))):
        np.testing.assert_allclose(clf.truncated(n).decision_function(X), stages[n - 1][0], atol=1e-11)
        np.testing.assert_allclose(clf.truncated(n).predict_proba(X), stages[n - 1][1], atol=1e-11)
    if not isinstance(printed, sb.WeightBoostClassifier):
        scores, _ = clf._scores(X)
        np.testing.assert_allclose(clf.contributions(X).sum(axis=1) + clf.baseline_, scores, atol=1e-9)
        run_python(clf, X[:40]).agrees(clf, X[:40])


@each(PRINTED)
def test_a_warm_start_ends_where_one_run_does(printed):
    X, y = awkward_data(200)
    whole = made(printed, 12).fit(X, y)
    parts = made(printed, 5, warm_start=True).fit(X, y).set_params(n_estimators=12).fit(X, y)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-9)


@each(PRINTED)
def test_it_may_stop_early(printed):
    X, y = awkward_data(500)
    clf = made(printed, 25, early_stopping=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(list(clf.staged_decision_function(X))[-1], clf.decision_function(X), atol=1e-11)


@each(PRINTED)
def test_tables_with_categories_and_missing_cells(printed):
    rng = np.random.default_rng(0)
    colour = np.array(["red", "blue", "green", None], dtype=object)[rng.integers(0, 4, 200)]
    number = np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200))
    y = ((colour == "red") + np.nan_to_num(number) + 0.5 * rng.normal(size=200) > 0.8).astype(int)
    X = pd.DataFrame({"number": number, "colour": pd.Categorical(colour)})
    for missing in ("learn", "abstain"):
        criterion = printed.estimator.criterion if isinstance(printed.estimator, Stump) else None
        clf = made(printed, estimator=Stump(criterion=criterion, missing=missing)).fit(X, y)
        F = clf.decision_function(X)
        assert np.isfinite(F).all()
        assert len(np.unique(F)) > 2
        np.testing.assert_array_equal(loads(dumps(clf)).decision_function(X), F)


ANY_LEARNER = [name for name in PRINTED if not any(own in name for own in ("full", "Z̄", "ConsistentBoost"))]


@pytest.mark.parametrize("name", ANY_LEARNER)
def test_trees_are_boosted_too_and_rows_may_be_drawn(name):
    X, y = awkward_data(300)
    for params in ({"estimator": Tree(max_leaf_nodes=4)}, {"resample": True, "random_state": 0}):
        clf = made(PRINTED[name], **params).fit(X, y)
        assert clf.n_estimators_ > 0
        assert np.isfinite(clf.decision_function(X)).all()


@pytest.mark.parametrize("name", ["CSLB", "CSLogitBoost", "CSGentleBoost"])
def test_lines_are_fitted_too(name):
    X, y = awkward_data(300)
    clf = made(PRINTED[name], estimator=Line()).fit(X, y)
    assert np.isfinite(clf.decision_function(X)).all()


@each(PRINTED)
@pytest.mark.parametrize("data", ["separable", "one positive", "noise"])
def test_scores_stay_finite(printed, data):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)), 1)
    y = {"separable": X[:, 0] > 0.5, "one positive": np.arange(60) == 7, "noise": rng.random(60) < 0.3}[data]
    costs = [{}]
    if "cost" in printed.get_params() and 0.0 not in getattr(printed.cost, "values", dict)():
        costs = [{"cost": c} for c in (1e-4, 1.0, 1e4)]
    if 0.0 in getattr(getattr(printed, "cost", None), "values", dict)():
        costs = [{"cost": {0: 0.0, 1: c}} for c in (0.0, 1e-4, 1.0, 1e4)]
    for params in costs:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", CostWarning)
            clf = made(printed, 40, **params).fit(X, y.astype(int))
            F, p = clf.decision_function(X), clf.predict_proba(X)
        assert np.isfinite(F).all()
        assert ((p >= 0) & (p <= 1)).all()


# --------------------------------------------------------------------- what is special about some


SPREAD = [sb.CSRAClassifier, sb.CSGAClassifier, sb.CSLBClassifier]


@pytest.mark.parametrize("booster", SPREAD)
def test_costs_that_are_spread_lack_one_of_m_parts(booster):
    """Probabilities do not depend on it, because they take out what is in F: here F is a constant."""
    X, y = np.zeros((1000, 1)), np.arange(1000) < 200
    for n_rounds in (40, 400):
        clf = booster(cost=16.0, as_printed=True, n_estimators=n_rounds, pos_label=True).fit(X, y)
        share = (n_rounds - 1) / n_rounds
        assert clf.decision_function(X)[0] == pytest.approx(0.5 * math.log(0.25 * 16.0**share), abs=0.06)
        assert clf.predict_proba(X)[0, 1] == pytest.approx(0.2, abs=0.02)
        assert (clf._model.link.cost_offset / math.log(16.0)) == pytest.approx(share)


@pytest.mark.parametrize("booster", SPREAD)
def test_at_equal_costs_the_printed_form_is_the_default(booster):
    X, y = awkward_data()
    on, off = (booster(cost=1.0, as_printed=switch, n_estimators=10).fit(X, y) for switch in (True, False))
    np.testing.assert_array_equal(on.decision_function(X), off.decision_function(X))
    np.testing.assert_array_equal(on.predict_proba(X), off.predict_proba(X))


@pytest.mark.parametrize("booster", [sb.AdaC1Classifier, sb.AdaC3Classifier])
def test_with_costs_up_to_one_the_printed_form_is_the_default(booster):
    X, y = awkward_data()
    for cost in ({0: 0.3, 1: 1.0}, {0: 0.5, 1: 0.25}):
        on, off = (booster(cost=cost, as_printed=switch, n_estimators=10).fit(X, y) for switch in (True, False))
        np.testing.assert_array_equal(on.decision_function(X), off.decision_function(X))
    on, off = (booster(cost=1.0, as_printed=True), sb.AdaBoostClassifier())
    F, G = (clf.set_params(n_estimators=10).fit(X, y).decision_function(X) for clf in (on, off))
    np.testing.assert_allclose(F, G, atol=1e-9)


@pytest.mark.parametrize("booster", [sb.AdaC1Classifier, sb.AdaC3Classifier])
@pytest.mark.parametrize("cost", [5.0, 0.2])
def test_where_the_step_is_not_defined_it_is_the_bound_of_all_steps_and_training_goes_on(booster, cost):
    X, y = awkward_data()
    clf = booster(cost={0: 1.0, 1: cost} if cost > 1 else {0: 1.0 / cost, 1: 1.0}, as_printed=True, n_estimators=30)
    clf.fit(X, y)
    steps = np.abs([r["step"] for r in clf.history_])
    bound = 0.5 * math.log((1 - 1e-10) / 1e-10)
    assert (steps == bound).any()
    assert (steps <= bound).all()
    assert clf.stop_reason_ == "all 30 rounds done"


def test_where_the_step_is_not_defined_and_no_vote_is_wrong_the_fit_is_perfect():
    X, y = np.arange(20.0)[:, None], np.arange(20) >= 15
    for booster in (sb.AdaC1Classifier, sb.AdaC3Classifier):
        clf = booster(cost=5.0, as_printed=True, n_estimators=30).fit(X, y)
        assert clf.n_estimators_ == 1
        assert clf.stop_reason_.startswith("perfect fit")


def test_csb1_as_printed_votes_like_everybody_else_would():
    """F counts votes, so it is an integer, and its parity that of the rounds."""
    X, y = awkward_data(missing=0.0)
    clf = sb.CSB1Classifier(cost=1.2, as_printed=True, n_estimators=9).fit(X, y)
    F = clf.decision_function(X)
    np.testing.assert_array_equal(F, np.rint(F))
    assert (F % 2 == 1).all()
    assert {r["step"] for r in clf.history_} == {1.0}


def test_a_class_of_cost_zero_keeps_its_weight_in_adacost_from_equal_weights():
    X, y = awkward_data()
    clf = sb.AdaCostClassifier(cost={0: 0, 1: 0.5}, initial="equal", n_estimators=10).fit(X, y)
    tiny = sb.AdaCostClassifier(cost={0: 1e-30, 1: 0.5}, initial="equal", n_estimators=10).fit(X, y)
    np.testing.assert_array_equal(clf.decision_function(X), tiny.decision_function(X))
    assert 0 < clf.predict(X).mean() < 0.5
    # costs of 0 for both classes: β = ½, so every weight moves half as far as r says
    half = sb.AdaCostClassifier(cost={0: 0, 1: 0}, initial="equal", n_estimators=1).fit(X, y)
    error = sb.AdaBoostClassifier(n_estimators=1).fit(X, y).history_[0]["criterion"]
    r = 0.5 * (1.0 - 2.0 * error)
    assert half.history_[0]["step"] == pytest.approx(0.5 * math.log((1 + r) / (1 - r)), abs=1e-9)


def test_boosting_by_influence_never_mistrusts_a_row_for_its_cost():
    """Without regularisation costs make AdaBoostReg and WeightBoost CGAda, as they make Arcing's exponential form."""
    X, y = awkward_data()
    cgada = sb.CGAdaClassifier(cost=3.0, n_estimators=15).fit(X, y)
    for clf, scale in (
        (sb.AdaBoostRegClassifier(C=0.0, cost=3.0), 2.0),
        (sb.WeightBoostClassifier(beta=0.0, cost=3.0), 1.0),
        (sb.ArcingClassifier(potential="exponential", cost=3.0), 1.0),
    ):
        clf.set_params(n_estimators=15).fit(X, y)
        np.testing.assert_allclose(clf.decision_function(X), scale * cgada.decision_function(X), atol=1e-8)
        np.testing.assert_allclose(clf.predict_proba(X), cgada.predict_proba(X), atol=1e-8)
    own = (lambda m: np.exp(-m), lambda m: -np.exp(-m))
    by_function = sb.ArcingClassifier(potential=own, cost=3.0, n_estimators=15).fit(X, y)
    np.testing.assert_allclose(by_function.decision_function(X), cgada.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("cost", [0.05, 1.0, 30.0])
def test_cs_gentleboost_never_raises_its_loss(cost):
    X, y = awkward_data(seed=3)
    losses = [1.0] + [r["loss"] for r in sb.CSGentleBoostClassifier(cost=cost, n_estimators=60).fit(X, y).history_]
    assert (np.diff(losses) <= 1e-12).all()
    assert losses[-1] < 0.97


def test_a_warning_about_costs_knows_the_regularisation_of_each_class():
    """The check for overconfidence fits the rule once more, with the C of this fit."""
    X, y = awkward_data(300, missing=0.0)
    y[:] = X[:, 0] > 0.8
    y[::23] = 1 - y[::23]
    said = []
    for C in ({0: 0.0, 1: 0.0}, 0.0):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            sb.AdaBoostRegClassifier(C=C, cost=5.0, estimator=Tree(), n_estimators=60).fit(X, y)
        said.append([str(w.message) for w in found])
    assert said[0] == said[1] != []


@pytest.mark.parametrize(
    ("clf", "message"),
    [
        (sb.AdaC1Classifier(alpha="nyga", as_printed=True), "as_printed=True has no effect with alpha='nyga'"),
        (sb.SoftMarginBoostClassifier(C=0.0, as_printed=True), "as_printed=True has no effect with C=0"),
        (sb.SoftMarginBoostClassifier(p=1.5, as_printed=True), r"p=1\.5 must be an integer with as_printed=True"),
        (sb.SoftMarginBoostClassifier(search="all"), "search of .* must be one of 'step', 'full'"),
        (sb.SoftMarginBoostClassifier(beta="votes"), "beta of .* must be one of 'label', 'sign'"),
        (sb.FavoredBoostClassifier(beta="votes"), "beta of .* must be one of 'label', 'sign'"),
        (sb.AdaCostClassifier(initial="uniform"), "initial of .* must be one of 'cost', 'equal'"),
        (sb.AdaCostClassifier(cost={0: 0.0, 1: 1.0}), r"cost\[0\]=0 of AdaCostClassifier needs initial='equal'"),
        (sb.AdaCostClassifier(cost={0: -1.0, 1: 0}, initial="equal"), r"cost\[0\]=-1\.0 must be a finite number"),
        (sb.AdaCostClassifier(cost={0: False, 1: 1}, initial="equal"), r"cost\[0\]=False must be a finite number"),
        (sb.AdaCostClassifier(cost=0.0, initial="equal"), "must be a finite number greater than 0"),
        (sb.RealBoostClassifier(smoothing=-0.1), "smoothing of RealBoostClassifier must be a number >= 0, or None"),
        (sb.RealBoostClassifier(estimator=Probabilities(GaussianNB()), smoothing=0.0),
         "smoothing=0.0 has no effect, because Probabilities.*pass the classifier itself as estimator"),
        (sb.CSRAClassifier(estimator=Probabilities(GaussianNB()), smoothing=0.1), "smoothing=0.1 has no effect"),
        (sb.LogitBoostClassifier(max_step=0), "max_step of LogitBoostClassifier must be a number > 0, or None"),
        (sb.CSLBClassifier(max_step=True), "max_step of CSLBClassifier must be a number > 0, or None"),
        (sb.CSLogitBoostClassifier(max_step="4"), "max_step of CSLogitBoostClassifier must be"),
        (sb.CSGentleBoostClassifier(prior="flat"), "prior of .* must be one of 'data', 'balanced'"),
        (sb.CSGentleBoostClassifier(estimator=Stump(criterion="z")), "criterion='z' of Stump has no effect"),
        *(
            (booster(as_printed="yes"), f"as_printed of {booster.__name__} must be one of True, False")
            for booster in (
                sb.AdaC1Classifier, sb.AdaC3Classifier, sb.CSB1Classifier, *SPREAD, sb.CSLogitBoostClassifier,
                sb.SoftMarginBoostClassifier,
            )
        ),
    ],
    ids=str,
)  # fmt: skip
def test_what_makes_no_sense_or_has_no_effect_is_refused(clf, message):
    with pytest.raises(ValueError, match=message):
        clf.fit(*awkward_data(60))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PRINTED if name != "AdaCost, cost 0"])
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_all_scikit_learn_checks(name):
    """Of an odd number of rounds, because votes of 1 may tie otherwise, and ties go to the positive class."""
    params = {"n_estimators": 7} | ({"cost": None} if name in COSTLY else {})
    if isinstance(getattr(PRINTED[name], "C", None), dict):
        params["C"] = 5.0
    estimator = clone(PRINTED[name]).set_params(**params)
    check_estimator(estimator, on_skip=None, expected_failed_checks=FLAWED)
