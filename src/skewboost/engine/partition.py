"""A partition of the input into leaves: what a stump, a tree and a look-up over one feature's bins have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, RIGHT, Engine, Split
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.table import Table


class View:
    """A table seen through bins: encoded once, when the first code is asked for."""

    def __init__(self, engine: Engine, table: Table, bins: Bins | None, codes: object = None) -> None:
        self.engine = engine
        self.table = table
        self.bins = bins
        self._codes = codes

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return self.table.n_rows

    @property
    def codes(self) -> object:
        """The engine's codes of the table."""
        if self._codes is None:
            assert self.bins is not None, "a learner without bins has no codes"
            memo = self.table.memo
            key = ("codes", id(self.bins), type(self.engine))
            if memo is not None and key in memo:
                _, self._codes = memo[key]
            else:
                self._codes = self.engine.encode(self.table, self.bins)
                if memo is not None:
                    memo[key] = self.bins, self._codes  # the bins too, so that their id stays theirs
        return self._codes

    def column(self, feature: int) -> Array:
        """The codes of one feature."""
        return self.engine.column(self.codes, feature)


_SIDES = ((~LEFT, ~RIGHT), (~LEFT, ~RIGHT, ~ABSTAIN))  # links of a stump whose leaves are its sides


@dataclass(slots=True)
class Partition:
    """Splits linked into a tree; a code's child is ``links[k][splits[k].child[code]]``.

    A link ``>= 0`` is another split, a link ``< 0`` is the leaf ``~link``. Without splits everything is leaf 0. In
    ``covers`` is how many training examples each leaf of a tree has; on one feature, counts of its codes tell as much.
    """

    splits: tuple[Split, ...]
    links: tuple[tuple[int, ...], ...]
    n_leaves: int
    covers: Array | None = None

    @property
    def n_fixed(self) -> int:
        """How many of the splits, the first ones, are older than the round."""
        return 0

    @property
    def one_feature(self) -> bool:
        """Whether the leaf depends on one feature only, so that rounds can be added up in a table of its codes."""
        return len(self.splits) == 1

    def leaf_of_code(self) -> Array:
        """For a partition on one feature: the leaf of every code."""
        links, child = self.links[0], self.splits[0].child
        return child if links in _SIDES else ~np.array(links)[child]

    def leaves(self, view: View) -> Array:
        """The leaf of every row."""
        if not self.splits:
            return np.zeros(view.n_rows, dtype=np.intp)
        if self.one_feature:
            leaf: Array = self.leaf_of_code().astype(np.intp)[view.column(self.splits[0].feature)]
            return leaf
        return view.engine.leaves(view.codes, self)

    def paths(self) -> list[tuple[tuple[int, ...], Array, Array]]:
        """What it takes to come to each leaf of a tree.

        Per leaf the features that are tested on the way; which of their codes pass, ``[feature, code]``; and which
        share of the training examples does: the product over the feature's tests of the share that goes on from there.
        """
        covers = self._covers_of_links()
        ways: dict[int, dict[int, tuple[Array, float]]] = {0: {}}
        for k, split in enumerate(self.splits):  # parents come before their children
            before = ways.pop(k)
            allowed, share = before.get(split.feature, (True, 1.0))
            for side, link in enumerate(self.links[k]):
                going_on = covers[link] / covers[k] if covers[k] > 0 else 0.0
                ways[link] = {**before, split.feature: (allowed & (split.child == side), share * going_on)}
        leaves = [list(ways[~leaf].items()) for leaf in range(self.n_leaves)]
        return [
            (tuple(j for j, _ in way), np.array([a for _, (a, _) in way]), np.array([z for _, (_, z) in way]))
            for way in leaves
        ]

    def _covers_of_links(self) -> dict[int, float]:
        """How many training examples come to each split and leaf, by link."""
        assert self.covers is not None, "only trees know how many examples their leaves have"
        covers = {~leaf: n for leaf, n in enumerate(self.covers.tolist())}
        for k in reversed(range(len(self.splits))):
            covers[k] = sum(covers[link] for link in self.links[k])
        return covers

    def rows_at_splits(self, view: View) -> list[Array]:
        """The rows that come to each split."""
        at = np.zeros(view.n_rows, dtype=np.intp)
        found = []
        for k, split in enumerate(self.splits):  # parents come before their children
            found.append(np.flatnonzero(at == k))
            at[found[-1]] = np.array(self.links[k])[split.child[view.column(split.feature)[found[-1]]]]
        return found

    def centred(self, counts: Array) -> Partition:
        """The same, with every threshold in the middle of the codes between those on either side.

        A search takes the lowest of the thresholds that part its rows alike. Where they are only some of the rows
        that the bins were made for, this is far from the middle. Counts are those of `TrainingSet.count`.
        """
        splits = [
            split if split.threshold < 0 or k < self.n_fixed else _between(split, np.flatnonzero(counts[k]))
            for k, split in enumerate(self.splits)
        ]
        return replace(self, splits=tuple(splits))

    def counted(self, counts: Array) -> Partition:
        """The same, with covers by these counts, which are those of `TrainingSet.count`."""
        covers = np.zeros(self.n_leaves)
        for split, links, own in zip(self.splits, self.links, counts):
            for side, n in enumerate(np.bincount(split.child, own, minlength=len(links))[: len(links)]):
                if links[side] < 0:
                    covers[~links[side]] += n
        return replace(self, covers=covers)


def look_up(feature: int, table: Array) -> tuple[Partition, Array]:
    """A partition of one feature's codes by their entries in a table, and the entry of each leaf."""
    values, leaf = np.unique(table, return_inverse=True)
    split = Split(feature, -1, leaf.astype(np.uint8), 0, float("nan"), float("nan"))
    return Partition((split,), (tuple(~k for k in range(len(values))),), len(values)), values


def _between(split: Split, codes: Array) -> Split:
    """A numeric split with its threshold half-way between the codes on either side of it."""
    left, right = codes[codes <= split.threshold], codes[(codes > split.threshold) & (codes != MISSING)]
    if not len(left) or not len(right):
        return split
    threshold = (int(left.max()) + int(right.min())) // 2
    child = split.child.copy()
    child[: threshold + 1], child[threshold + 1 : MISSING] = LEFT, RIGHT
    return replace(split, threshold=threshold, child=child)
