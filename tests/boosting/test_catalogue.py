"""What must hold for the variants beyond the laws of all boosters: costs, probabilities, known defects."""

from __future__ import annotations

import inspect
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.model_selection import cross_validate

import skewboost as sb
from skewboost.boosting.catalogue import COMPOUND, ONCE, as_markdown
from skewboost.boosting.estimator import BaseBooster
from skewboost.datasets import load_rare_cancer, make_fraud
from skewboost.errors import CostWarning
from skewboost.learners import Histogram, Line, Stump
from support import awkward_data, each_engine, of_any_class

CATALOGUE = sb.catalogue()
COSTLY = [e for e in CATALOGUE if e.cost_sensitive]
SOUND = [e for e in CATALOGUE if e.costs == ONCE]
COMPOUNDING = [e for e in CATALOGUE if e.costs == COMPOUND]


def each(entries):
    return pytest.mark.parametrize("entry", entries, ids=[e.name for e in entries])


# ------------------------------------------------------------------------------ the list itself


def test_every_estimator_is_listed_once():
    boosters = [
        name
        for name in sb.__all__
        if name.endswith("Classifier")
        and issubclass(getattr(sb, name), BaseBooster)
        and ".meta." not in getattr(sb, name).__module__
    ]
    assert sorted(e.class_name for e in CATALOGUE) == sorted(boosters)
    assert len({e.name for e in CATALOGUE}) == len(CATALOGUE)


@each(CATALOGUE)
def test_an_entry_says_what_is_true(entry):
    clf = entry.estimator()
    assert ("cost" in clf.get_params()) == entry.cost_sensitive
    assert ("sample_cost" in inspect.signature(clf.fit).parameters) == entry.cost_sensitive
    assert entry.verdict.endswith(".")
    assert entry.paper
    assert entry.equations
    asks = clf._rule().asks
    assert entry.needs == " or ".join(q.split()[0].replace("class", "labels") for q in asks)


# ---------------------------------------------------------------------------------------- costs


def with_params(booster, params):
    """A booster of 25 rounds; a criterion is one of its stump."""
    params = dict(params)
    if "criterion" in params:
        params["estimator"] = Stump(criterion=params.pop("criterion"))
    return booster(n_estimators=25, **params)


@each([e for e in CATALOGUE if e.reduces_to])
def test_it_reduces_to_its_plain_variant(entry):
    X, y = awkward_data(seed=6)
    plain = next(e for e in CATALOGUE if e.name == entry.reduces_to)
    a, b = with_params(entry.estimator, entry.neutral).fit(X, y), with_params(plain.estimator, entry.plain).fit(X, y)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-9)
    if entry.probabilistic:
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-9)


def test_adacost_does_not_reduce_to_adaboost():
    """Its known defect: at equal costs of 1 every right example keeps its weight, and steps are negative."""
    X, y = awkward_data(seed=6)
    clf = sb.AdaCostClassifier(cost=1.0, n_estimators=5).fit(X, y)
    assert clf.history_[0]["step"] < 0


def test_adaboost_reg_without_mistrust_is_twice_adaboost():
    X, y = awkward_data(seed=6)
    reg = sb.AdaBoostRegClassifier(C=0.0, n_estimators=25).fit(X, y)
    ada = sb.AdaBoostClassifier(n_estimators=25).fit(X, y)
    np.testing.assert_allclose(reg.decision_function(X), 2 * ada.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(reg.predict_proba(X), ada.predict_proba(X), atol=1e-9)


@pytest.mark.sample(11)
@each(COSTLY)
def test_a_cost_is_the_same_however_it_is_said(entry):
    X, y = awkward_data(300)
    y = np.where(y == 1, "sick", "well")
    new = lambda **kwargs: entry.make(15, **kwargs)  # noqa: E731
    F = new(cost=3.0).fit(X, y).decision_function(X)
    each_row = np.where(y == "sick", 3.0, 1.0)
    for clf in (
        new(cost={"sick": 3.0, "well": 1.0}).fit(X, y),
        new(cost=[[0.0, 3.0], [1.0, 0.0]]).fit(X, y),  # classes are sorted: sick, well
        new(cost=pd.DataFrame([[-1.0, 2.0], [4.0, 3.0]])).fit(X, y),
        new().fit(X, y, sample_cost=of_any_class(each_row)),
    ):
        np.testing.assert_allclose(clf.decision_function(X), F, atol=1e-12)
    ratio = (y == "well").sum() / (y == "sick").sum()
    # None is not "balanced" there
    joint, damped = ("AlternatingTree", "AdaBoostMH", "AdaC2M1"), ("AdaBoostReg", "WeightBoost", "ConsistentBoost")
    equal_by_default = (*joint, "Arcing", *damped)
    if entry.name not in ("AdaCost", "FavoredBoost", *equal_by_default):
        balanced = new(cost="balanced").fit(X, y).decision_function(X)
        np.testing.assert_allclose(balanced, new().fit(X, y).decision_function(X), atol=1e-12)
        np.testing.assert_allclose(balanced, new(cost=ratio).fit(X, y).decision_function(X), atol=1e-12)


@each(COSTLY)
def test_costs_that_hardly_differ_by_row_hardly_differ_from_class_costs(entry):
    """The paths are different, the results must not be."""
    X, y = awkward_data(300)
    costs = np.where(y == 1, 3.0, 1.0)
    nearly = costs * (1 + 1e-13 * np.random.default_rng(0).normal(size=len(y)))
    a, b = (entry.make(12).fit(X, y, sample_cost=of_any_class(c)) for c in (costs, nearly))
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-7)


