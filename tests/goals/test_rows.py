"""Rows are equal just where all their cells are, in tables of all kinds."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from skewboost.engine import units
from skewboost.goals.rows import check_groups, columns_of

WHO = {  # cells, and which of them are equal
    "numbers": ([1.5, -0.0, 0.0, 1.5, np.nan, np.nan], [0, 1, 1, 0, 2, 2]),
    "long numbers": ([2**53, 2**53 + 1, 2**53, 7, -7, 7], [0, 1, 0, 2, 3, 2]),
    "text": (["a", "b", "a", None, "", None], [0, 1, 0, 2, 3, 2]),
    "objects": ([Decimal(1), "b", Decimal(1), None, [1], [1]], [0, 1, 0, 2, 3, 3]),
}


def equal_rows(X):
    return units.equal_rows(columns_of(X), X.shape[0])


def same(found, meant):
    """Whether two numberings make the same sets."""
    return len(set(zip(found, meant))) == len(set(found)) == len(set(meant))


@pytest.mark.parametrize("name", WHO)
def test_cells_that_are_equal(name):
    cells, meant = WHO[name]
    tables = [pd.DataFrame({"c": pd.Series(cells, dtype=object), "one": 1})]
    if name != "objects":
        tables += [pd.DataFrame({"c": cells}), pl.DataFrame({"c": cells}), pa.table({"c": cells})]
    if name == "text":
        tables.append(pd.DataFrame({"c": pd.Categorical(cells)}))
    if "numbers" in name:
        tables += [
            np.array(cells)[:, None],
            np.array(cells, dtype=object)[:, None],
            csr_array(np.array(cells)[:, None]),
        ]
    for table in tables:
        assert same(equal_rows(table), meant), type(table)


def test_rows_are_equal_if_all_cells_are():
    rng = np.random.default_rng(0)
    table = rng.integers(-1, 2, (3000, 6)) * np.array([1.0, 1e-300, 1e300, 3.0, 0.1, -1.0])
    _, meant = np.unique(table, axis=0, return_inverse=True)
    frame = pd.DataFrame(table).assign(**{"0": pd.Series(table[:, 0]).map({-1.0: "a", 0.0: "b", 1.0: "c"})})
    for X in (table, table[:, ::-1], table.astype(object), frame, pl.DataFrame(table), csr_array(table)):
        assert same(equal_rows(X), meant)
    assert equal_rows(np.empty((4, 0))).tolist() == [0, 1, 2, 3]  # no cells are no equal cells


def test_groups_of_all_kinds():
    names = ["a", "b", "a", "c"]
    for groups in (names, np.array(names), pd.Series(names), pl.Series(names), pa.chunked_array([names]), [3, 5, 3, 4]):
        assert same(check_groups(groups, 4), [0, 1, 0, 2])


@pytest.mark.parametrize("groups", [["a", None], [1.0, np.nan], pd.Series(["a", None]), pl.Series([1, None])])
def test_groups_that_are_missing(groups):
    with pytest.raises(ValueError, match="groups has missing values"):
        check_groups(groups, 2)


def test_groups_that_do_not_fit():
    for groups in ([1, 2, 3], [[1, 2], [3, 4]]):
        with pytest.raises(ValueError, match=r"groups has shape .*, but X has 2 rows"):
            check_groups(groups, 2)
