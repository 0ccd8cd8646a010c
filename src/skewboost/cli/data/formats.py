"""The formats of tables: which one a file is in, and how it is opened."""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection
from pathlib import Path

from skewboost.cli.data.arff import Arff
from skewboost.cli.data.content import Content, DataError
from skewboost.cli.data.delimited import Delimited, head_text
from skewboost.cli.data.libsvm import Libsvm
from skewboost.cli.data.source import Source

SUFFIXES = {
    ".parquet": "parquet", ".pq": "parquet", ".feather": "arrow", ".arrow": "arrow", ".ipc": "arrow",
    ".arrows": "arrow", ".arff": "arff", ".libsvm": "libsvm", ".svmlight": "libsvm", ".svm": "libsvm",
}  # fmt: skip
_UTF16 = ("text in UTF-16", "Convert it with: iconv -f utf-16 -t utf-8 FILE > utf8.csv")
OTHERS = {  # formats that people pass by mistake, and what to do instead
    b"PK\x03\x04": ("an Excel workbook or a zip archive", "Save the sheet as CSV, or unpack the archive."),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "Save the sheet as CSV."),
    b"BZh": ("packed with bzip2", "Unpack it with bunzip2, or use gzip."),
    b"\xfd7zXZ": ("packed with xz", "Unpack it with unxz, or use gzip."),
    b"\x28\xb5\x2f\xfd": ("packed with Zstandard", "Unpack it with unzstd, or use gzip."),
    b"\x89HDF": ("an HDF5 file", "Save the table as CSV or Parquet."),
    codecs.BOM_UTF16_LE: _UTF16,
    codecs.BOM_UTF16_BE: _UTF16,
}
_JSON = re.compile(r'\s*(\{\s*"|\[\s*[\[{])')
_SPARSE_ROW = re.compile(r"\s*[-+]?\d+(\.\d*)?([eE][-+]?\d+)?(\s+qid:\d+)?(\s+\d+:[-+.\deEnaif]+)*\s*(#.*)?")


def open_data(path: str | Path, *, keep: bool = False, columns: Collection[str] = ()) -> Source:
    """Open a table in a file, or on standard input if the path is "-".

    The format is CSV (text divided by commas, tabs, semicolons, bars or spaces, with or without a header), Parquet,
    Feather, Arrow IPC, ARFF or LIBSVM. Columns of CSV without names are c1, c2, …. With `keep` a pipe is read to its
    end first, so that all rows settle the types of columns, as they do for a file. Otherwise the first rows of a pipe
    settle them, and a later row that does not fit is an error. `columns` are those that a model was fitted to: LIBSVM
    does not mention columns of zeros at the end, so they are added.
    """
    content = Content(path)
    if keep:
        content.keep_all()
    found = find_format(content)
    if found == "libsvm":
        return Libsvm(content, columns)
    if found in ("csv", "arff"):
        return Delimited(content) if found == "csv" else Arff(content)
    try:
        from skewboost.cli.data.arrow import ArrowSource
    except ImportError as error:
        install = 'Install it: pip install "skewboost[parquet]"'
        raise DataError(f"{content.name}: reading {found} needs pyarrow.", install) from error
    return ArrowSource(content, found)


def find_format(content: Content) -> str:
    """Recognise the format by magic bytes, then by what the text looks like, then by the name."""
    head = content.head
    if not head:
        raise DataError(f"{content.name}: it is empty.", "A table needs a line of column names and rows.")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
        return "arrow"
    for magic, (what, remedy) in OTHERS.items():
        if head.startswith(magic):
            raise DataError(f"{content.name}: this is {what}.", remedy)
    suffix = Path(content.path.removesuffix(".gz")).suffix.lower()
    by_name = SUFFIXES.get(suffix, "csv")
    if b"\0" in head:
        but = f", but not {by_name} as its name says" if by_name in ("parquet", "arrow") else ""
        raise DataError(
            f"{content.name}: this is a binary file{but} (byte {head.index(0)} is zero).",
            "Pass CSV, Parquet, Feather, ARFF or LIBSVM.",
        )
    text = head_text(content)
    if not text.strip():
        raise DataError(f"{content.name}: it contains only blank lines.", "Pass a table.")
    if _JSON.match(text):
        from skewboost.io.model_file import FORMAT

        if f'"{FORMAT}"' in text[:100]:
            raise DataError(f"{content.name}: this is a model file, not a table.", "Name a table instead.")
        raise DataError(f"{content.name}: this is JSON, not a table.", "Convert it to CSV or Parquet.")
    if any(line.lstrip().lower().startswith("@relation") for line in text.splitlines()[:1000]):
        return "arff"
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")][:50]
    if lines and all(map(_SPARSE_ROW.fullmatch, lines)) and any(re.search(r"\s\d+:", line) for line in lines):
        return "libsvm"
    if by_name in ("parquet", "arrow"):
        raise DataError(f"{content.name}: this is text, not {by_name} as its name says.", "Rename it to .csv.")
    return by_name
