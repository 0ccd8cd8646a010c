"""Reading the user's data: NumPy arrays, pandas, polars and Arrow tables become a `Table`.

Numbers are not copied where possible. Text and categories become integer codes into a sorted list of categories. A
missing cell is NaN in a numeric column and -1 in a column of codes. Booleans are the numbers 0 and 1. The same cells
give the same table whatever library or type they come from: a category that is a number is always spelled in the same
way, and the declared order of categories has no effect unless a monotonic constraint asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from skewboost.engine.computed import ComputedTable
from skewboost.errors import InputError, InputTypeError, checked_by_scikit_learn
from skewboost.names import shortened, spell
from skewboost.typing import Array

# A text column of at least this many values, no two of them equal, is free text or an identifier. If the column had 30
# categories, this many rows would all differ in fewer than one table of 1000. With more categories than rows there is
# nothing to learn anyway.
CLEARLY_TEXT = 20

NUMBERS = (Real, Decimal, np.bool_)
PLAIN_NUMBERS = frozenset(map(np.dtype, ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")))
TOO_LARGE = "Replace it by a large finite number, or by a missing value."
NO_DATES = (
    "Derive numbers or categories from it (for dates: the year, the weekday, the days since an event), or drop it."
)
# What is no table in memory is known by the attributes that it has, and is read into one by the user.
UNREAD = (
    (("collect_schema", "collect"), "a lazy frame", "Pass X.collect()."),
    (("fetchall", "pl"), "a DuckDB relation", "Pass X.pl() or X.df()."),
    (("toPandas", "schema"), "a Spark frame", "Pass X.toPandas()."),
    (("__dask_graph__", "columns"), "a Dask frame", "Pass X.compute()."),
    (("read_all", "read_next_batch"), "an Arrow reader", "Pass X.read_all()."),
    (("to_table", "get_fragments"), "an Arrow dataset", "Pass X.to_table()."),
    (("num_columns", "to_struct_array"), "an Arrow record batch", "Pass pyarrow.Table.from_batches([X])."),
    (("execute", "to_pandas", "schema"), "an Ibis table", "Pass X.to_pandas()."),
)


@dataclass(frozen=True)
class Nominal:
    """A column of categories: `codes` into `categories`, -1 where the cell is missing.

    If the type of the column declares an order of its categories, `order` has all that are declared, in that order.
    """

    codes: Array
    categories: tuple[str, ...]
    order: tuple[str, ...] = ()

    def take(self, rows: Array) -> Nominal:
        """Return the column of the given rows."""
        return replace(self, codes=self.codes[rows])


@dataclass(frozen=True)
class Table:
    """Columns of equal length: one numeric `matrix`, numbers that are `computed`, or `columns` of either kind."""

    n_rows: int
    n_features: int
    matrix: Array | None = None
    columns: tuple[Array | Nominal, ...] = ()
    frame: Any = None  # the narwhals frame that the columns came from
    memo: dict[Any, Any] | None = field(default=None, compare=False, repr=False)  # bins and codes of earlier fits
    computed: ComputedTable | None = None

    def column(self, feature: int) -> Array | Nominal:
        """Return a column: numbers (of a matrix, a view), or a `Nominal`."""
        if self.matrix is not None:
            return self.matrix[:, feature]
        if self.computed is not None:
            return self.computed.compute(np.array([feature]))[:, 0]
        return self.columns[feature]

    @property
    def nominal(self) -> list[bool]:
        """Whether each column holds categories."""
        if self.matrix is not None or self.computed is not None:
            return [False] * self.n_features
        return [isinstance(column, Nominal) for column in self.columns]

    def every_column(self) -> Iterator[Array | Nominal]:
        """Yield all columns, in order."""
        if self.computed is None:
            yield from map(self.column, range(self.n_features))
        else:
            for _, cells in self.computed.blocks():
                yield from cells.T

    def numeric_columns(self) -> Iterator[tuple[int, Array]]:
        """Yield the numeric columns with their numbers."""
        for j, column in enumerate(self.every_column()):
            if not isinstance(column, Nominal):
                yield j, column

    @property
    def in_memory(self) -> Table:
        """The table with a matrix of the numbers that would be computed."""
        if self.computed is None:
            return self
        return Table(self.n_rows, self.n_features, matrix=np.asarray(self.computed))

    def name(self, feature: int) -> Any:
        """Return the name of a column in messages: its own name, or its number if it has none."""
        return feature if self.frame is None else self.frame.columns[feature]

    def only(self, feature: int) -> Table:
        """Return a table of one numeric column."""
        return Table(self.n_rows, 1, matrix=np.asarray(self.column(feature))[:, None])

    def take(self, rows: Array) -> Table:
        """Return a table of the given rows."""
        if self.matrix is not None:
            return Table(len(rows), self.n_features, matrix=self.matrix[rows])
        if self.computed is not None:
            return Table(len(rows), self.n_features, computed=self.computed.take(rows))
        columns = tuple(c.take(rows) if isinstance(c, Nominal) else c[rows] for c in self.columns)
        return Table(
            len(rows), self.n_features, columns=columns, frame=None if self.frame is None else self.frame[rows]
        )

    def beside(self, other: Table) -> Table:
        """Return a table with the columns of another one behind its own."""
        columns = (own.column(j) for own in (self, other) for j in range(own.n_features))
        return Table(self.n_rows, self.n_features + other.n_features, columns=tuple(columns))

    def conform(self, nominal: Sequence[bool], names: Sequence[str]) -> Table:
        """Return the table with the column kinds of the training data; an empty column may be of any kind."""
        if (self.matrix is not None or self.computed is not None) and not any(nominal):
            return self
        columns: list[Array | Nominal] = []
        for j, (was_nominal, name) in enumerate(zip(nominal, names)):
            column = self.column(j)
            if was_nominal and not isinstance(column, Nominal) and self._holds_objects(j):
                column = _read_objects(self.frame[:, j], numbers=False)  # it held text and numbers in training
            if isinstance(column, Nominal) != was_nominal:
                if not _is_empty(column):
                    was, now = ("categories", "numbers") if was_nominal else ("numbers", "categories")
                    raise InputError(
                        f"In X, column {name!r} held {was} in training and holds {now} now.", f"Convert it to {was}."
                    )
                column = Nominal(np.full(self.n_rows, -1), ()) if was_nominal else np.full(self.n_rows, np.nan)
            columns.append(column)
        return Table(self.n_rows, self.n_features, columns=tuple(columns), frame=self.frame)

    def _holds_objects(self, feature: int) -> bool:
        return self.frame is not None and self.frame[:, feature].dtype == nw.Object

    @property
    def native(self) -> Any:
        """The table in the type that the user passed, for estimators of other libraries."""
        if self.computed is not None:
            return self.computed
        return self.matrix if self.matrix is not None else self.frame.to_native()


class PreparedTable:
    """A table that was read once, to fit many skewboost estimators to the same rows; bins and codes are reused."""

    def __init__(self, estimator: Any, X: Any) -> None:
        self.native = X
        reader = clone(estimator)
        self.table = replace(read_table(reader, X, reset=True), memo={})
        self.empty_columns: frozenset[int] = reader._empty_columns

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return self.table.n_rows, self.table.n_features


def as_frame(X: Any, allow_series: bool = False) -> Any:
    """Return the narwhals frame of a table (or series, if `allow_series`), and None for anything else."""
    if isinstance(X, np.ndarray | ComputedTable):  # narwhals would search all installed packages for plugins
        return None
    frame = nw.from_native(X, eager_only=True, allow_series=allow_series, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.Series):
        return frame
    check_is_read(X)
    return None


def check_is_read(X: Any) -> None:
    """Raise an error that says how to read a table that is not in memory; `X` is no table in memory."""
    for attributes, what, remedy in UNREAD:
        if all(hasattr(X, name) for name in attributes):
            raise InputTypeError(f"X is {what}.", remedy)


def sliceable(X: Any) -> Any:
    """Return the user's data in a type that can be indexed by rows; frames and arrays are returned unchanged."""
    if isinstance(X, ComputedTable) or as_frame(X) is not None:
        return X
    X = X.tocsr() if issparse(X) else np.asarray(X)
    if X.ndim == 0 or X.shape[0] == 0:
        raise InputError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    return X


