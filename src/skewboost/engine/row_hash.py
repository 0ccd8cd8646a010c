"""The one hash of rows: equal rows have equal hashes, and different rows practically never do.

Samplers draw from the training examples in the order of their hashes. So a sample depends neither on the order of the
rows, nor on whether an example is given as two equal rows or as one row of weight 2.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from decimal import Decimal
from hashlib import blake2b
from numbers import Real
from typing import Any

import numpy as np

from skewboost.engine.table import Nominal, Table
from skewboost.typing import Array

# Rows of integer weights are repeated unless that results in more than this many times the number of rows.
MAX_REPEATS = 10
# If this share of the repeated rows occurs with several classes, equal rows are different things that look alike.
ALIKE = 0.05

EXACT = 2**53  # up to here doubles tell integers apart

STEP, _FIRST, _SECOND = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def mixed(bits: Array) -> Array:
    """Return the finaliser of splitmix64: 64 bits that look random."""
    with np.errstate(over="ignore"):
        z = bits.astype(np.uint64) + STEP
        z = (z ^ (z >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
        return np.asarray(z ^ (z >> np.uint64(31)))


def bits_of(column: Array | Nominal) -> Array:
    """Return 64 bits per cell: of numbers as doubles, and of the names of categories (codes depend on the column)."""
    if isinstance(column, Nominal):
        names = [name.encode("utf-8", "surrogatepass") for name in column.categories]
        bits = [(zlib.crc32(name) << 32) | zlib.adler32(name[::-1]) for name in names]
        return np.array([*bits, 0], dtype=np.uint64)[column.codes]  # the last entry is for missing cells
    values = np.array(column, dtype=np.float64) + 0.0  # minus zero becomes zero
    values[values != values] = np.nan
    return values.view(np.uint64)


def exact_bits(cells: Array | Iterable[Any]) -> Array:
    """Return 64 bits per cell of any type, by its content only: equal numbers of all types have the same bits.

    Integers that doubles cannot tell apart have different ones.
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        bits = bits_of(cells)
        if cells.dtype.kind in "iu":
            large = np.flatnonzero((cells > EXACT) | (cells < -EXACT))
            bits[large] = [_bits_of_cell(cell) for cell in cells[large].tolist()]
        return bits
    known: dict[Any, int] = {}  # columns of categories have few different cells
    cells = cells.tolist() if isinstance(cells, np.ndarray) else cells
    return np.array([_known_bits(cell, known) for cell in cells], dtype=np.uint64)


def _known_bits(cell: Any, known: dict[Any, int]) -> int:
    try:
        if cell not in known:
            known[cell] = _bits_of_cell(cell)
        return known[cell]
    except TypeError:  # it cannot be hashed
        return _bits_of_cell(repr(cell))


def _bits_of_cell(cell: Any) -> int:
    """Return the bits of a double if the cell equals one, those of a missing cell, or a digest of the content."""
    cell = cell.item() if isinstance(cell, np.generic) else cell  # Python compares integers with doubles exactly
    if cell is None:
        cell = np.nan
    if isinstance(cell, Real | Decimal):
        try:
            double = float(cell)
        except OverflowError:
            double = np.nan
        if double == cell or cell != cell:
            return int(bits_of(np.array([double]))[0])
    content = cell if isinstance(cell, bytes) else str(cell).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


def row_hashes(columns: Iterable[Array], start: Array) -> Array:
    """Return a hash per row, given 64 bits for each of its cells and an initial value."""
    found = start.astype(np.uint64)
    for bits in columns:
        found = mixed(found ^ bits)
    return found


def row_keys(table: Table, classes: Array) -> Array:
    """Return a hash of every row and its class."""
    return row_hashes(map(bits_of, table.every_column()), classes)


def examples_in_order(table: Table, classes: Array, weights: Array | None) -> Array:
    """Return the row number of every example, in an order that depends on their content only.

    If all weights are integers, and their sum is not too large, a row of weight w is w examples. Otherwise every row is
    one example.
    """
    return _repeated(np.argsort(row_keys(table, classes), kind="stable"), weights)


def _repeated(order: Array, weights: Array | None) -> Array:
    if weights is None or (weights != np.rint(weights)).any() or weights.sum() > MAX_REPEATS * len(weights):
        return order
    return np.repeat(order, weights[order].astype(np.intp))


def examples_and_units(table: Table, classes: Array, weights: Array | None) -> tuple[Array, Array]:
    """Return the row number of every example, as `examples_in_order` does, and the unit that it belongs to.

    Equal rows are one unit: a model that was fitted to one of them has seen the others, so they must not be on both
    sides of a split. That also goes for a row whose weight is an integer because its class is to count more. But where
    few columns of few values describe the rows, different examples are equal by chance, and then often of different
    classes. There every example is a unit.
    """
    keys = row_keys(table, classes)
    examples = _repeated(np.argsort(keys, kind="stable"), weights)
    alone = np.arange(len(examples))
    first = np.unique(keys[examples], return_index=True)[1]  # an example of every row and class
    if len(first) == len(examples):
        return examples, alone
    contents = row_keys(table, np.zeros_like(classes))[examples]
    _, units, n_examples = np.unique(contents, return_inverse=True, return_counts=True)
    n_classes = np.bincount(units[first])
    return examples, alone if (n_classes[n_examples > 1] > 1).mean() >= ALIKE else units


def places_of(keys: Array, given: Array) -> Array:
    """Return the position of each key among the given ones, the k-th copy at their k-th copy; -1 if there is none."""
    at = np.argsort(given, kind="stable")
    first, last = (np.searchsorted(given[at], keys, side=side) for side in ("left", "right"))
    order = np.argsort(keys, kind="stable")
    copy = np.empty(len(keys), dtype=np.intp)
    copy[order] = np.arange(len(keys)) - np.searchsorted(keys[order], keys[order])
    places = np.minimum(first + copy, len(given) - 1)
    return np.where(first + copy < last, at[places], -1)
