"""CSV and other text with delimiters."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from skewboost.cli.data.column_types import DATE, EMPTY, FLOAT, INTEGER, NUMBER_MISSING, TEXT, ColumnType, as_number
from skewboost.cli.data.content import Content
from skewboost.cli.data.source import TextSource

DELIMITERS = ",\t;|"
_DECIMAL_COMMA, _DECIMAL_POINT = re.compile(r"\s*[-+]?\d+,\d+\s*"), re.compile(r"\s*[-+]?\d*\.\d+\s*")


class Delimited(TextSource):
    """A delimited file, parsed by pandas.

    A pipe that is not kept cannot be read twice: its first rows settle the types.
    """

    format = "csv"

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        try:
            self._find_dialect(head_text(content))
        except csv.Error as error:
            raise self.fail(f"cannot be read as delimited text: {error}", "Quote cells that hold quotes.") from error
        self.check_names()
        self._widths_checked = False

    def _find_dialect(self, text: str) -> None:
        """Find the delimiter, the header and the decimal mark by the beginning of the file."""
        delimiter = max(DELIMITERS, key=lambda d: _fit(text, d))
        if _fit(text, delimiter)[0] == 0 and _fit(text, " ")[0] == 1 and text.count("\n") > 1:
            delimiter = " "  # no other delimiter occurs, and by spaces all rows have the same number of cells
        rows = _records(text, delimiter)
        whole = len(self.content.head) < len(text.encode()) + 4 or len(rows) == 1
        self.header = _has_header(rows[0], rows[1:] if whole else rows[1:-1])  # a quoted cell may be cut at the end
        if self.header:
            self.columns = [name.strip() or f"Unnamed: {k}" for k, name in enumerate(rows[0])]  # as pandas calls them
        else:
            self.columns = [f"c{k + 1}" for k in range(len(rows[0]))]
        cells = [cell for row in rows[1:] for cell in row]
        comma = delimiter != "," and any(map(_DECIMAL_COMMA.fullmatch, cells))
        self.decimal = "," if comma and not any(map(_DECIMAL_POINT.fullmatch, cells)) else "."
        self.delimiter = delimiter

    def _open(self, whole: bool) -> Any:
        """Open the file, or the rows of a pipe that were read already."""
        if whole or self.content.rereadable:
            return self.content.open()
        head = self.content.head
        return io.BytesIO(head if self.content.head_is_all else _whole_rows(head))

    def _settle(self) -> dict[str, ColumnType]:
        types = super()._settle()
        if not self.content.rereadable and not self.content.head_is_all:
            # More rows will come: cells may be missing, and integers may turn out to have decimals.
            types = {n: ColumnType(FLOAT if t.name in (INTEGER, EMPTY) else t.name, True) for n, t in types.items()}
        return types

    def _blocks(self, n_rows: int, types: dict[str, ColumnType] | None) -> Iterator[Any]:
        import pandas as pd

        as_text = set(self.text) if types is None else {n for n, t in types.items() if t.name in (TEXT, DATE)}
        options = {
            "names": self.columns,
            "header": 0 if self.header else None,
            "sep": self.delimiter,
            "decimal": self.decimal,
            "dtype": dict.fromkeys(as_text, str),
            "na_values": {name: [] if name in as_text else list(NUMBER_MISSING) for name in self.columns},
            "keep_default_na": False,
            "index_col": False,
            "skipinitialspace": True,
            "low_memory": False,
            "float_precision": None if types is None else _exact(),
            "encoding": "utf-8-sig",
            "chunksize": n_rows,
        }
        with self.content.explained(), self._open(types is not None) as stream, warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            try:
                with pd.read_csv(stream, **options) as blocks:
                    for block in blocks:
                        last = block[self.columns[-1]]
                        if types is None and (last.isna() | last.isin(NUMBER_MISSING)).any():
                            self._check_widths()  # pandas fills up rows that are too short
                        yield block.reset_index(drop=True)
            except pd.errors.EmptyDataError:
                return
            except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
                self._check_widths()
                what = " ".join(str(error).replace("Error tokenizing data. C error:", "").split())
                raise self.fail(f"it cannot be read: {what}", "Check the quotes there.") from error

    def _check_widths(self) -> None:
        """Raise if a row has too few or too many cells."""
        if self._widths_checked:
            return
        self._widths_checked = True
        width = len(self.columns)
        with io.TextIOWrapper(self._open(whole=False), encoding="utf-8-sig", newline="") as lines:
            rows = csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True)
            try:
                for row in rows:
                    if len(row) != width and not _is_blank(row):
                        cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                        remedy = "Correct that row, and quote cells with delimiters."
                        raise self.fail(f"{cells}, but there are {width} columns", remedy, line=rows.line_num)
            except csv.Error as error:
                raise self.fail(f"it cannot be read: {error}", "Check the quotes there.", line=rows.line_num) from error


def _exact() -> str | None:
    """Return the option by which pandas reads numbers to the last digit; it is the default from 3.1 on."""
    import pandas as pd

    return None if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else "round_trip"


def _whole_rows(head: bytes) -> bytes:
    """Cut text at the end of a row; quoted cells may hold line ends."""
    cut = head.rfind(b"\n") + 1
    while cut > 0 and head.count(b'"', 0, cut) % 2:
        cut = head.rfind(b"\n", 0, cut - 1) + 1
    return head[:cut] if cut else head


def head_text(content: Content) -> str:
    """Return the beginning as text, in whole lines unless there is only one."""
    with content.explained():
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(content.head)
    cut = text.rfind("\n")
    return text[: cut + 1] if cut >= 0 else text


def _is_blank(row: Sequence[str]) -> bool:
    """Whether a row comes from a blank line."""
    return not row or (len(row) == 1 and not row[0].strip())


def _records(text: str, delimiter: str) -> list[list[str]]:
    rows = csv.reader(text.splitlines(True), delimiter=delimiter, skipinitialspace=True)
    return [row for row in rows if not _is_blank(row)]


def _fit(text: str, delimiter: str) -> tuple[float, int, int]:
    """Return how well a delimiter fits: the fraction of rows with the width of the first one, and that width."""
    widths = [len(row) for row in _records(text, delimiter)[:500]]
    if len(widths) > 2:
        widths = widths[:-1]  # the last row may be cut
    if not widths or widths[0] < 2:
        return 0.0, 0, 0
    return widths.count(widths[0]) / len(widths), widths[0], -DELIMITERS.find(delimiter)


def _has_header(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds names: no numbers (but 0, 1, 2, …), and nothing that is a value further down."""
    if not all(not _is_number(cell) or cell.strip() == str(k) for k, cell in enumerate(first)):
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
