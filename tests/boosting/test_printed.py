"""Options that follow what papers print, and costs where the papers have none, against plain loops, round by round."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import naive as plain
import naive_printed as naive
import skewboost as sb
from skewboost.boosting.loop import observed
from skewboost.engine.partition import View
from skewboost.engine.table import read_table
from skewboost.learners import Histogram, Stump
from support import awkward_data, load_trace_data

TOLERANCE = 1e-9
COSTS = [(1.0, 5.0), (1.0, 2.0), (0.7, 1.3), (1.0, 0.4)]  # of a false alarm, of a miss
SMALL = [(0.2, 1.0), (0.5, 1.0), (0.3, 0.85), (0.9, 0.4)]  # at most 1
N_ROUNDS = 7

each_data = pytest.mark.parametrize("data", ["A", "B"])
each_costs = pytest.mark.parametrize("costs", COSTS, ids=str)
each_small = pytest.mark.parametrize("costs", SMALL, ids=str)


def by_label(costs):
    return {-1.0: costs[0], 1.0: costs[1]}


def assert_rounds_match(clf, data, expected, n_rounds=N_ROUNDS, engine="auto"):
    """Stump, leaf values, F and weights of every round, and the end if there are fewer than asked for."""
    X, y, _ = load_trace_data(data)
    fitted_with = []

    def note(state):
        w = state.rows.get(state.fitted)
        fitted_with.append(w / w.sum())

    clf = clone(clf).set_params(n_estimators=n_rounds, pos_label=1.0, engine=engine)
    with observed(note):
        clf.fit(X, y)
    assert clf.n_estimators_ == len(expected), clf.stop_reason_
    assert clf.stop_reason_.startswith("all" if len(expected) == n_rounds else "no edge")
    stages = [F for F, _ in clf._staged_scores(X)]
    for k, round_ in enumerate(expected):
        term = clf.estimators_[k]
        (split,) = term.partition.splits
        cuts = clf._model.bins.features[split.feature].cuts
        assert (split.feature, cuts[split.threshold]) == (round_["feature"], round_["threshold"]), k
        np.testing.assert_allclose(term.values[:2], round_["leaves"], atol=TOLERANCE, rtol=TOLERANCE)
        np.testing.assert_allclose(stages[k], round_["F"], atol=TOLERANCE, rtol=TOLERANCE)
        np.testing.assert_allclose(fitted_with[k], round_["w"] / round_["w"].sum(), atol=TOLERANCE)
        if "alpha" in round_ and "step" in clf.history_[k]:
            assert clf.history_[k]["step"] == pytest.approx(round_["alpha"], abs=TOLERANCE, rel=TOLERANCE)
        if "criterion" in round_:
            assert clf.history_[k]["criterion"] == pytest.approx(round_["criterion"], abs=TOLERANCE)
    return clf


def table(data):
    X, y, _ = load_trace_data(data)
    return X, y


# ------------------------------------------------------------------------------ as printed


@each_data
@pytest.mark.parametrize("costs", [*COSTS, (1.0, 1.1), (1.0, 1.4)], ids=str)
@pytest.mark.parametrize("name", ["AdaC1", "AdaC3"])
def test_adac1_and_adac3_with_costs_above_one(name, data, costs):
    booster, oracle = {"AdaC1": (sb.AdaC1Classifier, naive.adac1), "AdaC3": (sb.AdaC3Classifier, naive.adac3)}[name]
    # rows that a step at its bound gets right weigh 1e-10 of the others: as little as tied splits may differ
    n_rounds = 2 if (name, costs) == ("AdaC1", (1.0, 5.0)) else N_ROUNDS
    clf = booster(cost=by_label(costs), as_printed=True)
    assert_rounds_match(clf, data, oracle(*table(data), n_rounds, costs), n_rounds)


@each_data
@pytest.mark.parametrize("costs", [(0.0, 1.0), (0.0, 0.35), (0.0, 0.0), (0.4, 0.0)], ids=str)
def test_adacost_with_a_cost_of_zero(data, costs):
    clf = sb.AdaCostClassifier(cost=by_label(costs), initial="equal")
    assert_rounds_match(clf, data, naive.adacost(*table(data), N_ROUNDS, costs))


@each_data
@each_small
def test_adacost_from_equal_weights(data, costs):
    clf = sb.AdaCostClassifier(cost=by_label(costs), initial="equal")
    assert_rounds_match(clf, data, naive.adacost(*table(data), N_ROUNDS, costs))


@each_data
@each_costs
@pytest.mark.parametrize("cost_on", ["all", "errors"])
def test_csb1_without_any_step(data, costs, cost_on):
    clf = sb.CSB1Classifier(cost=by_label(costs), cost_on=cost_on, as_printed=True)
    assert_rounds_match(clf, data, naive.csb1(*table(data), N_ROUNDS, costs, cost_on))


@each_data
@each_costs
def test_csra_and_csga_from_equal_weights(data, costs):
    for booster, gentle in ((sb.CSRAClassifier, False), (sb.CSGAClassifier, True)):
        expected = naive.spread(*table(data), N_ROUNDS, costs, gentle)
        assert_rounds_match(booster(cost=by_label(costs), as_printed=True), data, expected)


@each_data
@each_costs
def test_cslb_with_the_same_probabilities_in_rounds_1_and_2(data, costs):
    expected = naive.cslb(*table(data), N_ROUNDS, costs[1] / costs[0])
    assert_rounds_match(sb.CSLBClassifier(cost=by_label(costs), as_printed=True), data, expected)


@each_data
@each_costs
def test_cs_logitboost_by_equation_55(data, costs):
    expected = naive.cs_logitboost(*table(data), N_ROUNDS, costs)
    assert_rounds_match(sb.CSLogitBoostClassifier(cost=by_label(costs), as_printed=True), data, expected)


@each_data
def test_zbar_as_printed(data):
    clf = sb.RealBoostClassifier(estimator=Stump(criterion="zbar_printed"))
    assert_rounds_match(clf, data, naive.zbar_printed(*table(data), 12), 12)


@each_data
@each_small
def test_favored_boosting_by_the_sign_of_the_vote(data, costs):
    clf = sb.FavoredBoostClassifier(cost=by_label(costs), beta="sign")
    assert_rounds_match(clf, data, naive.favored_by_sign(*table(data), N_ROUNDS, costs))


@each_data
@each_small
@pytest.mark.parametrize("beta", ["label", "sign"])
@pytest.mark.parametrize(("C", "p"), [(4.0, 1.0), (100.0, 2.0), (300.0, 3.0)])
@pytest.mark.parametrize("signed", [False, True])
def test_soft_margins_with_a_step(data, costs, beta, C, p, signed):
    params = {"C": C, "p": p, "beta": beta, "as_printed": signed}
    scaled = np.array(costs) / max(costs) if beta == "label" else costs
    expected = naive.soft_margin_step(*table(data), 5, scaled, C, p, signed, beta)
    assert_rounds_match(sb.SoftMarginBoostClassifier(cost=by_label(costs), **params), data, expected, 5)


@pytest.mark.sample(3)
@pytest.mark.parametrize(("data", "costs"), [("A", (0.2, 1.0)), ("B", (0.3, 0.85))])
@pytest.mark.parametrize("beta", ["label", "sign"])
@pytest.mark.parametrize(("C", "p"), [(0.0, 1.0), (4.0, 1.0), (100.0, 2.0), (300.0, 3.0)])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("forced", [True, False])
def test_soft_margins_with_the_full_search(data, costs, beta, C, p, signed, forced):
    if signed and C == 0.0:
        return
    params = {"C": C, "p": p, "beta": beta, "as_printed": signed, "search": "full"}
    scaled = np.array(costs) / max(costs) if beta == "label" else costs
    expected = naive.soft_margin_full(*table(data), 3, scaled, C, p, signed, beta, forced)
    clf = sb.SoftMarginBoostClassifier(
        cost=by_label(costs), estimator=Stump(criterion=None if forced else "z"), **params
    )
    assert_rounds_match(clf, data, expected, 3)


@each_data
@pytest.mark.parametrize("delta", [0.0, 0.03])
def test_the_smoothing_of_votes_is_what_is_asked_for(data, delta):
    """0 is [nyga2010] algorithms 5, 12 and 15 and [cuendet2002] (1.8-3); a pure leaf votes with the bound."""
    costs, small, rows, m = (1.0, 3.0), (0.3, 0.85), table(data), 4
    for clf, expected in (
        (sb.RealBoostClassifier(), naive.realboost(*rows, m, delta)),
        (sb.RareBoostClassifier(), naive.rareboost(*rows, m, delta)),
        (sb.CSRAClassifier(cost=by_label(costs), as_printed=True), naive.spread(*rows, m, costs, False, delta)),
        (sb.CSRealBoostClassifier(cost=by_label(costs)), naive.cs_realboost(*rows, m, costs, delta)),
        (
            sb.FavoredBoostClassifier(cost=by_label(small), beta="sign"),
            naive.favored_by_sign(*rows, m, small, delta),
        ),
        (
            sb.SoftMarginBoostClassifier(cost=by_label(small), C=4.0, beta="sign"),
            naive.soft_margin_step(*rows, m, small, 4.0, 1.0, False, "sign", delta),
        ),
    ):
        assert_rounds_match(clf.set_params(smoothing=delta), data, expected, m)
        by_default = clone(clf).set_params(smoothing=None, n_estimators=m, pos_label=1.0).fit(*rows)
        F, _ = next(by_default._staged_scores(rows[0]))
        assert np.abs(expected[0]["F"] - F).max() > 1e-3


@pytest.mark.parametrize("delta", [0.0, 0.03])
def test_the_smoothing_of_the_full_search(delta):
    params = {"C": 4.0, "beta": "sign", "search": "full", "smoothing": delta}
    expected = naive.soft_margin_full(*table("A"), 2, (0.3, 0.85), 4.0, 1.0, False, "sign", delta=delta)
    clf = sb.SoftMarginBoostClassifier(cost=by_label((0.3, 0.85)), **params)
    assert_rounds_match(clf, "A", expected, 2)


@pytest.mark.parametrize("smoothing", [0.0, 0.03])
def test_other_variants_smooth_alike(smoothing):
    """AdaBoost.MH of two classes is RealBoost; the first splitter of an alternating tree is a stump."""
    X, y = table("A")
    real = sb.RealBoostClassifier(n_estimators=9, smoothing=smoothing, pos_label=1).fit(X, y)
    joint = sb.AdaBoostMHClassifier(n_estimators=9, smoothing=smoothing, pos_label=1).fit(X, y)
    np.testing.assert_allclose(joint.decision_function(X), real.decision_function(X), atol=TOLERANCE)
    root = 0.5 * np.log((y > 0).sum() / (y < 0).sum())
    tree = sb.AlternatingTreeClassifier(max_rounds=1, smoothing=smoothing, pos_label=1).fit(X, y)
    w = np.exp(-y * root) / np.exp(-y * root).sum()
    found = naive.best(X, naive.losses_of("z", y, w))
    values = [naive.half_log_odds(smoothing)(*own) for own in naive.leaf_sums(y, w, found[3])]
    expected = root + np.where(found[3], values[1], values[0])
    np.testing.assert_allclose(tree.decision_function(X), expected, atol=TOLERANCE)


@pytest.mark.parametrize("smoothing", [0.0, 0.02])
def test_the_smoothing_of_many_classes(smoothing):
    """½ ln((W+ + δ) / (W- + δ)) per leaf and class, where the pairs weigh 1/(NK)."""
    X, y, _ = load_trace_data("K")
    clf = sb.AdaBoostMHClassifier(n_estimators=1, smoothing=smoothing).fit(X, y)
    (term,) = clf._model.terms
    leaf = term.partition.leaves(View(clf._engine(), read_table(clf, X, reset=False), clf._model.bins))
    log = naive.half_log_odds(smoothing)
    size = len(y) * len(clf.classes_)
    for j in np.unique(leaf):
        for k, label in enumerate(clf.classes_):
            inside = ((leaf == j) & (y == label)).sum() / size
            outside = ((leaf == j) & (y != label)).sum() / size
            assert term.values[j, k] == pytest.approx(log(outside, inside), abs=TOLERANCE)


def test_a_leaf_of_one_class_votes_with_the_bound_unless_it_is_smoothed():
    X, y = np.arange(20.0)[:, None], np.arange(20) > 12
    F = sb.RealBoostClassifier(n_estimators=1, smoothing=0).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(F, np.where(y, 11.5, -11.5))
    F = sb.CSRealBoostClassifier(n_estimators=1, smoothing=0, cost=2.0).fit(X, y).decision_function(X)
    np.testing.assert_allclose(F, (np.where(y, 23.0, -23.0) + np.log(2.0)) / 3.0)
    F = sb.RealBoostClassifier(n_estimators=1, smoothing=1e-300).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(np.abs(F), 11.5)


def test_newton_steps_without_a_bound():
    """[nyga2010] algorithms 7 and 14: one negative on the wrong side, which a stump finds when P is close to 0."""
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] > 20, 1.0, -1.0)
    y[1] = 1.0
    for booster, ratio, extra in (
        (sb.LogitBoostClassifier, 1.0, {}),
        (sb.CSLBClassifier, 1e5, {"cost": 1e5, "as_printed": True}),
    ):
        expected = naive.cslb(X, y, 5, ratio)
        assert max(abs(value) for round_ in expected for value in round_["leaves"]) > 4.5
        for engine in ("cpu", "reference"):
            clf = booster(n_estimators=5, max_step=None, pos_label=1, engine=engine, **extra).fit(X, y)
            for (F, _), round_ in zip(clf._staged_scores(X), expected, strict=True):
                np.testing.assert_allclose(F, round_["F"], rtol=TOLERANCE, atol=TOLERANCE)
        for most in (4.0, 2.0):
            bounded = booster(n_estimators=5, pos_label=1, max_step=most, **extra).fit(X, y)
            stages = [np.zeros(len(y)), *(F for F, _ in bounded._staged_scores(X))]
            assert np.abs(np.diff(stages, axis=0)).max() == pytest.approx(most)
    assert sb.LogitBoostClassifier().max_step == 4.0


def test_cs_logitboost_without_a_bound():
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] > 20, 1.0, -1.0)
    y[1] = 1.0
    expected = naive.cs_logitboost(X, y, 3, (1.0, 3.0), math.inf)
    assert max(abs(value) for round_ in expected for value in round_["leaves"]) > 4.5 / 2.0
    clf = sb.CSLogitBoostClassifier(cost=3.0, as_printed=True, max_step=None, n_estimators=3, pos_label=1).fit(X, y)
    for (F, _), round_ in zip(clf._staged_scores(X), expected, strict=True):
        np.testing.assert_allclose(F, round_["F"], rtol=1e-7, atol=TOLERANCE)


# ------------------------------------------------------------- costs where the papers have none


@each_data
@each_costs
@pytest.mark.parametrize("delta", [None, 0.0])
def test_consistent_boosting_with_costs(data, costs, delta):
    X, y = table(data)
    c = naive.of_rows(costs, y)
    expected = naive.consistent(X, y, 12, c, 1.0 / len(y) if delta is None else delta)
    for params, sample_cost in (({"cost": by_label(costs)}, None), ({}, np.column_stack((c, c)))):
        fitted_with = []
        clf = sb.ConsistentBoostClassifier(n_estimators=12, pos_label=1.0, smoothing=delta, **params)
        with observed(lambda state: fitted_with.append(state.rows.get("w").copy())):  # noqa: B023
            clf.fit(X, y, sample_cost=sample_cost)
        for (F, _), w, round_ in zip(clf._staged_scores(X), fitted_with[:12], expected, strict=True):
            np.testing.assert_allclose(F, round_["F"], atol=TOLERANCE)
            np.testing.assert_allclose(w, round_["w"], atol=TOLERANCE)


@each_data
@each_costs
def test_cs_gentleboost(data, costs):
    expected = naive.cs_gentleboost(*table(data), N_ROUNDS, costs)
    assert_rounds_match(sb.CSGentleBoostClassifier(cost=by_label(costs)), data, expected)


@each_data
@each_costs
def test_cs_anyboost(data, costs):
    expected = naive.arcing(*table(data), N_ROUNDS, costs)
    assert_rounds_match(sb.ArcingClassifier(cost=by_label(costs)), data, expected)


@each_data
@each_costs
@pytest.mark.parametrize(("C", "p"), [(6.0, 1.0), (150.0, 2.0)])
def test_adaboost_reg_with_costs(data, costs, C, p):
    expected = naive.adaboost_reg(*table(data), N_ROUNDS, costs, C, p)
    assert_rounds_match(sb.AdaBoostRegClassifier(cost=by_label(costs), C=C, p=p), data, expected)


@each_data
@each_costs
def test_weightboost_with_costs(data, costs):
    expected = naive.weightboost(*table(data), N_ROUNDS, costs, 0.5)
    clf = assert_rounds_match(sb.WeightBoostClassifier(cost=by_label(costs)), data, expected)
    assert clf.n_estimators_ == N_ROUNDS


# --------------------------------------------------------------------------------- the full search


def mixed_table(n=60, seed=4):
    """Numbers with equal values, categories, and missing cells in both."""
    rng = np.random.default_rng(seed)
    number = np.round(rng.normal(size=n), 1)
    colour = rng.integers(0, 4, n)
    y = np.where(number + 0.8 * (colour == 2) - 0.5 * (colour == 3) + rng.normal(size=n) > 0.6, 1.0, -1.0)
    columns = [
        [None if rng.random() < 0.15 else float(v) for v in number],
        [None if rng.random() < 0.15 else int(v) for v in colour],
    ]
    frame = pd.DataFrame({"number": columns[0], "colour": pd.Categorical(columns[1])})
    return frame, columns, y


@pytest.mark.sample(2)
@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize(
    ("params", "criterion"),
    [({"C": 5.0}, None), ({"C": 80.0, "p": 2.0, "as_printed": True}, None), ({"C": 5.0, "beta": "sign"}, None),
     ({"C": 0.0}, "z")],
)  # fmt: skip
def test_no_split_of_numbers_or_categories_has_a_lower_loss(missing, params, criterion):
    """Every test of every feature, every way for missing values, both polarities; rounds build on the estimator's."""
    frame, columns, y = mixed_table()
    costs, n = (0.4, 1.0), len(y)
    weights = []
    clf = sb.SoftMarginBoostClassifier(
        search="full", cost=by_label(costs), n_estimators=3, estimator=Stump(criterion=criterion, missing=missing),
        pos_label=1.0, **params,
    )  # fmt: skip
    with observed(lambda state: weights.append(state.rows.get("w").copy())):
        clf.fit(frame, y)
    settings = (params["C"], params.get("p", 1.0), params.get("as_printed", False))
    beta = params.get("beta", "label")
    soft = naive.SoftMargins(y, np.ones(n), naive.favor_of(beta, costs, y), *settings)
    before = np.zeros(n)
    for w, F, record in zip(weights, clf.staged_decision_function(frame), clf.history_, strict=True):
        np.testing.assert_allclose(w, soft.terms() / soft.terms().sum(), atol=TOLERANCE)
        leaf = naive.leaf_of_full_search(soft, w, beta, costs)
        lowest = np.inf
        for j, _, go_left, way in plain.candidates(columns, [False, True], missing, y):
            side = np.array([way if x is None else "left" if go_left(x) else "right" for x in columns[j]])
            sides = [np.flatnonzero(side == name) for name in ("left", "right")]
            if min(map(len, sides)) == 0:
                continue
            each = [{sign: leaf(rows, sign) for sign in (1, -1)} for rows in sides]
            if criterion == "z":
                value = sum(min(own.values())[1] for own in each)
            else:
                value = min(each[0][-s][1] + each[1][s][1] for s in (1, -1))
            lowest = min(lowest, value + w[side == "none"].sum())
        assert record["criterion"] == pytest.approx(lowest, abs=TOLERANCE)
        # the values have this loss
        total = soft.terms().sum()
        soft.add(F - before, w)
        assert soft.terms().sum() / total == pytest.approx(lowest, abs=TOLERANCE)
        before = F


