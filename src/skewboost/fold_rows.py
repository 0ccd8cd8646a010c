"""Folds that do not depend on the order of the rows, and keep groups together."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from skewboost.errors import InputError
from skewboost.typing import Array

Fold = tuple[Array, Array]  # the numbers of the training and the validation rows


def stratified_folds(classes: Array, units: Array, n_folds: int, rng: np.random.Generator) -> Array:
    """Return the fold of each row. Units stay together, and each class is spread evenly over the folds.

    Rows are in an order that depends on their contents only, and so do the folds.
    """
    n_units = int(units.max()) + 1
    counts = np.zeros((n_units, int(classes.max()) + 1))
    np.add.at(counts, (units, classes), 1.0)
    # the rarest class first, large units before small ones, in random order otherwise
    rarest = np.argsort(counts.sum(axis=0), kind="stable")
    shuffled = rng.permutation(n_units)
    if len(units) == n_units:  # single rows: deal them out class by class
        of_unit = np.empty(n_units, dtype=np.int64)
        of_row = np.empty(n_units, dtype=np.intp)
        of_row[units] = classes
        order = shuffled[np.argsort(np.argsort(rarest)[of_row[shuffled]], kind="stable")]
        of_unit[order] = np.arange(n_units) % n_folds
        return of_unit[units]
    return _dealt(counts, shuffled, rarest, n_folds)[units]


def _dealt(counts: Array, shuffled: Array, rarest: Array, n_folds: int) -> Array:
    """Deal units to folds, the one that has least of the rare classes first."""
    order = shuffled[np.lexsort([-counts[shuffled, k] for k in rarest[::-1]])]
    in_fold, of_unit = np.zeros((n_folds, counts.shape[1])), np.empty(len(counts), dtype=np.int64)
    for unit in order:
        present = [k for k in rarest if counts[unit, k]]
        fold = min(range(n_folds), key=lambda f: ([in_fold[f, k] for k in present], in_fold[f].sum(), f))
        of_unit[unit] = fold
        in_fold[fold] += counts[unit]
    return of_unit


def own_folds(classes: Array, units: Array, n_folds: int, n_repeats: int, seed: int) -> list[Fold] | None:
    """Return stratified folds, several times over; None if there are too few examples of a class, or units."""
    n_folds = min(n_folds, int(units.max()) + 1)
    if n_folds < 2:
        return None
    drawn = [stratified_folds(classes, units, n_folds, np.random.default_rng([seed, k])) for k in range(n_repeats)]
    return [(np.flatnonzero(of != f), np.flatnonzero(of == f)) for of in drawn for f in range(n_folds)]


def given_folds(cv: Any, labels: Array, groups: Array | None) -> list[Fold]:
    """Return the folds of a splitter, or of an iterable of (training, validation) rows."""
    folds = check_cv(cv, labels, classifier=True).split(np.zeros(len(labels)), labels, groups)
    return [(np.asarray(training), np.asarray(validation)) for training, validation in folds]


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
            f"None of the {len(folds)} folds of cv has examples of all classes to train on, and others to validate.",
            "Use fewer folds, or stratified ones.",
        )
    return found


def check_groups(groups: Any, n_rows: int) -> Array:
    """Return the number of the group of each row."""
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise InputError(f"groups has shape {given.shape}, but X has {n_rows} rows.", "Name a group for each row.")
    return np.asarray(np.unique(given, return_inverse=True)[1])
