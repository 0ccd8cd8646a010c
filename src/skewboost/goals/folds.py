"""Which rows the search is cross-validated on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from skewboost.goals.trials import Rows


def folds_of(cv: Any, rows: Rows, estimator: Any, certified: bool, rng: Any) -> list[tuple[Rows, Rows]]:
    """Pairs of rows to fit and to answer, ready for many fits; `certified` says that others were held out before."""
    return [
        (rows.take(train).prepared(estimator), rows.take(test).prepared(estimator))
        for train, test in _splits(_splitter(cv, rows, certified, rng), rows)
    ]


def _splitter(cv: Any, rows: Rows, certified: bool, rng: Any) -> Any:
    """Stratified and shuffled folds for a number, as many as the smaller class allows; else what the user gave."""
    if isinstance(cv, int | np.integer):
        if isinstance(cv, bool) or cv < 2:
            raise ValueError(f"cv={cv!r} must be an integer >= 2, a splitter, or an iterable of splits.")
        fewest = int(np.unique(rows.y, return_counts=True)[1].min())
        if fewest < 2:
            raise ValueError(f"A class has {fewest} example(s) to search on; cross-validation needs 2 at least.")
        return StratifiedKFold(int(min(cv, fewest)), shuffle=True, random_state=rng.randint(2**31 - 1))
    if cv is not None and not hasattr(cv, "split") and certified:
        raise ValueError(
            "cv is an iterable of splits, which number the rows of X, but with a certificate the search gets only "
            "those that are not held out. Pass a splitter, or set confidence=None."
        )
    return cv


def _splits(cv: Any, rows: Rows) -> list[Any]:
    try:
        return list(check_cv(cv, rows.y, classifier=True).split(rows.X, rows.y))
    except ValueError as error:
        if "groups" not in str(error):
            raise
        raise ValueError(
            f"cv={cv!r} needs groups, by which rows would have to be held out for a certificate too. Pass the splits "
            "themselves, cv=list(splitter.split(X, y, groups)), with confidence=None, and check the result on groups "
            "that you held out."
        ) from error
