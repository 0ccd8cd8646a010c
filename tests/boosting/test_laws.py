"""What must hold for every booster, whatever the data."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import naive
from skewboost import AdaBoostClassifier, GentleBoostClassifier, LogitBoostClassifier, RealBoostClassifier
from skewboost.boosting.loop import boost, observed
from skewboost.boosting.rule import best_step_over_leaves
from skewboost.boosting.state import State
from skewboost.engine import choose
from skewboost.engine.native_set import NativeSet
from skewboost.engine.table import Table
from skewboost.learners import AlternatingTree, Histogram, Stump, Tree, resolve
from skewboost.learners.stump_tree import majority
from skewboost.learners.training_data import TrainingData
from skewboost.metrics.costs import Costs
from support import awkward_data, each_engine, make, pairs

BOOSTERS = [AdaBoostClassifier, RealBoostClassifier, GentleBoostClassifier, LogitBoostClassifier]
EXPONENTIAL = BOOSTERS[:3]
LEARNERS = ["stump", Tree(max_leaf_nodes=5), Histogram(max_bins=8), Stump(missing="abstain"), AlternatingTree()]

each_booster = pytest.mark.parametrize("booster", BOOSTERS)
every_booster_on_each_learner = pytest.mark.parametrize(("booster", "learner"), pairs(LEARNERS))
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def opened_state(clf, X, y, learner="stump", engine="reference", examples=None):
    """The loop's own state, to look at weights in between."""
    engine = choose(engine, 1)
    data = TrainingData(Table(*X.shape, matrix=X), y == 1, examples, engine)
    rule = clf._rule()
    resolved = resolve(learner)
    question = next(q for q in rule.asks if q in resolved.answers)
    opened = resolved.prepare(data, rule.goal(Costs(), 1.0 / data.n_examples))
    return rule, State(opened, 40, question)


@each_engine
@pytest.mark.parametrize("booster", EXPONENTIAL)
@each_learner
def test_weights_stay_positive_and_sum_to_one(booster, learner, engine):
    X, y = awkward_data()
    rule, state = opened_state(booster(), X, y, learner, engine)
    for _ in boost(rule, state):
        assert state.rows.get("w").sum() == pytest.approx(1.0, abs=1e-12)
        assert (state.rows.get("w") > 0).all()
    assert state.round > 5


