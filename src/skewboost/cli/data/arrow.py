"""Parquet, Feather and Arrow IPC, read by pyarrow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from skewboost.cli.data.content import Content, DataError
from skewboost.cli.data.source import CHUNK_ROWS, Source


class ArrowSource(Source):
    """Parquet, or Feather and Arrow IPC, files and streams: record batches with a schema."""

    def __init__(self, content: Content, format: str) -> None:
        super().__init__(content)
        self.format = format
        with self._explained():
            reader = self._open()
            schema = reader.schema_arrow if format == "parquet" else reader.schema
            types = dict(zip(schema.names, schema.types))
            index, self._categorical = self._pandas_columns(schema)
        self.columns = [name for name in schema.names if name not in index]
        self.check_names()
        self._types = {name: types[name] for name in self.columns}
        self._with_missing: set[str] | None = None

    def _open(self) -> Any:
        head = self.content.head
        if head.startswith(b"FEA1"):
            raise self.fail("version 1 of Feather is not supported", "Write the file again, or as Parquet.")
        place = self.content.open_seekable()
        stream = pa.OSFile(place) if isinstance(place, str) else place
        if self.format == "parquet":
            return pq.ParquetFile(stream)
        return pa.ipc.open_file(stream) if head.startswith(b"ARROW1") else pa.ipc.open_stream(stream)

    def _pandas_columns(self, schema: Any) -> tuple[set[str], set[str]]:
        """Return the columns that pandas wrote for its index, and those that were categorical in pandas."""
        try:
            metadata = schema.pandas_metadata
            if metadata is None:
                return set(), set()
            index = {name for name in metadata.get("index_columns", []) if isinstance(name, str)}
            return index, {c["name"] for c in metadata.get("columns", []) if c.get("pandas_type") == "categorical"}
        except (AttributeError, KeyError, TypeError, RecursionError) as error:
            raise self.fail("the metadata of pandas cannot be read", "Write the file again.") from error

    def _batches(self, n_rows: int, columns: list[str]) -> Iterator[Any]:
        """Yield record batches of these columns, of any length."""
        batches: Any = self._open()
        if self.format == "parquet":
            batches = batches.iter_batches(batch_size=n_rows, columns=columns)
        elif hasattr(batches, "num_record_batches"):  # a file, not a stream
            batches = map(batches.get_batch, range(batches.num_record_batches))
        for batch in batches:
            selected = batch.select(columns)
            selected.validate(full=True)  # in a damaged file, pyarrow would follow offsets out of bounds
            yield selected

    @property
    def _used(self) -> list[str]:
        return [name for name in self.columns if name not in self.left_out]

    def chunks_and_cells(self, n_rows: int, names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        """Yield pandas tables of `n_rows` rows each, and Arrow tables of the columns `names`."""
        for name in self._used:
            self._check_type(name)
        with self._explained():
            if self._with_missing is None:
                self._with_missing = self._find_missing()
            empty = True
            for table in _rechunk(self._batches(n_rows, list(dict.fromkeys((*self._used, *names)))), n_rows):
                empty = False
                chunk = pd.DataFrame({name: self._convert(name, table.column(name)) for name in self._used})
                yield chunk, table.select(names) if names else None
        if empty:
            raise self.fail("there are columns, but no rows", "Check how the file was written.")

    def _find_missing(self) -> set[str]:
        """Find integers and booleans with missing cells, which have another type in pandas, in all chunks alike.

        The counts in a Parquet file are not used: if they are damaged, pyarrow ends the process.
        """
        names = [n for n in self._used if pa.types.is_integer(self._types[n]) or pa.types.is_boolean(self._types[n])]
        found: set[str] = set()
        for batch in self._batches(CHUNK_ROWS, names) if names else ():
            found |= {name for name in names if batch.column(name).null_count}
        return found

    def _check_type(self, name: str) -> None:
        t, kind = pa.types, self._types[name]
        flat = (
            t.is_integer, t.is_floating, t.is_boolean, t.is_decimal, t.is_string, t.is_large_string, t.is_string_view,
            t.is_timestamp, t.is_date, t.is_null,
        )  # fmt: skip
        if not any(test(kind.value_type if t.is_dictionary(kind) else kind) for test in flat):
            problem = f"the type {kind} is neither a number nor text nor a date"
            raise self.fail(problem, "Derive such columns from it, or drop it.", column=name)

    def _convert(self, name: str, column: Any) -> Any:
        t, kind = pa.types, self._types[name]
        assert self._with_missing is not None
        missing = name in self._with_missing
        if name not in self.text and name not in self._categorical:
            if t.is_integer(kind):
                whole = "uint64" if kind == pa.uint64() else "int64"
                return pd.Series(column.to_numpy()).astype("float64" if missing else whole)
            if t.is_boolean(kind):
                return pd.Series(column.to_pylist(), dtype="boolean" if missing else "bool")
            if t.is_decimal(kind) or t.is_null(kind):
                return pd.Series(column.cast(pa.float64()).to_numpy(), dtype="float64")
            if t.is_floating(kind):
                return pd.Series(column.to_numpy(), dtype="float64" if kind == pa.float64() else "float32")
            if t.is_timestamp(kind) or t.is_date(kind):
                days = column.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False)
                return pd.Series(days.cast(pa.timestamp("us")).to_numpy(), dtype="datetime64[us]")
        try:
            cells = column.to_pylist()
        except (ValueError, OverflowError) as error:  # for example a date in the year 20000
            raise self.fail(f"a cell cannot be read ({error})", "Drop that column.", column=name) from error
        return self.as_text(pd.Series(cells, name=name, dtype=object))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (DataError, MemoryError):
            raise
        except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, json.JSONDecodeError) as error:
            what = " ".join(str(error).split())[:120].rstrip(".")
            raise self.fail(
                f"the {self.format} data is damaged or cut short ({what})", "Write the file again."
            ) from error


def cells_as_text(table: Any) -> Any:
    """Return the cells of an Arrow table as values that pandas writes exactly; missing cells are empty."""
    return pd.DataFrame({name: _as_cells(name, column) for name, column in zip(table.column_names, table.columns)})


def cells_as_objects(table: Any) -> list[dict[str, Any]]:
    """Return the rows of an Arrow table as objects of Python, for JSON."""
    t = pa.types
    for field in table.schema:
        if t.is_binary(field.type) or t.is_large_binary(field.type) or t.is_duration(field.type):
            raise _not_as_text(field.name, field.type)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _as_cells(name: str, column: Any) -> Any:
    t = pa.types
    if t.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if t.is_floating(kind):
        return pd.Series(column.to_numpy())
    if t.is_timestamp(kind):
        return column.to_pandas().astype(object).map(str, na_action="ignore")
    known = (
        t.is_integer, t.is_boolean, t.is_decimal, t.is_string, t.is_large_string, t.is_string_view, t.is_date,
        t.is_time, t.is_null,
    )  # fmt: skip
    if not any(test(kind) for test in known):
        raise _not_as_text(name, kind)
    return pd.Series(column.to_pylist(), dtype=object)


def _not_as_text(name: str, kind: Any) -> DataError:
    return DataError(
        f"--keep: the column {name!r} is of the type {kind}, which cannot be written as text.",
        "Leave it out, or write a .parquet or .feather file.",
    )


def _rechunk(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Yield Arrow tables of `n_rows` rows each, the last one with fewer, from batches of any length."""
    waiting: list[Any] = []
    total = 0
    for batch in batches:
        waiting.append(pa.Table.from_batches([batch]))
        total += batch.num_rows
        if total >= n_rows:
            joined = pa.concat_tables(waiting)
            full = total - total % n_rows
            for start in range(0, full, n_rows):
                yield joined.slice(start, n_rows)
            waiting, total = [joined.slice(full)], total - full
    if total:
        yield pa.concat_tables(waiting)
