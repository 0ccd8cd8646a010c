"""Growing a node: route its rows, sum the smaller child, subtract for the larger, search both.

Blocks of features have nothing to do with each other until a split is chosen, so threads can share `sum_and_scan`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skewboost.engine.boundary import Array
from skewboost.engine.criterion_kernels import SQUARES, Terms
from skewboost.engine.jit import brief, kernel
from skewboost.engine.kernels import add_block, divide
from skewboost.engine.scan_kernels import Features
from skewboost.engine.search_kernels import choose, scan_features
from skewboost.engine.turns import next_task, task_done


class Children(NamedTuple):
    """What becomes of a node. Groups are those of `growth.Grower`; the last one serves all further planes.

    Per plane the child of fewer rows is summed into `small`; the histogram of the other one takes the place of the
    parent's: it is what remains of it, or, if that child is so small that it is as cheap, its own sum.
    """

    left: tuple[Array, ...]  # rows per group, at least as long as needed
    right: tuple[Array, ...]
    sizes: Array  # [child, group]
    small: tuple[Array, Array]
    tie: Array  # [child]
    lowest: Array  # [child, feature]
    error: Array  # [child, plane]
    derived: Array  # [child]
    code_to_child: Array  # [child, code]: each child's own split, as `choose` gives it
    found: Array
    value: Array


@brief
def larger(sizes: Array, plane: int) -> int:
    """The child of more rows."""
    group = min(plane, sizes.shape[1] - 1)
    return 0 if sizes[0, group] >= sizes[1, group] else 1


@kernel
def histogram_of(parent: tuple[Array, Array], made: Children, c: int) -> tuple[Array, Array]:
    """Both planes of a child."""
    h0 = parent[0] if larger(made.sizes, 0) == c else made.small[0]
    h1 = parent[1] if larger(made.sizes, 1) == c else made.small[1]
    return h0, h1


@kernel
def rows_of(made: Children, c: int, plane: int) -> Array:
    """The rows of a child that belong to a plane."""
    g = min(plane, made.sizes.shape[1] - 1)
    rows: Array = made.left[g][: made.sizes[0, g]] if c == 0 else made.right[g][: made.sizes[1, g]]
    return rows


@kernel
def is_summed(made: Children, c: int, plane: int, few_rows: int) -> bool:
    """Whether a child's histogram is summed from its rows; otherwise it is what remains of its parent's."""
    return c != larger(made.sizes, plane) or rows_of(made, c, plane).shape[0] <= few_rows


@kernel
def _summed_rows(
    values: Array, scale: float, made: Children, plane: int, few_rows: int
) -> tuple[Array, Array, Array, Array]:
    """Rows and values of the smaller child, and of the larger one if it is summed too."""
    large = larger(made.sizes, plane)
    small_rows, large_rows = rows_of(made, 1 - large, plane), rows_of(made, large, plane)
    if not is_summed(made, large, plane, few_rows):
        large_rows = large_rows[:0]
    small_values, large_values = np.empty(small_rows.shape[0]), np.empty(large_rows.shape[0])
    for i in range(small_rows.shape[0]):
        small_values[i] = scale * values[small_rows[i]]
    for i in range(large_rows.shape[0]):
        large_values[i] = scale * values[large_rows[i]]
    return small_rows, small_values, large_rows, large_values


@kernel
def _sum_block(
    words: Array, summed: tuple[Array, Array, Array, Array], direct: bool, signed: bool, small: Array, rest: Array
) -> None:
    """The histograms of both children in one block of one plane; `rest` is the parent's, then the larger one's."""
    small_rows, small_values, large_rows, large_values = summed
    small[:] = 0.0
    add_block(words, small_rows, small_values, small)
    if direct:
        rest[:] = 0.0
        add_block(words, large_rows, large_values, rest)
    elif signed:
        for k in range(2048):
            rest[k] -= small[k]
    else:
        for k in range(2048):
            rest[k] = max(rest[k] - small[k], 0.0)


@brief
def ties_of_children(parent: tuple[Array, Array], feature: int, child: Array, terms: Terms, out: Array) -> None:
    """The absolute tie of each child, from the parent's histogram."""
    out[:] = terms.tie if terms.criterion == SQUARES else 0.0
    if terms.criterion != SQUARES:
        for k in range(256):
            out[child[k]] += terms.tie * (parent[0][feature, k] + parent[1][feature, k])


