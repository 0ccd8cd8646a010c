"""What is independent in the user's rows: the rows, groups of them, or examples that a row counts.

Copies of a row are no further evidence, and a model that was fitted to one of them knows the others. So equal rows are
one *unit*, like the rows of a group that the user names, and units are held out, and put into folds, as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from skewboost.engine.row_hash import row_hashes
from skewboost.engine.table import as_frame, sliceable
from skewboost.errors import InputError
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.goals.trials import Rows


class RepeatedRowsWarning(UserWarning):
    """Rows of X are equal, and are taken for copies of each other: `n_copies` of `n_rows` repeat others."""

    def __init__(self, message: str, n_copies: int = 0, n_rows: int = 0) -> None:  # unpickled by the message alone
        super().__init__(message)
        self.n_copies = n_copies
        self.n_rows = n_rows


@dataclass(frozen=True)
class Units:
    """The independent units of some rows."""

    of_row: Array  # the number of the unit that a row belongs to
    examples: Array  # how many examples each unit stands for: 1, unless weights are counts
    has: Array  # of shape (2, n_units): whether there are negatives in it, and positives

    @classmethod
    def of(cls, rows: Rows, positive: Array) -> Units:
        """Those of rows of which some are positive."""
        _, of_row = np.unique(rows.units, return_inverse=True)
        n = int(of_row.max()) + 1
        has = np.array([np.bincount(of_row, positive == k, n) > 0 for k in (False, True)])
        examples = np.ones(n, dtype=np.int64)
        if rows.counted and rows.weights is not None:
            examples = np.round(rows.weights).astype(np.int64)
        return cls(of_row, examples, has)

    @property
    def pure(self) -> bool:
        """Whether all rows of a unit are of one class."""
        return not self.has.all(axis=0).any()

    def mass(self, weights: Array | None, chosen: Array | None = None) -> Array:
        """The weight of each unit, or that of the chosen rows in it."""
        mass = np.ones(len(self.of_row)) if weights is None else weights
        return np.bincount(self.of_row, mass if chosen is None else mass * chosen, len(self.examples))


def check_groups(groups: Any, n_rows: int) -> Array:
    """The number of each row's group."""
    groups = sliceable(groups)
    if getattr(groups, "ndim", 1) != 1 or len(groups) != n_rows:
        raise InputError(f"groups has {len(groups)} entries, but X has {n_rows} rows. Name a group for each row.")
    (cells,) = _columns(groups)
    if any(cell is None or cell != cell for cell in cells.tolist()):
        raise InputError("groups has missing values. Give rows that belong to no others a group of their own.")
    try:
        return np.asarray(np.unique(cells, return_inverse=True)[1])  # in the order that splitters find them in
    except TypeError:
        return equal_rows(groups)


def equal_rows(X: Any) -> Array:
    """A number for each row of a table: the same for rows whose cells are all equal, missing ones included."""
    key: Array
    if issparse(X):
        key = _codes(_sparse_rows(X))
    elif 0 in getattr(X, "shape", ()):
        return np.arange(len(X))  # there are no cells that could be equal
    else:
        key = row_hashes(map(_codes, _columns(X)), np.zeros(len(X)))
    return np.asarray(np.unique(key, return_inverse=True)[1])


def _columns(X: Any) -> Iterator[Array]:
    """The cells of a table, column by column, with NaN or None where one is missing."""
    frame = as_frame(X, allow_series=True)
    if frame is None:
        yield from np.reshape(X, (len(X), -1)).T
        return
    for series in frame.iter_columns() if isinstance(frame, nw.DataFrame) else [frame]:
        if series.dtype.is_numeric() and not series.null_count():
            yield series.to_numpy()
        else:
            missing = series.is_null().to_list()
            cells = [None if gone else cell for cell, gone in zip(series.to_list(), missing)]
            yield np.fromiter(cells, dtype=object, count=len(cells))


def _codes(cells: Array | Iterable[Any]) -> Array:
    """64 bits for each cell, the same for equal ones."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biu":
        return cells.astype(np.int64).view(np.uint64)
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        numbers = cells.astype(np.float64) + 0.0  # -0 is 0
        return np.where(numbers == numbers, numbers, np.nan).view(np.uint64)
    known: dict[Any, int] = {}
    cells = cells.tolist() if isinstance(cells, np.ndarray) else cells
    return np.array([known.setdefault(_hashable(cell), len(known)) for cell in cells], dtype=np.uint64)


def _hashable(cell: Any) -> Any:
    try:
        hash(cell)
    except TypeError:
        return repr(cell)
    return cell if cell == cell else None


def _sparse_rows(X: Any) -> Iterator[tuple[bytes, bytes]]:
    """What distinguishes a row of a sparse matrix: where it is not zero, and what is there."""
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    for start, end in zip(X.indptr[:-1], X.indptr[1:]):
        yield X.indices[start:end].tobytes(), X.data[start:end].tobytes()
