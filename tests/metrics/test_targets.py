"""Labels that may mean the same."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from skewboost import AdaBoostMHClassifier, CSRAClassifier, SkewBoostClassifier, UnderBaggingClassifier
from skewboost.errors import LabelWarning
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


def test_labels_that_differ_in_more_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error", LabelWarning)
        for labels in (["yes", "no"], ["1", "01"], [0, 1], [True, False], ["a", "ä"]):
            CSRAClassifier(n_estimators=2).fit(X, labels * 30)


def test_alike():
    assert alike(["No", "no", "Yes", " YES", "yes ", "maybe", "ja"]) == [["No", "no"], ["Yes", " YES", "yes "]]
    assert alike([1, 2, None, True]) == []
