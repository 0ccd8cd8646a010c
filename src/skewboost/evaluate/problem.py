"""What all fits of an evaluation share: the data, the classification problem, and the folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from skewboost.engine.table import sliceable, take_rows
from skewboost.errors import InputError
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.inputs import class_shares
from skewboost.metrics.targets import check_labels, check_sample_weight, choose_positive, classes_of
from skewboost.parameters import check_arguments, integer
from skewboost.typing import Array

Split = tuple[Array, Array]


@dataclass(frozen=True)
class Sample:
    """Rows with labels and, if there are any, weights."""

    X: Any
    y: Array
    weights: Array | None

    def part(self, rows: Array) -> Sample:
        """Return the rows of these numbers; a row may be taken several times."""
        return Sample(take_rows(self.X, rows), self.y[rows], None if self.weights is None else self.weights[rows])

    @property
    def examples(self) -> Array:
        """The number of examples that each row stands for."""
        return np.ones(len(self.y)) if self.weights is None else self.weights


def read_sample(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Sample:
    """Check rows, labels and weights; error messages about labels name the estimator."""
    X = sliceable(X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    labels = check_labels(estimator, y, n_rows)
    return Sample(X, labels, None if sample_weight is None else check_sample_weight(sample_weight, n_rows))


@dataclass(frozen=True)
class Problem:
    """The classes, the positive one, and what mistakes cost."""

    classes: Array  # sorted
    pos_label: Any  # None with more than two classes
    matrix: Array  # cost[true, predicted] with the classes in sorted order

    @property
    def binary(self) -> bool:
        """Whether there are two classes."""
        return len(self.classes) == 2

    @property
    def neg_label(self) -> Any:
        """The negative class, if there are two classes."""
        return self.classes[self.classes != self.pos_label][0]

    @property
    def negative_first(self) -> Array:
        """The cost matrix with the negative class first, as `Counts` needs it."""
        return self.matrix if self.pos_label == self.classes[1] else self.matrix[::-1, ::-1]

    def codes(self, labels: Any) -> Array:
        """Return the number of the class of each label."""
        return np.searchsorted(self.classes, np.asarray(labels))


def problem_of(owner: Any, y: Array, weights: Array | None, cost: Any, pos_label: Any = None) -> Problem:
    """Return the classes of all rows, the positive one, and the cost matrix, checked.

    With `cost` None or "balanced", costs are inversely proportional to the class frequencies of all rows.
    """
    present = y if weights is None else y[weights > 0]
    classes = classes_of(owner, present)
    positive = None
    if len(classes) == 2:
        positive = choose_positive(y, classes, pos_label, weights)
    elif pos_label is not None:
        raise InputError(f"pos_label={pos_label!r} has no effect: y has {len(classes)} classes.", "Leave it at None.")
    used_weights = None if weights is None else weights[weights > 0]
    frequencies = class_shares(present, classes, used_weights)
    return Problem(classes, positive, cost_matrix(cost, classes, positive, frequencies))


def repeated_folds(
    cv: Any, y: Array, repeats: int = 1, random_state: Any = None, *, weights: Array | None = None, X: Any = None
) -> list[Split]:
    """Return the row numbers of the training and the test part of each fold.

    A number `cv` means that many stratified and shuffled folds, drawn anew in each repeat; other values of `cv` are
    used as they are, and splitters get `X`. The folds of a repeat follow each other. Rows of weight 0 are in no fold.
    """
    check_arguments(repeats=(repeats, integer(1)))
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        return _stratified(int(cv), y, int(repeats), random_state, weights)
    if repeats > 1:
        raise InputError(
            f"repeats={repeats} has no effect with cv={cv!r}, which is not a number of folds.",
            "Give cv as a number, or a splitter that repeats, such as RepeatedStratifiedKFold, with repeats=1.",
        )
    present = np.ones(len(y), dtype=np.bool_) if weights is None else weights > 0
    return [(train[present[train]], test[present[test]]) for train, test in _given(cv, y, X)]


def check_classes(folds: list[Split], y: Array, classes: Array) -> None:
    """Raise an error if a training part lacks a class, before anything is fitted."""
    for k, (train, _) in enumerate(folds):
        lacking = np.setdiff1d(classes, y[train]).tolist()
        if lacking:
            raise InputError(
                f"cv: the training rows of split {k} have no example of {lacking[0]!r}.",
                "Give a number of folds, which are stratified, or a splitter that keeps all classes in training.",
            )


def _stratified(cv: int, y: Array, repeats: int, random_state: Any, weights: Array | None) -> list[Split]:
    if cv < 2:
        raise InputError(f"cv={cv} must be 2 folds or more, a splitter, or a list of (train, test) row numbers.")
    present = np.arange(len(y)) if weights is None else np.flatnonzero(weights > 0)
    classes, counts = np.unique(y[present], return_counts=True)
    if counts.min() < cv:
        fewest, rarest = int(counts.min()), classes.tolist()[int(counts.argmin())]
        remedy = f"Set cv to {fewest} or fewer." if fewest > 1 else "Add rows of it."
        raise InputError(f"cv={cv} folds need {cv} rows of each class, but {rarest!r} has only {fewest}.", remedy)
    rng = check_random_state(random_state)
    folds = []
    for _ in range(repeats):
        splitter = StratifiedKFold(cv, shuffle=True, random_state=rng.randint(2**31 - 1))
        folds += [(present[train], present[test]) for train, test in splitter.split(present, y[present])]
    return folds


def _given(cv: Any, y: Array, X: Any) -> list[Split]:
    try:
        pairs = list(cv.split(np.zeros(len(y)) if X is None else X, y) if hasattr(cv, "split") else cv)
        found = [(np.asarray(train), np.asarray(test)) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"cv={cv!r} gives no splits ({error}).",
            "Give a number of folds, a scikit-learn splitter, or a list of (train, test) row numbers. For rows with "
            "groups: list(splitter.split(X, y, groups)).",
        ) from error
    if not found:
        raise InputError("cv holds no splits.", "Give a number of folds, a splitter, or a list of (train, test).")
    numbered = [(_numbers(train, len(y)), _numbers(test, len(y))) for train, test in found]
    for k, (train, test) in enumerate(numbered):
        both = np.intersect1d(train, test)
        if len(both):
            raise InputError(
                f"cv: split {k} trains on {len(both)} of the rows that it tests, row {both[0]} among them, so its "
                "results would be too optimistic.",
                "Give (train, test) without rows in common.",
            )
    return numbered


def _numbers(rows: Array, n_rows: int) -> Array:
    """Return row numbers, also for a mask."""
    if rows.dtype == np.bool_ and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n_rows:
        raise InputError(f"A split of cv must hold row numbers from 0 to {n_rows - 1}, or be a mask; got {rows!r}.")
    return rows