def take_rows(X: Any, rows: Array) -> Any:
    """Return some rows of the user's data, in the type that it has."""
    frame = as_frame(X, allow_series=True)
    if frame is not None:
        return frame[np.asarray(rows)].to_native()
    return sliceable(X)[rows]


def take_cells(X: Any, rows: Array | None, columns: Array) -> Any:
    """Return some rows (None: all) and columns of a table in the user's type, or of an array, also if computed."""
    frame = as_frame(X)
    if frame is not None:
        frame = frame[:, columns.tolist()]
        return (frame if rows is None else frame[rows]).to_native()
    if isinstance(X, ComputedTable):
        return (X if rows is None else X.take(rows)).compute(columns)
    return X[:, columns] if rows is None else X[np.ix_(rows, columns)]


@checked_by_scikit_learn()
def read_table(estimator: Any, X: Any, *, reset: bool) -> Table:
    """Validate `X` and read it as a `Table`; with `reset`, the estimator remembers its features."""
    if isinstance(X, Table):
        return _read_again(estimator, X, reset)
    if isinstance(X, PreparedTable):
        validate_data(estimator, X.native, reset=reset, skip_check_array=True)
        if reset:
            estimator._empty_columns = X.empty_columns
        return X.table
    if isinstance(X, ComputedTable):
        return _read_computed(estimator, X, reset)
    if issparse(X):
        raise InputTypeError(
            "Sparse data was passed for X, but skewboost bins dense tables.",
            "Convert it with X.toarray(), or select fewer columns first.",
        )
    frame = as_frame(X)
    if frame is None:
        return _read_array(estimator, X, reset)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    n_rows, n_features = frame.shape
    if n_rows == 0 or n_features == 0:
        raise InputError(
            f"Found an empty table: X has {n_rows} rows and {n_features} columns, a minimum of 1 of each is required."
        )
    every = list(frame.iter_columns())
    columns = [read_column(series) for series in every]
    if reset:
        for series, column in zip(every, columns):
            _check_repeats(series, column)
        estimator._empty_columns = frozenset(j for j, column in enumerate(columns) if _is_empty(column))
    # A column that was empty in training is ignored, and may hold anything now.
    for j in getattr(estimator, "_empty_columns", ()):
        columns[j] = np.full(n_rows, np.nan)
    return Table(n_rows, n_features, columns=tuple(columns), frame=frame)


