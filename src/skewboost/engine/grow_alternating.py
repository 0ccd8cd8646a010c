"""Growing an alternating tree: which precondition to split next.

A prediction node is a precondition: the rows that reach it. It keeps its histogram and its best split for as long as
no weight in it moves. A round moves the weights under one precondition, so the nodes that no row reaches together
with that one keep theirs. The others are searched anew, parents before children, and only if they could win: a split
of a node lowers Z by no more than the node's weight.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from skewboost.engine.boundary import ABSTAIN, LEFT, RIGHT, TIE, Array, Request, Split
from skewboost.engine.growth import Grower, Growth, Node, gain
from skewboost.engine.partition import Partition, View

# Histograms are kept while those of all nodes need no more memory than this (bytes).
MAX_KEPT = 2**28

REST = 2  # the leaf of the rows that a round passes over: outside the precondition, or missing


@dataclass(frozen=True)
class AlternatingPartition(Partition):
    """The rows under a precondition that pass a test, those that fail it, and all others.

    Its splits are the tests on the way to the precondition, and the new one; its covers count the examples at each of
    the splits, then those that pass and fail the last.
    """

    precondition: int = 0

    @property
    def n_fixed(self) -> int:
        """All but the new one."""
        return len(self.splits) - 1

    def counted(self, view: View, examples: Array | None) -> AlternatingPartition:
        """The same, with covers that count these rows."""
        weights = np.ones(view.n_rows) if examples is None else examples
        leaves = self.leaves(view)
        at_splits = [float(weights[rows].sum()) for rows in self._rows_at_splits(view)]
        covers = [*at_splits, *(float(weights[leaves == side].sum()) for side in (LEFT, RIGHT))]
        return replace(self, covers=np.array(covers))

    def paths(self) -> list[tuple[tuple[int, ...], Array, Array]]:
        """What it takes to come to the first two leaves; the third says nothing."""
        assert self.covers is not None
        last = len(self.splits) - 1
        found = []
        for side in (LEFT, RIGHT):
            sides = [self.links[k].index(k + 1) for k in range(last)] + [side]
            reached = [*self.covers[1 : last + 1].tolist(), float(self.covers[last + 1 + side])]
            way: dict[int, tuple[Array, float]] = {}
            for split, taken, before, after in zip(self.splits, sides, self.covers.tolist(), reached):
                allowed, share = way.get(split.feature, (np.True_, 1.0))
                way[split.feature] = (allowed & (split.child == taken), share * after / before)
            allowed_codes, shares = (np.array(list(part)) for part in zip(*way.values()))
            found.append((tuple(way), allowed_codes, shares))
        return found


@dataclass(eq=False)
class PredictionNode:
    """A precondition. Its histogram holds weights as they are stored, so it stays right while these do."""

    node: Node
    path: tuple[tuple[int, int], ...] = ()  # (splitter, side), from the root
    parent: PredictionNode | None = None
    family: list[PredictionNode] = field(default_factory=list)  # the children of its splitter, itself included
    weight: float | None = None  # of its rows, in units of the negatives' scale
    gain: float | None = None  # by how much its best split lowers Z, in the same units; None: not known
    examples: float = 0.0

    def overlaps(self, other: PredictionNode) -> bool:
        """Whether a row can reach both: unless they are on different sides of one splitter."""
        sides = dict(self.path)
        return all(sides.get(splitter, side) == side for splitter, side in other.path)

    def forget(self) -> None:
        """Its weights have moved."""
        self.node.planes, self.node.derived, self.weight, self.gain = {}, False, None, None


class AlternatingGrowth:
    """An alternating tree while it grows: node 0 is the root, and splitter m (from 0) makes nodes 2m+1 and 2m+2."""

    def __init__(self, grower: Grower, request: Request) -> None:
        self.grower = grower
        self.request = request
        self.nodes = [PredictionNode(Node(list(grower.rows), [len(r) for r in grower.rows]))]
        self.silent: list[PredictionNode] = []  # the rows that could not take a test
        self.splits: list[Split] = []
        self.ratio = 1.0  # of the positives' scale to the negatives'

    def forget(self, precondition: int | None = None) -> None:
        """Weights have moved: those under a precondition, or all."""
        for node in (*self.nodes, *self.silent):
            if precondition is None or node.overlaps(self.nodes[precondition]):
                node.forget()

    def grow(self, stored: Array, scale: Array) -> Growth | None:
        """The split that lowers Z most, of any precondition; the earliest of those that tie."""
        self.grower.values, self.grower.scale = [stored, stored], np.ones(2)
        if scale[1] / scale[0] != self.ratio:  # the classes have moved apart: histograms stay right, gains do not
            self.ratio = float(scale[1] / scale[0])
            for node in self.nodes:
                node.weight = node.gain = None
        best = max((n.gain for n in self.nodes if n.gain is not None), default=-np.inf)
        for node in self.nodes:
            if node.gain is None and self._weight(node) >= best:
                self._search(node)
                assert node.gain is not None
                best = max(best, node.gain)
        if not np.isfinite(best):
            return None
        level = best - TIE * self._weight(self.nodes[0])
        chosen = next(k for k, n in enumerate(self.nodes) if n.gain is not None and n.gain >= level)
        return self._growth(chosen, scale)

    def _weight(self, node: PredictionNode) -> float:
        if node.weight is None:
            negative, positive = self.grower.totals(node.node)
            node.weight = float(negative + self.ratio * positive)
        return node.weight

    def _search(self, node: PredictionNode) -> None:
        """Find a node's best split; its histogram comes from its parent's where that is known."""
        own, parent = node.node, node.parent
        if not own.planes and parent is not None and parent.node.planes and self.grower.engine.derives:
            self.grower.derive(parent.node, [n.node for n in node.family])
        if self.ratio == 1.0:
            self.grower.search(own, self.request)
        else:
            own.split = self._search_scaled(own)
        node.gain = -np.inf if own.split is None else self._weight(node) - own.split.value
        size = sum(h.nbytes for h in own.planes.values())
        if len(self.nodes) * size > MAX_KEPT:
            own.planes = {}

    def _search_scaled(self, own: Node) -> Split | None:
        """The same where the classes are stored in different units."""
        if not own.planes:
            self.grower.sum_directly(own)
        scales = np.array([1.0, self.ratio])
        for _ in range(2):
            seen = Node(own.rows, own.sizes, error=own.error * scales, derived=own.derived)
            seen.planes = {p: h * scales[p] for p, h in own.planes.items()}
            split = self.grower.engine.search(
                seen.histogram, None, self.grower.error_of(seen), self.grower.bins, self.request
            )
            if split is None or not split.doubtful:
                break
            self.grower.sum_directly(own)
        return split

    def _growth(self, chosen: int, scale: Array) -> Growth:
        """The chosen split as a partition: what passes, what fails, and the rest."""
        node, split = self.nodes[chosen], self.nodes[chosen].node.split
        assert split is not None
        children = self._children(node, split)
        sums = np.zeros((3, 2))
        for side, child in enumerate(children):
            sums[side] = scale * self.grower.totals(child)
        of_root, of_node = (self.grower.totals(n.node) for n in (self.nodes[0], node))
        sums[REST] += np.maximum(scale * (of_root - of_node), 0.0)
        covers = [*self._examples(node), *(self.grower.examples_in(child) for child in children[:2])]
        partition = AlternatingPartition(*self._chain(node, split), np.array(covers), chosen)
        importances = np.zeros(self.grower.bins.n_features)
        left, right = sums[LEFT].tolist(), sums[RIGHT].tolist()
        importances[split.feature] = gain("z", [left[0] + right[0], left[1] + right[1]], (left, right))
        rest = Node([None, None], [0, 0], abstains=True)
        return Growth(partition, [*children[:2], rest], [], sums, importances, {0: REST, 1: REST})

    def _children(self, node: PredictionNode, split: Split) -> list[Node]:
        sides = [LEFT, RIGHT] + [ABSTAIN] * bool((split.child == ABSTAIN).any())
        routed = [self.grower.engine.route(self.grower.codes, rows, split, sides) for rows in node.node.rows]
        rows_of = [[r[side] for r in routed] for side in sides]
        return [Node(rows, [len(r) for r in rows], 1, abstains=s == ABSTAIN) for s, rows in zip(sides, rows_of)]

    def _examples(self, node: PredictionNode) -> list[float]:
        """How many examples there are at each node from the root to this one."""
        above = [] if node.parent is None else self._examples(node.parent)
        node.examples = node.examples or self.grower.examples_in(node.node)
        return [*above, node.examples]

    def _chain(self, node: PredictionNode, split: Split) -> tuple[tuple[Split, ...], tuple[tuple[int, ...], ...], int]:
        """Splits, links and number of leaves of the partition."""
        splits = [self.splits[splitter] for splitter, _ in node.path]
        links = [tuple(k + 1 if s == side else ~REST for s in range(3)) for k, (_, side) in enumerate(node.path)]
        return (*splits, split), (*links, (~LEFT, ~RIGHT, ~REST)), 3

    def add(self, partition: AlternatingPartition) -> None:
        """Make the sides of a split preconditions."""
        parent, split = self.nodes[partition.precondition], partition.splits[-1]
        m = len(self.splits)
        self.splits.append(split)
        children = self._children(parent, split)
        family = [PredictionNode(child, (*parent.path, (m, side)), parent) for side, child in enumerate(children)]
        for node in family:
            node.family = family
        self.nodes += family[:ABSTAIN]
        self.silent += family[ABSTAIN:]
