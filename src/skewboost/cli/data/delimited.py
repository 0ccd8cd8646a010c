"""CSV and kin: text with delimiters."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Collection, Iterator
from typing import Any

from skewboost.cli.data.content import HEAD, Content
from skewboost.cli.data.data_error import DataError
from skewboost.cli.data.kinds import (
    DATE,
    EMPTY,
    FLOAT,
    INTEGER,
    NUMBER_MISSING,
    TEXT,
    Kind,
    convert,
    first_misfit,
    kind_of,
    wider,
)
from skewboost.cli.data.sniffing import find_dialect, is_blank
from skewboost.cli.data.source import CHUNK_ROWS, Source

SETTLING_ROWS = 100_000


class Delimited(Source):
    """A delimited file, read by pandas in two passes: one to settle the types of columns, one to hand them out.

    A pipe that is not kept cannot be read twice: its first rows settle the types.
    """

    format = "csv"

    def __init__(self, content: Content, text: Collection[str] = (), header: bool | None = None) -> None:
        super().__init__(content, text)
        try:
            self.dialect = find_dialect(content, header)
        except csv.Error as error:
            raise self.fail(f"cannot be read as delimited text: {error}", "Quote cells that hold quotes.") from error
        self.columns = self.dialect.columns
        self.check_names()
        self._kinds: dict[str, Kind] | None = None
        self._widths_checked = False

    def chunks(self, n_rows: int = CHUNK_ROWS) -> Iterator[Any]:
        """Pandas tables of so many rows each."""
        if self._kinds is None:
            self._kinds = self._settle()
        start = 0
        for block in self._blocks(self.content.open(), n_rows, self._kinds):
            yield self._converted(block.reset_index(drop=True), start, self._kinds)
            start += len(block)

    def _settle(self) -> dict[str, Kind]:
        """Types by all rows, or by the first ones of a pipe."""
        stream = self.content.open() if self.content.rereadable else io.BytesIO(whole_rows(self.content.head))
        kinds = {name: Kind(TEXT if name in self.text else EMPTY) for name in self.columns}
        n_rows = 0
        for block in self._blocks(stream, SETTLING_ROWS, None):
            n_rows += len(block)
            kinds = {name: wider(kind, kind_of(block[name])) for name, kind in kinds.items()}
        if n_rows == 0:
            raise self.fail("there are column names, but no rows", "Add rows below the header.")
        if not self.content.rereadable and len(self.content.head) >= HEAD:
            # More will come: cells may be missing, and whole numbers may turn out to have decimals.
            kinds = {n: Kind(FLOAT if k.name in (INTEGER, EMPTY) else k.name, True) for n, k in kinds.items()}
        return kinds

    def _blocks(self, stream: Any, n_rows: int, kinds: dict[str, Kind] | None) -> Iterator[Any]:
        """What pandas makes of so many rows at a time, with text as it stands."""
        import pandas as pd

        as_text = {n for n, k in kinds.items() if k.name in (TEXT, DATE)} if kinds else set(self.text)
        options = {
            "names": self.columns,
            "header": 0 if self.dialect.header else None,
            "sep": self.dialect.delimiter,
            "decimal": self.dialect.decimal,
            "dtype": dict.fromkeys(as_text, str),
            "na_values": {name: [] if name in as_text else list(NUMBER_MISSING) for name in self.columns},
            "keep_default_na": False,
            "index_col": False,
            "skipinitialspace": True,
            "low_memory": False,
            "float_precision": None if kinds is None else _exact(),
            "encoding": "utf-8-sig",
            "chunksize": n_rows,
        }
        with self.content.explained(), stream, warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            try:
                with pd.read_csv(stream, **options) as blocks:
                    for block in blocks:
                        last = block[self.columns[-1]]
                        if kinds is None and (last.isna() | last.isin(NUMBER_MISSING)).any():
                            self._check_widths()  # a row that is too short looks like this
                        yield block
            except pd.errors.EmptyDataError:
                return
            except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
                self._check_widths()
                what = " ".join(str(error).replace("Error tokenizing data. C error:", "").split())
                raise self.fail(f"it cannot be read: {what}", "Check the quotes there.") from error

    def _check_widths(self) -> None:
        """Find the row that has too few cells or too many; pandas fills up the former without a word."""
        if self._widths_checked:
            return
        self._widths_checked = True
        binary = self.content.open() if self.content.rereadable else io.BytesIO(whole_rows(self.content.head))
        with io.TextIOWrapper(binary, encoding="utf-8-sig", newline="") as lines:
            rows = csv.reader(lines, delimiter=self.dialect.delimiter, skipinitialspace=True)
            try:
                for row in rows:
                    if not is_blank(row) and len(row) != len(self.columns):
                        cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                        what = f"{cells}, but there are {len(self.columns)} columns"
                        raise self.fail(what, "Mend that row, and quote cells with delimiters.", line=rows.line_num)
            except csv.Error as error:
                raise self.fail(f"it cannot be read: {error}", "Check the quotes there.", line=rows.line_num) from error

    def _converted(self, block: Any, start: int, kinds: dict[str, Kind]) -> Any:
        """A block in the types of its columns; only a pipe, or a file that changed, can hold something else."""
        for name, kind in kinds.items():
            try:
                block[name] = convert(block[name], kind)
            except (ValueError, TypeError) as error:
                raise self._misfit(block[name], start, kind) from error
            if name in self.text:
                block[name] = self.as_text(block[name])
        return block

    def _misfit(self, column: Any, start: int, kind: Kind) -> DataError:
        row = first_misfit(column, kind)
        value = "a missing cell" if column.isna().iloc[row] else repr(str(column.iloc[row]))
        return self.fail(
            f"data row {start + row + 1} holds {value}, but the rows before it made this a column of type {kind.name}",
            "Save the data to a file, which is read twice to settle types.",
            column=str(column.name),
        )


def _exact() -> str | None:
    """What makes pandas read numbers to the last digit: its default does so from 3.1 on, where asking is deprecated."""
    import pandas as pd

    return None if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else "round_trip"


def whole_rows(head: bytes) -> bytes:
    """The beginning of a text up to the end of a row; quoted cells may hold line ends."""
    if len(head) < HEAD:
        return head
    cut = head.rfind(b"\n") + 1
    while cut > 0 and head.count(b'"', 0, cut) % 2:
        cut = head.rfind(b"\n", 0, cut - 1) + 1
    return head[:cut] if cut else head
