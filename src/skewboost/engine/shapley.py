r"""Shapley values of conjunctions: the exact attribution of a leaf's value to features.

A leaf of a tree, or a rule of an alternating decision tree, is a **conjunction**: it adds its value if the codes of
some features are all among those that it allows. If only the features in S are known, the expected value is

.. math:: v(S) = \text{value} \prod_{j \in S} o_j \prod_{j \notin S} z_j

where :math:`o_j \in \{0, 1\}` says whether the row passes the tests on feature j, and :math:`z_j` is the fraction of
training examples that pass, among those that reach these tests: the path-dependent expectation of [lundberg2018]_. The
Shapley value [lundberg2017]_ of feature i is the mean of :math:`v(S \cup i) - v(S)` over the orders in which features
become known. As :math:`s!\,(d-1-s)!/d! = \int_0^1 t^s (1-t)^{d-1-s} dt`, the sum over all subsets of the other features
is

.. math:: \phi_i = \text{value}\,(o_i - z_i) \int_0^1 \prod_{j \ne i} \big(o_j t + z_j (1 - t)\big)\, dt ,

The integrand is a polynomial of degree d - 1, for which Gauss quadrature with ⌈d/2⌉ points is exact. All terms have the
same sign, so no digits are lost. The time is O(d²) per conjunction and pattern of o.

References
----------
.. [lundberg2017] S. M. Lundberg, S.-I. Lee, "A unified approach to interpreting model predictions", Advances in Neural
   Information Processing Systems (2017).
.. [lundberg2018] S. M. Lundberg, G. G. Erion, S.-I. Lee, "Consistent individualized feature attribution for tree
   ensembles", arXiv:1802.03888 (2018).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np

from skewboost.typing import Array

_ROWS = 8_192  # rows per block: their codes and contributions fit into the cache
_CELLS = 1 << 20  # numbers in the tables of a batch: 8 MiB
_MAX_BITS = 14  # the largest number of features for which all patterns are tabulated


@dataclass(frozen=True)
class Conjunction:
    """The function that is `value` if the code of each of `features` is allowed, and 0 otherwise.

    ``allowed[k, code]`` says which codes of ``features[k]`` pass. ``fractions[k]`` is the fraction of training examples
    that pass, among those that reach the tests of this feature.
    """

    value: float
    features: tuple[int, ...]  # distinct
    allowed: Array
    fractions: Array

    @property
    def mean(self) -> float:
        """The mean over the training examples."""
        return self.value * float(self.fractions.prod())


@runtime_checkable
class Conjunctive(Protocol):
    """A term that is a sum of conjunctions and can be explained."""

    def conjunctions(self) -> list[Conjunction]:
        """Return the conjunctions."""


def shapley_of(holds: Array, fractions: Array) -> Array:
    """Return the Shapley values of conjunctions of value 1; the first axis of the arguments is the feature."""
    d = len(fractions)
    total: Array | float = 0.0
    for t, weight in zip(*points(d)):
        factors = (1.0 - t) * fractions + t * holds
        # the product of all factors but one, from those before and after it; a division would fail for zero
        product = np.empty_like(factors)
        product[0] = weight
        for k in range(1, d):
            product[k] = product[k - 1] * factors[k - 1]
        after = factors[d - 1].copy()
        for k in range(d - 2, -1, -1):
            product[k] *= after
            after *= factors[k]
        total = total + product
    return np.asarray((holds - fractions) * total)


@lru_cache(maxsize=64)
def points(d: int) -> tuple[list[float], list[float]]:
    """Return the points and weights that integrate a polynomial of degree d - 1 over [0, 1]."""
    x, w = np.polynomial.legendre.leggauss((d + 1) // 2)
    return ((x + 1.0) / 2.0).tolist(), (w / 2.0).tolist()


def add_shapley(conjunctions: Sequence[Conjunction], column: Callable[[int], Array], out: Array) -> None:
    """Add the Shapley values of conjunctions to ``out[row, feature]``; ``column(feature)`` are the codes of all rows.

    They depend only on the features that a row passes. If there are fewer such patterns than rows, they are tabulated.
    """
    n_rows = len(out)
    used = sorted({j for c in conjunctions for j in c.features})
    place = {j: k for k, j in enumerate(used)}
    codes = [column(j) for j in used]
    for alike in _batches(conjunctions, min(n_rows, _ROWS)):
        batch = _Batch(alike, place, n_rows)
        for start in range(0, n_rows, _ROWS):
            rows = slice(start, start + _ROWS)
            of_block = np.array([c[rows] for c in codes], dtype=np.intp)  # the only type of indices of np.take
            found = np.zeros(of_block.shape)
            batch.add(of_block, found)
            out[rows, used] += found.T


def _batches(conjunctions: Sequence[Conjunction], n_rows: int) -> Iterator[list[Conjunction]]:
    """Yield batches of conjunctions of the same number of features, whose arrays stay small."""
    by_length: dict[int, list[Conjunction]] = {}
    for c in conjunctions:
        by_length.setdefault(len(c.features), []).append(c)
    for d, alike in sorted(by_length.items()):
        size = max(1, _CELLS // (d * min(n_rows, 1 << min(d, _MAX_BITS))))
        for start in range(0, len(alike), size):
            yield alike[start : start + size]


class _Batch:
    """Conjunctions of d features each, as arrays whose axes are the feature and the conjunction."""

    def __init__(self, conjunctions: Sequence[Conjunction], place: dict[int, int], n_rows: int) -> None:
        self.places = [[place[j] for j in c.features] for c in conjunctions]
        self.values = np.array([c.value for c in conjunctions])
        self.fractions = np.array([c.fractions for c in conjunctions]).T
        self.allowed = np.array([c.allowed for c in conjunctions])
        d = len(self.fractions)
        self.tables: Array | None = None
        if d <= _MAX_BITS and 1 << d <= n_rows:
            bits = np.arange(d)[:, None]
            patterns = (np.arange(1 << d) >> bits) & 1
            self.tables = self._shapley(patterns[:, None, :]).transpose(1, 0, 2).copy()
            self.bits = self.allowed.astype(np.intp) << bits

    def _shapley(self, holds: Array) -> Array:
        return np.asarray(shapley_of(holds, self.fractions[:, :, None]) * self.values[None, :, None])

    def add(self, codes: Array, out: Array) -> None:
        """Add the Shapley values of rows with these codes ``[feature, row]`` to ``out[feature, row]``."""
        if self.tables is None:
            self._add_directly(codes, out)
            return
        pattern, found = np.empty(codes.shape[1], np.intp), np.empty(codes.shape[1])
        bit = np.empty_like(pattern)
        for places, bits, table in zip(self.places, self.bits, self.tables):
            bits[0].take(codes[places[0]], out=pattern, mode="clip")
            for k in range(1, len(places)):
                pattern |= bits[k].take(codes[places[k]], out=bit, mode="clip")
            for k, j in enumerate(places):
                out[j] += table[k].take(pattern, out=found, mode="clip")

    def _add_directly(self, codes: Array, out: Array) -> None:
        places = np.array(self.places)
        n, d = places.shape
        holds = self.allowed[np.arange(n)[:, None, None], np.arange(d)[None, :, None], codes[places]]
        np.add.at(out, places.T, self._shapley(holds.transpose(1, 0, 2)))
