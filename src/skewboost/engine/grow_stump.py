"""Growing a stump. It is the only split, which saves most of what a tree has to do.

Of each group of rows the largest child is neither listed nor summed: its weights move by a factor that is common to
the group, and the others, taken from the root, leave its sums. Where every weight moves anyhow (responses), not even
those are needed.
"""

from __future__ import annotations

import numpy as np

from skewboost.engine.boundary import ABSTAIN, LEFT, RIGHT, Array, Request, Split
from skewboost.engine.grow import gain
from skewboost.engine.growth import Grower, Grown, Node, Rows, direct_error
from skewboost.engine.partition import Partition

# A sum that is left over after subtracting all but this share of a total has lost too many digits: add it up.
MIN_REMAINDER = 1e-3


def grow_stump(grower: Grower, known: Node | None, request: Request) -> Grown:
    """The best split there is, even if it gains nothing; a single leaf where there is none."""
    root = grower.root(known, request)
    children = _children_in_one_go(grower, root, request) or _children(grower, root, request)
    if root.split is None:
        return Grown(Partition((), (), 1), [root], [], grower.totals(root)[None], [])
    rest: dict[int, int] = {}
    if grower.lists_rows:
        rest = {g: s for g in range(len(root.rows)) for s, child in enumerate(children) if child.rows[g] is None}
        sums = _sums_of_labels(grower, root, children, rest)
    else:
        sums = _sums_of_responses(root, root.split, len(children))
    partition = Partition((root.split,), (tuple(~s for s in range(len(children))),), len(children))
    left, right = sums[:ABSTAIN].tolist()
    whole = [a + b for a, b in zip(left, right)]
    importances = [(root.split.feature, gain(request.criterion, whole, (left, right)))]
    return Grown(partition, children, [(root, children)], sums, importances, rest)


def _children_in_one_go(grower: Grower, root: Node, request: Request) -> list[Node]:
    """The two children of a node by the engine's shortcut; none where it has none."""
    if not grower.lists_rows or not grower.engine.derives or grower.n_planes > 2:
        return []
    if len(root.planes) < 2:
        grower.sum_directly(root)
    root.split, sizes, parts = grower.engine.stump(
        grower.codes, root.rows, grower.rows_per_code, root.histogram, root.counts, grower.error_of(root),
        grower.values, grower.scale, grower.bins, request,
    )  # fmt: skip
    children = [Node([None] * len(of_child), of_child, 1) for of_child in sizes]
    for g, (side, rows, histogram) in enumerate(parts):
        _give(children[side], g, rows, histogram)
    return children if parts else []


def _children(grower: Grower, root: Node, request: Request) -> list[Node]:
    """Two or three children, of which all but the largest of each group get their rows and histograms."""
    grower.search(root, request)
    children = _sized(grower, root)
    if any(not child.abstains and sum(child.sizes) == 0 for child in children):
        # Rounding left a trace of weight in a bin that has no rows. Direct sums have none.
        grower.sum_directly(root)
        grower.search(root, request)
        children = _sized(grower, root)
    if root.split is None or not grower.lists_rows:
        return children
    wanted = []
    for g in range(len(root.rows)):
        sizes = [child.sizes[g] for child in children]
        largest = sizes.index(max(sizes)) if grower.engine.derives else None
        wanted += [(g, side) for side in range(len(children)) if side != largest]
    parts = grower.engine.split_off(grower.codes, root.rows, root.split, wanted, grower.values, grower.scale)
    for (g, side), (rows, histogram) in zip(wanted, parts):
        _give(children[side], g, rows, histogram)
    return children


def _sized(grower: Grower, root: Node) -> list[Node]:
    """The children without their rows."""
    if root.split is None:
        return []
    counts, child = grower.rows_per_code[:, root.split.feature], root.split.child
    sides = [LEFT, RIGHT] + [ABSTAIN] * bool((child == ABSTAIN).any())
    sizes = [(counts * (child == side)).sum(axis=1).tolist() for side in sides]
    return [Node([None] * len(own), own, 1, abstains=side == ABSTAIN) for side, own in zip(sides, sizes)]


def _give(child: Node, group: int, rows: Rows, histogram: Array) -> None:
    child.rows[group], child.planes[group] = rows, histogram
    child.error[group] = direct_error(len(rows)) * float(histogram[0].sum())


def _sums_of_responses(root: Node, split: Split, n: int) -> Array:
    """From the histogram of the root, which is always summed directly."""
    return np.array([[h[split.feature, split.child == side].sum() for h in root.histogram] for side in range(n)])


def _sums_of_labels(grower: Grower, root: Node, children: list[Node], rest: dict[int, int]) -> Array:
    """From the children's own histograms, and for the rest from what they leave of the root's."""
    groups = range(len(root.rows))
    sums = [[float(child.planes[g][0].sum()) if g in child.planes else 0.0 for g in groups] for child in children]
    for g, side in rest.items():
        whole = float(root.planes[g][0].sum())
        sums[side][g] = whole - sum(of_child[g] for of_child in sums)
        if sums[side][g] < MIN_REMAINDER * whole:
            assert root.split is not None
            (rows,) = grower.engine.route(grower.codes, root.rows[g], root.split, [side])
            sums[side][g] = grower.scale[g] * grower.engine.total(grower.values[g], rows)
    return np.array(sums)