@each(COSTLY)
def test_rows_may_differ_in_cost(entry):
    """Order of rows, and repetition, mean nothing here either; and the costs do change the model."""
    X, y = awkward_data(300)
    rng = np.random.default_rng(0)
    n = len(y)
    costs, counts, order = of_any_class(rng.uniform(0.5, 4.0, n)), rng.integers(1, 3, n), rng.permutation(n)
    fit = lambda *args, **kwargs: entry.make(10).fit(*args, **kwargs).decision_function(X)  # noqa: E731
    F = fit(X, y, sample_weight=counts, sample_cost=costs)
    np.testing.assert_allclose(
        fit(X.repeat(counts, 0), y.repeat(counts), sample_cost=costs.repeat(counts, 0)), F, atol=1e-9
    )
    shuffled = fit(X[order], y[order], sample_weight=counts[order], sample_cost=costs[order])
    np.testing.assert_allclose(shuffled, F, atol=1e-9)
    assert np.abs(F - fit(X, y, sample_weight=counts)).max() > 1e-3


SCALE_FREE = [
    e for e in COSTLY if e.name in ("AdaC2", "AdaC3", "CSB0", "CSB1", "CSB2", "CSRA", "CSGA", "CSLB", "AdaMEC")
]


@each(SCALE_FREE)
def test_only_the_ratio_of_costs_counts_where_weights_are_normalised(entry):
    X, y = awkward_data(300)
    a, b = (entry.make(12, cost={0: k, 1: 3.0 * k}).fit(X, y) for k in (1.0, 7.0))
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-9)


def halves(X, y):
    rng = np.random.default_rng(1)
    train = rng.random(len(y)) < 0.5
    rows = [np.flatnonzero(train), np.flatnonzero(~train)]
    take = (lambda r: X.iloc[r]) if hasattr(X, "iloc") else (lambda r: X[r])
    return take(rows[0]), np.asarray(y)[rows[0]], take(rows[1]), np.asarray(y)[rows[1]]


def overlapping():
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.15
    X = rng.normal(size=(4000, 5))
    X[:, 0] += 1.2 * y
    X[:, 1] -= 0.8 * y
    X[:, 2] += 0.6 * y * np.sign(X[:, 3])
    return X, y.astype(int)


def four_measurements():
    X, y = load_rare_cancer(n_positive=100)
    return np.asarray(X)[:, :4], np.asarray(y)


DATA = {"overlapping": overlapping, "cancer": four_measurements, "fraud": lambda: make_fraud(4000)}
N_ROUNDS = 50


@cache
def halves_of(data):
    return halves(*DATA[data]())


def recalls(entry, data, costs):
    """The recall on each half of the data of a model of the other."""
    X, y, X_new, y_new = halves_of(data)
    found = []
    for cost in costs:
        clf = entry.make(N_ROUNDS, cost=float(cost), pos_label=1, engine="cpu")  # many fits
        caught = (clf.fit(X, y).predict(X_new)[y_new == 1] == 1).sum()
        caught += (clf.fit(X_new, y_new).predict(X)[y == 1] == 1).sum()
        found.append(caught / (y.sum() + y_new.sum()))
    return found


FORGETFUL = ("CSAdaBoost", "CSRealBoost", "CSGentleBoost")  # on small, nearly separable data


FEW, MANY = (np.geomspace(0.1, 30.0, n) for n in (5, 10))
each_grid = pytest.mark.parametrize("costs", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])


