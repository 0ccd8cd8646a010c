"""What all fits of an evaluation share: the data, the classification problem, and the folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from skewboost.engine.table import sliceable, take_rows
from skewboost.errors import InputError
from skewboost.fold_rows import check_groups, given_folds, stratified_folds
from skewboost.meta.inner_labels import with_pos_label
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.inputs import class_shares
from skewboost.metrics.targets import check_labels, check_sample_weight, choose_positive, classes_of
from skewboost.parameters import check_arguments, check_random_state, integer
from skewboost.typing import Array

Split = tuple[Array, Array]


@dataclass(frozen=True)
class Sample:
    """Rows with labels and, if there are any, weights and groups."""

    X: Any
    y: Array
    weights: Array | None
    groups: Array | None = None  # the number of the group of each row

    def part(self, rows: Array) -> Sample:
        """Return the rows of these numbers; a row may be taken several times."""
        weights, groups = (None if each is None else each[rows] for each in (self.weights, self.groups))
        return Sample(take_rows(self.X, rows), self.y[rows], weights, groups)

    @property
    def examples(self) -> Array:
        """The number of examples that each row stands for."""
        return np.ones(len(self.y)) if self.weights is None else self.weights


def read_sample(estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Sample:
    """Check rows, labels, weights and groups; error messages about labels name the estimator."""
    X = sliceable(X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    labels = check_labels(estimator, y, n_rows)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, n_rows)
    return Sample(X, labels, weights, None if groups is None else check_groups(groups, n_rows))


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

    def copy_of(self, estimator: Any) -> Any:
        """Return a copy of an estimator with this positive class in all its parts that have none."""
        return with_pos_label(estimator, self.classes, self.pos_label)

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
    cv: Any,
    y: Array,
    repeats: int = 1,
    random_state: Any = None,
    *,
    weights: Array | None = None,
    X: Any = None,
    groups: Array | None = None,
) -> list[Split]:
    """Return the row numbers of the training and the test part of each fold.

    A number `cv` means that many stratified and shuffled folds of whole groups, drawn anew in each repeat; other values
    of `cv` are used as they are, and splitters get `X` and `groups`. The folds of a repeat follow each other. Rows of
    weight 0 are in no fold.
    """
    check_arguments(repeats=(repeats, integer(1)))
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        return _stratified(int(cv), y, int(repeats), random_state, weights, groups)
    if repeats > 1:
        raise InputError(
            f"repeats={repeats} has no effect with cv={cv!r}, which is not a number of folds.",
            "Give cv as a number, or a splitter that repeats, such as RepeatedStratifiedKFold, with repeats=1.",
        )
    present = np.ones(len(y), dtype=np.bool_) if weights is None else weights > 0
    remedy = "Pass groups as well."
    given = given_folds(cv, y, groups, X=X, missing_groups=remedy)
    return [(train[present[train]], test[present[test]]) for train, test in given]


def in_order(folds: Sequence[Split]) -> bool:
    """Whether all training rows of several folds come before their test rows, as those of ``TimeSeriesSplit`` do."""
    return len(folds) > 1 and all(train.max() < test.min() for train, test in folds if len(train) and len(test))


def check_classes(folds: list[Split], y: Array, classes: Array) -> None:
    """Raise an error if a training part lacks a class, before anything is fitted."""
    for k, (train, _) in enumerate(folds):
        lacking = np.setdiff1d(classes, y[train]).tolist()
        if lacking:
            raise InputError(
                f"cv: the training rows of split {k} have no example of {lacking[0]!r}.",
                "Give a number of folds, which are stratified, or a splitter that keeps all classes in training.",
            )


def _stratified(
    cv: int, y: Array, repeats: int, random_state: Any, weights: Array | None, groups: Array | None
) -> list[Split]:
    if cv < 2:
        raise InputError(f"cv={cv} must be 2 folds or more, a splitter, or a list of (train, test) row numbers.")
    present = np.arange(len(y)) if weights is None else np.flatnonzero(weights > 0)
    labels, units = y[present], None if groups is None else groups[present]
    fewest, rarest = fewest_of_a_class(labels, units)
    if fewest < cv:
        what = "rows of each class" if units is None else "groups with each class"
        has = f"{rarest!r} has only {fewest}" if units is None else f"{rarest!r} is in only {fewest}"
        remedy = f"Set cv to {fewest} or fewer." if fewest > 1 else "Add rows of it."
        raise InputError(f"cv={cv} folds need {cv} {what}, but {has}.", remedy)
    rng = check_random_state(random_state)
    folds = []
    for _ in range(repeats):
        seed = rng.randint(2**31 - 1)
        folds += [(present[train], present[test]) for train, test in shuffled_folds(labels, units, cv, seed)]
    return folds


def fewest_of_a_class(y: Array, groups: Array | None) -> tuple[int, Any]:
    """Return the number of rows of the rarest class, or of groups with the class that is in fewest, and the class."""
    classes, codes = np.unique(y, return_inverse=True)
    if groups is not None:  # a class once for every group
        n_groups = int(groups.max()) + 1
        codes = np.unique(codes * n_groups + groups) // n_groups
    counts = np.bincount(codes)
    return int(counts.min()), classes.tolist()[int(counts.argmin())]


def shuffled_folds(y: Array, groups: Array | None, n_folds: int, seed: int) -> list[Split]:
    """Return stratified folds; groups, if there are any, are not divided."""
    if groups is None:
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y))
    codes, units = (np.unique(each, return_inverse=True)[1] for each in (y, groups))
    fold = stratified_folds(codes, units, n_folds, np.random.default_rng(seed))
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
