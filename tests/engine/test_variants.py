"""Every variant on every engine: the traces, and the same model on tables of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

from boosting.traces import CASES, assert_every_round_matches, assert_nominal_partitions_match
from engine.partitioned import PartitionedEngine
from skewboost.learners import AlternatingTree, Histogram, Stump, Tree
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
@pytest.mark.parametrize(("booster", "learner"), pairs(LEARNERS))
def test_engines_give_the_same_model_over_many_rounds(booster, learner):
    X, y = awkward_data(seed=2)
    first, *others = (make(booster, 80, learner, engine=e).fit(X, y) for e in ("cpu", *OTHERS))
    for other in others:
        np.testing.assert_allclose(first.decision_function(X), other.decision_function(X), atol=1e-10)
        assert len(first.estimators_) == len(other.estimators_)