@pytest.mark.parametrize(
    ("engine", "learner", "n_rounds"),
    [
        pytest.param("reference", "stump", 1500, marks=pytest.mark.slow),
        ("cpu", "stump", 1500),
        ("cpu", Tree(max_leaf_nodes=5), 1500),
    ],
    ids=str,
)
def test_weights_far_apart_and_their_logarithms_lead_to_the_same_model(engine, learner, n_rounds, monkeypatch):
    """Up to e^600 apart they are kept as they are, although the core multiplies those of a class by a common factor."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X.sum(axis=1) + 0.5 * rng.normal(size=60) > 2.0
    spread, made = {}, {}
    for limit in (10.0, 600.0):
        monkeypatch.setattr("skewboost.boosting.state.MAX_SPREAD", limit)
        model = RealBoostClassifier(n_estimators=n_rounds, estimator=learner, engine=engine)
        with observed(lambda state: spread.update({limit: np.ptp(np.log(state.rows.get("w")))})):  # noqa: B023
            made[limit] = model.fit(X, y).decision_function(X)
    assert 300.0 < spread[600.0] < 600.0
    assert spread[600.0] == pytest.approx(spread[10.0], rel=1e-9)
    assert made[600.0] == pytest.approx(made[10.0], rel=1e-9, abs=1e-9)


@pytest.mark.sample(12)
@each_engine
@pytest.mark.parametrize("booster", EXPONENTIAL)
@pytest.mark.parametrize("learner", [*LEARNERS, GaussianNB()], ids=str)
def test_weights_are_the_exponential_of_minus_the_margin(booster, learner, engine):
    """w_i ∝ exp(-y_i F(x_i)): the lazily kept weights against F itself; the loss is their sum before normalisation."""
    X, y = awkward_data(missing=0.0 if isinstance(learner, GaussianNB) else 0.06)
    rule, state = opened_state(booster(), X, y, learner, engine)
    F = np.zeros(len(y))
    for r in boost(rule, state):
        F += r.term.on(state.learner.view)
        w = np.exp(-state.rows.get("y") * F)
        np.testing.assert_allclose(state.rows.get("w"), w / w.sum(), rtol=1e-9)
        assert state.loss == pytest.approx(w.mean(), rel=1e-9)


@each_engine
@pytest.mark.parametrize("booster", [AdaBoostClassifier, RealBoostClassifier])
@pytest.mark.parametrize("learner", [*LEARNERS, GaussianNB()], ids=str)
def test_the_exponential_loss_never_rises(booster, learner, engine):
    X, y = awkward_data(seed=3, missing=0.0 if isinstance(learner, GaussianNB) else 0.06)
    clf = booster(estimator=learner, n_estimators=60, engine=engine).fit(X, y)
    losses = [1.0] + [r["loss"] for r in clf.history_]
    # RealBoost's smoothing may add up to its own size where a leaf is as good as empty
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(losses))
    assert losses[-1] < 0.9


@each_booster
def test_the_logistic_and_the_exponential_loss_fall_in_training(booster):
    X, y = awkward_data(seed=1)
    losses = [r["loss"] for r in booster(n_estimators=50).fit(X, y).history_]
    assert losses[-1] < losses[0]


@pytest.mark.sample(21)
@every_booster_on_each_learner
@each_engine
def test_the_order_of_rows_does_not_matter(booster, learner, engine):
    X, y = awkward_data(200)
    order = np.random.default_rng(0).permutation(len(y))
    a = make(booster, 20, learner, engine=engine).fit(X, y)
    b = make(booster, 20, learner, engine=engine).fit(X[order], y[order])
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-9)


@pytest.mark.sample(23)
@every_booster_on_each_learner
@each_engine
def test_an_integer_weight_is_a_repetition_and_zero_is_absence(booster, learner, engine):
    X, y = awkward_data(200)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = make(booster, 20, learner, engine=engine).fit(X, y, sample_weight=weights)
    repeated = make(booster, 20, learner, engine=engine).fit(X.repeat(weights, 0), y.repeat(weights))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)


def test_min_samples_leaf_counts_repetitions_too():
    X, y = awkward_data(250)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    tree = Tree(min_samples_leaf=30)
    weighted = RealBoostClassifier(estimator=tree, n_estimators=10).fit(X, y, sample_weight=weights)
    repeated = RealBoostClassifier(estimator=tree, n_estimators=10).fit(X.repeat(weights, 0), y.repeat(weights))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)
    free = RealBoostClassifier(estimator=Tree(), n_estimators=10).fit(X, y, sample_weight=weights)
    assert not np.allclose(weighted.decision_function(X), free.decision_function(X))


@pytest.mark.sample(21)
@pytest.mark.parametrize(("booster", "learner"), pairs(["stump", Tree(max_leaf_nodes=4), AlternatingTree()]))
def test_the_number_of_threads_changes_no_bit(booster, learner, monkeypatch):
    """Functions of rows are applied in blocks, here of 100 rows; tests/engine has the sums of the engine."""
    monkeypatch.setattr(NativeSet, "block", 100)
    X, y = awkward_data()
    first, *others = (make(booster, 6, learner, n_jobs=j).fit(X, y).decision_function(X) for j in (1, 2, 5))
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("booster", "learner"), pairs(["stump", Tree(max_leaf_nodes=4), Tree(max_leaf_nodes=9), AlternatingTree()])
)
def test_the_number_of_threads_changes_no_bit_of_large_models(booster, learner):
    """Large enough that rows are cut into chunks."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(140_000, 9)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=len(X)) > 1
    first, *others = (make(booster, 4, learner, n_jobs=j).fit(X, y).decision_function(X) for j in (1, 2, 5))
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize(
    ("booster", "variant"),
    [(AdaBoostClassifier, "ada"), (RealBoostClassifier, "real"), (GentleBoostClassifier, "gentle")],
)
def test_stumps_boost_as_plain_loops_do(booster, variant):
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(45, 3)), 1)
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=45) > 0.6, 1, -1)
    clf = booster(n_estimators=12, pos_label=1).fit(X, y)
    for F, expected in zip(
        clf.staged_decision_function(X), naive.boost_stumps(X.tolist(), y.tolist(), 12, variant), strict=True
    ):
        np.testing.assert_allclose(F, expected, atol=1e-10)


@each_booster
def test_either_class_may_be_positive(booster):
    """Swapping the roles negates F, so decision_function, which speaks for classes_[1], stays."""
    X, y = awkward_data()
    a, b = (booster(n_estimators=20, pos_label=p).fit(X, y) for p in (0, 1))
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-9)


def test_the_rarer_class_is_positive():
    X, y = awkward_data()
    assert AdaBoostClassifier(n_estimators=1).fit(X, y).pos_label_ == 1
    assert AdaBoostClassifier(n_estimators=1).fit(X, 1 - y).pos_label_ == 0
    heavy = np.where(y == 1, 100.0, 1.0)
    assert AdaBoostClassifier(n_estimators=1).fit(X, y, sample_weight=heavy).pos_label_ == 0


