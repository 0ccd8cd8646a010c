"""Parquet, Feather and Arrow's own formats, read by pyarrow."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from skewboost.cli.data.content import Content
from skewboost.cli.data.errors import DataError
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
        hidden, self._declared = _told_by_pandas(schema)
        self.columns = [name for name in schema.names if name not in hidden]
        self.check_names()
        self._types = {name: schema.field(name).type for name in self.columns}
        self._with_missing: set[str] | None = None

    @abstractmethod
    def _schema(self) -> Any:
        """Of the file."""

    @abstractmethod
    def _batches(self, n_rows: int, columns: list[str]) -> Iterator[Any]:
        """Record batches of these columns, of any length."""

    def _unknown_missing(self) -> tuple[set[str], list[str]]:
        """Columns with missing cells, and those of which the file does not say."""
        return set(), self._wanted

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
        """Whole numbers and booleans with missing cells are of another type in pandas; in all chunks or in none."""
        import pyarrow as pa

        known, unknown = self._unknown_missing()
        asked = [n for n in unknown if pa.types.is_integer(self._types[n]) or pa.types.is_boolean(self._types[n])]
        if asked:
            for batch in self._batches(CHUNK_ROWS, asked):
                known |= {name for name in asked if batch.column(name).null_count}
        return known

    def _tables(self, n_rows: int) -> Iterator[Any]:
        import pyarrow as pa

        waiting: list[Any] = []
        total = 0
        for batch in self._batches(n_rows, self._wanted):
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
            t.is_timestamp, t.is_date, t.is_null, t.is_dictionary,
        )  # fmt: skip
        if not any(test(kind) for test in flat):
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
            return self.as_text(pd.Series(column.to_pylist(), name=name, dtype=object))
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
        return self.as_text(pd.Series(column.to_pylist(), name=name, dtype=object))

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
        except (pa.ArrowException, OSError, EOFError) as error:
            what = " ".join(str(error).split())[:120].rstrip(".")
            raise self.fail(f"the {self.format} data is damaged or cut short ({what})", "Write it again.") from error


class ParquetFile(Arrow):
    """Parquet; read group by group."""

    format = "parquet"

    def _schema(self) -> Any:
        import pyarrow.parquet as pq

        self._file = pq.ParquetFile(self._seekable())
        return self._file.schema_arrow

    def _unknown_missing(self) -> tuple[set[str], list[str]]:
        metadata = self._file.metadata
        known: set[str] = set()
        unknown: set[str] = set()
        for group in range(metadata.num_row_groups):
            for k in range(metadata.num_columns):
                column = metadata.row_group(group).column(k)
                counted = column.statistics is not None and column.statistics.has_null_count
                if not counted:
                    unknown.add(column.path_in_schema)
                elif column.statistics.null_count:
                    known.add(column.path_in_schema)
        return known, [name for name in self._wanted if name in unknown]

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


def _told_by_pandas(schema: Any) -> tuple[set[str], set[str]]:
    """Columns that pandas wrote for its index, and those that were categories there, be they numbers."""
    told = (schema.metadata or {}).get(b"pandas")
    if told is None:
        return set(), set()
    about = json.loads(told)
    hidden = {name for name in about.get("index_columns", []) if isinstance(name, str)}
    return hidden, {c["name"] for c in about.get("columns", []) if c.get("pandas_type") == "categorical"}
