"""CSV and other text with delimiters."""

from __future__ import annotations

import codecs
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from skewboost.cli.data.column_types import DATE, EMPTY, FLOAT, INTEGER, NUMBER_MISSING, TEXT, ColumnType, as_number
from skewboost.cli.data.content import Content
from skewboost.cli.data.records import Record, records
from skewboost.cli.data.source import TextSource, cells_of

DELIMITERS = ",\t;|"
_DECIMAL_COMMA, _DECIMAL_POINT = re.compile(r"\s*[-+]?\d+,\d+\s*"), re.compile(r"\s*[-+]?\d*\.\d+\s*")


class Delimited(TextSource):
    """A delimited file, parsed by pandas.

    A pipe that is not kept cannot be read twice: its first rows settle the types.
    """

    format = "csv"

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        text = head_text(content)
        if not content.head_is_all and "\n" not in text and "\r" not in text:
            raise self.fail(f"its first line is longer than {len(text):,} characters", "Put each row on a line.")
        self._find_dialect(text)
        self.check_names()
        self._widths_checked = False

    def _find_dialect(self, text: str) -> None:
        """Find the delimiter, the header and the decimal mark by the beginning of the file."""
        delimiter = max(DELIMITERS, key=lambda d: _fit(text, d))
        if _fit(text, delimiter)[0] == 0 and _fit(text, " ")[0] == 1 and text.count("\n") > 1:
            delimiter = " "  # no other delimiter occurs, and by spaces all rows have the same number of cells
        rows = _rows(text, delimiter)
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

    def _blocks(
        self, n_rows: int, types: dict[str, ColumnType] | None, names: Sequence[str] = ()
    ) -> Iterator[tuple[Any, Any]]:
        import pandas as pd

        as_text = set(self.text) if types is None else {n for n, t in types.items() if t.name in (TEXT, DATE)}
        options = {
            "names": self.columns,
            "sep": self.delimiter,
            "decimal": self.decimal,
            "dtype": dict.fromkeys(as_text, str),
            "na_values": {name: [] if name in as_text else list(NUMBER_MISSING) for name in self.columns},
            "keep_default_na": False,
            "index_col": False,
            "skipinitialspace": True,
            "low_memory": False,
            "float_precision": None if types is None else _exact(),
        }
        with self.content.explained(), self._open(types is not None) as stream, warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            try:
                if names or (types is not None and not self.content.rereadable):  # a pipe has not been checked yet
                    yield from self._blocks_and_cells(stream, n_rows, names, options)
                    return
                header = 0 if self.header else None
                with pd.read_csv(stream, header=header, encoding="utf-8-sig", chunksize=n_rows, **options) as blocks:
                    for block in blocks:
                        last = block[self.columns[-1]]
                        if types is None and (last.isna() | last.isin(NUMBER_MISSING)).any():
                            self._check_widths()  # pandas fills up rows that are too short
                        yield block.reset_index(drop=True), None
            except pd.errors.EmptyDataError:
                return
            except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
                if "out of memory" in str(error):
                    raise MemoryError from error
                self._check_widths()
                what = " ".join(str(error).replace("Error tokenizing data. C error:", "").split())
                raise self.fail(f"it cannot be read: {what}", "Check the quotes there.") from error

    def _blocks_and_cells(
        self, stream: Any, n_rows: int, names: Sequence[str], options: dict[str, Any]
    ) -> Iterator[tuple[Any, Any]]:
        """Divide the file into rows first; pandas then reads block by block what it would read at once."""
        import pandas as pd

        with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as lines:
            rows = records(lines, self.delimiter)
            if self.header:
                next(rows, None)
            while found := list(islice(rows, n_rows)):
                for row in found:
                    self._check_row(row)
                block = pd.read_csv(io.StringIO("".join(row.text for row in found)), header=None, **options)
                if len(block) != len(found):
                    raise self.fail("its rows cannot be told apart", "Check the quotes.", line=found[0].line)
                yield block, cells_of([row.cells for row in found], self.columns, names)

    def _check_row(self, row: Record) -> None:
        """Raise if a row has too few or too many cells."""
        if not row.is_closed:
            raise self.fail("the quote of a cell is not closed", "Close it, or remove it.", line=row.line)
        if len(row.cells) != len(self.columns):
            cells = "1 cell" if len(row.cells) == 1 else f"{len(row.cells)} cells"
            remedy = "Correct that row, and quote cells with delimiters."
            raise self.fail(f"{cells}, but there are {len(self.columns)} columns", remedy, line=row.line)

    def _check_widths(self) -> None:
        """Raise if a row has too few or too many cells."""
        if self._widths_checked:
            return
        self._widths_checked = True
        with io.TextIOWrapper(self._open(whole=False), encoding="utf-8-sig", newline="") as lines:
            for row in records(lines, self.delimiter):
                self._check_row(row)


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


def _rows(text: str, delimiter: str) -> list[list[str]]:
    """The cells of all rows; the last row may be cut."""
    return [[cell.lstrip(" ") for cell in row.cells] for row in records(io.StringIO(text, newline=""), delimiter)]


def _fit(text: str, delimiter: str) -> tuple[float, int, int]:
    """Return how well a delimiter fits: the fraction of rows with the width of the first one, and that width."""
    widths = [len(row) for row in _rows(text, delimiter)[:500]]
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
