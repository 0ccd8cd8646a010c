"""Which examples are independent: equal rows are copies of one, unless they are equal by chance.

A model that was fitted to a copy of a row has seen the others, so copies must not be on both sides of a split, and they
are no further evidence. But where few columns of few values describe the rows, different examples are equal by chance.

Which of the two it is, the columns tell. Of rows that are equal by chance, others agree in all columns but one, just as
often as the values of that column differ. Copies have no such neighbours. So let N be the number of pairs of rows that
agree in all columns but j, and p the probability that two rows agree in column j. If that is independent of the
agreement in the others, N · p / (1 - p) pairs are equal by chance. Columns depend on each other, so this is an
underestimate; a tenth of the pairs that are equal is enough. (On real tables it is more than a fifth, or less than a
twentieth.) Where rows are repeated many times on average, there are few different ones, and they are equal by chance,
too: a single column has no others to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

import numpy as np

from skewboost.engine.row_hash import MAX_REPEATS, bits_of, mixed, repeated, row_hashes, row_keys
from skewboost.engine.table import Nominal, Table
from skewboost.typing import Array

Columns = Callable[[], Iterable[Array | Nominal]]

BY_CHANCE = 0.1  # of the pairs of equal rows: if the columns explain so many, they are no copies
MOST_COLUMNS = 64  # that are left out in turn
MOST_PAIRED = 50_000  # rows for which others are looked up that agree in all columns but one


def equal_rows(columns: Columns, n_rows: int) -> Array:
    """Number the rows of a table; rows whose cells are all equal, missing ones included, get the same number.

    The numbers depend on the contents of the rows only, not on their order or on the type of the table.
    """
    cells = iter(columns())
    first = next(cells, None)
    if first is None:  # there are no cells that could be equal
        return np.arange(n_rows)
    hashes = row_hashes(map(bits_of, chain([first], cells)), np.zeros(n_rows))
    return np.asarray(np.unique(hashes, return_inverse=True)[1])


def examples_and_units(table: Table, classes: Array, weights: Array | None) -> tuple[Array, Array]:
    """Return the row number of every example, as `examples_in_order` does, and the unit that it belongs to.

    Copies of a row are one unit. That also goes for a row whose weight is an integer because its class is to count
    more.
    """
    examples = repeated(np.argsort(row_keys(table, classes), kind="stable"), weights)
    contents = equal_rows(table.every_column, table.n_rows)
    return examples, units_of(table.every_column, contents[examples], examples)


def rows_as_units(examples: Array) -> Array:
    """Return the unit of each example, given the row of each in order, if only the examples of a row are one."""
    return np.cumsum(np.diff(examples, prepend=examples[:1]) != 0)


def units_per_class(classes: Array, units: Array, n_classes: int) -> Array:
    """Return how many units have examples of each class."""
    pairs = np.unique(np.column_stack((classes, units)), axis=0)
    return np.bincount(pairs[:, 0], minlength=n_classes)


def units_of(columns: Columns, contents: Array, examples: Array | None = None) -> Array:
    """Return the number of the unit of each example, given what is equal and the row of each example."""
    alone = np.arange(len(contents))
    if (
        len(contents) == 0
        or int(contents.max()) + 1 == len(contents)
        or are_equal_by_chance(columns, contents, examples)
    ):
        return alone
    return contents


def are_equal_by_chance(columns: Columns, contents: Array, examples: Array | None = None) -> bool:
    """Whether equal rows are different examples that look alike, rather than copies."""
    counts = np.bincount(contents)
    if len(contents) > MAX_REPEATS * len(counts):
        return True
    if len(counts) == 1:
        return False
    n_equal = _pairs(counts)
    order = np.argsort(contents, kind="stable")
    neighbours = np.flatnonzero(np.diff(contents[order]))  # contents are numbered by hashes: random pairs of rows
    total = np.zeros(len(contents), dtype=np.uint64)
    agree = []
    for hashes in _hashes(columns, examples):
        total += hashes
        sorted_hashes = hashes[order]
        agree.append(float((sorted_hashes[neighbours] == sorted_hashes[neighbours + 1]).mean()))
    chances = np.array(agree)
    varying = np.flatnonzero((chances > 0.0) & (chances < 1.0))
    chosen = set(varying[np.linspace(0, len(varying) - 1, min(len(varying), MOST_COLUMNS)).astype(np.intp)].tolist())
    for j, hashes in enumerate(_hashes(columns, examples)):
        if j in chosen:
            # one agreement in two at most, or a single pair of neighbours would explain many
            odds = min(1.0, chances[j] / (1.0 - chances[j]))
            if odds * (_pairs_of(total - hashes) - n_equal) >= BY_CHANCE * n_equal:
                return True
    return False


def _hashes(columns: Columns, examples: Array | None) -> Iterable[Array]:
    """Yield hashes of the cells of each column, which can be added up to hashes of rows."""
    for j, column in enumerate(columns()):
        hashes = mixed(mixed(bits_of(column)) ^ mixed(np.array([j]))[0])
        yield hashes if examples is None else hashes[examples]


def _pairs(counts: Array) -> float:
    """Return the number of pairs of equal things, given how many there are of each."""
    return float((counts * (counts - 1.0)).sum() / 2.0)


def _pairs_of(hashes: Array) -> float:
    """Return the number of pairs of equal hashes, estimated from some of them if there are many."""
    share = min(1.0, MOST_PAIRED / len(hashes))
    if share < 1.0:
        hashes = hashes[mixed(hashes) < np.uint64(share * 2.0**64)]
    return _pairs(np.unique(hashes, return_counts=True)[1]) / share
