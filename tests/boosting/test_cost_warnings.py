"""Warnings of fits whose decisions do not follow the costs that they were asked for."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import skewboost as sb
from skewboost.boosting.catalogue import COMPOUND, EXPONENT, NONE
from skewboost.errors import CostWarning
from skewboost.evaluate import compare
from support import of_any_class


def overlapping(n, seed=0):
    """Two overlapping Gaussians."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    return rng.normal(size=(n, 3)) + y[:, None], y


def warnings_of(clf, X, y, **params):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        clf.fit(X, y, **params)
    assert all(issubclass(w.category, CostWarning) for w in found)
    assert all(w.filename == __file__ for w in found)  # it names the line that called fit
    return [str(w.message) for w in found]


@pytest.mark.parametrize("entry", sb.catalogue(), ids=lambda e: e.name)
def test_variants_warn_of_costs_that_do_not_act_as_asked(entry):
    X, y = overlapping(400)
    if not entry.cost_sensitive:
        assert warnings_of(entry.make(12), X, y) == []
        return
    said = {COMPOUND: ["applies costs in every round"], EXPONENT: ["costs in the exponent"]}.get(entry.costs, [])
    for given in ({"cost": 5}, {"cost": {0: 1.0, 1: 5.0}}):
        found = warnings_of(entry.make(12, **given), X, y)
        assert [any(what in message for what in said) for message in found] == [True] * len(said)
        assert all("SkewBoostClassifier" in message for message in found)
    by_row = warnings_of(entry.make(12), X, y, sample_cost=of_any_class(np.where(y == 1, 5.0, 1.0)))
    assert len(by_row) == len(said)
    for quiet in ({}, {"cost": 1.0}, {"cost": "balanced"}):
        assert warnings_of(entry.make(12, **quiet), X, y) == []
    if entry.costs == COMPOUND:  # as the catalogue advises
        assert warnings_of(entry.make(12, cost=5 ** (1 / 12)), X, y) == []


def test_rules_say_how_costs_enter_as_the_catalogue_does():
    for entry in sb.catalogue():
        if entry.costs != NONE:
            assert entry.make(5)._rule().costs == entry.costs


def test_presets_warn_of_their_variant():
    X, y = overlapping(300)
    (message,) = warnings_of(sb.RUSBoostClassifier(variant="CSB2", cost=5, n_estimators=10, random_state=0), X, y)
    assert "applies costs in every round" in message
    assert warnings_of(sb.RUSBoostClassifier(cost=5, n_estimators=10, random_state=0), X, y) == []


@pytest.fixture(scope="module")
def memorised():
    """Few rows with noisy labels, which trees learn by heart."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 8))
    return X, (rng.random(150) < 0.15 + 0.3 * (X[:, 0] > 1)).astype(int)


def test_overconfident_models_are_found_by_held_out_rows(memorised):
    X, y = memorised
    clf = sb.CSRAClassifier(estimator="tree", cost=10)
    (message,) = warnings_of(clf, X, y)
    assert "overconfident on these 150 rows" in message
    assert "expects its decisions to cost 0.00" in message
    flagged = clf.predict(X)
    for cost in (2, 50):  # indeed the cost has no effect
        assert np.array_equal(sb.CSRAClassifier(estimator="tree", cost=cost).fit(X, y).predict(X), flagged)
    assert (message,) == tuple(warnings_of(clf, X, y))  # whatever the random state
    assert warnings_of(sb.CSRAClassifier(estimator="tree", cost=10, early_stopping=True, random_state=0), X, y) == []
    assert warnings_of(sb.CGAdaClassifier(estimator="tree", cost=10, calibrate="sigmoid"), X, y) == []
    assert warnings_of(sb.CSRAClassifier(estimator="tree", cost=1.2), X, y) == []
    assert warnings_of(sb.CSRAClassifier(estimator="tree"), X, y) == []


def test_separable_rows_are_no_reason_to_warn():
    X, _ = overlapping(300)
    assert warnings_of(sb.CSRAClassifier(estimator="tree", cost=10), X, (X[:, 0] > 1).astype(int)) == []


def test_the_check_does_not_change_the_model(memorised, monkeypatch):
    X, y = memorised
    checked = sb.CSRAClassifier(estimator="tree", cost=10, n_estimators=20, callbacks=[], random_state=0).fit(X, y)
    monkeypatch.setattr("skewboost.boosting.cost_warnings.FEW_ROWS", 0)
    plain = sb.CSRAClassifier(estimator="tree", cost=10, n_estimators=20, callbacks=[], random_state=0).fit(X, y)
    assert np.array_equal(checked.decision_function(X), plain.decision_function(X))
    assert checked.history_ == plain.history_


def test_searches_warn_once_per_fit_and_comparisons_not_at_all(memorised):
    X, y = memorised
    search = GridSearchCV(sb.AdaC1Classifier(n_estimators=5), {"cost": [2.0, 5.0]}, cv=2)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        search.fit(X, y)
    assert [w.category for w in found] == [CostWarning] * 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare(["AdaC1"], X, y, cost=5, cv=2)
