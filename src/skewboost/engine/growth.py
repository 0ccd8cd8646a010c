"""Growing a partition: which node to split next, and how to get its histogram cheaply.

The policy is the same for all engines. With an engine that `derives`, only the smaller child of a split is summed,
class by class, and the larger is what remains of the parent. Every histogram carries a bound on the rounding error
of its sums: summing n positive weights directly errs by about ε√n of their total, a difference inherits both errors.
Where a search says that the bound leaves its choice in doubt, the node is summed directly and searched again, so
the splits are those that a full rebuild finds.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from skewboost.engine.binning import Bins
from skewboost.engine.boundary import ABSTAIN, LEFT, RIGHT, Array, Codes, Engine, Request, Rows, Split
from skewboost.engine.partition import Partition
from skewboost.engine.reference import leaf_loss

EPSILON = float(np.finfo(np.float64).eps)

# A sum that is left over after subtracting all but this share of a total has lost too many digits: add it up.
MIN_REMAINDER = 1e-3


@dataclass(frozen=True)
class Limits:
    """How far a tree may grow: level by level, or best first once `max_leaf_nodes` is given."""

    max_depth: int | None = 1
    max_leaf_nodes: int | None = None

    @property
    def one_split(self) -> bool:
        """Whether the tree can only be a stump."""
        return self.max_leaf_nodes == 2 or self.max_depth == 1


@dataclass
class Node:
    """A set of rows and its sums; ``rows[group]`` is None where nobody needs to list them."""

    rows: list[Rows | None]
    sizes: list[int]
    depth: int = 0
    abstains: bool = False
    histogram: Array | None = None
    error: Array = field(default_factory=lambda: np.zeros(2))  # bounds the error of any sum over bins, per plane
    derived: bool = False
    counts: Array | None = None
    split: Split | None = None


@dataclass
class Growth:
    """A grown partition with the nodes it came from; ``sums[leaf, plane]`` are the totals of its leaves."""

    partition: Partition
    leaves: list[Node]
    parents: list[tuple[Node, list[Node]]]
    sums: Array
    importances: Array

    @property
    def abstains(self) -> Array:
        """Which leaves hold the rows that have no vote."""
        return np.array([leaf.abstains for leaf in self.leaves])


class Grower:
    """Grows partitions of one binned table.

    Rows come in groups and values in planes: class labels have two groups (negatives, positives) of one plane each,
    responses have one group of two planes (Σw, Σwz). A plane's values are its vector times its scale.
    """

    def __init__(
        self, engine: Engine, codes: Codes, bins: Bins, rows: list[Rows], planes: list[list[int]], examples: Array | None
    ) -> None:
        self.engine = engine
        self.codes = codes
        self.bins = bins
        self.rows = rows
        self.planes = planes
        self.examples = examples  # how many examples a row stands for; None: one
        self.values: list[Array] = []
        self.scale: Array = np.ones(2)
        self.lists_rows = len(rows) > 1  # responses move every weight, so nobody needs the rows of a stump's sides
        self._root_counts: Array | None = None
        self._rows_per_code: list[Array] | None = None

    def grow(self, root: Node | None, request: Request, limits: Limits) -> Growth:
        """Grow from all rows; a `root` brings a histogram that is known already."""
        if root is None:
            root = Node(list(self.rows), [len(r) for r in self.rows])
        if request.min_count > 0:
            if self._root_counts is None:
                self._root_counts = self.count(root)
            root.counts = self._root_counts
        tree = _Tree(self, root, request, limits)
        tree.grow()
        return tree.finish()

    def search(self, node: Node, request: Request) -> None:
        """Find a node's split; sum its histogram anew if rounding could have changed the choice."""
        if node.histogram is None:
            self.sum_directly(node)
        node.split = self._search(node, request)
        if node.split is not None and node.split.doubtful:
            self.sum_directly(node)
            node.split = self._search(node, request)

    def _search(self, node: Node, request: Request) -> Split | None:
        assert node.histogram is not None
        error = node.error if node.derived else np.zeros(2)  # there is nothing better than direct sums
        return self.engine.search(node.histogram, node.counts, error, self.bins, request)

    def sum_directly(self, node: Node) -> None:
        """Sum a node's histogram from its rows."""
        sums = [self._sum_group(group, rows) for group, rows in enumerate(node.rows)]
        node.histogram = np.concatenate([h for h, _ in sums])
        node.error = np.concatenate([error for _, error in sums])
        node.derived = False

    def _sum_group(self, group: int, rows: Rows) -> tuple[Array, Array]:
        planes = self.planes[group]
        h = self.engine.histogram(self.codes, rows, *(self.values[p] for p in planes))
        h *= self.scale[planes, None, None]
        return h, EPSILON * np.sqrt(len(rows)) * np.abs(h[:, 0]).sum(axis=-1)

    def derive(self, parent: Node, children: list[Node]) -> None:
        """Give children their histograms; per group all but the largest are summed, and that one is the rest."""
        if children[0].histogram is not None:
            return
        if not self.engine.derives:
            for child in children:
                self.sum_directly(child)
            return
        assert parent.histogram is not None
        for child in children:
            child.histogram = np.empty_like(parent.histogram)
            child.derived = True
        for group, planes in enumerate(self.planes):
            largest = max(range(len(children)), key=lambda k: children[k].sizes[group])
            rest, error = parent.histogram[planes], parent.error[planes]
            for child in children[:largest] + children[largest + 1 :]:
                h, e = self._sum_group(group, child.rows[group])
                child.histogram[planes], child.error[planes] = h, e  # type: ignore[index]
                rest -= h
                error += e
            if len(planes) == 1:
                np.maximum(rest, 0.0, out=rest)  # class weights are not negative, whatever rounding says
            children[largest].histogram[planes] = rest  # type: ignore[index]
            children[largest].error[planes] = error

    def count(self, node: Node) -> Array:
        """Examples per feature and code."""
        return np.asarray(sum(self.engine.histogram(self.codes, rows, self.examples)[0] for rows in node.rows))

    def sizes_of_children(self, split: Split) -> Array:
        """How many rows of each group go to each child of a split of the root, without routing them."""
        if self._rows_per_code is None:
            self._rows_per_code = [self.engine.histogram(self.codes, rows, None)[0] for rows in self.rows]
        sizes = [np.bincount(split.child, c[split.feature], minlength=ABSTAIN + 1) for c in self._rows_per_code]
        return np.array(sizes, dtype=np.int64)

    def totals(self, node: Node) -> Array:
        """A node's sums, added up from its rows; NaN for a group whose rows are not listed."""
        out = np.full(sum(map(len, self.planes)), np.nan)
        for group, planes in enumerate(self.planes):
            if node.rows[group] is not None:
                for p in planes:
                    out[p] = self.scale[p] * self.engine.total(self.values[p], node.rows[group])
        return out


