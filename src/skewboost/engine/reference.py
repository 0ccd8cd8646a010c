"""The boundary in plain NumPy: the specification of every other engine, and the one where nothing was compiled.

Nothing here is derived, cached or approximated. Where to cut is read off all values, codes are one array, and of the
training rows `reference_set` has the meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skewboost.engine.binning import cuts_of, summary
from skewboost.engine.boundary import MISSING, Codes
from skewboost.engine.partition import Partition, View
from skewboost.engine.reference_set import ReferenceSet
from skewboost.engine.table import Nominal, Table
from skewboost.engine.training_set import Classes
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.scoring import Scorer


class ReferenceEngine:
    """Slow and obvious."""

    name = "reference"
    n_jobs = 1

    def cuts(self, columns: Sequence[Array], weights: Array | None, max_bins: int) -> list[Array]:
        """Where to cut columns of numbers."""
        return [cuts_of(*summary(column, weights), max_bins) for column in columns]

    def category_weights(self, column: Nominal, weights: Array | None) -> Array:
        """What the rows of each category weigh."""
        seen = column.codes >= 0
        own = None if weights is None else weights[seen]
        return np.bincount(column.codes[seen], own, minlength=len(column.categories))

    def encode(self, table: Table, bins: Bins) -> Codes:
        """Bin a table into ``codes[feature, row]``."""
        codes = np.empty((table.n_features, table.n_rows), dtype=np.uint8)
        for j, feature in enumerate(bins.features):
            column = table.column(j)
            if isinstance(column, Nominal):
                codes[j] = feature.translate(column)
            else:
                codes[j] = np.searchsorted(feature.cuts, column)
                codes[j][column != column] = MISSING
        return codes

    def take(self, codes: Codes, rows: Array) -> Codes:
        """The codes of these rows."""
        return np.take(codes, rows, axis=1)

    def column(self, codes: Codes, feature: int) -> Array:
        """The codes of one feature."""
        column: Array = codes[feature]
        return column

    def lookup(self, codes: Codes, feature: int, values: Array) -> Array:
        """``values[code]`` for all rows."""
        return np.asarray(values[codes[feature]])

    def leaves(self, codes: Codes, partition: Partition) -> Array:
        """Follow the rows from split to split."""
        at: Array = np.zeros(0, dtype=np.intp)
        for k, split in enumerate(partition.splits):  # parents come before their children
            column = self.column(codes, split.feature)
            at = at if k else np.zeros(len(column), dtype=np.intp)
            here = np.flatnonzero(at == k)
            at[here] = np.array(partition.links[k])[split.child[column[here]]]
        return ~at

    def open(self, view: View, labels: Array, classes: Classes, examples: Array | None) -> ReferenceSet:
        """The training set of a table, seen through bins."""
        return ReferenceSet(view, labels, classes, examples)

    def score(self, scorer: Scorer, table: Table) -> Array:
        """F of new rows, term by term."""
        return scorer.score_with_numpy(table)
