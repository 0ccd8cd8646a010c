"""The boundary in plain NumPy: the specification of every other engine, and the engine of small tables.

Nothing here is derived, cached or approximated. A histogram is a sum over rows, a search looks at every candidate
(`candidates`, by what they lose: `losses`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skewboost.engine.boundary import MISSING, N_CODES, Array, Codes, Request, Rows, Split
from skewboost.engine.candidates import best_split
from skewboost.tables import Nominal, Table

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.scoring import Scorer


class ReferenceEngine:
    """Slow and obvious."""

    name = "reference"
    derives = False
    n_jobs = 1

    def sort(self, values: Array) -> Array:
        """Sort the numbers of a column, leaving out NaN."""
        return np.sort(values[values == values])

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

    def array(self, values: Array) -> Array:
        """A copy, as float64."""
        return np.array(values, dtype=np.float64)

    def lookup(self, codes: Codes, feature: int, values: Array) -> Array:
        """``values[code]`` for all rows."""
        return np.asarray(values[codes[feature]])

    def rows(self, mask: Array) -> Rows:
        """The rows where `mask` holds."""
        return np.flatnonzero(mask)

    def histogram(self, codes: Codes, rows: Rows, *values: Array | None) -> Array:
        """Sums per plane, feature and code."""
        n_features = len(codes)
        cell = codes[:, rows].astype(np.intp) + N_CODES * np.arange(n_features)[:, None]
        planes = []
        for v in values:
            weights = None if v is None else np.broadcast_to(v[rows], cell.shape).ravel()
            planes.append(np.bincount(cell.ravel(), weights, minlength=N_CODES * n_features))
        return np.reshape(planes, (len(values), n_features, N_CODES)).astype(np.float64)

    def search(
        self, planes: Sequence[Array], counts: Array | None, error: Array, bins: Bins, request: Request
    ) -> Split | None:
        """Every candidate of every feature; ties to the lowest feature, then the lowest threshold."""
        return best_split(np.array(planes), counts, bins, request)

    def route(self, codes: Codes, rows: Rows, split: Split, wanted: Sequence[int]) -> list[Rows]:
        """The rows of each wanted child."""
        child = split.child[codes[split.feature][rows]]
        return [rows[child == w] for w in wanted]

    def split_off(
        self,
        codes: Codes,
        rows: Sequence[Rows],
        split: Split,
        wanted: Sequence[tuple[int, int]],
        values: Sequence[Array],
        scale: Array,
    ) -> list[tuple[Rows, Array]]:
        """`route`, then `histogram`."""
        found = []
        for group, side in wanted:
            (own,) = self.route(codes, rows[group], split, [side])
            found.append((own, scale[group] * self.histogram(codes, own, values[group])[0]))
        return found

    def move(
        self, codes: Codes, rows: Rows, feature: int, factors: Array, values: Array, scale: float
    ) -> tuple[int, Array]:
        """Those whose factor is not 1."""
        moved = rows[factors[codes[feature][rows]] != 1.0]
        before = values.copy()
        values[moved] *= factors[codes[feature][moved]]
        return len(moved), scale * self.histogram(codes, moved, values - before)[0]

    def reweighted(self, whole: Array, parts: Sequence[Array], factors: Sequence[float]) -> Array:
        """Σ factors[k]·parts[k], and the last factor times what they leave of the whole."""
        rest = np.maximum(whole - sum(parts), 0.0)
        return np.asarray(sum(f * h for f, h in zip(factors, [*parts, rest])))

    def expand(self, *node: object) -> None:
        """No shortcut."""
        return None

    def stump(self, *root: object) -> tuple[None, list[list[int]], list[tuple[int, Rows, Array]]]:
        """No shortcut."""
        return None, [], []

    def total(self, weights: Array, rows: Rows) -> float:
        """Σ weights over the rows."""
        return float(weights[rows].sum())

    def scale(self, weights: Array, rows: Rows, factor: float) -> None:
        """Multiply the weights of the rows."""
        weights[rows] *= factor

    def score(self, scorer: Scorer, table: Table) -> Array:
        """F of new rows, term by term."""
        return scorer.score_with_numpy(table)
