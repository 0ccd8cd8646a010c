"""Tables that are read in chunks: Parquet files, functions that yield chunks, and tables in memory.

An estimator reads the labels once, and then gathers a few rows at a time by their numbers. Only one chunk and the
gathered rows are in memory.
"""

from __future__ import annotations

import glob
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from skewboost.datasets._checks import import_parquet
from skewboost.engine.computed import ComputedTable
from skewboost.engine.table import as_frame, take_rows
from skewboost.errors import InputError, InputTypeError
from skewboost.typing import Array

Targets = tuple[Any, Any]  # the labels and the weights of a chunk; None for no weights


class Rows(ABC):
    """A table that is read in chunks, always in the same order."""

    @abstractmethod
    def tables(self) -> Iterator[Any]:
        """Yield the features of each chunk."""

    @abstractmethod
    def targets(self) -> Iterator[Targets]:
        """Yield the labels and the weights of each chunk."""

    def _spans(self, rows: Array) -> Iterator[tuple[int, Any]]:
        """Yield the chunks that may hold some of these rows, each with the number of its first row."""
        start = 0
        for table in self.tables():
            n_rows = count_rows(table)
            yield start, table
            start += n_rows
            del table

    def gather(self, rows: Array) -> Any:
        """Return the features of some rows, whose numbers are in increasing order."""
        pieces = []
        for start, table in self._spans(rows):
            first, last = np.searchsorted(rows, (start, start + count_rows(table)))
            if last > first:
                pieces.append(take_rows(table, rows[first:last] - start))
            del table  # before the next one is read
            if last == len(rows):
                break
        found = sum(map(count_rows, pieces))
        if found != len(rows):
            raise InputError(
                f"{len(rows) - found} of {len(rows)} rows that were in the chunks before are missing now.",
                "Every pass over the chunks must give the same rows in the same order.",
            )
        return stack(pieces)


class MemoryRows(Rows):
    """A table in memory, as one chunk."""

    def __init__(self, X: Any, y: Any = None, weights: Any = None) -> None:
        self.X, self.y, self.weights = X, y, weights

    def tables(self) -> Iterator[Any]:
        """Yield the table."""
        yield self.X

    def targets(self) -> Iterator[Targets]:
        """Yield its labels and weights."""
        yield self.y, self.weights

    def gather(self, rows: Array) -> Any:
        """Return some of its rows."""
        return take_rows(self.X, rows)


class ChunkRows(Rows):
    """Chunks that a function reads: each call returns a new iterator of ``(X, y)`` or ``(X, y, sample_weight)``.

    Parameters
    ----------
    chunks : callable
        Returns an iterator. Chunks may differ in length, but every call must give the same rows in the same order.
        For prediction a chunk may be ``X`` alone.

    Examples
    --------
    >>> import numpy as np
    >>> from skewboost.datasets.chunks import ChunkRows
    >>> rows = ChunkRows(lambda: ((np.full((3, 2), k), np.zeros(3)) for k in range(4)))
    >>> rows.gather(np.array([1, 2, 10])).tolist()
    [[0, 0], [0, 0], [3, 3]]
    """

    def __init__(self, chunks: Callable[[], Any]) -> None:
        self.chunks = chunks

    def _read(self) -> Iterator[Any]:
        found = self.chunks()
        if not hasattr(found, "__iter__"):
            raise InputTypeError(f"The function that reads chunks must return an iterator; got {type(found).__name__}.")
        yield from found

    def tables(self) -> Iterator[Any]:
        """Yield the features of each chunk, after a check that all have the same number of columns."""
        width = None
        for k, chunk in enumerate(self._read()):
            table = chunk[0] if isinstance(chunk, tuple) else chunk
            del chunk
            n_columns = _width(table)
            if width is not None and n_columns != width:
                raise InputError(f"Chunk {k} has {n_columns} columns, but the first one had {width}.")
            width = n_columns
            yield table
            del table

    def targets(self) -> Iterator[Targets]:
        """Yield the labels and the weights of each chunk."""
        for k, chunk in enumerate(self._read()):
            if not isinstance(chunk, tuple) or not 2 <= len(chunk) <= 3:
                raise InputError(f"Chunk {k} must be (X, y) or (X, y, sample_weight); got {type(chunk).__name__}.")
            n_rows, n_labels = count_rows(chunk[0]), len(chunk[1])
            if n_rows != n_labels:
                raise InputError(f"Chunk {k} has {n_rows} rows in X and {n_labels} labels in y.")
            yield chunk[1], (chunk[2] if len(chunk) == 3 else None)
            del chunk


