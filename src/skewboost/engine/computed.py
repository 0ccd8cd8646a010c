"""Tables whose columns are computed when they are read, such as the features of images.

A table of 7000 images and 50 000 features has 2.8 GB of numbers, but a model needs one byte of each in training, and at
most a few hundred of the columns to predict. So the engine reads a block of columns, bins it and forgets the numbers,
and it scores new rows by the columns that the model tests.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from skewboost.typing import Array

_CELLS = 1 << 19  # computed at a time: 4 MB of doubles
_STEP = 8  # the number of columns of a block is a multiple of this one, as the engine packs codes
_MOST = 1024  # columns of a block
PART = 1 << 11  # rows that are scored together, if what their columns are computed from is kept for them


class ComputedTable(ABC):
    """Rows of numbers whose columns are computed when somebody asks for them.

    The cells of a row depend on that row only, and all of them are finite. Whatever is not of this package sees an
    array: ``np.asarray`` computes all columns. Rows can be selected as those of an array can.
    """

    dtype = np.dtype(np.float64)
    ndim = 2
    part = PART  # rows that are scored together

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""

    @property
    @abstractmethod
    def source(self) -> Array:
        """What the cells of each row are computed from, ``[row, ...]``, by which goals tell copies of a row."""

    @abstractmethod
    def compute(self, features: Array) -> Array:
        """Return some columns as doubles, ``[row, feature]``, with the cells of each column side by side."""

    @abstractmethod
    def take(self, rows: Array) -> Self:
        """Return a table of the rows of these numbers."""

    def followed_by(self, others: Sequence[Any]) -> Self | None:
        """Return a table of these rows and those of others, or None if theirs are not computed in the same way."""
        return None

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Yield all columns, a block at a time: their numbers and their cells."""
        n_rows, n_features = self.shape
        step = min(max(_CELLS // max(n_rows, 1) // _STEP, 1) * _STEP, _MOST)
        for start in range(0, n_features, step):
            features = np.arange(start, min(start + step, n_features))
            yield features, self.compute(features)

    def parts(self, features: Array) -> Iterator[tuple[slice, Array]]:
        """Yield some columns, a part of the rows at a time: which rows, and their cells."""
        n_rows = len(self)
        step = min(max(_CELLS // max(len(features), 1), 1), self.part)
        if step >= n_rows:
            yield slice(0, n_rows), self.compute(features)
            return
        for start in range(0, n_rows, step):
            rows = slice(start, min(start + step, n_rows))
            yield rows, self.take(np.arange(n_rows)[rows]).compute(features)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n_rows, n_features = self.shape
        return f"<{type(self).__name__} of {n_rows} rows and {n_features} columns, computed when they are read>"

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, ...)
        numbers = np.arange(self.shape[0])[rows]
        if numbers.ndim == 1 and columns is ...:
            return self.take(numbers)
        features = np.arange(self.shape[1])[columns]
        cells = self.take(np.atleast_1d(numbers)).compute(np.atleast_1d(features))
        return cells.reshape(numbers.shape + features.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Compute all columns."""
        if copy is False:
            raise ValueError("The columns of this table are computed when they are read, so an array is a copy.")
        whole = np.empty(self.shape, self.dtype if dtype is None else dtype)
        for features, cells in self.blocks():
            whole[:, features[0] : features[-1] + 1] = cells
        return whole
