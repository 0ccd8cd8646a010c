"""Types of columns whose cells are spelled as text, as in CSV and ARFF.

The type of a column is found block by block, and the types of two blocks are combined by `|`, so that the size of the
blocks does not matter.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

from skewboost.errors import InputError

EMPTY, INTEGER, FLOAT, BOOLEAN, DATE, TEXT = "empty", "integer", "float", "boolean", "date", "text"
TEXT_MISSING = ("", "?", "NaN", "nan", "NULL", "null", "<NA>", "#N/A")
NUMBER_MISSING = (*TEXT_MISSING, "NA", "N/A", "n/a", "None", "-", ".")
_WHOLE = r"\s*[-+]?[0-9]+\s*"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?"


@dataclass(frozen=True)
class ColumnType:
    """The type of a column, and whether cells are missing."""

    name: str = EMPTY
    missing: bool = False

    @property
    def dtype(self) -> str:
        """The dtype in pandas of numbers and booleans."""
        if self.name == INTEGER and not self.missing:
            return "int64"
        if self.name == BOOLEAN:
            return "boolean" if self.missing else "bool"
        return "float64"

    def __or__(self, other: ColumnType) -> ColumnType:
        """The narrowest type that holds the cells of both."""
        names = {self.name, other.name} - {EMPTY}
        if len(names) > 1:
            names = {FLOAT if names == {INTEGER, FLOAT} else TEXT}
        return ColumnType(names.pop() if names else EMPTY, self.missing or other.missing)


def as_number(text: str) -> float:
    """Return the number that text spells; Python would also read 1_000 and digits of other scripts, which are text."""
    if "_" in text or not text.isascii():
        raise InputError(f"{text!r} is not a number.")
    return float(text)


def type_of(block: Any) -> ColumnType:
    """Return the type of a block as pandas reads it: of numbers or booleans if all cells are, else of text."""
    cells = block.dropna()
    cells = cells[~cells.isin(NUMBER_MISSING)] if cells.dtype.kind not in "iufb" else cells
    missing = len(cells) < len(block)
    kind = cells.dtype.kind
    if not len(cells):
        return ColumnType(EMPTY, missing)
    if kind == "b" or (kind == "O" and cells.map(type).eq(bool).all()):
        return ColumnType(BOOLEAN, missing)
    if kind == "i":
        return ColumnType(INTEGER, missing)
    # Integers with missing cells are floats in pandas. Integers of more than 64 bits are text, and are read as floats.
    if kind in "fu" or cells.astype(str).str.fullmatch(_WHOLE).all():
        return ColumnType(FLOAT, missing)
    return ColumnType(DATE if _are_dates(cells) else TEXT, missing)


def _are_dates(cells: Any) -> bool:
    import pandas as pd

    if not cells.head(10).astype(str).str.fullmatch(_DATE).all():
        return False
    values = pd.Series(cells.unique()).astype(str)
    return bool(
        values.str.fullmatch(_DATE).all() and pd.to_datetime(values, format="ISO8601", errors="coerce").notna().all()
    )


def convert(column: Any, kind: ColumnType) -> Any:
    """Return a block in the type of its column; raise ValueError or TypeError if a cell is not of it."""
    import pandas as pd

    if kind.name == TEXT:
        return column.mask(column.isin(TEXT_MISSING))
    if kind.name == DATE:
        return pd.to_datetime(column.mask(column.isin(NUMBER_MISSING)), format="ISO8601").dt.as_unit("us")
    if (kind | type_of(column)).name not in (kind.name, FLOAT):  # true is not 1
        raise InputError(f"A cell is not of type {kind.name}.")
    if column.dtype.kind not in "iufb":
        column = column.mask(column.isin(NUMBER_MISSING))
        if kind.name != BOOLEAN:
            return pd.Series([float(v) for v in column], index=column.index, name=column.name, dtype=kind.dtype)
    return column.astype(kind.dtype)


def first_misfit(column: Any, kind: ColumnType) -> int:
    """Return the position of the first cell that is not of this type; there must be one."""

    def fails(n_cells: int) -> bool:
        try:
            convert(column.iloc[:n_cells], kind)
        except (ValueError, TypeError):
            return True
        return False

    return bisect_left(range(1, len(column)), True, key=fails)