class ParquetRows(Rows):
    """Parquet files, of which one batch of rows is in memory at a time.

    Parameters
    ----------
    path : str, path or list of them
        A file, several files, a folder (all ``*.parquet`` in it and below) or a pattern with ``*``. Several files form
        one table, and the columns that are used must have the same types in all of them.
    target : str or None, default=None
        The column of the labels; None if the rows are only used for prediction.
    columns : list of str or None, default=None
        The features; None for all columns except the target, the weight and the index of pandas.
    weight : str or None, default=None
        The column of weights.
    batch_rows : int, default=65536
        The number of rows that are read at a time.
    """

    def __init__(
        self,
        path: Any,
        target: str | None = None,
        columns: Sequence[str] | None = None,
        weight: str | None = None,
        batch_rows: int = 65_536,
    ) -> None:
        self.files = find_files(path)
        self.target, self.weight, self.batch_rows = target, weight, batch_rows
        schema = _schema(self.files[0])
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        taken = [target, weight, *(name for name in index if isinstance(name, str))]  # a range is a dict, not a column
        self.columns = [c for c in schema.names if c not in taken] if columns is None else list(columns)
        if not self.columns:
            raise InputError(f"{self.files[0]} has no features besides the target {target!r}.")
        if target in self.columns:
            raise InputError(f"The target {target!r} is also listed in columns. Remove it there.")
        for other in self.files:
            self._check_schema(other, schema)

    def _check_schema(self, path: str, first: Any) -> None:
        schema = _schema(path)
        for name in [*self.columns, *filter(None, (self.target, self.weight))]:
            if name not in schema.names:
                raise InputError(f"{path} has no column {name!r}; its columns are {schema.names}.")
            here, there = schema.field(name).type, first.field(name).type
            if here != there:
                problem = f"Column {name!r} is {here} in {path}, but {there} in {self.files[0]}."
                raise InputError(problem, "Write both files with the same type.")

    def _batches(self, columns: list[str], rows: Array | None = None) -> Iterator[tuple[int, Any]]:
        """Yield batches with the number of their first row; with `rows`, only from row groups that hold any of them."""
        import pyarrow as pa

        start = 0
        for path in self.files:
            with _open(path) as file:
                for group in range(file.num_row_groups):
                    at, start = start, start + file.metadata.row_group(group).num_rows
                    if rows is not None and np.diff(np.searchsorted(rows, (at, start)))[0] == 0:
                        continue
                    try:
                        for batch in file.iter_batches(self.batch_rows, row_groups=[group], columns=columns):
                            yield at, pa.Table.from_batches([batch]).select(columns)
                            at += batch.num_rows
                            del batch  # before the next one is read
                    except (pa.ArrowException, OSError) as error:
                        raise InputError(f"{path} cannot be read to its end: {error}") from error

    def _spans(self, rows: Array) -> Iterator[tuple[int, Any]]:
        yield from self._batches(self.columns, rows)

    def tables(self) -> Iterator[Any]:
        """Yield the features as Arrow tables."""
        yield from (table for _, table in self._batches(self.columns))

    def targets(self) -> Iterator[Targets]:
        """Yield labels and weights; no other column is read."""
        assert self.target is not None
        for start, table in self._batches([self.target, *filter(None, [self.weight])]):
            yield self._values(table, self.target, start), self._values(table, self.weight, start)

    def _values(self, table: Any, name: str | None, start: int) -> Array | None:
        if name is None:
            return None
        column = table.column(name)
        if column.null_count:
            raise InputError(
                f"Column {name!r} has missing values in rows {start} to {start + len(column)}.",
                "Drop those rows, or make them a class of their own.",
            )
        if hasattr(column.type, "index_type"):  # a dictionary of categories
            column = column.cast(column.type.value_type)
        values: Array = column.to_numpy()
        if values.dtype.kind == "M" or hasattr(column.type, "value_type"):
            raise InputError(f"Column {name!r} has the type {column.type}, which cannot be a label or a weight.")
        return values


def find_files(path: Any) -> list[str]:
    """Return the files that are named by a path, a folder, a pattern or a list of these, in order."""
    if isinstance(path, list | tuple):
        if not path:
            raise InputError("The list of Parquet files is empty.")
        return [file for part in path for file in find_files(part)]
    name = os.fspath(path)
    if os.path.isfile(name):
        return [name]
    if os.path.isdir(name):
        found, problem = sorted(map(str, Path(name).rglob("*.parquet"))), f"The folder {name} has no *.parquet files."
    else:
        found, problem = sorted(glob.glob(name, recursive=True)), f"There is no file {name}."
    if not found:
        raise FileNotFoundError(problem)
    return found


def _open(path: str) -> Any:
    pq = import_parquet()
    import pyarrow as pa

    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from error


def _schema(path: str) -> Any:
    with _open(path) as file:
        return file.schema_arrow


def is_path(X: Any) -> bool:
    """Whether X is a path or a list of paths."""
    if isinstance(X, list | tuple):
        return bool(X) and all(map(is_path, X))
    return isinstance(X, str | os.PathLike)


def count_rows(table: Any) -> int:
    """Return the number of rows of an array or a table."""
    shape = getattr(table, "shape", None)
    return int(shape[0]) if shape is not None else len(table)


def _width(table: Any) -> int:
    shape = getattr(table, "shape", None) or np.shape(table)
    if len(shape) != 2:
        raise InputError(f"X of a chunk must be two-dimensional; got shape {shape}.")
    return int(shape[1])


def stack(pieces: list[Any]) -> Any:
    """Concatenate the rows of tables of one type."""
    if len(pieces) == 1:
        return pieces[0]
    frames = [as_frame(piece) for piece in pieces]
    if frames[0] is not None:
        return nw.concat(frames, how="vertical").to_native()
    joined = pieces[0].followed_by(pieces[1:]) if isinstance(pieces[0], ComputedTable) else None
    return np.concatenate(pieces) if joined is None else joined
