r"""Shapley values of conjunctions: exactly who among the features a leaf's value is due to.

A leaf of a tree, or a rule of an alternating decision tree, is a **conjunction**: it adds its value where the codes of
a few features are all among those that it allows. Where only the features in S are known, it is expected to add

.. math:: v(S) = \text{value} \prod_{j \in S} o_j \prod_{j \notin S} z_j

with :math:`o_j \in \{0, 1\}` for whether the row passes the tests on feature j, and :math:`z_j` for the share of the
training examples that do, among those that come to these tests: the path-dependent expectation of [2]_. The Shapley
value [1]_ of feature i is the mean of :math:`v(S \cup i) - v(S)` over the orders in which features become known. As
:math:`s!\,(d-1-s)!/d! = \int_0^1 t^s (1-t)^{d-1-s} dt`, the sum over all subsets of the other features is

.. math:: \phi_i = \text{value}\,(o_i - z_i) \int_0^1 \prod_{j \ne i} \big(o_j t + z_j (1 - t)\big)\, dt ,

a polynomial of degree d - 1 under the integral, for which ⌈d/2⌉ points of Gauss are exact. All terms have one sign, so
no digits are lost. It takes O(d²) per conjunction and pattern of o.

References
----------
.. [1] S. M. Lundberg, S.-I. Lee, "A unified approach to interpreting model predictions", Advances in Neural
   Information Processing Systems (2017).
.. [2] S. M. Lundberg, G. G. Erion, S.-I. Lee, "Consistent individualized feature attribution for tree ensembles",
   arXiv:1802.03888 (2018).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np

from skewboost.typing import Array

_ROWS = 8_192  # rows at a time: their codes and contributions stay in the cache
_CELLS = 1 << 20  # numbers at a time in tables of patterns: 8 MiB
_MAX_BITS = 14  # tests in a conjunction whose outcomes are all tabulated


@dataclass(frozen=True)
class Conjunction:
    """``value`` where the code of each of `features` is allowed, and nothing elsewhere.

    ``allowed[k, code]`` says which codes of ``features[k]`` pass, and ``shares[k]`` is which share of the training
    examples does, among those that come to its tests.
    """

    value: float
    features: tuple[int, ...]  # distinct
    allowed: Array
    shares: Array

    @property
    def mean(self) -> float:
        """What it adds to a training example on average."""
        return self.value * float(self.shares.prod())


@runtime_checkable
class Conjunctive(Protocol):
    """A term that is a sum of conjunctions, and so can be explained."""

    def conjunctions(self) -> list[Conjunction]:
        """What it is the sum of."""
        ...


def shapley_of(holds: Array, shares: Array) -> Array:
    """The Shapley values of conjunctions of value 1; the first axis of the (broadcast) arguments is the feature."""
    d = len(shares)
    total: Array | float = 0.0
    for t, weight in zip(*_points(d)):
        factors = (1.0 - t) * shares + t * holds
        # products of all factors but one, by those before and those after it: dividing would fail at zero
        product = np.empty_like(factors)
        product[0] = weight
        for k in range(1, d):
            product[k] = product[k - 1] * factors[k - 1]
        after = factors[d - 1].copy()
        for k in range(d - 2, -1, -1):
            product[k] *= after
            after *= factors[k]
        total = total + product
    return np.asarray((holds - shares) * total)


@lru_cache(maxsize=64)
def _points(d: int) -> tuple[list[float], list[float]]:
    """Where to evaluate a polynomial of degree d - 1, and with which weights, to integrate it over [0, 1]."""
    x, w = np.polynomial.legendre.leggauss((d + 1) // 2)
    return ((x + 1.0) / 2.0).tolist(), (w / 2.0).tolist()


def add_shapley(conjunctions: Sequence[Conjunction], column: Callable[[int], Array], out: Array) -> None:
    """Add the Shapley values of conjunctions to ``out[row, feature]``; ``column(feature)`` are the codes of all rows.

    They depend only on which tests a row passes. With fewer such patterns than rows they are tabulated and looked up.
    """
    n_rows = len(out)
    used = sorted({j for c in conjunctions for j in c.features})
    place = {j: k for k, j in enumerate(used)}
    codes = [column(j) for j in used]
    for alike in _batches(conjunctions, min(n_rows, _ROWS)):
        batch = _Batch(alike, place, n_rows)
        for start in range(0, n_rows, _ROWS):
            rows = slice(start, start + _ROWS)
            of_block = np.array([c[rows] for c in codes], dtype=np.intp)  # NumPy looks up by no other type
            found = np.zeros(of_block.shape)
            batch.add(of_block, found)
            out[rows, used] += found.T


def _batches(conjunctions: Sequence[Conjunction], n_rows: int) -> Iterator[list[Conjunction]]:
    """Conjunctions of equally many features, so few that their arrays stay small."""
    by_length: dict[int, list[Conjunction]] = {}
    for c in conjunctions:
        by_length.setdefault(len(c.features), []).append(c)
    for d, alike in sorted(by_length.items()):
        size = max(1, _CELLS // (d * min(n_rows, 1 << min(d, _MAX_BITS))))
        for start in range(0, len(alike), size):
            yield alike[start : start + size]


class _Batch:
    """Conjunctions of d features each, as arrays: the first axis is the feature, the second the conjunction."""

    def __init__(self, conjunctions: Sequence[Conjunction], place: dict[int, int], n_rows: int) -> None:
        self.places = [[place[j] for j in c.features] for c in conjunctions]
        self.values = np.array([c.value for c in conjunctions])
        self.shares = np.array([c.shares for c in conjunctions]).T
        self.allowed = np.array([c.allowed for c in conjunctions])
        d = len(self.shares)
        self.tables: Array | None = None
        if d <= _MAX_BITS and 1 << d <= n_rows:
            bits = np.arange(d)[:, None]
            patterns = (np.arange(1 << d) >> bits) & 1
            self.tables = self._shapley(patterns[:, None, :]).transpose(1, 0, 2).copy()
            self.bits = self.allowed.astype(np.intp) << bits

    def _shapley(self, holds: Array) -> Array:
        return np.asarray(shapley_of(holds, self.shares[:, :, None]) * self.values[None, :, None])

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
