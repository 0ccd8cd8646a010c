"""Folds that do not depend on the order of the rows, and keep groups together."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import PredefinedSplit, check_cv
from sklearn.utils.validation import has_fit_parameter

from skewboost.errors import InputError, SkewBoostError
from skewboost.names import in_short
from skewboost.typing import Array

Fold = tuple[Array, Array]  # the numbers of the training and the validation rows
KINDS = "Give a scikit-learn splitter, or a list of (training, test) row numbers."


def stratified_folds(
    classes: Array, units: Array, n_folds: int, rng: np.random.Generator, weights: Array | None = None
) -> Array:
    """Return the fold of each row. Units stay together, and each class is spread evenly over the folds.

    The folds depend on what units consist of and on their numbers, not on the order of the rows. A row of weight 2
    counts as two rows.
    """
    counts, shuffled, rarest = _units_in_turn(classes, units, rng, weights)
    n_units = len(counts)
    if len(units) == n_units and weights is None:  # single rows: deal them out class by class
        of_unit = np.empty(n_units, dtype=np.int64)
        of_row = np.empty(n_units, dtype=np.intp)
        of_row[units] = classes
        order = shuffled[np.argsort(np.argsort(rarest)[of_row[shuffled]], kind="stable")]
        of_unit[order] = np.arange(n_units) % n_folds
        return of_unit[units]
    return _dealt(counts, shuffled, rarest, np.full(n_folds, 1.0))[units]


def stratified_units(
    classes: Array, units: Array, fraction: float, rng: np.random.Generator, weights: Array | None = None
) -> Fold | None:
    """Return rows to train on, and about this fraction of them to validate on, with all rows of a unit on one side.

    Both sides have examples of each class; None if that is not possible. Otherwise as in `stratified_folds`.
    """
    chosen = whole_units(classes, units, fraction, rng, weights)
    sides = np.flatnonzero(~chosen), np.flatnonzero(chosen)
    n_classes = len(np.unique(classes))
    return sides if all(len(np.unique(classes[side])) == n_classes for side in sides) else None


def whole_units(
    classes: Array, units: Array, fraction: float, rng: np.random.Generator, weights: Array | None = None
) -> Array:
    """Return which rows to hold out: all rows of some units, about this fraction of each class.

    A class is on both sides if that is possible.
    """
    counts, shuffled, rarest = _units_in_turn(classes, units, rng, weights)
    side = _dealt(counts, shuffled, rarest, np.array([1.0 - fraction, fraction]))
    for k, lacking in ((k, side_lacking) for k in rarest for side_lacking in (1, 0)):
        if not counts[side == lacking, k].any():  # then the smallest unit that has the class changes sides
            able = [u for u in shuffled if counts[u, k] and side[u] != lacking]
            if len(able) > 1:
                side[min(able, key=lambda u: (counts[u].sum(), counts[u, k]))] = lacking
    return np.asarray(side[units] == 1)


def _units_in_turn(
    classes: Array, units: Array, rng: np.random.Generator, weights: Array | None
) -> tuple[Array, Array, Array]:
    """Return the examples ``[unit, class]``, the units in random order, and the classes, the rarest first."""
    counts = np.zeros((int(units.max()) + 1, int(classes.max()) + 1))
    np.add.at(counts, (units, classes), 1.0 if weights is None else weights)
    counts = np.round(counts, 9)  # sums of fractions depend on the order of the rows
    return counts, rng.permutation(len(counts)), np.argsort(counts.sum(axis=0), kind="stable")


def _dealt(counts: Array, shuffled: Array, rarest: Array, shares: Array) -> Array:
    """Deal units to folds, large units before small ones, to the fold that then has least of the rare classes.

    What a fold has is relative to its share.
    """
    order = shuffled[np.lexsort([-counts[shuffled, k] for k in rarest[::-1]])]
    in_fold, of_unit = np.zeros((len(shares), counts.shape[1])), np.empty(len(counts), dtype=np.int64)
    for unit in order:
        present = [k for k in rarest if counts[unit, k]]
        filled = (in_fold + counts[unit]) / shares[:, None]
        fold = min(range(len(shares)), key=lambda f: ([filled[f, k] for k in present], filled[f].sum(), f))
        of_unit[unit] = fold
        in_fold[fold] += counts[unit]
    return of_unit


def own_folds(
    classes: Array, units: Array, n_folds: int, n_repeats: int, seed: int, weights: Array | None = None
) -> list[Fold] | None:
    """Return stratified folds, several times over; None if there are too few examples of a class, or units."""
    n_folds = min(n_folds, int(units.max()) + 1)
    if n_folds < 2:
        return None
    sources = (np.random.default_rng([seed, k]) for k in range(n_repeats))
    drawn = [stratified_folds(classes, units, n_folds, rng, weights) for rng in sources]
    return [(np.flatnonzero(of != f), np.flatnonzero(of == f)) for of in drawn for f in range(n_folds)]


def given_folds(
    cv: Any,
    labels: Array,
    groups: Array | None,
    name: str = "cv",
    *,
    X: Any = None,
    missing_groups: str = "Pass them to fit: fit(X, y, groups=...).",
) -> list[Fold]:
    """Return the folds of a splitter, or of an iterable of (training, validation) row numbers or masks, checked.

    Splitters get `X`, if it is given. `missing_groups` is the remedy if they need groups and there are none.
    """
    shown, n_rows = f"{name}={in_short(cv)}", len(labels)
    with warnings.catch_warnings():  # a splitter that ignores groups may still respect them, which is checked below
        warnings.filterwarnings("ignore", "The groups parameter is ignored")
        try:
            splitter = check_cv(cv, labels, classifier=True)
            _check_predefined(splitter, shown, n_rows)
            pairs = list(splitter.split(np.zeros(n_rows) if X is None else X, labels, groups))
            found = [(np.asarray(training), np.asarray(validation)) for training, validation in pairs]
        except SkewBoostError:
            raise
        except (ValueError, TypeError) as error:
            if groups is None and "groups" in str(error):
                raise InputError(f"{shown} needs groups.", missing_groups) from error
            raise InputError(f"{shown} cannot split these rows: {error}.", KINDS) from error
    if not found:
        raise InputError(f"{shown} holds no splits.", f"{KINDS} An iterator is used up after one fit.")
    folds = [tuple(_row_numbers(side, n_rows, f"{name}: split {k}") for side in fold) for k, fold in enumerate(found)]
    for k, (training, validation) in enumerate(folds):
        both = np.intersect1d(training, validation)
        if len(both):
            raise InputError(
                f"{name}: split {k} trains on {len(both)} of the rows that it tests, row {both[0]} among them, so "
                "results on them would be too good.",
                "Give (training, test) without rows in common.",
            )
        torn = () if groups is None else np.intersect1d(groups[training], groups[validation])
        if len(torn):
            raise InputError(
                f"{name}: split {k} has rows of {len(torn)} groups both in training and in the test.",
                "Use a splitter that keeps groups together, such as StratifiedGroupKFold, or leave out groups.",
            )
    return [(training, validation) for training, validation in folds]


def numbers_rows(cv: Any) -> bool:
    """Whether folds are given as row numbers, which are about one table and no part of it."""
    divides = cv is None or isinstance(cv, int | np.integer) or hasattr(cv, "split")
    return isinstance(cv, PredefinedSplit) or not divides


def _check_predefined(splitter: Any, shown: str, n_rows: int) -> None:
    """Raise an error if a splitter that numbers the rows of a table gets those of another."""
    if isinstance(splitter, PredefinedSplit) and len(splitter.test_fold) != n_rows:
        raise InputError(
            f"{shown} says where each of {len(splitter.test_fold)} rows belongs, but it gets {n_rows} rows.",
            "Name a fold for each row. If rows are held out before, as for a certificate, use a splitter that divides "
            "any rows, such as StratifiedKFold or StratifiedGroupKFold.",
        )


def _row_numbers(rows: Array, n_rows: int, what: str) -> Array:
    """Return the row numbers of a side of a split, also for a mask."""
    if rows.dtype == np.bool_ and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    if rows.ndim == 1 and not len(rows):
        raise InputError(f"{what} has a side without rows.", "Each split needs rows to train on, and others to test.")
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n_rows:
        raise InputError(f"{what} must hold row numbers from 0 to {n_rows - 1}, or masks; got {in_short(rows)}.")
    if len(np.unique(rows)) < len(rows):
        raise InputError(f"{what} has a row twice on one side.", "For rows that count twice use sample_weight.")
    return rows.astype(np.intp, copy=False)


def folds_of_examples(folds: list[Fold], rows: Array, classes: Array) -> list[Fold]:
    """Return folds of rows as folds of examples, given the row of each; folds without a class are left out."""
    n_rows = 1 + max(int(side.max(initial=0)) for fold in folds for side in (*fold, rows))
    found: list[Fold] = []
    for fold in folds:
        sides = []
        for side in fold:
            inside = np.zeros(n_rows, dtype=np.bool_)
            inside[side] = True
            sides.append(np.flatnonzero(inside[rows]))
        if len(np.unique(classes[sides[0]])) == len(np.unique(classes)) and len(sides[1]):
            found.append((sides[0], sides[1]))
    if not found:
        raise InputError(
            f"None of the {len(folds)} folds has examples of all classes to train on, and others to validate.",
            "Use fewer folds, or stratified ones.",
        )
    return found


def uses_groups(estimator: Any) -> bool:
    """Whether the `fit` of an estimator accepts `groups`, and they have an effect on it as it is configured."""
    return has_fit_parameter(estimator, "groups") and bool(getattr(estimator, "_holds_out", True))


def groups_if_used(routing: Any, used: bool) -> Any:
    """Return a metadata request in which `groups` are not requested by default if they have no effect."""
    if not used and routing.fit.requests.get("groups") is True:
        routing.fit.add_request(param="groups", alias=False)
    return routing


def check_groups(groups: Any, n_rows: int) -> Array:
    """Return the number of the group of each row."""
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise InputError(f"groups has shape {given.shape}, but X has {n_rows} rows.", "Name a group for each row.")
    if any(cell is None or cell != cell for cell in given.tolist()):
        raise InputError("groups has missing values.", "Give each row that belongs to no other a group of its own.")
    try:
        return np.asarray(np.unique(given, return_inverse=True)[1])
    except TypeError:  # names of different types
        return np.asarray(
            np.unique([f"{type(cell).__name__} {cell!r}" for cell in given.tolist()], return_inverse=True)[1]
        )
