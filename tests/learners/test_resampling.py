"""Boosting by resampling: rounds are fitted to drawn rows and measured on all of them."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from engine.partitioned import PartitionedEngine
from skewboost import (
    AdaBoostClassifier,
    ArcingClassifier,
    CGAdaClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RealBoostClassifier,
    catalogue,
)
from skewboost.boosting.catalogue import ANY
from skewboost.boosting.loop import MAX_DRAWS, NO_LUCK, boost
from skewboost.boosting.state import State
from skewboost.engine import choose
from skewboost.engine.scoring import LeafTerm
from skewboost.engine.table import Table
from skewboost.learners import Histogram, Line, Stump, Tree, resolve
from skewboost.learners.learner import LABELS, RESPONSES
from skewboost.learners.resampling import ResampledLearner
from skewboost.learners.samplers import Bootstrap, Sample
from skewboost.learners.training_data import TrainingData
from skewboost.metrics.costs import Costs
from support import awkward_data

ENGINES = ["reference", "cpu", PartitionedEngine()]
LEARNERS = ["stump", Tree(max_leaf_nodes=5), Histogram(max_bins=8), Stump(missing="abstain")]
each_engine = pytest.mark.parametrize("engine", ENGINES, ids=str)
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=str)
each_entry = pytest.mark.parametrize("entry", catalogue(), ids=lambda e: e.name)


def prepared(learner, X, y, engine="reference", examples=None, n_rounds=20, rule=None):
    """The loop's own state, to look at weights in between."""
    rule = rule or AdaBoostClassifier()._rule()
    data = TrainingData(Table(*X.shape, matrix=X), y == 1, examples, choose(engine, 1))
    question = LABELS if LABELS in rule.asks else RESPONSES
    return rule, State(learner.prepare(data, rule.goal(Costs(), 1.0 / data.n_examples)), n_rounds, question)


class Recorded:
    """A sampler that remembers what it was given and what it drew."""

    def __init__(self, sampler=None):
        self.sampler = sampler or Bootstrap()
        self.weights, self.drawn = [], []

    def draw(self, data, weights, rng):
        self.weights.append(weights.copy())
        self.drawn.append(self.sampler.draw(data, weights, rng).rows)
        return Sample(self.drawn[-1])


class Fixed:
    """A sampler that draws given rows, the last of them again and again."""

    def __init__(self, *rows):
        self.rows = [np.asarray(r) for r in rows]

    def draw(self, data, weights, rng):
        return Sample(self.rows.pop(0) if len(self.rows) > 1 else self.rows[0])


# ------------------------------------------------------------------------------ the draw


def test_rows_are_drawn_in_proportion_to_their_weights():
    """2000 draws of 50 rows: each count is binomial, and stays within five standard deviations."""
    rng = np.random.default_rng(0)
    weights = rng.exponential(size=50) ** 2
    weights[[0, 7, 49]] = 0.0
    counts = np.zeros(50)
    for _ in range(2000):
        rows = Bootstrap().draw(None, weights, rng).rows
        assert len(rows) == 50
        counts += np.bincount(rows, minlength=50)
    p, n = weights / weights.sum(), 2000 * 50
    assert (np.abs(counts - n * p) <= 5 * np.sqrt(n * p * (1 - p))).all()
    assert not counts[[0, 7, 49]].any()


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e12])
def test_the_last_row_of_any_weight_is_the_end(scale):
    """Even a generator that only draws the largest number below one stays among the rows of some weight."""

    class Highest:
        def random(self, n):
            return np.full(n, np.nextafter(1.0, 0.0))

    for weights in (np.array([1.0, 1e-3, 0.0]), np.array([0.1] * 7 + [0.0, 0.0]), np.array([0.0, 3.0])):
        rows = Bootstrap().draw(None, scale * weights, Highest()).rows
        assert (weights[rows] > 0).all()


def test_sample_weights_are_where_the_weights_start_and_leave_the_number_of_draws():
    X, y = awkward_data(300)
    weights = np.where(np.arange(300) < 100, 5.0, 1.0)
    weights[::7] = 0.0
    recorded = Recorded()
    AdaBoostClassifier(estimator=ResampledLearner(Stump(), recorded), n_estimators=3).fit(X, y, sample_weight=weights)
    present = weights[weights > 0]
    np.testing.assert_allclose(recorded.weights[0], present / present.sum())
    assert all(len(rows) == len(present) for rows in recorded.drawn)  # of which rows of no weight are not


