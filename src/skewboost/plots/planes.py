"""Made-up rows to ask a model about: some features vary, all others stay at their medians or most frequent values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from skewboost.metrics.counts import Array
from skewboost.tables import Nominal, read_column, sliceable


class Columns:
    """A table by its columns: arrays, pandas, polars and Arrow alike."""

    def __init__(self, X: Any) -> None:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        self.frame = frame if isinstance(frame, nw.DataFrame) else None
        self.matrix: Array | None = None if self.frame is not None else np.asarray(sliceable(X))
        shape = self.matrix.shape if self.matrix is not None else frame.shape
        if len(shape) != 2 or not all(shape):
            raise ValueError(f"X has shape {shape}, but a table with rows and columns is needed.")
        self.n_rows, self.n_features = shape

    @property
    def names(self) -> list[str]:
        """Of the columns; x0, x1, … where there are none."""
        return [f"x{j}" for j in range(self.n_features)] if self.frame is None else list(self.frame.columns)

    def index(self, feature: Any, argument: str) -> int:
        """The number of a column that is given by name or number."""
        if isinstance(feature, str) and feature in self.names:
            return self.names.index(feature)
        if isinstance(feature, int | np.integer) and -self.n_features <= feature < self.n_features:
            return int(feature) % self.n_features
        known = ", ".join(map(repr, self.names[:8])) + (", …" if self.n_features > 8 else "")
        raise ValueError(
            f"{argument}={feature!r} is no column of X. Give a number below {self.n_features}, or one of {known}."
        )

    def read(self, feature: int) -> Array | Nominal:
        """Numbers, or categories."""
        if self.frame is not None:
            return read_column(self.frame[:, feature])
        assert self.matrix is not None
        column = self.matrix[:, feature]
        if column.dtype.kind in "OUS":
            return read_column(nw.from_native({"x": column}["x"], allow_series=True) if False else _as_series(column))
        return np.asarray(column, dtype=np.float64)

    def rows(self, varied: dict[int, Array], n: int) -> Any:
        """A table of `n` rows: varied columns as given (numbers, or rows to take the category from)."""
        kept = {j: np.full(n, self._typical(j)) for j in range(self.n_features) if j not in varied}
        if self.matrix is not None:
            made = np.empty((n, self.n_features), dtype=self.matrix.dtype if self._mixed else np.float64)
            for j in range(self.n_features):
                if j in varied and not isinstance(self.read(j), Nominal):
                    made[:, j] = varied[j]
                else:
                    made[:, j] = self.matrix[kept.get(j, varied.get(j)), j]
            return made
        assert self.frame is not None
        native = nw.get_native_namespace(self.frame)
        series = []
        for j, name in enumerate(self.frame.columns):
            if j in varied and not isinstance(self.read(j), Nominal):
                series.append(nw.new_series(name, varied[j].astype(np.float64), nw.Float64, backend=native))
            else:
                taken = self.frame[:, j][np.asarray(kept.get(j, varied.get(j))).tolist()]
                series.append(nw.maybe_reset_index(taken))
        return nw.concat([s.to_frame() for s in series], how="horizontal").to_native()

    @property
    def _mixed(self) -> bool:
        return self.matrix is not None and self.matrix.dtype.kind in "OUS"

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


def _as_series(column: Array) -> nw.Series[Any]:
    import pandas as pd

    return nw.from_native(pd.Series(column), series_only=True)


def others(names: Sequence[str], used: Sequence[int]) -> str:
    """A few words on the features that do not vary, for a title."""
    rest = [name for j, name in enumerate(names) if j not in used]
    if not rest:
        return ""
    return f"the {len(rest)} other features at their medians" if len(rest) > 1 else f"{rest[0]} at its median"
