"""What rounds add to the ensemble, and how to score new rows with all of them at once.

Rounds that look at one feature are added up in one table per feature, lines in one line per feature and scale;
so the time to score a row does not depend on the number of such rounds. Trees keep their nodes, packed into arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from skewboost.engine.binning import Bins
from skewboost.engine.boundary import MISSING, N_CODES
from skewboost.engine.partition import Partition, View
from skewboost.engine.reference import ReferenceEngine
from skewboost.engine.shapley import Conjunction
from skewboost.engine.table import Table
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.training_set import TrainingSet

REACH = 2.0**500  # how many times as large as in training a number may be before lines are level
_CELLS = 1 << 18  # rows times trees that NumPy walks down together


class Term(Protocol):
    """What one round adds to F."""

    def on(self, view: View) -> Array:
        """Its value on every row."""
        ...

    def scaled(self, factor: float) -> Term:
        """The same, times a number."""
        ...

    def bounded(self, limit: float, rows: TrainingSet) -> Term:
        """The same, made not to exceed a limit on the training rows."""
        ...


@dataclass(slots=True)
class LeafTerm:
    """A value per leaf of a partition, or one for each of several outputs."""

    partition: Partition
    values: Array

    def on(self, view: View) -> Array:
        """The value of every row's leaf: ``[row]``, or ``[row, output]``."""
        if self.partition.one_feature and self.values.ndim == 1:
            feature = self.partition.splits[0].feature
            return view.engine.lookup(view.codes, feature, self.values[self.partition.leaf_of_code()])
        return self.values[self.partition.leaves(view)]

    def scaled(self, factor: float) -> LeafTerm:
        """All values times a number."""
        return replace(self, values=self.values * factor)

    def bounded(self, limit: float, rows: TrainingSet) -> LeafTerm:
        """Every value cut off at the limit."""
        return replace(self, values=np.clip(self.values, -limit, limit))

    def conjunctions(self) -> list[Conjunction]:
        """The leaves as conjunctions: how a tree is explained."""
        return [Conjunction(v, *path) for v, path in zip(self.values.tolist(), self.partition.paths())]


@dataclass(frozen=True)
class LineTerm:
    """``rise · (x / scale - centre) + height`` on one feature, and nothing where it is missing.

    `scale` is a power of two, so that dividing by it rounds nothing, and the centre is that of the training data: a
    column may be far from zero, or hold numbers so small that the slope is no double. Beyond the `reach` it is level.
    """

    feature: int
    rise: float
    height: float
    centre: float = 0.0
    scale: float = 1.0

    @property
    def reach(self) -> float:
        """The size of numbers from which on it is level, so that no cell makes a sum infinite or NaN."""
        return min(self.scale * REACH, sys.float_info.max)

    @property
    def slope(self) -> float:
        """By how much it rises with x; infinite if that is more than a double holds."""
        return self.rise / self.scale

    @property
    def intercept(self) -> float:
        """Its height at 0."""
        return self.height - self.rise * self.centre

    def at(self, x: Array) -> Array:
        """Its height at some numbers."""
        inner = np.minimum(np.maximum(x, -self.reach), self.reach)
        return np.asarray(self.rise * (inner / self.scale - self.centre) + self.height)

    def on(self, view: View) -> Array:
        """The line's height at every row."""
        x = np.asarray(view.table.column(self.feature), dtype=np.float64)
        return np.where(np.isnan(x), 0.0, self.at(x))

    def scaled(self, factor: float) -> LineTerm:
        """Rise and height times a number."""
        return replace(self, rise=self.rise * factor, height=self.height * factor)

    def bounded(self, limit: float, rows: TrainingSet) -> Term:
        """A flatter line."""
        return scaled_to(self, limit, rows)

    def plus(self, other: LineTerm) -> LineTerm:
        """The sum of two lines on one feature and of one scale; centres differ where rows are drawn."""
        height = self.height + (other.rise * (self.centre - other.centre) + other.height)
        return replace(self, rise=self.rise + other.rise, height=height)


def power_of_two(largest: Any) -> Any:
    """The largest one that does not exceed these numbers, and 1 for zero."""
    return np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)[()]


def scaled_to(term: Term, limit: float, rows: TrainingSet) -> Term:
    """A term, scaled down so that it does not exceed a limit on the training rows."""
    rows.evaluate(term, "term")
    largest = rows.max(np.abs, ("term",))
    return term if largest <= limit else term.scaled(limit / largest)


