"""Scoring: what rounds leave behind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skewboost import AdaBoostClassifier, GentleBoostClassifier, LogitBoostClassifier, RealBoostClassifier
from skewboost.engine import choose
from skewboost.engine.partition import View
from skewboost.learners import AlternatingTree, Histogram, Line, Tree
from skewboost.tables import Table
from support import awkward_data


@pytest.mark.parametrize("learner", ["stump", Histogram(max_bins=9), Line()], ids=str)
def test_rounds_on_one_feature_collapse_into_tables(learner):
    """However many there are: nothing per round is left to evaluate."""
    X, y = awkward_data()
    clf = LogitBoostClassifier(estimator=learner, n_estimators=70).fit(X, y)
    scorer = clf._ensembles[0].scorer
    assert clf.n_estimators_ == 70
    assert scorer.trees == scorer.others == []
    np.testing.assert_allclose(clf.decision_function(X), list(clf.staged_decision_function(X))[-1], atol=1e-10)


@pytest.mark.parametrize("learner", ["stump", Tree(max_leaf_nodes=6), Histogram(max_bins=9)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_engines_score_alike(learner, dtype):
    X, y = awkward_data(missing=0.0 if dtype is np.int16 else 0.1)
    X = np.clip(X * 10, -30_000, 30_000).astype(dtype)
    clf = RealBoostClassifier(estimator=learner, n_estimators=25).fit(X, y)
    scorer = clf._ensembles[0].scorer
    rows = np.vstack([X, np.zeros((1, X.shape[1]), dtype)])
    table = Table(*rows.shape, matrix=rows)
    slow, fast = (choose(e, 2).score(scorer, table) for e in ("reference", "cpu"))
    np.testing.assert_array_equal(slow, fast)


@pytest.mark.parametrize("learner", ["stump", "tree", Histogram(max_bins=9), AlternatingTree()], ids=str)
def test_engines_add_numbers_and_categories_in_one_order(learner):
    """So that they agree to the last bit."""
    X, y = awkward_data(600, missing=0.1)
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    for name, column in (("b", X[:, 0]), ("e", X[:, 1]), ("h", X[:, 3])):
        frame[name] = pd.cut(column, 5, labels=list("vwxyz")).astype(object)
    booster = AdaBoostClassifier if isinstance(learner, AlternatingTree) else GentleBoostClassifier
    clf = booster(estimator=learner, n_estimators=60).fit(frame, y)
    table = clf._new_rows(frame)
    slow, fast = (choose(e, 2).score(clf._ensembles[0].scorer, table) for e in ("reference", "cpu"))
    np.testing.assert_array_equal(slow, fast)


def test_a_tree_and_its_leaves_are_one():
    X, y = awkward_data(900)
    clf = RealBoostClassifier(estimator=Tree(max_leaf_nodes=12), n_estimators=1, engine="cpu").fit(X, y)
    (term,) = clf.estimators_
    view = View(choose("cpu", 1), Table(*X.shape, matrix=X), clf._ensembles[0].bins)
    leaf = term.partition.leaves(view)
    assert set(leaf) == set(range(term.partition.n_leaves))
    np.testing.assert_array_equal(term.values[leaf], clf.decision_function(X))
