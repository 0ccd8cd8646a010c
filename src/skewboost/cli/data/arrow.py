"""Parquet, Feather and Arrow's own formats, read by pyarrow."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from skewboost.cli.data.content import Content
from skewboost.cli.data.data_error import DataError
from skewboost.cli.data.source import CHUNK_ROWS, Source


class Arrow(Source):
    """What both formats share: record batches of a schema."""

    def __init__(self, content: Content, text: Collection[str] = ()) -> None:
        super().__init__(content, text)
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise DataError(
                f'{content.name}: reading {self.format} needs pyarrow. Install it: pip install "skewboost[parquet]"'
            ) from error
        with self._explained():
            schema = self._schema()
            types = dict(zip(schema.names, schema.types))
            hidden, self._declared = self._told_by_pandas(schema)
        self.columns = [name for name in schema.names if name not in hidden]
        self.check_names()
        self._types = {name: types[name] for name in self.columns}
        self._with_missing: set[str] | None = None

    @abstractmethod
    def _schema(self) -> Any:
        """Of the file."""

    def _told_by_pandas(self, schema: Any) -> tuple[set[str], set[str]]:
        """Columns that pandas wrote for its index, and those that were categories there, be they numbers."""
        told = (schema.metadata or {}).get(b"pandas")
        if told is None:
            return set(), set()
        try:
            about = json.loads(told)
            hidden = {name for name in about.get("index_columns", []) if isinstance(name, str)}
            return hidden, {c["name"] for c in about.get("columns", []) if c.get("pandas_type") == "categorical"}
        except (AttributeError, KeyError, TypeError, RecursionError) as error:
            raise self.fail("what pandas noted about the columns cannot be read", "Write it again.") from error

    @abstractmethod
    def _batches(self, n_rows: int, columns: list[str]) -> Iterator[Any]:
        """Record batches of these columns, of any length."""

    def _checked_batches(self, n_rows: int, columns: list[str]) -> Iterator[Any]:
        """The same, if all is within bounds: pyarrow follows offsets of a damaged file to wherever they lead."""
        for batch in self._batches(n_rows, columns):
            batch.validate(full=True)
            yield batch

    @property
    def _wanted(self) -> list[str]:
        """The columns that are read."""
        return [name for name in self.columns if name not in self.left_out]

    def chunks(self, n_rows: int = CHUNK_ROWS) -> Iterator[Any]:
        """Pandas tables of so many rows each."""
        import pandas as pd

        for name in self._wanted:
            self._check(name, self._types[name])
        with self._explained():
            if self._with_missing is None:
                self._with_missing = self._find_missing()
            found = False
            for table in self._tables(n_rows):
                found = True
                yield pd.DataFrame({name: self._converted(name, table.column(name)) for name in self._wanted})
        if not found:
            raise self.fail("there are columns, but no rows", "Check how the file was written.")

    def _find_missing(self) -> set[str]:
        """Whole numbers and booleans with missing cells are of another type in pandas; in all chunks or in none.

        The counts in a Parquet file are not asked: where they are damaged, pyarrow ends the process.
        """
        import pyarrow as pa

        counted = (pa.types.is_integer, pa.types.is_boolean)
        asked = [name for name in self._wanted if any(test(self._types[name]) for test in counted)]
        found: set[str] = set()
        for batch in self._checked_batches(CHUNK_ROWS, asked) if asked else ():
            found |= {name for name in asked if batch.column(name).null_count}
        return found

    def _tables(self, n_rows: int) -> Iterator[Any]:
        import pyarrow as pa

        waiting: list[Any] = []
        total = 0
        for batch in self._checked_batches(n_rows, self._wanted):
            waiting.append(pa.Table.from_batches([batch]))
            total += batch.num_rows
            while total >= n_rows:
                joined = pa.concat_tables(waiting)
                yield joined.slice(0, n_rows)
                rest = joined.slice(n_rows)
                waiting, total = [rest], rest.num_rows
        if total:
            yield pa.concat_tables(waiting)

    def _check(self, name: str, kind: Any) -> None:
        import pyarrow as pa

        t = pa.types
        flat = (
            t.is_integer, t.is_floating, t.is_boolean, t.is_decimal, t.is_string, t.is_large_string, t.is_string_view,
            t.is_timestamp, t.is_date, t.is_null,
        )  # fmt: skip
        if not any(test(kind.value_type if t.is_dictionary(kind) else kind) for test in flat):
            raise self.fail(
                f"the type {kind} is neither a number nor text nor a date",
                "Derive such columns, or drop it.",
                column=name,
            )

    def _converted(self, name: str, column: Any) -> Any:
        import pandas as pd
        import pyarrow as pa

        kind = self._types[name]
        assert self._with_missing is not None
        missing = name in self._with_missing
        if name in self.text or name in self._declared or pa.types.is_dictionary(kind):
            return self.as_text(pd.Series(self._cells(name, column), name=name, dtype=object))
        if pa.types.is_integer(kind):
            whole = "uint64" if kind == pa.uint64() else "int64"
            return pd.Series(column.to_numpy(), name=name).astype("float64" if missing else whole)
        if pa.types.is_boolean(kind):
            return pd.Series(column.to_pylist(), name=name, dtype="boolean" if missing else "bool")
        if pa.types.is_decimal(kind) or pa.types.is_null(kind):
            return pd.Series(column.cast(pa.float64()).to_numpy(), name=name, dtype="float64")
        if pa.types.is_floating(kind):
            return pd.Series(column.to_numpy(), name=name, dtype="float64" if kind == pa.float64() else "float32")
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            days = column.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False)
            return pd.Series(days.cast(pa.timestamp("us")).to_numpy(), name=name, dtype="datetime64[us]")
        return self.as_text(pd.Series(self._cells(name, column), name=name, dtype=object))

    def _cells(self, name: str, column: Any) -> list[Any]:
        try:
            return list(column.to_pylist())
        except (ValueError, OverflowError) as error:  # a date of the year 20000, say
            raise self.fail(f"a cell cannot be read ({error})", "Drop that column.", column=name) from error

    def _seekable(self) -> Any:
        import pyarrow as pa

        place = self.content.open_seekable()
        return pa.OSFile(place) if isinstance(place, str) else place

    @contextmanager
    def _explained(self) -> Iterator[None]:
        import pyarrow as pa

        try:
            yield
        except DataError:
            raise
        except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, json.JSONDecodeError) as error:
            what = " ".join(str(error).split())[:120].rstrip(".")
            raise self.fail(f"the {self.format} data is damaged or cut short ({what})", "Write it again.") from error


class ParquetFile(Arrow):
    """Parquet; read group by group."""

    format = "parquet"

    def _schema(self) -> Any:
        import pyarrow.parquet as pq

        self._file = pq.ParquetFile(self._seekable())
        return self._file.schema_arrow

    def _batches(self, n_rows: int, columns: list[str]) -> Iterator[Any]:
        yield from self._file.iter_batches(batch_size=n_rows, columns=columns)


class ArrowFile(Arrow):
    """Feather and Arrow IPC, files and streams."""

    format = "arrow"

    def _open(self) -> Any:
        import pyarrow as pa

        if self.content.head.startswith(b"FEA1"):
            raise self.fail("this is Feather of version 1, which is no longer read", "Write it again, or as Parquet.")
        stream = self._seekable()
        is_file = self.content.head.startswith(b"ARROW1")
        return pa.ipc.open_file(stream) if is_file else pa.ipc.open_stream(stream)

    def _schema(self) -> Any:
        return self._open().schema

    def _batches(self, n_rows: int, columns: list[str]) -> Iterator[Any]:
        reader = self._open()
        if hasattr(reader, "num_record_batches"):
            batches: Any = (reader.get_batch(k) for k in range(reader.num_record_batches))
        else:
            batches = reader
        for batch in batches:
            yield batch.select(columns)