# ------------------------------------------------------------------------------ the fit


@each_engine
@pytest.mark.parametrize(
    "learner", [Stump(), Stump(criterion="z"), Tree(max_leaf_nodes=5, min_samples_leaf=20)], ids=str
)
def test_what_is_drawn_is_what_is_learned(learner, engine):
    """On the drawn rows the round parts as it would if they were all there is."""
    X, y = awkward_data(300, missing=0.0)
    X = np.round(X, 1)
    rows = np.random.default_rng(3).choice(300, 300)
    _, state = prepared(ResampledLearner(learner, Fixed(rows)), X, y, engine)
    h = state.learner.labels(np.random.default_rng)
    _, alone = prepared(learner, X[rows], y[rows], engine)
    expected = alone.learner.labels(np.random.default_rng)
    number = np.arange(float(len(expected.class_weights)))
    there = expected.term(number).on(alone.learner.view)
    np.testing.assert_array_equal(h.term(number).on(state.learner.view)[rows], there)
    np.testing.assert_array_equal(h.labels, expected.labels)


def test_thresholds_lie_in_the_middle_of_what_was_not_drawn():
    """Of ten points two are drawn, the second and the ninth: five points go to the one, five to the other."""
    X, y = np.arange(10.0)[:, None], (np.arange(10) >= 4).astype(int)
    learner = ResampledLearner(Stump(), Fixed([1] * 5 + [8] * 5))
    clf = AdaBoostClassifier(estimator=learner, n_estimators=1, pos_label=1).fit(X, y)
    assert clf.predict(X).tolist() == [0] * 5 + [1] * 5


def test_the_cut_of_the_slides_is_between_rows_of_the_table():
    """Round 3 of figure 5.39: rows at 0.2 and 0.4 are drawn, 0.3 is not. Printed is 0.30, no cut of the table."""
    X, rows = np.arange(1, 11)[:, None] / 10, np.array([1, 1, 3, 3, 3, 3, 4, 5, 5, 6])
    y = np.where((X[:, 0] < 0.35) | (X[:, 0] > 0.75), 1, -1)
    learner = ResampledLearner(Stump(), Fixed(rows))
    clf = AdaBoostClassifier(estimator=learner, n_estimators=1, pos_label=1).fit(X, y)
    (split,) = clf.estimators_[0].partition.splits
    assert clf._model.bins.features[0].cuts[split.threshold] == pytest.approx(0.35)
    assert clf.predict(X).tolist() == [1, 1, 1, *[-1] * 7]


def test_only_the_order_of_values_counts_for_drawn_rows_too():
    X, y = awkward_data(150)
    for learner in ("stump", Tree(max_leaf_nodes=4)):
        a, b = (
            AdaBoostClassifier(estimator=learner, resample=True, n_estimators=10, random_state=0).fit(table, y)
            for table in (X, np.cbrt(X))
        )
        np.testing.assert_array_equal(a.decision_function(X), b.decision_function(np.cbrt(X)))


@each_learner
@pytest.mark.parametrize(
    ("booster", "engine"),
    [(AdaBoostClassifier, "cpu"), (RealBoostClassifier, "cpu"), (GentleBoostClassifier, PartitionedEngine())],
    ids=str,
)
def test_hypotheses_are_measured_on_all_rows(booster, learner, engine):
    """Error, votes and weights of every round, recomputed from the ensemble alone."""
    X, y = awkward_data(200)
    rule, state = prepared(resolve(learner, "bootstrap"), X, y, engine, rule=booster()._rule(), n_rounds=10)
    F, before = np.zeros(len(y)), np.full(len(y), 1 / len(y))
    for r in boost(rule, state, seed=5):
        if r.record["resets"]:  # weights and loss are those of the rounds since
            F, before = np.zeros(len(y)), np.full(len(y), 1 / len(y))
        g = r.term.on(state.learner.view)
        F += g
        after = np.exp(-state.rows.get("y") * F)
        np.testing.assert_allclose(state.rows.get("w"), after / after.sum(), rtol=1e-9)
        assert state.loss == pytest.approx(after.mean(), rel=1e-9)
        if booster is AdaBoostClassifier:
            wrong, right = before[state.rows.get("y") * g < 0].sum(), before[state.rows.get("y") * g > 0].sum()
            assert r.record["criterion"] == pytest.approx(wrong, abs=1e-12)
            assert r.record["step"] == pytest.approx(0.5 * np.log(right / wrong), rel=1e-9)
        elif booster is RealBoostClassifier:
            leaf = r.term.partition.leaves(state.learner.view)
            for j, value in enumerate(r.term.values):  # δ = 1/N is in both class weights of a leaf
                plus, minus = (before[(leaf == j) & (y == c)].sum() + 1 / len(y) for c in (1, 0))
                abstains = j == 2 and getattr(learner, "missing", "") == "abstain"
                assert value == pytest.approx(0.0 if abstains else 0.5 * np.log(plus / minus), abs=1e-9)
        before = state.rows.get("w")
    assert state.round == 10


