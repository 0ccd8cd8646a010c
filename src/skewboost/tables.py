"""What the user hands over, column by column.

NumPy arrays, pandas, polars and Arrow tables all become a `Table`: numbers stay in the memory they came in (an
array is never copied, a frame lends its columns one at a time), text and categories become integer codes into a
sorted list of categories, and a missing cell is NaN in a number and -1 in a code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

Array = NDArray[Any]


@dataclass(frozen=True)
class Nominal:
    """A column of categories: `codes` into `categories`, -1 where the cell is missing."""

    codes: Array
    categories: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Columns of equal length; either one numeric `matrix`, or a list of `columns` of mixed kinds."""

    n_rows: int
    n_features: int
    matrix: Array | None = None
    columns: tuple[Array | Nominal, ...] = ()
    frame: Any = None  # the narwhals frame the columns came from

    def column(self, feature: int) -> Array | Nominal:
        """One column: a view of numbers, or a `Nominal`."""
        if self.matrix is not None:
            return self.matrix[:, feature]
        return self.columns[feature]

    def name(self, feature: int) -> Any:
        """What messages call a column: its name, or its number where it has none."""
        return feature if self.frame is None else self.frame.columns[feature]

    def columns_of(self, features: range) -> list[Array | Nominal]:
        """Neighbouring columns, copied together where a matrix stores them interleaved."""
        if self.matrix is None:
            return list(self.columns[features.start : features.stop])
        return list(np.ascontiguousarray(self.matrix[:, features.start : features.stop].T))

    def take(self, rows: Array) -> Table:
        """The table of these rows only."""
        if self.matrix is not None:
            return Table(len(rows), self.n_features, matrix=self.matrix[rows])
        columns = tuple(
            Nominal(c.codes[rows], c.categories) if isinstance(c, Nominal) else c[rows] for c in self.columns
        )
        return Table(len(rows), self.n_features, columns=columns, frame=self.frame[rows])

    def conform(self, nominal: Sequence[bool], names: Sequence[str]) -> Table:
        """The table with the kinds of columns that there were in training; a column of nothing is of any kind."""
        if self.matrix is not None and not any(nominal):
            return self
        columns: list[Array | Nominal] = []
        for j, (was_nominal, name) in enumerate(zip(nominal, names)):
            column = self.column(j)
            if isinstance(column, Nominal) != was_nominal:
                nothing = np.all(column.codes < 0) if isinstance(column, Nominal) else np.all(column != column)
                if not nothing:
                    was, now = ("categories", "numbers") if was_nominal else ("numbers", "categories")
                    raise ValueError(f"column {name!r} held {was} in training and holds {now} now; convert it as then.")
                column = Nominal(np.full(self.n_rows, -1), ()) if was_nominal else np.full(self.n_rows, np.nan)
            columns.append(column)
        return Table(self.n_rows, self.n_features, columns=tuple(columns), frame=self.frame)

    @property
    def native(self) -> Any:
        """The table as the user gave it, for estimators of other libraries."""
        return self.matrix if self.matrix is not None else self.frame.to_native()


def read_table(estimator: Any, X: Any, *, reset: bool) -> Table:
    """Check `X` against what `estimator` was fitted on (or, with `reset`, remember it) and read it as a `Table`."""
    if issparse(X):
        raise TypeError(
            "Sparse data was passed for X, but skewboost bins dense tables. Convert it with X.toarray(), "
            "or select fewer columns first."
        )
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError("X is a lazy frame. Pass X.collect().")
    if type(X).__name__ == "RecordBatch":
        raise TypeError("X is an Arrow record batch. Pass pyarrow.Table.from_batches([X]).")
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        # Anything that is not a frame goes through scikit-learn's own door: shapes, dtypes, infinities, names.
        try:
            matrix = validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan")
        except ValueError as error:
            if "could not convert string" not in str(error) and "bytes/strings" not in str(error):
                raise
            raise ValueError(
                f"X is an array that holds text ({error}). Pass a pandas, polars or Arrow table, whose text columns "
                "are read as categories."
            ) from error
        return Table(matrix.shape[0], matrix.shape[1], matrix=matrix)

    validate_data(estimator, X, reset=reset, skip_check_array=True)
    n_rows, n_features = frame.shape
    if n_rows == 0 or n_features == 0:
        raise ValueError(
            f"Found an empty table: X has {n_rows} rows and {n_features} columns, a minimum of 1 of each is required."
        )
    return Table(n_rows, n_features, columns=tuple(_read_column(s) for s in frame.iter_columns()), frame=frame)


def _read_column(series: nw.Series[Any]) -> Array | Nominal:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        if series.null_count() or dtype == nw.Boolean or dtype.is_decimal() or dtype in (nw.Int128, nw.UInt128):
            series = series.cast(nw.Float64)
        values: Array = series.to_numpy()
        if values.dtype.kind == "f" and np.isinf(values).any():
            raise ValueError(
                f"Column {series.name!r} of X contains infinity. Replace it by a large finite number, or by a missing "
                "value."
            )
        return values
    if dtype in (nw.Categorical, nw.Enum, nw.String, nw.Object):
        return _read_categories(series)
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    raise TypeError(
        f"Column {series.name!r} of X has type {dtype}, which is neither numeric nor categorical. Derive numbers or "
        "categories from it (for dates: the year, the weekday, the days since an event), or drop it."
    )


def _read_categories(series: nw.Series[Any]) -> Nominal:
    if series.dtype == nw.Categorical and series.implementation.is_pandas_like():
        # A cast to text would spell the category 1 as "1.0" in a column with missing cells and as "1" elsewhere.
        native = series.to_native()
        return Nominal(native.cat.codes.to_numpy(), tuple(str(c) for c in native.cat.categories))
    try:
        text = series.cast(nw.String)
    except Exception as error:
        raise TypeError(
            f"Column {series.name!r} of X holds objects that are no text ({error}). Make them text or categories."
        ) from error
    categories: Sequence[str] = sorted(str(v) for v in text.drop_nulls().unique().to_list())
    null = "\0"  # stands for a missing cell while values are replaced by codes
    while null in categories:
        null += "\0"
    codes = text.fill_null(null).replace_strict(
        [*categories, null], [*range(len(categories)), -1], return_dtype=nw.Int32
    )
    return Nominal(codes.to_numpy(), tuple(categories))
