"""Growing a partition: which node to split next, and how to get its histogram cheaply.

The policy is the same for all engines. With an engine that `derives`, only the smaller child of a split is summed,
class by class, and the larger is what remains of the parent. Every histogram carries a bound on the rounding error
of its sums (`direct_error` where they are direct; a difference inherits the errors of both sides).
Where a search says that the bound leaves its choice in doubt, the node is summed directly and searched again, so
the splits are those that a full rebuild finds.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import numpy as np

from skewboost.engine.binning import Bins
from skewboost.engine.boundary import (
    ABSTAIN,
    FEW_ROWS,
    LEFT,
    RIGHT,
    Array,
    Codes,
    Engine,
    Request,
    Rows,
    Split,
)
from skewboost.engine.partition import Partition

EPSILON = float(np.finfo(np.float64).eps)

# A sum that is left over after subtracting all but this share of a total has lost too many digits: add it up.
MIN_REMAINDER = 1e-3


def direct_error(n_rows: int) -> float:
    """A bound on the relative error of sums over the bins of n weights.

    Rounding errors are as good as random: in 256 bins of n/256 additions each they add up to about ε√n/1500 of the
    total. This is some twenty standard deviations, and allows for adding up the chunks and the bins.
    """
    return EPSILON * (4.0 + math.sqrt(n_rows) / 64.0)


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
    planes: dict[int, Array] = field(default_factory=dict)  # the planes of its histogram that are known
    error: Array = field(default_factory=lambda: np.zeros(2))  # bounds the error of any sum over bins, per plane
    derived: bool = False  # whether a plane was not summed from the rows
    counts: Array | None = None
    split: Split | None = None
    children: list[Node] = field(default_factory=list)

    @property
    def histogram(self) -> tuple[Array, Array]:
        """Both planes."""
        return self.planes[0], self.planes[1]


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
        self,
        engine: Engine,
        codes: Codes,
        bins: Bins,
        rows: list[Rows],
        planes: list[list[int]],
        examples: Array | None,
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
        if len(node.planes) < 2:
            self.sum_directly(node)
        node.split = self._search(node, request)
        if node.split is not None and node.split.doubtful:
            self.sum_directly(node)
            node.split = self._search(node, request)

    def expand(self, node: Node, request: Request) -> list[Node] | None:
        """A node's children by the engine's shortcut, if it has one."""
        if not self.engine.derives or node.split is None:
            return None
        found = self.engine.expand(
            self.codes,
            node.rows,
            node.split,
            self.values,
            self.scale,
            node.histogram,
            node.error,
            self.bins,
            request,
        )
        if found is None:
            return None
        children = []
        for c in found:
            sizes = [len(r) for r in c.rows]
            planes = dict(enumerate(c.planes))
            child = Node(c.rows, sizes, node.depth + 1, False, planes, c.error, c.derived, None, c.split)
            if c.split is not None and c.split.doubtful:
                self.sum_directly(child)
                child.split = self._search(child, request)
            children.append(child)
        return children

    def _search(self, node: Node, request: Request) -> Split | None:
        error = node.error if node.derived else np.zeros(2)  # there is nothing better than direct sums
        return self.engine.search(node.histogram, node.counts, error, self.bins, request)

    def sum_directly(self, node: Node) -> None:
        """Sum a node's histogram from its rows."""
        for group, rows in enumerate(node.rows):
            self._sum_group(node, group, rows)
        node.derived = False

    def _sum_group(self, node: Node, group: int, rows: Rows) -> None:
        values = [self.values[p] for p in self.planes[group]]
        self.keep(node, group, len(rows), self.engine.histogram(self.codes, rows, *values))

    def keep(self, node: Node, group: int, n_rows: int, histogram: Array) -> None:
        """Give a node a group's histogram, as the engine summed it from `n_rows` rows."""
        for p, h in zip(self.planes[group], histogram):
            if self.scale[p] != 1.0:
                h *= self.scale[p]
            node.planes[p] = h
            node.error[p] = direct_error(n_rows) * float(np.abs(h[0]).sum())

    def derive(self, parent: Node, children: list[Node]) -> None:
        """Give children the histograms they lack: per group all but the largest are summed, and that is the rest."""
        for group, planes in enumerate(self.planes):
            lacking = [child for child in children if planes[0] not in child.planes]
            if not lacking:
                continue
            largest = max(lacking, key=lambda child: child.sizes[group])
            listed = largest.rows[group] is not None
            direct = listed and (not self.engine.derives or largest.sizes[group] <= FEW_ROWS)
            for child in lacking:
                if child is not largest or direct:
                    self._sum_group(child, group, child.rows[group])
            if not direct:
                self._subtract(parent, [child for child in children if child is not largest], largest, planes)

    def _subtract(self, parent: Node, siblings: list[Node], child: Node, planes: list[int]) -> None:
        child.derived = True
        for p in planes:
            rest = parent.planes[p] - siblings[0].planes[p]
            for sibling in siblings[1:]:
                rest -= sibling.planes[p]
            if len(planes) == 1:
                np.maximum(rest, 0.0, out=rest)  # class weights are not negative
            child.planes[p] = rest
            child.error[p] = parent.error[p] + sum(sibling.error[p] for sibling in siblings)

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
        out = np.full(2, np.nan)
        for group, rows in enumerate(node.rows):
            for p in self.planes[group] if rows is not None else ():
                if p in node.planes and not node.derived:
                    out[p] = node.planes[p][0].sum()
                else:
                    out[p] = self.scale[p] * self.engine.total(self.values[p], rows)
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

    def grow(self) -> None:
        self.grower.search(self.root, self.request)
        self.add_leaf(0, self.root, (-1, 0))
        while self.queue and not self.full:
            _, key, link = heapq.heappop(self.queue)
            self.expand(self.leaves[key])
            self.split_leaf(key, link)

    @property
    def full(self) -> bool:
        return self.limits.max_leaf_nodes is not None and self.n_voting >= self.limits.max_leaf_nodes

    def add_leaf(self, key: int, node: Node, link: tuple[int, int]) -> None:
        """Make a searched node a leaf, and queue it if splitting it pays."""
        self.leaves[key] = node
        if link[0] >= 0:
            self.links[link[0]][link[1]] = ~key
        if node.split is None:
            return
        gain = node.split.before - node.split.value
        if not self.limits.one_split and gain <= 1e-12 * abs(node.split.before):
            return  # a stump takes the best there is; a tree has no use for a split that gains nothing
        best_first = self.limits.max_leaf_nodes is not None
        # rounded, so that equal gains are equal whatever the order in which their sums were added up
        priority = -float(f"{gain:.8e}") if best_first else float(node.depth)
        heapq.heappush(self.queue, (priority, key, link))

    def expand(self, node: Node) -> None:
        """Give a node its children, and them their histograms and best splits."""
        assert node.split is not None
        deepest = self.limits.max_depth is not None and node.depth + 1 >= self.limits.max_depth
        final = deepest or self.limits.one_split
        children = None if final else self.grower.expand(node, self.request)
        if children is None:
            children = self.children(node, node.split)
            if not final:
                self.grower.derive(node, children)
                for child in children:
                    if not child.abstains:
                        self.grower.search(child, self.request)
        if min(sum(child.sizes) for child in children if not child.abstains) > 0:
            node.children = children
            return
        # Rounding left a trace of weight in a bin that has no rows. Direct sums have none.
        self.grower.sum_directly(node)
        self.grower.search(node, self.request)
        if node.split is not None:
            self.expand(node)

    def split_leaf(self, key: int, link: tuple[int, int]) -> None:
        """Turn an expanded leaf into a split."""
        node = self.leaves[key]
        if node.split is None:  # its only split was an artefact of rounding
            return
        del self.leaves[key]
        at = len(self.splits)
        if link[0] >= 0:
            self.links[link[0]][link[1]] = at
        self.splits.append(node.split)
        self.links.append([0] * len(node.children))
        self.parents.append((node, node.children))
        self.n_voting += 1
        for side, child in enumerate(node.children):
            self.add_leaf(3 * at + 1 + side, child, (at, side))

    def children(self, node: Node, split: Split) -> list[Node]:
        """The children with their rows."""
        grower = self.grower
        sides = [LEFT, RIGHT] + [ABSTAIN] * bool((split.child == ABSTAIN).any())
        if grower.engine.derives and self.limits.one_split:
            return self.children_of_stump(node, split, sides)
        routed = [grower.engine.route(grower.codes, rows, split, sides) for rows in node.rows]
        children = []
        for s in sides:
            rows = [r[s] for r in routed]
            children.append(Node(rows, [len(r) for r in rows], node.depth + 1, abstains=s == ABSTAIN))
            if node.counts is not None:
                children[-1].counts = grower.count(children[-1])
        return children

    def children_of_stump(self, node: Node, split: Split, sides: list[int]) -> list[Node]:
        """The same where this is the only split: each group's largest child is neither listed nor summed.

        The others get their rows and, in the same pass, the histogram from which the next root is derived. Responses
        move every weight, so they need neither.
        """
        grower = self.grower
        sizes = grower.sizes_of_children(split)
        none: list[Rows | None] = [None] * len(node.rows)
        children = [Node(list(none), sizes[:, s].tolist(), node.depth + 1, abstains=s == ABSTAIN) for s in sides]
        if grower.lists_rows:
            for group, own in enumerate(node.rows):
                wanted = [s for s in sides if s != np.argmax(sizes[group])]
                values = [grower.values[p] for p in grower.planes[group]]
                split_off = grower.engine.split_off(grower.codes, own, split, wanted, *values)
                for s, (rows, histogram) in zip(wanted, split_off):
                    children[s].rows[group] = rows
                    grower.keep(children[s], group, len(rows), histogram)
        return children

    def finish(self) -> Growth:
        number = {key: i for i, key in enumerate(self.leaves)}
        links = tuple(tuple(~number[~k] if k < 0 else k for k in row) for row in self.links)
        leaves = list(self.leaves.values())
        sums = self.sums(leaves)
        partition = Partition(tuple(self.splits), links, len(leaves))
        return Growth(partition, leaves, self.parents, sums, self.importances(links, sums))

    def sums(self, leaves: list[Node]) -> Array:
        """The leaves' totals, from their rows; an unlisted one has what the others leave of the root."""
        grower = self.grower
        sums = np.array([grower.totals(leaf) for leaf in leaves])
        if not np.isnan(sums).any():
            return sums
        for leaf, group in zip(*np.nonzero([[rows is None for rows in leaf.rows] for leaf in leaves])):
            side = self.links[0].index(~list(self.leaves)[leaf])
            if not grower.lists_rows:  # its root is always summed directly
                on_side = self.splits[0].child == side
                sums[leaf] = [h[self.splits[0].feature, on_side].sum() for h in self.root.histogram]
                continue
            (p,) = grower.planes[group]
            whole = self.root.planes[p][0].sum()
            rest = whole - sum(s for s in sums[:, p].tolist() if s == s)
            if rest < MIN_REMAINDER * whole:
                (leaves[leaf].rows[group],) = grower.engine.route(
                    grower.codes, self.root.rows[group], self.splits[0], [side]
                )
                rest = grower.totals(leaves[leaf])[p]
            sums[leaf, p] = rest
        return sums

    def importances(self, links: tuple[tuple[int, ...], ...], sums: Array) -> Array:
        """How much the splits on each feature lower the exponential loss (of responses: the squared error)."""
        squares = self.request.criterion == "squares"
        importances = np.zeros(self.grower.bins.n_features)
        totals = [(0.0, 0.0)] * len(links)
        leaf_sums = sums.tolist()

        def loss(a: float, b: float) -> float:
            return (-b * b / a if a > 0 else 0.0) if squares else 2 * math.sqrt(a * b)

        for k in reversed(range(len(links))):  # children come after their parents
            (a0, a1), (b0, b1) = (totals[link] if link >= 0 else leaf_sums[~link] for link in links[k][:2])
            totals[k] = (a0 + b0, a1 + b1)
            gain = loss(*totals[k]) - loss(a0, a1) - loss(b0, b1)
            importances[self.splits[k].feature] += max(gain, 0.0)
        return importances
