"""Growing a tree: which node to split next."""

from __future__ import annotations

import heapq

import numpy as np

from skewboost.engine.boundary import ABSTAIN, LEFT, RIGHT, Request, Split
from skewboost.engine.grow import importances
from skewboost.engine.growth import Grower, Grown, Node
from skewboost.engine.partition import Partition
from skewboost.engine.training_set import Limits


def grow_tree(grower: Grower, known: Node | None, request: Request, limits: Limits) -> Grown:
    """Split, level by level or best first, until a limit is reached; a split that gains nothing is not made."""
    return _Tree(grower, grower.root(known, request), request, limits).grow()


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

    def grow(self) -> Grown:
        self.grower.search(self.root, self.request)
        self.add_leaf(0, self.root, (-1, 0))
        while self.queue and not self.full:
            _, key, link = heapq.heappop(self.queue)
            self.expand(self.leaves[key])
            self.split_leaf(key, link)
        return self.finish()

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
        gained = node.split.before - node.split.value
        if gained <= 1e-12 * abs(node.split.before):
            return
        best_first = self.limits.max_leaf_nodes is not None
        # rounded, so that equal gains are equal whatever the order in which their sums were added up
        priority = -float(f"{gained:.8e}") if best_first else float(node.depth)
        heapq.heappush(self.queue, (priority, key, link))

    def expand(self, node: Node) -> None:
        """Give a node its children, and them their histograms and best splits."""
        assert node.split is not None
        final = self.limits.max_depth is not None and node.depth + 1 >= self.limits.max_depth
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
        routed = [grower.engine.route(grower.codes, rows, split, sides) for rows in node.rows]
        children = []
        for s in sides:
            rows = [r[s] for r in routed]
            children.append(Node(rows, [len(r) for r in rows], node.depth + 1, abstains=s == ABSTAIN))
            if node.counts is not None:
                children[-1].counts = grower.count(children[-1])
        return children

    def finish(self) -> Grown:
        number = {key: i for i, key in enumerate(self.leaves)}
        links = tuple(tuple(~number[~k] if k < 0 else k for k in row) for row in self.links)
        leaves = list(self.leaves.values())
        sums = np.array([self.grower.totals(leaf) for leaf in leaves])
        covers = np.array([self.grower.examples_in(leaf) for leaf in leaves])
        partition = Partition(tuple(self.splits), links, len(leaves), covers)
        gained = importances(partition, sums.tolist(), self.request.criterion)
        return Grown(partition, leaves, self.parents, sums, gained)
