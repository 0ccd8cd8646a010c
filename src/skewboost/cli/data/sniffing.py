"""What a file is, told by how it begins."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skewboost.cli.data.content import Content
from skewboost.cli.data.data_error import DataError
from skewboost.cli.data.kinds import as_number

FORMATS = ("csv", "parquet", "arrow", "arff", "libsvm")
SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".feather": "arrow", ".arrow": "arrow", ".ipc": "arrow", ".arrows": "arrow", ".arff": "arff",
    ".libsvm": "libsvm", ".svmlight": "libsvm", ".svm": "libsvm",
}  # fmt: skip
DELIMITERS = ",\t;|"
OTHERS = {  # what people hand over by mistake, and what to do instead
    b"PK\x03\x04": "an Excel workbook or a zip archive; save the sheet as CSV, or unpack the archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as CSV",
    b"BZh": "packed with bzip2; unpack it with bunzip2, or use gzip",
    b"\xfd7zXZ": "packed with xz; unpack it with unxz, or use gzip",
    b"\x28\xb5\x2f\xfd": "packed with Zstandard; unpack it with unzstd, or use gzip",
    b"\x89HDF": "an HDF5 file; save the table as CSV or Parquet",
    codecs.BOM_UTF16_LE: "text in UTF-16; convert it with: iconv -f utf-16 -t utf-8 FILE > utf8.csv",
    codecs.BOM_UTF16_BE: "text in UTF-16; convert it with: iconv -f utf-16 -t utf-8 FILE > utf8.csv",
}
_SPARSE_ROW = re.compile(r"\s*[-+]?\d+(\.\d*)?([eE][-+]?\d+)?(\s+qid:\d+)?(\s+\d+:[-+.\deEnaif]+)*\s*(#.*)?")
_DECIMAL_COMMA, _DECIMAL_POINT = re.compile(r"\s*[-+]?\d+,\d+\s*"), re.compile(r"\s*[-+]?\d*\.\d+\s*")


@dataclass(frozen=True)
class Dialect:
    """How a delimited file is written."""

    delimiter: str
    header: bool
    columns: list[str]
    decimal: str = "."


def find_format(content: Content) -> str:
    """By magic bytes, then by what the text looks like, then by the name."""
    head = content.head
    if not head:
        raise DataError(f"{content.name}: it is empty. A table needs a line of column names and rows.")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
        return "arrow"
    for magic, what in OTHERS.items():
        if head.startswith(magic):
            raise DataError(f"{content.name}: this is {what}.")
    suffix = Path(content.path.removesuffix(".gz")).suffix.lower()
    if b"\0" in head:
        known = SUFFIXES.get(suffix)
        but = f", but not {known} as its name says" if known in ("parquet", "arrow") else ""
        raise DataError(
            f"{content.name}: this is a binary file{but} (byte {head.index(0)} is zero). Pass CSV, Parquet, Feather, "
            "ARFF or LIBSVM."
        )
    text = head_text(content)
    if not text.strip():
        raise DataError(f"{content.name}: there is nothing in it but blank lines. Pass a table.")
    if any(line.lstrip().lower().startswith("@relation") for line in text.splitlines()[:1000]):
        return "arff"
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")][:50]
    if lines and all(map(_SPARSE_ROW.fullmatch, lines)) and any(re.search(r"\s\d+:", line) for line in lines):
        return "libsvm"
    if suffix in (".parquet", ".pq", ".feather", ".arrow"):
        raise DataError(f"{content.name}: this is text, not {SUFFIXES[suffix]} as its name says. Rename it to .csv.")
    return SUFFIXES.get(suffix, "csv")


def head_text(content: Content) -> str:
    """The beginning as text, whole lines only unless there is just one."""
    with content.explained():
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(content.head)
    cut = text.rfind("\n")
    return text[: cut + 1] if cut >= 0 else text


def find_dialect(content: Content, header: bool | None) -> Dialect:
    """Delimiter, header and decimal mark."""
    text = head_text(content)
    delimiter = max(DELIMITERS, key=lambda d: _fit(text, d))
    if _fit(text, delimiter)[0] == 0 and _fit(text, " ")[0] == 1 and text.count("\n") > 1:
        delimiter = " "  # nothing else divides the lines, and spaces divide them all alike
    rows = records(text, delimiter)
    whole = len(content.head) < len(text.encode()) + 4 or len(rows) == 1
    body = rows[1:] if whole else rows[1:-1]  # a quoted cell may be cut at the end of what was read
    if header is None:
        header = _has_header(rows[0], body)
    width = len(rows[0])
    columns = _names(rows[0]) if header else [f"c{k + 1}" for k in range(width)]
    cells = [cell for row in rows[1:] for cell in row]
    comma = delimiter != "," and any(map(_DECIMAL_COMMA.fullmatch, cells))
    decimal = "," if comma and not any(map(_DECIMAL_POINT.fullmatch, cells)) else "."
    return Dialect(delimiter, header, columns, decimal)


def records(text: str, delimiter: str) -> list[list[str]]:
    """The rows that are not blank."""
    rows = csv.reader(text.splitlines(True), delimiter=delimiter, skipinitialspace=True)
    return [row for row in rows if not is_blank(row)]


def is_blank(row: Sequence[str]) -> bool:
    """A line of nothing, which pandas skips."""
    return not row or (len(row) == 1 and not row[0].strip())


def _fit(text: str, delimiter: str) -> tuple[float, int, int]:
    """How well a delimiter explains the text: rows of the width of the first, and that width."""
    widths = [len(row) for row in records(text, delimiter)[:500]]
    if len(widths) > 2:
        widths = widths[:-1]  # the last may be cut
    if not widths or widths[0] < 2:
        return 0.0, 0, 0
    return widths.count(widths[0]) / len(widths), widths[0], -DELIMITERS.find(delimiter)


def _names(row: Sequence[str]) -> list[str]:
    """Column names; one that is empty is called as pandas calls it."""
    return [name.strip() or f"Unnamed: {k}" for k, name in enumerate(row)]


def _has_header(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds names: no numbers (but 0, 1, 2, …), and nothing that is a value further down."""
    numbered = all(not _is_number(cell) or cell.strip() == str(k) for k, cell in enumerate(first))
    if not numbered:
        return False
    if not body:
        return True
    if any(_is_number(cell) for cell in first):
        return any(not _is_number(cell) for cell in first) or len(set(first)) == len(first) > 1
    columns = list(zip(*(row for row in body if len(row) == len(first))))
    if any(all(_is_number(c) or not c.strip() for c in column) and any(map(_is_number, column)) for column in columns):
        return True
    repeated = sum(name.strip() != "" and name in column for name, column in zip(first, columns))
    return repeated == 0 or 2 * repeated < len(first)


def _is_number(cell: str) -> bool:
    try:
        as_number(cell.replace(",", "."))
    except ValueError:
        return False
    return cell.strip().lower() not in ("nan", "inf", "infinity")
