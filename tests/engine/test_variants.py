"""Every variant on every engine: the traces, and the same model on tables of all kinds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from boosting.traces import CASES, assert_every_round_matches, assert_nominal_partitions_match
from engine import models
from engine.partitioned import PartitionedEngine
from skewboost.learners import AlternatingTree, Histogram, Stump, Tree
from skewboost.meta.portfolio.recipe import recipe_for
from support import awkward_data, make, pairs

OTHERS = ["reference", PartitionedEngine()]
LEARNERS = ["stump", Tree(max_leaf_nodes=5), Histogram(max_bins=8), Stump(missing="abstain"), AlternatingTree()]
each_other_engine = pytest.mark.parametrize("engine", OTHERS, ids=str)


@pytest.mark.sample(26)
@each_other_engine
@pytest.mark.parametrize("name", CASES)
def test_every_round_matches_the_trace(name, engine, cast):
    assert_every_round_matches(name, engine, cast)


@each_other_engine
def test_nominal_partitions_match_the_trace(engine):
    assert_nominal_partitions_match(engine)


@pytest.mark.sample(9)
@pytest.mark.parametrize(("booster", "learner"), pairs(LEARNERS))
def test_engines_give_the_same_model(booster, learner):
    X, y = awkward_data(120, seed=2)
    first, *others = (make(booster, 8, learner, engine=e).fit(X, y) for e in ("cpu", *OTHERS))
    for other in others:
        np.testing.assert_allclose(first.decision_function(X), other.decision_function(X), atol=1e-10)
        assert len(first.estimators_) == len(other.estimators_)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.parametrize("name", models.PORTFOLIOS)
def test_engines_give_the_same_portfolio(name, monkeypatch):
    """With a few trees, because the reference is slow."""

    def few(*given):
        found = recipe_for(*given)
        return replace(found, families=tuple(replace(f, n_trees=min(f.n_trees, 8)) for f in found.families))

    monkeypatch.setattr("skewboost.meta.portfolio.portfolio_classifier.recipe_for", few)
    monkeypatch.setattr("skewboost.meta.portfolio.portfolio_training.MAX_ROUNDS", 10)
    X, score = models.wide_table(80, 40)
    prototype, labels_of = models.PORTFOLIOS[name]
    found = []
    for engine in ("cpu", *OTHERS):
        clf = clone(prototype)
        getattr(clf, "estimator", clf).set_params(engine=engine, cv=2)
        found.append(models.answers(clf.fit(X, labels_of(score)), X))
    for others in found[1:]:
        for first, other in zip(found[0], others, strict=True):
            np.testing.assert_allclose(first, other, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("booster", "learner"), pairs(LEARNERS))
def test_engines_give_the_same_model_over_many_rounds(booster, learner):
    X, y = awkward_data(seed=2)
    first, *others = (make(booster, 80, learner, engine=e).fit(X, y) for e in ("cpu", *OTHERS))
    for other in others:
        np.testing.assert_allclose(first.decision_function(X), other.decision_function(X), atol=1e-10)
        assert len(first.estimators_) == len(other.estimators_)
