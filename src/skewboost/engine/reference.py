"""The engine in plain NumPy, which specifies all other engines and replaces them if nothing was compiled.

Nothing is cached or approximated: cuts are computed from all values, and codes are one array. `reference_set` has the
training set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skewboost.engine.binning import cuts_of, summary
from skewboost.engine.boundary import MISSING, N_CODES, Codes
from skewboost.engine.newton import Trees
from skewboost.engine.partition import Partition, View
from skewboost.engine.portfolio import ReferencePortfolio
from skewboost.engine.reference_set import ReferenceSet
from skewboost.engine.shapley import Conjunction, add_shapley
from skewboost.engine.training_set import Classes
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.scoring import Scorer
    from skewboost.engine.table import Table


class ReferenceEngine:
    """A simple, slow engine."""

    name = "reference"
    n_jobs = 1

    def cuts(self, columns: Sequence[Array], weights: Array | None, max_bins: int) -> list[Array]:
        return [cuts_of(*summary(column, weights), max_bins) for column in columns]

    def encode(self, table: Table, bins: Bins) -> Codes:
        """Return the codes of a table, ``[feature, row]``."""
        codes = np.empty((bins.n_features, table.n_rows), dtype=np.uint8)
        for j, feature in enumerate(bins.features):
            numbers = bins.numbers(table, j)
            if feature.nominal:
                codes[j] = numbers
            else:
                codes[j] = np.searchsorted(feature.cuts, numbers)
                codes[j][numbers != numbers] = MISSING
        return codes

    def take(self, codes: Codes, rows: Array) -> Codes:
        return np.take(codes, rows, axis=1)

    def joined(self, codes: Codes, others: Codes) -> Codes:
        return np.concatenate((codes, others))

    def column(self, codes: Codes, feature: int) -> Array:
        column: Array = codes[feature]
        return column

    def lookup(self, codes: Codes, feature: int, values: Array) -> Array:
        return np.asarray(values[codes[feature]])

    def leaves(self, codes: Codes, partition: Partition) -> Array:
        return partition.follow(lambda feature: self.column(codes, feature))

    def training_set(self, view: View, labels: Array, classes: Classes, examples: Array | None) -> ReferenceSet:
        return ReferenceSet(view, labels, classes, examples)

    def portfolio(self, view: View, classes: Array, n_classes: int, units: Array | None = None) -> ReferencePortfolio:
        return ReferencePortfolio(view, classes, n_classes, units)

    def score(self, scorer: Scorer, table: Table) -> Array:
        return scorer.score_with_numpy(table)

    def contributions(self, trees: Trees, output: int, view: View) -> Array:
        out = np.zeros((view.n_rows, view.table.n_features))
        found = conjunctions(trees, output)
        add_shapley([c for c in found if c.features], view.column, out)
        return out

    def main_effects(self, trees: Trees, output: int, n_features: int) -> Array:
        found, out = conjunctions(trees, output), np.zeros((n_features, N_CODES))
        for c in found:
            for k, j in enumerate(c.features):
                others = c.value * float(np.delete(c.fractions, k).prod())
                out[j] += others * (c.allowed[k] - c.fractions[k])
        return out


def conjunctions(trees: Trees, output: int) -> list[Conjunction]:
    """Return the leaves of trees as conjunctions."""
    found = []
    for t in range(trees.n_trees):
        values, partition = trees.values_of(t, output), trees.partition(t)
        found += [Conjunction(v, *path) for v, path in zip(values.tolist(), partition.paths())]
    return found
