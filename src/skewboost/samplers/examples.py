"""The training examples in an order that only depends on what they are.

Samplers draw from them in this order. So neither the order of the rows nor whether an example comes as two equal rows
or as one row of weight 2 changes what is drawn.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np

from skewboost.engine.boundary import Array
from skewboost.tables import Nominal, Table

# Rows of whole-number weights are repeated as long as that makes no more than so many times the rows there are.
MAX_REPEATS = 10

_STEP, _FIRST, _SECOND = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def row_keys(table: Table, classes: Array) -> Array:
    """A number for every row; equal rows of one class have equal numbers, and others practically never."""
    keys = classes.astype(np.uint64)
    for feature in range(table.n_features):
        keys = _mixed(keys ^ _bits(table.column(feature)))
    return keys


def _mixed(keys: Array) -> Array:
    """Scramble 64 bits (splitmix64)."""
    keys = keys + _STEP
    keys = (keys ^ (keys >> np.uint64(30))) * _FIRST
    keys = (keys ^ (keys >> np.uint64(27))) * _SECOND
    return np.asarray(keys ^ (keys >> np.uint64(31)))


def _bits(column: Array | Nominal) -> Array:
    """The cells as integers: the same for the same cells, in whatever type they come."""
    if isinstance(column, Nominal):
        # by name, as codes depend on which categories there are; the last one is that of a missing cell
        names = np.array([crc32(name.encode("utf-8", "surrogatepass")) for name in column.categories] + [1 << 40])
        return names.astype(np.uint64)[column.codes]
    values = np.array(column, dtype=np.float64) + 0.0  # there is one zero
    values[values != values] = np.nan
    return values.view(np.uint64)


def examples_in_order(table: Table, classes: Array, weights: Array | None) -> Array:
    """The number of the row of every example.

    A row whose weight is a whole number is so many examples, unless these are too many or some weight is none: then
    every row is one.
    """
    order = np.argsort(row_keys(table, classes), kind="stable")
    if weights is None or (weights != np.rint(weights)).any() or weights.sum() > MAX_REPEATS * len(weights):
        return order
    return np.repeat(order, weights[order].astype(np.intp))


def places_of(keys: Array, given: Array) -> Array:
    """Where each key is among the given ones: its k-th copy at their k-th copy, -1 where they have no such."""
    at = np.argsort(given, kind="stable")
    first, last = (np.searchsorted(given[at], keys, side=side) for side in ("left", "right"))
    order = np.argsort(keys, kind="stable")
    copy = np.empty(len(keys), dtype=np.intp)
    copy[order] = np.arange(len(keys)) - np.searchsorted(keys[order], keys[order])
    places = np.minimum(first + copy, len(given) - 1)
    return np.where(first + copy < last, at[places], -1)
