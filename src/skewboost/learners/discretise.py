r"""Discretisation: from columns to a few values each, which the conditions of rules refer to.

Numbers are cut by the entropy method of Fayyad and Irani [fayyad1993]_: the cut of a set S into S₁ and S₂ that leaves
the smallest class entropy is accepted if it shortens the description length,

.. math:: \mathrm{Ent}(S) - \sum_j \frac{N_j}{N} \mathrm{Ent}(S_j) >
          \frac{\log_2(N - 1) + \log_2(3^k - 2) - k\,\mathrm{Ent}(S) + \sum_j k_j \mathrm{Ent}(S_j)}{N}

where N is the weight of S and k the number of its classes. Then both parts are cut again. Each category is a value,
and so is a missing cell.

.. [fayyad1993] U. M. Fayyad, K. B. Irani, "Multi-interval discretization of continuous-valued attributes for
   classification learning", International Joint Conference on Artificial Intelligence (1993) 1022-1027.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from skewboost.engine.binning import midpoints
from skewboost.engine.boundary import TIE
from skewboost.engine.table import Nominal
from skewboost.names import shown
from skewboost.typing import Array

UNKNOWN = -1  # the code of a cell unlike any in training: it meets no condition


@dataclass(frozen=True)
class Intervals:
    """The values of a numeric attribute: the intervals between its cuts, and "missing" if it occurred in training."""

    cuts: Array
    missing: bool

    def encode(self, column: Array | Nominal) -> Array:
        """The number of the interval of every cell; ``x <= cut`` is to the left of a cut."""
        assert not isinstance(column, Nominal)
        absent = np.isnan(column)
        codes = np.searchsorted(self.cuts, np.where(absent, 0.0, column))
        codes[absent] = len(self.cuts) + 1 if self.missing else UNKNOWN
        return codes

    def text(self, code: int) -> str:
        """A value as text."""
        n = len(self.cuts)
        if code > n:
            return "is missing"
        if n == 0:
            return "is known"
        if code == 0:
            return f"≤ {self.cuts[0]:.6g}"
        if code == n:
            return f"> {self.cuts[-1]:.6g}"
        return f"in ({self.cuts[code - 1]:.6g}, {self.cuts[code]:.6g}]"


@dataclass(frozen=True)
class Categories:
    """The values of a nominal attribute: its categories, and "missing" if it occurred in training."""

    categories: tuple[str, ...]
    missing: bool

    def encode(self, column: Array | Nominal) -> Array:
        """The position of the category of every cell; a category that is new counts as missing."""
        assert isinstance(column, Nominal)
        absent = len(self.categories) if self.missing else UNKNOWN
        position = {c: k for k, c in enumerate(self.categories)}
        lookup = np.array([position.get(c, absent) for c in column.categories] + [absent], dtype=np.intp)
        return lookup[column.codes]  # -1 reads the last entry

    def text(self, code: int) -> str:
        """A value as text."""
        return "is missing" if code == len(self.categories) else f"= {shown(self.categories[code])}"


Values = Intervals | Categories


def discretise(column: Array | Nominal, y: Array, weights: Array, n_classes: int) -> Values:
    """The values of a training column, whose rows have the classes `y` (0 to `n_classes` - 1) and positive weights."""
    if isinstance(column, Nominal):
        present = np.flatnonzero(np.bincount(column.codes + 1)) - 1
        categories = tuple(column.categories[k] for k in present if k >= 0)
        return Categories(categories, bool(present[0] < 0))
    known = ~np.isnan(column)
    cuts = mdl_cuts(np.asarray(column[known], dtype=np.float64), y[known], weights[known], n_classes)
    return Intervals(cuts, not known.all())


def interval_names(cuts: Array) -> list[str]:
    """The intervals between cuts in the usual notation, with as many digits as it takes to tell the cuts apart."""
    for digits in range(6, 18):
        ends = [f"{cut + 0.0:.{digits}g}" for cut in cuts.tolist()]  # + 0.0: no minus zero
        if len(set(ends)) == len(ends):
            break
    return [f"({a}, {b}{']' if b != 'inf' else ')'}" for a, b in pairwise(["-inf", *ends, "inf"])]


def mdl_cuts(x: Array, y: Array, weights: Array, n_classes: int) -> Array:
    """The cuts of numbers without missing ones: ascending, halfway between neighbouring values.

    A part of less than two examples is not cut. Among equally good cuts the lowest is chosen.
    """
    values, rank = np.unique(x, return_inverse=True)
    mass = np.bincount(rank * n_classes + y, weights, minlength=len(values) * n_classes).reshape(-1, n_classes)
    has = mass > 0
    # A cut between two values of the same single class is never the best.
    boundary = (has[1:] | has[:-1]).sum(axis=1) > 1
    after: list[int] = []
    parts = [(0, len(values))]
    while parts:
        low, high = parts.pop()
        cut = _accepted_cut(mass[low:high], boundary[low : max(high - 1, low)])
        if cut is not None:
            after.append(low + cut)
            parts += [(low, low + cut + 1), (low + cut + 1, high)]
    below = np.sort(np.array(after, dtype=np.intp))
    return midpoints(values[below], values[below + 1])


def _accepted_cut(mass: Array, boundary: Array) -> int | None:
    """The value after which to cut, given class weights ``[value, class]``; None if no cut is accepted."""
    tried = np.flatnonzero(boundary)
    if len(tried) == 0:
        return None
    total = mass.sum(axis=0)
    n = float(total.sum())
    if n < 2:
        return None
    left = np.cumsum(mass, axis=0)[tried]
    right = np.cumsum(mass[::-1], axis=0)[::-1][tried + 1]  # total - left would leave rounding errors in empty classes
    ent, ent_left, ent_right = _entropy(total), _entropy(left), _entropy(right)
    after = (left.sum(axis=1) * ent_left + right.sum(axis=1) * ent_right) / n
    best = int(np.argmax(after <= after.min() + TIE))
    k, k_left, k_right = (int((m > 0).sum()) for m in (total, left[best], right[best]))
    labellings = k * np.log2(3.0) + np.log2(1 - 2 * 3.0**-k)  # log2(3^k - 2) for any k
    price = np.log2(n - 1) + labellings - (k * ent - k_left * ent_left[best] - k_right * ent_right[best])
    # Gain and price can be equal on small tables; rounding must not decide then.
    return int(tried[best]) if ent - after[best] > price / n + TIE else None


def _entropy(mass: Array) -> Array:
    """The class entropy in bits of class weights along the last axis."""
    p = mass / mass.sum(axis=-1, keepdims=True)
    return np.asarray(-(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=-1))
