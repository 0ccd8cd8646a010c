"""Costs of mistakes: the forms in which users give them, and the form that boosting rules use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from scipy.optimize import linprog
from sklearn.utils.validation import check_array

from skewboost.errors import InputError, checked_by_scikit_learn
from skewboost.names import in_short
from skewboost.parameters import number
from skewboost.typing import Array

REMEDY = (
    "Give a number (the cost of a miss, in false alarms), 'balanced', a dict {label: cost of misclassifying it}, or a "
    "matrix cost[true, predicted]."
)

MOST_CLASSES = 300  # of a linear program, which takes 0.2 s for these and 20 s for 1000


@dataclass(frozen=True)
class Costs:
    """The cost of misclassifying a row: one number per class, and one per row if rows of a class differ."""

    negative: float = 1.0  # a false alarm; the mean where rows differ
    positive: float = 1.0  # a miss
    each: Array | None = None

    @cached_property
    def of_class(self) -> Array:
        """The costs of both classes, the negative one first."""
        return np.array([self.negative, self.positive])

    @property
    def ratio(self) -> float:
        """The cost of a miss, in false alarms."""
        return self.positive / self.negative

    @property
    def spread(self) -> float:
        """The largest cost divided by the smallest."""
        each = self.of_class if self.each is None else self.each
        return float(each.max() / each.min())

    def of_rows(self, positive: Array) -> Array:
        """Return one number per row."""
        return np.where(positive, self.positive, self.negative) if self.each is None else self.each

    def relative(self, y: Array, c: Array) -> Array:
        """Return the costs of rows relative to the mean of their class."""
        return np.asarray(c / np.where(y > 0, self.positive, self.negative))

    def take(self, rows: Array) -> Costs:
        """Return the costs of some rows."""
        return self if self.each is None else replace(self, each=self.each[rows])

    def times(self, factor: float) -> Costs:
        """Return all costs multiplied by a factor."""
        each = None if self.each is None else self.each * factor
        return Costs(self.negative * factor, self.positive * factor, each)

    @property
    def largest(self) -> float:
        """The largest cost."""
        return max(self.negative, self.positive) if self.each is None else float(self.each.max())

    def up_to(self, largest: float) -> Costs:
        """Return costs in the same proportions with this largest cost."""
        return self.times(largest / self.largest)

    def at_most_one(self) -> Costs:
        """Return the costs unchanged if none exceeds 1, else divided by the largest."""
        return self if self.largest <= 1.0 else self.up_to(1.0)


def check_cost(cost: Any, classes: Array, *, any_matrix: bool = False) -> None:
    """Raise an error if `cost` is not valid, or does not fit the classes.

    Boosters take one cost per class. `any_matrix` is for classifiers that decide by expected cost, which take any
    matrix.
    """
    if cost is None or (isinstance(cost, str) and cost == "balanced"):
        return
    if isinstance(cost, Real) and not isinstance(cost, bool):
        _check_positive("cost", cost)
        if len(classes) != 2:
            raise InputError(
                f"cost={cost!r} is the cost of missing the positive class, but y has {len(classes)} classes.",
                "Give {label: cost} for all of them, or 'balanced'.",
            )
    elif isinstance(cost, Mapping):
        labels = classes.tolist()
        unknown, lacking = [k for k in cost if k not in labels], [k for k in labels if k not in cost]
        if unknown or lacking:
            raise InputError(
                f"cost={dict(cost)!r} must have one entry for each class of y, which are {labels}; "
                + (f"it lacks {lacking}." if lacking else f"{unknown} are not among them.")
            )
        for label, value in cost.items():
            _check_positive(f"cost[{label!r}]", value)
    elif isinstance(cost, list | tuple) or hasattr(cost, "__array__"):
        matrix = _matrix(cost, classes)
        (_check_decisions if any_matrix else _check_mistakes)(matrix, classes)
    else:
        raise InputError(f"cost={cost!r} is not a valid cost.", REMEDY)


def _check_positive(name: str, value: Any) -> None:
    if not number(0, None, open_low=True).passes(value):
        raise InputError(f"{name}={in_short(value)} must be a finite number greater than 0.", REMEDY)


def _matrix(cost: Any, classes: Array) -> Array:
    """Return a matrix with the classes in sorted order; a data frame is reordered by its names."""
    labels, K = classes.tolist(), len(classes)
    if hasattr(cost, "index") and hasattr(cost, "columns"):
        rows, columns = list(cost.index), list(cost.columns)
        named = not rows == columns == list(range(K))  # a frame without names is numbered
        if named and not set(rows) == set(columns) == set(labels):
            raise InputError(
                f"cost is a table with the rows {rows} and the columns {columns}, but the classes of y are {labels}.",
                "Name both after the classes, or pass an array with the classes in that order.",
            )
        cost = cost.loc[labels, labels] if named else cost
    try:
        matrix = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        matrix = np.empty(0)
    if matrix.shape != (K, K) or not np.isfinite(matrix).all():
        raise InputError(
            f"cost={cost!r} must be a {K} x {K} matrix of finite numbers, because y has the classes {labels}.", REMEDY
        )
    return matrix


def _check_mistakes(matrix: Array, classes: Array) -> None:
    """Check a matrix that is reduced to one cost per class."""
    if len(classes) != 2:
        raise InputError(
            f"cost is a matrix, but y has {len(classes)} classes.",
            "Give {label: cost of misclassifying it} for all of them. For a cost of each kind of mistake use "
            "MinimumRiskClassifier(estimator, cost=matrix).",
        )
    if matrix[0, 1] <= matrix[0, 0] or matrix[1, 0] <= matrix[1, 1]:
        raise InputError(
            f"cost={matrix.tolist()} has a mistake that costs no more than the right decision.",
            "In each row, cost[true, predicted] must be larger off the diagonal than on it.",
        )


def _check_decisions(matrix: Array, classes: Array) -> None:
    """Check that the cheapest decision depends on the true class."""
    always = np.flatnonzero((matrix <= matrix.min(axis=1, keepdims=True)).all(axis=0))
    if len(always):
        raise InputError(
            f"cost={matrix.tolist()} makes {classes.tolist()[always[0]]!r} the cheapest decision for every true class.",
            "Rows are true classes and columns are decisions: cost[true, predicted].",
        )
    if len(classes) == 2:  # or mistakes would be cheaper than right decisions for both classes
        _check_mistakes(matrix, classes)


def cost_matrix(cost: Any, classes: Array, positive: Any, shares: Array) -> Array:
    """Return ``C[true, predicted]`` with the classes in sorted order from any form of costs, checked.

    A number is the cost of missing the class `positive`. `shares` are the proportions of the classes, to which
    "balanced" costs are inversely proportional, with the cost 1 for the most frequent class.
    """
    check_cost(cost, classes, any_matrix=True)
    wrong = 1.0 - np.eye(len(classes))
    if cost is None or isinstance(cost, str):
        return np.asarray(wrong * (shares.max() / shares)[:, None])
    if isinstance(cost, Real):
        return np.asarray(wrong * np.where(classes == positive, float(cost), 1.0)[:, None])
    if isinstance(cost, Mapping):
        return np.asarray(wrong * np.array([float(cost[label]) for label in classes.tolist()])[:, None])
    return _matrix(cost, classes)


@checked_by_scikit_learn()
def read_sample_cost(sample_cost: Any, n_rows: int) -> Array:
    """Return costs of rows as an array with an entry per row, of a shape that `check_sample_cost` checks."""
    costs: Array = check_array(sample_cost, ensure_2d=False, allow_nd=True, dtype=np.float64, input_name="sample_cost")
    if costs.shape[:1] != (n_rows,):
        raise InputError(f"sample_cost has shape {costs.shape}, but X has {n_rows} rows.", "Give one per row.")
    return costs


def check_sample_cost(costs: Array, K: int, n_rows: int) -> None:
    """Raise unless the costs of rows have one of the three shapes.

    One number per row is the cost of missing the positive class there; all other costs are those of `cost`. One number
    per row and class is the cost of misclassifying the row if it is of that class. A matrix ``[true, predicted]`` per
    row says all. They mean the same where classes are known (`fit`, measures) and where they are not (`predict`).
    """
    if costs.shape not in ((n_rows,), (n_rows, K), (n_rows, K, K)) or (costs.ndim == 1 and K > 2):
        miss = f"({n_rows},): the cost of a miss on each row; " if K == 2 else ""
        raise InputError(
            f"sample_cost has shape {costs.shape}, but X has {n_rows} rows and there are {K} classes.",
            f"Give the shape {miss}({n_rows}, {K}): the cost of misclassifying a row if it is of that class; or "
            f"({n_rows}, {K}, {K}): a matrix [true, predicted] for each row.",
        )
    if costs.ndim < 3 and (costs < 0).any():
        raise InputError(
            f"sample_cost has the negative entry {costs.min()}, but costs of mistakes must be >= 0.",
            f"If right decisions cost something too, give a matrix [true, predicted] for each row: shape ({n_rows}, "
            f"{K}, {K}).",
        )


@checked_by_scikit_learn()
def row_matrices(sample_cost: Any, others: Array, n_rows: int, positive: int | None) -> Array:
    """Return a matrix ``[true, predicted]`` for each row, see `check_sample_cost`.

    `others` has the costs that a number per row does not say: see `besides_misses`.
    """
    K = len(others)
    costs = check_array(sample_cost, ensure_2d=False, allow_nd=True, dtype=np.float64, input_name="sample_cost")
    check_sample_cost(costs, K, n_rows)
    if costs.ndim == 3:
        return np.asarray(costs)
    if costs.ndim == 2:
        return np.asarray(costs[:, :, None] * (1.0 - np.eye(K)))
    assert positive is not None
    rows = np.repeat(others[None], n_rows, axis=0)
    rows[:, positive, 1 - positive] = costs
    return rows


def besides_misses(cost: Any) -> Any:
    """Return the costs that rows have in common, each with its own cost of a miss: a false alarm costs 1, unless given.

    A number or "balanced" costs say what a miss costs in false alarms, a dict or matrix what a false alarm costs.
    """
    return 1.0 if cost is None or isinstance(cost, str | Real) else cost


def check_cost_of_fit(cost: Any, sample_cost: Any) -> None:
    """Raise if `cost` would have no effect on a fit with `sample_cost`."""
    if cost is None or (np.ndim(sample_cost) == 1 and besides_misses(cost) is cost):
        return
    remedy = "Leave one of them out."
    if np.ndim(sample_cost) == 1:
        remedy += " (With one number per row, cost may be a dict or a matrix, which says what a false alarm costs.)"
    raise InputError(f"cost={cost!r} has no effect with sample_cost.", remedy)


def costs_of_mistakes(costs: Array, cost: Any, labels: Array, classes: Array, positive: Any) -> Array:
    """Return what it costs to misclassify each row, whose class is known, from the costs of rows."""
    K, codes, rows = len(classes), np.searchsorted(classes, labels), np.arange(len(labels))
    check_sample_cost(costs, K, len(labels))
    if costs.ndim == 2:
        each = costs[rows, codes]
    elif costs.ndim == 3 and K > 2:
        raise InputError(
            f"sample_cost has a matrix for each row, but y has {K} classes.",
            f"Give the shape ({len(labels)}, {K}): the cost of misclassifying a row if it is of that class. For a cost "
            "of each kind of mistake use MinimumRiskClassifier(estimator).predict(X, sample_cost=...).",
        )
    elif costs.ndim == 3:
        each = costs[rows, codes, 1 - codes] - costs[rows, codes, codes]
    else:
        miss = classes.tolist().index(positive)
        matrix = cost_matrix(besides_misses(cost), classes, positive, np.ones(2))
        alarm = matrix[1 - miss, miss] - matrix[1 - miss, 1 - miss]
        each = np.where(codes == miss, costs - matrix[miss, miss], alarm)
    if not (each > 0).all():
        raise InputError(
            f"By sample_cost a mistake costs {each.min()} on a row, but it must cost more than the right decision.",
            "To leave a row out, give it the sample_weight 0.",
        )
    return np.asarray(each)


def mean_costs(costs: Array, cost: Any, labels: Array, classes: Array, positive: Any, weights: Array) -> Array:
    """Return the matrix of the mean costs of the rows of each true class."""
    K, shares = len(classes), np.ones(len(classes))
    check_sample_cost(costs, K, len(labels))
    of_class = [labels == label for label in classes.tolist()]
    if costs.ndim == 1:
        miss = classes.tolist().index(positive)
        matrix = cost_matrix(besides_misses(cost), classes, positive, shares).copy()
        matrix[miss, 1 - miss] = np.average(costs[of_class[miss]], weights=weights[of_class[miss]])
    else:
        means = [np.average(costs[of, k], axis=0, weights=weights[of]) for k, of in enumerate(of_class)]
        matrix = np.array(means) if costs.ndim == 3 else (1.0 - np.eye(K)) * np.array(means)[:, None]
    try:
        return cost_matrix(matrix, classes, positive, shares)
    except InputError as error:
        raise InputError(f"The means of sample_cost are no costs: {error.problem}", error.remedy) from error


def plain_cost(cost: Any) -> Any:
    """Return a cost as plain Python values, equal for equal costs whatever they are stored in."""
    if isinstance(cost, Mapping):
        return {plain_cost(label): plain_cost(cost[label]) for label in sorted(cost, key=repr)}
    try:
        numbers = None if cost is None or isinstance(cost, str) else np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None:
        return cost.item() if isinstance(cost, np.generic) else cost
    if numbers.ndim == 0:
        return int(numbers) if float(numbers).is_integer() else float(numbers)
    if hasattr(cost, "index") and hasattr(cost, "columns"):  # a table, whose rows and columns may be in any order
        rows, columns = (sorted(range(len(names)), key=names.__getitem__) for names in (cost.index, cost.columns))
        numbers = numbers[np.ix_(rows, columns)]
    return numbers.tolist()


def costs_of(
    cost: Any, sample_cost: Array | None, labels: Array, positive_class: Any, classes: Array, weights: Array | None
) -> Costs:
    """Return the costs of two classes, from checked inputs."""
    positive = labels == positive_class
    if sample_cost is not None:
        return _of_rows(sample_cost, positive, weights)
    if cost is None or isinstance(cost, str):
        n_positive, n_negative = (
            float(side.sum() if weights is None else weights[side].sum()) for side in (positive, ~positive)
        )
        return Costs(1.0, n_negative / n_positive)
    matrix = cost_matrix(cost, classes, positive_class, np.ones(2))
    p = int(classes[1] == positive_class)
    return Costs(float(matrix[1 - p, p] - matrix[1 - p, 1 - p]), float(matrix[p, 1 - p] - matrix[p, p]))


def class_costs(cost: Any, labels: Array, classes: Array, weights: Array | None) -> Array:
    """Return one number per class, in their order, from checked inputs; balanced: 1 for the most frequent class."""
    if isinstance(cost, Mapping):
        return np.array([float(cost[label]) for label in classes.tolist()])
    counts = np.bincount(np.searchsorted(classes, labels), weights, minlength=len(classes))
    return np.asarray(counts.max() / counts)


def _of_rows(each: Array, positive: Array, weights: Array | None) -> Costs:
    """Return class costs if the rows of a class agree, else their means and the costs of all rows."""
    sides = [each[~positive], each[positive]]
    if all((side == side[0]).all() for side in sides):
        return Costs(float(sides[0][0]), float(sides[1][0]))
    means = [np.average(each[s], weights=None if weights is None else weights[s]) for s in (~positive, positive)]
    return Costs(float(means[0]), float(means[1]), each)


def expected_costs(p: Array, costs: Array) -> Array:
    """Return the expected cost of each decision, ``Σ_j P(j|x) C[j, k]``, for one matrix or one per row.

    Terms are added in the order of the classes. The order of a matrix product depends on the library and the number of
    rows, so that decisions of equal cost could differ between a row alone, a row of many and an exported program.
    """
    found = np.zeros((len(p), costs.shape[-1]))
    for j in range(p.shape[1]):
        found += p[:, j, None] * costs[..., j, :]
    return found


def largest_least_cost(matrix: Array) -> float:
    """Return the largest expected cost that the best decision may have, whatever the probabilities.

    Of two classes it is where both decisions cost the same. Of many it is the value of a game, by a linear program;
    infinity if they are so many that this would take seconds.
    """
    if len(matrix) == 2:
        miss, alarm = matrix[1, 0] - matrix[1, 1], matrix[0, 1] - matrix[0, 0]
        return float((matrix[0, 1] * miss + matrix[1, 1] * alarm) / (miss + alarm))
    K, unit = len(matrix), float(np.abs(matrix).max())
    if K > MOST_CLASSES:
        return math.inf
    found = linprog(  # the unknowns are the probabilities and, last, the least cost, in units of the largest cost
        np.append(np.zeros(K), -1.0),
        A_ub=np.column_stack((-matrix.T / unit, np.ones(K))),
        b_ub=np.zeros(K),
        A_eq=np.append(np.ones(K), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * K + [(None, None)],
    )
    return math.inf if found.x is None else float(expected_costs(found.x[None, :K], matrix).min())
