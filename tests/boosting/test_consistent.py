"""Consistent boosting: votes on a feature count by how far they agree."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from skewboost import ConsistentBoostClassifier, RealBoostClassifier
from skewboost.engine.partition import View
from skewboost.engine.reference import ReferenceEngine
from skewboost.engine.table import Table
from skewboost.learners import Histogram, Stump, Tree
from support import awkward_data, each_engine, load_real


def by_definition(clf, cast, X):
    """F = Σ_k H_k Q_k, and the Q_k, from the votes of the rounds as they were cast."""
    view = View(ReferenceEngine(), Table(*X.shape, matrix=X), clf._model.bins)
    votes = {}
    for term in cast:
        votes.setdefault(term.partition.splits[0].feature, []).append(clf.learning_rate * term.on(view))
    F, consistencies = np.zeros(len(X)), []
    for of_feature in votes.values():
        h = np.array(of_feature)
        said, size = h.sum(axis=0), np.abs(h).sum(axis=0)
        positive, negative = np.where(h > 0, h, 0).sum(axis=0), np.where(h < 0, -h, 0).sum(axis=0)
        Q = np.divide(np.abs(positive - negative), size, out=np.ones(len(X)), where=size > 0)
        consistencies.append(Q)
        F += said * Q
    return F, np.array(consistencies)


@each_engine
@pytest.mark.parametrize("learner", ["stump", Stump(missing="abstain"), Stump(criterion="zbar"), Histogram(max_bins=6)])
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_the_ensemble_is_the_sum_of_votes_times_their_consistency(learner, learning_rate, engine, cast):
    X, y = awkward_data()
    clf = ConsistentBoostClassifier(estimator=learner, n_estimators=40, learning_rate=learning_rate, engine=engine)
    F, Q = by_definition(clf.fit(X, y), cast, X)
    np.testing.assert_allclose(clf.decision_function(X), F, atol=1e-9)
    assert Q.max() == pytest.approx(1.0)
    assert 0 <= Q.min() < 0.5, "no votes that contradict each other: the test would not see Q"


def test_it_is_realboost_for_as_long_as_votes_agree():
    X, y = awkward_data()
    a = ConsistentBoostClassifier(n_estimators=30).fit(X, y)
    b = RealBoostClassifier(n_estimators=30).fit(X, y)
    one, other = (list(clf.staged_decision_function(X)) for clf in (a, b))
    np.testing.assert_allclose(one[0], other[0], atol=1e-12)
    assert not np.allclose(one[-1], other[-1])
    monotone = np.arange(40.0)[:, None]
    a, b = (c(n_estimators=1).fit(monotone, monotone[:, 0] > 25) for c in (type(a), type(b)))
    np.testing.assert_allclose(a.decision_function(monotone), b.decision_function(monotone), atol=1e-12)


@each_engine
def test_equal_costs_change_nothing(engine):
    X, y = awkward_data()
    plain = ConsistentBoostClassifier(n_estimators=25, engine=engine).fit(X, y)
    for fitted in (
        ConsistentBoostClassifier(n_estimators=25, engine=engine, cost=1).fit(X, y),
        ConsistentBoostClassifier(n_estimators=25, engine=engine, cost={0: 7.0, 1: 7.0}).fit(X, y),
        ConsistentBoostClassifier(n_estimators=25, engine=engine).fit(X, y, sample_cost=np.full((len(y), 2), 0.3)),
    ):
        np.testing.assert_array_equal(fitted.decision_function(X), plain.decision_function(X))
        np.testing.assert_array_equal(fitted.predict_proba(X), plain.predict_proba(X))


@each_engine
@pytest.mark.parametrize("each", [False, True])
def test_an_integer_cost_is_a_repetition(each, engine):
    """With the same smoothing: 1/N would be that of more rows."""
    X, y = awkward_data(200)
    costs = np.random.default_rng(0).integers(1, 4, len(y)) if each else np.where(y == 1, 3, 1)
    clf = ConsistentBoostClassifier(n_estimators=30, smoothing=0.004, engine=engine)
    told = clone(clf).set_params(cost=None if each else 3)
    told.fit(X, y, sample_cost=np.column_stack((costs, costs)) if each else None)
    repeated = clone(clf).fit(X.repeat(costs, 0), y.repeat(costs))
    np.testing.assert_allclose(told.decision_function(X), repeated.decision_function(X), atol=1e-9)
    # F is the same, but in the repeated rows the costs are frequencies, which probabilities keep
    ratio = costs[y == 1].mean() / costs[y == 0].mean()
    odds = [p[:, 1] / p[:, 0] for p in (told.predict_proba(X), repeated.predict_proba(X))]
    np.testing.assert_allclose(odds[0] * ratio, odds[1], rtol=1e-6)


@each_engine
def test_the_loss_is_that_of_the_dampened_ensemble(engine):
    X, y = awkward_data()
    clf = ConsistentBoostClassifier(n_estimators=25, engine=engine).fit(X, y)
    sign = np.where(y == 1, 1.0, -1.0)
    for F, record in zip(clf.staged_decision_function(X), clf.history_, strict=True):
        assert record["loss"] == pytest.approx(np.exp(-sign * F).mean(), rel=1e-9)


@pytest.mark.parametrize("estimator", ["tree", Tree(max_leaf_nodes=3)])
def test_learners_of_several_features_are_refused(estimator):
    with pytest.raises(ValueError, match=r"ConsistentBoostClassifier needs a learner that tests one feature, but Tree"):
        ConsistentBoostClassifier(estimator=estimator).fit(*awkward_data(60))


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["learn", "abstain"])
def test_derived_histograms_find_the_votes_that_sums_over_all_rows_find(missing, cast):
    """Only the rows that a round moves are summed; over hundreds of rounds that must not show."""
    X, y = awkward_data(3000, seed=5)
    slow, fast = (
        ConsistentBoostClassifier(estimator=Stump(missing=missing), n_estimators=300, engine=e).fit(X, y)
        for e in ("reference", "cpu")
    )
    splits = [(t.partition.splits[0].feature, t.partition.splits[0].threshold) for t in cast]
    assert splits[:300] == splits[300:]
    np.testing.assert_allclose(slow.decision_function(X), fast.decision_function(X), atol=1e-8)


@pytest.mark.slow  # on data of the papers
def test_it_dampens_overfitting():
    """[cuendet2002] fig. 3-5 and 3-6: it had the lowest test error of all boosted stumps; here on pima."""
    X, y = load_real("pima")
    train, test = np.zeros((2, 150)), np.zeros((2, 150))
    for inner, outer in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        for k, booster in enumerate((ConsistentBoostClassifier, RealBoostClassifier)):
            clf = booster(n_estimators=150, engine="cpu").fit(X.iloc[inner], y[inner])
            train[k] += [np.mean(said != y[inner]) / 10 for said in clf.staged_predict(X.iloc[inner])]
            test[k] += [np.mean(said != y[outer]) / 10 for said in clf.staged_predict(X.iloc[outer])]
    assert train[0, -1] > train[1, -1] + 0.005
    assert test[0, 20:].mean() < test[1, 20:].mean()
