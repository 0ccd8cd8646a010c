"""The four plain boosters, round by round, against an independent implementation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skewboost import AdaBoostClassifier, GentleBoostClassifier, LogitBoostClassifier, RealBoostClassifier
from skewboost.learners import Stump
from support import load_trace, load_trace_data

TOLERANCE = 1e-9


def real(**kwargs):
    return RealBoostClassifier(estimator=Stump(**kwargs))


BOTH_SETS = {
    "adaboost": AdaBoostClassifier(),
    "realboost_z": real(),
    "realboost_gini": real(criterion="gini"),
    "realboost_error": real(criterion="error"),
    "confidence_rated": real(missing="abstain"),
    "confidence_rated_zbar": real(criterion="zbar", missing="abstain"),
    "gentleboost": GentleBoostClassifier(),
    "logitboost": LogitBoostClassifier(z_max=4.0),
    "logitboost_noclip": LogitBoostClassifier(z_max=None),
}
CASES = [(f"{s}_{name}", clf) for s in "AB" for name, clf in BOTH_SETS.items()] + [
    ("Am_confidence_rated", real(missing="abstain")),
    ("Am_confidence_rated_zbar", real(criterion="zbar", missing="abstain")),
]


@pytest.mark.parametrize("engine", ["reference", "cpu"])
@pytest.mark.parametrize(("name", "clf"), CASES, ids=[name for name, _ in CASES])
def test_every_round_matches_the_trace(name, clf, engine):
    trace = load_trace(name)
    X, y, X_test = load_trace_data(trace["dataset"])
    clf.set_params(n_estimators=len(trace["rounds"]), pos_label=1.0, engine=engine).fit(X, y)

    np.testing.assert_allclose(clf.decision_function(X), trace["F_train"], atol=TOLERANCE, rtol=0)
    np.testing.assert_allclose(clf.decision_function(X_test), trace["F_test"], atol=TOLERANCE, rtol=0)
    bins = clf._ensembles[0].bins
    for term, F, record, expected in zip(
        clf.estimators_, clf.staged_decision_function(X), clf.history_, trace["rounds"], strict=True
    ):
        (split,) = term.partition.splits
        assert split.feature == expected["feature"]
        assert bins.features[split.feature].cuts[split.threshold] == expected["threshold"]
        np.testing.assert_allclose(F, expected["F_train"], atol=TOLERANCE, rtol=0)
        np.testing.assert_allclose(record["criterion"], expected["criterion"], atol=TOLERANCE, rtol=0)
        leaves = [~term.partition.links[0][side] for side in (0, 1)]
        np.testing.assert_allclose(term.values[leaves], expected["leaf_values"], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("engine", ["reference", "cpu"])
def test_nominal_partitions_match_the_trace(engine):
    trace = load_trace("N_confidence_rated_nominal")
    X, y, X_test = load_trace_data("N")
    frame, test_frame = (pd.DataFrame(x.astype(int)).astype("category") for x in (X, X_test))
    clf = real(missing="abstain").set_params(n_estimators=len(trace["rounds"]), pos_label=1.0, engine=engine)
    clf.fit(frame, y)
    np.testing.assert_allclose(clf.decision_function(frame), trace["F_train"], atol=TOLERANCE, rtol=0)
    np.testing.assert_allclose(clf.decision_function(test_frame), trace["F_test"], atol=TOLERANCE, rtol=0)
    for term, expected in zip(clf.estimators_, trace["rounds"], strict=True):
        (split,) = term.partition.splits
        categories = clf._ensembles[0].bins.features[split.feature].categories
        groups = [{int(c) for code, c in enumerate(categories) if split.child[code] == side} for side in (0, 1)]
        assert split.feature == expected["feature"]
        assert sorted(map(sorted, groups)) == sorted(map(sorted, (expected["left_group"], expected["right_group"])))


def test_three_points_are_solved_in_three_rounds():
    """[000] fig. 2.3: with constant stumps allowed, AdaBoost separates the three points in round 3 and stays there."""
    trace = load_trace("doc_toy3_adaboost")
    X, y = np.array(trace["X"]), np.array(trace["y"])
    clf = AdaBoostClassifier(estimator=Stump(constant=True), n_estimators=len(trace["rounds"]), pos_label=1)
    clf.fit(X, y)
    assert [int((p != y).sum()) for p in clf.staged_predict(X)] == trace["errors"]
    for F, expected in zip(clf.staged_decision_function(X), trace["rounds"], strict=True):
        np.testing.assert_allclose(F, expected["F_train"], atol=TOLERANCE, rtol=0)
