"""Hashes of rows: by what is in them, and nothing else."""

from __future__ import annotations

import numpy as np

from skewboost.engine.row_hash import bits_of, examples_and_units, examples_in_order, mixed, row_hashes
from skewboost.engine.table import Nominal, Table


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


def units_of(x, classes, weights=None):
    """The units of the examples, as sets of row numbers."""
    table = Table(len(x), 1, columns=(np.asarray(x, dtype=np.float64),))
    classes = np.asarray(classes)
    examples, units = examples_and_units(table, classes, weights)
    np.testing.assert_array_equal(examples, examples_in_order(table, classes, weights))
    return sorted(tuple(sorted(examples[units == unit].tolist())) for unit in np.unique(units))


def test_equal_rows_and_copies_by_weight_are_one_unit():
    assert units_of([1, 2, 1, 3], [0, 1, 0, 1]) == [(0, 2), (1,), (3,)]
    assert units_of([1, 2, 3], [0, 1, 1], np.array([1.0, 3.0, 1.0])) == [(0,), (1, 1, 1), (2,)]
    assert units_of([1, 2, 3], [0, 1, 1], np.array([1.0, 3.5, 1.0])) == [(0,), (1,), (2,)]


def test_equal_rows_of_different_classes_are_one_unit_if_there_are_few_and_independent_if_there_are_many():
    few = units_of([*range(30), *range(30), 0], [*[0] * 60, 1])
    assert (0, 30, 60) in few
    assert len(few) == 30
    assert len(units_of([1, 1, 1, 2, 2, 2], [0, 1, 0, 1, 1, 0])) == 6