@pytest.mark.parametrize("criterion", ["z", None])
@pytest.mark.parametrize("cost", [0.3, 1.0, 4.0])
def test_without_regularisation_it_is_cs_realboost(criterion, cost):
    """[cuendet2002] §2.4.4 at C = 0, with costs of labels, is [masnadi2011] algorithm 2; up to the forced signs."""
    X, y = awkward_data(seed=5)
    costs = {0: 1.0 / max(cost, 1.0), 1: cost / max(cost, 1.0)}
    full = sb.SoftMarginBoostClassifier(
        C=0.0, search="full", cost=costs, n_estimators=15, estimator=Stump(criterion=criterion)
    ).fit(X, y)
    real = sb.CSRealBoostClassifier(cost=costs, n_estimators=15).fit(X, y)
    if criterion == "z":
        np.testing.assert_allclose(full.decision_function(X), real.decision_function(X), atol=TOLERANCE)
        criteria = [[r["criterion"] for r in clf.history_] for clf in (full, real)]
        np.testing.assert_allclose(*criteria, atol=TOLERANCE)
    else:
        for term in full.estimators_:
            left, right = term.values[:2]
            assert left * right <= 0.0
        assert full.history_[0]["criterion"] >= real.history_[0]["criterion"] - TOLERANCE


