"""Whoever compares rows with each other ranks them alike: by the decision function, which does not saturate."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score

from skewboost import AdaC2Classifier, catalogue
from skewboost.cli.evaluate_command import Predictions
from skewboost.cli.target_column import Examples
from skewboost.datasets import make_fraud
from skewboost.evaluate import compare
from skewboost.metrics import scorers
from skewboost.plots import OperatingPointDisplay, Report
from support import awkward_data

N = 1000


@pytest.mark.slow
def test_all_areas_are_those_of_the_decision_function():
    X, y = make_fraud(N)
    X_new, y_new = make_fraud(N, random_state=1)
    model = AdaC2Classifier(n_estimators=60, cost=20)
    clf = clone(model).fit(X, y)
    scores = clf.decision_function(X_new)
    assert len(np.unique(clf.predict_proba(X_new)[:, 1])) < len(np.unique(scores))  # probabilities saturate
    expected = {"roc_auc": roc_auc_score(y_new, scores), "pr_auc": average_precision_score(y_new, scores)}
    said = Predictions.of(clf, 1, Examples(X_new, np.asarray(y_new), None, "fraud", "")).measures()
    display = OperatingPointDisplay.from_estimator(clf, X_new, y_new)
    all_rows, folds = pd.concat([X, X_new], ignore_index=True), [(np.arange(N), np.arange(N, 2 * N))]
    comparison = compare({"AdaC2": model}, all_rows, np.concatenate([y, y_new]), cv=folds)
    text = re.sub(r"\s+", " ", Report(clf, X_new, y_new, cost=20).html())
    found = {
        "the command line": (said["roc_auc"], said["pr_auc"]),
        "the display": (display.roc_auc, display.average_precision),
        "compare": tuple(comparison.values(m)["AdaC2"].mean() for m in ("roc_auc", "pr_auc")),
        "the scorers": tuple(scorers(pos_label=1)[m](clf, X_new, y_new) for m in ("roc_auc", "pr_auc")),
        "the report": tuple(
            float(re.search(words + r" ([0-9.]+\d)", text)[1])
            for words in ("area under the ROC curve is", "average precision is")
        ),
    }
    for who, areas in found.items():
        np.testing.assert_allclose(
            areas, list(expected.values()), atol=5e-4 if who == "the report" else 1e-9, err_msg=who
        )


@pytest.mark.parametrize("entry", catalogue(), ids=lambda e: e.name)
def test_log_probabilities_are_finite_and_rank_as_scores_do(entry):
    X, y = awkward_data()
    params = {"cost": 1e4} if entry.cost_sensitive else {}
    clf = entry.make(20, **params).fit(X, y)
    logs, p, scores = clf.predict_log_proba(X), clf.predict_proba(X), clf.decision_function(X)
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(np.exp(logs), p, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-15)
    odds = logs[:, 1] - logs[:, 0]
    order = np.argsort(scores, kind="stable")
    assert (np.diff(odds[order]) >= -1e-9 * np.abs(odds).max()).all()
    assert len(np.unique(odds.round(9))) >= 0.99 * len(np.unique(scores.round(9)))
