"""The training examples in an order that only depends on what they are.

Samplers draw from them in this order. So neither the order of the rows nor whether an example comes as two equal rows
or as one row of weight 2 changes what is drawn.
"""

from __future__ import annotations

import numpy as np

from skewboost.engine.row_hash import bits_of, row_hashes
from skewboost.engine.table import Table
from skewboost.typing import Array

# Rows of whole-number weights are repeated as long as that makes no more than so many times the rows there are.
MAX_REPEATS = 10


def row_keys(table: Table, classes: Array) -> Array:
    """A number for every row; equal rows of one class have equal numbers, and others practically never."""
    columns = (bits_of(table.column(feature)) for feature in range(table.n_features))
    return row_hashes(columns, classes)


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
