"""The logistic regression of a portfolio: its solution, its form as trees, and what it is good for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from skewboost import SkewBoostClassifier
from skewboost.engine.binning import Feature
from skewboost.engine.boundary import MISSING, N_CODES
from skewboost.engine.newton import Trees
from skewboost.meta.portfolio import logistic, portfolio_classifier, portfolio_training
from skewboost.meta.portfolio.logistic import minimise, tree_of_codes
from skewboost.meta.portfolio.portfolio_model import REGRESSION
from skewboost.meta.portfolio.recipe import recipe_for


def mixed_table(n, seed=0):
    """Numbers, one of them with missing values, and a category; the log-odds are a sum of their effects."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({
        "a": rng.normal(50, 10, n), "b": rng.exponential(1e-8, n), "c": pd.Categorical(rng.choice(list("pqr"), n)),
    })  # fmt: skip
    S = (X["a"] - 50) / 5 - X["b"] * 1e8 + 2.0 * (X["c"] == "q") - 2.0
    X.loc[rng.random(n) < 0.2, "a"] = np.nan
    return X, (rng.random(n) < 1 / (1 + np.exp(-S))).astype(int)


@pytest.fixture
def alone(monkeypatch):
    """All weight for the regression."""

    def weights(scores, *_):
        return np.append(np.zeros(len(scores) - 1), 1.0), np.zeros(scores.shape[2])

    monkeypatch.setattr(portfolio_training, "fit_weights", weights)


def quick(**params):
    return SkewBoostClassifier(effort="quick", random_state=0, **params)


def recipe_without(*given):
    return replace(recipe_for(*given), regression=False)


@pytest.mark.parametrize("penalty", [0.01, 1.0, 100.0])
def test_the_solution_is_that_of_scikit_learn(penalty):
    rng = np.random.default_rng(0)
    A, weights = rng.normal(size=(200, 5)), rng.integers(1, 4, 200).astype(float)
    y = (rng.random(200) < 1 / (1 + np.exp(2 - A @ [1, -2, 0, 0, 3]))).astype(float)
    beta = minimise(np.column_stack((np.ones(200), A)), y, weights, penalty, np.zeros(6))
    expected = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=1000).fit(A, y, weights)
    np.testing.assert_allclose(beta[1:], expected.coef_[0], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(beta[0], expected.intercept_[0], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("n_bins", [1, 2, 7, 255])
@pytest.mark.parametrize("kind", ["numbers", "categories", "ordered"])
def test_a_tree_of_codes_is_its_table(n_bins, kind):
    rng = np.random.default_rng(n_bins)
    table, counts = rng.normal(size=(N_CODES, 2)), rng.integers(0, 9, N_CODES).astype(float)
    table[3:6] = table[3]  # equal values share a leaf
    categories = None if kind == "numbers" else tuple(f"{k}" for k in range(n_bins))
    feature = Feature(np.arange(n_bins - 1.0), categories, n_bins=n_bins, ordered=kind == "ordered")
    tree = Trees(importances=np.zeros(2), **tree_of_codes(1, feature, table, counts))
    codes = np.append(np.arange(n_bins), MISSING)
    leaves = tree.leaves(0, np.vstack((np.zeros_like(codes), codes)))
    np.testing.assert_array_equal(tree.values[leaves], table[codes])
    np.testing.assert_array_equal(tree.covers, np.bincount(leaves, counts[codes], len(tree.covers)))
    assert tree.feature_of.tolist() == [1]


def test_the_score_is_a_sum_of_functions_of_one_column(alone):
    X, y = mixed_table(600)
    clf = quick(cost=3).fit(X, y)
    assert clf.search_["family"][-1] == REGRESSION
    assert clf.n_estimators_ == 0
    contributions = clf.contributions(X)
    np.testing.assert_allclose(contributions.sum(axis=1) + clf.baseline_, clf.decision_function(X), atol=1e-9)
    for j, name in enumerate(X):
        own = contributions[X[name] == X[name].iloc[0], j]
        np.testing.assert_allclose(own, own[0], atol=1e-9)
    known = X["a"].notna()
    np.testing.assert_array_less(0.999, np.corrcoef(X.loc[known, "a"].clip(15, 85), contributions[known, 0])[0, 1])
    a = clf.shape_functions()[0]
    assert a.values[-1] > 0 > a.values[0]


def test_it_recovers_a_sum_of_effects(alone):
    X, y = mixed_table(4000)
    X_new, y_new = mixed_table(4000, seed=1)
    clf = quick().fit(X, y)
    full = X_new["a"].notna().to_numpy()
    S = (X_new["a"] - 50) / 5 - X_new["b"] * 1e8 + 2.0 * (X_new["c"] == "q") - 2.0
    best = log_loss(y_new[full], 1 / (1 + np.exp(-S[full])))
    assert log_loss(y_new[full], clf.predict_proba(X_new[full])[:, 1]) < 1.05 * best


def test_few_positives_that_depend_on_a_difference_of_columns(monkeypatch):
    rng = np.random.default_rng(0)
    size = rng.normal(size=(3000, 1))
    X = size + 0.3 * rng.normal(size=(3000, 6))
    y = (X[:, 0] + X[:, 1] - X[:, 2] - X[:, 3] + 0.2 * rng.normal(size=3000) > 1.0).astype(int)
    X, X_new, y, y_new = train_test_split(X, y, train_size=500, stratify=y, random_state=0)
    losses = [log_loss(y_new, quick().fit(X, y).predict_proba(X_new))]
    monkeypatch.setattr(portfolio_classifier, "recipe_for", recipe_without)
    losses.append(log_loss(y_new, quick().fit(X, y).predict_proba(X_new)))
    assert losses[0] < 0.7 * losses[1]


def test_it_needs_as_many_examples_of_a_class_as_columns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 10)), np.zeros(200, dtype=int)
    y[:9] = 1
    X[y == 1, 0] += 3
    left_out = quick().fit(X, y)
    assert left_out.search_["verdict"][-1] == "left out: there are 9 examples of a class for 10 coefficients"
    weighted = quick().fit(X, y, sample_weight=np.where(y == 1, 2, 1))  # a weight of 2 is a repeated row
    assert np.isfinite(weighted.search_["log_loss"][-1])
    assert np.isfinite(quick().fit(X[:, 1:], y).search_["log_loss"][-1])


