"""Files that commands write: pictures, and tables of predictions, chunk by chunk."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Protocol

from skewboost.cli.exit_codes import CommandError
from skewboost.cli.output import RawOutput, json_text, list_names
from skewboost.files import check_writable, write_whole, written_whole

TEXT = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
ARROW = (".parquet", ".feather", ".arrow")
SUFFIXES = (*TEXT, *ARROW)
PICTURES = (".png", ".svg", ".pdf")
DPI = 150


def check_output(path: str | None, suffixes: Sequence[str] = (), option: str = "-o") -> None:
    """Raise, before any work is done, if a file cannot be written or its name has another ending."""
    if path is None:
        return
    if suffixes and not Path(path).name.lower().endswith(tuple(suffixes)):
        raise CommandError(f"{option} {path}: the name must end in {list_names(suffixes, 10)}.")
    try:
        check_writable(path)
    except OSError as error:
        raise CommandError(f"{option} {path}: {error.strerror}.") from error


def save_picture(figure: Any, path: str | Path) -> Path:
    """Write a figure in the format of the file's ending."""
    picture = io.BytesIO()
    figure.savefig(picture, format=Path(path).suffix[1:].lower(), dpi=DPI)
    return write_whole(path, picture.getvalue())


class Writer(Protocol):
    """Writes frames one after the other."""

    def write(self, frame: Any) -> None:
        """Write the rows of a frame."""


@contextmanager
def open_writer(path: str | None, json_rows: bool = False) -> Iterator[Writer]:
    """A writer to a file in the format of its ending, or to standard output if the path is None."""
    if path is None:
        rows = JsonRows(RawOutput()) if json_rows else None
        yield rows or Delimited(RawOutput(), ",")
        if rows is not None:
            rows.close()
        sys.stdout.flush()  # here, so that an error is reported
        return
    ending = next(s for s in sorted(SUFFIXES, key=len, reverse=True) if path.lower().endswith(s))
    if ending in ARROW and find_spec("pyarrow") is None:
        raise CommandError(f"{ending} files need pyarrow.", 'Run pip install "skewboost[parquet]", or write .csv.')
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
            text.detach()  # `written_whole` closes the file
            if packed is not None:
                packed.close()


class Delimited:
    """CSV or TSV with a header line."""

    def __init__(self, file: Any, separator: str) -> None:
        self._file, self._separator, self._started = file, separator, False

    def write(self, frame: Any) -> None:
        """Write the rows of a frame."""
        options = {"sep": self._separator, "index": False, "header": not self._started, "lineterminator": "\n"}
        text = frame.to_csv(**options)
        if "\r" in text:  # a line end for some readers, which Python before 3.13 does not quote
            text = frame.to_csv(**options, quoting=csv.QUOTE_NONNUMERIC)
        self._file.write(text)
        self._started = True


class JsonRows:
    """A JSON list with an object per row."""

    def __init__(self, file: Any) -> None:
        self._file, self._started = file, False

    def write(self, frame: Any) -> None:
        """Write the rows of a frame."""
        for row in frame.to_dict("records"):
            self._file.write((",\n" if self._started else "[\n") + json_text(row, indent=None))
            self._started = True

    def close(self) -> None:
        """End the list."""
        self._file.write("\n]\n" if self._started else "[]\n")


class ArrowFile:
    """Parquet or Arrow; the first frame determines the types of the columns."""

    def __init__(self, file: IO[bytes], parquet: bool) -> None:
        self._file, self._parquet = file, parquet
        self._writer: Any = None

    def write(self, frame: Any) -> None:
        """Write the rows of a frame."""
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
        """End the file."""
        if self._writer is not None:
            self._writer.close()


def _schema(frame: Any) -> Any:
    """The schema of the first frame; a column without values may hold text in later frames."""
    import pyarrow as pa

    schema = pa.Schema.from_pandas(frame, preserve_index=False).remove_metadata()
    for k, column in enumerate(schema):
        if pa.types.is_null(column.type):
            schema = schema.set(k, pa.field(column.name, pa.string()))
    return schema
