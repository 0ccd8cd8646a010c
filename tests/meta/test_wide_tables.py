"""Tables with more columns than rows: the same laws as for others, and no time that grows faster than the columns."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import skewboost as sb
from skewboost import SkewBoostClassifier
from skewboost.engine import native_portfolio
from skewboost.engine.table import Table
from skewboost.io import dumps, loads
from skewboost.learners import Tree
from skewboost.meta.portfolio import components, logistic, portfolio_classifier, portfolio_training
from skewboost.meta.portfolio.components import find_components
from skewboost.meta.portfolio.recipe import recipe_for


def wide(n=40, p=160, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0.7).astype(int)


def quick(**params):
    return SkewBoostClassifier(effort="quick", random_state=0, **params)


def scores(clf, X):
    return clf.predict_log_proba(X)


@pytest.fixture
def short(monkeypatch):
    """Few rounds and trees, so that NumPy can train them."""
    monkeypatch.setattr(portfolio_training, "MAX_ROUNDS", 3)
    monkeypatch.setattr(portfolio_training, "ROUNDS_AT_A_TIME", 3)
    monkeypatch.setattr(portfolio_training, "FIRST_TREES", 8)

    def recipe(*given):
        found = recipe_for(*given)
        return replace(found, families=tuple(replace(f, n_trees=8 * f.is_forest) for f in found.families), n_folds=2)

    monkeypatch.setattr(portfolio_classifier, "recipe_for", recipe)


def test_components_of_the_shorter_side_are_those_of_the_columns():
    rng = np.random.default_rng(0)
    Z, weights = rng.normal(size=(70, 50)) * np.linspace(1, 3, 50), rng.integers(1, 4, 50).astype(float)
    _, vectors = np.linalg.eigh((weights * Z) @ Z.T)
    expected = vectors[:, ::-1][:, : components.MOST].T
    found = components._directions(Z, weights)
    np.testing.assert_allclose(np.abs((found * expected).sum(axis=1)), 1.0, rtol=0, atol=1e-9)
    tall = components._directions(Z[:40], weights)
    expected = np.linalg.eigh((weights * Z[:40]) @ Z[:40].T)[1][:, ::-1][:, : components.MOST].T
    np.testing.assert_allclose(np.abs((tall * expected).sum(axis=1)), 1.0, rtol=0, atol=1e-9)


def test_sums_in_several_calls_and_rows_in_several_parts_change_nothing(monkeypatch):
    X, _ = wide(30, 60)
    table = Table(*X.shape, matrix=X)
    one = find_components(table, np.ones(30))
    values = one.values(table)
    monkeypatch.setattr(components, "PRODUCTS", 1e4)
    monkeypatch.setattr(components, "NUMBERS", 60 * 8)
    monkeypatch.setattr(components, "BLOCK", 8)
    other = find_components(table, np.ones(30))
    np.testing.assert_allclose(other.loadings, one.loadings, rtol=1e-8, atol=2e-9)
    assert one.values(table).tobytes() == values.tobytes()


def test_no_large_matrix_is_decomposed_and_order_and_threads_change_nothing(monkeypatch):
    sides = []

    def eigh(matrix):
        sides.append(len(matrix))
        return decompose(matrix)

    decompose = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", eigh)
    X, y = wide(120, 90)
    rows = np.random.default_rng(1).permutation(120)
    for longest, side in ((1000, 90), (50, 75)):  # then some rows are used
        monkeypatch.setattr(components, "LONGEST_SIDE", longest)
        one = quick(n_jobs=1).fit(X, y)
        assert sides[-1] <= side
        for other in (quick(n_jobs=3).fit(X, y), quick(n_jobs=1).fit(X[rows], y[rows])):
            np.testing.assert_array_equal(scores(one, X), scores(other, X))
    assert find_components(Table(120, 90, matrix=X), np.ones(120)).n_components == components.MOST


def test_a_wide_table_weighs_repeated_rows_and_keeps_its_file():
    X, y = wide()
    weights = np.random.default_rng(1).integers(1, 3, len(y))
    one = quick().fit(X, y, sample_weight=weights)
    repeated = quick().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_array_equal(scores(one, X), scores(repeated, X))
    np.testing.assert_array_equal(scores(loads(dumps(one)), X), scores(one, X))
    np.testing.assert_array_equal(scores(one, X[3:4]), scores(one, X)[3:4])
    total = one.contributions(X).sum(axis=1) + one.baseline_
    np.testing.assert_allclose(total, one.decision_function(X), rtol=0, atol=1e-9)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    np.testing.assert_array_equal(scores(quick().fit(frame, y, sample_weight=weights), frame), scores(one, X))


@pytest.mark.parametrize("constraint", [None, "pairwise", "no_interactions"])
def test_both_engines_train_the_same_on_a_wide_table(short, constraint):
    X, y = wide(36, 70)
    one, other = (quick(engine=engine, interaction_cst=constraint).fit(X, y) for engine in ("cpu", "reference"))
    np.testing.assert_allclose(scores(one, X), scores(other, X), rtol=0, atol=1e-9)


def test_the_order_of_columns_changes_nothing_where_none_are_drawn():
    X, y = wide(600, 300)  # in so many rows no two splits are equally good
    columns = np.random.default_rng(1).permutation(300)
    for make in (sb.CSRAClassifier, sb.LogitBoostClassifier):
        one, other = (make(estimator=Tree(max_leaf_nodes=4), n_estimators=5) for _ in range(2))
        one.fit(X, y)
        other.fit(X[:, columns], y)
        np.testing.assert_allclose(other.decision_function(X[:, columns]), one.decision_function(X), atol=1e-12)


def columns_on_paths(trees):
    """The most columns that are tested on the way to a leaf."""
    most = 0
    for t in range(trees.n_trees):
        partition = trees.partition(t)
        ways = {0: frozenset()}
        for k, links in enumerate(partition.links):
            own = ways.pop(k) | {partition.splits[k].feature}
            ways.update(dict.fromkeys(links, own))
        most = max(most, *map(len, ways.values()))
    return most


@pytest.mark.parametrize(("rule", "most"), [("pairwise", 2), ("no_interactions", 1)])
def test_a_rule_on_interactions_does_not_make_sets_of_columns(rule, most):
    X, y = wide(150, 3000)
    clf = quick(interaction_cst=rule).fit(X, y)  # all pairs of 3000 columns would take 4.5 million sets, and 13 GB
    assert [columns_on_paths(part.trees) for part in clf._model.parts] == [most] * len(clf._model.parts)
    booster = sb.RealBoostClassifier(estimator=Tree(interaction_cst=rule), n_estimators=3).fit(X, y)
    used = [{split.feature for split in term.partition.splits} for term in booster._model.terms]
    assert most == 1 or max(map(len, used)) > 2  # in all, but not on one path


def test_pairwise_is_all_pairs(short):
    X, y = wide(80, 6)
    pairs = [set(pair) for pair in combinations(range(6), 2)]
    for engine in ("cpu", "reference"):
        one, other = (quick(engine=engine, interaction_cst=own).fit(X, y) for own in ("pairwise", pairs))
        np.testing.assert_array_equal(scores(one, X), scores(other, X))


def test_a_hopeless_regression_is_not_prepared(monkeypatch):
    def design_of(*_):
        raise AssertionError

    monkeypatch.setattr(logistic, "MANY_COLUMNS", 20)
    monkeypatch.setattr(logistic, "design_of", design_of)
    verdict = quick().fit(*wide()).search_["verdict"][-1]
    assert verdict.endswith("examples of a class for 160 or more coefficients")


def test_long_training_is_done_in_several_calls_that_change_no_bit(monkeypatch):
    X, y = wide()
    calls = []
    check = native_portfolio.check
    monkeypatch.setattr(native_portfolio, "check", lambda status: (calls.append(status), check(status)))
    one = quick().fit(X, y)
    few = len(calls)
    monkeypatch.setattr(native_portfolio, "LARGE", 0)
    monkeypatch.setattr(native_portfolio, "LONGEST_CALL", 0.0)  # a tree of each member per call
    other = quick().fit(X, y)
    assert len(calls) - few > 2 * few
    np.testing.assert_array_equal(scores(one, X), scores(other, X))


def test_names_of_columns_are_looked_up_for_messages_only(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"g{j}": pd.Categorical.from_codes(rng.integers(0, 3, 40), list("abc")) for j in range(30)})

    def name(*_):
        raise AssertionError

    monkeypatch.setattr(Table, "name", name)  # each makes a list of all names
    quick().fit(X, np.arange(40) % 3 == 0)
