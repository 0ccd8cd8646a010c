"""A training set whose rows are in three parts, each with arrays of its own.

The parts never see each other. Whatever is asked of all rows is a sum, a largest value or a list over the parts, so
this is what an engine on several machines would do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skewboost.engine.binning import cuts_of, summary
from skewboost.engine.boundary import ABSTAIN, LEFT, N_CODES, RIGHT
from skewboost.engine.growing import grow
from skewboost.engine.partition import View
from skewboost.engine.portfolio import ReferencePortfolio
from skewboost.engine.reference import ReferenceEngine
from skewboost.engine.reference_set import histogram
from skewboost.engine.split_search import best_split
from skewboost.engine.table import Nominal, Table
from skewboost.engine.training_set import EXAMPLES, Leaves, W, Y, itself, squares

N_PARTS = 3


def parts_of(n_rows):
    """Which rows are in which part: every third, so that no part is like the others in order."""
    return [np.arange(k, n_rows, N_PARTS) for k in range(N_PARTS)]


def part_of(table, rows):
    """The table of some rows, also of one that was made for a test and is no data frame's."""
    if table.matrix is not None or table.frame is not None:
        return table.take(rows)
    columns = (c.take(rows) if isinstance(c, Nominal) else c[rows] for c in table.columns)
    return Table(len(rows), table.n_features, columns=tuple(columns))


class PartitionedEngine(ReferenceEngine):
    """Codes are a list of three arrays ``[feature, row]``."""

    name = "partitioned"

    def __repr__(self):
        return "partitioned"

    def cuts(self, columns, weights, max_bins):
        return [self.cuts_of_column(column, weights, max_bins) for column in columns]

    def cuts_of_column(self, column, weights, max_bins):
        """Of the distinct values of the parts, and what each weighs."""
        found = [summary(column[rows], None if weights is None else weights[rows]) for rows in parts_of(len(column))]
        values, inverse = np.unique(np.concatenate([v for v, _ in found]), return_inverse=True)
        mass = np.bincount(inverse, np.concatenate([m for _, m in found]), minlength=len(values))
        return cuts_of(values, mass, max_bins)

    def encode(self, table, bins):
        return [ReferenceEngine.encode(self, part_of(table, rows), bins) for rows in parts_of(table.n_rows)]

    def take(self, codes, rows):
        """Every third of the taken rows goes to another part."""
        whole = np.stack([self.column(codes, j) for j in range(len(codes[0]))])
        return [whole[:, rows[own]] for own in parts_of(len(rows))]

    def joined(self, codes, others):
        return [np.concatenate(both) for both in zip(codes, others)]

    def column(self, codes, feature):
        return joined([own[feature] for own in codes])

    def lookup(self, codes, feature, values):
        return values[self.column(codes, feature)]

    def training_set(self, view, labels, classes, examples):
        return PartitionedSet(view, labels, classes, examples)

    def portfolio(self, view, classes, n_classes, units=None):
        """Each member sees all rows: portfolios are shared out by members, not by rows."""
        whole = np.stack([self.column(view.codes, j) for j in range(view.bins.n_features)])
        return ReferencePortfolio(View(ReferenceEngine(), view.table, view.bins, whole), classes, n_classes, units)


def joined(parts):
    """What the parts have, in the order of the table."""
    whole = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype)
    for rows, own in zip(parts_of(len(whole)), parts):
        whole[rows] = own
    return whole


class Part:
    """Some rows: their codes, labels and vectors."""

    def __init__(self, view, rows, codes, labels, classes, examples):
        self.view = View(ReferenceEngine(), part_of(view.table, rows), view.bins, codes)
        self.codes = codes
        self.n_labels = classes.n_labels
        numbers = labels[rows]
        own = np.ones(len(rows)) if examples is None else np.asarray(examples, dtype=float)[rows]
        self.vectors = {Y: classes.as_y(numbers), EXAMPLES: own}
        self.planes = classes.n_classes * np.arange(classes.n_labels) + numbers.reshape(len(rows), classes.n_labels)
        self.every = np.arange(len(rows))

    def call(self, function, inputs):
        """What a function makes of vectors."""
        given = [self.vectors[name] for name in inputs]
        if self.n_labels > 1:
            given = [v[:, None] if v.ndim == 1 else v for v in given]
        made = function(*given)
        return made if isinstance(made, tuple) else (made,)

    def leaves(self, partition):
        if isinstance(partition, Leaves):
            return self.vectors[partition.name].astype(np.intp)
        return partition.leaves(self.view)

    def histograms(self, rows, names, n_planes):
        """Sums of named vectors, or of the weights plane by plane."""
        if names:
            return np.array([histogram(self.codes, rows, self.vectors[name][rows]) for name in names])
        w = self.vectors[W].reshape(self.planes.shape)
        found = []
        for plane in range(n_planes):
            at, label = np.nonzero(self.planes[rows] == plane)
            found.append(histogram(self.codes, rows[at], w[rows[at], label]))
        return np.array(found)

    def count(self, partition):
        counts = np.zeros((len(partition.splits), N_CODES))
        for k, here in enumerate(partition.rows_at_splits(self.view)):
            codes = self.codes[partition.splits[k].feature][here]
            counts[k] = np.bincount(codes, self.vectors[EXAMPLES][here], minlength=N_CODES)
        return counts


