"""The rows of a goal search: labels, weights, independent units, and what else `fit` was given for each row.

Copies of a row are no further evidence, and a model that was fitted to one of them has seen the others. So they form
one *unit* that counts once, unless equal rows are equal by chance (`engine/units.py`). The rows of a group that the
user names form a unit, too. Units are held out, and assigned to folds, as a whole.
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
from skewboost.engine.row_hash import bits_of
from skewboost.engine.table import PreparedTable, as_frame, sliceable, take_rows
from skewboost.engine.units import Columns, equal_rows, units_of
from skewboost.errors import InputError
from skewboost.fold_rows import check_groups, numbers_rows
from skewboost.meta.cost_passing import take_params
from skewboost.metrics.targets import check_labels, check_sample_weight
from skewboost.names import in_short
from skewboost.typing import Array

ROWS, GROUPS = "rows", "groups"  # what the independent units are
AT_RANDOM, LATEST, BY_MASK = "at random", "the latest", "by a mask"  # how units are chosen to be held out


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
    share: Array | None = None  # of copies of a row: what each is of all of them
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
        held_out, share = (None if own is None else own[rows] for own in (self.held_out, self.share))
        return replace(
            self,
            X=take_rows(self.X, rows),
            y=self.y[rows],
            units=self.units[rows],
            params=params,
            held_out=held_out,
            share=share,
        )

    def prepared(self, estimator: Any) -> SearchRows:
        """Return the rows binned once for all fits of a skewboost booster; other estimators get them unchanged."""
        return replace(self, X=PreparedTable(estimator, self.X)) if isinstance(estimator, BaseBooster) else self

    @property
    def weights(self) -> Array | None:
        """How much each row counts, or the number of examples that it stands for; copies of a row count once."""
        weights = self.params.get("sample_weight")
        if weights is None:
            return self.share
        weights = np.asarray(weights, dtype=np.float64)
        return weights if self.share is None else weights * self.share


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
    n_rows = X.shape[0]
    labels = check_labels(search, y, n_rows)
    counted = search.weights == "counts"
    if counted and groups is not None:
        raise InputError(
            "groups says that rows belong together, but weights='counts' says that all are independent.",
            "Drop one of them.",
        )
    units = np.arange(n_rows) if groups is None else check_groups(groups, n_rows)
    are = ROWS if groups is None else GROUPS
    rows = SearchRows(X, labels, units, params, _held_out(search.holdout, n_rows), counted, are)
    given = params.get("sample_weight")
    if given is not None and not (weights := check_sample_weight(given, n_rows)).all():
        if numbers_rows(search.cv):
            raise InputError(
                f"cv={in_short(search.cv)} numbers all rows, but those of sample_weight 0 are left out.",
                "Leave them out of X and of cv, too, or pass a number of folds or a splitter that divides any rows.",
            )
        rows = rows.take(np.flatnonzero(weights))
        if len(np.unique(rows.y)) < len(np.unique(labels)):
            raise InputError(
                "sample_weight is 0 for all rows of a class.", "Drop the class, or give some of its rows a weight."
            )
    if counted and rows.weights is not None and (rows.weights != np.round(rows.weights)).any():
        raise InputError(
            "sample_weight has fractions, but weights='counts' says that it counts examples.",
            "Give whole numbers, or leave weights at 'importance'.",
        )
    return (rows, 0) if counted or groups is not None else _with_copies(rows)


def _with_copies(rows: SearchRows) -> tuple[SearchRows, int]:
    """Return the rows with copies as units that count once, and how many rows are copies of others."""
    units = independent_rows(rows.X)
    n_copies = len(units) - len(np.unique(units))
    if not n_copies:
        return rows, 0
    return replace(rows, units=units, are=f"distinct {ROWS}", share=1.0 / np.bincount(units)[units]), n_copies


def independent_rows(X: Any) -> Array:
    """Return the number of the unit of each row of a table: copies of a row are one."""
    columns = columns_of(X)
    return units_of(columns, equal_rows(columns, X.shape[0]))


def in_order_of_contents(rows: SearchRows) -> Array:
    """Number the rows by their contents, whatever their order."""
    contents = equal_rows(columns_of(rows.X), len(rows.y))
    numbers = np.empty(len(contents), dtype=np.intp)
    numbers[np.lexsort((np.unique(rows.y, return_inverse=True)[1], contents))] = np.arange(len(contents))
    return numbers


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


def columns_of(X: Any) -> Columns:
    """Return a function that yields the columns of a table; the rows of a sparse matrix are one column."""
    if issparse(X):
        return lambda: [bits_of(_sparse_rows(X))]
    return lambda: _columns(X)


def _columns(X: Any) -> Iterator[Array]:
    """Yield the columns of a table, or what they are computed from, with NaN or None where a cell is missing."""
    X = X.source if isinstance(X, ComputedTable) else X
    frame = as_frame(X, allow_series=True)
    if frame is None:
        if X.shape[1:] != (0,):
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
    columns, cells = X.indices.astype(np.int64), bits_of(X.data)
    for start, end in zip(X.indptr[:-1], X.indptr[1:]):
        yield columns[start:end].tobytes() + cells[start:end].tobytes()
