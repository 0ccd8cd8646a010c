"""The rows of a goal search: labels, weights, independent units, and what else `fit` was given for each row.

Copies of a row are no further evidence, and a model that was fitted to one of them has seen the others. So equal rows
form one *unit*, as do the rows of a group that the user names. Units are held out, and assigned to folds, as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from skewboost.boosting.estimator import BaseBooster
from skewboost.engine.computed import ComputedTable
from skewboost.engine.row_hash import exact_bits, row_hashes
from skewboost.engine.table import PreparedTable, as_frame, sliceable, take_rows
from skewboost.errors import InputError
from skewboost.fold_rows import check_groups
from skewboost.meta.cost_passing import take_params
from skewboost.metrics.targets import check_labels, check_sample_weight
from skewboost.typing import Array

ROWS, GROUPS = "rows", "groups"  # what the independent units are
AT_RANDOM, LATEST, BY_MASK = "at random", "the latest", "by a mask"  # how units are chosen to be held out


class RepeatedRowsWarning(UserWarning):
    """Some rows of X are equal and are treated as copies: `n_copies` of `n_rows` repeat another row."""

    def __init__(self, message: str, n_copies: int = 0, n_rows: int = 0) -> None:  # unpickled by the message alone
        super().__init__(message)
        self.n_copies = n_copies
        self.n_rows = n_rows


@dataclass
class SearchRows:
    """Some of the user's rows."""

    X: Any
    y: Array
    units: Array  # the number of the independent unit of each row
    params: dict[str, Any] = field(default_factory=dict)  # further arguments of `fit`
    held_out: Array | None = None  # the rows that the user wants held out
    counted: bool = False  # whether weights count independent examples
    are: str = ROWS  # what the units are, in words
    chosen: str = AT_RANDOM  # how those were chosen that are held out

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


@dataclass(frozen=True)
class Units:
    """The independent units of some rows."""

    of_row: Array  # the number of the unit of each row
    examples: Array  # the number of examples of each unit: 1, unless weights are counts
    has: Array  # of shape (2, n_units): whether a unit has negatives, and positives

    @classmethod
    def of(cls, rows: SearchRows, positive: Array) -> Units:
        """Return the units of rows, given which rows are positive."""
        _, of_row = np.unique(rows.units, return_inverse=True)
        n = int(of_row.max()) + 1
        has = np.array([np.bincount(of_row, positive == k, n) > 0 for k in (False, True)])
        examples = np.ones(n, dtype=np.int64)
        if rows.counted and rows.weights is not None:
            examples = np.round(rows.weights).astype(np.int64)
        return cls(of_row, examples, has)

    @property
    def pure(self) -> bool:
        """Whether no unit has rows of both classes."""
        return not self.has.all(axis=0).any()

    def total_weight(self, weights: Array | None, selected: Array | None = None) -> Array:
        """Return the total weight of each unit, or of its selected rows."""
        each = np.ones(len(self.of_row)) if weights is None else weights
        return np.bincount(self.of_row, each if selected is None else each * selected, len(self.examples))


def read_rows(search: Any, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> tuple[SearchRows, int]:
    """Check what was passed to ``GoalSearchCV.fit``; `search` is that estimator.

    Returns the rows, without those of weight 0, and the number of rows that are treated as copies of others.
    """
    X = sliceable(X)
    labels = check_labels(search, y, X.shape[0])
    counted = search.weights == "counts"
    mask = _held_out(search.holdout, len(labels))
    units, n_copies = _units(search.weights, X, groups)
    are = GROUPS if groups is not None else f"distinct {ROWS}" if n_copies else ROWS
    rows = SearchRows(X, labels, units, params, mask, counted, are)
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


def equal_rows(X: Any) -> Array:
    """Number the rows of a table; rows whose cells are all equal, missing ones included, get the same number.

    The numbers depend on the contents of the rows only, not on their order or on the type of the table.
    """
    key: Array
    if issparse(X):
        key = exact_bits(_sparse_rows(X))
    elif 0 in getattr(X, "shape", ()):
        return np.arange(len(X))  # there are no cells that could be equal
    else:
        key = row_hashes(map(exact_bits, _columns(X)), np.zeros(len(X)))
    return np.asarray(np.unique(key, return_inverse=True)[1])


def _columns(X: Any) -> Iterator[Array]:
    """Yield the columns of a table, or what they are computed from, with NaN or None where a cell is missing."""
    X = X.source if isinstance(X, ComputedTable) else X
    frame = as_frame(X, allow_series=True)
    if frame is None:
        yield from np.reshape(X, (len(X), -1)).T
        return
    for series in frame.iter_columns() if isinstance(frame, nw.DataFrame) else [frame]:
        if series.dtype.is_float() or (series.dtype.is_numeric() and not series.null_count()):
            yield series.to_numpy()
        else:
            missing = series.is_null().to_list()
            cells = [None if is_missing else cell for cell, is_missing in zip(series.to_list(), missing)]
            yield np.fromiter(cells, dtype=object, count=len(cells))


def _sparse_rows(X: Any) -> Iterator[bytes]:
    """Yield the positions and the values of the non-zero cells of each row of a sparse matrix."""
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    columns, cells = X.indices.astype(np.int64), exact_bits(X.data)
    for start, end in zip(X.indptr[:-1], X.indptr[1:]):
        yield columns[start:end].tobytes() + cells[start:end].tobytes()
