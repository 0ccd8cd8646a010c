"""The golden traces: which estimator each is of, and how a fit is compared with it round by round."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.base import clone

import skewboost as sb
from skewboost.learners import Histogram, Line, Stump
from support import load_trace, load_trace_data

TOLERANCE = 1e-9
COST = {-1.0: 1.0, 1.0: 5.0}
ABSTAINING = Stump(missing="abstain")


def real(**kwargs):
    return sb.RealBoostClassifier(estimator=Stump(**kwargs))


VARIANTS = {
    "adaboost": sb.AdaBoostClassifier(),
    "realboost_z": real(),
    "realboost_gini": real(criterion="gini"),
    "realboost_error": real(criterion="error"),
    "confidence_rated": real(missing="abstain"),
    "confidence_rated_zbar": real(criterion="zbar", missing="abstain"),
    "general_alpha_confidence": sb.RealBoostClassifier(estimator=ABSTAINING, line_search=True),
    "general_alpha_gentle": sb.GentleBoostClassifier(line_search=True),
    "gentleboost": sb.GentleBoostClassifier(),
    "logitboost": sb.LogitBoostClassifier(z_max=4.0),
    "logitboost_noclip": sb.LogitBoostClassifier(z_max=None),
    "rareboost": sb.RareBoostClassifier(),
    "arcing_exponential": sb.ArcingClassifier(potential="exponential"),
    "arcing_logistic": sb.ArcingClassifier(potential="logistic"),
    "csb0_all": sb.CSB0Classifier(cost=5.0),
    "csb0_errors": sb.CSB0Classifier(cost=5.0, cost_on="errors"),
    "csb1_all": sb.CSB1Classifier(cost=5.0),
    "csb1_errors": sb.CSB1Classifier(cost=5.0, cost_on="errors"),
    "csb2_all": sb.CSB2Classifier(cost=5.0),
    "csb2_errors": sb.CSB2Classifier(cost=5.0, cost_on="errors"),
    "adacost": sb.AdaCostClassifier(cost=COST),
    "adacost_unscaled": sb.AdaCostClassifier(cost={-1.0: 0.1, 1.0: 0.5}),
    "adac1_sun": sb.AdaC1Classifier(cost=COST),
    "adac1_nyga": sb.AdaC1Classifier(cost=2.0, alpha="nyga"),
    "adac2": sb.AdaC2Classifier(cost=COST),
    "adac3": sb.AdaC3Classifier(cost=[[0.0, 1.0], [5.0, 0.0]]),
    "asymmetric_adaboost": sb.AsymmetricAdaBoostClassifier(cost=5.0),
    "favoured": sb.FavoredBoostClassifier(estimator=ABSTAINING),
    "favoured_costs": sb.FavoredBoostClassifier(estimator=ABSTAINING, cost=5.0),
    "consistent": sb.ConsistentBoostClassifier(estimator=ABSTAINING),
    "csra": sb.CSRAClassifier(cost=5.0),
    "csga": sb.CSGAClassifier(cost=5.0),
    "cslb": sb.CSLBClassifier(cost=5.0),
    "cs_adaboost": sb.CSAdaBoostClassifier(cost=5.0, prior="balanced"),
    "cs_realboost_stump": sb.CSRealBoostClassifier(cost=5.0, prior="balanced"),
    "cs_realboost_histogram": sb.CSRealBoostClassifier(cost=5.0, prior="balanced", estimator=Histogram()),
    "cs_logitboost_stump": sb.CSLogitBoostClassifier(cost=5.0),
    "cs_logitboost_line": sb.CSLogitBoostClassifier(cost=5.0, estimator=Line()),
    "adaboost_reg_p1": sb.AdaBoostRegClassifier(C=6.0),
    "adaboost_reg_p2": sb.AdaBoostRegClassifier(C=150.0, p=2.0),
    "class_aware_soft_margin": sb.AdaBoostRegClassifier(C={-1.0: 8.0, 1.0: 2.0}),
    "weightboost": sb.WeightBoostClassifier(beta=0.5),
    "soft_margin_cs_p1": sb.SoftMarginBoostClassifier(estimator=ABSTAINING, cost=2.0, C=4.0),
    "soft_margin_cs_p2": sb.SoftMarginBoostClassifier(estimator=ABSTAINING, cost=2.0, C=100.0, p=2.0),
}
# with missing values: the variants that abstain
MISSING = [
    "confidence_rated", "confidence_rated_zbar", "consistent", "favoured", "favoured_costs", "general_alpha_confidence",
    "soft_margin_cs_p1", "soft_margin_cs_p2",
]  # fmt: skip
CASES = [f"{s}_{name}" for s in "AB" for name in VARIANTS] + [f"Am_{name}" for name in MISSING]


def fitted_like(trace, name, X, y, engine):
    """The variant on the trace's data, with what the trace says it was run with."""
    clf = clone(VARIANTS[name.split("_", 1)[1]])
    clf.set_params(n_estimators=len(trace["rounds"]), pos_label=1.0, engine=engine)
    if isinstance(clf.estimator, Histogram):
        clf.set_params(estimator=Histogram(edges=[np.array(e) for e in trace["params"]["edges"]]))
    return clf.fit(X, y)