def _read_computed(estimator: Any, X: ComputedTable, reset: bool) -> Table:
    """Take over a table whose cells are finite numbers."""
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    n_rows, n_features = X.shape
    if n_rows == 0 or n_features == 0:
        raise InputError(
            f"Found an empty table: X has {n_rows} rows and {n_features} columns, a minimum of 1 of each is required."
        )
    if reset:
        estimator._empty_columns = frozenset()
    return Table(n_rows, n_features, computed=X)


def _read_again(estimator: Any, table: Table, reset: bool) -> Table:
    """Take a table that the booster of a weak learner has read, and whose columns it has compared with training."""
    columns = list(table.columns)
    if reset:
        validate_data(estimator, table.native, reset=True, skip_check_array=True)
        estimator._empty_columns = frozenset(j for j, column in enumerate(columns) if _is_empty(column))
    for j in getattr(estimator, "_empty_columns", ()):
        columns[j] = np.full(table.n_rows, np.nan)
    return replace(table, columns=tuple(columns))


def _read_array(estimator: Any, X: Any, reset: bool) -> Table:
    """Read an array or a list by scikit-learn's own validation of shapes, dtypes and infinities."""
    try:
        with np.errstate(invalid="ignore", over="ignore"):  # the sum of huge numbers may overflow
            matrix = validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan")
            if matrix.dtype == object or matrix.dtype == np.longdouble:  # long integers in lists stay objects
                matrix = _finite(matrix.astype(np.float64), "X")
    except RuntimeError as error:  # of a tensor that needs gradients
        raise InputTypeError(
            f"X is a {type(X).__name__} that cannot be read as an array: {error}.", "Pass X.detach().cpu().numpy()."
        ) from error
    except OverflowError as error:
        raise InputError("X contains a number that is too large for a double.", TOO_LARGE) from error
    except ValueError as error:
        if "could not convert string" not in str(error) and "bytes/strings" not in str(error):
            raise
        raise InputError(
            f"X is an array that holds text ({error}).",
            "Pass a pandas, polars or Arrow table, whose text columns are read as categories.",
        ) from error
    if matrix.dtype.kind in "mM":
        raise InputTypeError(f"X is an array of type {matrix.dtype}.", NO_DATES)
    if reset:
        estimator._empty_columns = frozenset()
    if not matrix.flags.aligned:  # a field of packed records, whose strides are not multiples of the item size
        matrix = matrix.copy()
    return Table(matrix.shape[0], matrix.shape[1], matrix=matrix)