class _Tree:
    """A tree while it grows. A leaf is known by a key until `finish` numbers the leaves."""

    def __init__(self, grower: Grower, root: Node, request: Request, limits: Limits) -> None:
        self.grower = grower
        self.root = root
        self.request = request
        self.limits = limits
        self.splits: list[Split] = []
        self.links: list[list[int]] = []
        self.parents: list[tuple[Node, list[Node]]] = []
        self.leaves: dict[int, Node] = {}
        self.queue: list[tuple[float, int, tuple[int, int]]] = []  # (priority, leaf, the link that leads to it)
        self.n_voting = 1
        self.importances = np.zeros(grower.bins.n_features)

    def grow(self) -> None:
        self.add_leaf(0, self.root, (-1, 0))
        while self.queue and not self.full:
            _, key, link = heapq.heappop(self.queue)
            self.split_leaf(key, link)

    @property
    def full(self) -> bool:
        return self.limits.max_leaf_nodes is not None and self.n_voting >= self.limits.max_leaf_nodes

    def may_split(self, node: Node) -> bool:
        too_deep = self.limits.max_depth is not None and node.depth >= self.limits.max_depth
        return not (node.abstains or too_deep or self.full)

    def add_leaf(self, key: int, node: Node, link: tuple[int, int]) -> None:
        """Make a node a leaf, and queue it if splitting it pays."""
        self.leaves[key] = node
        if link[0] >= 0:
            self.links[link[0]][link[1]] = ~key
        if not self.may_split(node):
            return
        self.grower.search(node, self.request)
        if node.split is None:
            return
        assert node.histogram is not None
        free = {"error": "majority", "zbar": "z"}.get(self.request.criterion, self.request.criterion)
        loss = float(leaf_loss(free, *node.histogram[:, 0].sum(axis=-1), 1))
        gain = loss - node.split.value
        if not self.limits.one_split and gain <= 1e-12 * abs(loss):
            return  # a stump takes the best there is; a tree has no use for a split that gains nothing
        best_first = self.limits.max_leaf_nodes is not None
        heapq.heappush(self.queue, (-gain if best_first else float(node.depth), key, link))

    def split_leaf(self, key: int, link: tuple[int, int]) -> None:
        node = self.leaves.pop(key)
        assert node.split is not None
        children = self.children(node, node.split)
        if min(sum(child.sizes) for child in children if not child.abstains) == 0:
            # Rounding left a trace of weight in a bin that has no rows. Direct sums have none.
            self.grower.sum_directly(node)
            self.add_leaf(key, node, link)
            return
        at = len(self.splits)
        if link[0] >= 0:
            self.links[link[0]][link[1]] = at
        self.splits.append(node.split)
        self.links.append([0] * len(children))
        self.parents.append((node, children))
        self.importances[node.split.feature] += self.gain(node, node.split)
        self.n_voting += 1
        if any(self.may_split(child) for child in children):
            self.grower.derive(node, children)
        for side, child in enumerate(children):
            self.add_leaf(3 * at + 1 + side, child, (at, side))

    def children(self, node: Node, split: Split) -> list[Node]:
        """The children with their rows; where one split is all there is, each group's largest child stays unlisted."""
        grower, engine = self.grower, self.grower.engine
        sides = [LEFT, RIGHT] + [ABSTAIN] * bool((split.child == ABSTAIN).any())
        lazy = engine.derives and self.limits.one_split
        sizes = grower.sizes_of_children(split) if lazy else None
        rows: list[list[Rows | None]] = [[] for _ in sides]
        for group, own in enumerate(node.rows):
            skip = int(np.argmax(sizes[group])) if sizes is not None else -1
            wanted = [s for s in sides if s != skip and (grower.lists_rows or not lazy)]
            routed = dict(zip(wanted, engine.route(grower.codes, own, split, wanted)))
            for s in sides:
                rows[s].append(routed.get(s))
        children = []
        for s in sides:
            size = [len(r) for r in rows[s]] if sizes is None else sizes[:, s].tolist()  # type: ignore[arg-type]
            children.append(Node(rows[s], size, node.depth + 1, abstains=s == ABSTAIN))
        if node.counts is not None and not self.limits.one_split:
            for child in children:
                child.counts = grower.count(child)
        return children

    def gain(self, node: Node, split: Split) -> float:
        """By how much a split lowers the exponential loss (the squared error of responses), for importances."""
        assert node.histogram is not None
        h = node.histogram[:, split.feature]
        criterion = "squares" if self.request.criterion == "squares" else "z"
        left, right = (h[:, split.child == s].sum(axis=-1) for s in (LEFT, RIGHT))
        gain = leaf_loss(criterion, *(left + right), 1) - leaf_loss(criterion, *left, 1) - leaf_loss(criterion, *right, 1)
        return max(float(gain), 0.0)

    def finish(self) -> Growth:
        number = {key: i for i, key in enumerate(self.leaves)}
        links = tuple(tuple(~number[~k] if k < 0 else k for k in row) for row in self.links)
        leaves = list(self.leaves.values())
        return Growth(
            Partition(tuple(self.splits), links, len(leaves)), leaves, self.parents, self.sums(leaves), self.importances
        )

    def sums(self, leaves: list[Node]) -> Array:
        """The leaves' totals; an unlisted one has what the others leave of the root, if that is not too little."""
        grower = self.grower
        sums = np.array([grower.totals(leaf) for leaf in leaves])
        for leaf, group in zip(*np.nonzero([[r is None for r in leaf.rows] for leaf in leaves])):
            planes = grower.planes[group]
            assert self.root.histogram is not None
            side = self.links[0].index(~list(self.leaves)[leaf])
            if not grower.lists_rows:  # its root is always summed directly
                of_side = self.root.histogram[:, self.splits[0].feature, self.splits[0].child == side]
                sums[leaf] = of_side.sum(axis=-1)
                continue
            whole = self.root.histogram[planes, 0].sum(axis=-1)
            rest = whole - np.nansum(sums[:, planes], axis=0)
            if (rest < MIN_REMAINDER * whole).any():
                (rows,) = grower.engine.route(grower.codes, self.root.rows[group], self.splits[0], [side])
                leaves[leaf].rows[group] = rows
                rest = grower.totals(leaves[leaf])[planes]
            sums[leaf, planes] = rest
        return sums
