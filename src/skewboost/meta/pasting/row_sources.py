"""The input of `fit`: where the rows come from, their classes, and how likely each is to be drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from skewboost.datasets.chunks import ChunkRows, ParquetRows, Rows, count_rows, is_path, stack
from skewboost.engine.table import Nominal, as_frame, read_table, take_rows
from skewboost.errors import InputError
from skewboost.metrics.targets import check_labels, check_sample_weight, choose_positive, classes_of
from skewboost.typing import Array

MAX_CLASSES = 65_536


def source_of(X: Any, y: Any, sample_weight: Any) -> Rows | None:
    """The rows that X reads from files or chunks; None if X is a table or an iterator."""
    if isinstance(X, Rows):
        if y is not None or sample_weight is not None:
            raise InputError(f"{type(X).__name__} already has labels and weights: leave y and sample_weight at None.")
        if isinstance(X, ParquetRows) and X.target is None:
            raise InputError('ParquetRows needs the column of the labels: ParquetRows(path, target="…").')
        return X
    if is_path(X):
        for name, value, kinds in (("y", y, str), ("sample_weight", sample_weight, str | None)):
            if not isinstance(value, kinds):
                got = type(value).__name__
                raise InputError(f"X names Parquet files, so {name} must be the name of a column; got {got}.")
        return ParquetRows(X, target=y, weight=sample_weight)
    as_frame(X)  # says how to read a table that is not in memory
    reads = callable(X) and not hasattr(X, "shape")
    if (reads or hasattr(X, "__next__")) and (y is not None or sample_weight is not None):
        raise InputError("X yields chunks (X, y) or (X, y, sample_weight): leave y and sample_weight at None.")
    return ChunkRows(X) if reads else None


@dataclass(frozen=True)
class Targets:
    """The classes, as codes, and the weights of all rows."""

    classes: Array
    codes: Array
    weights: Array | None

    @property
    def positive(self) -> Any:
        """The positive class of two, for all bites; None if there are more."""
        two = len(self.classes) == 2
        return self.classes[choose_positive(self.codes, np.arange(2), None, self.weights)] if two else None

    def chances(self, shares: Any) -> Array | None:
        """The probabilities of drawing the rows, up to a factor; None if all are equal."""
        if isinstance(shares, str) and shares == "data":
            return self.weights
        mass = np.bincount(self.codes, self.weights, minlength=len(self.classes))
        of_class = np.full(len(mass), 1.0 / len(mass)) if isinstance(shares, str) else self._shares(shares)
        chances: Array = (of_class / mass * len(self.codes))[self.codes]
        return chances if self.weights is None else chances * self.weights

    def _shares(self, shares: Mapping[Any, float]) -> Array:
        if set(shares) != set(self.classes.tolist()):
            raise InputError(f"class_shares must name every class of y, {self.classes.tolist()}; got {dict(shares)!r}.")
        return np.array([shares[c] for c in self.classes.tolist()], dtype=np.float64)


def read_targets(estimator: Any, rows: Rows) -> Targets:
    """Read the labels and weights of all chunks, as one byte per label if there are few classes."""
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
        if len(found) > MAX_CLASSES:
            raise InputError(f"y has more than {MAX_CLASSES} different values, which is too many for classes.")
        codes.append(numbers[places].astype(np.min_scalar_type(len(found))))
        if weight is not None:
            weights.append(weight)
        if weights and len(weights) != len(codes):
            raise InputError("Some chunks have weights and others do not.")
    if not codes:
        raise InputError("There are no rows: every chunk is empty.")
    return _targets(estimator, found, np.concatenate(codes), np.concatenate(weights) if weights else None)


def _check_weights(weights: Any, n_rows: int) -> Array:
    """Check the weights of a chunk, all of which may be zero."""
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight must be numbers: {error}.") from error
    return values if values.shape == (n_rows,) and not values.any() else check_sample_weight(values, n_rows)


def _targets(estimator: Any, found: dict[Any, int], codes: Array, weights: Array | None) -> Targets:
    """Sort the classes, without those whose rows all have weight zero."""
    present = np.bincount(codes, weights, minlength=len(found)) > 0
    try:
        labels = np.array([value for value, number in found.items() if present[number]])
        classes = classes_of(estimator, labels) if len(labels) else labels
    except TypeError as error:
        raise InputError(f"The labels cannot be sorted: {error}.", "Use only numbers, or only text.") from error
    if not len(classes):
        raise InputError("sample_weight is zero for every row.")
    rank = {value: k for k, value in enumerate(classes.tolist())}
    lookup = np.array([rank.get(value, 0) for value in found], dtype=codes.dtype)
    return Targets(classes, lookup[codes], weights)


def read_once(
    stream: Iterator[Any], max_rows: int, whole: bool, rng: np.random.Generator
) -> tuple[Any, Array, Any, int]:
    """Read an iterator of chunks: X, y and weights of a random sample of `max_rows` rows, and the number of all rows.

    Each row gets a random key, and the rows with the smallest keys are kept. With `whole`, more rows are an error.
    """
    keys = np.zeros(0)
    X, y, w, n_seen = None, np.zeros(0), None, 0
    for chunk in stream:
        rows = ChunkRows(lambda chunk=chunk: iter([chunk]))  # type: ignore[misc]
        (labels, weights), (table,) = next(rows.targets()), rows.tables()
        n_rows = count_rows(table)
        n_seen += n_rows
        if whole and n_seen > max_rows:
            raise InputError(
                f"kind='importance' reads the data more than once, but X is an iterator of more than pool_size="
                f"{max_rows} rows.",
                "Pass a function that returns a new iterator, or Parquet files; or set kind='random', or a larger "
                "pool_size.",
            )
        new = rng.random(n_rows)
        if len(keys) == max_rows:  # most later rows are not kept, and need not be copied
            low = np.flatnonzero(new < keys.max())
            if not len(low):
                continue
            table, labels, new = take_rows(table, low), np.asarray(labels)[low], new[low]
            weights = None if weights is None else np.asarray(weights)[low]
        if X is not None and (w is None) != (weights is None):
            raise InputError("Some chunks have weights and others do not.")
        keys = np.concatenate((keys, new))
        keep = np.sort(np.argpartition(keys, max_rows)[:max_rows]) if len(keys) > max_rows else np.arange(len(keys))
        keys = keys[keep]
        X = take_rows(table if X is None else stack([X, table]), keep)
        y = (np.asarray(labels) if not len(y) else np.concatenate((y, labels)))[keep]
        w = None if weights is None else (np.asarray(weights) if w is None else np.concatenate((w, weights)))[keep]
    if X is None:
        raise InputError("There are no rows: the iterator is empty.")
    return X, y, w, n_seen


def targets_in_memory(estimator: Any, y: Any, sample_weight: Any, n_rows: int) -> Targets:
    """The labels and weights of a table in memory."""
    labels = check_labels(estimator, y, n_rows)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, n_rows)
    classes = classes_of(estimator, labels if weights is None else labels[weights > 0])
    # a class of rows of weight zero is dropped; the codes of these rows do not matter
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return Targets(classes, codes, weights)


def rows_for_members(estimator: Any, X: Any, reset: bool, default: bool, arrow_as_pandas: bool) -> Any:
    """The rows as members read them: a float32 matrix for the `default` tree, otherwise the table itself."""
    if not default and hasattr(X, "shape") and not isinstance(X, np.ndarray):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if count_rows(X) == 0:
            raise InputError("Found an empty table: X has 0 rows, a minimum of 1 is required.")
        return _as_pandas(X) if arrow_as_pandas and hasattr(X, "to_pandas") and hasattr(X, "schema") else X
    table = read_table(estimator, X, reset=reset).in_memory
    if not default:
        return table.native
    columns = [] if table.matrix is not None else list(table.columns)
    for j, column in enumerate(columns):
        if isinstance(column, Nominal):
            raise InputError(
                f"Column {table.name(j)!r} of X has categories, but the default decision tree needs numbers.",
                "Pass an estimator that accepts categories, for example RealBoostClassifier(), or encode them first.",
            )
    values: Any = np.column_stack(columns) if table.matrix is None else table.matrix  # type: ignore[arg-type]
    with np.errstate(over="ignore"):
        matrix: Array = np.ascontiguousarray(values, dtype=np.float32)  # the dtype of decision trees
    if np.isinf(matrix).any():
        raise InputError("X contains a value too large for dtype('float32'), which decision trees use.")
    return matrix


def _as_pandas(table: Any) -> Any:
    try:
        import pandas  # noqa: F401
    except ImportError:
        return table
    frame = table.to_pandas()
    # keep an index that was requested as a column
    return frame if frame.shape[1] == table.num_columns else table.to_pandas(ignore_metadata=True)
