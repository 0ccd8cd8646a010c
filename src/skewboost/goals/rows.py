"""The rows of a goal search: labels, weights, independent units, and what else `fit` was given for each row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skewboost.boosting.estimator import BaseBooster
from skewboost.engine.table import PreparedTable, sliceable, take_rows
from skewboost.errors import InputError
from skewboost.goals.units import check_groups, equal_rows
from skewboost.meta.cost_passing import take_params
from skewboost.metrics.targets import check_labels, check_sample_weight
from skewboost.typing import Array


@dataclass
class SearchRows:
    """Some of the user's rows."""

    X: Any
    y: Array
    units: Array  # the number of the independent unit of each row
    params: dict[str, Any] = field(default_factory=dict)  # further arguments of `fit`
    held_out: Array | None = None  # the rows that the user wants held out
    counted: bool = False  # whether weights count independent examples

    def part(self, examples: Array) -> SearchRows:
        """Return rows by the number of examples of each: as weights where weights are counts, else 0 or 1."""
        present = np.flatnonzero(examples)
        rows = self.take(present)
        if self.counted and rows.weights is not None:
            rows.params["sample_weight"] = examples[present].astype(np.float64)
        return rows

    def take(self, rows: Array) -> SearchRows:
        """Return the rows of these numbers."""
        params = take_params(self.params, rows, len(self.y))
        held_out = None if self.held_out is None else self.held_out[rows]
        return replace(
            self, X=take_rows(self.X, rows), y=self.y[rows], units=self.units[rows], params=params, held_out=held_out
        )

    def prepared(self, estimator: Any) -> SearchRows:
        """Return the rows binned once for all fits of a skewboost booster; other estimators get them unchanged."""
        return replace(self, X=PreparedTable(estimator, self.X)) if isinstance(estimator, BaseBooster) else self

    @property
    def weights(self) -> Array | None:
        """The weight of each row, or the number of examples that it stands for."""
        weights = self.params.get("sample_weight")
        return None if weights is None else np.asarray(weights, dtype=np.float64)


def read_rows(search: Any, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> tuple[SearchRows, int]:
    """Check what was passed to ``GoalSearchCV.fit``; `search` is that estimator.

    Returns the rows, without those of weight 0, and the number of rows that are treated as copies of others.
    """
    X = sliceable(X)
    labels = check_labels(search, y, X.shape[0])
    counted = search.weights == "counts"
    mask = _held_out(search.holdout, len(labels))
    units, n_copies = _units(search.weights, X, groups)
    rows = SearchRows(X, labels, units, params, mask, counted)
    if rows.weights is not None and not check_sample_weight(rows.weights, len(labels)).all():
        rows = rows.take(np.flatnonzero(rows.weights))
        if len(np.unique(rows.y)) < len(np.unique(labels)):
            raise InputError(
                "sample_weight is 0 for all rows of a class.", "Drop the class, or give some of its rows a weight."
            )
    if counted and rows.weights is not None and (rows.weights != np.round(rows.weights)).any():
        raise InputError(
            "sample_weight has fractions, but weights='counts' says that it counts examples.",
            "Give whole numbers, or leave weights at 'importance'.",
        )
    return rows, n_copies


def _units(weights: str, X: Any, groups: Any) -> tuple[Array, int]:
    """Return the number of the independent unit of each row, and how many rows are copies of others."""
    n_rows = X.shape[0]
    if groups is not None:
        if weights == "counts":
            raise InputError(
                "groups says that rows belong together, but weights='counts' says that all are independent.",
                "Drop one of them.",
            )
        return check_groups(groups, n_rows), 0
    if weights == "counts":
        return np.arange(n_rows), 0
    units = equal_rows(X)
    n_copies = n_rows - (int(units.max()) + 1)
    return (units, n_copies) if n_copies else (np.arange(n_rows), 0)


def _held_out(holdout: Any, n_rows: int) -> Array | None:
    """Return the mask of the rows to hold out; None if `holdout` is not an array."""
    if np.ndim(holdout) == 0:
        return None
    mask: Array = np.asarray(holdout)
    if mask.dtype != np.bool_ or mask.shape != (n_rows,):
        raise InputError(
            f"holdout is an array of type {mask.dtype} and shape {mask.shape}, but X has {n_rows} rows.",
            "Give one boolean per row, True for those to hold out, or the proportion of rows to hold out.",
        )
    return mask
