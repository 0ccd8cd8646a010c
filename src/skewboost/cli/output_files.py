"""Files that commands write: pictures, and tables of predictions, chunk by chunk."""

from __future__ import annotations

import csv
import gzip
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import IO, Any

from skewboost.cli.exit_codes import CommandError
from skewboost.cli.output import json_text, list_names, source_name, write_raw
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


def check_files_differ(inputs: Sequence[str], outputs: Mapping[str, str]) -> None:
    """Raise if a file that a command reads is one that it writes, by whatever name, or if it writes one file twice.

    Parameters
    ----------
    inputs : sequence of str
        Paths; "-" is standard input.
    outputs : mapping
        The path of each option.
    """
    read: dict[Any, str] = {_identity(0 if path == "-" else path): path for path in inputs}
    read.pop(None, None)  # pipes
    printed = _identity(1)
    if printed in read and sys.stdout is not None:
        raise CommandError(
            f"the output is redirected to {source_name(read[printed])}, which the command reads.",
            "Redirect it to another file.",
        )
    written: dict[Any, str] = {}
    for option, path in outputs.items():
        file = _identity(path) or os.path.realpath(path)
        if file in read:
            other = source_name(read[file])
            same = "" if path == other else f" (the same file as {other})"
            raise CommandError(
                f"{option} {path}{same}: the command reads this file, and would replace it.", "Name another file."
            )
        if file in written:
            raise CommandError(f"{option} {path}: {written[file]} names the same file.", "Name another file.")
        written[file] = option


def _identity(path: str | int) -> tuple[int, int] | None:
    """Where the content of a file is, whatever its name; None if there is no file, or it is a pipe or a device."""
    try:
        about = os.stat(path)
    except OSError:
        return None
    return (about.st_dev, about.st_ino) if stat.S_ISREG(about.st_mode) else None


def save_picture(figure: Any, path: str | Path) -> Path:
    """Write a figure in the format of the file's ending."""
    picture = io.BytesIO()
    figure.savefig(picture, format=Path(path).suffix[1:].lower(), dpi=DPI)
    return write_whole(path, picture.getvalue())


def write_frames(frames: Iterator[tuple[Any, Any]], path: str | None, as_json: bool) -> None:
    """Write tables to a file in the format of its ending, or to standard output if the path is None.

    Each is a pair: cells that are copied from the input (see `Source.chunks_and_cells`), or None, and a frame.
    """
    if path is None:
        if as_json:
            _write_json(frames)
        else:
            _write_delimited(frames, write_raw, ",")
        sys.stdout.flush()  # here, so that an error is reported
        return
    ending = next(s for s in sorted(SUFFIXES, key=len, reverse=True) if path.lower().endswith(s))
    if ending in ARROW and find_spec("pyarrow") is None:
        raise CommandError(f"{ending} files need pyarrow.", 'Run pip install "skewboost[parquet]", or write .csv.')
    with written_whole(path) as file:
        if ending in ARROW:
            _write_arrow(frames, file, parquet=ending == ".parquet")
            return
        packed = gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") if ending.endswith(".gz") else None
        text = io.TextIOWrapper(packed or file, encoding="utf-8", newline="")
        try:
            _write_delimited(frames, text.write, TEXT[ending])
        finally:
            text.detach()  # `written_whole` closes the file
            if packed is not None:
                packed.close()


def _beside(cells: Any, frame: Any) -> Any:
    """A frame with the cells that are copied from text as its first columns."""
    import pandas as pd

    return frame if cells is None else pd.concat([cells, frame], axis=1)


def _is_arrow(cells: Any) -> bool:
    return hasattr(cells, "schema")


def _write_delimited(frames: Iterator[tuple[Any, Any]], write: Callable[[str], Any], separator: str) -> None:
    """CSV or TSV with a header line."""
    for k, (cells, frame) in enumerate(frames):
        if _is_arrow(cells):
            from skewboost.cli.data.arrow import cells_as_text

            cells = cells_as_text(cells)
        both = _beside(cells, frame)
        options = {"sep": separator, "index": False, "header": k == 0, "lineterminator": "\n"}
        text = both.to_csv(**options)
        if "\r" in text:  # a line end for some readers, which Python before 3.13 does not quote
            text = both.to_csv(**options, quoting=csv.QUOTE_NONNUMERIC)
        write(text)


def _write_json(frames: Iterator[tuple[Any, Any]]) -> None:
    """A JSON list with an object per row."""
    before = "[\n"
    for cells, frame in frames:
        rows = frame.to_dict("records")
        if cells is not None:
            if _is_arrow(cells):
                from skewboost.cli.data.arrow import cells_as_objects

                copied = cells_as_objects(cells)
            else:
                copied = cells.to_dict("records")
            rows = ({**own, **row} for own, row in zip(copied, rows))
        for row in rows:
            write_raw(before + json_text(row, indent=None))
            before = ",\n"
    write_raw("[]\n" if before == "[\n" else "\n]\n")


def _write_arrow(frames: Iterator[tuple[Any, Any]], file: IO[bytes], parquet: bool) -> None:
    """Parquet or Arrow; the first frame determines the types of the columns."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    tables = _arrow_tables(frames, parquet)
    first = next(tables)
    with ParquetWriter(file, first.schema) if parquet else pa.ipc.new_file(file, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _arrow_tables(frames: Iterator[tuple[Any, Any]], parquet: bool) -> Iterator[Any]:
    """Arrow tables with the types of the first one; cells that come from an Arrow table keep theirs."""
    import pyarrow as pa

    schema = None
    for cells, frame in frames:
        copied = _is_arrow(cells)
        made = frame if copied else _beside(cells, frame)
        schema = schema or pa.Schema.from_pandas(made, preserve_index=False).remove_metadata()
        table = pa.Table.from_pandas(made, schema=schema, preserve_index=False)
        if copied:
            own = cells if parquet else cells.cast(_without_dictionaries(cells.schema))
            named = [*own.schema.remove_metadata(), *table.schema]
            table = pa.Table.from_arrays([*own.columns, *table.columns], schema=pa.schema(named))
        yield table


def _without_dictionaries(schema: Any) -> Any:
    """The schema with text for categories, because in an Arrow file all batches must have the same categories."""
    import pyarrow as pa

    fields = [f.with_type(f.type.value_type) if pa.types.is_dictionary(f.type) else f for f in schema]
    return pa.schema(fields)
