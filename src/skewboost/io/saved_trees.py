"""Trees of portfolios in files: some 20 to 30 bytes for a leaf.

The nodes of a tree are in the order in which a walk meets them that goes left first, and so are its leaves. So where a
node leads to need not be written: it is enough to know which sides are leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.engine.boundary import MISSING
from skewboost.engine.newton import Trees
from skewboost.io.saved_parts import COUNTS, LARGEST_COUNT, LARGEST_VALUE
from skewboost.io.structure import (
    Field,
    UnsupportedPartError,
    integer,
    packed,
    read_entries,
    register_whole,
    require,
    type_name,
)
from skewboost.typing import Array

BY_SET = MISSING  # in place of a threshold
MISSING_LEFT, LEFT_IS_LEAF, RIGHT_IS_LEAF = 1, 2, 4  # bits of a node
_WHOLE = packed("|u1", "<u2", "<u4")
_ENTRIES = {
    "n_outputs": integer(1),
    "n_nodes": _WHOLE,  # of each tree
    "feature": _WHOLE,  # of each node
    "threshold": packed("|u1"),
    "bits": packed("|u1"),
    "sets": packed("|u1"),  # 32 bytes for each node without a threshold: the codes that go left
    "values": packed("<f8"),  # of each leaf, one per output
    "covers": packed("|u1", "<u2", "<u4", "<f8"),
    "importances": COUNTS,
}


def _write(trees: Any) -> dict[str, Any]:
    if type(trees) is not Trees:
        raise UnsupportedPartError(f"an object of type {type_name(trees)}")
    trees = trees.in_order_of_walk()
    sets = np.packbits(trees.sets, axis=1, bitorder="little") if len(trees.sets) else np.zeros((0, 32), np.uint8)
    found = {
        "n_outputs": trees.values.shape[1],
        "n_nodes": np.diff(trees.first_node),
        "feature": trees.feature,
        "threshold": np.where(trees.threshold < 0, BY_SET, trees.threshold),
        "bits": MISSING_LEFT * trees.missing_left + (trees.links < 0) @ (LEFT_IS_LEAF, RIGHT_IS_LEAF),
        "sets": sets.ravel(),
        "values": trees.values.ravel(),
        "covers": trees.covers,
        "importances": trees.importances,
    }
    return {name: entry.write(found[name]) for name, entry in _ENTRIES.items()}


def _read(data: Any) -> Trees:
    own = read_entries(data, _ENTRIES)
    n_outputs, n_nodes, threshold, bits = (own[name] for name in ("n_outputs", "n_nodes", "threshold", "bits"))
    n, n_leaves = int(n_nodes.sum()), int(n_nodes.sum()) + len(n_nodes)
    require(len(n_nodes) > 0, "must have a tree", "n_nodes")
    for name in ("feature", "threshold", "bits"):
        require(len(own[name]) == n, "must have an entry per node", name)
    require((bits < 8).all(), "must be below 8", "bits")
    by_set = threshold == BY_SET
    require(len(own["sets"]) == 32 * by_set.sum(), "must have 32 bytes for each node without a threshold", "sets")
    require(len(own["covers"]) == n_leaves, "must have an entry per leaf", "covers")
    fits = n_outputs <= len(own["values"]) and len(own["values"]) == n_leaves * n_outputs
    require(fits, "must have an entry per leaf and output", "values")
    fits = (np.abs(own["values"]) <= LARGEST_VALUE).all()
    require(fits, f"must hold numbers of at most {LARGEST_VALUE:.3g}", "values")
    fits = ((own["covers"] >= 0) & (own["covers"] <= LARGEST_COUNT)).all()
    require(fits, f"must hold numbers from 0 to {LARGEST_COUNT:.3g}", "covers")
    sets = np.unpackbits(own["sets"].reshape(-1, 32), axis=1, bitorder="little").astype(np.bool_)
    which = np.full(n, -1)
    which[by_set] = np.arange(len(sets))
    first_node = np.concatenate([[0], np.cumsum(n_nodes.astype(np.int64))])
    return Trees(
        first_node, first_node + np.arange(len(first_node)), own["feature"].astype(np.int64),
        np.where(by_set, -1, threshold.astype(np.int64)), which, (bits & MISSING_LEFT).astype(np.int64),
        _links(bits.tolist(), n_nodes.tolist()), sets, own["values"].reshape(n_leaves, n_outputs),
        own["covers"].astype(np.float64), own["importances"],
    )  # fmt: skip


def _links(bits: list[int], n_nodes: list[int]) -> Array:
    """Return where the sides of nodes lead to, given which of them are leaves."""
    found: list[int] = []
    start = 0
    for size in n_nodes:
        leaf, waiting = 0, []  # the number of the next leaf, and the nodes whose right side is still to come
        done = size == 0
        for k, own in enumerate(bits[start : start + size]):
            require(not done, "must lead to every node and leaf once", "bits")
            if not own & LEFT_IS_LEAF:
                waiting.append(start + k)
                found += (k + 1, 0)
                continue
            leaf += 1
            if not own & RIGHT_IS_LEAF:
                found += (-leaf, k + 1)
                continue
            leaf += 1
            found += (1 - leaf, -leaf)
            done = True
            while waiting and done:
                above = waiting.pop()
                done = bool(bits[above] & RIGHT_IS_LEAF)
                leaf += done
                found[2 * above + 1] = -leaf if done else k + 1
        require(done, "must lead to every node and leaf once", "bits")
        start += size
    return np.array(found, dtype=np.int64).reshape(-1, 2)


register_whole(Trees, Field(_write, _read))
