"""The classification problem that all folds share: classes, the positive one, and what mistakes cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.inputs import class_shares
from skewboost.metrics.targets import choose_positive, classes_of
from skewboost.typing import Array


@dataclass(frozen=True)
class Problem:
    """What is to be told apart, and what mistakes cost: the same for all folds."""

    classes: Array  # sorted
    pos_label: Any  # None where there are more than two classes
    matrix: Array  # cost[true, predicted] with the classes in sorted order

    @property
    def binary(self) -> bool:
        """Whether there are two classes."""
        return len(self.classes) == 2

    @property
    def negative_first(self) -> Array:
        """The costs with the negative class first, as `Counts` has them."""
        return self.matrix if self.pos_label == self.classes[1] else self.matrix[::-1, ::-1]

    def codes(self, labels: Any) -> Array:
        """The numbers of the classes."""
        return np.searchsorted(self.classes, np.asarray(labels))


def problem_of(owner: Any, y: Array, weights: Array | None, cost: Any, pos_label: Any = None) -> Problem:
    """The classes of all rows, which of them is positive, and the costs, checked.

    `cost` is as everywhere: None and "balanced" even the classes out by their shares among all rows.
    """
    present = y if weights is None else y[weights > 0]
    classes = classes_of(owner, present)
    positive = None
    if len(classes) == 2:
        positive = choose_positive(y, classes, pos_label, weights)
    elif pos_label is not None:
        raise InputError(f"pos_label={pos_label!r} has no effect: y has {len(classes)} classes. Leave it at None.")
    kept = None if weights is None else weights[weights > 0]
    return Problem(classes, positive, cost_matrix(cost, classes, positive, class_shares(present, classes, kept)))