def assert_every_round_matches(name, engine, cast):
    """A trace by its name; `cast` are the votes as they were cast, where these are not what a round adds."""
    trace = load_trace(name)
    X, y, X_test = load_trace_data(trace["dataset"])
    clf = fitted_like(trace, name, X, y, engine)

    np.testing.assert_allclose(clf.decision_function(X), trace["F_train"], atol=TOLERANCE, rtol=0)
    np.testing.assert_allclose(clf.decision_function(X_test), trace["F_test"], atol=TOLERANCE, rtol=0)
    bins = clf._model.bins
    for term, vote, F, record, expected in zip(
        clf.estimators_,
        cast or clf.estimators_,
        (F for F, _ in clf._staged_scores(X)),
        clf.history_,
        trace["rounds"],
        strict=True,
    ):
        np.testing.assert_allclose(F, expected["F_train"], atol=TOLERANCE, rtol=0)
        np.testing.assert_allclose(record["criterion"], expected["criterion"], atol=TOLERANCE, rtol=0)
        if "step" in record and "alpha" in expected:
            np.testing.assert_allclose(record["step"], expected["alpha"], atol=TOLERANCE, rtol=0)
        if "slope" in expected:
            assert term.feature == expected["feature"]
            np.testing.assert_allclose(
                [term.slope, term.intercept], [expected["slope"], expected["intercept"]], atol=TOLERANCE
            )
            continue
        (split,) = vote.partition.splits
        assert split.feature == expected["feature"]
        if "h_leaves" in expected and cast:
            np.testing.assert_allclose(vote.values[:2], expected["h_leaves"], atol=TOLERANCE, rtol=0)
        if expected["threshold"] is not None:
            assert bins.features[split.feature].cuts[split.threshold] == expected["threshold"]
        if "leaf_values" in expected:
            n = len(expected["leaf_values"])
            leaves = [~term.partition.links[0][side] for side in range(n)]
            np.testing.assert_allclose(term.values[leaves], expected["leaf_values"], atol=TOLERANCE, rtol=0)


def assert_nominal_partitions_match(engine):
    trace = load_trace("N_confidence_rated_nominal")
    X, y, X_test = load_trace_data("N")
    frame, test_frame = (pd.DataFrame(x.astype(int)).astype("category") for x in (X, X_test))
    clf = real(missing="abstain").set_params(n_estimators=len(trace["rounds"]), pos_label=1.0, engine=engine)
    clf.fit(frame, y)
    np.testing.assert_allclose(clf.decision_function(frame), trace["F_train"], atol=TOLERANCE, rtol=0)
    np.testing.assert_allclose(clf.decision_function(test_frame), trace["F_test"], atol=TOLERANCE, rtol=0)
    for term, expected in zip(clf.estimators_, trace["rounds"], strict=True):
        (split,) = term.partition.splits
        categories = clf._model.bins.features[split.feature].categories
        groups = [{int(c) for code, c in enumerate(categories) if split.child[code] == side} for side in (0, 1)]
        assert split.feature == expected["feature"]
        assert sorted(map(sorted, groups)) == sorted(map(sorted, (expected["left_group"], expected["right_group"])))
