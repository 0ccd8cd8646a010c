"""Which examples are independent: copies of a row are one unit, rows that are equal by chance are not."""

from __future__ import annotations

import numpy as np
import pytest

from skewboost.engine.row_hash import examples_in_order
from skewboost.engine.table import Nominal, Table
from skewboost.engine.units import are_equal_by_chance, equal_rows, examples_and_units, units_of


def table_of(*columns):
    return Table(len(columns[-1]), len(columns), columns=columns)


def units_in(x, classes, weights=None):
    """The units of the examples, as sets of row numbers."""
    table, classes = table_of(np.asarray(x, dtype=np.float64)), np.asarray(classes)
    examples, units = examples_and_units(table, classes, weights)
    np.testing.assert_array_equal(examples, examples_in_order(table, classes, weights))
    return sorted(tuple(sorted(examples[units == unit].tolist())) for unit in np.unique(units))


def by_chance(*columns):
    columns = [np.asarray(column) for column in columns]
    return are_equal_by_chance(lambda: columns, equal_rows(lambda: columns, len(columns[0])))


def test_copies_by_content_and_by_weight_are_one_unit():
    assert units_in([1, 2, 1, 3], [0, 1, 0, 1]) == [(0, 2), (1,), (3,)]
    assert units_in([1, 2, 3], [0, 1, 1], np.array([1.0, 3.0, 1.0])) == [(0,), (1, 1, 1), (2,)]
    assert units_in([1, 2, 3], [0, 1, 1], np.array([1.0, 3.5, 1.0])) == [(0,), (1,), (2,)]
    assert units_in([1, 2, 1], [0, 1, 1]) == [(0, 2), (1,)]  # whatever their classes


def numbers(rng, n):
    return [rng.normal(size=n) for _ in range(3)]


def categories(rng, n):
    return [rng.integers(0, k, n) for k in (2, 3, 5, 4)]


def mixed(rng, n):
    return [*categories(rng, n), rng.normal(size=n).round(3 if n < 2000 else 2)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [60, 1000, 20_000])
def test_draws_are_no_copies_however_many_are_equal(seed, n):
    rng = np.random.default_rng(seed)
    few = categories(rng, n)
    assert by_chance(*few)
    assert by_chance(few[0], few[1], 2 * few[0] + few[1], few[2])  # with a column that the others determine
    assert by_chance(*few, np.zeros(n))
    if n == 20_000:
        assert by_chance(*mixed(rng, n))


@pytest.mark.parametrize("kind", [numbers, mixed])
@pytest.mark.parametrize("seed", range(5))
def test_copies_are_found_whether_they_are_few_or_many(seed, kind):
    rng = np.random.default_rng(seed)
    columns = kind(rng, 400)
    for rows in (
        np.repeat(np.arange(400), 5),  # every row five times
        np.r_[np.arange(400), rng.integers(0, 400, 10)],  # ten accidents
        rng.integers(0, 400, 600),  # a bootstrap sample
        np.r_[np.arange(400), np.repeat(np.arange(20), 19)],  # some rows twenty times, as after oversampling
    ):
        assert not by_chance(*(column[rows] for column in columns))


def test_one_column_of_few_values_has_no_copies():
    assert by_chance(np.arange(1000) % 5)
    assert by_chance(np.arange(1000) % 5, np.arange(1000) % 5)
    assert not by_chance(np.repeat(np.random.default_rng(0).normal(size=300), 5))


@pytest.mark.parametrize("make", [numbers, categories, mixed])
def test_units_are_those_of_the_contents_in_any_order(make):
    rng = np.random.default_rng(3)
    columns = make(rng, 300)
    rows = np.r_[np.arange(300), rng.integers(0, 300, 60)]
    order = rng.permutation(len(rows))
    columns = [column[rows] for column in columns]
    contents = equal_rows(lambda: columns, len(rows))
    units = units_of(lambda: columns, contents)
    shuffled = [column[order] for column in columns]
    assert are_equal_by_chance(lambda: shuffled, contents[order]) == (make is categories)
    if make is not categories:
        np.testing.assert_array_equal(units_of(lambda: shuffled, equal_rows(lambda: shuffled, len(rows))), units[order])


def test_weights_that_repeat_rows_are_judged_as_the_repeated_rows():
    rng = np.random.default_rng(0)
    for make in (numbers, categories):
        columns, classes = [np.asarray(c, dtype=np.float64) for c in make(rng, 200)], rng.integers(0, 2, 200)
        weights = rng.integers(1, 4, 200)
        rows = np.repeat(np.arange(200), weights)
        _, by_weight = examples_and_units(table_of(*columns), classes, weights.astype(float))
        _, repeated = examples_and_units(table_of(*(c[rows] for c in columns)), classes[rows], None)
        np.testing.assert_array_equal(by_weight, repeated)


def test_categories_and_missing_cells():
    rng = np.random.default_rng(1)
    colour = Nominal(rng.integers(-1, 3, 500), ("red", "green", "blue"))
    shape = Nominal(rng.integers(-1, 2, 500), ("round", "square"))
    table = table_of(colour, shape, np.where(rng.random(500) < 0.5, np.nan, 1.0))
    assert len(np.unique(examples_and_units(table, np.zeros(500, dtype=np.intp), None)[1])) == 500


def test_all_rows_equal():
    assert units_in([1] * 5, [0, 1, 0, 1, 1]) == [(0, 1, 2, 3, 4)]
    assert len(units_in([1] * 11, [0, 1] * 5 + [0])) == 11