@pytest.mark.sample(2)
@each_grid
@pytest.mark.parametrize("data", DATA)
@each(SOUND)
def test_recall_rises_with_the_cost_of_a_miss(entry, data, costs):
    follows = spearmanr(costs, recalls(entry, data, costs)).statistic
    if entry.name in FORGETFUL and data == "cancer":
        assert "loses the costs" in entry.verdict
        if costs is MANY:
            assert follows < 0.9, "the catalogue's warning is out of date"
    else:
        assert follows >= (0.9 if costs is MANY else 0.89)


@pytest.mark.sample(3)
@each_grid
@pytest.mark.parametrize("data", DATA)
@each([e for e in COMPOUNDING if e.name in ("AdaC2", "CSB2")])
def test_where_costs_compound_the_root_of_a_cost_does_what_the_cost_should(entry, data, costs):
    """Costs that enter in every round act as their M-th power: all or nothing; their M-th root behaves."""
    assert spearmanr(costs, recalls(entry, data, costs ** (1 / N_ROUNDS))).statistic >= (0.9 if costs is MANY else 0.89)
    all_or_nothing = recalls(entry, data, [0.3, 3.0])
    assert all_or_nothing[1] - all_or_nothing[0] > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AdaC1", "AdaCost", "FavoredBoost"])
def test_recall_does_not_follow_costs_in_the_exponent(name):
    """The catalogue warns of these three; should one of them pass, the warning is out of date."""
    entry = next(e for e in CATALOGUE if e.name == name)
    assert min(spearmanr(FEW, recalls(entry, data, FEW)).statistic for data in DATA) < 0.5


def test_csb0_drifts_to_recall_one():
    X, y, X_new, y_new = halves(*overlapping())
    clf = sb.CSB0Classifier(cost=1.5, n_estimators=100, pos_label=1).fit(X, y)
    recall = [(p[y_new == 1] == 1).mean() for p in clf.staged_predict(X_new)]
    assert recall[0] < 0.5
    assert recall[-1] == 1.0


# -------------------------------------------------------------------------------- probabilities


