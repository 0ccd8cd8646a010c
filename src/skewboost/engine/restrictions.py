"""What the splits of a tree are restricted to: sampled columns, random thresholds, constraints.

`growing` and `split_search` apply restrictions as they are defined here, and the native core does the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skewboost.engine.boundary import Request
from skewboost.engine.draws import columns_of_node, columns_of_tree, key_of_column
from skewboost.typing import Array

# Means whose difference is at most this large are equal, so that rounding errors do not decide whether a split is in
# order. For responses it is relative to the size of the means.
ORDER = 1e-12


@dataclass(frozen=True)
class Interactions:
    """Which columns may be tested together on a path: those of one group, or a number of distinct ones.

    A rule for all columns, such as "any two", is a number, because the groups would be many.
    """

    groups: tuple[frozenset[int], ...] = ()  # of features; none: all may be tested together
    most: int = 0  # distinct columns on a path; 0: any number
    columns: tuple[int, ...] = ()  # the column of each feature, if some columns are several features

    def __bool__(self) -> bool:
        return bool(self.groups or self.most)

    def after(self, path: frozenset[int]) -> frozenset[int] | None:
        """Return the features that may be tested below those of a path; None: all."""
        if not path or not self:
            return None
        if not self.most:
            return frozenset().union(*(group for group in self.groups if path <= group))
        if not self.columns:
            return path if len(path) >= self.most else None
        tested = {self.columns[feature] for feature in path}
        if len(tested) < self.most:
            return None
        return frozenset(feature for feature, column in enumerate(self.columns) if column in tested)


ANY = Interactions()


@dataclass(frozen=True)
class Restrictions:
    """What the splits of a tree are restricted to. Random draws are functions of the key of the tree."""

    n_of_tree: int  # the number of columns that are drawn for a tree
    n_of_node: int  # the number of these that are drawn for a node
    random_thresholds: bool = False  # a node tries one random threshold, or random set of categories, per column
    monotonic: tuple[int, ...] | None = None  # per column: -1 falling, 0 free, +1 rising; for two planes
    interactions: Interactions = ANY


@dataclass(frozen=True)
class Candidates:
    """The candidates of one node: which columns, one random threshold or all, and the bounds of its children."""

    columns: Array  # whether each column may be tested
    keys: dict[int, int] | None = None  # by which random thresholds are drawn, per column; None: all thresholds
    directions: Array | None = None  # per column: -1, 0, +1
    low: float = -np.inf  # the bounds of the means of the children
    high: float = np.inf
    path: frozenset[int] = frozenset()  # the features that were tested above the node

    def in_order(self, features: Array, left: Array, right: Array, polarity: int, request: Request) -> Array | bool:
        """Return whether splits of these columns satisfy the monotonic constraints.

        `left` and `right` are sums ``[plane, feature, ...]``. If signs are forced, the polarity must have the direction
        of the column. Otherwise the means of the sides must, and both must be within the bounds.
        """
        if self.directions is None:
            return True
        directions = self.directions[features].reshape(-1, *[1] * (left.ndim - 2))
        if polarity:
            return np.asarray((directions == 0) | (directions == polarity))
        a, b = mean_of(left, request), mean_of(right, request)
        slack = ORDER * ((np.abs(a) + np.abs(b)) if request.criterion == "squares" else 1.0)
        rises = directions * (b - a) >= -slack
        return np.asarray(rises & (np.minimum(a, b) >= self.low - slack) & (np.maximum(a, b) <= self.high + slack))


def mean_of(sums: Array, request: Request) -> Array:
    """Return the mean of a leaf: its proportion of positives, or its mean response with the L2 penalty."""
    a, b = sums
    whole = a + request.delta if request.criterion == "squares" else a + b
    return np.asarray(np.divide(b, whole, out=np.zeros(np.shape(whole)), where=whole > 0))


class RestrictedTree:
    """The restrictions of one tree: what each of its nodes may choose from."""

    def __init__(self, restrictions: Restrictions, n_features: int, key: int, request: Request) -> None:
        self.own, self.n_features, self.key, self.request = restrictions, n_features, key, request
        self.columns = columns_of_tree(n_features, restrictions.n_of_tree, key)
        self.directions = None if restrictions.monotonic is None else np.array(restrictions.monotonic)

    def root(self) -> Candidates:
        """Return the candidates of the root."""
        return self._candidates(0, -np.inf, np.inf, frozenset())

    def children(self, parent: Candidates, feature: int, numbers: list[int], sums: list[Array]) -> list[Candidates]:
        """Return the candidates of the children of a split, given their numbers and sums.

        A column with a direction bounds its two sides by the middle of their means.
        """
        bounds = [(parent.low, parent.high)] * len(numbers)
        direction = 0 if self.directions is None else int(self.directions[feature])
        if direction:
            middle = 0.5 * float(mean_of(sums[0], self.request) + mean_of(sums[1], self.request))
            below, above = (parent.low, min(parent.high, middle)), (max(parent.low, middle), parent.high)
            bounds[:2] = [below, above] if direction > 0 else [above, below]
        path = parent.path | {feature}
        return [self._candidates(number, low, high, path) for number, (low, high) in zip(numbers, bounds)]

    def _candidates(self, number: int, low: float, high: float, path: frozenset[int]) -> Candidates:
        columns, allowed = self.columns, self.own.interactions.after(path)
        if allowed is not None:
            columns = [j for j in columns if j in allowed]
        columns = columns_of_node(columns, self.own.n_of_node, self.key, number)
        keys = None
        if self.own.random_thresholds:
            keys = {j: key_of_column(self.key, number, j) for j in columns}
        return Candidates(np.isin(np.arange(self.n_features), columns), keys, self.directions, low, high, path)
