"""What `fit` is given, read: where the rows are, which classes they have, how likely each is to be drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from skewboost.datasets.chunks import ChunkRows, ParquetRows, Rows, count_rows, is_path, stack
from skewboost.engine.table import Nominal, read_table, take_rows
from skewboost.errors import InputError
from skewboost.metrics.targets import check_labels, check_sample_weight, classes_of
from skewboost.typing import Array

MOST_CLASSES = 65_536


def source_of(X: Any, y: Any, sample_weight: Any) -> Rows | None:
    """The rows that X names or reads; None if X is the table itself."""
    if isinstance(X, Rows):
        if y is not None or sample_weight is not None:
            raise InputError(f"{type(X).__name__} says itself where labels and weights are: leave y and sample_weight.")
        if isinstance(X, ParquetRows) and X.target is None:
            raise InputError('ParquetRows needs the column of the labels: ParquetRows(path, target="…").')
        return X
    if is_path(X):
        for name, value in (("y", y), ("sample_weight", sample_weight)):
            if not isinstance(value, str) and (value is not None or name == "y"):
                got = "None" if value is None else f"an object of type {type(value).__name__}"
                raise InputError(f"X names Parquet files, so {name} must be the name of a column; got {got}.")
        return ParquetRows(X, target=y, weight=sample_weight)
    reads, is_iterator = callable(X) and not hasattr(X, "shape"), hasattr(X, "__next__")
    if (reads or is_iterator) and (y is not None or sample_weight is not None):
        raise InputError("X reads chunks (X, y) or (X, y, sample_weight): leave y and sample_weight at None.")
    return ChunkRows(X) if reads else None


@dataclass(frozen=True)
class Targets:
    """Classes as codes, and weights, of all rows."""

    classes: Array
    codes: Array
    weights: Array | None

    def chances(self, shares: Any) -> Array | None:
        """How likely rows are to be drawn, up to a factor; None if all equally."""
        if isinstance(shares, str) and shares == "data":
            return self.weights
        mass = np.bincount(self.codes, self.weights, minlength=len(self.classes))
        wanted = np.full(len(mass), 1.0 / len(mass)) if isinstance(shares, str) else self._shares(shares)
        chances: Array = (wanted / mass * len(self.codes))[self.codes]
        return chances if self.weights is None else chances * self.weights

    def _shares(self, shares: Mapping[Any, float]) -> Array:
        if set(shares) != set(self.classes.tolist()):
            raise InputError(
                f"class_shares must name every class, which are {self.classes.tolist()}; got {dict(shares)!r}."
            )
        return np.array([shares[c] for c in self.classes.tolist()], dtype=np.float64)


def read_targets(estimator: Any, rows: Rows) -> Targets:
    """The labels and weights of all chunks, one byte per label where there are few classes."""
    found: dict[Any, int] = {}
    codes: list[Array] = []
    weights: list[Array] = []
    for y, w in rows.targets():
        if len(y) == 0:
            continue
        labels = check_labels(estimator, y, len(y))
        values, places = np.unique(labels, return_inverse=True)
        weight = None if w is None else _check_weights(w, len(y))
        numbers = np.array([found.setdefault(v, len(found)) for v in values.tolist()])
        if len(found) > MOST_CLASSES:
            raise InputError(f"the labels have more than {MOST_CLASSES} different values, so they are no classes.")
        codes.append(numbers[places].astype(np.min_scalar_type(len(found))))
        if weight is not None:
            weights.append(weight)
        if weights and len(weights) != len(codes):
            raise InputError("some chunks have weights and others have none.")
    if not codes:
        raise InputError("there are no rows to learn from: every chunk is empty.")
    return _targets(estimator, found, np.concatenate(codes), np.concatenate(weights) if weights else None)


def _check_weights(weights: Any, n_rows: int) -> Array:
    """Weights of a chunk, all of which may be zero."""
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight must be numbers: {error}.") from error
    return values if values.shape == (n_rows,) and not values.any() else check_sample_weight(values, n_rows)


def _targets(estimator: Any, found: dict[Any, int], codes: Array, weights: Array | None) -> Targets:
    """Sort the classes; those of rows of weight zero only are none."""
    present = np.bincount(codes, weights, minlength=len(found)) > 0
    try:
        labels = np.array([value for value, number in found.items() if present[number]])
        classes = classes_of(estimator, labels) if len(labels) else labels
    except TypeError as error:
        raise InputError(f"The labels cannot be sorted: {error}. Make them all numbers, or all text.") from error
    if not len(classes):
        raise InputError("sample_weight is zero for every row, so there is nothing to learn from.")
    rank = {value: k for k, value in enumerate(classes.tolist())}
    lookup = np.array([rank.get(value, 0) for value in found], dtype=codes.dtype)
    return Targets(classes, lookup[codes], weights)


def read_once(stream: Iterator[Any], n_most: int, whole: bool, rng: np.random.Generator) -> tuple[Any, Array, Any, int]:
    """Read chunks that come only once: X, y and weights of a random sample of `n_most` rows, and how many there were.

    Each row gets a random number, and those of the smallest numbers stay. With `whole`, more rows are an error.
    """
    keys = np.zeros(0)
    X, y, w, n_seen = None, np.zeros(0), None, 0
    for chunk in stream:
        rows = ChunkRows(lambda chunk=chunk: iter([chunk]))  # type: ignore[misc]
        (labels, weights), (table,) = next(rows.targets()), rows.tables()
        n_rows = count_rows(table)
        n_seen += n_rows
        if whole and n_seen > n_most:
            raise InputError(
                f"kind='importance' returns to the data, which an iterator gives only once, and there are more than "
                f"pool_size={n_most} rows. Pass a function that returns a fresh iterator, or Parquet files; or take "
                "kind='random', or a larger pool_size."
            )
        new = rng.random(n_rows)
        if len(keys) == n_most:  # most of what comes late stays out, and need not be copied
            low = np.flatnonzero(new < keys.max())
            if not len(low):
                continue
            table, labels, new = take_rows(table, low), np.asarray(labels)[low], new[low]
            weights = None if weights is None else np.asarray(weights)[low]
        if X is not None and (w is None) != (weights is None):
            raise InputError("some chunks have weights and others have none.")
        keys = np.concatenate((keys, new))
        stay = np.sort(np.argpartition(keys, n_most)[:n_most]) if len(keys) > n_most else np.arange(len(keys))
        keys = keys[stay]
        X = take_rows(table if X is None else stack([X, table]), stay)
        y = (np.asarray(labels) if not len(y) else np.concatenate((y, labels)))[stay]
        w = None if weights is None else (np.asarray(weights) if w is None else np.concatenate((w, weights)))[stay]
    if X is None:
        raise InputError("there are no rows to learn from: the iterator is empty.")
    return X, y, w, n_seen


def targets_in_memory(estimator: Any, y: Any, sample_weight: Any, n_rows: int) -> Targets:
    """The labels and weights of a table in memory."""
    labels = check_labels(estimator, y, n_rows)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, n_rows)
    classes = classes_of(estimator, labels if weights is None else labels[weights > 0])
    # a class of rows of weight zero only is none, and it does not matter what these are
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return Targets(classes, codes, weights)


def rows_for_members(estimator: Any, X: Any, reset: bool, default: bool, arrow_as_pandas: bool) -> Any:
    """Rows as members take them: numbers for the `default` tree, else what was given."""
    if not default and hasattr(X, "shape") and not isinstance(X, np.ndarray):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if count_rows(X) == 0:
            raise InputError("Found an empty table: X has 0 rows, a minimum of 1 is required.")
        return _as_pandas(X) if arrow_as_pandas and hasattr(X, "to_pandas") and hasattr(X, "schema") else X
    table = read_table(estimator, X, reset=reset)
    if not default:
        return table.native
    columns = [] if table.matrix is not None else list(table.columns)
    for j, column in enumerate(columns):
        if isinstance(column, Nominal):
            raise InputError(
                f"column {table.name(j)!r} of X holds categories, and the default decision tree takes numbers only. "
                "Pass an estimator that takes them, for example RealBoostClassifier(), or encode them first."
            )
    values: Any = np.column_stack(columns) if table.matrix is None else table.matrix  # type: ignore[arg-type]
    with np.errstate(over="ignore"):
        matrix: Array = np.ascontiguousarray(values, dtype=np.float32)  # what trees compute in
    if np.isinf(matrix).any():
        raise InputError("X contains a value too large for dtype('float32'), which decision trees compute in.")
    return matrix


def _as_pandas(table: Any) -> Any:
    try:
        import pandas  # noqa: F401
    except ImportError:
        return table
    frame = table.to_pandas()
    # an index that was asked for as a column is to be one
    return frame if frame.shape[1] == table.num_columns else table.to_pandas(ignore_metadata=True)