@pytest.mark.sample(2)
@each([e for e in SOUND if e.name != "CSAdaBoost"])
def test_probabilities_do_not_depend_on_costs(entry):
    """The link takes the cost out again: P(y | x) is the same for any cost, up to what a finite ensemble can do."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.5, 1.5, 20_000)
    y = rng.random(len(x)) < 1 / (1 + np.exp(-2 * x + 1.0))
    grid = np.linspace(-1.2, 1.2, 13)[:, None]
    truth = 1 / (1 + np.exp(-2 * grid[:, 0] + 1.0))
    for cost in (0.2, 1.0, 5.0):
        clf = entry.make(150, cost=cost, pos_label=True).fit(x[:, None], y)
        p = clf.predict_proba(grid)[:, 1]
        assert np.abs(p - truth).mean() < 0.05, cost
        boundary = grid[np.argmin(np.abs(clf.decision_function(grid))), 0]
        assert boundary == pytest.approx((1.0 - np.log(cost)) / 2, abs=0.35)


@each([e for e in CATALOGUE if e.probabilistic])
def test_without_a_split_the_prior_is_the_answer_whatever_the_cost(entry):
    X, y = np.zeros((200, 2)), np.arange(200) < 20
    kwargs = {"cost": 4.0} if entry.cost_sensitive else {}
    if entry.name == "AdaBoostReg":
        kwargs["C"] = 0.0
    clf = entry.make(40, **kwargs).fit(X, y)
    assert clf.predict_proba(X)[0, 1] == pytest.approx(0.1, abs=0.02)


@pytest.mark.sample(1)
@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("booster", [sb.AdaMECClassifier, sb.CGAdaClassifier, sb.AsymmetricAdaBoostClassifier])
def test_calibration_mends_overconfidence(booster, calibrate):
    X, y = overlapping()
    X, y, X_new, y_new = halves(X, y)
    plain = booster(cost=10.0, n_estimators=120, estimator="tree", engine="cpu").fit(X, y)
    mended = clone(plain).set_params(calibrate=calibrate).fit(X, y)
    brier = [np.mean((clf.predict_proba(X_new)[:, 1] - y_new) ** 2) for clf in (plain, mended)]
    assert brier[1] < brier[0] - 0.005
    cost = [
        10 * (clf.predict(X_new)[y_new == 1] == 0).sum() + clf.predict(X_new)[y_new == 0].sum()
        for clf in (plain, mended)
    ]
    assert cost[1] < cost[0]
    # the decision is that of the probabilities
    agrees = (mended.predict_proba(X_new)[:, 1] * 10 > mended.predict_proba(X_new)[:, 0]) == (
        mended.predict(X_new) == 1
    )
    assert agrees.mean() > 0.999


@pytest.mark.parametrize(
    ("booster", "learner"), [(sb.CSRealBoostClassifier, Histogram()), (sb.CSLogitBoostClassifier, Line())]
)
@pytest.mark.parametrize("ratio", [5.0, *(pytest.param(r, marks=pytest.mark.slow) for r in (1.0, 2.0, 20.0))])
def test_the_boundary_between_two_gaussians_is_where_the_costs_want_it(booster, learner, ratio):
    """Unit Gaussians at ±1: x* = -½ ln(C1/C2). One draw has a standard error of 0.05, so ten are averaged."""
    grid = np.linspace(-3, 3, 6001)
    crossings = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = np.concatenate((rng.normal(-1, 1, 10_000), rng.normal(1, 1, 10_000)))[:, None]
        clf = booster(estimator=learner, cost=ratio, pos_label=1, n_estimators=20).fit(x, np.repeat([0, 1], 10_000))
        changes = np.diff(np.sign(clf.decision_function(grid[:, None]))) != 0
        crossings.append(grid[:-1][changes].mean())
    assert np.mean(crossings) == pytest.approx(-0.5 * np.log(ratio), abs=0.05)


# ------------------------------------------------------------------------------- warm and early


@each(CATALOGUE)
def test_a_warm_start_ends_where_one_run_does(entry):
    """Also where costs are spread over all rounds: then it trains anew."""
    X, y = awkward_data(300)
    kwargs = {"cost": 2.0} if entry.cost_sensitive else {}
    rounds = entry.estimator._rounds
    whole = entry.make(14, **kwargs).fit(X, y)
    parts = entry.make(6, warm_start=True, **kwargs).fit(X, y).set_params(**{rounds: 14}).fit(X, y)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    if entry.cost_sensitive:
        with pytest.raises(ValueError, match=r"cost=3, but training started with 2\."):
            parts.set_params(cost=3.0, **{rounds: 20}).fit(X, y)


@each(CATALOGUE)
def test_early_stopping_and_stages(entry):
    X, y = awkward_data(500)
    kwargs = {"cost": 2.0} if entry.cost_sensitive else {}
    clf = entry.make(60, early_stopping=3, random_state=0, **kwargs).fit(X, y)
    stages = list(clf.staged_decision_function(X))
    assert len(stages) == clf.n_estimators_
    np.testing.assert_allclose(stages[-1], clf.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(list(clf.staged_predict_proba(X))[-1], clf.predict_proba(X), atol=1e-9)
    assert np.array_equal(list(clf.staged_predict(X))[-1], clf.predict(X))


@pytest.mark.parametrize(
    ("entry", "n_classes"),
    [(e, k) for e in CATALOGUE for k in (2, 3) if k == 2 or e.name in ("AdaBoostMH", "AdaC2M1")],
    ids=lambda v: getattr(v, "name", str(v)),
)
def test_the_last_stage_is_the_whole_model_where_there_is_nothing_to_learn(entry, n_classes):
    """Most make no round then, and have one stage: what they start with."""
    X, y = np.zeros((12, 2)), np.arange(12) % n_classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one says that no round was right on half of the weight
        clf = entry.make(5).fit(X, y)
    for name in ("decision_function", "predict", "predict_proba"):
        stages = list(getattr(clf, f"staged_{name}")(X))
        assert len(stages) == max(1, clf.n_estimators_)
        np.testing.assert_allclose(stages[-1], getattr(clf, name)(X), atol=1e-12)


# ------------------------------------------------------------------------------ numerical safety


@pytest.mark.sample(16)
@each(CATALOGUE)
@pytest.mark.parametrize("data", ["separable", "one positive", "noise"])
def test_scores_stay_finite(entry, data):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)), 1)
    y = {"separable": X[:, 0] > 0.5, "one positive": np.arange(60) == 7, "noise": rng.random(60) < 0.3}[data].astype(
        int
    )
    for kwargs in [{"cost": c} for c in (1e-4, 1.0, 1e4)] if entry.cost_sensitive else [{}]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", CostWarning)
            clf = entry.make(60, pos_label=1, **kwargs).fit(X, y)
            assert np.isfinite(clf.decision_function(X)).all()
            p = clf.predict_proba(X)
        assert np.isfinite(p).all()
        assert ((p >= 0) & (p <= 1)).all()


@pytest.mark.slow
@each(CATALOGUE)
def test_scores_stay_finite_over_5000_rounds(entry):
    X, y = awkward_data(120)
    n_rounds = 1000 if entry.name == "AlternatingTree" else 5000  # its time is quadratic in the rounds
    for cost in (1e-4, 1e4) if entry.cost_sensitive else (None,):
        kwargs = {} if cost is None else {"cost": cost}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", CostWarning)
            clf = entry.make(n_rounds, **kwargs).fit(X, y)
            assert np.isfinite(clf.decision_function(X)).all()


# --------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (0, "must be a finite number greater than 0"),
        (-2.0, "must be a finite number greater than 0"),
        (float("nan"), "must be a finite number greater than 0"),
        (True, "is not a valid cost"),
        ("cheap", "is not a valid cost"),
        ({0: 1.0}, r"lacks \[1\]"),
        ({0: 1.0, 1: 2.0, 2: 1.0}, r"\[2\] are not among them"),
        ({0: 1.0, 1: 0.0}, r"cost\[1\]=0.0 must be a finite number greater than 0"),
        ([[0, 1], [1]], "2 x 2 matrix"),
        (np.zeros((3, 3)), "2 x 2 matrix"),
        ([[1.0, 0.0], [5.0, 0.0]], "costs no more than the right decision"),
    ],
)
def test_a_cost_that_makes_no_sense_is_refused(cost, message):
    X, y = awkward_data(60)
    with pytest.raises(ValueError, match=message):
        sb.AdaC2Classifier(cost=cost, n_estimators=2).fit(X, y)


def test_other_mistakes_with_costs_are_refused():
    X, y = awkward_data(60)
    with pytest.raises(ValueError, match=r"cost=2\.0 has no effect with sample_cost"):
        sb.CSRAClassifier(cost=2.0).fit(X, y, sample_cost=np.ones(60))
    with pytest.raises(ValueError, match=r"has shape \(59,\), but X has 60 rows"):
        sb.CSRAClassifier().fit(X, y, sample_cost=np.ones(59))
    with pytest.raises(ValueError, match="must cost more than the right decision"):
        sb.CSRAClassifier().fit(X, y, sample_cost=np.zeros(60))
    for cost, message in (
        (2.0, "y has 3 classes"),
        (np.ones((3, 3)), r"use MinimumRiskClassifier\(estimator, cost=matrix\)"),
    ):
        with pytest.raises(ValueError, match=message):
            sb.AdaBoostMHClassifier(cost=cost).fit(X, np.arange(60) % 3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'cost'"):
        sb.AdaBoostClassifier(cost=2.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample_cost'"):
        sb.AdaBoostClassifier().fit(X, y, sample_cost=np.ones(60))


def test_sample_cost_is_routed():
    import sklearn

    X, y = awkward_data(200)
    costs = of_any_class(np.random.default_rng(0).uniform(0.5, 2.0, len(y)))
    with sklearn.config_context(enable_metadata_routing=True):
        clf = sb.CGAdaClassifier(n_estimators=5).set_fit_request(sample_cost=True, sample_weight=False)
        result = cross_validate(
            clf, X, y, params={"sample_cost": costs}, cv=2, return_estimator=True, error_score="raise"
        )
    ratio = result["estimator"][0]._model.link.cost_ratio  # of the means of the classes
    assert 0.8 < ratio < 1.25
    assert ratio != 1.0


@pytest.mark.parametrize("potential", ["steep", 3, (np.exp,), (lambda m: m, lambda m: np.ones_like(m))])
def test_a_potential_must_fall(potential):
    with pytest.raises(ValueError, match="potential"):
        sb.ArcingClassifier(potential=potential).fit(*awkward_data(60))


def test_the_page_is_current():
    page = Path(__file__).resolve().parents[2] / "docs" / "catalogue.md"
    assert page.read_text() == as_markdown(), "run: python -m skewboost.boosting.catalogue > docs/catalogue.md"


@each_engine
def test_rareboost_is_realboost_on_stumps(engine):
    """[nyga2010] proposition 3, to the last digits."""
    X, y = awkward_data(seed=2)
    rare = sb.RareBoostClassifier(n_estimators=60, engine=engine).fit(X, y)
    real = sb.RealBoostClassifier(estimator=Stump(criterion="error"), n_estimators=60, engine=engine).fit(X, y)
    np.testing.assert_allclose(rare.decision_function(X), real.decision_function(X), atol=1e-12, rtol=0)
