"""Where tables of answers go: CSV, Parquet and Arrow files, or standard output; all of them chunk by chunk."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from typing import IO, Any, Protocol

from skewboost.cli.exit_codes import CommandError
from skewboost.cli.output import Verbatim, as_json
from skewboost.files import written_whole

TEXT = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
ARROW = (".parquet", ".feather", ".arrow")
SUFFIXES = (*TEXT, *ARROW)


class Writer(Protocol):
    """Takes frames, one after the other."""

    def write(self, frame: Any) -> None:
        """Add the rows of a frame."""


@contextmanager
def writer_to(path: str | None, json_rows: bool = False) -> Iterator[Writer]:
    """A writer to a file, in the format that the name's end says; to standard output if there is no name."""
    if path is None:
        rows = JsonRows(Verbatim()) if json_rows else None
        yield rows or Delimited(Verbatim(), ",")
        if rows is not None:
            rows.close()
        sys.stdout.flush()  # now, where somebody can still be told that it does not work
        return
    ending = next(s for s in sorted(SUFFIXES, key=len, reverse=True) if path.lower().endswith(s))
    if ending in ARROW and find_spec("pyarrow") is None:
        raise CommandError(f'{ending} needs pyarrow: pip install "skewboost[parquet]"; or write .csv.')
    with written_whole(path) as file:
        if ending in ARROW:
            with closing(ArrowFile(file, parquet=ending == ".parquet")) as arrow:
                yield arrow
            return
        packed = gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") if ending.endswith(".gz") else None
        text = io.TextIOWrapper(packed or file, encoding="utf-8", newline="")
        try:
            yield Delimited(text, TEXT[ending])
        finally:
            text.detach()  # rather than closed: the file is not ours to close
            if packed is not None:
                packed.close()


class Delimited:
    """CSV or TSV, with a line of names first."""

    def __init__(self, file: Any, separator: str) -> None:
        self._file, self._separator, self._begun = file, separator, False

    def write(self, frame: Any) -> None:
        """Add the rows of a frame."""
        how = {"sep": self._separator, "index": False, "header": not self._begun, "lineterminator": "\n"}
        text = frame.to_csv(**how)
        if "\r" in text:  # which readers take for the end of a line, and Python before 3.13 does not quote
            text = frame.to_csv(**how, quoting=csv.QUOTE_NONNUMERIC)
        self._file.write(text)
        self._begun = True


class JsonRows:
    """One JSON list with an object per row."""

    def __init__(self, file: Any) -> None:
        self._file, self._begun = file, False

    def write(self, frame: Any) -> None:
        """Add the rows of a frame."""
        for row in frame.to_dict("records"):
            self._file.write((",\n" if self._begun else "[\n") + as_json(row, indent=None))
            self._begun = True

    def close(self) -> None:
        """The end of the list."""
        self._file.write("\n]\n" if self._begun else "[]\n")


class ArrowFile:
    """Parquet or Arrow; the columns are what they are in the first frame."""

    def __init__(self, file: IO[bytes], parquet: bool) -> None:
        self._file, self._parquet = file, parquet
        self._writer: Any = None

    def write(self, frame: Any) -> None:
        """Add the rows of a frame."""
        import pyarrow as pa

        if self._writer is None:
            self._schema = _schema(frame)
            self._writer = self._open(self._schema)
        self._writer.write_table(pa.Table.from_pandas(frame, schema=self._schema, preserve_index=False))

    def _open(self, schema: Any) -> Any:
        if self._parquet:
            from pyarrow.parquet import ParquetWriter

            return ParquetWriter(self._file, schema)
        import pyarrow as pa

        return pa.ipc.new_file(self._file, schema)

    def close(self) -> None:
        """The end of the file."""
        if self._writer is not None:
            self._writer.close()


def _schema(frame: Any) -> Any:
    """Of the first frame; a column of nothing may hold text later on."""
    import pyarrow as pa

    schema = pa.Schema.from_pandas(frame, preserve_index=False).remove_metadata()
    for k, column in enumerate(schema):
        if pa.types.is_null(column.type):
            schema = schema.set(k, pa.field(column.name, pa.string()))
    return schema
