"""The data and the classification problem that all fits of an evaluation share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.engine.table import sliceable, take_rows
from skewboost.errors import InputError
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.inputs import class_shares
from skewboost.metrics.targets import check_labels, check_sample_weight, choose_positive, classes_of
from skewboost.typing import Array


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
