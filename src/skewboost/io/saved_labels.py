"""Class labels, names of features, tables of numbers."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from skewboost.io.saved_params import DTYPE, is_type
from skewboost.io.schema import (
    NOT_FINITE,
    DefectError,
    Integer,
    Integers,
    ListOf,
    Text,
    UnknownPartError,
    listed,
    record,
    require,
)
from skewboost.typing import Array

OBJECTS = "|O"


class Labels:
    """Labels, all of a kind, sorted and distinct: `dtype` is that of the array, `values` are as JSON has them."""

    def write(self, value: Array) -> Any:
        """With the type of the array."""
        values = [v.item() if isinstance(v, np.generic) else v for v in value.tolist()]
        plain = all(isinstance(v, str | bool | int | float) for v in values)
        if not plain or not (value.dtype.str == OBJECTS or DTYPE.fullmatch(value.dtype.str)):
            raise UnknownPartError(f"class labels of type {value.dtype}")
        return {"dtype": value.dtype.str, "values": values}

    def read(self, data: Any, at: str) -> Array:
        """Each as its type says."""
        data = record(data, ("dtype", "values"), at)
        dtype, values = data["dtype"], listed(data["values"], f"{at}.values")
        require(dtype == OBJECTS or is_type(dtype, len(values)), "must be a type of labels", f"{at}.dtype")
        require(values, "must not be empty", f"{at}.values")
        kinds = {type(v) for v in values}
        fits = len(kinds) == 1 and kinds <= {str, bool, int, float}
        require(fits, "must be all text, or all numbers of one type, or booleans", f"{at}.values")
        try:
            array = np.array(values, dtype=object if dtype == OBJECTS else dtype)
            same = array.tolist() == values and type(array.tolist()[0]) in kinds
        except (ValueError, OverflowError, TypeError):
            same = False
        require(same, "does not go with dtype", f"{at}.values")
        require(all(a < b for a, b in pairwise(values)), "must rise", f"{at}.values")
        require(kinds != {float} or all(map(math.isfinite, values)), "must be finite", f"{at}.values")
        return array


class Names:
    """Names of features."""

    _texts = ListOf(Text(), distinct=True)

    def write(self, value: Any) -> Any:
        """A list."""
        return self._texts.write(value.tolist())

    def read(self, data: Any, at: str) -> Array:
        """As scikit-learn keeps them."""
        return np.array(self._texts.read(data, at), dtype=object)


class Column:
    """Numbers or booleans of a table."""

    def write(self, value: Array) -> Any:
        """With the type of the array."""
        if value.dtype.kind not in "bif":
            raise UnknownPartError(f"a table with a column of type {value.dtype}")
        return {
            "dtype": value.dtype.str,
            "values": [str(v) if isinstance(v, float) and not math.isfinite(v) else v for v in value.tolist()],
        }

    def read(self, data: Any, at: str) -> Array:
        """As their type says."""
        data = record(data, ("dtype", "values"), at)
        if data["dtype"] not in ("<f8", "<i8", "|b1"):
            raise DefectError("must be one of '<f8', '<i8', '|b1'", f"{at}.dtype")
        wanted = {"<f8": float, "<i8": int, "|b1": bool}[data["dtype"]]
        values = listed(data["values"], f"{at}.values")
        if wanted is float:
            values = [NOT_FINITE.get(v, v) if type(v) is str else v for v in values]
        if wanted is int:
            values = Integers(-(2**63), 2**63 - 1).read(values, f"{at}.values").tolist()
        require(all(type(v) is wanted for v in values), "does not go with dtype", f"{at}.values")
        return np.array(values, dtype=data["dtype"])


class IntegerRows:
    """A matrix of whole numbers."""

    def __init__(self, low: int, high: int, dtype: Any = np.int64) -> None:
        self._row = Integers(low, high, dtype)

    def write(self, value: Array) -> Any:
        """Row by row; one without rows has columns all the same."""
        return {"columns": value.shape[1], "rows": value.tolist()}

    def read(self, data: Any, at: str) -> Array:
        """Rows of one length."""
        data = record(data, ("columns", "rows"), at)
        n = Integer(0, 2**20).read(data["columns"], f"{at}.columns")
        rows = [self._row.read(row, f"{at}.rows[{k}]") for k, row in enumerate(listed(data["rows"], f"{at}.rows"))]
        require(all(len(row) == n for row in rows), f"must have {n} numbers in each row", f"{at}.rows")
        return np.array(rows, dtype=self._row.dtype).reshape(len(rows), n)
