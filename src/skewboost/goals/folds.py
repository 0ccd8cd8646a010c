"""Which rows the search is cross-validated on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from skewboost.errors import InputError
from skewboost.goals.trials import Rows
from skewboost.goals.units import Units
from skewboost.typing import Array

MAX_TRIES = 100


def folds_of(
    cv: Any, rows: Rows, positive: Array, estimator: Any, certified: bool, grouped: bool, rng: Any
) -> list[tuple[Rows, Rows]]:
    """Pairs of rows to fit and to answer, ready for many fits.

    `certified` says that others were held out before, and `grouped` that the user named the units.
    """
    if isinstance(cv, int | np.integer):
        splits = _of_units(cv, rows, positive, rng)
    else:
        splits = _of_user(cv, rows, certified, rows.units if grouped else None)
    return [(rows.take(train).prepared(estimator), rows.take(test).prepared(estimator)) for train, test in splits]


def _of_units(cv: Any, rows: Rows, positive: Array, rng: Any) -> list[tuple[Array, Array]]:
    """Stratified and shuffled folds of units, as many as the class of fewer units allows."""
    if isinstance(cv, bool) or cv < 2:
        raise InputError(f"cv={cv!r} must be an integer >= 2, a splitter, or an iterable of splits.")
    units = Units.of(rows, positive)
    kinds = 2 * units.has[1] + units.has[0]  # units of negatives, of positives, of both
    names, n_of = np.unique(kinds, return_counts=True)
    n_folds = int(min(cv, units.has.sum(axis=1).min()))
    kinds[np.isin(kinds, names[n_of < n_folds])] = names[n_of.argmax()]  # too few to be in every fold
    for _ in range(MAX_TRIES if n_folds >= 2 else 0):
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=rng.randint(2**31 - 1))
        fold = np.empty(len(kinds), dtype=np.intp)
        for k, (_, test) in enumerate(folds.split(kinds, kinds)):
            fold[test] = k
        if all(units.has[:, fold != k].any(axis=1).all() for k in range(n_folds)):
            of_row = fold[units.of_row]
            return [(np.flatnonzero(of_row != k), np.flatnonzero(of_row == k)) for k in range(n_folds)]
    raise InputError(
        f"A class has {units.has.sum(axis=1).min()} example(s) to search on; cross-validation needs 2 at least, of "
        "which equal rows and rows of a group are one."
    )


def _of_user(cv: Any, rows: Rows, certified: bool, groups: Array | None) -> list[Any]:
    """The splits that the user wants."""
    if cv is not None and not hasattr(cv, "split") and certified:
        raise InputError(
            "cv is an iterable of splits, which number the rows of X, but with a certificate the search gets only "
            "those that are not held out. Pass a splitter, or set confidence=None."
        )
    try:
        return list(check_cv(cv, rows.y, classifier=True).split(rows.X, rows.y, groups))
    except ValueError as error:
        if "groups" not in str(error) or groups is not None:
            raise
        raise InputError(f"cv={cv!r} needs groups. Pass them to fit: fit(X, y, groups=...).") from error
