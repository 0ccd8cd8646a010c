"""Random draws of trees: which columns and thresholds a node may use.

A random number is a function of a key and a counter (`row_hash.mixed`). No draw depends on an earlier one, so neither
the order of the rows, nor the order in which nodes are searched, nor the engine changes a tree.
"""

from __future__ import annotations

import numpy as np

from skewboost.engine.row_hash import STEP, mixed
from skewboost.typing import Array


def uniform(key: int, counters: Array) -> Array:
    """Return a number in [0, 1) per counter."""
    with np.errstate(over="ignore"):
        bits = mixed(np.uint64(key) + np.asarray(counters, dtype=np.uint64) * STEP)
    return np.asarray((bits >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def mix(bits: int) -> int:
    """Return `mixed` of one number."""
    return int(mixed(np.array([bits % 2**64], dtype=np.uint64))[0])


def below(key: int, counter: int, n: int) -> int:
    """Return a whole number in [0, n)."""
    return min(int(uniform(key, np.array([counter]))[0] * n), n - 1)


def front_of_shuffle(numbers: list[int], k: int, key: int) -> list[int]:
    """Draw k of some numbers without replacement, by a partial Fisher-Yates shuffle; returns them sorted."""
    drawn, n = list(numbers), len(numbers)
    if k >= n:
        return drawn
    left = n - np.arange(k)
    others = np.arange(k) + np.minimum((uniform(key, np.arange(k)) * left).astype(np.int64), left - 1)
    for j, other in enumerate(others.tolist()):
        drawn[j], drawn[other] = drawn[other], drawn[j]
    return sorted(drawn[:k])


def columns_of_tree(n_features: int, k: int, key: int) -> list[int]:
    """Draw the columns of a tree."""
    return front_of_shuffle(list(range(n_features)), k, mix(key ^ 1))


def columns_of_node(columns: list[int], k: int, key: int, node: int) -> list[int]:
    """Draw the columns of a node from those that it may use; `key` is that of the tree."""
    return front_of_shuffle(columns, k, mix(key ^ mix(4 * node + 2)))


def key_of_column(key: int, node: int, feature: int) -> int:
    """Return the key by which a node draws the threshold of a column."""
    return mix(key ^ mix((4 * node + 3) ^ (feature << 32)))