@pytest.mark.sample(6)
@each_engine
@pytest.mark.parametrize("learner", ["stump", Histogram(max_bins=8), Line(), LinearRegression()], ids=str)
def test_responses_are_fitted_to_drawn_rows_by_plain_least_squares(learner, engine):
    X, y = awkward_data(200, missing=0.0)
    recorded = Recorded()
    inner = resolve(learner, "bootstrap")
    rule, state = prepared(ResampledLearner(inner.learner, recorded), X, y, engine, rule=LogitBoostClassifier()._rule())
    F = np.zeros(len(y))
    for k, r in enumerate(boost(rule, state)):
        P = 1 / (1 + np.exp(-2 * F))
        np.testing.assert_allclose(recorded.weights[k], P * (1 - P), rtol=1e-9)
        z = ((y == 1) - P) / (P * (1 - P))
        g = r.term.on(state.learner.view)
        if np.abs(g).max() < 3.99:  # else the fit was bounded
            assert r.record["criterion"] == pytest.approx(np.average((z - 2 * g) ** 2, weights=P * (1 - P)), rel=1e-9)
        if k == 0:  # a fit leaves residuals of mean zero
            assert (z - 2 * g)[recorded.drawn[0]].mean() == pytest.approx(0.0, abs=1e-9)
            assert abs((z - 2 * g).mean()) > 1e-6
        F += g
    assert state.loss < 0.6


