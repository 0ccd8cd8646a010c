"""The one hash of rows: equal rows have equal hashes, and different rows practically never do.

Samplers draw from the training examples in the order of their hashes. So a sample depends neither on the order of the
rows, nor on whether an example is given as two equal rows or as one row of weight 2.
"""

from __future__ import annotations

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

EXACT = 2**53  # up to here doubles tell integers apart

STEP, _FIRST, _SECOND = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def mixed(bits: Array) -> Array:
    """Return the finaliser of splitmix64: 64 bits that look random."""
    with np.errstate(over="ignore"):
        z = bits.astype(np.uint64) + STEP
        z = (z ^ (z >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
        return np.asarray(z ^ (z >> np.uint64(31)))


def bits_of(cells: Array | Nominal | Iterable[Any]) -> Array:
    """Return 64 bits per cell, by its content only.

    Equal numbers of all types have the same bits, and so have a category and its name as text, and missing cells of all
    kinds. Integers that doubles cannot tell apart have different ones.
    """
    if isinstance(cells, Nominal):
        names = (*cells.categories, None)  # the last one is for missing cells
        return np.array([_bits_of_cell(name) for name in names], dtype=np.uint64)[cells.codes]
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        values = np.array(cells, dtype=np.float64) + 0.0  # minus zero becomes zero
        values[values != values] = np.nan
        bits = values.view(np.uint64)
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
    return repeated(np.argsort(row_keys(table, classes), kind="stable"), weights)


def repeated(order: Array, weights: Array | None) -> Array:
    """Return row numbers in order, each as often as its weight says if the weights are integers and not too large."""
    if weights is None or (weights != np.rint(weights)).any() or weights.sum() > MAX_REPEATS * len(weights):
        return order
    return np.repeat(order, weights[order].astype(np.intp))


def places_of(keys: Array, given: Array) -> Array:
    """Return the position of each key among the given ones, the k-th copy at their k-th copy; -1 if there is none."""
    at = np.argsort(given, kind="stable")
    first, last = (np.searchsorted(given[at], keys, side=side) for side in ("left", "right"))
    order = np.argsort(keys, kind="stable")
    copy = np.empty(len(keys), dtype=np.intp)
    copy[order] = np.arange(len(keys)) - np.searchsorted(keys[order], keys[order])
    places = np.minimum(first + copy, len(given) - 1)
    return np.where(first + copy < last, at[places], -1)
