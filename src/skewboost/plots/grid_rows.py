"""Made-up rows to ask a model about: some features vary, all others stay at their medians or most frequent values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from skewboost.engine.table import Nominal, as_frame, read_column, sliceable
from skewboost.errors import InputError
from skewboost.names import shortened, shown
from skewboost.typing import Array


class Columns:
    """A table by its columns: arrays, pandas, polars and Arrow alike."""

    def __init__(self, X: Any) -> None:
        self.frame = as_frame(X)
        self.matrix: Array | None = None if self.frame is not None else np.asarray(sliceable(X), dtype=np.float64)
        self._known: dict[int, Array | Nominal] = {}
        shape = self.matrix.shape if self.matrix is not None else self.frame.shape
        if len(shape) != 2 or not all(shape):
            raise InputError(f"X has shape {shape}, but a table with rows and columns is needed.")
        self.n_rows, self.n_features = int(shape[0]), int(shape[1])

    @property
    def names(self) -> list[str]:
        """Of the columns; x0, x1, … where there are none."""
        return [f"x{j}" for j in range(self.n_features)] if self.frame is None else list(self.frame.columns)

    def index(self, feature: Any, argument: str) -> int:
        """The number of a column that is given by name or number."""
        if isinstance(feature, str) and feature in self.names:
            return self._filled(self.names.index(feature), argument)
        if isinstance(feature, int | np.integer) and -self.n_features <= feature < self.n_features:
            return self._filled(int(feature) % self.n_features, argument)
        known = ", ".join(map(repr, self.names[:8])) + (", …" if self.n_features > 8 else "")
        raise InputError(
            f"{argument}={feature!r} is no column of X. Give a number below {self.n_features}, or one of {known}."
        )

    def _filled(self, feature: int, argument: str) -> int:
        column = self.read(feature)
        empty = (column.codes < 0).all() if isinstance(column, Nominal) else np.isnan(column).all()
        if empty:
            raise InputError(f"{argument}: column {self.names[feature]!r} of X holds no values. Take another one.")
        return feature

    def read(self, feature: int) -> Array | Nominal:
        """Numbers, or categories."""
        if feature not in self._known:
            if self.frame is not None:
                self._known[feature] = read_column(self.frame[:, feature])
            else:
                assert self.matrix is not None
                self._known[feature] = self.matrix[:, feature]
        return self._known[feature]

    def rows(self, varied: dict[int, Array], n: int) -> Any:
        """A table of `n` rows: varied columns as given (numbers, or rows to take the category from)."""
        taken = {j: np.full(n, self._typical(j)) for j in range(self.n_features) if j not in varied}
        if self.matrix is not None:
            return np.column_stack(
                [varied[j] if j in varied else self.matrix[taken[j], j] for j in range(self.n_features)]
            )
        assert self.frame is not None
        native = nw.get_native_namespace(self.frame)
        made = []
        for j, name in enumerate(self.frame.columns):
            if j in varied and not isinstance(self.read(j), Nominal):
                series = nw.new_series(name, varied[j].astype(np.float64), nw.Float64, backend=native)
            else:
                series = nw.maybe_reset_index(self.frame[:, j][(taken[j] if j in taken else varied[j]).tolist()])
            made.append(series.to_frame())
        return nw.concat(made, how="horizontal").to_native()

    def _typical(self, feature: int) -> int:
        """A row that holds the (lower) median, or the most frequent category."""
        column = self.read(feature)
        if isinstance(column, Nominal):
            known = column.codes[column.codes >= 0]
            return int(np.flatnonzero(column.codes == np.bincount(known).argmax())[0]) if len(known) else 0
        known_rows = np.flatnonzero(~np.isnan(column))
        if not len(known_rows):
            return 0
        middle = (len(known_rows) - 1) // 2
        return int(known_rows[np.argpartition(column[known_rows], middle)[middle]])


def others(names: Sequence[str], used: Sequence[int]) -> str:
    """A few words on the features that do not vary, for a title."""
    rest = [name for j, name in enumerate(names) if j not in used]
    if not rest:
        return ""
    if len(rest) > 1:
        return f"the {len(rest)} other features at their medians"
    return f"{shortened(shown(rest[0]))} at its median"


def places_along(column: Array | Nominal, n: int) -> tuple[Array, Array]:
    """Where the cells are along an axis, and what is put in the table: a number, or the row of a category."""
    if isinstance(column, Nominal):
        first = [int(np.flatnonzero(column.codes == k)[0]) for k in range(len(column.categories))]
        return np.arange(float(len(first))), np.array(first)
    low, high = float(np.nanmin(column)), float(np.nanmax(column))
    margin = 0.04 * (high - low) if high > low else 0.5
    line = np.linspace(low - margin, high + margin, n)
    return line, line


def ends_of(line: Array) -> tuple[float, float]:
    """Of the cells around the places on an axis."""
    half = 0.5 * (line[1] - line[0]) if len(line) > 1 else 0.5
    return float(line[0] - half), float(line[-1] + half)
