"""Independent units: which rows belong together.

Copies of a row are no further evidence, and a model that was fitted to one of them has seen the others. So equal rows
form one *unit*, as do the rows of a group that the user names. Units are held out, and assigned to folds, as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from skewboost.engine.row_hash import exact_bits, row_hashes
from skewboost.engine.table import as_frame, sliceable
from skewboost.errors import InputError
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.goals.rows import SearchRows


class RepeatedRowsWarning(UserWarning):
    """Some rows of X are equal and are treated as copies: `n_copies` of `n_rows` repeat another row."""

    def __init__(self, message: str, n_copies: int = 0, n_rows: int = 0) -> None:  # unpickled by the message alone
        super().__init__(message)
        self.n_copies = n_copies
        self.n_rows = n_rows


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


def check_groups(groups: Any, n_rows: int) -> Array:
    """Return the number of the group of each row."""
    groups = sliceable(groups)
    if getattr(groups, "ndim", 1) != 1 or len(groups) != n_rows:
        raise InputError(f"groups has {len(groups)} entries, but X has {n_rows} rows.", "Name a group for each row.")
    (cells,) = _columns(groups)
    if any(cell is None or cell != cell for cell in cells.tolist()):
        raise InputError("groups has missing values.", "Give each row that belongs to no other a group of its own.")
    try:
        return np.asarray(np.unique(cells, return_inverse=True)[1])  # in the order in which splitters see them
    except TypeError:
        return equal_rows(groups)


def equal_rows(X: Any) -> Array:
    """Number the rows of a table; rows whose cells are all equal, missing ones included, get the same number."""
    key: Array
    if issparse(X):
        key = exact_bits(_sparse_rows(X))
    elif 0 in getattr(X, "shape", ()):
        return np.arange(len(X))  # there are no cells that could be equal
    else:
        key = row_hashes(map(exact_bits, _columns(X)), np.zeros(len(X)))
    return np.asarray(np.unique(key, return_inverse=True)[1])


def _columns(X: Any) -> Iterator[Array]:
    """Yield the columns of a table, with NaN or None where a cell is missing."""
    frame = as_frame(X, allow_series=True)
    if frame is None:
        yield from np.reshape(X, (len(X), -1)).T
        return
    for series in frame.iter_columns() if isinstance(frame, nw.DataFrame) else [frame]:
        if series.dtype.is_numeric() and not series.null_count():
            yield series.to_numpy()
        else:
            missing = series.is_null().to_list()
            cells = [None if is_missing else cell for cell, is_missing in zip(series.to_list(), missing)]
            yield np.fromiter(cells, dtype=object, count=len(cells))


def _sparse_rows(X: Any) -> Iterator[tuple[bytes, bytes]]:
    """Yield the positions and the values of the non-zero cells of each row of a sparse matrix."""
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    for start, end in zip(X.indptr[:-1], X.indptr[1:]):
        yield X.indices[start:end].tobytes(), X.data[start:end].tobytes()
