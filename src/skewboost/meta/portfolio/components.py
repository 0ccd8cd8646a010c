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

from dataclasses import dataclass

import numpy as np

from skewboost.engine.scoring import power_of_two
from skewboost.engine.table import Table
from skewboost.typing import Array

BLOCK = 512  # rows at a time, whose components stay in the cache
FEWEST = 3  # columns of numbers
MOST = 32  # components
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

    def centred(self, table: Table) -> Array:
        """Return the numbers, limited and centred, ``[column, row]``; 0 where they are missing."""
        found = np.empty((len(self.features), table.n_rows))
        for row, j, centre, low, high in zip(found, self.features.tolist(), self.centre, self.low, self.high):
            x = np.asarray(table.column(j), dtype=np.float64)
            row[:] = np.where(np.isnan(x), 0.0, np.minimum(np.maximum(x, low), high) - centre)
        return found

    def values(self, table: Table) -> Array:
        """Return the components of every row, ``[component, row]``."""
        x = self.centred(table)
        found = np.zeros((self.n_components, table.n_rows))
        for start in range(0, table.n_rows, BLOCK):
            part = found[:, start : start + BLOCK]
            terms = np.empty_like(part)
            for factors, column in zip(self.loadings.T, x[:, start : start + BLOCK]):
                np.multiply(factors[:, None], column, out=terms)
                part += terms  # one column after the other, as exported programs add them
        return found

    def extend(self, table: Table) -> Table:
        """Return the table with the components behind its columns."""
        columns = tuple(table.column(j) for j in range(table.n_features))
        return Table(table.n_rows, table.n_features + self.n_components, columns=(*columns, *self.values(table)))

    def shares(self, table: Table) -> Array:
        """Return the share of each column in the absolute terms of each component, ``[component, column, row]``."""
        terms = np.abs(self.loadings[:, :, None] * self.centred(table)[None])
        total = terms.sum(axis=1, keepdims=True)
        return np.where(total > 0, terms / np.where(total > 0, total, 1.0), self.squares[:, :, None])

    @property
    def squares(self) -> Array:
        """The share of each column in the variance that it gives a component, ``[component, column]``."""
        found = (self.loadings * (self.high - self.centre)) ** 2
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def find_components(table: Table, weights: Array) -> Components | None:
    """Return the principal components of the standardised numbers of a table; None if there are too few columns."""
    features, moments, columns = [], [], []
    for j, column in table.numeric_columns():
        x = np.asarray(column, dtype=np.float64)
        known = np.isfinite(x)
        if not known.any():
            continue
        unit = power_of_two(np.abs(x[known]).max())  # sums must not overflow
        mean = np.average(x[known] / unit, weights=weights[known])
        spread = np.sqrt(np.average((x[known] / unit - mean) ** 2, weights=weights[known]))
        mean, spread = _rounded(mean * unit), _rounded(spread * unit)
        if SMALLEST < spread < LARGEST and len(np.unique(x[known])) > 2:
            features.append(j)
            moments.append((mean, spread))
            z = np.where(known, np.clip((x - mean) / spread, -FARTHEST, FARTHEST), 0.0)
            columns.append(z)
    if len(features) < FEWEST:
        return None
    Z, (centre, spread) = np.array(columns), np.array(moments).T
    variances, directions = np.linalg.eigh((weights * Z) @ Z.T / weights.sum())
    order = np.argsort(-variances, kind="stable")[:MOST]
    order = order[variances[order] > LEAST_SHARE * variances[order[0]]]
    own = directions[:, order].T
    own *= np.sign(own[np.arange(len(own)), np.abs(own).argmax(axis=1)])[:, None]
    loadings = np.vectorize(_rounded)(np.round(own, DIGITS) / spread)
    return Components(np.array(features), centre, centre - FARTHEST * spread, centre + FARTHEST * spread, loadings)


def _rounded(value: float) -> float:
    """Return a number with fewer digits."""
    return float(f"{value:.{DIGITS}g}")
