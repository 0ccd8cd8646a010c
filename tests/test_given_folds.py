"""Splitters of all estimators: those that number other rows, or test rows that they train on, are refused in words."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit

from skewboost import CGAdaClassifier, GoalSearchCV, MinimumRiskClassifier, RealBoostClassifier, SkewBoostClassifier
from skewboost.errors import InputError
from skewboost.evaluate import staged_curve
from support import awkward_data

N = 120
HALVES = [(np.arange(N) % 2 == k, np.arange(N) % 2 != k) for k in range(2)]
NUMBERS = [tuple(map(np.flatnonzero, half)) for half in HALVES]


def with_search(cv, estimator=LogisticRegression()):  # noqa: B008
    return GoalSearchCV(estimator, "recall >= 10%", cv=cv, confidence=None)


WITH_SPLITS = {
    "early stopping": lambda cv: RealBoostClassifier(n_estimators=3, early_stopping=True, splits=cv),
    "calibration": lambda cv: CGAdaClassifier(n_estimators=3, cost=5, calibrate="sigmoid", splits=cv),
    "portfolio": lambda cv: SkewBoostClassifier(effort="quick", cv=cv),
    "minimum risk": lambda cv: MinimumRiskClassifier(LogisticRegression(), calibrate="sigmoid", cv=cv),
    "goal": with_search,
    "goal of a portfolio": lambda cv: with_search(cv, SkewBoostClassifier(effort="quick", random_state=0)),
}
BAD = [
    ([], "holds no splits.*used up"),
    (iter([]), "holds no splits.*used up"),
    ({}, "holds no splits"),
    ([([], [1])], "split 0 has a side without rows"),
    ([([1], [])], "split 0 has a side without rows"),
    ([(range(60), range(60, N + 1))], "split 0 must hold row numbers from 0 to 119"),
    ([*NUMBERS, (range(60), range(-1, 60))], "split 2 must hold row numbers from 0 to 119"),
    ([(range(60), [0.5, 1.5])], "must hold row numbers"),
    ([(range(60), [[61], [62]])], "must hold row numbers"),
    ([(range(60), 61)], "must hold row numbers"),
    ([(range(60), ["a", "b"])], "must hold row numbers"),
    ([(HALVES[0][0][:-1], HALVES[0][1])], "must hold row numbers"),
    ([(range(60), range(59, N))], "split 0 trains on 1 of the rows that it tests, row 59"),
    ([([*range(60), 3], range(60, N))], "split 0 has a row twice on one side"),
    ([0, 1], "cannot split these rows"),
    (object(), "cannot split these rows"),
    ("five", "cannot split these rows"),
    (PredefinedSplit(np.arange(2 * N) % 2), "says where each of 240 rows belongs, but it gets 120 rows"),
    (PredefinedSplit(np.arange(N // 2) % 2), "says where each of 60 rows belongs, but it gets 120 rows"),
]


@pytest.fixture(scope="module")
def rows():
    X, y = awkward_data(N, missing=0.0)
    return X, y


@pytest.mark.parametrize("user", WITH_SPLITS)
@pytest.mark.parametrize(("cv", "message"), BAD, ids=lambda value: None if isinstance(value, str) else "")
def test_folds_of_other_rows_are_refused(user, cv, message, rows):
    with pytest.raises(InputError, match=message):
        WITH_SPLITS[user](cv).fit(*rows)


@pytest.mark.parametrize(("cv", "message"), BAD, ids=lambda value: None if isinstance(value, str) else "")
def test_so_they_are_by_evaluations(cv, message, rows):
    with pytest.raises(InputError, match=message):
        staged_curve(RealBoostClassifier(n_estimators=2), *rows, cv=cv)


@pytest.mark.parametrize("user", WITH_SPLITS)
def test_masks_and_predefined_folds_are_row_numbers(user, rows):
    X, y = rows
    of_numbers, *others = (
        WITH_SPLITS[user](cv).set_params(**({"random_state": 0} if user != "minimum risk" else {})).fit(X, y)
        for cv in (NUMBERS, HALVES, PredefinedSplit(np.arange(N) % 2 == 0))
    )
    for other in others:
        np.testing.assert_array_equal(other.predict_proba(X), of_numbers.predict_proba(X))


def test_the_rows_that_a_certificate_leaves_are_others(rows):
    cv = PredefinedSplit(np.arange(N) % 2)
    for clf in (
        SkewBoostClassifier(effort="quick", cv=cv, goal="recall >= 10%", confidence=0.5),
        GoalSearchCV(LogisticRegression(), "recall >= 10%", cv=cv, confidence=0.5),
    ):
        with pytest.raises(InputError, match="PredefinedSplit, which numbers the rows of X, but with a certificate"):
            clf.fit(*rows)
