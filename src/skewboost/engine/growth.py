"""Growing a partition: its nodes, and how they get their histograms cheaply.

The policy is the same for all engines. With an engine that `derives`, only the smaller child of a split is summed,
class by class, and the larger is what remains of the parent. Every histogram carries a bound on the rounding error
of its sums (`direct_error` where they are direct; a difference inherits the errors of both sides).
Where a search says that the bound leaves its choice in doubt, the node is summed directly and searched again, so
the splits are those that a full rebuild finds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from skewboost.engine.binning import Bins
from skewboost.engine.boundary import FEW_ROWS, LEFT, OF_CLASSES, RIGHT, Array, Codes, Engine, Request, Rows, Split
from skewboost.engine.losses import class_loss
from skewboost.engine.partition import Partition

EPSILON = float(np.finfo(np.float64).eps)


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
    error: Array = None  # type: ignore[assignment]  # bounds the error of any sum over bins, per plane; none at first
    derived: bool = False  # whether a plane was not summed from the rows
    counts: Array | None = None
    split: Split | None = None
    children: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.error is None:
            self.error = np.zeros(max(2, len(self.rows)))

    @property
    def histogram(self) -> tuple[Array, ...]:
        """All planes."""
        return tuple(self.planes[p] for p in range(len(self.planes)))


@dataclass
class Growth:
    """A grown partition with the nodes it came from; ``sums[leaf, plane]`` are the totals of its leaves.

    In ``rest`` is, per group, the leaf whose rows and histogram nobody has written down, if there is one: what the
    other leaves leave of the root.
    """

    partition: Partition
    leaves: list[Node]
    parents: list[tuple[Node, list[Node]]]
    sums: Array
    importances: Array
    rest: dict[int, int] = field(default_factory=dict)

    @property
    def abstains(self) -> Array:
        """Which leaves hold the rows that have no vote."""
        return np.array([leaf.abstains for leaf in self.leaves])


class Grower:
    """Grows partitions of one binned table.

    Rows come in groups and values in planes: class labels have two groups (negatives, positives) of one plane each,
    more classes one each, several labels per row have two such groups per label, responses have one group of two
    planes (Σw, Σwz). A plane's values are its vector times its scale. The first `n_once` groups have every row once.
    """

    def __init__(
        self,
        engine: Engine,
        codes: Codes,
        bins: Bins,
        rows: list[Rows],
        planes: list[list[int]],
        examples: Array | None,
        n_once: int = 2,
    ) -> None:
        self.n_once = n_once
        self.engine = engine
        self.codes = codes
        self.bins = bins
        self.rows = rows
        self.planes = planes
        self.examples = None if examples is None else engine.array(examples)  # per row; None: one each
        self.values: list[Array] = []
        self.scale: Array = np.ones(self.n_planes)
        self.lists_rows = len(rows) > 1  # responses move every weight, so nobody needs the rows of a stump's sides

    @property
    def n_planes(self) -> int:
        """How many planes a histogram has."""
        return sum(map(len, self.planes))

    def root(self, known: Node | None, request: Request) -> Node:
        """All rows; `known` brings a histogram that need not be summed."""
        root = known or Node(list(self.rows), [len(r) for r in self.rows])
        if request.min_count > 0:
            root.counts = self.examples_per_code
        return root

    def search(self, node: Node, request: Request) -> None:
        """Find a node's split; sum its histogram anew if rounding could have changed the choice."""
        if len(node.planes) < self.n_planes:
            self.sum_directly(node)
        node.split = self._search(node, request)
        if node.split is not None and (node.split.doubtful or self._lost_rows(node)):
            self.sum_directly(node)
            node.split = self._search(node, request)

    def expand(self, node: Node, request: Request) -> list[Node] | None:
        """A node's children by the engine's shortcut, if it has one."""
        if not self.engine.derives or node.split is None or self.n_planes > 2:
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
            if c.split is not None and (c.split.doubtful or self._lost_rows(child)):
                self.sum_directly(child)
                child.split = self._search(child, request)
            children.append(child)
        return children

    def _lost_rows(self, node: Node) -> bool:
        """Whether a subtraction left nothing of the weight of a category that does have rows in a node.

        The split would take it for one that the node has not seen. At the root all categories have weight.
        """
        split = node.split
        if not node.derived or node.depth == 0 or split is None or split.threshold >= 0:
            return False
        f = split.feature
        empty = np.all([h[f] == 0 for h in node.histogram], axis=0) & (self.rows_per_code[:, f] > 0).any(axis=0)
        if not empty.any():
            return False
        apart = replace(split, child=np.where(empty, RIGHT, LEFT).astype(np.uint8))
        return any(len(self.engine.route(self.codes, rows, apart, [RIGHT])[0]) > 0 for rows in node.rows)

    def _search(self, node: Node, request: Request) -> Split | None:
        return self.engine.search(node.histogram, node.counts, self.error_of(node), self.bins, request)

    def error_of(self, node: Node) -> Array:
        """The bounds that a search has to mind: there is nothing better than direct sums."""
        return node.error if node.derived else np.zeros(self.n_planes)

    def sum_directly(self, node: Node) -> None:
        """Sum a node's histogram from its rows."""
        for group, rows in enumerate(node.rows):
            self._sum_group(node, group, rows)
        node.derived = False

    def _sum_group(self, node: Node, group: int, rows: Rows) -> None:
        values = [self.values[p] for p in self.planes[group]]
        for p, h in zip(self.planes[group], self.engine.histogram(self.codes, rows, *values)):
            if self.scale[p] != 1.0:
                h *= self.scale[p]
            node.planes[p] = h
            node.error[p] = direct_error(len(rows)) * float(np.abs(h[0]).sum())

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
        groups = node.rows[: self.n_once]
        return np.asarray(sum(self.engine.histogram(self.codes, rows, self.examples)[0] for rows in groups))

    @cached_property
    def rows_per_code(self) -> Array:
        """How many rows each group has in each cell of the root: ``[group, feature, code]``."""
        counts = [self.engine.histogram(self.codes, rows, None)[0] for rows in self.rows]
        return np.array(counts).astype(np.int64)

    @cached_property
    def examples_per_code(self) -> Array:
        """How many examples there are in each cell of the root: ``[feature, code]``."""
        if self.examples is None:
            return np.asarray(self.rows_per_code[: self.n_once].sum(axis=0), dtype=np.float64)
        return self.count(Node(list(self.rows), []))

    def examples_in(self, node: Node) -> float:
        """How many examples a node of listed rows has."""
        if self.examples is None:
            return float(sum(node.sizes[: self.n_once]))
        return sum(self.engine.total(self.examples, rows) for rows in node.rows[: self.n_once])

    def totals(self, node: Node) -> Array:
        """A node's sums, added up from its rows."""
        out = np.empty(self.n_planes)
        for group, rows in enumerate(node.rows):
            for p in self.planes[group]:
                if p in node.planes and not node.derived:
                    out[p] = node.planes[p][0].sum()
                else:
                    out[p] = self.scale[p] * self.engine.total(self.values[p], rows)
        return out


def gain(criterion: str, whole: Sequence[float], sides: Sequence[Sequence[float]]) -> float:
    """By how much a split lowers the exponential loss, or the squared error of responses; sums are per plane.

    Of many classes it is the Gini index: most splits near the root of a tree leave the error as it is.
    """
    if criterion in OF_CLASSES:
        impurities = [float(class_loss("class_gini", np.array(sums))) for sums in (whole, *sides)]
        return max(0.0, impurities[0] - sum(impurities[1:]))
    if len(whole) > 2:
        pairs = range(0, len(whole), 2)
        return sum(gain(criterion, whole[k : k + 2], [side[k : k + 2] for side in sides]) for k in pairs)
    if criterion == "squares":
        return max(0.0, sum(b * b / a for a, b in sides if a > 0) - (whole[1] ** 2 / whole[0] if whole[0] > 0 else 0.0))
    return max(0.0, 2 * math.sqrt(whole[0] * whole[1]) - sum(2 * math.sqrt(a * b) for a, b in sides))
