"""A partition of the input into leaves, the common form of stumps, trees and tables over one feature's bins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, RIGHT, Engine, Split
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.table import Table


class View:
    """A table together with its bins. The codes are computed when they are first used.

    Of a table whose columns are computed, and whose codes nobody has asked for, single columns are encoded: those that
    the terms of a model test.
    """

    def __init__(self, engine: Engine, table: Table, bins: Bins | None, codes: object = None) -> None:
        self.engine = engine
        self.table = table
        self.bins = bins
        self._codes = codes
        self._alone: dict[int, Array] = {}  # the codes of single columns

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
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
                    memo[key] = self.bins, self._codes  # keeping the bins keeps their id unique
        return self._codes

    def column(self, feature: int) -> Array:
        """Return the codes of one feature."""
        return self._column_alone(feature) if self._by_column else self.engine.column(self.codes, feature)

    def lookup(self, feature: int, values: Array) -> Array:
        """Return ``values[code]`` of one feature for all rows."""
        if self._by_column:
            return np.asarray(values[self._column_alone(feature)])
        return self.engine.lookup(self.codes, feature, values)

    def leaves(self, partition: Partition) -> Array:
        """Return the leaf of every row in a tree."""
        if self._by_column:
            return partition.follow(self._column_alone)
        return self.engine.leaves(self.codes, partition)

    @property
    def _by_column(self) -> bool:
        return self._codes is None and self.table.computed is not None

    def _column_alone(self, feature: int) -> Array:
        """Return the codes of a feature of a table whose columns are computed."""
        if feature not in self._alone:
            assert self.bins is not None
            column, bins = self.table.only(self.bins.column_of(feature)), self.bins.only(feature)
            self._alone[feature] = self.engine.column(self.engine.encode(column, bins), 0)
        return self._alone[feature]


_SIDES = ((~LEFT, ~RIGHT), (~LEFT, ~RIGHT, ~ABSTAIN))  # the links of a stump


@dataclass
class Partition:
    """Splits linked into a tree: after split k, a code goes on to ``links[k][splits[k].child[code]]``.

    A link ``>= 0`` is another split, and a link ``< 0`` is the leaf ``~link``. Splits come before their descendants.
    Without splits there is one leaf, 0. `covers` is the number of training examples in each leaf of a tree; stumps have
    none, because the number of examples per code is enough to explain them.
    """

    splits: tuple[Split, ...]
    links: tuple[tuple[int, ...], ...]
    n_leaves: int
    covers: Array | None = None

    @property
    def n_fixed(self) -> int:
        """The number of leading splits that were made by earlier rounds."""
        return 0

    @property
    def one_feature(self) -> bool:
        """Whether the leaf depends on one feature only, so that rounds can be summed in a table over its codes."""
        return len(self.splits) == 1

    def leaf_of_code(self) -> Array:
        """Return the leaf of every code, for a partition on one feature."""
        links, child = self.links[0], self.splits[0].child
        return child if links in _SIDES else ~np.array(links)[child]

    def leaves(self, view: View) -> Array:
        """Return the leaf of every row."""
        if not self.splits:
            return np.zeros(view.n_rows, dtype=np.intp)
        if self.one_feature:
            leaf: Array = self.leaf_of_code().astype(np.intp)[view.column(self.splits[0].feature)]
            return leaf
        return view.leaves(self)

    def follow(self, column: Callable[[int], Array]) -> Array:
        """Return the leaf of every row, by following the rows from split to split; `column` has codes of features."""
        at: Array = np.zeros(0, dtype=np.intp)
        for k, split in enumerate(self.splits):  # parents come before their children
            codes = column(split.feature)
            at = at if k else np.zeros(len(codes), dtype=np.intp)
            here = np.flatnonzero(at == k)
            at[here] = np.array(self.links[k])[split.child[codes[here]]]
        return ~at

    def paths(self) -> list[tuple[tuple[int, ...], Array, Array]]:
        """Return the path to each leaf of a tree.

        A path has the features that are tested on the way; the codes of each that pass, ``[feature, code]``; and the
        fraction of training examples that pass the tests of each feature: the product, over these tests, of the
        fraction of the examples at the test that pass it.
        """
        covers = self._covers_of_links()
        ways: dict[int, dict[int, tuple[Array, float]]] = {0 if self.splits else ~0: {}}  # the links that rows follow
        for k, split in enumerate(self.splits):  # parents come before their children
            before = ways.pop(k)
            allowed, fraction = before.get(split.feature, (True, 1.0))
            for side, link in enumerate(self.links[k]):
                passing = covers[link] / covers[k] if covers[k] > 0 else 0.0
                ways[link] = {**before, split.feature: (allowed & (split.child == side), fraction * passing)}
        return [as_path(ways[~leaf]) for leaf in range(self.n_leaves)]

    def _covers_of_links(self) -> dict[int, float]:
        """Return the number of training examples that reach each split and leaf, by link."""
        assert self.covers is not None, "only trees have covers"
        covers = {~leaf: n for leaf, n in enumerate(self.covers.tolist())}
        for k in reversed(range(len(self.splits))):
            covers[k] = sum(covers[link] for link in self.links[k])
        return covers

    def rows_at_splits(self, view: View) -> list[Array]:
        """Return the rows that reach each split."""
        at = np.zeros(view.n_rows, dtype=np.intp)
        found = []
        for k, split in enumerate(self.splits):  # parents come before their children
            found.append(np.flatnonzero(at == k))
            at[found[-1]] = np.array(self.links[k])[split.child[view.column(split.feature)[found[-1]]]]
        return found

    def centred(self, counts: Array) -> Partition:
        """Return the partition with every threshold in the middle of the codes between the nearest ones on either side.

        A search takes the lowest of the thresholds that divide its rows in the same way. If the rows are a sample of
        those that the bins were made for, that threshold may be far from the middle. `counts` are those of
        `TrainingSet.count`.
        """
        splits = [
            split if split.threshold < 0 or k < self.n_fixed else _between(split, np.flatnonzero(counts[k]))
            for k, split in enumerate(self.splits)
        ]
        return replace(self, splits=tuple(splits))

    def counted(self, counts: Array) -> Partition:
        """Return the partition with covers from the counts of `TrainingSet.count`."""
        covers = np.zeros(self.n_leaves)
        for split, links, own in zip(self.splits, self.links, counts):
            for side, n in enumerate(np.bincount(split.child, own, minlength=len(links))[: len(links)]):
                if links[side] < 0:
                    covers[~links[side]] += n
        return replace(self, covers=covers)


def as_path(way: dict[int, tuple[Array, float]]) -> tuple[tuple[int, ...], Array, Array]:
    """Return the features, allowed codes and fractions of a path, given the last two by feature."""
    allowed, fractions = zip(*way.values()) if way else ((), ())
    return tuple(way), np.array(allowed), np.array(fractions)


def look_up(feature: int, table: Array) -> tuple[Partition, Array]:
    """Return the partition of one feature's codes by their entries in a table, and the entry of each leaf."""
    values, leaf = np.unique(table, return_inverse=True)
    split = Split(feature, -1, leaf.astype(np.uint8), 0, float("nan"), float("nan"))
    return Partition((split,), (tuple(~k for k in range(len(values))),), len(values)), values


def _between(split: Split, codes: Array) -> Split:
    """Return a numeric split with its threshold in the middle of the codes between those on either side of it."""
    left, right = codes[codes <= split.threshold], codes[(codes > split.threshold) & (codes != MISSING)]
    if not len(left) or not len(right):
        return split
    threshold = (int(left.max()) + int(right.min())) // 2
    child = split.child.copy()
    child[: threshold + 1], child[threshold + 1 : MISSING] = LEFT, RIGHT
    return replace(split, threshold=threshold, child=child)
