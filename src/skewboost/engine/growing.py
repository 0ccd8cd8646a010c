"""Growing stumps and trees node by node, through the interface of a training set.

This is the specification of `TrainingSet.grow`. An engine may grow a tree in one call, but must return the same tree.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skewboost.engine.boundary import ABSTAIN, OF_CLASSES, Request, Split
from skewboost.engine.losses import class_loss
from skewboost.engine.partition import Partition
from skewboost.engine.restrictions import Candidates, RestrictedTree, Restrictions
from skewboost.engine.split_search import best_split
from skewboost.engine.training_set import Growth, Limits, Node, TrainingSet
from skewboost.typing import Array

Importances = list[tuple[int, float]]


def grow(
    rows: TrainingSet,
    root: Node,
    request: Request,
    limits: Limits,
    restrictions: Restrictions | None = None,
    key: int = 0,
) -> Growth:
    """Grow a stump or a tree; `key` is that of the random draws of its restrictions."""
    restricted = None
    if restrictions is not None:
        assert rows.bins is not None
        restricted = RestrictedTree(restrictions, rows.bins.n_features, key, request)
    if limits.one_split:
        return _stump(rows, root, request, restricted)
    return _Tree(rows, root, request, limits, restricted).grow()


def grow_by_histogram(
    rows: TrainingSet, request: Request, restrictions: Restrictions | None = None, key: int = 0
) -> Growth:
    """Grow a stump for two classes by a search in NumPy, for criteria that engines do not know."""
    assert rows.bins is not None
    within = None
    if restrictions is not None:
        within = RestrictedTree(restrictions, rows.bins.n_features, key, request).root()
    split = best_split(rows.histogram(), None, rows.bins, request, within)
    partition = Partition((), (), 1) if split is None else stump(split)
    return stump_growth(partition, rows.sums(partition), request)


def stump(split: Split) -> Partition:
    """Return the partition of one split; its leaves are the sides: left, right and, if any code does, abstaining."""
    n = 3 if (split.child == ABSTAIN).any() else 2
    return Partition((split,), (tuple(~side for side in range(n)),), n)


def stump_growth(partition: Partition, sums: Array, request: Request) -> Growth:
    """Return the growth of a stump, or of a single leaf, with these sums."""
    n = len(sums)
    found: Importances = []
    if partition.splits:
        left, right = sums[:ABSTAIN].tolist()
        gained = gain(request.criterion, [a + b for a, b in zip(left, right)], (left, right), request.delta)
        found.append((partition.splits[0].feature, gained))
    return Growth(partition, sums, np.arange(n) == ABSTAIN, found)


def _stump(rows: TrainingSet, root: Node, request: Request, restricted: RestrictedTree | None) -> Growth:
    """Return the best split, even if it gains nothing; a single leaf if no split is allowed."""
    split = rows.search(root, request, None if restricted is None else restricted.root())
    if split is None:
        return stump_growth(Partition((), (), 1), rows.totals(root)[None], request)
    sums = np.array([rows.totals(child) for child in rows.split(root, split)])
    return stump_growth(stump(split), sums, request)


@dataclass
class _Leaf:
    """A leaf of a growing tree: its rows, its depth and its best split."""

    node: Node
    depth: int
    abstains: bool
    split: Split | None
    within: Candidates | None


class _Tree:
    """A growing tree. Leaves are identified by keys until `finish` numbers them."""

    def __init__(
        self, rows: TrainingSet, root: Node, request: Request, limits: Limits, restricted: RestrictedTree | None
    ) -> None:
        self.rows = rows
        self.restricted = restricted
        self.root = root
        self.request = request
        self.limits = limits
        self.splits: list[Split] = []
        self.links: list[list[int]] = []
        self.leaves: dict[int, _Leaf] = {}
        self.queue: list[tuple[float, int, tuple[int, int]]] = []  # (priority, key of the leaf, link to it)
        self.n_voting = 1

    def grow(self) -> Growth:
        """Split level by level, or best first, until a limit is reached; splits without gain are not made."""
        self.add_leaf(0, self.root, 0, False, (-1, 0), None if self.restricted is None else self.restricted.root())
        while self.queue and not self.full:
            _, key, link = heapq.heappop(self.queue)
            self.split_leaf(key, link)
        return self.finish()

    @property
    def full(self) -> bool:
        return self.limits.max_leaf_nodes is not None and self.n_voting >= self.limits.max_leaf_nodes

    def add_leaf(
        self, key: int, node: Node, depth: int, abstains: bool, link: tuple[int, int], within: Candidates | None
    ) -> None:
        """Make a node a leaf, and queue it if its best split has a gain."""
        final = abstains or (self.limits.max_depth is not None and depth >= self.limits.max_depth)
        split = None if final else self.rows.search(node, self.request, within)
        self.leaves[key] = _Leaf(node, depth, abstains, split, within)
        if link[0] >= 0:
            self.links[link[0]][link[1]] = ~key
        if split is None:
            return
        gained = split.before - split.value
        if gained <= 1e-12 * abs(split.before):
            return
        best_first = self.limits.max_leaf_nodes is not None
        priority = -rounded(gained) if best_first else float(depth)
        heapq.heappush(self.queue, (priority, key, link))

    def split_leaf(self, key: int, link: tuple[int, int]) -> None:
        """Replace a leaf by its best split and the children."""
        leaf = self.leaves.pop(key)
        assert leaf.split is not None
        children = self.rows.split(leaf.node, leaf.split)
        at = len(self.splits)
        if link[0] >= 0:
            self.links[link[0]][link[1]] = at
        self.splits.append(leaf.split)
        self.links.append([0] * len(children))
        self.n_voting += 1
        keys = [3 * at + 1 + side for side in range(len(children))]
        within: list[Candidates] | list[None] = [None] * len(children)
        if self.restricted is not None and leaf.within is not None:
            sums = [self.rows.totals(child) for child in children]
            within = self.restricted.children(leaf.within, leaf.split.feature, keys, sums)
        for side, (child, own) in enumerate(zip(children, within)):
            self.add_leaf(keys[side], child, leaf.depth + 1, side == ABSTAIN, (at, side), own)

    def finish(self) -> Growth:
        """Number the leaves in the order in which they were made, and sum them."""
        number = {key: i for i, key in enumerate(self.leaves)}
        links = tuple(tuple(~number[~k] if k < 0 else k for k in row) for row in self.links)
        leaves = list(self.leaves.values())
        sums = np.array([self.rows.totals(leaf.node) for leaf in leaves])
        covers = np.array([self.rows.examples(leaf.node) for leaf in leaves])
        partition = Partition(tuple(self.splits), links, len(leaves), covers)
        abstains = np.array([leaf.abstains for leaf in leaves])
        return Growth(partition, sums, abstains, importances(partition, sums.tolist(), self.request))


def rounded(gained: float) -> float:
    """Round to thirty bits, so that equal gains stay equal whatever the order in which weights were summed."""
    c = gained * (2.0**23 + 1.0)
    return c - (c - gained)


def importances(partition: Partition, sums: list[list[float]], request: Request) -> Importances:
    """Return the decrease in the loss by every split of a tree, as pairs (feature, gain)."""
    found: Importances = []
    totals: list[list[float]] = [[]] * len(partition.splits)
    for k in reversed(range(len(partition.splits))):  # children come after their parents
        a, b = (totals[link] if link >= 0 else sums[~link] for link in partition.links[k][:2])
        totals[k] = [x + y for x, y in zip(a, b)]
        found.append((partition.splits[k].feature, gain(request.criterion, totals[k], (a, b), request.delta)))
    return found


def gain(criterion: str, whole: Sequence[float], sides: Sequence[Sequence[float]], l2: float = 0.0) -> float:
    """Return the decrease in the exponential loss, or in the squared error of responses; sums are per plane.

    The squared error includes the L2 penalty.
    For more than two classes it is the decrease in the Gini index, because most splits near the root of a tree do not
    change the error.
    """
    if criterion in OF_CLASSES:
        impurities = [float(class_loss("class_gini", np.array(sums))) for sums in (whole, *sides)]
        return max(0.0, impurities[0] - sum(impurities[1:]))
    if len(whole) > 2:
        pairs = range(0, len(whole), 2)
        return sum(gain(criterion, whole[k : k + 2], [side[k : k + 2] for side in sides]) for k in pairs)
    if criterion == "squares":
        before = whole[1] ** 2 / (whole[0] + l2) if whole[0] > 0 else 0.0
        return max(0.0, sum(b * b / (a + l2) for a, b in sides if a > 0) - before)
    return max(0.0, 2 * math.sqrt(whole[0] * whole[1]) - sum(2 * math.sqrt(a * b) for a, b in sides))
