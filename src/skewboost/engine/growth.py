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
from typing import Any, Protocol

import numpy as np

from skewboost.engine.binning import Bins
from skewboost.engine.boundary import FEW_ROWS, LEFT, RIGHT, Array, Codes, Engine, Request, Split
from skewboost.engine.partition import Partition

EPSILON = float(np.finfo(np.float64).eps)


def direct_error(n_rows: int) -> float:
    """A bound on the relative error of sums over the bins of n weights.

    Rounding errors are as good as random: in 256 bins of n/256 additions each they add up to about ε√n/1500 of the
    total. This is some twenty standard deviations, and allows for adding up the chunks and the bins.
    """
    return EPSILON * (4.0 + math.sqrt(n_rows) / 64.0)


Rows = Any  # an engine's own set of rows; `len()` of it is the number of rows


@dataclass
class Child:
    """A child as `Engine.expand` makes it: its rows per group, its histogram, the bound on its error, its split."""

    rows: list[Rows]
    planes: list[Array]
    error: Array
    derived: bool
    split: Split | None


class Kernels(Engine, Protocol):
    """What a set that derives histograms asks of its engine, beside what everybody may."""

    derives: bool  # whether histograms may be derived (by subtraction, by factors) instead of summed

    def array(self, values: Array) -> Array:
        """A copy of one float64 number per row."""
        ...

    def rows(self, mask: Array) -> Rows:
        """The set of rows where `mask` holds, in order."""
        ...

    def histogram(self, codes: Codes, rows: Rows, *values: Array | None) -> Array:
        """``[plane, feature, code]`` sums of each of `values` (one entry per row *of the table*; None counts)."""
        ...

    def search(
        self, planes: Sequence[Array], counts: Array | None, error: Array, bins: Bins, request: Request
    ) -> Split | None:
        """The best split of a node, or None. `error` bounds the rounding error of sums in each plane."""
        ...

    def route(self, codes: Codes, rows: Rows, split: Split, wanted: Sequence[int]) -> list[Rows]:
        """The rows that go to each of the `wanted` children."""
        ...

    def split_off(
        self,
        codes: Codes,
        rows: Sequence[Rows],
        split: Split,
        wanted: Sequence[tuple[int, int]],
        values: Sequence[Array],
        scale: Array,
    ) -> list[tuple[Rows, Array]]:
        """`route` and `histogram` in one go, for each wanted (group, child).

        Rows, values and a scale of the values are given per group.
        """
        ...

    def move(
        self, codes: Codes, rows: Rows, feature: int, factors: Array, values: Array, scale: float
    ) -> tuple[int, Array]:
        """Multiply the values of rows by ``factors[code]`` of a feature, in place.

        Returns how many have moved, and the histogram of scale times the differences.
        """
        ...

    def reweighted(self, whole: Array, parts: Sequence[Array], factors: Sequence[float]) -> Array:
        """A node's histogram after its weights were multiplied by one factor per part; the last is for all other rows.

        ``Σ factors[k]·parts[k] + factors[-1]·(whole - Σ parts)``; the whole may be used up.
        """
        ...

    def expand(
        self,
        codes: Codes,
        rows: Sequence[Rows],
        split: Split,
        values: Sequence[Array],
        scale: Array,
        planes: Sequence[Array],
        error: Array,
        bins: Bins,
        request: Request,
    ) -> list[Child] | None:
        """`route`, `histogram` (the larger child by subtraction) and `search` in one go, for an engine that `derives`.

        The parent's histogram may be used up.
        None where it has no shortcut, and the calls above will do.
        """
        ...

    def stump(
        self,
        codes: Codes,
        rows: Sequence[Rows],
        rows_per_code: Array,
        planes: Sequence[Array],
        counts: Array | None,
        error: Array,
        values: Sequence[Array],
        scale: Array,
        bins: Bins,
        request: Request,
    ) -> tuple[Split | None, list[list[int]], list[tuple[int, Rows, Array]]]:
        """`search` and `split_off` of the smaller child of each of two groups, for an engine that `derives`.

        Returns the split, the numbers of rows ``[child][group]``, and per group that child, its rows and histogram;
        nothing of the latter where the split is doubtful, abstains or has an empty side, and the calls above will do.
        """
        ...

    def total(self, weights: Array, rows: Rows) -> float:
        """Σ weights over the rows."""
        ...

    def scale(self, weights: Array, rows: Rows, factor: float) -> None:
        """Multiply the weights of the rows, in place."""
        ...


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
class Grown:
    """A grown partition with the nodes it came from; ``sums[leaf, plane]`` are the totals of its leaves.

    In ``rest`` is, per group, the leaf whose rows and histogram nobody has written down, if there is one: what the
    other leaves leave of the root.
    """

    partition: Partition
    leaves: list[Node]
    parents: list[tuple[Node, list[Node]]]
    sums: Array
    importances: list[tuple[int, float]]
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
        engine: Kernels,
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
