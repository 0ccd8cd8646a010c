"""Newton trees in NumPy: the specification of `core/newton.h`.

A row has a gradient g and a Hessian h for each output. A leaf with the sums G and H lowers the loss by G²/2(H + λ), at
the value -G/(H + λ). With h = weight and g = -weight·y, the gain of a split is the decrease of the Gini index, so the
trees of forests are grown by the same code.

Random numbers are functions of a key and a counter (`draws`), so that the members of a portfolio can be trained in any
order, and by any engine.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from skewboost.engine.boundary import LEFT, MISSING, N_CODES, RIGHT, TIE, Split
from skewboost.engine.draws import below, columns_of_node, columns_of_tree, key_of_column, mix
from skewboost.engine.partition import Partition
from skewboost.engine.restrictions import ANY, Interactions
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins


@dataclass(frozen=True)
class TreeSettings:
    """How trees are grown."""

    max_leaves: int = 8  # 0: no limit
    max_depth: int = 0  # 0: no limit
    columns_of_tree: float = 1.0  # the share of the columns that is drawn for a tree
    columns_of_node: float = 1.0  # of these, the share that is drawn for a node
    random_thresholds: bool = False  # a node tries one random threshold, or random set of categories, per column
    l2: float = 0.0  # λ
    min_hessian: float = 1e-3  # of a leaf
    category_l2: float = 1.0  # added to the Hessian of a category when categories are sorted by their mean
    monotonic: tuple[int, ...] | None = None  # per column: -1 falling, 0 free, +1 rising; one output only
    interactions: Interactions = ANY

    def n_columns(self, n_features: int) -> tuple[int, int]:
        """Return the number of columns to draw for a tree, and for a node."""
        of_tree = max(1, round(self.columns_of_tree * n_features))
        return of_tree, max(1, round(self.columns_of_node * of_tree))


@dataclass(frozen=True)
class Trees:
    """Trees as arrays, one after the other: node k tests ``feature[k]`` and goes on to ``links[k, side]``.

    Links count from the first node and the first leaf of their tree; a link < 0 is the leaf ``~link``. Codes up to
    ``threshold[k]`` go left. A threshold of -1 means that the codes in ``sets[which[k]]`` do. `covers` are the weights
    of the training rows in the leaves, and `values` are ``[leaf, output]``. `importances` are the sums of the gains by
    feature.
    """

    first_node: Array
    first_leaf: Array
    feature: Array
    threshold: Array
    which: Array
    missing_left: Array
    links: Array
    sets: Array
    values: Array
    covers: Array
    importances: Array

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return len(self.first_node) - 1

    @classmethod
    def joined(cls, parts: list[Trees]) -> Trees:
        """Return the trees of several parts, one after the other."""
        node_offsets = np.cumsum([0, *(len(part.feature) for part in parts)])
        leaf_offsets = np.cumsum([0, *(len(part.covers) for part in parts)])
        set_offsets = np.cumsum([0, *(len(part.sets) for part in parts)])
        both = list(zip(parts, node_offsets, leaf_offsets, set_offsets))
        concatenated = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("feature", "threshold", "missing_left", "links", "sets", "values", "covers")
        }
        return cls(
            first_node=np.concatenate([[0], *(part.first_node[1:] + at for part, at, _, _ in both)]),
            first_leaf=np.concatenate([[0], *(part.first_leaf[1:] + at for part, _, at, _ in both)]),
            which=np.concatenate([np.where(part.which >= 0, part.which + at, -1) for part, _, _, at in both]),
            importances=np.sum([part.importances for part in parts], axis=0),
            **concatenated,
        )

    def mean(self, output: int) -> float:
        """Return the mean of the sum of the trees over the training rows."""
        values, starts = self.values[:, output], self.first_leaf[:-1]
        totals = np.add.reduceat(self.covers, starts) if len(starts) else np.zeros(0)
        alone = np.diff(self.first_leaf) == 1  # trees of a leaf, which may have no rows
        shares = np.add.reduceat(self.covers * values, starts) if len(starts) else totals
        means = np.divide(shares, totals, out=np.zeros(len(starts)), where=totals > 0.0)
        return float(np.where(alone, values[starts], means).sum())

    def in_order_of_walk(self) -> Trees:
        """Return the same trees, with nodes, sets and leaves in the order of a walk that goes left first."""
        n_nodes = np.diff(self.first_node)
        first_node, first_leaf = (np.repeat(own[:-1], n_nodes) for own in (self.first_node, self.first_leaf))
        inner = self.links >= 0
        children = np.where(inner, self.links + first_node[:, None], ~self.links + first_leaf[:, None])
        levels, level = [], self.first_node[:-1][n_nodes > 0]  # the nodes by their depth
        while len(level):
            levels.append(level)
            level = children[level][inner[level]]
        below = np.zeros((len(inner), 2), dtype=np.int64)  # how many nodes there are on each side; leaves are one more
        for level in reversed(levels):
            below[level] = np.where(inner[level], 1 + below.sum(axis=1)[np.where(inner, children, 0)[level]], 0)
        node, leaf, first = np.arange(len(inner)), np.arange(len(self.covers)), first_leaf.copy()  # their new places
        for level in levels:
            left, own = below[level][:, 0], inner[level]
            starts = np.stack((first[level], first[level] + left + 1), axis=1)  # the first leaf on each side
            node[children[level][own]] = np.stack((node[level] + 1, node[level] + 1 + left), axis=1)[own]
            first[children[level][own]] = starts[own]
            leaf[children[level][~own]] = starts[~own]
        nodes, leaves = np.argsort(node), np.argsort(leaf)
        to = np.where(inner, node[np.where(inner, children, 0)] - first_node[:, None], 0)
        to[~inner] = ~(leaf[children[~inner]] - np.repeat(first_leaf, 2).reshape(-1, 2)[~inner])
        by_set = self.threshold[nodes] < 0
        which = np.full(len(nodes), -1)
        which[by_set] = np.arange(by_set.sum())
        return replace(
            self, feature=self.feature[nodes], threshold=self.threshold[nodes], which=which,
            missing_left=self.missing_left[nodes], links=to[nodes], sets=self.sets[self.which[nodes][by_set]],
            values=self.values[leaves], covers=self.covers[leaves],
        )  # fmt: skip

    def first(self, n_trees: int) -> Trees:
        """Return the first trees; `importances` stay those of all."""
        n_nodes, n_leaves = int(self.first_node[n_trees]), int(self.first_leaf[n_trees])
        nodes = {
            name: getattr(self, name)[:n_nodes] for name in ("feature", "threshold", "which", "missing_left", "links")
        }
        return replace(
            self, first_node=self.first_node[: n_trees + 1], first_leaf=self.first_leaf[: n_trees + 1],
            values=self.values[:n_leaves], covers=self.covers[:n_leaves], **nodes,
        )  # fmt: skip

    @property
    def feature_of(self) -> Array | None:
        """The feature of each tree, if each tests one feature only; -1 for a leaf. None: some tree tests several."""
        found = np.full(self.n_trees, -1)
        grown = np.flatnonzero(np.diff(self.first_node))
        starts = self.first_node[grown]
        if len(grown):
            found[grown] = np.minimum.reduceat(self.feature, starts)
            if (found[grown] != np.maximum.reduceat(self.feature, starts)).any():
                return None
        return found

    def partition(self, tree: int) -> Partition:
        """Return a tree as a partition."""
        codes = np.arange(N_CODES)
        splits, links = [], []
        for k in range(int(self.first_node[tree]), int(self.first_node[tree + 1])):
            threshold = int(self.threshold[k])
            left = codes <= threshold if threshold >= 0 else self.sets[self.which[k]]
            child = np.where(left, LEFT, RIGHT).astype(np.uint8)
            child[MISSING] = LEFT if self.missing_left[k] else RIGHT
            splits.append(Split(int(self.feature[k]), threshold, child, 0, float("nan"), float("nan")))
            links.append((int(self.links[k, 0]), int(self.links[k, 1])))
        covers = self.covers[self.first_leaf[tree] : self.first_leaf[tree + 1]]
        return Partition(tuple(splits), tuple(links), len(covers), covers)

    def values_of(self, tree: int, output: int) -> Array:
        """Return the leaf values of a tree for one output."""
        return np.ascontiguousarray(self.values[self.first_leaf[tree] : self.first_leaf[tree + 1], output])

    def leaves(self, tree: int, codes: Array) -> Array:
        """Return the leaf of every row in a tree, counted over all trees; `codes` are ``[feature, row]``."""
        first = int(self.first_node[tree])
        empty = self.first_node[tree + 1] == first
        at = np.full(codes.shape[1], -1 if empty else 0, dtype=np.int64)
        rows = np.arange(0 if empty else codes.shape[1])
        while len(rows):
            k = first + at[rows]
            code = codes[self.feature[k], rows]
            in_set = self.sets[np.maximum(self.which[k], 0), code] if len(self.sets) else False
            left = np.where(self.threshold[k] >= 0, code <= self.threshold[k], in_set)
            left = np.where(code == MISSING, self.missing_left[k] > 0, left)
            at[rows] = self.links[k, np.where(left, 0, 1)]
            rows = rows[at[rows] >= 0]
        return np.asarray(self.first_leaf[tree] + ~at)


@dataclass
class _Node:
    """A node of a growing tree."""

    rows: Array
    depth: int
    low: float = -np.inf  # the bounds of its value
    high: float = np.inf
    path: frozenset[int] = frozenset()  # the features that were tested above it
    children: tuple[int, int] | None = None
    number: int = -1  # among the splits
    gain: float = 0.0
    feature: int = -1
    left: Array = field(default_factory=lambda: np.zeros(N_CODES, np.bool_))  # the codes that go left
    missing_left: bool | None = None  # None: no missing values were seen
    nominal: bool = False


class NewtonTree:
    """A tree, grown on some rows of a table of codes ``[feature, row]`` with pairs ``[row, output, (g, h)]``."""

    def __init__(self, codes: Array, bins: Bins, settings: TreeSettings, pairs: Array, rows: Array, key: int) -> None:
        self.codes, self.n_bins, self.settings, self.pairs, self.key = codes, bins.n_bins, settings, pairs, key
        self.ordered = bins.ordered  # categories with an order are split by thresholds, as numbers are
        self.nominal = bins.nominal & ~bins.ordered
        n_features = len(codes)
        of_tree, self.n_of_node = settings.n_columns(n_features)
        self.columns = columns_of_tree(n_features, of_tree, key)
        self.nodes = [_Node(rows, 0)]
        self.splits: list[int] = []
        waiting = [0] if self._search(0) else []
        while waiting and not (settings.max_leaves and len(self.splits) + 1 >= settings.max_leaves):
            # the node of the largest gain, the first one in case of a tie; the last one if all are to be split
            best = max(waiting, key=lambda k: (self.nodes[k].gain, -k)) if settings.max_leaves else waiting[-1]
            waiting.remove(best)
            full = settings.max_leaves and len(self.splits) + 2 >= settings.max_leaves
            waiting += [child for child in self._split(best) if not full and self._search(child)]

    # ------------------------------------------------------------------------------------------------ gains

    def totals(self, node: _Node) -> Array:
        """Return the sums of the pairs of a node, ``[output, (g, h)]``."""
        return np.asarray(self.pairs[node.rows].sum(axis=0))

    def value(self, sums: Array, node: _Node) -> Array:
        """Return -G/(H + λ) per output, 0 without any weight, within the bounds of the node."""
        g, h = sums[..., 0], sums[..., 1] + self.settings.l2
        return np.clip(np.divide(-g, h, out=np.zeros_like(g), where=h > 0), node.low, node.high)

    def _score(self, sums: Array, node: _Node) -> Array:
        """Return twice the decrease of the loss by leaves with these sums ``[..., output, (g, h)]``."""
        g, h = sums[..., 0], sums[..., 1] + self.settings.l2
        if self.settings.monotonic is not None:
            v = self.value(sums, node)
            return np.asarray(-(2.0 * g * v + h * v * v).sum(axis=-1))
        return np.asarray(np.divide(g * g, h, out=np.zeros_like(g), where=h > 0).sum(axis=-1))

    def _gains(self, node: _Node, left: Array, whole: Array, feature: int) -> Array:
        """Return the gains of splits with these sums on the left ``[candidate, output, (g, h)]``; -1: not allowed."""
        right = whole - left
        gain = self._score(left, node) + self._score(right, node) - self._score(whole, node)
        least = np.minimum(left[..., 1].sum(axis=-1), right[..., 1].sum(axis=-1))
        allowed = least >= self.settings.min_hessian
        if self.settings.monotonic is not None and not self.nominal[feature]:
            rise = (self.value(right, node) - self.value(left, node))[..., 0]
            allowed &= self.settings.monotonic[feature] * rise >= 0.0
        return np.where(allowed, gain, -1.0)

    # ----------------------------------------------------------------------------------------------- search

    def _search(self, index: int) -> bool:
        """Find the best split of a node; returns whether there is one."""
        node, settings = self.nodes[index], self.settings
        whole = self.totals(node)
        if len(node.rows) < 2 or (settings.max_depth and node.depth >= settings.max_depth):
            return False
        if whole[:, 1].sum() < 2.0 * settings.min_hessian or self._pure(node):
            return False
        columns, allowed = self.columns, settings.interactions.after(node.path)
        if allowed is not None:
            columns = [j for j in columns if j in allowed]
        columns = columns_of_node(columns, self.n_of_node, self.key, index)
        floor = 1e-12 * (1.0 + abs(float(self._score(whole, node))))
        for j in columns:
            for left, missing_left in self._candidates(node, index, j):
                self._consider(node, j, left, missing_left, whole, floor)
        return node.feature >= 0

    def _pure(self, node: _Node) -> bool:
        """Whether all rows have the same response g/h, so that nothing can be separated."""
        pairs = self.pairs[node.rows]
        return bool((pairs[..., 0] * pairs[0, :, 1] == pairs[0, :, 0] * pairs[..., 1]).all())

    def _cells(self, node: _Node, feature: int) -> tuple[Array, Array]:
        """Return the sums and the number of the rows of a node per code ``[code, output, (g, h)]``."""
        code, pairs = self.codes[feature, node.rows], self.pairs[node.rows]
        cells = np.zeros((N_CODES, *pairs.shape[1:]))
        np.add.at(cells, code, pairs)
        return cells, np.bincount(code, minlength=N_CODES)

    def _candidates(self, node: _Node, index: int, feature: int) -> list[tuple[Array, bool | None]]:
        """Return which codes go left in each candidate split of a feature, and whether missing values do."""
        cells, counts = self._cells(node, feature)
        n, any_missing = int(self.n_bins[feature]), bool(counts[MISSING])
        present = np.flatnonzero(counts[:n])
        codes = np.arange(N_CODES)
        if not self.nominal[feature]:
            if not len(present):
                return []
            last = present[-1] if any_missing else present[-1] - 1
            thresholds = [int(t) for t in present if t <= last]
            if self.settings.random_thresholds:
                thresholds = self._random_threshold(index, feature, int(present[0]), int(present[-1]), any_missing)
            sides = [False, True] if any_missing else [False]
            found: list[tuple[Array, bool | None]] = []
            for side in sides:
                for t in thresholds:
                    if side and t >= present[-1]:  # nothing would be on the right
                        continue
                    found.append((codes <= t, side))
            return found
        key = key_of_column(self.key, index, feature)
        if self.settings.random_thresholds:
            # missing values are the category after the last
            goes = np.array([mix(key + c) >> 63 for c in range(n + 1)], dtype=np.bool_)
            chosen = np.zeros(N_CODES, dtype=np.bool_)
            chosen[present] = goes[present]
            return [(chosen, bool(goes[n]) if any_missing else None)]
        return self._sorted_categories(cells, present, n, any_missing)

    def _sorted_categories(
        self, cells: Array, present: Array, n: int, any_missing: bool
    ) -> list[tuple[Array, bool | None]]:
        """Return the splits of categories that are sorted by their mean response, for each output."""
        own = [*present.tolist(), MISSING] if any_missing else present.tolist()
        found: list[tuple[Array, bool | None]] = []
        for output in range(cells.shape[1]):
            g, h = cells[own, output, 0], cells[own, output, 1]
            order = np.argsort(-g / (h + self.settings.category_l2), kind="stable")
            for k in range(1, len(own)):
                left = np.zeros(N_CODES, dtype=np.bool_)
                left[[own[i] for i in order[:k]]] = True
                found.append((left, bool(left[MISSING]) if any_missing else None))
        return found

    def _random_threshold(self, index: int, feature: int, low: int, high: int, any_missing: bool) -> list[int]:
        if high > low:
            return [low + below(key_of_column(self.key, index, feature), 0, high - low)]
        return [high] if any_missing else []

    def _consider(
        self, node: _Node, feature: int, left: Array, missing_left: bool | None, whole: Array, floor: float
    ) -> None:
        """Make a split the best one of its node if it is better by more than a tie."""
        code = self.codes[feature, node.rows]
        goes = np.where(code == MISSING, bool(missing_left), left[code])
        sums = self.pairs[node.rows[goes]].sum(axis=0)
        gain = float(self._gains(node, sums, whole, feature))
        if gain > node.gain + TIE * abs(node.gain) and gain > floor:
            node.gain, node.feature, node.left, node.missing_left = gain, feature, left, missing_left
            node.nominal = bool(self.nominal[feature])

    # ------------------------------------------------------------------------------------------------ splits

    def _split(self, index: int) -> tuple[int, int]:
        """Make the children of a node."""
        node = self.nodes[index]
        code = self.codes[node.feature, node.rows]
        known = code != MISSING
        goes = np.where(known, node.left[code], bool(node.missing_left))
        if node.nominal:
            if node.missing_left is None:
                node.missing_left = bool(2 * goes.sum() >= len(goes))
            unseen = np.ones(N_CODES, dtype=np.bool_)
            unseen[code[known]] = False
            node.left = np.where(unseen, node.missing_left, node.left)
        else:
            # the threshold moves to the middle of the gap
            on_left, on_right = code[known & goes], code[known & ~goes]
            if len(on_left) and len(on_right):
                t = max((int(on_left.max()) + int(on_right.min()) - 1) // 2, int(on_left.max()))
            else:  # it separates known from missing values
                t = int(self.n_bins[node.feature]) - 1
            node.left = np.arange(N_CODES) <= t
            if known.all():
                node.missing_left = bool(2 * goes.sum() >= len(goes))
        node.number = len(self.splits)
        self.splits.append(index)
        a, b = _Node(node.rows[goes], node.depth + 1), _Node(node.rows[~goes], node.depth + 1)
        self._constrain(node, a, b)
        node.children = len(self.nodes), len(self.nodes) + 1
        self.nodes += [a, b]
        return node.children

    def _constrain(self, node: _Node, a: _Node, b: _Node) -> None:
        """A monotonic column bounds the children by the middle of their values; a path restricts their columns."""
        a.low = b.low = node.low
        a.high = b.high = node.high
        direction = 0 if self.settings.monotonic is None or node.nominal else self.settings.monotonic[node.feature]
        if direction:
            middle = 0.5 * float((self.value(self.totals(a), node) + self.value(self.totals(b), node))[0])
            below, above = (a, b) if direction > 0 else (b, a)
            below.high, above.low = min(below.high, middle), max(above.low, middle)
        a.path = b.path = node.path | {node.feature}

    # ----------------------------------------------------------------------------------------------- results

    def leaf_nodes(self) -> list[_Node]:
        """Return the leaves in the order of their numbers."""
        return [node for node in self.nodes if node.children is None]

    def finish(self, weights: Array, scale: float) -> Trees:
        """Return the tree, with values times a scale."""
        links: dict[int, int] = {}
        n_leaves = 0
        for k, node in enumerate(self.nodes):
            links[k] = node.number if node.children is not None else ~n_leaves
            n_leaves += node.children is None
        made = [self.nodes[k] for k in self.splits]
        by_set = [node.nominal or bool(self.ordered[node.feature]) for node in made]
        sets = [node.left for node, own in zip(made, by_set) if own]
        numbers = np.cumsum(by_set) - 1
        values = [scale * self.value(self.totals(node), node) for node in self.leaf_nodes()]
        return Trees(
            first_node=np.array([0, len(made)]),
            first_leaf=np.array([0, n_leaves]),
            feature=np.array([node.feature for node in made], dtype=np.int64),
            threshold=np.array([-1 if own else int(n.left.sum()) - 1 for n, own in zip(made, by_set)], dtype=np.int64),
            which=np.array([k if own else -1 for k, own in zip(numbers, by_set)], dtype=np.int64),
            missing_left=np.array([bool(node.missing_left) for node in made], dtype=np.int64),
            links=np.array([[links[c] for c in n.children or ()] for n in made], dtype=np.int64).reshape(-1, 2),
            sets=np.array(sets, dtype=np.bool_).reshape(-1, N_CODES),
            values=np.array(values),
            covers=np.array([weights[node.rows].sum() for node in self.leaf_nodes()]),
            importances=np.bincount(
                [node.feature for node in made], [node.gain for node in made], minlength=len(self.codes)
            ).astype(np.float64),
        )
