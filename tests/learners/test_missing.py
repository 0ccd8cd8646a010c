"""Abstention, to the letter: no vote, and weights that only normalisation moves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.partitioned import PartitionedEngine
from skewboost import AdaBoostClassifier, GentleBoostClassifier, RealBoostClassifier
from skewboost.boosting.loop import boost
from skewboost.boosting.state import State
from skewboost.engine import choose
from skewboost.engine.boundary import ABSTAIN
from skewboost.engine.table import read_table
from skewboost.learners import Stump, Tree
from skewboost.learners.learner import LABELS
from skewboost.learners.training_data import TrainingData
from skewboost.metrics.costs import Costs

BOOSTERS = [AdaBoostClassifier, RealBoostClassifier, GentleBoostClassifier]


def mixed(n=300, seed=0):
    """Two nominal and two numeric columns, a fifth of the cells missing."""
    rng = np.random.default_rng(seed)
    kind, shop = rng.integers(0, 4, n), rng.integers(0, 15, n)
    X = pd.DataFrame({"x": rng.normal(size=n), "kind": kind, "shop": shop, "z": np.round(rng.normal(size=n), 1)})
    y = (X["x"] + (kind == 2) + np.sin(shop) + 0.5 * rng.normal(size=n) > 1.0).to_numpy()
    X = X.mask(rng.random(X.shape) < 0.2)
    return X.astype({"kind": "category", "shop": "category"}), y


@pytest.mark.sample(4)
@pytest.mark.parametrize("engine", ["reference", "cpu", PartitionedEngine()], ids=str)
@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    "learner", [Stump(missing="abstain"), Tree(missing="abstain", max_leaf_nodes=5)], ids=["stump", "tree"]
)
def test_rows_that_abstain_keep_their_weight(learner, booster, engine):
    X, positive = mixed()
    clf = booster()
    data = TrainingData(read_table(clf, X, reset=True), positive, None, choose(engine, 1))
    rule = clf._rule()
    opened = learner.prepare(data, rule.goal(Costs(), 1.0 / len(positive)))
    state = State(opened, 15, LABELS)
    before, loss = np.full(len(positive), 1 / len(positive)), 1.0
    n_silent = 0
    for r in boost(rule, state):
        partition = r.term.partition
        links = np.array(partition.links)
        abstaining = [~k for k in links[:, ABSTAIN]] if links.shape[1] > ABSTAIN else []
        silent = np.isin(partition.leaves(opened.view), abstaining)
        n_silent += silent.sum()
        assert (r.term.on(opened.view)[silent] == 0).all()
        # all weights are divided by the same number, and those of silent rows are not multiplied by any
        np.testing.assert_allclose(state.rows.get("w")[silent], before[silent] * loss / state.loss, rtol=1e-9)
        before, loss = state.rows.get("w").copy(), state.loss
    assert n_silent > 300


@pytest.mark.parametrize("booster", BOOSTERS)
def test_the_first_stump_that_learns_is_no_worse_than_missing_sent_to_either_side(booster):
    """Replacing what is missing by a very small or very large number is sending it to one side."""
    X, y = mixed(seed=1)
    numbers = X[["x", "z"]]

    def first(X):
        return booster(n_estimators=1).fit(X, y).history_[0]["criterion"]

    assert first(numbers) <= min(first(numbers.fillna(-1e9)), first(numbers.fillna(1e9))) + 1e-12
