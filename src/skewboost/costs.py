"""What mistakes cost: the shapes in which users say it, and the one in which rules see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from skewboost.engine.boundary import Array

REMEDY = (
    "Give a number (a miss costs so many false alarms), 'balanced', a dict {label: cost of getting it wrong}, or a 2 x "
    "2 matrix cost[true, predicted]."
)


@dataclass(frozen=True)
class Costs:
    """What it costs to get a row wrong: one number per class, and one per row where rows of a class differ."""

    negative: float = 1.0  # a false alarm; the mean where rows differ
    positive: float = 1.0  # a miss
    each: Array | None = None

    @property
    def of_class(self) -> Array:
        """The costs of both classes, the negative first."""
        return np.array([self.negative, self.positive])

    @property
    def ratio(self) -> float:
        """How many false alarms a miss costs."""
        return self.positive / self.negative

    def of_rows(self, positive: Array) -> Array:
        """One number per row."""
        return np.where(positive, self.positive, self.negative) if self.each is None else self.each

    def take(self, rows: Array) -> Costs:
        """The costs of some rows."""
        return self if self.each is None else replace(self, each=self.each[rows])

    def times(self, factor: float) -> Costs:
        """All costs multiplied."""
        each = None if self.each is None else self.each * factor
        return Costs(self.negative * factor, self.positive * factor, each)

    @property
    def largest(self) -> float:
        """The largest of all."""
        return max(self.negative, self.positive) if self.each is None else float(self.each.max())

    def up_to(self, largest: float) -> Costs:
        """In the same proportions, with this as the largest."""
        return self.times(largest / self.largest)

    def at_most_one(self) -> Costs:
        """As they are if none exceeds 1, else divided by the largest."""
        return self if self.largest <= 1.0 else self.up_to(1.0)


def check_cost(cost: Any, classes: Array) -> None:
    """Raise where a `cost` is none, or does not fit the classes."""
    if cost is None or (isinstance(cost, str) and cost == "balanced"):
        return
    two = len(classes) == 2
    if isinstance(cost, Real) and not isinstance(cost, bool):
        _check_positive("cost", float(cost))
        if not two:
            raise ValueError(
                f"cost={cost!r} says what a miss of the positive class costs, but y has {len(classes)} classes. "
                "Give {label: cost} for all of them, or 'balanced'."
            )
    elif isinstance(cost, Mapping):
        labels = classes.tolist()
        unknown, lacking = [k for k in cost if k not in labels], [k for k in labels if k not in cost]
        if unknown or lacking:
            raise ValueError(
                f"cost={dict(cost)!r} must have one entry for each class of y, which are {labels}; "
                + (f"it lacks {lacking}." if lacking else f"{unknown} are not among them.")
            )
        for label, value in cost.items():
            _check_positive(f"cost[{label!r}]", value)
    elif isinstance(cost, list | tuple) or hasattr(cost, "__array__"):
        _check_matrix(cost, classes)
    else:
        raise ValueError(f"cost={cost!r} is none of the ways to say it. {REMEDY}")


def _check_positive(name: str, value: Any) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 < float(value) < np.inf:
        raise ValueError(f"{name}={value!r} must be a finite number greater than 0. {REMEDY}")


def _check_matrix(cost: Any, classes: Array) -> None:
    try:
        matrix = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if len(classes) != 2:
        raise ValueError(
            f"cost is a matrix, but y has {len(classes)} classes. Give {{label: cost of getting it wrong}} for all of "
            "them; for a cost of each kind of mistake put MinimumRiskClassifier around this one."
        )
    if matrix.shape != (2, 2) or not np.isfinite(matrix).all():
        raise ValueError(f"cost={cost!r} must be a 2 x 2 matrix of finite numbers. {REMEDY}")
    if matrix[0, 1] <= matrix[0, 0] or matrix[1, 0] <= matrix[1, 1]:
        raise ValueError(
            f"cost={matrix.tolist()} makes a mistake no dearer than the right answer: cost[true, predicted] must be "
            "larger off the diagonal than on it, in each row."
        )


def check_sample_cost(sample_cost: Any, n_rows: int) -> Array:
    """Costs per row as clean numbers."""
    costs = check_array(sample_cost, ensure_2d=False, dtype=np.float64, input_name="sample_cost")
    if costs.ndim != 1 or len(costs) != n_rows:
        raise ValueError(f"sample_cost has shape {costs.shape}, but X has {n_rows} rows. Give one cost per row.")
    if not (costs > 0).all():
        raise ValueError(
            f"sample_cost has the entry {costs.min()}, but costs must be greater than 0. To leave a row out, give it "
            "the sample_weight 0."
        )
    return np.asarray(costs)


def costs_of(
    cost: Any, sample_cost: Array | None, labels: Array, positive_class: Any, classes: Array, weights: Array | None
) -> Costs:
    """The costs of two classes; everything has been checked."""
    positive = labels == positive_class
    if sample_cost is not None:
        return _of_rows(sample_cost, positive, weights)
    if cost is None or isinstance(cost, str):
        n_positive, n_negative = (
            float(side.sum() if weights is None else weights[side].sum()) for side in (positive, ~positive)
        )
        return Costs(1.0, n_negative / n_positive)
    if isinstance(cost, Real):
        return Costs(1.0, float(cost))
    if isinstance(cost, Mapping):
        first, second = (float(cost[label]) for label in classes.tolist())
        return Costs(first, second) if positive_class == classes[1] else Costs(second, first)
    matrix = np.asarray(cost, dtype=np.float64)
    p = int(classes[1] == positive_class)
    return Costs(matrix[1 - p, p] - matrix[1 - p, 1 - p], matrix[p, 1 - p] - matrix[p, p])


def class_costs(cost: Any, labels: Array, classes: Array, weights: Array | None) -> Array:
    """One number per class, in their order; everything has been checked. Balanced: 1 for the most frequent."""
    if isinstance(cost, Mapping):
        return np.array([float(cost[label]) for label in classes.tolist()])
    counts = np.bincount(np.searchsorted(classes, labels), weights, minlength=len(classes))
    return np.asarray(counts.max() / counts)


def _of_rows(each: Array, positive: Array, weights: Array | None) -> Costs:
    """Class costs where the rows of a class agree, else means and the costs of all rows."""
    sides = [each[~positive], each[positive]]
    if all((side == side[0]).all() for side in sides):
        return Costs(float(sides[0][0]), float(sides[1][0]))
    negative, positive_mean = (
        float(np.average(each[side], weights=None if weights is None else weights[side]))
        for side in (~positive, positive)
    )
    return Costs(negative, positive_mean, each)
