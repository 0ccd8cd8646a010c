"""Principal components of the columns of numbers, as further columns of a table.

A tree needs many splits along a direction that is oblique to the columns, such as a difference of two of them. One of
the forests of a portfolio therefore knows the principal components, too [rodriguez2006]_. They are computed without
the labels, so nothing has to be held out.

References
----------
.. [rodriguez2006] J. J. Rodríguez, L. I. Kuncheva, C. J. Alonso, "Rotation forest: a new classifier ensemble method",
   IEEE Transactions on Pattern Analysis and Machine Intelligence 28 (2006) 1619-1630.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from skewboost.engine.binning import Bins, fit_bins
from skewboost.engine.draws import uniform
from skewboost.engine.partition import View
from skewboost.engine.scoring import power_of_two
from skewboost.engine.table import Table
from skewboost.typing import Array

BLOCK = 512  # rows at a time, whose components stay in the cache
NUMBERS = 2**23  # of rows that are centred at a time
FEWEST = 3  # columns of numbers
MOST = 32  # components
# No call of a linear algebra library may take long, because it cannot be interrupted. A square matrix is decomposed in
# a time that grows with the cube of its side; if a table has more rows and columns than this, only some rows are used
LONGEST_SIDE = 1000
PRODUCTS = 1e9  # that are added up in one call
FARTHEST = 4.0  # standard deviations, up to which numbers are distinguished
LEAST_SHARE = 1e-6  # of the variance of the first component: those of less are rounding errors
DIGITS = 9  # of loadings, so that they do not depend on the order in which sums are added
SMALLEST, LARGEST = 1e-200, 1e200  # standard deviations


@dataclass(frozen=True, eq=False)
class Components:
    """Sums of columns: component k is ``Σ_i loadings[k, i] · (x_i - centre_i)``, from the left to the right.

    x are the numbers in the columns `features`, limited to `low` and `high`. A missing number adds nothing.
    """

    features: Array
    centre: Array
    low: Array
    high: Array
    loadings: Array

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self.loadings)

    def centred(self, table: Table, rows: slice = slice(None)) -> Array:
        """Return the numbers of some rows, limited and centred, ``[column, row]``; 0 where they are missing."""
        found = np.empty((len(self.features), len(range(table.n_rows)[rows])))
        for row, j, centre, low, high in zip(found, self.features.tolist(), self.centre, self.low, self.high):
            column: Any = table.column(j)
            x = np.asarray(column[rows], dtype=np.float64)
            row[:] = np.where(np.isnan(x), 0.0, np.minimum(np.maximum(x, low), high) - centre)
        return found

    def values(self, table: Table) -> Array:
        """Return the components of every row, ``[component, row]``."""
        found = np.zeros((self.n_components, table.n_rows))
        n = max(1, NUMBERS // len(self.features) // BLOCK) * BLOCK
        for first in range(0, table.n_rows, n):
            x = self.centred(table, slice(first, first + n))
            for start in range(0, x.shape[1], BLOCK):
                part = found[:, first + start : first + start + BLOCK]
                terms = np.empty_like(part)
                for factors, column in zip(self.loadings.T, x[:, start : start + BLOCK]):
                    np.multiply(factors[:, None], column, out=terms)
                    part += terms  # one column after the other, as exported programs add them
        return found

    def table(self, table: Table) -> Table:
        """Return the components of every row as a table."""
        return Table(table.n_rows, self.n_components, columns=tuple(self.values(table)))

    def extend(self, table: Table) -> Table:
        """Return the table with the components behind its columns."""
        return table.beside(self.table(table))

    def beside(self, view: View, table: Table, order: Array, weights: Array) -> View:
        """Return a view with the components behind its columns, given all rows and the order of those of the view."""
        own, engine = self.table(table), view.engine
        bins = fit_bins(engine, own, None if (weights == 1.0).all() else weights)
        codes = engine.joined(view.codes, engine.take(engine.encode(own, bins), order))
        assert view.bins is not None
        return View(engine, view.table.beside(own.take(order)), Bins(view.bins.features + bins.features), codes)

    def shares(self, table: Table) -> Iterator[Array]:
        """Yield the shares of the columns in the absolute terms of each component, ``[column, row]``."""
        x = self.centred(table)
        for loadings, squares in zip(self.loadings, self.squares):
            terms = np.abs(loadings[:, None] * x)
            total = terms.sum(axis=0)
            yield np.where(total > 0, terms / np.where(total > 0, total, 1.0), squares[:, None])

    @property
    def squares(self) -> Array:
        """The share of each column in the variance that it gives a component, ``[component, column]``."""
        found = (self.loadings * (self.high - self.centre)) ** 2
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def find_components(table: Table, weights: Array) -> Components | None:
    """Return the principal components of the standardised numbers of a table; None if there are too few columns."""
    features, moments = [], []
    for j, column in table.numeric_columns():
        x = np.asarray(column, dtype=np.float64)
        known = np.isfinite(x)
        if not known.any():
            continue
        x, w = (x, weights) if known.all() else (x[known], weights[known])
        low, high = x.min(), x.max()
        unit, total = power_of_two(max(-low, high)), w.sum()  # sums must not overflow
        mean = (x / unit * w).sum() / total
        spread = np.sqrt(((x / unit - mean) ** 2 * w).sum() / total)
        mean, spread = _rounded(mean * unit), _rounded(spread * unit)
        if SMALLEST < spread < LARGEST and ((x > low) & (x < high)).any():  # three values or more
            features.append(j)
            moments.append((mean, spread))
    if len(features) < FEWEST:
        return None
    rows = np.arange(table.n_rows)
    if min(len(features), len(rows)) > LONGEST_SIDE:
        rows = rows[uniform(0, rows) < LONGEST_SIDE / len(rows)]
    Z, (centre, spread) = np.empty((len(features), len(rows))), np.array(moments).T
    for z, j, mean, own in zip(Z, features, centre, spread):
        x = np.asarray(table.column(j), dtype=np.float64)[rows]
        z[:] = np.where(np.isfinite(x), np.clip((x - mean) / own, -FARTHEST, FARTHEST), 0.0)
    with threadpool_limits(1, user_api="blas"):  # sums do not depend on the number of threads
        directions = _directions(Z, weights[rows])
    directions *= np.sign(directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)])[:, None]
    loadings = np.vectorize(_rounded)(np.round(directions, DIGITS) / spread)
    return Components(np.array(features), centre, centre - FARTHEST * spread, centre + FARTHEST * spread, loadings)


def _directions(Z: Array, weights: Array) -> Array:
    """Return the directions of the largest variances of standardised columns ``[column, row]``, by the shorter side.

    If a is an eigenvector of the products of the rows with each other, Za is one of the covariances of the columns.
    """
    by_column, total = len(Z) <= Z.shape[1], np.zeros(2 * (min(Z.shape),))
    n = max(1, int(PRODUCTS / len(total) ** 2))
    for start in range(0, max(Z.shape), n):
        part = slice(start, start + n)
        if by_column:
            total += (weights[part] * Z[:, part]) @ Z[:, part].T
        else:
            own = Z[part] * np.sqrt(weights)
            total += own.T @ own
    variances, vectors = np.linalg.eigh(total / weights.sum())
    order = np.argsort(-variances, kind="stable")[:MOST]
    order = order[variances[order] > LEAST_SHARE * variances[order[0]]]
    found = vectors[:, order].T
    if not by_column:
        found = (np.sqrt(weights) * found) @ Z.T
        found /= np.sqrt((found**2).sum(axis=1, keepdims=True))
    return np.asarray(found)


def _rounded(value: float) -> float:
    """Return a number with fewer digits."""
    return float(f"{value:.{DIGITS}g}")
