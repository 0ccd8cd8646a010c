"""Step functions and trees as one TreeEnsemble of ONNX, each with a target of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import numpy_helper

from skewboost.io.export.formula import Tree

LEQ = 0  # the mode of a node: x <= split
SUM = 1  # of leaves


class Forest:
    """The attributes of a TreeEnsemble while they are collected."""

    def __init__(self) -> None:
        self.roots: list[int] = []
        self.feature: list[int] = []
        self.split: list[float] = []
        self.nan_is_yes: list[int] = []
        self.to: list[list[tuple[int, int] | None]] = []  # per node (number, whether a leaf) for yes and no
        self.target: list[int] = []
        self.weight: list[float] = []

    def leaf(self, target: int, value: float) -> tuple[int, int]:
        """A new leaf."""
        self.target.append(target)
        self.weight.append(value)
        return len(self.weight) - 1, 1

    def node(self, feature: int, split: float, nan_is_yes: bool = False) -> int:
        """A new node, whose ways are yet to be told."""
        self.feature.append(feature)
        self.split.append(split)
        self.nan_is_yes.append(int(nan_is_yes))
        self.to.append([None, None])
        return len(self.feature) - 1

    def constant(self, target: int, value: float) -> None:
        """A tree that always says the same."""
        k = self.node(0, math.inf)
        self.roots.append(k)
        self.to[k] = [self.leaf(target, value), self.leaf(target, value)]

    def steps(self, column: int, cuts: Sequence[float], values: Sequence[float], missing: float, target: int) -> None:
        """A step function, by halving; first of all whether there is a number."""
        known = self.node(column, math.inf)
        self.roots.append(known)
        self.to[known] = [self._halves(column, cuts, values, target), self.leaf(target, missing)]

    def _halves(self, column: int, cuts: Sequence[float], values: Sequence[float], target: int) -> tuple[int, int]:
        if not cuts:
            return self.leaf(target, values[0])
        middle = len(cuts) // 2
        k = self.node(column, cuts[middle])
        self.to[k][0] = self._halves(column, cuts[:middle], values[: middle + 1], target)
        self.to[k][1] = self._halves(column, cuts[middle + 1 :], values[middle + 1 :], target)
        return k, 0

    def tree(self, tree: Tree, column_of: Any, output: int, target: int) -> None:
        """A tree; a node whose missing cells go a third way is two."""
        todo: list[tuple[int, int, int]] = []  # link, and where it hangs: node and side

        def place(link: int, parent: int, side: int) -> None:
            while link >= 0 and len(set(tree.nodes[link].links)) == 1:
                link = tree.nodes[link].links[0]
            if link < 0:
                self._hang(self.leaf(target, tree.values[~link][output]), parent, side)
                return
            node = tree.nodes[link]
            column, cut = column_of(node)
            yes, no, missing = node.links
            if missing not in (yes, no):
                known = self.node(column, math.inf)
                self._hang((known, 0), parent, side)
                todo.append((missing, known, 1))
                if yes == no:
                    todo.append((yes, known, 0))
                    return
                parent, side = known, 0
            k = self.node(column, cut, nan_is_yes=missing == yes)
            self._hang((k, 0), parent, side)
            todo.extend([(yes, k, 0), (no, k, 1)])

        place(0, -1, 0)
        while todo:
            place(*todo.pop())

    def _hang(self, what: tuple[int, int], parent: int, side: int) -> None:
        if parent >= 0:
            self.to[parent][side] = what
        elif what[1]:  # a root must be a node
            k = self.node(0, math.inf)
            self.roots.append(k)
            self.to[k] = [what, self.leaf(self.target[what[0]], self.weight[what[0]])]
        else:
            self.roots.append(what[0])

    def attributes(self, n_targets: int) -> dict[str, Any]:
        """As the operator wants them."""
        ways = [[w if w is not None else (0, 1) for w in node] for node in self.to]
        return {
            "n_targets": n_targets,
            "aggregate_function": SUM,
            "post_transform": 0,
            "tree_roots": self.roots,
            "nodes_modes": numpy_helper.from_array(np.full(len(self.feature), LEQ, np.uint8)),
            "nodes_featureids": self.feature,
            "nodes_splits": numpy_helper.from_array(np.array(self.split)),
            "nodes_missing_value_tracks_true": self.nan_is_yes,
            "nodes_truenodeids": [yes[0] for yes, _ in ways],
            "nodes_trueleafs": [yes[1] for yes, _ in ways],
            "nodes_falsenodeids": [no[0] for _, no in ways],
            "nodes_falseleafs": [no[1] for _, no in ways],
            "leaf_targetids": self.target,
            "leaf_weights": numpy_helper.from_array(np.array(self.weight)),
        }
