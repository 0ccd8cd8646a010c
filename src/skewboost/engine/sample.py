"""The training rows as an engine holds them: their labels, their weights, and the histograms that belong to them."""

from __future__ import annotations

import numpy as np

from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Array, Codes, Engine, Request, Rows
from skewboost.engine.grow_stump import grow_stump
from skewboost.engine.grow_tree import grow_tree
from skewboost.engine.growth import EPSILON, Grower, Growth, Limits, Node
from skewboost.engine.partition import Partition

# A derived root whose error bound exceeds this share of a class's weight is dropped and summed anew.
MAX_ERROR = 1e-13
# Leaf histograms are kept for the next root while they need no more memory than this (bytes).
MAX_KEPT = 2**28
# Lazily scaled weights are multiplied out before their common factor leaves this range.
MAX_SCALE = 1e100


class LabelSample:
    """Rows of two classes with weights that sum to one.

    Two things make a round cheap. A weight is stored up to a factor per class, so the rows of the largest leaf need
    not be touched when its factor moves the weights. And if a round multiplies weights by ``factor[leaf, class]``,
    the next root histogram is the sum of the leaves' histograms times those factors: no pass over the table.
    """

    def __init__(
        self,
        engine: Engine,
        codes: Codes,
        bins: Bins | None,
        positive: Array,
        weights: Array,
        examples: Array | None = None,
    ) -> None:
        self.engine = engine
        self.positive = positive
        self.rows: list[Rows] = [engine.rows(~positive), engine.rows(positive)]
        self.grower = Grower(engine, codes, bins, self.rows, [[0], [1]], examples) if bins is not None else None
        self.assign(weights)

    # ------------------------------------------------------------------- weights

    @property
    def weights(self) -> Array:
        """All weights, normalised."""
        return self._stored * self._scale[self.positive.astype(np.intp)]

    def assign(self, weights: Array) -> None:
        """Replace all weights; they are normalised."""
        self._stored = self.engine.array(weights)
        self._stored /= self._stored.sum()
        self._scale = np.ones(2)
        self._root: Node | None = None

    # -------------------------------------------------------------------- rounds

    def grow(self, request: Request, limits: Limits) -> Growth:
        """Grow a partition under the current weights."""
        assert self.grower is not None, "a sample without bins cannot be partitioned"
        self.grower.values = [self._stored, self._stored]
        self.grower.scale = self._scale
        root, self._root = self._root, None  # growth may use its histogram up
        return _grow(self.grower, root, request, limits)

    def one_leaf(self, growth: Growth) -> Growth:
        """The same without its splits."""
        root = growth.parents[0][0]
        sums = growth.sums.sum(axis=0, keepdims=True)
        return Growth(Partition((), (), 1), [root], [], sums, np.zeros_like(growth.importances))

    def root_histogram(self) -> tuple[Array, Array]:
        """The histogram of all rows."""
        assert self.grower is not None
        if self._root is None:
            self.grower.values, self.grower.scale = [self._stored, self._stored], self._scale
            self._root = Node(list(self.rows), [len(r) for r in self.rows])
            self.grower.sum_directly(self._root)
        return self._root.histogram

    def reweight(self, growth: Growth, factors: Array) -> float:
        """Multiply the weights of each (leaf, class) by its factor and normalise; returns the sum before that."""
        total = float((growth.sums * factors).sum())
        self._root = self._derived_root(growth, factors / total)
        for group in (0, 1):
            sizes = [leaf.sizes[group] for leaf in growth.leaves]
            skip = growth.rest.get(group, sizes.index(max(sizes)))
            for k, leaf in enumerate(growth.leaves):
                if k != skip and sizes[k]:
                    self.engine.scale(self._stored, leaf.rows[group], factors[k, group] / factors[skip, group])
            self._scale[group] *= factors[skip, group] / total
        if not 1 / MAX_SCALE < self._scale.min() <= self._scale.max() < MAX_SCALE:
            self.assign(self.weights)
        return total

    def reweight_leaves(self, leaf: Array, factors: Array) -> float:
        """The same for a partition that is given as the leaf of every row."""
        weights = self.weights * factors[leaf, self.positive.astype(np.intp)]
        self.assign(weights)
        return float(weights.sum())

    def _derived_root(self, growth: Growth, factors: Array) -> Node | None:
        """Next round's root histogram, out of the leaves' own and their factors; None where it must be summed."""
        if not self.engine.derives or self.grower is None:
            return None
        derive = self._root_after_stump if growth.rest else self._root_after_tree
        known = derive(growth, factors, EPSILON * (growth.sums * factors).sum(axis=0))
        if known is None:
            return None
        planes, error = known
        return Node(list(self.rows), [len(r) for r in self.rows], planes=planes, error=error, derived=True)

    def _root_after_stump(self, growth: Growth, factors: Array, error: Array) -> _Known | None:
        ((root, leaves),) = growth.parents
        planes = {}
        for p, rest in growth.rest.items():
            others = [k for k in range(len(leaves)) if k != rest]
            of_parts = [float(leaves[k].error[p]) for k in others]
            moved = [float(factors[k, p]) for k in (*others, rest)]
            error[p] += moved[-1] * (root.error[p] + sum(of_parts)) + sum(e * f for e, f in zip(of_parts, moved))
            if _too_large(error[p], growth, factors, p):
                return None
            planes[p] = self.engine.reweighted(root.planes[p], [leaves[k].planes[p] for k in others], moved)
        return planes, error

    def _root_after_tree(self, growth: Growth, factors: Array, error: Array) -> _Known | None:
        assert self.grower is not None
        root = growth.parents[0][0] if growth.parents else growth.leaves[0]
        if len(growth.leaves) * sum(h.nbytes for h in root.histogram) > MAX_KEPT:
            return None
        for parent, children in growth.parents:
            self.grower.derive(parent, children)
        error = error + sum(leaf.error * factor for leaf, factor in zip(growth.leaves, factors))
        if any(_too_large(error[p], growth, factors, p) for p in (0, 1)):
            return None
        return {p: _combined([leaf.planes[p] for leaf in growth.leaves], factors[:, p]) for p in (0, 1)}, error


_Known = tuple[dict[int, Array], Array]  # the planes of a histogram, and the bounds on their errors


def _too_large(error: float, growth: Growth, factors: Array, plane: int) -> bool:
    """Whether a bound exceeds what may be carried on."""
    return error > MAX_ERROR * float((growth.sums[:, plane] * factors[:, plane]).sum())


def _combined(histograms: list[Array], factors: Array) -> Array:
    """Σ factor · histogram."""
    out: Array = histograms[0] * factors[0]
    buffer = np.empty_like(out)
    for h, factor in zip(histograms[1:], factors[1:]):
        out += np.multiply(h, factor, out=buffer)
    return out


class ResponseSample:
    """Rows with a response each, for weighted least squares."""

    def __init__(self, engine: Engine, codes: Codes, bins: Bins, n_rows: int, examples: Array | None = None) -> None:
        self.grower = Grower(engine, codes, bins, [engine.rows(np.ones(n_rows, dtype=np.bool_))], [[0, 1]], examples)

    def grow(self, responses: Array, weights: Array, request: Request, limits: Limits) -> Growth:
        """Grow a partition that fits the responses; ``sums[leaf]`` are Σw and Σwz."""
        self.grower.values = [weights, weights * responses]
        return _grow(self.grower, None, request, limits)


def _grow(grower: Grower, root: Node | None, request: Request, limits: Limits) -> Growth:
    return grow_stump(grower, root, request) if limits.one_split else grow_tree(grower, root, request, limits)