def test_a_classifier_that_takes_weights_gets_rows_instead():
    seen = []

    class Spy(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append((X[:, 0].astype(int), sample_weight))
            return super().fit(X, y)

    X = np.column_stack((np.arange(400.0), np.random.default_rng(0).normal(size=400)))
    y = np.arange(400) % 2
    weights = np.where(np.arange(400) < 200, 9.0, 1.0)
    clf = AdaBoostClassifier(estimator=Spy(), resample=True, n_estimators=2, random_state=0)
    clf.fit(X, y, sample_weight=weights)
    assert all(w is None and len(rows) == 400 for rows, w in seen)
    assert (seen[0][0] < 200).mean() == pytest.approx(0.9, abs=0.05)


@each_engine
def test_a_sample_of_one_class_makes_a_constant(engine):
    """As in the second round of the slides, also for classifiers that refuse such samples."""
    X, y = np.arange(10.0)[:, None], np.arange(10) < 4
    adapter = resolve(KNeighborsClassifier(1))
    for learner in (Stump(constant=True), Tree(), adapter.learner):
        clf = AdaBoostClassifier(
            estimator=ResampledLearner(learner, Fixed([5, 5, 6, 7, 8])), n_estimators=1, engine=engine
        ).fit(X, y)
        assert not clf.predict(X).any()
        assert clf.history_[0]["criterion"] == pytest.approx(0.4)


# ------------------------------------------------------------------------------ resets


# Ten points, the lower half positive, but for two. A stump on the ends gets the halves right, one on the two
# exceptions gets them upside down: after half a step of the first, that is still wrong on most of the weight.
LINE = np.arange(10.0)[:, None]
HALVES = np.array([1, 1, 1, 0, 1, 0, 1, 0, 0, 0])
ENDS, EXCEPTIONS = [0] * 5 + [9] * 5, [3] * 5 + [6] * 5


def test_a_hypothesis_that_is_mostly_wrong_resets_the_weights():
    """So the second round finds the first one again, and weights and loss are those after one round."""
    rule, state = prepared(ResampledLearner(Stump(), Fixed(ENDS, EXCEPTIONS, ENDS)), LINE, HALVES)
    state.learning_rate = 0.5
    rounds = boost(rule, state)
    first = next(rounds)
    moved = state.rows.get("w").copy()
    assert (first.record["resets"], first.record["criterion"]) == (0, pytest.approx(0.2))
    assert np.ptp(moved) > 0.05
    second = next(rounds)
    assert (second.record["resets"], second.record["criterion"]) == (1, pytest.approx(0.2))
    np.testing.assert_allclose(state.rows.get("w"), moved, rtol=1e-9)
    assert second.record["loss"] == pytest.approx(first.record["loss"])


def test_a_reset_goes_back_to_where_the_variant_started():
    """CGAda starts from weights in proportion to the costs."""
    sampler = Recorded(Fixed(ENDS, EXCEPTIONS, ENDS))
    learner = ResampledLearner(Stump(), sampler)
    clf = CGAdaClassifier(cost=2.0, estimator=learner, learning_rate=0.5, n_estimators=2, pos_label=1)
    assert [r["resets"] for r in clf.fit(LINE, HALVES).history_] == [0, 1]
    start = np.where(HALVES == 1, 2.0, 1.0)
    np.testing.assert_allclose(sampler.weights[0], start / start.sum())
    assert np.ptp(sampler.weights[1] / start) > 0.01
    np.testing.assert_allclose(sampler.weights[2], start / start.sum())


def test_weights_far_apart_are_forgotten_by_a_reset():
    """Also where only their logarithms are kept."""
    X, y = awkward_data(100)
    _, state = prepared(resolve("stump", "bootstrap"), X, y)
    state.keep_first_weights()
    state.rows.put("far apart", np.linspace(-900.0, 0.0, 100))
    state.move_rows(lambda logs: logs, ("far apart",))
    assert state.logarithms
    assert state.rows.get("w").min() == 0.0
    state.reset()
    assert not state.logarithms
    assert state._spread == 0.0
    np.testing.assert_allclose(state.rows.get("w"), 0.01)


def test_the_hypothesis_of_the_last_round_once_more_is_drawn_again_without_a_reset():
    """It has an error of exactly one half, so it adds nothing; the weights are none the worse for it."""
    learner = ResampledLearner(Stump(), Fixed(ENDS, ENDS, ENDS, [2, 2, 3, 3]))
    clf = AdaBoostClassifier(estimator=learner, n_estimators=2, pos_label=1).fit(LINE, HALVES)
    assert [r["resets"] for r in clf.history_] == [0, 0]
    assert [t.partition.splits[0].threshold for t in clf.estimators_] == [4, 2]
    assert clf.history_[1]["loss"] < clf.history_[0]["loss"]


def test_training_stops_where_every_sample_misleads():
    for learning_rate, misleading in ((0.5, EXCEPTIONS), (1.0, ENDS)):  # wrong on most of the weight, or on half
        sampler = Recorded(Fixed(ENDS, misleading))
        clf = AdaBoostClassifier(
            estimator=ResampledLearner(Stump(), sampler), learning_rate=learning_rate, n_estimators=9
        )
        clf.set_params(pos_label=1).fit(LINE, HALVES)
        assert clf.n_estimators_ == 1
        assert clf.stop_reason_ == NO_LUCK
        assert len(sampler.drawn) == 1 + MAX_DRAWS


class Contrary(ClassifierMixin, BaseEstimator):
    """Says the opposite of what it was taught."""

    def fit(self, X, y):
        self.inner_ = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return 1 - self.inner_.predict(X)


def test_a_learner_that_always_errs_leaves_an_empty_ensemble():
    X, y = awkward_data(200, missing=0.0)
    for booster in (AdaBoostClassifier, RealBoostClassifier, ArcingClassifier):
        clf = booster(estimator=Contrary(), n_estimators=5, random_state=0).fit(X, y)
        assert clf.stop_reason_ == NO_LUCK
        assert clf.n_estimators_ == 0
        assert not clf.decision_function(X).any()


class Moody(ClassifierMixin, BaseEstimator):
    """Says the opposite of what it was taught, half of the time."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.inner_ = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        self.classes_ = self.inner_.classes_
        self.turned_ = bool(np.random.default_rng(self.random_state).integers(2))
        return self

    def predict(self, X):
        return self.inner_.predict(X) ^ self.turned_


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "entry", [e for e in catalogue() if "labels" in e.needs and e.learners == ANY], ids=lambda e: e.name
)
def test_training_goes_on_after_resets(entry):
    """And a warm start replays them: the rounds after it are those of one run."""
    X, y = awkward_data(150, missing=0.0)
    whole = entry.estimator(estimator=Moody(), n_estimators=12, random_state=0).fit(X, y)
    assert sum(r["resets"] for r in whole.history_) > 2
    assert np.isfinite(whole.decision_function(X)).all()
    parts = entry.estimator(estimator=Moody(), n_estimators=6, random_state=0, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-9)
    assert [r["resets"] for r in parts.history_] == [r["resets"] for r in whole.history_]


# ------------------------------------------------------------------------------ every variant


@pytest.mark.sample(7)
@each_entry
def test_every_variant_can_be_boosted_by_resampling(entry):
    """Reproducibly, on both engines and any number of threads; as warm starts; with early stopping."""
    X, y = awkward_data(150)
    rounds = entry.estimator._rounds
    new = lambda **kwargs: entry.make(8, resample=True, random_state=0, **kwargs)  # noqa: E731
    clf = new().fit(X, y)
    F = clf.decision_function(X)
    assert len(clf.estimators_) == 8
    np.testing.assert_array_equal(clone(clf).fit(X, y).decision_function(X), F)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).decision_function(X), F)
    one, two = (new(engine="cpu", n_jobs=n).fit(X, y).decision_function(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, F, atol=1e-9)
    assert not np.array_equal(new().set_params(random_state=1).fit(X, y).decision_function(X), F)
    parts = new(warm_start=True).set_params(**{rounds: 3}).fit(X, y).set_params(**{rounds: 8}).fit(X, y)
    np.testing.assert_allclose(parts.decision_function(X), F, atol=1e-9)
    stopped = new(early_stopping=2).fit(X, y)
    assert 1 <= stopped.n_estimators_ <= 8
    assert "validation_score" in stopped.history_[0]


@each_learner
def test_the_exponential_loss_falls_as_long_as_nothing_is_reset(learner):
    """Votes are measured on all rows, so no sample can make a round of RealBoost or AdaBoost raise it."""
    X, y = awkward_data(seed=3)
    for booster in (AdaBoostClassifier, RealBoostClassifier):
        clf = booster(estimator=learner, resample=True, n_estimators=40, random_state=0).fit(X, y)
        losses = [1.0] + [r["loss"] for r in clf.history_]
        for (a, b), r in zip(itertools.pairwise(losses), clf.history_, strict=True):
            assert b <= (1.0 if r["resets"] else a) * (1 + 1e-12)
        assert losses[-1] < 0.8


def test_as_good_as_weights_on_new_rows():
    """Resampling is noisier than reweighting, not worse: on 2000 rows they differ by less than two points."""
    X, y = awkward_data(4000)
    train, new = slice(None, 2000), slice(2000, None)
    scores = []
    for resample in (False, True):
        clf = RealBoostClassifier(n_estimators=40, resample=resample, random_state=0).fit(X[train], y[train])
        scores.append(clf.score(X[new], y[new]))
    assert abs(scores[0] - scores[1]) < 0.02


def test_stumps_stay_in_the_table():
    """Drawn stumps cost no more to score than others: their thresholds are those of the shared bins."""
    X, y = awkward_data()
    clf = RealBoostClassifier(resample=True, n_estimators=30, random_state=0).fit(X, y)
    assert all(isinstance(term, LeafTerm) for term in clf.estimators_)
    assert not clf._model.scorers[0].others
    np.testing.assert_allclose(list(clf.staged_decision_function(X))[-1], clf.decision_function(X), atol=1e-11)


def test_resample_is_checked_and_cannot_change_in_a_warm_start():
    X, y = awkward_data(100)
    with pytest.raises(ValueError, match=r"resample of AdaBoostClassifier must be .*got 'yes'"):
        AdaBoostClassifier(resample="yes").fit(X, y)
    clf = AdaBoostClassifier(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="resample=True, but training started with False"):
        clf.set_params(n_estimators=5, resample=True).fit(X, y)