def _is_empty(column: Array | Nominal) -> bool:
    """Whether every cell is missing."""
    if isinstance(column, Nominal):
        return bool((column.codes < 0).all())
    return bool((column[:1] != column[:1]).all() and (column != column).all())


def _check_repeats(series: nw.Series[Any], column: Array | Nominal) -> None:
    """Raise an error if a text column holds free text; columns of a categorical type are never free text."""
    if not isinstance(column, Nominal) or series.dtype not in (nw.String, nw.Object):
        return
    present = np.flatnonzero(column.codes >= 0)
    if CLEARLY_TEXT <= len(present) == len(column.categories):
        example = shortened(column.categories[column.codes[present[0]]], 40)
        raise InputError(
            f"Column {series.name!r} of X holds text of which no two cells are equal, such as {example!r}. "
            "A model could only memorise the training rows by it.",
            "Drop the column, or derive categories or numbers from it. If it holds categories, give it a categorical "
            "type.",
        )


def read_column(series: nw.Series[Any]) -> Array | Nominal:
    """Read a column as numbers, or as categories with their codes."""
    native = series.to_native()
    if isinstance(getattr(native, "dtype", None), np.dtype) and native.dtype in PLAIN_NUMBERS:
        return _finite(_read_plain(native), f"Column {series.name!r} of X")
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return _finite(read_numbers(series), f"Column {series.name!r} of X")
    if dtype == nw.Object:
        return _read_objects(series)
    if dtype in (nw.Categorical, nw.Enum, nw.String):
        return _read_categories(series)
    if hasattr(series.to_native(), "sparse"):  # of pandas
        return read_column(nw.from_native(series.to_native().sparse.to_dense(), series_only=True))
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    raise InputTypeError(
        f"Column {series.name!r} of X has type {dtype}, which is neither numeric nor categorical.", NO_DATES
    )


def _read_plain(native: Any) -> Array:
    """Read a column of pandas that holds numbers of NumPy, of which NaN are missing, without narwhals."""
    values: Array = native.to_numpy()
    return values.astype(np.float64) if values.dtype == np.float32 and np.isnan(values).any() else values


def read_numbers(series: nw.Series[Any]) -> Array:
    """Read numbers or booleans as they are stored, or as doubles if cells are missing, which become NaN."""
    dtype, n_missing = series.dtype, series.null_count()
    if dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128):
        if not n_missing:
            return series.to_numpy()
        missing = series.is_null().to_numpy()
        # Arrow refuses to convert integers that no double represents; NumPy rounds them to the nearest double.
        return np.where(missing, np.nan, series.fill_null(0).to_numpy().astype(np.float64))
    if n_missing or not dtype.is_float():
        series = series.cast(nw.Float64)
    return series.to_numpy()


