"""Principal components as further columns of a portfolio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from program_runners import run_c, run_onnx, run_python, run_sql
from skewboost import SkewBoostClassifier
from skewboost.engine.table import Nominal, Table
from skewboost.io import dumps, loads
from skewboost.io.export.reading import read_formula
from skewboost.meta.portfolio import portfolio_classifier
from skewboost.meta.portfolio.components import MOST, find_components
from skewboost.meta.portfolio.recipe import recipe_for

FAMILY = "forest with principal components"


def table(*columns):
    return Table(len(columns[0]), len(columns), columns=columns)


def oblique(n=400, seed=0):
    """Three numbers, one of them with missing cells, and a category; the label depends on a difference."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    X = pd.DataFrame({
        "a": a, "b": 1000 * (a + 0.3 * rng.normal(size=n)), "c": rng.normal(size=n),
        "d": pd.Categorical(rng.choice(list("pq"), n)),
    })  # fmt: skip
    y = (np.abs(X["b"] / 1000 - X["a"]) > 0.45).astype(int).to_numpy()
    X.loc[rng.random(n) < 0.1, "c"] = np.nan
    return X, y


@pytest.fixture
def alone(monkeypatch):
    """The forest is the only family, and has few trees."""

    def recipe(*given):
        found = recipe_for(*given)
        forests = (replace(f, n_trees=40) for f in found.families if f.is_forest)
        return replace(found, families=tuple(forests), regression=False)

    monkeypatch.setattr(portfolio_classifier, "recipe_for", recipe)


def quick(**params):
    return SkewBoostClassifier(effort="quick", random_state=0, **params)


def test_they_are_those_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(200, 4)) @ np.random.default_rng(1).normal(size=(4, 4)) + 7
    X = np.clip(X, *np.percentile(X, [2, 98], axis=0))  # so that nothing is limited
    found = find_components(table(*X.T), np.ones(200))
    expected = PCA().fit_transform(StandardScaler().fit_transform(X)).T
    values = found.values(table(*X.T))
    np.testing.assert_allclose(np.abs(values), np.abs(expected), atol=1e-6)


def test_weights_count_rows_and_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(60, 5)) * 10.0 ** rng.integers(-9, 9, 5), rng.integers(1, 4, 60)
    one = find_components(table(*X.T), weights.astype(float))
    rows = rng.permutation(np.repeat(np.arange(60), weights))
    other = find_components(table(*X[rows].T), np.ones(len(rows)))
    for name, value in vars(one).items():
        np.testing.assert_array_equal(value, getattr(other, name))


def test_columns_without_use_are_left_out():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 3))
    category = Nominal(rng.integers(0, 2, 50), ("p", "q"))
    columns = [
        x[:, 0],
        category,
        np.full(50, np.nan),
        np.ones(50),
        (x[:, 0] > 0) * 1.0,
        x[:, 1],
        x[:, 2],
        1e-300 * x[:, 0],
    ]
    found = find_components(table(*columns), np.ones(50))
    assert found.features.tolist() == [0, 5, 6]
    assert find_components(table(*columns[:6]), np.ones(50)) is None  # two columns of numbers
    twice = find_components(table(*np.repeat(x, 2, axis=1).T), np.ones(50))
    assert twice.n_components == 3  # not the rounding errors of the others
    assert find_components(table(*rng.normal(size=(60, 200))), np.ones(200)).n_components == MOST


def test_far_and_missing_cells_are_limited():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    found = find_components(table(*X.T), np.ones(100))
    far = found.values(table(*np.array([[1e9, 0, 0], [found.high[0], 0, 0]]).T))
    np.testing.assert_array_equal(far[:, 0], far[:, 1])
    np.testing.assert_array_equal(found.values(table(*np.full((3, 1), np.nan))), 0.0)
    for shares in found.shares(table(*np.vstack((X, np.full(3, np.nan))).T)):
        np.testing.assert_allclose(shares.sum(axis=0), 1.0)


def test_a_difference_of_columns_is_found(alone):
    X, y = oblique()
    X_new, y_new = oblique(2000, seed=1)
    with_components = quick().fit(X, y)
    assert FAMILY in with_components.search_["family"]
    without = quick().fit(X[["a", "b"]], y)  # too few columns for components
    assert FAMILY not in without.search_["family"]
    right = [(clf.predict(X_new[list(clf.feature_names_in_)]) == y_new).mean() for clf in (with_components, without)]
    assert right[0] > right[1] + 0.05


def test_contributions_and_importances_belong_to_columns(alone):
    X, y = oblique()
    clf = quick(cost=3).fit(X, y)
    found = clf.contributions(X)
    assert found.shape == (len(X), 4)
    np.testing.assert_allclose(found.sum(axis=1) + clf.baseline_, clf.decision_function(X), atol=1e-9)
    importances = clf.feature_importances_
    assert importances.shape == (4,)
    assert importances[:2].sum() > 0.6
    assert [len(f.values) > 0 for f in clf.shape_functions()] == [True] * 4


def test_constraints_on_columns_leave_no_room_for_components():
    X, y = oblique()
    for constraint in ({"monotonic_cst": {"a": 1}}, {"interaction_cst": "pairwise"}):
        assert FAMILY not in quick(**constraint).fit(X, y).search_["family"]


def test_files_and_programs_know_components(alone, tmp_path):
    X, y = oblique(150)
    clf = quick(cost=3).fit(X, y)
    formula = read_formula(clf)
    assert max(formula.sums[0].forest.features) >= 4
    again = loads(dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    rows = pd.concat([X[:60], X[:3].assign(a=np.nan, b=np.nan, c=np.nan), X[:3].assign(a=1e300, b=-1e300)])
    for program in (run_python(clf, rows), run_c(clf, rows, tmp_path), run_onnx(clf, rows)):
        program.agrees(clf, rows)


def test_queries_know_components(alone):
    X, y = oblique(80)
    clf = quick(cost=3).fit(X, y)
    run_sql(clf, X[:25]).agrees(clf, X[:25])
