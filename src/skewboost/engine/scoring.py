"""The terms that rounds add to an ensemble, and how to score new rows with all of them at once.

Rounds on one feature are summed into one table per feature, and lines into one line per feature and scale. The time to
score a row does not depend on the number of such rounds. The nodes of trees are packed into arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from skewboost.engine.binning import Bins
from skewboost.engine.boundary import LEFT, MISSING, N_CODES, RIGHT
from skewboost.engine.newton import Trees
from skewboost.engine.partition import Partition, View
from skewboost.engine.reference import ReferenceEngine
from skewboost.engine.shapley import Conjunction
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.table import Table
    from skewboost.engine.training_set import TrainingSet

REACH = 2.0**500  # lines are constant for numbers that exceed those of the training data by this factor
_CELLS = 1 << 18  # the number of (row, tree) pairs that are evaluated together in NumPy


class Term(Protocol):
    """The function that one round adds to F."""

    def on(self, view: View) -> Array:
        """Return the value for every row."""

    def scaled(self, factor: float) -> Term:
        """Return the term times a number."""

    def bounded(self, limit: float, rows: TrainingSet) -> Term:
        """Return the term, changed so that its absolute value on the training rows is at most `limit`."""


@dataclass
class LeafTerm:
    """A value per leaf of a partition, or several values if there are several outputs."""

    partition: Partition
    values: Array

    def on(self, view: View) -> Array:
        """Return the value of every row's leaf: ``[row]``, or ``[row, output]``."""
        if self.partition.one_feature and self.values.ndim == 1:
            feature = self.partition.splits[0].feature
            return view.lookup(feature, self.values[self.partition.leaf_of_code()])
        return self.values[self.partition.leaves(view)]

    def scaled(self, factor: float) -> LeafTerm:
        return replace(self, values=self.values * factor)

    def bounded(self, limit: float, rows: TrainingSet) -> LeafTerm:
        """Return the term with values clipped at the limit."""
        return replace(self, values=np.clip(self.values, -limit, limit))

    def conjunctions(self) -> list[Conjunction]:
        """Return the leaves as conjunctions, by which a tree is explained."""
        return [Conjunction(v, *path) for v, path in zip(self.values.tolist(), self.partition.paths())]


@dataclass(frozen=True)
class LineTerm:
    """The line ``rise · (x / scale - centre) + height`` on one feature, and 0 if the value is missing.

    `scale` is a power of two, so that the division is exact, and `centre` is the centre of the training data. This form
    is accurate for columns far from zero, and for numbers so small that the slope would overflow. Outside of ±`reach`
    the line is constant.
    """

    feature: int
    rise: float
    height: float
    centre: float = 0.0
    scale: float = 1.0

    @property
    def reach(self) -> float:
        """The absolute value from which on the line is constant, so that no cell makes a sum infinite or NaN."""
        return min(self.scale * REACH, sys.float_info.max)

    @property
    def slope(self) -> float:
        """The slope in x; infinite if it is too large for a double."""
        return self.rise / self.scale

    @property
    def intercept(self) -> float:
        """The value at x = 0."""
        return self.height - self.rise * self.centre

    def at(self, x: Array) -> Array:
        """Return the value at given numbers."""
        inner = np.minimum(np.maximum(x, -self.reach), self.reach)
        return np.asarray(self.rise * (inner / self.scale - self.centre) + self.height)

    def on(self, view: View) -> Array:
        x = np.asarray(view.table.column(self.feature), dtype=np.float64)
        return np.where(np.isnan(x), 0.0, self.at(x))

    def scaled(self, factor: float) -> LineTerm:
        return replace(self, rise=self.rise * factor, height=self.height * factor)

    def bounded(self, limit: float, rows: TrainingSet) -> Term:
        """Return the line, scaled down to the limit if necessary."""
        return scaled_to(self, limit, rows)

    def plus(self, other: LineTerm) -> LineTerm:
        """Return the sum of two lines of the same feature and scale; centres differ if rows were sampled."""
        height = self.height + (other.rise * (self.centre - other.centre) + other.height)
        return replace(self, rise=self.rise + other.rise, height=height)


def power_of_two(largest: Any) -> Any:
    """Return the largest power of two that does not exceed each number, and 1 for zero."""
    return np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)[()]


def scaled_to(term: Term, limit: float, rows: TrainingSet) -> Term:
    """Return a term, scaled down if its absolute value on the training rows exceeds a limit."""
    rows.evaluate(term, "term")
    largest = rows.max(np.abs, ("term",))
    return term if largest <= limit else term.scaled(limit / largest)


