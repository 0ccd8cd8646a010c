"""The training examples in an order that depends on their content only.

Samplers draw from them in this order. So a sample depends neither on the order of the rows, nor on whether an example
is given as two equal rows or as one row of weight 2.
"""

from __future__ import annotations

import numpy as np

from skewboost.engine.row_hash import bits_of, row_hashes
from skewboost.engine.table import Table
from skewboost.typing import Array

# Rows of integer weights are repeated unless that results in more than this many times the number of rows.
MAX_REPEATS = 10


def row_keys(table: Table, classes: Array) -> Array:
    """A hash of every row and its class."""
    columns = (bits_of(table.column(feature)) for feature in range(table.n_features))
    return row_hashes(columns, classes)


def examples_in_order(table: Table, classes: Array, weights: Array | None) -> Array:
    """The row number of every example.

    If all weights are integers, and their sum is not too large, a row of weight w is w examples. Otherwise every row is
    one example.
    """
    order = np.argsort(row_keys(table, classes), kind="stable")
    if weights is None or (weights != np.rint(weights)).any() or weights.sum() > MAX_REPEATS * len(weights):
        return order
    return np.repeat(order, weights[order].astype(np.intp))


def places_of(keys: Array, given: Array) -> Array:
    """The position of each key among the given ones, the k-th copy at their k-th copy; -1 if there is none."""
    at = np.argsort(given, kind="stable")
    first, last = (np.searchsorted(given[at], keys, side=side) for side in ("left", "right"))
    order = np.argsort(keys, kind="stable")
    copy = np.empty(len(keys), dtype=np.intp)
    copy[order] = np.arange(len(keys)) - np.searchsorted(keys[order], keys[order])
    places = np.minimum(first + copy, len(given) - 1)
    return np.where(first + copy < last, at[places], -1)
