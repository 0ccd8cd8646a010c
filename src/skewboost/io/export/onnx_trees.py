"""Step functions and trees as the attributes of ONNX's operator TreeEnsemble."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import numpy_helper

from skewboost.io.export.formula import Column
from skewboost.io.export.packed_forest import TwoWay
from skewboost.typing import Array

LEQ, MEMBER = 0, 6  # modes of nodes: x <= split, and whether x is in a set
SUM = 1  # of leaves

Child = tuple[int, int]  # the number of a node or leaf, and whether it is a leaf


class Ensemble:
    """Collects nodes and leaves. `place` are the columns of the input that features are in."""

    def __init__(self, place: Mapping[int, int], columns: Sequence[Column]) -> None:
        self.place, self.columns = place, columns
        self.roots: list[int] = []
        self.nodes: list[Array] = []  # blocks of rows: column, mode, whether NaN is yes, yes, is leaf, no, is leaf
        self.splits: list[Array] = []
        self.members: list[float] = []  # a set after the other, NaN after each
        self.targets: list[Array] = []
        self.weights: list[Array] = []
        self.n_nodes = self.n_leaves = 0

    def leaves(self, values: Array, target: Any) -> int:
        """Add leaves, and return the number of the first."""
        self.weights.append(np.asarray(values, dtype=np.float64))
        self.targets.append(np.broadcast_to(target, np.shape(values)))
        self.n_leaves += len(values)
        return self.n_leaves - len(values)

    def node(self, column: int, split: float, yes: Child, no: Child) -> Child:
        """Add a node, which answers missing cells with no."""
        self._add(np.array([[column, LEQ, 0, *yes, *no]]), np.array([split]))
        return self.n_nodes - 1, 0

    def _add(self, rows: Array, splits: Array) -> None:
        self.nodes.append(rows)
        self.splits.append(splits)
        self.n_nodes += len(rows)

    def constant(self, value: float, target: int) -> None:
        """Add a tree with the same value everywhere."""
        self.roots.append(self._constant(value, target))

    def _constant(self, value: float, target: int) -> int:
        """A root, which cannot be a leaf, with the same value everywhere."""
        first = self.leaves(np.array([value, value]), target)
        return self.node(0, math.inf, (first, 1), (first + 1, 1))[0]

    def steps(self, feature: int, cuts: Sequence[float], values: Sequence[float], missing: float, target: int) -> None:
        """Add a step function as a binary search, after a test for missing cells."""
        column, first = self.place[feature], self.leaves(np.array([*values, missing]), target)

        def between(low: int, high: int) -> Child:
            if low == high:
                return first + low, 1
            middle = (low + high) // 2
            return self.node(column, cuts[middle], between(low, middle), between(middle + 1, high))

        self.roots.append(self.node(column, math.inf, between(0, len(cuts)), (first + len(values), 1))[0])

    def trees(self, trees: TwoWay, values: Array, targets: Array) -> None:
        """Add trees with a value and a target per leaf; those whose values are all zero are left out."""
        tree_of_node = trees.tree_of_node
        is_used = np.zeros(len(trees.roots), dtype=np.bool_)
        is_used[tree_of_node[((trees.links < 0) & (values[~np.minimum(trees.links, -1)] != 0)).any(axis=1)]] = True
        own = is_used[tree_of_node]
        constants = {
            t: self._constant(float(values[~root]), int(targets[~root]))
            for t, root in enumerate(trees.roots)
            if root < 0
        }
        at, links = self.n_nodes + np.cumsum(own) - 1, trees.links[own]
        to_leaf = links < 0
        leaf = ~links[to_leaf]
        to = at[np.maximum(links, 0)]
        to[to_leaf] = self.leaves(values[leaf], targets[leaf]) + np.arange(len(leaf))  # one for every link
        self._add_nodes(trees, own, to, to_leaf)
        self.roots += [
            constants[t] if root < 0 else int(at[root]) for t, root in enumerate(trees.roots) if root < 0 or is_used[t]
        ]

    def _add_nodes(self, trees: TwoWay, own: Array, to: Array, to_leaf: Array) -> None:
        """Add some nodes, given where they lead to."""
        columns = np.array([self.place.get(j, 0) for j in range(len(self.columns))])[trees.feature[own]]
        yes, no = (np.column_stack((to[:, side], to_leaf[:, side])) for side in (0, 1))
        rows = np.column_stack((columns, np.full(len(to), LEQ), trees.missing_is_yes[own], yes, no))
        splits, which = trees.cut[own], trees.which[own]
        before: dict[int, int] = {}  # the node whose "no" leads to a node, if both ask for categories
        for row, feature in zip(np.flatnonzero(which >= 0).tolist(), trees.feature[own][which >= 0]):
            known = self.columns[feature].categories or ()
            members = {float(k) for k, c in enumerate(known) if c in trees.sets[which[row]]}
            others = {float(k) for k in range(len(known))} - members
            turned = len(members) > len(others)  # a runtime tests the members one by one
            parent = rows[before[row]] if row in before else None
            if members and others and parent is not None and parent[0] == rows[row, 0]:
                # onnxruntime 1.31 makes these two one if their leaves for yes are equal, and asks only the first of
                # them about NaN: the second must not answer with yes if the first answers with no
                turned ^= not parent[2] and bool(rows[row, 2]) != turned
            if turned:
                members = others
                rows[row] = [*rows[row, :2], 1 - rows[row, 2], *rows[row, 5:], *rows[row, 3:5]]
            if not members:  # no known category
                splits[row] = -1.0
                continue
            rows[row, 1], splits[row] = MEMBER, 0.0
            self.members += [*sorted(members), math.nan]
            if not rows[row, 6]:
                before[int(rows[row, 5]) - self.n_nodes] = row
        self._add(rows, splits)

    def attributes(self, n_targets: int) -> dict[str, Any]:
        """The attributes of the operator."""
        columns, modes, nan_is_yes, yes, yes_is_leaf, no, no_is_leaf = np.concatenate(self.nodes).T
        found = {
            "n_targets": n_targets,
            "aggregate_function": SUM,
            "post_transform": 0,
            "tree_roots": self.roots,
            "nodes_modes": numpy_helper.from_array(modes.astype(np.uint8)),
            "nodes_featureids": columns.tolist(),
            "nodes_splits": numpy_helper.from_array(np.concatenate(self.splits)),
            "nodes_missing_value_tracks_true": nan_is_yes.tolist(),
            "nodes_truenodeids": yes.tolist(),
            "nodes_trueleafs": yes_is_leaf.tolist(),
            "nodes_falsenodeids": no.tolist(),
            "nodes_falseleafs": no_is_leaf.tolist(),
            "leaf_targetids": np.concatenate(self.targets).tolist(),
            "leaf_weights": numpy_helper.from_array(np.concatenate(self.weights)),
        }
        if self.members:
            found["membership_values"] = numpy_helper.from_array(np.array(self.members))
        return found
