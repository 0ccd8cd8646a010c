"""Columns of many categories in SkewBoostClassifier."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from skewboost import SkewBoostClassifier
from skewboost.engine.table import Nominal
from skewboost.io import dumps, loads
from skewboost.meta.portfolio import portfolio_classifier
from skewboost.meta.portfolio.recipe import recipe_for
from skewboost.meta.portfolio.target_statistics import SMOOTHING, Examples, statistics, statistics_before


def ids_with_effects(n, n_ids=300, seed=0):
    rng = np.random.default_rng(seed)
    effects = np.random.default_rng(99).normal(0, 1.5, n_ids)
    frequency = 1.0 / np.arange(1, n_ids + 1)
    own = rng.choice(n_ids, n, p=frequency / frequency.sum())
    x = rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(2 - effects[own] - x))).astype(int)
    return pd.DataFrame({"x": x, "id": pd.Categorical([f"id {k}" for k in own])}), y


def quick(**params):
    return SkewBoostClassifier(effort="quick", random_state=0, **params)


@pytest.fixture(scope="module")
def fitted():
    X, y = ids_with_effects(900)
    return quick(cost=5).fit(X, y)


def test_a_statistic_is_the_shrunk_share_of_positives_before_an_example():
    rng = np.random.default_rng(0)
    codes, place = rng.integers(-1, 5, 200), rng.integers(0, 60, 200)
    examples = Examples(rng.random(200) < 0.3, rng.integers(1, 4, 200).astype(float), place)
    found = statistics_before(Nominal(codes, tuple("abcde")), examples)
    w, y = examples.weights, examples.positive
    for i in range(200):
        before = (codes == codes[i]) & (place < place[i])
        if codes[i] < 0 or not before.any():
            assert np.isnan(found[i])
        else:
            expected = (w[before & y].sum() + SMOOTHING * examples.share) / (w[before].sum() + SMOOTHING)
            assert found[i] == pytest.approx(expected, rel=1e-12)
    all_rows = statistics(Nominal(codes, tuple("abcde")), examples)
    of_a = codes == 0
    expected = (w[of_a & y].sum() + SMOOTHING * examples.share) / (w[of_a].sum() + SMOOTHING)
    assert all_rows[0] == pytest.approx(expected)


def test_trees_are_better_than_with_sets_of_categories(monkeypatch):
    X, y = ids_with_effects(2500, 250)
    X_new, y_new = ids_with_effects(3000, 250, seed=1)

    def only_trees(*given):
        return replace(recipe_for(*given), regression=False)  # which knows sums of effects of categories anyway

    monkeypatch.setattr(portfolio_classifier, "recipe_for", only_trees)
    with_statistics = quick(cost=5).fit(X, y)
    monkeypatch.setattr(portfolio_classifier, "many_categories", lambda *_: [])
    with_sets = quick(cost=5).fit(X, y)
    losses = [log_loss(y_new, clf.predict_proba(X_new)) for clf in (with_statistics, with_sets)]
    assert losses[0] < losses[1] - 0.001


def test_the_order_of_rows_and_weights_as_copies_do_not_matter(fitted):
    X, y = ids_with_effects(900)
    X_new, _ = ids_with_effects(100, seed=1)
    order = np.random.default_rng(5).permutation(len(y))
    again = quick(cost=5).fit(X.iloc[order], y[order])
    np.testing.assert_array_equal(again.predict_proba(X_new), fitted.predict_proba(X_new))
    twice = np.arange(len(y)) % 7 == 0
    weighted = quick().fit(X, y, sample_weight=1.0 + twice)
    copied = quick().fit(pd.concat([X, X[twice]]), np.concatenate([y, y[twice]]))
    np.testing.assert_array_equal(weighted.predict_proba(X_new), copied.predict_proba(X_new))


def test_a_category_that_was_not_seen_is_a_missing_value(fitted):
    X_new = pd.DataFrame({"x": [0.3, 0.3], "id": pd.Categorical(["never seen", None])})
    p = fitted.predict_proba(X_new)
    np.testing.assert_array_equal(p[0], p[1])


def test_explanations_and_files_are_exact(fitted):
    X_new, _ = ids_with_effects(40, seed=1)
    explained = fitted.contributions(X_new).sum(axis=1) + fitted.baseline_
    np.testing.assert_allclose(explained, fitted.decision_function(X_new), atol=1e-9)
    again = loads(dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(X_new), fitted.decision_function(X_new))
    of_id = fitted.shape_functions()[1]
    assert len(of_id.categories) == len(of_id.values) == len(of_id.support)
    assert of_id.support.sum() + of_id.missing_support == pytest.approx(900)
    high, low = of_id(["id 0", "id 1"])
    effects = np.random.default_rng(99).normal(0, 1.5, 300)
    assert (high > low) == (effects[0] > effects[1])
