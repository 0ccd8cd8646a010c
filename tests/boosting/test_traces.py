"""Every variant, round by round, against an independent implementation; tests/engine does it for other engines."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import skewboost as sb
from boosting.traces import CASES, TOLERANCE, assert_every_round_matches, assert_nominal_partitions_match
from skewboost.learners import Stump
from support import load_trace


@pytest.mark.parametrize("name", CASES)
def test_every_round_matches_the_trace(name, cast):
    assert_every_round_matches(name, "auto", cast)


def test_nominal_partitions_match_the_trace():
    assert_nominal_partitions_match("auto")


def toy(name, clf):
    """Three points; with constant stumps allowed, every round is tied by construction."""
    trace = load_trace(name)
    X, y = np.array(trace["X"]), np.array(trace["y"])
    clf.set_params(estimator=Stump(constant=True), n_estimators=len(trace["rounds"]), pos_label=1).fit(X, y)
    assert [int((p != y).sum()) for p in clf.staged_predict(X)] == trace["errors"]
    for F, expected in zip(clf.staged_decision_function(X), trace["rounds"], strict=True):
        np.testing.assert_allclose(F, expected["F_train"], atol=TOLERANCE, rtol=0)
    return trace["errors"]


def test_three_points_are_solved_in_three_rounds():
    """[nyga2010] fig. 2.3: AdaBoost separates the three points in round 3 and stays there."""
    errors = toy("doc_toy3_adaboost", sb.AdaBoostClassifier())
    assert errors[2:] == [0] * len(errors[2:])


def test_adac1_oscillates_on_them():
    """[nyga2010] fig. 2.3: with costs above 1, AdaC1 in the thesis's form never settles."""
    errors = toy("doc_toy3_adac1_thesis", sb.AdaC1Classifier(cost=3.0, alpha="nyga"))
    assert sum(a != b for a, b in itertools.pairwise(errors)) >= 5