def _finite(values: Array, what: str) -> Array:
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise InputError(f"{what} contains infinity, or a number that is too large for a double.", TOO_LARGE)
    return values


def _double(number: Any) -> float:
    """Return the nearest double, or infinity if the number is too large."""
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def _read_objects(series: nw.Series[Any], numbers: bool = True) -> Array | Nominal:
    """Read Python objects: as numbers if all of them are (and `numbers` is true), else as categories."""
    values = series.to_list()
    missing: Array = series.is_null().to_numpy() | np.array([isinstance(v, NUMBERS) and v != v for v in values])
    present = [v for v, is_missing in zip(values, missing) if not is_missing]
    kinds = set(map(type, present))
    if numbers and all(issubclass(kind, NUMBERS) for kind in kinds):
        column = np.full(len(values), np.nan)
        column[~missing] = [_double(v) for v in present]
        return _finite(column, f"Column {series.name!r} of X")
    for kind in kinds:
        if not issubclass(kind, (str, Enum, *NUMBERS)):
            raise InputTypeError(
                f"Column {series.name!r} of X holds objects of type {kind.__name__}, which are neither numbers nor "
                "text.",
                "Derive numbers or categories from them, or drop the column.",
            )
    # 1 and True are equal in Python, so the type is part of the key
    code_of = {key: k for k, key in enumerate(dict.fromkeys((type(v), v) for v in present))}
    codes = np.full(len(values), -1)
    codes[~missing] = [code_of[type(v), v] for v in present]
    return _sorted([v for _, v in code_of], codes)


def _read_categories(series: nw.Series[Any]) -> Nominal:
    native = series.to_native()
    if series.implementation.is_pandas_like():
        if hasattr(native, "cat"):
            values, codes = list(native.cat.categories), native.cat.codes.to_numpy()
            return _sorted(values, codes, values if native.cat.ordered else ())
        codes, values = native.factorize()
        return _sorted(list(values), codes)
    if series.implementation.is_pyarrow() and hasattr(native.type, "value_type"):
        # a cast to text would use Arrow's spelling of numbers and booleans
        coded = native.unify_dictionaries().combine_chunks()
        coded = coded.chunk(0) if hasattr(coded, "chunk") else coded
        codes = coded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
        values = coded.dictionary.to_pylist()
        return _sorted(values, codes, values if native.type.ordered else ())
    text = series.cast(nw.String)
    categories: Sequence[str] = sorted(text.drop_nulls().unique().to_list())
    null = "\0"  # the placeholder of a missing cell while values are replaced by codes
    while null in categories:
        null += "\0"
    codes = text.fill_null(null).replace_strict(
        [*categories, null], [*range(len(categories)), -1], return_dtype=nw.Int32
    )
    order = tuple(series.dtype.categories) if isinstance(series.dtype, nw.Enum) else ()
    return Nominal(codes.to_numpy(), tuple(categories), order)


def _sorted(values: Sequence[Any], codes: Array, order: Sequence[Any] = ()) -> Nominal:
    """Turn codes into values into codes into the sorted spellings of the values that occur.

    A missing value gets the code -1, as a missing cell does. An order of values whose spellings are equal is no order.
    """
    used = np.zeros(len(values) + 1, dtype=np.bool_)
    used[codes] = True  # -1 is the last entry
    names = {k: spell(v) for k, v in enumerate(values) if used[k] and v is not None and v == v}
    categories = sorted(set(names.values()))
    rank = {name: k for k, name in enumerate(categories)}
    lookup = np.full(len(used), -1)
    lookup[list(names)] = [rank[name] for name in names.values()]
    declared = tuple(spell(v) for v in order)
    return Nominal(lookup[codes], tuple(categories), declared if len(set(declared)) == len(declared) else ())
