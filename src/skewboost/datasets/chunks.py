"""Rows in chunks: tables in memory, Parquet files, and whatever a function can read, behind one small interface.

Who learns from `Rows` reads the labels once, and then asks for a few rows by their numbers, again and again. A source
holds one chunk at a time, and what was asked for.
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

from skewboost.engine.table import as_frame, take_rows
from skewboost.errors import InputError, InputTypeError, MissingPackageError
from skewboost.typing import Array

Targets = tuple[Any, Any]  # the labels of a chunk, and its weights or None


class Rows(ABC):
    """A table that is read in chunks, always in the same order."""

    @abstractmethod
    def tables(self) -> Iterator[Any]:
        """The features, chunk after chunk."""

    @abstractmethod
    def targets(self) -> Iterator[Targets]:
        """Labels and weights, chunk after chunk."""

    def _spans(self, rows: Array) -> Iterator[tuple[int, Any]]:
        """The chunks that may hold some of these rows, each with the number of its first row."""
        start = 0
        for table in self.tables():
            n_rows = count_rows(table)
            yield start, table
            start += n_rows
            del table

    def gather(self, rows: Array) -> Any:
        """The features of some rows, given by their numbers in rising order without repeats."""
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
                f"the chunks held fewer rows than when they were read first: {len(rows) - found} of {len(rows)} rows "
                "are not there any more. Every reading must give the same rows in the same order."
            )
        return stack(pieces)


class MemoryRows(Rows):
    """A table in memory, as one chunk."""

    def __init__(self, X: Any, y: Any = None, weights: Any = None) -> None:
        self.X, self.y, self.weights = X, y, weights

    def tables(self) -> Iterator[Any]:
        """The table."""
        yield self.X

    def targets(self) -> Iterator[Targets]:
        """Its labels."""
        yield self.y, self.weights

    def gather(self, rows: Array) -> Any:
        """Some of its rows."""
        return take_rows(self.X, rows)


class ChunkRows(Rows):
    """What a function reads: each call returns a fresh iterator of ``(X, y)`` or ``(X, y, sample_weight)``.

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
            raise InputTypeError(f"a function that reads chunks must return an iterator; got {type(found).__name__}.")
        yield from found

    def tables(self) -> Iterator[Any]:
        """The features, checked to be of one width."""
        width = None
        for k, chunk in enumerate(self._read()):
            table = chunk[0] if isinstance(chunk, tuple) else chunk
            del chunk
            n_columns = _width(table)
            if width is not None and n_columns != width:
                raise InputError(f"chunk {k} has {n_columns} columns, but the first one had {width}.")
            width = n_columns
            yield table
            del table

    def targets(self) -> Iterator[Targets]:
        """The labels."""
        for k, chunk in enumerate(self._read()):
            if not isinstance(chunk, tuple) or not 2 <= len(chunk) <= 3:
                raise InputError(f"chunk {k} must be (X, y) or (X, y, sample_weight); got {type(chunk).__name__}.")
            n_rows, n_labels = count_rows(chunk[0]), len(chunk[1])
            if n_rows != n_labels:
                raise InputError(f"chunk {k} has {n_rows} rows in X and {n_labels} labels in y.")
            yield chunk[1], (chunk[2] if len(chunk) == 3 else None)
            del chunk


