"""Growing a node in one call: route its rows, sum the smaller child, subtract for the larger, search both."""

from __future__ import annotations

import numpy as np

from skewboost.engine.boundary import Array
from skewboost.engine.jit import kernel
from skewboost.engine.kernels import add_block, divide, gather
from skewboost.engine.search_kernels import search


@kernel
def expand(
    words: Array,
    block: int,
    shift: int,
    child: Array,
    rows: tuple[Array, ...],
    values: tuple[Array, ...],
    scale: Array,
    parent: tuple[Array, Array],
    parent_error: Array,
    few_rows: int,
    left: tuple[Array, ...],
    right: tuple[Array, ...],
    sizes: Array,
    small: tuple[Array, Array],
    larger: Array,
    error: Array,
    derived: Array,
    n_bins: Array,
    nominal: Array,
    criterion: int,
    learn: bool,
    min_weight: float,
    max_enumerated: int,
    tie: float,
    max_error: float,
    child_of_child: Array,
    found: Array,
    value: Array,
) -> None:
    """Route a node's rows to two children, give these their histograms, and search both.

    The last group of `rows` serves all further planes. Per plane the child of fewer rows is summed into `small`, and
    the histogram of the other one, ``larger[plane]``, takes the place of the parent's: it is what remains of it, or, if
    that child is so small that it is as cheap, its own sum.
    """
    n_groups = len(rows)
    for g in range(n_groups):
        k = divide(words[block], shift, rows[g], child, left[g], right[g])
        sizes[0, g] = k
        sizes[1, g] = rows[g].shape[0] - k
    n_blocks = words.shape[0]
    for p in range(2):
        g = min(p, n_groups - 1)
        large = 0 if sizes[0, g] >= sizes[1, g] else 1
        larger[p] = large
        direct = sizes[large, g] <= few_rows
        for c in range(2):
            if c == large and not direct:
                continue
            of_child = left[g][: sizes[0, g]] if c == 0 else right[g][: sizes[1, g]]
            out = parent[p] if c == large else small[p]
            out[:, :] = 0.0
            gathered = np.empty(of_child.shape[0])
            gather(values[p], of_child, gathered)
            for i in range(gathered.shape[0]):
                gathered[i] *= scale[p]
            flat = out.reshape((n_blocks, 2048))
            for j in range(n_blocks):
                add_block(words[j], of_child, gathered, flat[j])
            total = 0.0
            for k in range(256):
                total += abs(out[0, k])
            error[c, p] = 2.220446049250313e-16 * (4.0 + np.sqrt(of_child.shape[0]) / 64.0) * total  # `direct_error`
        if not direct:
            derived[large] = True
            error[large, p] = parent_error[p] + error[1 - large, p]
            signed = n_groups == 1 and p == 1
            for f in range(parent[p].shape[0]):
                for k in range(256):
                    rest = parent[p][f, k] - small[p][f, k]
                    parent[p][f, k] = rest if signed else max(rest, 0.0)
    for c in range(2):
        h0 = parent[0] if larger[0] == c else small[0]
        h1 = parent[1] if larger[1] == c else small[1]
        e0, e1 = (error[c, 0], error[c, 1]) if derived[c] else (0.0, 0.0)
        search(
            h0, h1, np.empty((n_bins.shape[0], 0)), n_bins, nominal, criterion, learn, 0.0,
            min_weight, max_enumerated, tie, max_error, e0, e1, child_of_child[c], found[c], value[c],
        )  # fmt: skip