def test_a_class_of_few_examples_has_a_constant_score(alone):
    X, y = mixed_table(300)
    y[:4] = 2  # of five columns
    clf = quick().fit(X, y)
    contributions = clf.contributions(X)
    np.testing.assert_array_equal(contributions[:, :, 2], 0.0)
    assert (np.ptp(contributions[:, :, :2], axis=0).max(axis=0) > 0.5).all()


def test_it_is_left_out_where_it_contradicts_a_constraint():
    X, y = mixed_table(600)
    fits = quick(monotonic_cst={"a": 1, "b": -1}).fit(X, y)
    assert not fits.search_["verdict"][-1].endswith("monotonic_cst")
    against = quick(monotonic_cst={"b": 1}).fit(X, y)
    assert against.search_["verdict"][-1] == "left out: a slope contradicts monotonic_cst"


def test_it_is_left_out_where_it_would_take_long_or_nothing_varies(monkeypatch):
    X, y = mixed_table(300)
    monkeypatch.setattr(logistic, "MOST_PRODUCTS", 1000)
    assert quick().fit(X, y).search_["verdict"][-1] == "left out: it would take too long with 6 coefficients"
    monkeypatch.undo()
    constant = pd.DataFrame({"a": np.ones(300)})
    assert quick().fit(constant, y).search_["verdict"][-1] == "left out: no column varies"


def test_some_of_many_rows_are_enough(alone, monkeypatch):
    X, y = mixed_table(4000)
    X_new, y_new = mixed_table(2000, seed=1)
    whole = log_loss(y_new, quick().fit(X, y).predict_proba(X_new))
    monkeypatch.setattr(logistic, "MOST_ROWS", 2000)
    assert log_loss(y_new, quick().fit(X, y).predict_proba(X_new)) < 1.1 * whole


def test_extreme_numbers_do_not_break_it(alone):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = (x + rng.normal(size=300) > 1).astype(int)
    columns = [x, 1e300 * x, 1e-300 * x, np.where(rng.random(300) < 0.01, 1e300, x)]
    clf = quick().fit(np.column_stack(columns), y)
    S = clf.decision_function(np.column_stack(columns))
    assert np.isfinite(S).all()
    assert np.corrcoef(S, x)[0, 1] > 0.9


def test_many_classes(alone):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.argmax(X + 0.5 * rng.normal(size=(600, 3)), axis=1)
    clf = quick().fit(X[:400], y[:400])
    assert (clf.predict(X[400:]) == y[400:]).mean() > 0.75
