"""From a path to a source."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from skewboost.cli.data.content import Content
from skewboost.cli.data.data_error import DataError
from skewboost.cli.data.sniffing import FORMATS, find_format
from skewboost.cli.data.source import Source


def open_data(
    path: str | Path,
    *,
    format: str | None = None,
    text: Collection[str] = (),
    header: bool | None = None,
    keep: bool = False,
    columns: Collection[str] = (),
) -> Source:
    r"""A table in a file, or in what comes down standard input.

    Parameters
    ----------
    path : str or path
        "-" is standard input.
    format : {"csv", "parquet", "arrow", "arff", "libsvm"} or None
        None finds out. "csv" is text divided by commas, tabs, semicolons, bars or spaces; "arrow" is also Feather.
    text : collection of str
        Columns to be read as text whatever they look like; a mapping of column to its known categories spells them as
        these are spelled.
    header : bool or None
        Whether the first row of a delimited file holds names; None finds out. Without names columns are c1, c2, ….
    keep : bool
        Whether to read a pipe to its end first. Types of columns are then settled by all rows, as they are for a file.
        Otherwise the first rows of a pipe settle them, and a later row that does not fit is an error.
    columns : collection of str
        That a model was trained on. A LIBSVM file does not mention columns of zeros at its end: those of this list are
        added. Other formats say what their columns are, and leave it aside.

    Returns
    -------
    Source

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skewboost.cli.data import open_data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.csv")
    ...     _ = path.write_text("size;colour\n1,5;red\n?;blue\n")
    ...     print(open_data(path).read())
       size colour
    0   1.5    red
    1   NaN   blue
    """
    if format is not None and format not in FORMATS:
        raise DataError(f"{path}: there is no format {format!r}. Choose one of {', '.join(FORMATS)}.")
    content = Content(path)
    if keep:
        content.keep_all()
    found = find_format(content) if format is None else format
    if header is not None and found != "csv":
        raise DataError(f"{content.name}: a header can be had in delimited files only, and this is {found}.")
    if found == "csv":
        from skewboost.cli.data.delimited import Delimited

        return Delimited(content, text, header)
    if found in ("parquet", "arrow"):
        from skewboost.cli.data.arrow import ArrowFile, ParquetFile

        return ParquetFile(content, text) if found == "parquet" else ArrowFile(content, text)
    if found == "arff":
        from skewboost.cli.data.arff import Arff

        return Arff(content, text)
    from skewboost.cli.data.libsvm import Libsvm

    return Libsvm(content, text, columns)