@each_booster
def test_probabilities_are_the_link_of_the_loss_and_not_squeezed(booster):
    X, y = awkward_data(2000)
    clf = booster(n_estimators=60).fit(X, y)
    p, F = clf.predict_proba(X)[:, 1], clf.decision_function(X)
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-2 * F)), atol=1e-12)
    assert p.min() < 0.05
    assert p.max() > 0.9


@pytest.mark.parametrize("booster", [RealBoostClassifier, LogitBoostClassifier])
def test_probabilities_recover_known_log_odds(booster):
    """Labels drawn with log-odds 2x: F should be half of it."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.5, 1.5, 60_000)
    y = rng.random(60_000) < 1 / (1 + np.exp(-2 * x))
    clf = booster(n_estimators=150, pos_label=True).fit(x[:, None], y)
    grid = np.linspace(-1.2, 1.2, 25)
    F = clf.decision_function(grid[:, None])
    assert np.abs(F - grid).mean() < 0.1


@each_booster
def test_a_step_is_bounded_and_a_perfect_fit_stops(booster):
    X, y = np.arange(20.0)[:, None], np.arange(20) >= 15
    clf = booster(n_estimators=500).fit(X, y)
    assert (clf.predict(X) == y).all()
    assert np.isfinite(clf.decision_function(X)).all()
    first = np.abs(clf.estimators_[0].values).max()
    assert first <= 0.5 * math.log((1 - 1e-10) / 1e-10) + 1e-12
    if booster in (AdaBoostClassifier, LogitBoostClassifier):
        assert clf.stop_reason_.startswith("perfect fit")


@pytest.mark.parametrize("n_leaves", [2, 40])  # few numbers are summed by Python, many by NumPy
def test_the_step_over_leaves_minimises_the_loss(n_leaves):
    rng = np.random.default_rng(n_leaves)
    for limit in (0.1, 4.0):
        sums, signs = rng.uniform(0.0, 1.0, (n_leaves, 2)), rng.choice([-1.0, 0.0, 1.0], (n_leaves, 2))
        rates = signs * [5.0, 1.0]
        rates[0] = [-5.0, -1.0]
        steps = np.linspace(0.0, limit, 20_001)
        losses = (sums[..., None] * np.exp(steps * rates[..., None])).sum(axis=(0, 1))
        assert best_step_over_leaves(sums, rates, limit) == pytest.approx(steps[losses.argmin()], abs=limit / 20_000)
        assert best_step_over_leaves(sums, np.abs(rates), limit) == 0.0


def test_no_edge_stops_adaboost():
    """Under uniform labels on one binary feature nothing can be learned."""
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    clf = AdaBoostClassifier(n_estimators=10).fit(X, [0, 1, 0, 1])
    assert clf.n_estimators_ == 0
    assert clf.stop_reason_.startswith("no edge")


def test_clamped_responses_cannot_represent_rare_classes():
    """Below P = 1/(1 + z_max) = 0.2 the clamp unbalances the fit: F falls in every round, where it should rest."""
    X, y = np.zeros((100, 1)), np.arange(100) < 10
    clamped = [p[0, 1] for p in LogitBoostClassifier(z_max=4.0, n_estimators=40).fit(X, y).staged_predict_proba(X)]
    assert clamped[-1] < 1e-6
    assert (np.diff(clamped[3:]) < 0).all()
    assert LogitBoostClassifier(n_estimators=40).fit(X, y).predict_proba(X)[0, 1] == pytest.approx(0.1)
    balanced = np.arange(100) < 25
    resting = LogitBoostClassifier(z_max=4.0, n_estimators=40).fit(X, balanced).predict_proba(X)[0, 1]
    assert resting == pytest.approx(0.25, abs=1e-6)


@each_booster
@each_engine
def test_without_a_split_the_prior_is_the_answer(booster, engine):
    X, y = np.zeros((50, 2)), np.arange(50) < 5
    clf = booster(n_estimators=30, engine=engine).fit(X, y)
    assert not clf.predict(X).any()
    assert clf.predict_proba(X)[0, 1] == pytest.approx(0.1, abs=0.02)


def test_rounding_does_not_choose_a_balanced_leaf_s_label():
    weights = np.array([[0.25, 0.25 - 1e-17], [0.25, 0.25 - 1e-15], [0.25, 0.2]])
    assert majority(weights, np.zeros(3, dtype=bool)).tolist() == [1.0, 1.0, -1.0]
