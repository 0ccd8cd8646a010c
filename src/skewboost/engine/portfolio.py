"""A portfolio: boosters and forests of Newton trees, trained side by side on the same rows.

A *booster* minimises the log-loss. Its score is ``F = start + Σ learning rate · tree``: the log-odds of two classes, or
the softmax scores of several. After each round the log-loss of the validation rows is recorded. A *forest* grows each
tree on a bootstrap sample, or on a part of the rows, and its leaves hold the shares of the classes. Whether a row is in
a sample depends on the seed, the number of the tree and the row only, so samples need not be stored to know the rows
out of the bag of a tree.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, log_softmax, softmax

from skewboost.engine.draws import mix, uniform
from skewboost.engine.newton import NewtonTree, Trees, TreeSettings
from skewboost.engine.partition import View
from skewboost.typing import Array

BOOSTER, FOREST = "booster", "forest"
MOST_COPIES = 12  # of a row in a bootstrap sample


@dataclass(frozen=True)
class MemberSettings:
    """How a member is trained."""

    kind: str = BOOSTER
    tree: TreeSettings = field(default_factory=TreeSettings)
    seed: int = 0
    row_fraction: float = (
        1.0  # the share of the rows that a tree is grown on; 1: all of a booster, a bootstrap of a forest
    )
    learning_rate: float = 0.1  # of a booster


class Portfolio(ABC):
    """Members with a common table; rows of equal `units` are in a bootstrap sample together, or not at all."""

    def __init__(self, view: View, classes: Array, n_classes: int, units: Array | None = None) -> None:
        self.view = view
        self.n_rows = view.n_rows
        self.classes = classes
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.n_classes = n_classes
        self.units = np.arange(self.n_rows) if units is None else units
        self.settings: list[MemberSettings] = []

    @abstractmethod
    def add(self, settings: MemberSettings, weights: Array, validation: Array | None = None) -> int:
        """Add a member, and return its number.

        Rows of weight 0 are not trained on. `validation` are the weights of the rows in the recorded losses.
        """

    @abstractmethod
    def train(self, members: Sequence[int], n_trees: Sequence[int]) -> None:
        """Grow more trees of several members."""

    @abstractmethod
    def covers(self, member: int) -> Array:
        """Return the weights of all training rows in the leaves; `Trees.covers` has those of the sampled rows."""

    @abstractmethod
    def losses(self, member: int) -> Array:
        """Return the sum of the log-losses of the validation rows after each round of a booster."""

    @abstractmethod
    def start(self, member: int) -> Array:
        """Return F of a booster before the first round, per output."""

    @abstractmethod
    def trees(self, member: int) -> Trees:
        """Return the trees of a member."""

    @abstractmethod
    def scores(
        self, member: int, n_trees: int, values: Array, rows: Array | None = None, *, out_of_bag: bool = False
    ) -> tuple[Array, Array]:
        """Return the sums of leaf values ``[leaf, column]`` over trees for each training row, and the number of trees.

        With `rows`, of these rows only. With `out_of_bag`, only the trees whose sample lacks the row are counted.
        """


def tree_key(settings: MemberSettings, tree: int) -> int:
    """Return the key of the random numbers of a tree."""
    return mix(settings.seed ^ mix(tree))


def bag_key(settings: MemberSettings, tree: int) -> int:
    """Return the key of the sample of a tree."""
    return mix(tree_key(settings, tree) ^ 7)


def copies(settings: MemberSettings, tree: int, units: Array, weights: Array) -> Array:
    """Return how often the sample of a tree of a forest has the unit of each row; rows of weight 0 are in none.

    These are Poisson numbers of mean 1, or at most one. A sample that would be empty has the unit that came closest to
    being drawn.
    """
    u = uniform(bag_key(settings, tree), units)
    found = np.zeros(len(u))
    if settings.row_fraction < 1.0:
        found[u < settings.row_fraction] = 1.0
        u = -u
    else:
        p = total = math.exp(-1.0)
        for n in range(1, MOST_COPIES + 1):
            found[u >= total] = n
            p /= n
            total += p
    present = weights > 0
    found[~present] = 0.0
    if present.any() and not found.any():
        closest = units[present & (u == u[present].max())].min()
        found[present & (units == closest)] = 1.0
    return found


class _Member:
    """A member of the reference portfolio."""

    def __init__(self, portfolio: ReferencePortfolio, settings: MemberSettings, weights: Array, held: Array | None):
        self.settings, self.weights, self.held = settings, weights, held
        self.trees: list[Trees] = []
        self.losses: list[float] = []
        K = portfolio.n_outputs
        counts = np.bincount(portfolio.classes, weights, minlength=portfolio.n_classes) + 1.0 / portfolio.n_classes
        logs = np.log(counts / counts.sum())
        self.start = logs if K > 1 else np.array([np.log(counts[1]) - np.log(counts[0])])
        self.F = np.tile(self.start, (portfolio.n_rows, 1))


class ReferencePortfolio(Portfolio):
    """The portfolio in NumPy, which specifies `core/members.h`."""

    def __init__(self, view: View, classes: Array, n_classes: int, units: Array | None = None) -> None:
        super().__init__(view, classes, n_classes, units)
        assert view.bins is not None
        self.codes: Array = np.asarray(view.codes)
        self.members: list[_Member] = []

    def add(self, settings: MemberSettings, weights: Array, validation: Array | None = None) -> int:
        self.settings.append(settings)
        self.members.append(_Member(self, settings, weights, validation))
        return len(self.members) - 1

    def train(self, members: Sequence[int], n_trees: Sequence[int]) -> None:
        for k, n in zip(members, n_trees):
            member = self.members[k]
            for _ in range(n):
                (self._boost if member.settings.kind == BOOSTER else self._bag)(member)

    def _grow(self, member: _Member, pairs: Array, rows: Array) -> NewtonTree:
        bins = self.view.bins
        assert bins is not None
        key = tree_key(member.settings, len(member.trees))
        return NewtonTree(self.codes, bins, member.settings.tree, pairs, rows, key)

    def _boost(self, member: _Member) -> None:
        settings, K = member.settings, self.n_outputs
        drawn = member.weights > 0
        if settings.row_fraction < 1.0:
            key = bag_key(settings, len(member.trees))
            drawn &= uniform(key, np.arange(self.n_rows)) < settings.row_fraction
        p = expit(member.F) if K == 1 else softmax(member.F, axis=1)
        own = self.classes[:, None] == (1 if K == 1 else np.arange(K))
        w = member.weights[:, None]
        pairs = np.stack((w * (p - own), w * p * (1.0 - p)), axis=-1)
        tree = self._grow(member, pairs, np.flatnonzero(drawn)).finish(member.weights, settings.learning_rate)
        member.trees.append(tree)
        member.F += tree.values[tree.leaves(0, self.codes)]
        member.losses.append(0.0 if member.held is None else float((member.held * self._loss(member.F)).sum()))

    def _loss(self, F: Array) -> Array:
        """Return the log-loss of every row."""
        if self.n_outputs == 1:
            return np.logaddexp(0.0, np.where(self.classes == 1, -F[:, 0], F[:, 0]))
        return np.asarray(-log_softmax(F, axis=1)[np.arange(self.n_rows), self.classes])

    def _bag(self, member: _Member) -> None:
        K = self.n_outputs
        w = member.weights * copies(member.settings, len(member.trees), self.units, member.weights)
        own = self.classes[:, None] == (1 if K == 1 else np.arange(K))
        pairs = np.stack((-w[:, None] * own, np.repeat(w[:, None], K, axis=1)), axis=-1)
        member.trees.append(self._grow(member, pairs, np.flatnonzero(w)).finish(w, 1.0))

    def covers(self, member: int) -> Array:
        own, trees = self.members[member], self.trees(member)
        leaves = [trees.leaves(t, self.codes) for t in range(trees.n_trees)]
        return np.asarray(
            np.sum([np.bincount(leaf, own.weights, minlength=len(trees.covers)) for leaf in leaves], axis=0)
        )

    def losses(self, member: int) -> Array:
        own = self.members[member]
        return np.array(own.losses if own.settings.kind == BOOSTER else [0.0] * len(own.trees))

    def start(self, member: int) -> Array:
        return self.members[member].start

    def trees(self, member: int) -> Trees:
        return Trees.joined(self.members[member].trees)

    def scores(
        self, member: int, n_trees: int, values: Array, rows: Array | None = None, *, out_of_bag: bool = False
    ) -> tuple[Array, Array]:
        own, trees = self.members[member], self.trees(member)
        sums, counts = np.zeros((self.n_rows, values.shape[1])), np.zeros(self.n_rows)
        for t in range(min(n_trees, trees.n_trees)):
            counted = np.ones(self.n_rows, dtype=np.bool_)
            if out_of_bag:
                counted = copies(own.settings, t, self.units, own.weights) == 0
            sums[counted] += values[trees.leaves(t, self.codes)[counted]]
            counts += counted
        return (sums, counts) if rows is None else (sums[rows], counts[rows])
