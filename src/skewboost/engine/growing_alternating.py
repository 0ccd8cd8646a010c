"""Growing an alternating decision tree: choosing the next precondition to split.

A prediction node stands for a precondition: the rows that reach it. It keeps its best split until weights inside it
change by more than a common factor. A round changes the weights under one precondition, so nodes that share no rows
with it keep their splits. The others are searched again, parents before children, and only if they can win: a split
lowers Z by at most the weight of its node.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skewboost.engine.boundary import ABSTAIN, LEFT, RIGHT, TIE, Request, Split
from skewboost.engine.growing import gain
from skewboost.engine.partition import Partition, as_path
from skewboost.engine.training_set import Growth, Node, TrainingSet
from skewboost.typing import Array

REST = 2  # the leaf of the rows that a round leaves alone: outside the precondition, or missing


@dataclass
class AlternatingPartition(Partition):
    """Three leaves: the left and right sides of a split below a precondition, and all other rows.

    Its splits are the tests on the path to the precondition, followed by the new one. Its covers are the number of
    examples at each of these splits, followed by those on the left and right of the last.
    """

    precondition: int = 0

    @property
    def n_fixed(self) -> int:
        """The number of splits on the path to the precondition."""
        return len(self.splits) - 1

    def counted(self, counts: Array) -> AlternatingPartition:
        last = np.bincount(self.splits[-1].child, counts[-1], minlength=2)
        return replace(self, covers=np.append(counts.sum(axis=1), last[[LEFT, RIGHT]]))

    def paths(self) -> list[tuple[tuple[int, ...], Array, Array]]:
        """Return the paths to the first two leaves; the third adds nothing."""
        assert self.covers is not None
        last = len(self.splits) - 1
        found = []
        for side in (LEFT, RIGHT):
            sides = [self.links[k].index(k + 1) for k in range(last)] + [side]
            reached = [*self.covers[1 : last + 1].tolist(), float(self.covers[last + 1 + side])]
            way: dict[int, tuple[Array, float]] = {}
            for split, taken, before, after in zip(self.splits, sides, self.covers.tolist(), reached):
                allowed, fraction = way.get(split.feature, (np.True_, 1.0))
                way[split.feature] = (allowed & (split.child == taken), fraction * after / before)
            found.append(as_path(way))
        return found


@dataclass(eq=False)
class PredictionNode:
    """A precondition with its best split, as far as these are known."""

    node: Node
    path: tuple[tuple[int, int], ...] = ()  # (splitter, side), from the root
    parent: PredictionNode | None = None
    split: Split | None = None
    weight: float | None = None  # of its rows; None: unknown
    gain: float | None = None  # the decrease in Z by its best split; None: unknown
    examples: float = 0.0

    def overlaps(self, other: PredictionNode) -> bool:
        """Whether a row can reach both nodes: they are not on different sides of one splitter."""
        sides = dict(self.path)
        return all(sides.get(splitter, side) == side for splitter, side in other.path)


class AlternatingGrowth:
    """A growing alternating tree: node 0 is the root, and splitter m (from 0) makes the nodes 2m+1 and 2m+2."""

    def __init__(self, rows: TrainingSet, request: Request) -> None:
        self.rows = rows
        self.request = request
        self.nodes = [PredictionNode(rows.root())]
        self.abstaining: list[PredictionNode] = []  # the nodes of rows that abstain at a split
        self.splits: list[Split] = []
        self.n_assigned = rows.n_assigned

    def moved(self, precondition: int, factors: Array) -> None:
        """Take note that the weights under a precondition have changed, and all others by a factor per class."""
        for node in (*self.nodes, *self.abstaining):
            if node.overlaps(self.nodes[precondition]):
                self._forget(node)
            elif factors[0] != factors[1]:
                node.weight = node.gain = None
            else:
                node.weight = None if node.weight is None else node.weight * float(factors[0])
                node.gain = None if node.gain is None else node.gain * float(factors[0])

    def forget(self) -> None:
        """Take note that all weights have changed."""
        for node in (*self.nodes, *self.abstaining):
            self._forget(node)

    def _forget(self, node: PredictionNode) -> None:
        self.rows.forget(node.node)
        node.weight = node.gain = None

    def grow(self) -> Growth | None:
        """Return the split of any precondition that lowers Z most; ties go to the earliest. None: there is no split."""
        if self.rows.n_assigned != self.n_assigned:
            self.forget()
            self.n_assigned = self.rows.n_assigned
        best = max((n.gain for n in self.nodes if n.gain is not None), default=-np.inf)
        for node in self.nodes:
            if node.gain is None and self._weight(node) >= best:
                best = max(best, self._search(node))
        if not np.isfinite(best):
            return None
        level = best - TIE * self._weight(self.nodes[0])
        chosen = next(k for k, n in enumerate(self.nodes) if n.gain is not None and n.gain >= level)
        return self._growth(chosen)

    def _weight(self, node: PredictionNode) -> float:
        if node.weight is None:
            node.weight = float(self.rows.totals(node.node).sum())
        return node.weight

    def _search(self, node: PredictionNode) -> float:
        """Find the best split of a node and return its gain."""
        node.split = self.rows.search(node.node, self.request)
        node.gain = -np.inf if node.split is None else self._weight(node) - node.split.value
        return node.gain

    def _growth(self, chosen: int) -> Growth:
        """Return the chosen split as a partition of all rows."""
        node, split = self.nodes[chosen], self.nodes[chosen].split
        assert split is not None
        children = self.rows.split(node.node, split)
        sums = np.zeros((3, 2))
        for side, child in enumerate(children):
            sums[side] = self.rows.totals(child)
        sums[REST] += np.maximum(self.rows.totals(self.nodes[0].node) - self.rows.totals(node.node), 0.0)
        covers = [*self._examples(node), *(self.rows.examples(child) for child in children[:ABSTAIN])]
        partition = AlternatingPartition(*self._chain(node, split), np.array(covers), chosen)
        left, right = sums[LEFT].tolist(), sums[RIGHT].tolist()
        gained = gain("z", [left[0] + right[0], left[1] + right[1]], (left, right))
        return Growth(partition, sums, np.arange(3) == REST, [(split.feature, gained)])

    def _examples(self, node: PredictionNode) -> list[float]:
        """Return the number of examples at each node from the root to this one."""
        above = [] if node.parent is None else self._examples(node.parent)
        node.examples = node.examples or self.rows.examples(node.node)
        return [*above, node.examples]

    def _chain(self, node: PredictionNode, split: Split) -> tuple[tuple[Split, ...], tuple[tuple[int, ...], ...], int]:
        """Return the splits, links and number of leaves of the partition."""
        splits = [self.splits[splitter] for splitter, _ in node.path]
        links = [tuple(k + 1 if s == side else ~REST for s in range(3)) for k, (_, side) in enumerate(node.path)]
        return (*splits, split), (*links, (~LEFT, ~RIGHT, ~REST)), 3

    def add(self, partition: AlternatingPartition) -> None:
        """Make the two sides of a split preconditions."""
        parent, split = self.nodes[partition.precondition], partition.splits[-1]
        m = len(self.splits)
        self.splits.append(split)
        children = self.rows.split(parent.node, split)
        family = [PredictionNode(child, (*parent.path, (m, side)), parent) for side, child in enumerate(children)]
        self.nodes += family[:ABSTAIN]
        self.abstaining += family[ABSTAIN:]