class ParquetRows(Rows):
    """Parquet files, of which a few ten thousand rows are in memory at a time.

    Parameters
    ----------
    path : str, path or list of them
        A file, several, a folder (all its ``*.parquet``, also in folders below) or a pattern with ``*``. Several files
        are one table; all must have the columns that are used, of the same types.
    target : str or None, default=None
        The column of the labels; None for rows that are to be predicted.
    columns : list of str or None, default=None
        The features; None for all columns but the target and the weight, and but the index where pandas wrote one.
    weight : str or None, default=None
        The column of weights.
    batch_rows : int, default=65536
        How many rows are read at a time.
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
        schema = self._schema(self.files[0])
        for role, name in (("target", target), ("weight", weight)):
            if name is not None and name not in schema.names:
                raise InputError(f"{self.files[0]} has no column {name!r} ({role}); its columns are {schema.names}.")
        taken = {target, weight, *_pandas_index(schema)}
        self.columns = [c for c in schema.names if c not in taken] if columns is None else list(columns)
        if not self.columns:
            raise InputError(f"{self.files[0]} has no column of features beside {target!r}.")
        if target in self.columns:
            raise InputError(f"the target {target!r} is among the columns of features.")
        for other in self.files:
            self._check_schema(other, schema)

    def _schema(self, path: str) -> Any:
        with _open(path) as file:
            return file.schema_arrow

    def _check_schema(self, path: str, first: Any) -> None:
        schema = self._schema(path)
        for name in [*self.columns, *filter(None, (self.target, self.weight))]:
            if name not in schema.names:
                raise InputError(f"{path} has no column {name!r}; its columns are {schema.names}.")
            if schema.field(name).type != first.field(name).type:
                raise InputError(
                    f"column {name!r} is {schema.field(name).type} in {path}, but {first.field(name).type} in "
                    f"{self.files[0]}. Write both with one type."
                )

    def _batches(self, columns: list[str], rows: Array | None = None) -> Iterator[tuple[int, Any]]:
        """Batches of some columns with the number of the first row; with `rows`, of groups that hold any of these."""
        import pyarrow as pa

        start = 0
        for path in self.files:
            with _open(path) as file:
                for group in range(file.num_row_groups):
                    n_rows = file.metadata.row_group(group).num_rows
                    wanted = rows is None or np.diff(np.searchsorted(rows, (start, start + n_rows)))[0] > 0
                    position = start
                    start += n_rows
                    if not wanted:
                        continue
                    try:
                        for batch in file.iter_batches(self.batch_rows, row_groups=[group], columns=columns):
                            table = pa.Table.from_batches([batch]).select(columns)
                            position += batch.num_rows
                            yield position - batch.num_rows, table
                            del batch, table
                    except (pa.ArrowException, OSError) as error:
                        raise InputError(f"{path} cannot be read to its end: {error}") from error

    def _spans(self, rows: Array) -> Iterator[tuple[int, Any]]:
        yield from self._batches(self.columns, rows)

    def tables(self) -> Iterator[Any]:
        """The features, as Arrow tables."""
        for _, table in self._batches(self.columns):
            yield table

    def targets(self) -> Iterator[Targets]:
        """The columns of labels and of weights; no other column is read."""
        assert self.target is not None
        for start, table in self._batches([self.target, *filter(None, [self.weight])]):
            yield self._values(table, self.target, start), self._values(table, self.weight, start)

    def _values(self, table: Any, name: str | None, start: int) -> Array | None:
        if name is None:
            return None
        column = table.column(name)
        if column.null_count:
            raise InputError(
                f"column {name!r} has missing values among rows {start} to {start + len(column)}. Drop those rows, or "
                "make them a class of their own."
            )
        if hasattr(column.type, "value_type"):
            if not hasattr(column.type, "index_type"):
                raise InputError(f"column {name!r} holds {column.type}, which is no label.")
            column = column.cast(column.type.value_type)
        values: Array = column.to_numpy()
        if values.dtype.kind == "M":
            raise InputError(f"column {name!r} holds {column.type}, which is no label.")
        return values


def find_files(path: Any) -> list[str]:
    """The files that a path, a folder, a pattern or a list of these names, in order."""
    if isinstance(path, list | tuple):
        if not path:
            raise InputError("the list of Parquet files is empty.")
        return [file for part in path for file in find_files(part)]
    name = os.fspath(path)
    if os.path.isdir(name):
        found = sorted(map(str, Path(name).rglob("*.parquet")))
        if not found:
            raise FileNotFoundError(f"the folder {name} holds no *.parquet file.")
        return found
    if os.path.exists(name):
        return [name]
    found = sorted(glob.glob(name, recursive=True))
    if not found:
        raise FileNotFoundError(f"there is no file {name}.")
    return found


def _open(path: str) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingPackageError('Reading Parquet needs pyarrow: pip install "skewboost[parquet]"') from error
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from error


def _pandas_index(schema: Any) -> list[str]:
    """The columns in which pandas has kept the index of a table: they say where a row stood, not what it is."""
    kept = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in kept if isinstance(name, str)]  # a range of numbers is a dict, and no column


def is_path(X: Any) -> bool:
    """Whether this names files."""
    if isinstance(X, list | tuple):
        return bool(X) and all(map(is_path, X))
    return isinstance(X, str | os.PathLike)


def count_rows(table: Any) -> int:
    """How many rows an array or a table has."""
    shape = getattr(table, "shape", None)
    return int(shape[0]) if shape is not None else len(table)


def _width(table: Any) -> int:
    shape = getattr(table, "shape", None) or np.shape(table)
    if len(shape) != 2:
        raise InputError(f"a chunk of features must be two-dimensional; got shape {shape}.")
    return int(shape[1])


def stack(pieces: list[Any]) -> Any:
    """Tables of one kind, one below the other."""
    if len(pieces) == 1:
        return pieces[0]
    frames = [as_frame(piece) for piece in pieces]
    if frames[0] is not None:
        return nw.concat(frames, how="vertical").to_native()
    return np.concatenate(pieces)
