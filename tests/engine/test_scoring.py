"""Scoring: what rounds leave behind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skewboost import AdaBoostClassifier, GentleBoostClassifier, LogitBoostClassifier, RealBoostClassifier
from skewboost.engine import choose
from skewboost.engine.partition import View
from skewboost.engine.table import Table
from skewboost.learners import AlternatingTree, Histogram, Line, Tree
from support import awkward_data


@pytest.mark.parametrize("learner", ["stump", Histogram(max_bins=9), Line()], ids=str)
def test_rounds_on_one_feature_collapse_into_tables(learner):
    """However many there are: nothing per round is left to evaluate."""
    X, y = awkward_data()
    clf = LogitBoostClassifier(estimator=learner, n_estimators=70).fit(X, y)
    scorer = clf._model.scorers[0]
    assert clf.n_estimators_ == 70
    assert scorer.trees == scorer.others == []
    np.testing.assert_allclose(clf.decision_function(X), list(clf.staged_decision_function(X))[-1], atol=1e-10)


@pytest.mark.parametrize("learner", ["stump", Tree(max_leaf_nodes=6), Histogram(max_bins=9)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_engines_score_alike(learner, dtype):
    X, y = awkward_data(missing=0.0 if dtype is np.int16 else 0.1)
    X = np.clip(X * 10, -30_000, 30_000).astype(dtype)
    clf = RealBoostClassifier(estimator=learner, n_estimators=25).fit(X, y)
    scorer = clf._model.scorers[0]
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
    slow, fast = (choose(e, 2).score(clf._model.scorers[0], table) for e in ("reference", "cpu"))
    np.testing.assert_array_equal(slow, fast)


def test_a_tree_and_its_leaves_are_one():
    X, y = awkward_data(900)
    clf = RealBoostClassifier(estimator=Tree(max_leaf_nodes=12), n_estimators=1, engine="cpu").fit(X, y)
    (term,) = clf.estimators_
    view = View(choose("cpu", 1), Table(*X.shape, matrix=X), clf._model.bins)
    leaf = term.partition.leaves(view)
    assert set(leaf) == set(range(term.partition.n_leaves))
    np.testing.assert_array_equal(term.values[leaf], clf.decision_function(X))


def unaligned(X):
    """The same numbers, one byte off."""
    raw = np.empty(X.nbytes + 1, np.uint8)
    out = np.frombuffer(raw, X.dtype, X.size, 1).reshape(X.shape)
    out.flags.writeable = True
    out[:] = X
    return out


LAYOUTS = {
    "by columns": np.asfortranarray,
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every third column": lambda X: np.repeat(X, 3, axis=1)[:, ::3],
    "rows backwards": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "columns backwards": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
    "one row many times": lambda X: np.broadcast_to(X[7], X.shape),
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "unaligned": unaligned,
    "fields of records": lambda X: np.array([(1, row) for row in X], dtype=[("a", "i1"), ("X", X.dtype, 9)])["X"],
    "read only": lambda X: np.frombuffer(X.tobytes(), X.dtype).reshape(X.shape),
}


@pytest.mark.sample(20)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("learner", ["stump", Tree(max_leaf_nodes=6)], ids=str)
def test_the_layout_of_numbers_in_memory_does_not_matter(learner, dtype, layout):
    """Neither in training nor in scoring."""
    X, y = awkward_data(300)
    X = X.astype(dtype)
    laid_out = LAYOUTS[layout](X)
    plain = np.array(laid_out, dtype=dtype, order="C")
    np.testing.assert_array_equal(plain, X if layout != "one row many times" else np.tile(X[7], (300, 1)))
    model = RealBoostClassifier(estimator=learner, n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(laid_out), model.decision_function(plain))
    if layout != "one row many times":
        other = RealBoostClassifier(estimator=learner, n_estimators=8).fit(laid_out, y)
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("engine", ["reference", "cpu"])
def test_no_rows_have_no_scores_and_far_numbers_have_one(engine):
    X, y = awkward_data(300)
    for learner in ("stump", Tree(max_leaf_nodes=6)):
        model = RealBoostClassifier(estimator=learner, n_estimators=8).fit(X, y)
        scorer = model._model.scorers[0]
        none = np.empty((0, X.shape[1]))
        assert choose(engine, 2).score(scorer, Table(*none.shape, matrix=none)).shape == (0,)
        far = np.array([X.max(axis=0), np.full(9, 1e308), np.full(9, np.inf), np.full(9, -np.inf), np.full(9, np.nan)])
        scores = choose(engine, 2).score(scorer, Table(*far.shape, matrix=far))
        np.testing.assert_array_equal(scores, choose("reference", 1).score(scorer, Table(*far.shape, matrix=far)))
