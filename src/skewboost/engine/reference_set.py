"""The training set in plain NumPy, which specifies those of all other engines.

Nothing is cached or approximated. A node is a list of rows, a histogram is a sum over these rows, and a search
evaluates every candidate (`split_search`) by its criterion (`losses`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skewboost.engine.boundary import ABSTAIN, LEFT, N_CODES, RIGHT, Request, Split
from skewboost.engine.growing import grow
from skewboost.engine.partition import Partition, View
from skewboost.engine.restrictions import Candidates, Restrictions
from skewboost.engine.split_search import best_split
from skewboost.engine.training_set import (
    EXAMPLES,
    Classes,
    Growth,
    Leaves,
    Limits,
    RowFunction,
    TrainingSet,
    itself,
    squares,
)
from skewboost.typing import Array


@dataclass(frozen=True)
class Node:
    """Some rows, and the vectors that are summed over them (none: the weights, plane by plane)."""

    rows: Array
    names: Sequence[str] = ()


def histogram(codes: Array, rows: Array, values: Array) -> Array:
    """Return the sums of values over rows, ``[feature, code]``; there is a value for each of these rows."""
    n_features = len(codes)
    cell = codes[:, rows].astype(np.intp) + N_CODES * np.arange(n_features)[:, None]
    summed = np.bincount(cell.ravel(), np.broadcast_to(values, cell.shape).ravel(), minlength=N_CODES * n_features)
    return summed.reshape(n_features, N_CODES)


class ReferenceSet(TrainingSet):
    """A simple, slow training set."""

    def __init__(self, view: View, labels: Array, classes: Classes, examples: Array | None) -> None:
        super().__init__(view, labels, classes, examples)
        self.assign(itself, (EXAMPLES,))

    # -------------------------------------------------------------------- weights

    def _weights(self, rows: slice) -> Array:
        return self._w[rows]

    def assign(self, function: RowFunction, inputs: Sequence[str]) -> float:
        (made,) = self._applied(function, inputs, lambda _, arrays: arrays[0])
        made = np.broadcast_to(made, self.numbers.shape)  # one number per row holds for all its labels
        total = float(made.sum())
        self._w = np.asarray(made / total)
        self.n_assigned += 1
        return total

    def reweight(self, partition: Partition | Leaves, factors: Array) -> float:
        moved = self._per_label(self._w) * factors[self._leaves(partition)[:, None], self._plane_of_rows()]
        total = float(moved.sum())
        self._w = (moved / total).reshape(self._w.shape)
        return total

    def _plane_of_rows(self) -> Array:
        """Return the plane of every ``[row, label]``."""
        return self.classes.n_classes * np.arange(self.classes.n_labels) + self._per_label(self.numbers)

    # ----------------------------------------------------------------- partitions

    def grow(self, request: Request, limits: Limits, restrictions: Restrictions | None = None, key: int = 0) -> Growth:
        return grow(self, self.root(), request, limits, restrictions, key)

    def grow_responses(
        self, z: str, w: str, request: Request, limits: Limits, restrictions: Restrictions | None = None, key: int = 0
    ) -> Growth:
        self.map(np.multiply, (w, z), ("w z",))
        growth = grow(self, self._node_of(w, "w z"), request, limits, restrictions, key)
        return replace(growth, squares=self.sum(squares, (z, w)))

    def sums(self, partition: Partition | Leaves, times: str | None = None) -> Array:
        weights = self._w if times is None else self._w * self._shown(self.get(times))
        n_planes = self.classes.n_planes
        cell = n_planes * self._leaves(partition)[:, None] + self._plane_of_rows()
        summed = np.bincount(cell.ravel(), weights.ravel(), minlength=partition.n_leaves * n_planes)
        return summed.reshape(partition.n_leaves, n_planes)

    # ------------------------------------------------------- histograms and nodes

    def histogram(self, *names: str) -> Array:
        return self._histogram(self._node_of(*names))

    def root(self) -> Node:
        return self._node_of()

    def _node_of(self, *names: str) -> Node:
        return Node(np.arange(self.n_rows), names)

    def _histogram(self, node: Node) -> Array:
        codes, rows = self.view.codes, node.rows
        assert isinstance(codes, np.ndarray)
        if node.names:
            return np.array([histogram(codes, rows, self.get(name)[rows]) for name in node.names])
        planes = []
        weights, numbers = self._per_label(self._w), self._per_label(self.numbers)
        for label, k in np.ndindex(*self.classes):
            own = rows[numbers[rows, label] == k]
            planes.append(histogram(codes, own, weights[own, label]))
        return np.array(planes)

    def search(self, node: Node, request: Request, within: Candidates | None = None) -> Split | None:
        assert self.bins is not None
        counts = None
        if request.min_count > 0:
            codes = self.view.codes
            assert isinstance(codes, np.ndarray)
            counts = histogram(codes, node.rows, self.get(EXAMPLES)[node.rows])
        return best_split(self._histogram(node), counts, self.bins, request, within)

    def split(self, node: Node, split: Split) -> list[Node]:
        child = split.child[self.view.column(split.feature)[node.rows]]
        sides = [LEFT, RIGHT] + [ABSTAIN] * bool((split.child == ABSTAIN).any())
        return [Node(node.rows[child == side], node.names) for side in sides]

    def totals(self, node: Node) -> Array:
        if node.names:
            return np.array([self.get(name)[node.rows].sum() for name in node.names])
        planes, weights = self._plane_of_rows()[node.rows], self._per_label(self._w)[node.rows]
        return np.bincount(planes.ravel(), weights.ravel(), minlength=self.classes.n_planes)

    def examples(self, node: Node) -> float:
        return float(self.get(EXAMPLES)[node.rows].sum())

    def forget(self, node: Node) -> None:
        """Do nothing, because nothing is cached."""
