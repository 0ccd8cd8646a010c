"""The training rows as an engine holds them: their labels, their weights, and the histograms that belong to them."""

from __future__ import annotations

import numpy as np

from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Array, Codes, Engine, Request, Rows
from skewboost.engine.grow_alternating import AlternatingGrowth
from skewboost.engine.grow_stump import grow_stump
from skewboost.engine.grow_tree import grow_tree
from skewboost.engine.growth import EPSILON, Grower, Growth, Limits, Node, direct_error
from skewboost.engine.partition import Partition

# A derived root whose error bound exceeds this share of a class's weight is dropped and summed anew.
MAX_ERROR = 1e-13
# Leaf histograms are kept for the next root while they need no more memory than this (bytes).
MAX_KEPT = 2**28
# Lazily scaled weights are multiplied out before their common factor leaves this range.
MAX_SCALE = 1e100


class LabelSample:
    """Rows of two classes, or of more, with weights that sum to one.

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
        n_classes: int = 2,
    ) -> None:
        self.engine = engine
        self.positive = positive  # the number of the class, where there are more than two
        self.rows: list[Rows] = [engine.rows(positive == k) for k in range(n_classes)]
        self.grower = None
        if bins is not None:
            planes = [[k] for k in range(n_classes)]
            self.grower = Grower(engine, codes, bins, self.rows, planes, examples, n_classes)
        self.n_assigned = 0  # how often all weights were replaced
        self.assign(weights)

    # ------------------------------------------------------------------- weights

    @property
    def _values(self) -> list[Array]:
        """Per group of rows, the weights up to its scale."""
        return [self._stored] * len(self.rows)

    @property
    def weights(self) -> Array:
        """All weights, normalised."""
        return self._stored * self._scale[self.positive.astype(np.intp)]

    def assign(self, weights: Array) -> None:
        """Replace all weights; they are normalised."""
        self._stored = self.engine.array(weights)
        self._stored /= self._stored.sum()
        self._scale = np.ones(len(self.rows))
        self._root: Node | None = None
        self.n_assigned += 1

    # -------------------------------------------------------------------- rounds

    def grow(self, request: Request, limits: Limits) -> Growth:
        """Grow a partition under the current weights."""
        assert self.grower is not None, "a sample without bins cannot be partitioned"
        self.grower.values, self.grower.scale = self._values, self._scale
        root, self._root = self._root, None  # growth may use its histogram up
        return _grow(self.grower, root, request, limits)

    def grow_alternating(self, tree: AlternatingGrowth) -> Growth | None:
        """Find an alternating tree's next split under the current weights."""
        return tree.grow(self._stored, self._scale)

    def one_leaf(self, growth: Growth) -> Growth:
        """The same without its splits."""
        root = growth.parents[0][0]
        sums = growth.sums.sum(axis=0, keepdims=True)
        return Growth(Partition((), (), 1), [root], [], sums, np.zeros_like(growth.importances))

    def root_histogram(self) -> tuple[Array, ...]:
        """The histogram of all rows."""
        assert self.grower is not None
        if self._root is None:
            self.grower.values, self.grower.scale = self._values, self._scale
            self._root = Node(list(self.rows), [len(r) for r in self.rows])
            self.grower.sum_directly(self._root)
        return self._root.histogram

    def reweight(self, growth: Growth, factors: Array) -> float:
        """Multiply the weights of each (leaf, class) by its factor and normalise; returns the sum before that."""
        total = float((growth.sums * factors).sum())
        self._root = self._derived_root(growth, factors / total)
        for group in range(len(self.rows)):
            sizes = [leaf.sizes[group] for leaf in growth.leaves]
            skip = growth.rest.get(group, sizes.index(max(sizes)))
            for k, leaf in enumerate(growth.leaves):
                if k != skip and sizes[k]:
                    self.engine.scale(self._values[group], leaf.rows[group], factors[k, group] / factors[skip, group])
            self._scale[group] *= factors[skip, group] / total
        if not 1 / MAX_SCALE < self._scale.min() <= self._scale.max() < MAX_SCALE:
            self.assign(self.weights)
        return total

    def reweight_codes(self, growth: Growth, partition: Partition, factors: Array) -> float:
        """The same for another partition of the one feature that a stump has split."""
        assert self.grower is not None
        (root, _), split = growth.parents[0], partition.splits[0]
        feature, child = split.feature, split.child
        total = float((self.sums_of_codes(growth, partition) * factors).sum())
        planes, error = {}, np.empty(2)
        for g in (0, 1):
            sizes = np.bincount(child, self.grower.rows_per_code[g, feature], minlength=len(factors))
            rest = int(sizes.argmax())  # the rows of the largest part stay as they are stored
            moves = (factors[:, g] / factors[rest, g])[child]
            n, change = self.engine.move(
                self.grower.codes, self.rows[g], feature, moves, self._stored, float(self._scale[g])
            )
            factor = factors[rest, g] / total
            self._scale[g] *= factor
            planes[g] = np.maximum(root.planes[g] + change, 0.0) * factor
            moved = float(np.abs(change[0]).sum())
            error[g] = factor * (root.error[g] + direct_error(n) * moved + EPSILON * float(planes[g][0].sum()))
        known = self.engine.derives and all(error[g] <= MAX_ERROR * planes[g][0].sum() for g in (0, 1))
        sizes_of_rows = [len(r) for r in self.rows]
        self._root = Node(list(self.rows), sizes_of_rows, planes=planes, error=error, derived=True) if known else None
        if not 1 / MAX_SCALE < self._scale.min() <= self._scale.max() < MAX_SCALE:
            self.assign(self.weights)
        return total

    def sums_of_codes(self, growth: Growth, partition: Partition) -> Array:
        """The class weights of a partition of the one feature that a stump has split: ``[leaf, class]``."""
        (root, _), split = growth.parents[0], partition.splits[0]
        of_class = [np.bincount(split.child, h[split.feature], minlength=partition.n_leaves) for h in root.histogram]
        return np.array(of_class).T

    def reweight_leaves(self, leaf: Array, factors: Array) -> float:
        """The same for a partition that is given as the leaf of every row."""
        weights = self.weights * factors[leaf, self.positive.astype(np.intp)]
        self.assign(weights)
        return float(weights.sum())

    def _derived_root(self, growth: Growth, factors: Array) -> Node | None:
        """Next round's root histogram, out of the leaves' own and their factors; None where it must be summed."""
        if not self.engine.derives or self.grower is None or (growth.rest and not growth.parents):
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
        planes = range(len(self.rows))
        if any(_too_large(error[p], growth, factors, p) for p in planes):
            return None
        return {p: _combined([leaf.planes[p] for leaf in growth.leaves], factors[:, p]) for p in planes}, error


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


