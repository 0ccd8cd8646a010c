"""Types of columns, settled block by block so that the size of blocks does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skewboost.errors import InputError

EMPTY, INTEGER, FLOAT, BOOLEAN, DATE, TEXT = "empty", "integer", "float", "boolean", "date", "text"
TEXT_MISSING = ("", "?", "NaN", "nan", "NULL", "null", "<NA>", "#N/A")
NUMBER_MISSING = (*TEXT_MISSING, "NA", "N/A", "n/a", "None", "-", ".")
_WHOLE = r"\s*[-+]?[0-9]+\s*"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?"


@dataclass(frozen=True)
class Kind:
    """What a column holds, and whether cells are missing."""

    name: str = EMPTY
    missing: bool = False

    @property
    def dtype(self) -> str:
        """The type in pandas; text and dates are made otherwise."""
        if self.name == INTEGER and not self.missing:
            return "int64"
        if self.name == BOOLEAN:
            return "boolean" if self.missing else "bool"
        return "float64"


def as_number(text: str) -> float:
    """The number that text spells. Python would also take 1_000 and digits of other scripts, but tables do not."""
    if "_" in text or not text.isascii():
        raise InputError(f"{text!r} is not a number")
    return float(text)


def wider(a: Kind, b: Kind) -> Kind:
    """What holds both."""
    missing = a.missing or b.missing
    names = {a.name, b.name} - {EMPTY}
    if len(names) < 2:
        return Kind(names.pop() if names else EMPTY, missing)
    return Kind(FLOAT if names == {INTEGER, FLOAT} else TEXT, missing)


def kind_of(block: Any) -> Kind:
    """Of a block as pandas reads it: numbers and booleans where all cells are, else text."""
    cells = block.dropna()
    cells = cells[~cells.isin(NUMBER_MISSING)] if cells.dtype.kind not in "iufb" else cells
    missing = len(cells) < len(block)
    if not len(cells):
        return Kind(EMPTY, missing)
    kind = cells.dtype.kind
    if kind == "b" or (kind == "O" and cells.map(type).eq(bool).all()):
        return Kind(BOOLEAN, missing)
    if kind == "i":
        return Kind(INTEGER, missing)
    if kind == "f":
        # Whole numbers with missing cells are floats in pandas; with or without, the column ends as float64.
        return Kind(FLOAT, missing)
    if kind == "u" or cells.astype(str).str.fullmatch(_WHOLE).all():  # beyond 64 bits: still numbers
        return Kind(FLOAT, missing)
    return Kind(DATE if _are_dates(cells) else TEXT, missing)


def _are_dates(cells: Any) -> bool:
    import pandas as pd

    if not cells.head(10).astype(str).str.fullmatch(_DATE).all():
        return False
    values = pd.Series(cells.unique()).astype(str)
    return bool(
        values.str.fullmatch(_DATE).all() and pd.to_datetime(values, format="ISO8601", errors="coerce").notna().all()
    )


def first_misfit(column: Any, kind: Kind) -> int:
    """The first row of a block that is not of its column's kind, by halving; there is one."""
    low, high = 0, len(column)  # the first `low` rows fit, the first `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        try:
            convert(column.iloc[:middle], kind)
            low = middle
        except (ValueError, TypeError):
            high = middle
    return low


def convert(column: Any, kind: Kind) -> Any:
    """A block that was read, in the type of its column."""
    import pandas as pd

    if kind.name == TEXT:
        return column.mask(column.isin(TEXT_MISSING))
    if kind.name == DATE:
        dates = pd.to_datetime(column.mask(column.isin(NUMBER_MISSING)), format="ISO8601")
        return dates.dt.as_unit("us")
    if wider(kind, kind_of(column)).name not in (kind.name, FLOAT):  # true is not 1
        raise InputError(f"not of type {kind.name}")
    if column.dtype.kind not in "iufb":
        column = column.mask(column.isin(NUMBER_MISSING))
        if kind.name != BOOLEAN:
            return pd.Series([float(v) for v in column], index=column.index, name=column.name, dtype=kind.dtype)
    return column.astype(kind.dtype)
