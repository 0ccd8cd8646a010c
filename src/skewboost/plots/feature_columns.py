"""Columns of a table, and grids over some of them with all other features at typical values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from skewboost.engine.table import Nominal, as_frame, read_column, sliceable
from skewboost.errors import InputError
from skewboost.names import shortened, shown
from skewboost.typing import Array


class FeatureColumns:
    """The columns of an array or of a pandas, polars or Arrow table."""

    def __init__(self, X: Any) -> None:
        self.frame = as_frame(X)
        self.matrix: Array | None = None if self.frame is not None else np.asarray(sliceable(X), dtype=np.float64)
        self._columns: dict[int, Array | Nominal] = {}
        shape = self.matrix.shape if self.matrix is not None else self.frame.shape
        if len(shape) != 2 or not all(shape):
            raise InputError(f"X has shape {shape}, but a table with rows and columns is needed.")
        self.n_features = int(shape[1])

    @property
    def names(self) -> list[str]:
        """The names of the columns; x0, x1, … for arrays."""
        return [f"x{j}" for j in range(self.n_features)] if self.frame is None else list(self.frame.columns)

    def index(self, feature: Any, argument: str) -> int:
        """The index of a column that an argument gives by name or index."""
        if isinstance(feature, str) and feature in self.names:
            j = self.names.index(feature)
        elif isinstance(feature, int | np.integer) and -self.n_features <= feature < self.n_features:
            j = int(feature) % self.n_features
        else:
            known = ", ".join(map(repr, self.names[:8])) + (", …" if self.n_features > 8 else "")
            raise InputError(
                f"{argument}={feature!r} is not a column of X. Pass an index below {self.n_features} or one of {known}."
            )
        column = self.column(j)
        if (column.codes < 0).all() if isinstance(column, Nominal) else np.isnan(column).all():
            raise InputError(f"{argument}: column {self.names[j]!r} of X has no values. Choose another column.")
        return j

    def column(self, j: int) -> Array | Nominal:
        """A column as numbers or categories."""
        if j not in self._columns:
            self._columns[j] = read_column(self.frame[:, j]) if self.matrix is None else self.matrix[:, j]
        return self._columns[j]

    def grid(self, varied: dict[int, Array], n: int) -> Any:
        """A table of `n` rows in which only some columns vary.

        `varied` has numbers, or, for a column of categories, indices of rows that contain the category. All other
        columns have their median or most frequent category everywhere.
        """
        typical = {j: np.full(n, self._typical_row(j)) for j in range(self.n_features) if j not in varied}
        if self.matrix is not None:
            columns = [varied[j] if j in varied else self.matrix[typical[j], j] for j in range(self.n_features)]
            return np.column_stack(columns)
        assert self.frame is not None
        native = nw.get_native_namespace(self.frame)
        frames = []
        for j, name in enumerate(self.frame.columns):
            if j in varied and not isinstance(self.column(j), Nominal):
                series = nw.new_series(name, varied[j].astype(np.float64), nw.Float64, backend=native)
            else:
                series = nw.maybe_reset_index(self.frame[:, j][(typical[j] if j in typical else varied[j]).tolist()])
            frames.append(series.to_frame())
        return nw.concat(frames, how="horizontal").to_native()

    def _typical_row(self, j: int) -> int:
        """A row that contains the (lower) median or the most frequent category of a column."""
        column = self.column(j)
        if isinstance(column, Nominal):
            known = column.codes[column.codes >= 0]
            return int(np.flatnonzero(column.codes == np.bincount(known).argmax())[0]) if len(known) else 0
        rows = np.flatnonzero(~np.isnan(column))
        if not len(rows):
            return 0
        middle = (len(rows) - 1) // 2
        return int(rows[np.argpartition(column[rows], middle)[middle]])

    def constant_features(self, varied: Sequence[int]) -> str:
        """A remark for a title on the features that do not vary."""
        rest = [name for j, name in enumerate(self.names) if j not in varied]
        if len(rest) > 1:
            return f"the {len(rest)} other features at their medians"
        return f"{shortened(shown(rest[0]))} at its median" if rest else ""


def axis_values(column: Array | Nominal, n: int) -> tuple[Array, Array]:
    """Positions along an axis, and what `FeatureColumns.grid` needs there: numbers, or a row of each category."""
    if isinstance(column, Nominal):
        first = [int(np.flatnonzero(column.codes == k)[0]) for k in range(len(column.categories))]
        return np.arange(float(len(first))), np.array(first)
    low, high = float(np.nanmin(column)), float(np.nanmax(column))
    margin = 0.04 * (high - low) if high > low else 0.5
    line = np.linspace(low - margin, high + margin, n)
    return line, line
