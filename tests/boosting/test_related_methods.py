"""What the catalogue says about methods that are not its own."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier

import skewboost
from skewboost import (
    AdaBoostClassifier,
    CGAdaClassifier,
    CSRAClassifier,
    MinimumRiskClassifier,
    RealBoostClassifier,
)
from skewboost.evaluate.methods import known_methods
from skewboost.learners import Stump
from skewboost.metrics import g_mean
from support import awkward_data, of_any_class

X, Y = awkward_data(400, missing=0.0)


def test_related_methods_are_none_of_the_variants():
    related = {"".join(c for c in method.name.lower() if c.isalpha()) for method in skewboost.related_methods()}
    assert {"bagging", "randomforest", "metacost", "oneclasslearning"} <= related
    assert not related & {name.lower() for name in known_methods()}


@pytest.mark.parametrize("method", skewboost.related_methods(), ids=lambda m: m.name)
def test_what_is_recommended_exists(method):
    for name in method.use:
        module, _, own = name.rpartition(".")
        assert hasattr(getattr(import_module(module), own), "fit")
    assert method.paper
    for word in method.advice.replace("(", " ").replace(",", " ").replace(";", " ").replace(".", " ").split():
        if word.endswith("Classifier"):
            assert word in skewboost.__all__


def test_out_of_bag_scores_are_those_of_rows_that_members_did_not_see():
    forest = RandomForestClassifier(100, oob_score=g_mean, random_state=0).fit(X, Y)
    assert forest.oob_score_ == g_mean(Y, forest.oob_decision_function_.argmax(axis=1))
    bags = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, Y)
    assert bags.oob_score_ == np.mean(bags.oob_decision_function_.argmax(axis=1) == Y) < bags.score(X, Y)


@pytest.mark.parametrize("ensemble", [BaggingClassifier(n_estimators=30), RandomForestClassifier(100)], ids=str)
def test_costs_reach_them_through_minimum_risk(ensemble):
    ensemble.set_params(random_state=0)
    recalls = []
    for cost in (1.0, 20.0):
        clf = MinimumRiskClassifier(ensemble, cost=cost).fit(X[::2], Y[::2])
        recalls.append(clf.predict(X[1::2])[Y[1::2] == 1].mean())
    assert recalls[1] > recalls[0] + 0.1


@pytest.mark.parametrize("booster", [CGAdaClassifier, CSRAClassifier])
def test_weights_start_in_proportion_to_costs(booster):
    rows, labels = X[:200], Y[:200]  # as many as there are bins, whose edges depend on weights and not on costs
    costs = np.random.default_rng(0).uniform(1, 5, 200)
    weighted = booster(n_estimators=1).fit(rows, labels, sample_cost=of_any_class(costs))
    plain, stump = (
        (AdaBoostClassifier, "stump") if booster is CGAdaClassifier else (RealBoostClassifier, Stump(criterion="gini"))
    )
    plain = plain(estimator=stump, n_estimators=1).fit(rows, labels, sample_weight=costs)
    ours, theirs = (clf.estimators_[0].partition.splits[0] for clf in (weighted, plain))
    assert (ours.feature, ours.threshold) == (theirs.feature, theirs.threshold)
    drawn = booster(n_estimators=5, resample=True, random_state=0).fit(rows, labels, sample_cost=of_any_class(costs))
    assert drawn.score(rows, labels) > 0.7
