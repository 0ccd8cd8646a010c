"""The folds on which the search is cross-validated."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from skewboost.errors import InputError
from skewboost.goals.rows import SearchRows
from skewboost.goals.units import Units
from skewboost.typing import Array

MAX_TRIES = 100


def folds_of(
    cv: Any, rows: SearchRows, positive: Array, estimator: Any, certified: bool, grouped: bool, rng: Any
) -> list[tuple[SearchRows, SearchRows]]:
    """Return pairs of training and test rows, prepared for many fits.

    `certified` says that other rows were held out before, and `grouped` that the user named the units.
    """
    if isinstance(cv, int | np.integer):
        splits = _folds_of_units(cv, rows, positive, rng)
    else:
        splits = _folds_of_splitter(cv, rows, certified, rows.units if grouped else None)
    return [(rows.take(train).prepared(estimator), rows.take(test).prepared(estimator)) for train, test in splits]


def _folds_of_units(cv: Any, rows: SearchRows, positive: Array, rng: Any) -> list[tuple[Array, Array]]:
    """Return stratified and shuffled folds of units, at most as many as the rarer class has units."""
    if isinstance(cv, bool) or cv < 2:
        raise InputError(f"cv={cv!r} must be an integer >= 2, a splitter, or an iterable of splits.")
    units = Units.of(rows, positive)
    kinds = 2 * units.has[1] + units.has[0]  # units of negatives, of positives, of both
    names, sizes = np.unique(kinds, return_counts=True)
    fewest = int(units.has.sum(axis=1).min())
    n_folds = min(int(cv), fewest)
    kinds[np.isin(kinds, names[sizes < n_folds])] = names[sizes.argmax()]  # too few to be in every fold
    for _ in range(MAX_TRIES if n_folds >= 2 else 0):
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=rng.randint(2**31 - 1))
        fold = np.empty(len(kinds), dtype=np.intp)
        for k, (_, test) in enumerate(folds.split(kinds, kinds)):
            fold[test] = k
        if all(units.has[:, fold != k].any(axis=1).all() for k in range(n_folds)):
            of_row = fold[units.of_row]
            return [(np.flatnonzero(of_row != k), np.flatnonzero(of_row == k)) for k in range(n_folds)]
    raise InputError(
        f"A class has {fewest} independent example(s) to search on, but cross-validation needs at least 2.",
        "Add examples. Equal rows, and rows of one group, count as one.",
    )


def _folds_of_splitter(cv: Any, rows: SearchRows, certified: bool, groups: Array | None) -> list[Any]:
    """Return the splits of a splitter or iterable that the user passed."""
    if cv is not None and not hasattr(cv, "split") and certified:
        raise InputError(
            "cv is an iterable of splits, which number the rows of X, but with a certificate the search gets only the "
            "rows that are not held out.",
            "Pass a splitter, or set confidence=None.",
        )
    try:
        return list(check_cv(cv, rows.y, classifier=True).split(rows.X, rows.y, groups))
    except ValueError as error:
        if "groups" not in str(error) or groups is not None:
            raise
        raise InputError(f"cv={cv!r} needs groups.", "Pass them to fit: fit(X, y, groups=...).") from error