class PartitionedSet:
    """Adds up what the parts tell. A node is a list of row numbers per part, and the names of what it sums."""

    def __init__(self, view, labels, classes, examples):
        self.classes, self.bins, self.n_rows = classes, view.bins, view.n_rows
        codes = [None] * N_PARTS if view.bins is None else view.codes
        places = parts_of(self.n_rows)
        self.parts = [Part(view, rows, own, labels, classes, examples) for rows, own in zip(places, codes)]
        self.n_assigned = 0
        self.assign(itself, (EXAMPLES,))

    # vectors

    def put(self, name, values):
        whole = np.full(self.n_rows, float(values)) if np.ndim(values) == 0 else np.array(values, dtype=float)
        for part, rows in zip(self.parts, parts_of(self.n_rows)):
            part.vectors[name] = whole[rows]

    def get(self, name):
        return joined([part.vectors[name] for part in self.parts])

    def map(self, function, inputs, outputs):
        sums = []
        for part in self.parts:
            made = part.call(function, inputs)
            for name, own in zip(outputs, made[: len(outputs)], strict=True):
                squeezed = own[:, 0] if self.classes.n_labels > 1 and own.shape[1] == 1 else own
                part.vectors[name] = np.array(squeezed, dtype=float)
            sums.append([float(np.sum(own)) for own in made[len(outputs) :]])
        return [sum(values) for values in zip(*sums)]

    def sum(self, function, inputs):
        totals = [[float(np.sum(v)) for v in part.call(function, inputs)] for part in self.parts]
        summed = tuple(sum(values) for values in zip(*totals))
        return summed[0] if len(summed) == 1 else summed

    def max(self, function, inputs):
        return max(float(np.max(v, initial=-np.inf)) for part in self.parts for v in part.call(function, inputs))

    # weights

    def assign(self, function, inputs):
        made = [np.broadcast_to(part.call(function, inputs)[0], part.vectors[Y].shape) for part in self.parts]
        self.n_assigned += 1
        return self._normalise(made)

    def reweight(self, partition, factors):
        moved = []
        for part in self.parts:
            of_rows = factors[part.leaves(partition)[:, None], part.planes]
            moved.append(part.vectors[W] * of_rows.reshape(part.vectors[W].shape))
        return self._normalise(moved)

    def _normalise(self, weights):
        total = sum(float(own.sum()) for own in weights)
        for part, own in zip(self.parts, weights):
            part.vectors[W] = own / total
        return total

    # partitions

    def grow(self, request, limits, restrictions=None, key=0):
        return grow(self, self.root(), request, limits, restrictions, key)

    def grow_responses(self, z, w, request, limits, restrictions=None, key=0):
        self.map(np.multiply, (w, z), ("w z",))
        growth = grow(self, self._node_of(w, "w z"), request, limits, restrictions, key)
        return replace(growth, squares=self.sum(squares, (z, w)))

    def sums(self, partition, times=None):
        n_leaves, n_planes = partition.n_leaves, self.classes.n_planes
        total = np.zeros(n_leaves * n_planes)
        for part in self.parts:
            weights = part.vectors[W].reshape(part.planes.shape)
            if times is not None:
                weights = weights * part.vectors[times].reshape(len(weights), -1)
            cell = n_planes * part.leaves(partition)[:, None] + part.planes
            total += np.bincount(cell.ravel(), weights.ravel(), minlength=len(total))
        return total.reshape(n_leaves, n_planes)

    def count(self, partition):
        return sum(part.count(partition) for part in self.parts)

    # terms

    def evaluate(self, term, name):
        for part in self.parts:
            part.vectors[name] = np.array(term.on(part.view), dtype=float)

    def add(self, term, name):
        for part in self.parts:
            own = part.vectors[name]
            made = term.on(part.view)
            part.vectors[name] = (own[:, None] if made.ndim > own.ndim else own) + made

    # histograms and nodes

    def histogram(self, *names):
        return self._histogram(self._node_of(*names))

    def _histogram(self, node):
        rows, names = node
        n_planes = self.classes.n_planes
        return sum(part.histograms(own, names, n_planes) for part, own in zip(self.parts, rows))

    def root(self):
        return self._node_of()

    def _node_of(self, *names):
        return [part.every for part in self.parts], names

    def search(self, node, request, within=None):
        counts = None
        if request.min_count > 0:
            counts = self._histogram((node[0], (EXAMPLES,)))[0]
        return best_split(self._histogram(node), counts, self.bins, request, within)

    def split(self, node, split):
        sides = [LEFT, RIGHT] + [ABSTAIN] * bool((split.child == ABSTAIN).any())
        child = [split.child[part.codes[split.feature][own]] for part, own in zip(self.parts, node[0])]
        return [([own[c == side] for own, c in zip(node[0], child)], node[1]) for side in sides]

    def totals(self, node):
        rows, names = node
        if names:
            pairs = list(zip(self.parts, rows))
            return np.array([sum(part.vectors[name][own].sum() for part, own in pairs) for name in names])
        total = np.zeros(self.classes.n_planes)
        for part, own in zip(self.parts, rows):
            w = part.vectors[W].reshape(part.planes.shape)[own]
            total += np.bincount(part.planes[own].ravel(), w.ravel(), minlength=len(total))
        return total

    def examples(self, node):
        return sum(float(part.vectors[EXAMPLES][own].sum()) for part, own in zip(self.parts, node[0]))

    def forget(self, node):
        pass

    # further sets

    def take(self, rows):
        whole = np.stack([joined([part.codes[j] for part in self.parts]) for j in range(self.bins.n_features)])
        return [whole[:, rows[own]] for own in parts_of(len(rows))]
