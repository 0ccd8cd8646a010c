"""Hashes of rows: by what is in them, and nothing else."""

from __future__ import annotations

import numpy as np

from skewboost.engine.row_hash import bits_of, mixed, row_hashes
from skewboost.engine.table import Nominal


def hashes(*columns):
    return row_hashes([bits_of(column) for column in columns], np.zeros(len(columns[0]), dtype=np.uint64))


def test_equal_cells_are_equal_whatever_their_type():
    whole = np.array([3, 0, -7, 0])
    zeros = np.array([3.0, -0.0, -7.0, 0.0])
    np.testing.assert_array_equal(hashes(whole), hashes(zeros))
    np.testing.assert_array_equal(hashes(whole.astype(np.float32)), hashes(whole.astype(np.int8)))
    other_nan = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)
    np.testing.assert_array_equal(hashes(other_nan), hashes(np.array([np.nan])))


def test_categories_go_by_their_names():
    one = Nominal(np.array([0, 1, -1]), ("a", "b"))
    other = Nominal(np.array([2, 0, -1]), ("b", "c", "a"))

    def of(column):
        return row_hashes([bits_of(column)], np.zeros(3, dtype=np.uint64))

    np.testing.assert_array_equal(of(one), of(other))
    assert len(set(of(one).tolist())) == 3


def test_rows_differ_if_a_cell_does_or_the_order_of_cells():
    a, b = np.arange(1000.0), np.arange(1000.0)[::-1]
    assert len(set(hashes(a, b).tolist())) == 1000
    assert not (hashes(a, b) == hashes(b, a)).any()
    assert len(set(mixed(np.arange(10_000, dtype=np.uint64)).tolist())) == 10_000


def test_a_category_is_its_name_as_text_and_missing_cells_are_equal():
    column = Nominal(np.array([0, 1, -1]), ("a", "7"))
    np.testing.assert_array_equal(bits_of(column), bits_of(np.array(["a", "7", None], dtype=object)))
    assert bits_of(np.array([np.nan]))[0] == bits_of([None])[0] == bits_of(column)[2]