def test_without_regularisation_and_with_fan_s_beta_values_are_closed_too():
    """For costs of labels: ln(β_right W_right / (β_wrong W_wrong)) / (β_right + β_wrong), smoothed."""
    X, y = awkward_data(seed=5, missing=0.0)
    costs = np.array([0.3, 0.8])
    clf = sb.SoftMarginBoostClassifier(
        C=0.0, search="full", beta="sign", cost=dict(enumerate(costs.tolist())), n_estimators=1, pos_label=1
    ).fit(X, y)
    (term,) = clf.estimators_
    leaf = term.partition.leaves(_view(clf, X))
    for j, value in enumerate(term.values[:2]):
        sums = np.array([np.sum((leaf == j) & (y == k)) / len(y) for k in (0, 1)]) + 1 / len(y)
        k = int(value > 0)
        right, wrong = 0.5 - 0.5 * costs[k], 0.5 + 0.5 * costs[1 - k]
        size = max(0.0, np.log(right * sums[k] / (wrong * sums[1 - k])) / (right + wrong))
        assert abs(value) == pytest.approx(size, abs=TOLERANCE)


def _view(clf, X):
    return View(clf._engine(), read_table(clf, X, reset=False), clf._model.bins)


def test_a_constant_competes_if_asked_for():
    X, y = np.arange(40.0)[:, None] % 5, np.arange(40) < 3
    fits = [
        sb.SoftMarginBoostClassifier(
            search="full", C=1.0, cost=1.0, n_estimators=1, estimator=Stump(constant=constant)
        ).fit(X, y)
        for constant in (True, False)
    ]
    assert [len(clf.estimators_[0].partition.splits) for clf in fits] == [0, 1]
    assert fits[0].history_[0]["criterion"] < fits[1].history_[0]["criterion"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimator": "tree"}, r"^search='full' needs a stump .* not estimator='tree'\. Set .*, or search='step'\.$"),
        ({"estimator": Histogram()}, r"^search='full' needs a stump .* not estimator=Histogram\(\)"),
        ({"estimator": Stump(l2_regularization=1.0)}, r"^search='full' needs a stump .* penalties"),
        ({"estimator": Stump(min_hessian_leaf=1.0)}, r"^search='full' needs a stump .* penalties"),
        ({"estimator": Stump(max_features=2)}, r"=Stump\(max_features=2\)\. Set estimator=Stump\(\) without sampled"),
        ({"estimator": Stump(splitter="random")}, r"=Stump\(splitter='random'\)\. Set .* random thresholds"),
        ({"estimator": Stump(monotonic_cst={0: 1})}, r"=Stump\(.*\)\. Set .* monotonic constraints"),
        ({"resample": True}, r"^search='full' does not work with resample=True, .* or set search='step'\.$"),
        ({"sampler": 0.5}, r"^search='full' does not work with sampler=0\.5, .* at their defaults"),
        ({"sampler": "bootstrap", "estimator": "tree"}, "^search='full' does not work with sampler='bootstrap', "),
        ({"estimator": Stump(criterion="gini")}, "criterion='gini' of Stump has no effect"),
        ({"estimator": Stump(criterion="zbar_printed")}, "criterion='zbar_printed' of Stump has no effect"),
    ],
)
def test_the_full_search_is_for_stumps(params, message):
    with pytest.raises(ValueError, match=message):
        sb.SoftMarginBoostClassifier(search="full", n_estimators=2, **params).fit(*awkward_data(60))
