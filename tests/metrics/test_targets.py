"""Labels that may mean the same."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import clone

from skewboost import (
    AdaBoostMHClassifier,
    CascadeClassifier,
    CodeMatrixClassifier,
    CSRAClassifier,
    GoalSearchCV,
    MinimumRiskClassifier,
    PastingVotesClassifier,
    SkewBoostClassifier,
    UnderBaggingClassifier,
)
from skewboost.errors import LabelWarning
from skewboost.evaluate import compare, staged_curve
from skewboost.metrics.targets import alike

X = np.random.default_rng(0).normal(size=(60, 2))


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostMHClassifier(n_estimators=2),
        SkewBoostClassifier(effort="quick", n_jobs=1),
        UnderBaggingClassifier(CSRAClassifier(n_estimators=2), n_estimators=2),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("kind", [np.array, list, pd.Series, lambda y: np.array(y, dtype=object)])
def test_fit_warns_of_labels_that_differ_in_case_or_blanks(model, kind):
    labels = ["yes", "YES", "no"] if not isinstance(model, UnderBaggingClassifier) else ["no", "no ", "no"]
    with pytest.warns(LabelWarning, match="differ only in case or in spaces at their ends.*: '") as caught:
        model.fit(X, kind(labels * 20))
    assert any(w.filename == __file__ for w in caught if w.category is LabelWarning)
    remedied = [label.strip().lower() for label in labels * 20]
    if len(set(remedied)) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("error", LabelWarning)
            model.fit(X, kind(remedied))


ALIKE = np.array(["No", "no"])[np.arange(len(X)) % 2]
STUMPS = CSRAClassifier(n_estimators=2)


@pytest.mark.parametrize(
    "fit",
    [
        lambda: UnderBaggingClassifier(STUMPS, n_estimators=3).fit(X, ALIKE),
        lambda: UnderBaggingClassifier(STUMPS, n_estimators=3, n_jobs=2).fit(X, ALIKE),
        lambda: MinimumRiskClassifier(STUMPS).fit(X, ALIKE),
        lambda: MinimumRiskClassifier(STUMPS, calibrate="sigmoid", cv=2).fit(X, ALIKE),
        lambda: MinimumRiskClassifier(STUMPS, calibrate="sigmoid", cv=2, n_jobs=2).fit(X, ALIKE),
        lambda: GoalSearchCV(STUMPS, "recall >= 1%", cv=2, max_points=3, confidence=None).fit(X, ALIKE),
        lambda: GoalSearchCV(STUMPS, "recall >= 1%", cv=2, tune="threshold", confidence=None, n_jobs=2).fit(X, ALIKE),
        lambda: SkewBoostClassifier(effort="quick", goal="recall >= 1%", confidence=0.5).fit(X, ALIKE),
        lambda: CascadeClassifier(STUMPS, n_stages=2).fit(X, ALIKE),
        lambda: CodeMatrixClassifier(STUMPS, code="one_vs_rest").fit(X, np.where(np.arange(len(X)) % 3, ALIKE, "yes")),
        lambda: PastingVotesClassifier(n_estimators=2, bite_size=30).fit(X, ALIKE),
        lambda: staged_curve(STUMPS, X, ALIKE, cv=2),
        lambda: compare({"a": STUMPS, "b": UnderBaggingClassifier(STUMPS, n_estimators=2)}, X, ALIKE, cv=2),
    ],
)
def test_fits_within_a_fit_do_not_warn_again(fit):
    with parallel_config(backend="threading"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    assert [w.filename for w in caught if w.category is LabelWarning] == [__file__]
    with pytest.warns(LabelWarning):
        clone(STUMPS).fit(X, ALIKE)  # another fit warns as ever


def test_labels_that_differ_in_more_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error", LabelWarning)
        for labels in (["yes", "no"], ["1", "01"], [0, 1], [True, False], ["a", "ä"]):
            CSRAClassifier(n_estimators=2).fit(X, labels * 30)


def test_alike():
    assert alike(["No", "no", "Yes", " YES", "yes ", "maybe", "ja"]) == [["No", "no"], ["Yes", " YES", "yes "]]
    assert alike([1, 2, None, True]) == []
