"""Where the definitions agree, so do the results of another library."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.tree import DecisionTreeClassifier

from skewboost import AdaBoostClassifier
from skewboost.learners import Tree
from support import each_engine


def data(name):
    if name == "cancer":
        X, y = load_breast_cancer(return_X_y=True)
    else:
        X, y = make_classification(800, 8, n_informative=5, weights=[0.7], flip_y=0.1, random_state=3)
    return X[:250].astype(np.float32), y[:250]  # no more than 255 distinct values: nothing is lost in binning


@pytest.mark.parametrize(("name", "depth", "n_rounds"), [("cancer", 1, 25), ("made", 1, 25), ("made", 2, 12)])
@each_engine
def test_adaboost_on_gini_trees(name, depth, n_rounds, engine):
    """Leaves vote for their majorities, SAMME's step for two classes is twice ours; ties may end the agreement."""
    X, y = data(name)
    tree = Tree(criterion="gini", max_leaf_nodes=None, max_depth=depth)
    ours = AdaBoostClassifier(estimator=tree, n_estimators=40, engine=engine).fit(X, y)
    theirs = SklearnAdaBoost(DecisionTreeClassifier(max_depth=depth, random_state=0), n_estimators=40).fit(X, y)
    agreeing = 0
    F = np.zeros(len(y))
    staged = ours.staged_decision_function(X)
    for other, weight in zip(theirs.estimators_, theirs.estimator_weights_):
        F += weight / 2 * np.where(other.predict(X) == 1, 1, -1)
        if not np.allclose(next(staged), F, atol=1e-9):
            break
        agreeing += 1
    assert agreeing >= n_rounds