@kernel
def sum_and_scan(
    words: Array,
    values: tuple[Array, ...],
    scale: Array,
    parent: tuple[Array, Array],
    few_rows: int,
    features: Features,
    terms: Terms,
    made: Children,
    turns: Array,
) -> None:
    """Histograms and lowest criteria of both children, a task being a block of features."""
    n_blocks, n_features = words.shape[0], features.nominal.shape[0]
    no_counts = np.empty((n_features, 0))
    summed0 = _summed_rows(values[0], scale[0], made, 0, few_rows)
    summed1 = _summed_rows(values[1], scale[1], made, 1, few_rows)
    direct0 = is_summed(made, larger(made.sizes, 0), 0, few_rows)
    direct1 = is_summed(made, larger(made.sizes, 1), 1, few_rows)
    signed1 = made.sizes.shape[1] == 1  # Σwz
    small0, rest0 = made.small[0].reshape((n_blocks, 2048)), parent[0].reshape((n_blocks, 2048))
    small1, rest1 = made.small[1].reshape((n_blocks, 2048)), parent[1].reshape((n_blocks, 2048))
    a0, a1 = histogram_of(parent, made, 0)
    b0, b1 = histogram_of(parent, made, 1)
    tie_a, tie_b, lowest_a, lowest_b = made.tie[0], made.tie[1], made.lowest[0], made.lowest[1]
    block = next_task(turns)
    while block < n_blocks:
        _sum_block(words[block], summed0, direct0, False, small0[block], rest0[block])
        _sum_block(words[block], summed1, direct1, signed1, small1[block], rest1[block])
        start, stop = 8 * block, min(8 * block + 8, n_features)
        scan_features(a0, a1, no_counts, features, start, stop, terms, tie_a, lowest_a)
        scan_features(b0, b1, no_counts, features, start, stop, terms, tie_b, lowest_b)
        task_done(turns)
        block = next_task(turns)


@brief
def conclude(
    parent: tuple[Array, Array],
    parent_error: Array,
    few_rows: int,
    features: Features,
    terms: Terms,
    made: Children,
) -> None:
    """Errors and splits of both children, once all blocks are done."""
    made.derived[:] = False
    for p in range(2):
        large = larger(made.sizes, p)
        for c in (1 - large, large):
            if not is_summed(made, c, p, few_rows):
                made.derived[c] = True
                made.error[c, p] = parent_error[p] + made.error[1 - c, p]
                continue
            total = 0.0
            for k in range(256):
                total += abs(parent[p][0, k] if c == large else made.small[p][0, k])
            n_rows = rows_of(made, c, p).shape[0]
            made.error[c, p] = 2.220446049250313e-16 * (4.0 + np.sqrt(n_rows) / 64.0) * total  # `direct_error`
    no_counts = np.empty((features.nominal.shape[0], 0))
    for c in range(2):
        h0, h1 = histogram_of(parent, made, c)
        e0, e1 = (made.error[c, 0], made.error[c, 1]) if made.derived[c] else (0.0, 0.0)
        choose(
            h0, h1, no_counts, features, terms, made.tie[c], made.lowest[c], e0, e1, made.code_to_child[c],
            made.found[c], made.value[c],
        )  # fmt: skip


@kernel
def expand(
    words: Array,
    feature: int,
    child: Array,
    rows: tuple[Array, ...],
    values: tuple[Array, ...],
    scale: Array,
    parent: tuple[Array, Array],
    parent_error: Array,
    few_rows: int,
    features: Features,
    terms: Terms,
    made: Children,
    turns: Array,
) -> None:
    """All of it, on one thread."""
    for g in range(len(rows)):
        k = divide(words[feature >> 3], 8 * (feature & 7), rows[g], child, made.left[g], made.right[g])
        made.sizes[0, g] = k
        made.sizes[1, g] = rows[g].shape[0] - k
    ties_of_children(parent, feature, child, terms, made.tie)
    sum_and_scan(words, values, scale, parent, few_rows, features, terms, made, turns)
    conclude(parent, parent_error, few_rows, features, terms, made)