@dataclass(frozen=True)
class PackedTrees:
    """Trees as arrays: node k of all trees tests ``feature[k]`` and goes to ``links[k, child]``.

    A numeric node sends codes up to ``threshold[k]`` left; a nominal one has threshold -1 and reads
    ``sets[which[k], code]``. A link ``< 0`` is the leaf value ``values[~link]``. ``roots`` may be leaves too.
    """

    roots: Array
    feature: Array
    threshold: Array
    which: Array
    sets: Array
    links: Array
    values: Array

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays in the order in which kernels take them."""
        return (self.roots, self.feature, self.threshold, self.which, self.sets, self.links, self.values)

    @classmethod
    def pack(cls, terms: Sequence[LeafTerm]) -> PackedTrees:
        """Put the nodes of all trees behind one another."""
        splits = [split for term in terms for split in term.partition.splits]
        threshold = np.array([split.threshold for split in splits], dtype=np.int64)
        nominal = np.flatnonzero(threshold < 0)
        which = np.zeros(len(splits), dtype=np.int64)
        which[nominal] = np.arange(1, 1 + len(nominal))
        # where the nodes and the values of each tree begin
        n_splits, n_values = (np.array([0, *counts], dtype=np.int64) for counts in _lengths(terms))
        first, first_value = np.cumsum(n_splits)[:-1], np.cumsum(n_values)[:-1]
        of_tree = [
            (link[0], link[1], link[split.child[MISSING]])
            for term in terms
            for split, link in zip(term.partition.splits, term.partition.links)
        ]
        links = np.array(of_tree, dtype=np.int64).reshape(-1, 3)
        own_first, own_value = (np.repeat(v, n_splits[1:])[:, None] for v in (first, first_value))
        return cls(
            np.where(n_splits[1:] > 0, first, ~first_value),
            np.array([split.feature for split in splits], dtype=np.int64),
            threshold,
            which,
            np.array([np.zeros(N_CODES, np.uint8), *(splits[k].child for k in nominal)], dtype=np.uint8),
            np.where(links >= 0, links + own_first, links - own_value),  # a leaf is counted down from -1
            np.concatenate([term.values for term in terms]) if terms else np.empty(0),
        )

    def leaf_values(self, codes: Array, features: Array) -> Array:
        """The value of each row in each tree, ``[row, tree]``; `codes` has the columns of these features only."""
        column = np.searchsorted(features, self.feature)
        at = np.repeat(self.roots[None], len(codes), axis=0)
        row, tree = np.nonzero(at >= 0)
        while len(row):  # a step down in all trees at once
            k = at[row, tree]
            code = codes[row, column[k]].astype(np.int64)
            side = np.where(self.threshold[k] >= 0, code > self.threshold[k], self.sets[self.which[k], code])
            k = self.links[k, np.where(code == MISSING, 2, side)]
            at[row, tree] = k
            row, tree = row[k >= 0], tree[k >= 0]
        return np.asarray(self.values[~at])


def _lengths(terms: Sequence[LeafTerm]) -> tuple[list[int], list[int]]:
    """How many splits and how many values each tree has."""
    return [len(term.partition.splits) for term in terms], [len(term.values) for term in terms]


class Scorer:
    """An ensemble, compiled for scoring.

    All who score add the constant, the tables in the order of the features, the trees in that of the rounds, and last
    the sum of lines and other terms, so that they agree to the last bit.
    """

    def __init__(self, terms: Iterable[Term], bins: Bins | None, n_features: int, constant: float = 0.0) -> None:
        self.bins = bins
        self.constant = constant
        self.tables = np.zeros((n_features, N_CODES))
        self.in_table = np.zeros(n_features, dtype=np.bool_)
        self.lines: dict[tuple[int, float], LineTerm] = {}  # by feature and scale
        self.trees: list[LeafTerm] = []
        self.others: list[Term] = []
        for term in terms:
            self._add(term)
        self.packed = PackedTrees.pack(self.trees)

    def _add(self, term: Term) -> None:
        if isinstance(term, LineTerm):
            key = term.feature, term.scale
            self.lines[key] = self.lines[key].plus(term) if key in self.lines else term
        elif not isinstance(term, LeafTerm):
            self.others.append(term)
        elif not term.partition.splits:
            self.constant += float(term.values[0])
        elif term.partition.one_feature:
            feature = term.partition.splits[0].feature
            self.tables[feature] += term.values[term.partition.leaf_of_code()]
            self.in_table[feature] = True
        else:
            self.trees.append(term)

    @property
    def table_features(self) -> Array:
        """The features that have a table."""
        return np.flatnonzero(self.in_table)

    @property
    def tree_features(self) -> Array:
        """The features that trees test."""
        return np.unique(self.packed.feature)

    def steps(self, feature: int) -> tuple[Array, Array]:
        """A numeric feature's table as a step function: where it jumps, and the value before and after each jump."""
        assert self.bins is not None
        cuts = self.bins.features[feature].cuts
        values = self.tables[feature, : len(cuts) + 1]
        jumps = np.flatnonzero(values[1:] != values[:-1])
        return cuts[jumps], np.append(values[jumps], values[-1])

    def score_with_numpy(self, table: Table) -> Array:
        """F of every row, as the sum of the parts."""
        view = View(ReferenceEngine(), table, self.bins)
        F = np.full(table.n_rows, self.constant)
        for j in self.table_features:
            F += self.tables[j][view.column(j)]
        if self.trees:
            features = self.tree_features
            codes = np.stack([view.column(j) for j in features], axis=1)
            for start in range(0, table.n_rows, step := 1 + _CELLS // len(self.trees)):
                rows = slice(start, start + step)
                values = self.packed.leaf_values(codes[rows], features)
                # one tree after the other, in their order: as they are added up elsewhere
                F[rows] = np.cumsum(np.column_stack((F[rows], values)), axis=1)[:, -1]
        return F + self.rest(view)

    def rest(self, view: View) -> Array:
        """What lines and foreign estimators add."""
        F = np.zeros(view.n_rows)
        for _, line in sorted(self.lines.items()):
            F += line.on(view)
        for term in self.others:
            F += term.on(view)
        return F