class JointSample(LabelSample):
    """Rows with several labels each, on or off, and a weight for every (row, label); all weights sum to one.

    There are two groups of rows per label: those without it and those with it.
    """

    def __init__(
        self, engine: Engine, codes: Codes, bins: Bins | None, has: Array, weights: Array, examples: Array | None = None
    ) -> None:
        assert bins is not None
        self.engine = engine
        self.has = has  # [row, label]
        self.rows = [engine.rows(mask) for own in has.T for mask in (~own, own)]
        self.grower = Grower(engine, codes, bins, self.rows, [[g] for g in range(len(self.rows))], examples)
        self.n_assigned = 0
        self.assign(weights)

    @property
    def _values(self) -> list[Array]:
        return [w for w in self._of_label for _ in range(2)]

    @property
    def weights(self) -> Array:
        """All weights ``[row, label]``, normalised."""
        scale = self._scale.reshape(-1, 2)
        return np.column_stack(
            [w * scale[k][own.astype(np.intp)] for k, (w, own) in enumerate(zip(self._of_label, self.has.T))]
        )

    def reweight_leaves(self, leaf: Array, factors: Array) -> float:
        """Multiply the weights of each (leaf, label, side) by its factor."""
        of_side = factors.reshape(len(factors), -1, 2)[leaf]
        weights = self.weights * np.where(self.has, of_side[..., 1], of_side[..., 0])
        self.assign(weights)
        return float(weights.sum())

    def assign(self, weights: Array) -> None:
        """Replace all weights ``[row, label]``; they are normalised."""
        weights = weights / weights.sum()
        self._of_label = [self.engine.array(w) for w in weights.T]
        self._scale = np.ones(len(self.rows))
        self._root = None
        self.n_assigned += 1


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