@dataclass(frozen=True)
class PackedTrees:
    """Trees as arrays: node k of all trees tests ``feature[k]`` and goes on to ``links[k, child]``.

    A numeric node sends codes up to ``threshold[k]`` to the left. A nominal node has the threshold -1, and its children
    are ``sets[which[k], code]``. A link ``< 0`` stands for the leaf value ``values[~link]``. Roots may be leaves.
    """

    roots: Array
    feature: Array
    threshold: Array
    which: Array
    sets: Array
    links: Array
    values: Array

    @classmethod
    def pack(cls, terms: Sequence[LeafTerm]) -> PackedTrees:
        """Concatenate the nodes of all trees."""
        splits = [split for term in terms for split in term.partition.splits]
        threshold = np.array([split.threshold for split in splits], dtype=np.int64)
        nominal = np.flatnonzero(threshold < 0)
        which = np.zeros(len(splits), dtype=np.int64)
        which[nominal] = np.arange(1, 1 + len(nominal))
        # the offsets of the nodes and values of each tree
        n_splits = np.array([0, *(len(term.partition.splits) for term in terms)], dtype=np.int64)
        n_values = np.array([0, *(len(term.values) for term in terms)], dtype=np.int64)
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
            np.where(links >= 0, links + own_first, links - own_value),  # leaves count down from -1
            np.concatenate([term.values for term in terms]) if terms else np.empty(0),
        )

    @classmethod
    def of(cls, trees: Trees, output: int) -> PackedTrees:
        """Return the trees of a portfolio with the values of one output."""
        n_nodes = np.diff(trees.first_node)
        nodes, leaves = (np.repeat(first[:-1], n_nodes)[:, None] for first in (trees.first_node, trees.first_leaf))
        links = np.column_stack((trees.links, np.where(trees.missing_left > 0, *trees.links.T)))
        children = np.where(trees.sets, LEFT, RIGHT).astype(np.uint8)
        return cls(
            np.where(n_nodes > 0, trees.first_node[:-1], ~trees.first_leaf[:-1]),
            trees.feature,
            trees.threshold,
            trees.which + 1,
            np.concatenate((np.zeros((1, N_CODES), np.uint8), children)),
            np.where(links >= 0, links + nodes, links - leaves),
            np.ascontiguousarray(trees.values[:, output]),
        )

    def leaf_values(self, codes: Array, features: Array) -> Array:
        """Return the value of each row in each tree, ``[row, tree]``; `codes` has the columns of `features`."""
        column = np.searchsorted(features, self.feature)
        at = np.repeat(self.roots[None], len(codes), axis=0)
        row, tree = np.nonzero(at >= 0)
        while len(row):  # go one level down in all trees
            k = at[row, tree]
            code = codes[row, column[k]].astype(np.int64)
            side = np.where(self.threshold[k] >= 0, code > self.threshold[k], self.sets[self.which[k], code])
            k = self.links[k, np.where(code == MISSING, 2, side)]
            at[row, tree] = k
            row, tree = row[k >= 0], tree[k >= 0]
        return np.asarray(self.values[~at])


def leaf_terms(trees: Trees, output: int) -> list[LeafTerm]:
    """Return the trees of a portfolio as terms, with the values of one output."""
    return [LeafTerm(trees.partition(t), trees.values_of(t, output)) for t in range(trees.n_trees)]


class Scorer:
    """An ensemble, compiled for scoring.

    All implementations add the constant, the tables in the order of the features, the trees in the order of the rounds,
    and finally the sum of lines and other terms. Their results are therefore equal to the last bit.
    """

    def __init__(self, terms: Iterable[Term], bins: Bins | None, n_features: int, constant: float = 0.0) -> None:
        self.bins = bins
        self.constant = constant
        self.tables = np.zeros((n_features, N_CODES))
        self.in_table = np.zeros(n_features, dtype=np.bool_)
        self.lines: dict[tuple[int, float], LineTerm] = {}  # by feature and scale
        self.others: list[Term] = []
        self._trees: list[LeafTerm] | Callable[[], list[LeafTerm]] = []
        for term in terms:
            self._add(term)
        self.packed = PackedTrees.pack(self.trees)

    @classmethod
    def of_trees(cls, trees: Trees, output: int, bins: Bins, n_features: int, constant: float = 0.0) -> Scorer:
        """Return a scorer of the trees of a portfolio, which become terms only if somebody asks for these.

        Trees of one feature each are summed in tables.
        """
        made = cls((), bins, n_features, constant)
        features = trees.feature_of
        if features is not None:
            codes = np.repeat(np.arange(N_CODES)[None], n_features, axis=0)
            for tree, j in enumerate(features.tolist()):
                values = trees.values[trees.leaves(tree, codes), output]
                if j < 0:
                    made.constant += float(values[0])
                else:
                    made.tables[j] += values
                    made.in_table[j] = True
            return made
        made.packed = PackedTrees.of(trees, output)
        made._trees = partial(leaf_terms, trees, output)
        return made

    @property
    def trees(self) -> list[LeafTerm]:
        """The terms that are trees."""
        if callable(self._trees):
            self._trees = self._trees()
        return self._trees

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return len(self.packed.roots)

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
        """The features that have a table, in order."""
        return np.flatnonzero(self.in_table)

    @property
    def tree_features(self) -> Array:
        """The features that trees test, in order."""
        return np.unique(self.packed.feature)

    def steps(self, feature: int) -> tuple[Array, Array]:
        """Return the table of a numeric feature as a step function: its jumps, and the values between them."""
        assert self.bins is not None
        cuts = self.bins.features[feature].cuts
        values = self.tables[feature, : len(cuts) + 1]
        jumps = np.flatnonzero(values[1:] != values[:-1])
        return cuts[jumps], np.append(values[jumps], values[-1])

    def score_with_numpy(self, table: Table) -> Array:
        """Return F for every row."""
        view = View(ReferenceEngine(), table, self.bins)
        F = np.full(table.n_rows, self.constant)
        for j in self.table_features:
            F += self.tables[j][view.column(j)]
        if self.n_trees:
            features = self.tree_features
            codes = np.stack([view.column(j) for j in features], axis=1)
            for start in range(0, table.n_rows, step := 1 + _CELLS // self.n_trees):
                rows = slice(start, start + step)
                values = self.packed.leaf_values(codes[rows], features)
                # trees are added one after the other, in their order
                F[rows] = np.cumsum(np.column_stack((F[rows], values)), axis=1)[:, -1]
        return F + self.rest(view)

    def rest(self, view: View) -> Array:
        """Return the sum of lines and of terms that cannot be compiled."""
        F = np.zeros(view.n_rows)
        for _, line in sorted(self.lines.items()):
            F += line.on(view)
        for term in self.others:
            F += term.on(view)
        return F
