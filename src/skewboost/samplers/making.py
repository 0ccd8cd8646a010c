"""Tables of rows that were made up: the same columns and kinds as the table that they are made from."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from skewboost.engine.boundary import Array
from skewboost.tables import Nominal, Table, read_column


def gathered(table: Table, sources: Array) -> Table:
    """Cells of a table, put together anew: the cell of each ``[feature, row]`` is that of the row `sources` names."""
    if table.matrix is not None:
        cells = np.column_stack([table.matrix[rows, feature] for feature, rows in enumerate(sources)])
        return Table(sources.shape[1], table.n_features, matrix=cells)
    columns: list[Array | Nominal] = []
    for column, rows in zip(table.columns, sources):
        columns.append(Nominal(column.codes[rows], column.categories) if isinstance(column, Nominal) else column[rows])
    series = [table.frame[name][rows] for name, rows in zip(table.frame.columns, sources)]
    frame = table.frame[sources[0]].with_columns(*series)
    return Table(sources.shape[1], table.n_features, columns=tuple(columns), frame=frame)


def with_numbers(table: Table, sources: Array, numbers: dict[int, Array]) -> Table:
    """Like `gathered`, but some features have new numbers; columns of whole numbers have them rounded."""
    made = gathered(table, sources)
    if made.matrix is not None:
        matrix = made.matrix.copy()
        for feature, values in numbers.items():
            matrix[:, feature] = np.rint(values) if matrix.dtype.kind in "iub" else values
        return Table(made.n_rows, made.n_features, matrix=matrix)
    columns, frame = list(made.columns), made.frame
    for feature, values in numbers.items():
        old = frame[frame.columns[feature]]
        whole = old.dtype.is_integer() or old.dtype == nw.Boolean
        values = np.rint(values) if whole else values
        columns[feature] = values
        series = nw.new_series(old.name, values, backend=frame.implementation)
        frame = frame.with_columns(series if old.dtype == nw.Object else series.cast(old.dtype))
    return Table(made.n_rows, made.n_features, columns=tuple(columns), frame=frame)


def joined(table: Table, made: Table) -> Table:
    """The rows of both, one after the other."""
    n = table.n_rows + made.n_rows
    if table.matrix is not None and made.matrix is not None:
        return Table(n, table.n_features, matrix=np.concatenate((table.matrix, made.matrix)))
    columns = tuple(map(_joined, table.columns, made.columns))
    return Table(n, table.n_features, columns=columns, frame=nw.concat([table.frame, made.frame]))


def _joined(first: Array | Nominal, second: Array | Nominal) -> Array | Nominal:
    if not isinstance(first, Nominal) or not isinstance(second, Nominal):
        return np.concatenate((first, second))  # type: ignore[arg-type]
    code_of = {name: code for code, name in enumerate(first.categories)}
    codes = np.array([code_of.get(name, -1) for name in second.categories] + [-1])  # the last for missing cells
    return Nominal(np.concatenate((first.codes, codes[second.codes])), first.categories)


def read_like(table: Table, X: Any) -> Table:
    """Rows that another library has made out of a table."""
    if table.matrix is not None:
        matrix = np.asarray(X)
        return Table(len(matrix), table.n_features, matrix=matrix)
    frame = nw.from_native(X, eager_only=True)
    columns = tuple(read_column(series) for series in frame.iter_columns())
    nominal = [isinstance(column, Nominal) for column in table.columns]
    made = Table(len(frame), table.n_features, columns=columns, frame=frame)
    return made.conform(nominal, frame.columns)
