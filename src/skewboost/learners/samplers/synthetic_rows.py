"""Tables of synthetic rows, with the columns and types of the table that they are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from skewboost.engine.table import Nominal, Table, read_column
from skewboost.typing import Array


def gathered(table: Table, sources: Array) -> Table:
    """New rows from cells of a table: ``sources[feature, row]`` is the row that the cell is copied from."""
    table = table.in_memory
    if table.matrix is not None:
        cells = np.column_stack([table.matrix[rows, feature] for feature, rows in enumerate(sources)])
        return Table(sources.shape[1], table.n_features, matrix=cells)
    columns: list[Array | Nominal] = []
    for column, rows in zip(table.columns, sources):
        columns.append(column.take(rows) if isinstance(column, Nominal) else column[rows])
    series = [table.frame[:, feature][rows] for feature, rows in enumerate(sources)]
    frame = table.frame[sources[0]].with_columns(*series)
    return Table(sources.shape[1], table.n_features, columns=tuple(columns), frame=frame)


def made_like(table: Table, columns: Sequence[Array | Nominal]) -> Table:
    """Rows with these cells: numbers as given (rounded in integer columns), and categories of the table."""
    n_rows = len(columns[0].codes if isinstance(columns[0], Nominal) else columns[0])
    sources = np.zeros((table.n_features, n_rows), dtype=np.intp)
    for feature, column in enumerate(columns):
        own = table.column(feature)
        if isinstance(own, Nominal) and isinstance(column, Nominal):
            codes = _recoded(column, own.categories)
            present, at = np.unique(own.codes, return_index=True)  # a row with the category, or without a value
            sources[feature] = at[np.minimum(np.searchsorted(present, codes), len(at) - 1)]
    made = gathered(table, sources)
    numbers = {j: column for j, column in enumerate(columns) if not isinstance(column, Nominal)}
    if made.matrix is not None:
        matrix = made.matrix.copy()
        for feature, values in numbers.items():
            matrix[:, feature] = _integers(values, matrix.dtype) if matrix.dtype.kind in "iub" else values
        return Table(n_rows, made.n_features, matrix=matrix)
    cells, frame = list(made.columns), made.frame
    for feature, values in numbers.items():
        old = frame[:, feature]
        if old.dtype.is_integer() and old.dtype not in (nw.Int128, nw.UInt128):
            values = _integers(values, np.dtype(str(old.dtype).lower()))
        elif old.dtype.is_integer() or old.dtype == nw.Boolean:
            values = np.rint(values)
        series = nw.new_series(old.name, values, backend=frame.implementation)
        cells[feature] = values
        frame = frame.with_columns(series if old.dtype == nw.Object else series.cast(old.dtype))
    return Table(n_rows, made.n_features, columns=tuple(cells), frame=frame)


def _integers(values: Array, dtype: np.dtype[Any]) -> Array:
    """The nearest integers of a type, whose largest number may not be representable as a double."""
    values = np.rint(values)
    if dtype.kind not in "iu":
        return values
    limits = np.iinfo(dtype)
    beyond = values >= float(limits.max)
    result: Array = np.where(beyond, 0.0, np.maximum(values, float(limits.min))).astype(dtype)
    result[beyond] = limits.max
    return result


def joined(table: Table, made: Table) -> Table:
    """The rows of both tables."""
    table, made = table.in_memory, made.in_memory
    n = table.n_rows + made.n_rows
    if table.matrix is not None and made.matrix is not None:
        return Table(n, table.n_features, matrix=np.concatenate((table.matrix, made.matrix)))
    columns = tuple(map(_joined, table.columns, made.columns))
    return Table(n, table.n_features, columns=columns, frame=nw.concat([table.frame, made.frame]))


def _joined(first: Array | Nominal, second: Array | Nominal) -> Array | Nominal:
    if not isinstance(first, Nominal) or not isinstance(second, Nominal):
        return np.concatenate((first, second))  # type: ignore[arg-type]
    return replace(first, codes=np.concatenate((first.codes, _recoded(second, first.categories))))


def _recoded(column: Nominal, categories: Sequence[str]) -> Array:
    """The codes of a column in another list of categories; -1 for categories that are not in it."""
    code_of = {name: code for code, name in enumerate(categories)}
    codes = np.array([code_of.get(name, -1) for name in column.categories] + [-1])  # the last for missing cells
    return codes[column.codes]


def read_like(table: Table, X: Any) -> Table:
    """Rows that another library has made from a table: an array, or a frame with the columns of the table."""
    if table.frame is None:
        matrix = np.asarray(X)
        return Table(len(matrix), table.n_features, matrix=matrix)
    if isinstance(X, np.ndarray):
        return made_like(table, list(X.T))
    frame = nw.from_native(X, eager_only=True)
    columns = tuple(read_column(series) for series in frame.iter_columns())
    if frame.implementation is not table.frame.implementation:
        return made_like(table, columns)
    nominal = [isinstance(column, Nominal) for column in table.columns]
    made = Table(len(frame), table.n_features, columns=columns, frame=frame)
    return made.conform(nominal, frame.columns)
