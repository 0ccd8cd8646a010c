"""A training set whose histograms are derived from earlier ones wherever their rounding allows.

Two things make a round cheap. A weight is stored up to a factor per plane, so the rows of the largest leaf need not be
touched when its factor moves the weights. And if a round multiplies weights by ``factor[leaf, plane]``, the next root
histogram is the sum of the leaves' histograms times those factors: no pass over the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from skewboost.engine.boundary import ABSTAIN, LEFT, N_CODES, RIGHT, Array, Request, Split
from skewboost.engine.grow_alternating import AlternatingPartition
from skewboost.engine.grow_stump import grow_stump
from skewboost.engine.grow_tree import grow_tree
from skewboost.engine.growth import EPSILON, Grower, Grown, Kernels, Rows, direct_error
from skewboost.engine.growth import Node as Counted
from skewboost.engine.partition import Partition, View
from skewboost.engine.training_set import EXAMPLES, Classes, Growth, Leaves, Limits, RowFunction, itself
from skewboost.engine.vectors import Vectors

# A derived root whose error bound exceeds this share of a class's weight is dropped and summed anew.
MAX_ERROR = 1e-13
# Leaf histograms are kept for the next root, and those of nodes, while they need no more memory than this (bytes).
MAX_KEPT = 2**28
# Lazily scaled weights are multiplied out before their common factor leaves this range.
MAX_SCALE = 1e100

_Known = tuple[dict[int, Array], Array]  # the planes of a histogram, and the bounds on their errors


@dataclass(eq=False)
class Handle:
    """A node as others hold it. Its histogram is that of the stored weights, so it stays right while these do."""

    node: Counted
    parent: Handle | None = None
    family: list[Handle] = field(default_factory=list)  # the children of its parent's split, itself included
    n_assigned: int = 0


class DerivingSet(Vectors):
    """Rows in a group per plane, for an engine of fast kernels."""

    block = 16_384

    def __init__(self, engine: Kernels, view: View, labels: Array, classes: Classes, examples: Array | None) -> None:
        super().__init__(view, labels, classes, examples)
        self.engine = engine
        self.n_jobs = engine.n_jobs
        numbers = self._per_label(self.numbers)
        self.rows: list[Rows] = [engine.rows(numbers[:, label] == k) for label, k in self._planes()]
        self._examples = examples
        self._split: tuple[Split, list[Handle]] | None = None
        self._n_handles = 0
        self.n_assigned = 0
        self.assign(itself, (EXAMPLES,))

    @cached_property
    def grower(self) -> Grower:
        """Grows partitions of the classes."""
        assert self.bins is not None, "a set without bins cannot be partitioned"
        planes = [[g] for g in range(len(self.rows))]
        n_once = self.classes.n_classes  # the groups of one label have every row once
        return Grower(self.engine, self.view.codes, self.bins, self.rows, planes, self._examples, n_once)

    @cached_property
    def _response_grower(self) -> Grower:
        assert self.bins is not None, "a set without bins cannot be partitioned"
        every = self.engine.rows(np.ones(self.n_rows, dtype=np.bool_))
        return Grower(self.engine, self.view.codes, self.bins, [every], [[0, 1]], self._examples)

    def _ready(self) -> Grower:
        """The grower under the current weights."""
        self.grower.values, self.grower.scale = self._values, self._scale
        return self.grower

    # -------------------------------------------------------------------- weights

    @property
    def _values(self) -> list[Array]:
        """Per plane, the weights up to its scale."""
        return [self._stored[label] for label, _ in self._planes()]

    def _weights(self, rows: slice) -> Array:
        scale = self._scale.reshape(self.classes)
        numbers = self._per_label(self.numbers)[rows]
        own = [stored[rows] * scale[label][numbers[:, label]] for label, stored in enumerate(self._stored)]
        return own[0] if len(own) == 1 else np.column_stack(own)

    def assign(self, function: RowFunction, inputs: Sequence[str]) -> float:
        """Make a function of vectors the weights, normalised."""
        n_labels = self.classes.n_labels
        whole = np.empty((n_labels, self.n_rows))

        def keep(rows: slice, made: tuple[Array, ...]) -> float:
            whole[:, rows] = made[0].T
            return float(whole[:, rows].sum())

        total = sum(self._applied(function, inputs, keep))
        whole /= total
        self._stored = list(whole)
        self._scale = np.ones(self.classes.n_planes)
        self._root: Counted | None = None
        self._grown: Grown | None = None
        self.n_assigned += 1
        return total

    def _multiply_out(self) -> None:
        """Give up on the common factors before they overflow."""
        if not 1 / MAX_SCALE < self._scale.min() <= self._scale.max() < MAX_SCALE:
            whole = self._weights(slice(None))
            self.put("multiplied", whole)
            self.assign(itself, ("multiplied",))

    def reweight(self, partition: Partition | Leaves, factors: Array) -> float:
        """By the leaves that are known, by the codes of one feature, or else row by row."""
        grown, self._grown = self._grown, None
        if grown is not None and grown.partition is partition:
            return self._reweight_leaves(grown, factors)
        last = None if self._split is None else self._split[0]
        if isinstance(partition, AlternatingPartition) and partition.splits[-1] is last:
            return self._reweight_sides(factors)
        root = self._known_root(grown)
        if isinstance(partition, Partition) and not partition.splits:
            return self._reweight_all(root, factors)
        if isinstance(partition, Partition) and partition.one_feature and root is not None and self.classes.two:
            return self._reweight_codes(root, partition.splits[0].feature, partition.leaf_of_code(), factors)
        number = self._per_label(self.numbers)
        plane = self.classes.n_classes * np.arange(self.classes.n_labels) + number
        weights = self._weights(slice(None))
        moved = weights * factors[self._leaves(partition)[:, None], plane].reshape(weights.shape)
        self.put("multiplied", moved)
        return self.assign(itself, ("multiplied",))

    def _leaves(self, partition: Partition | Leaves) -> Array:
        if isinstance(partition, Leaves):
            return self.get(partition.name).astype(np.intp)
        return partition.leaves(self.view)

    def _known_root(self, grown: Grown | None) -> Counted | None:
        """The histogram of all rows under the current weights, if it is at hand."""
        if self._root is not None:
            return self._root
        if grown is None or len(grown.partition.splits) != 1 or not grown.parents:
            return None
        root = grown.parents[0][0]
        return root if len(root.planes) == self.classes.n_planes else None

    def _reweight_leaves(self, grown: Grown, factors: Array) -> float:
        total = float((grown.sums * factors).sum())
        self._root = self._derived_root(grown, factors / total)
        values = self._values
        for group in range(len(self.rows)):
            sizes = [leaf.sizes[group] for leaf in grown.leaves]
            skip = grown.rest.get(group, sizes.index(max(sizes)))
            for k, leaf in enumerate(grown.leaves):
                if k != skip and sizes[k]:
                    self.engine.scale(values[group], leaf.rows[group], factors[k, group] / factors[skip, group])
            self._scale[group] *= factors[skip, group] / total
        self._multiply_out()
        return total

    def _reweight_sides(self, factors: Array) -> float:
        """The rows of the node that was split last, and all others by the last factor."""
        assert self._split is not None
        grower = self._stored_grower()
        sides = [side.node for side in self._split[1][:ABSTAIN]]
        whole = self._class_totals(None)
        of_sides = [self._scale * grower.totals(side) for side in sides]
        total = float(((whole - sum(of_sides)) * factors[-1]).sum())
        total += sum(float((own * f).sum()) for own, f in zip(of_sides, factors))
        self._root = None
        values = self._values
        for group in range(len(self.rows)):
            for side, f in zip(sides, factors):
                self.engine.scale(values[group], side.rows[group], f[group] / factors[-1, group])
            self._scale[group] *= factors[-1, group] / total
        self._multiply_out()
        return total

    def _reweight_all(self, root: Counted | None, factors: Array) -> float:
        """All rows are in one leaf."""
        whole = self._class_totals(root)
        total = float((whole * factors[0]).sum())
        moved = factors[0] / total
        self._scale *= moved
        if root is not None:
            root.planes = {p: h * moved[p] for p, h in root.planes.items()}
            root.error = root.error * moved + EPSILON * whole * moved
        self._root = root
        self._multiply_out()
        return total

    def _class_totals(self, root: Counted | None) -> Array:
        if root is not None:
            return np.array([h[0].sum() for h in root.histogram])
        return self._scale * [self.engine.total(v, rows) for v, rows in zip(self._values, self.rows)]

    def _reweight_codes(self, root: Counted, feature: int, leaf: Array, factors: Array) -> float:
        """Another partition of one feature than that which was grown."""
        grower = self._ready()
        total = float((_sums_of_codes(root, feature, leaf, len(factors)) * factors).sum())
        planes, error = {}, np.empty(2)
        for g in (0, 1):
            sizes = np.bincount(leaf, grower.rows_per_code[g, feature], minlength=len(factors))
            rest = int(sizes.argmax())  # the rows of the largest part stay as they are stored
            moves = (factors[:, g] / factors[rest, g])[leaf]
            n, change = self.engine.move(
                grower.codes, self.rows[g], feature, moves, self._stored[0], float(self._scale[g])
            )
            factor = factors[rest, g] / total
            self._scale[g] *= factor
            planes[g] = np.maximum(root.planes[g] + change, 0.0) * factor
            moved = float(np.abs(change[0]).sum())
            error[g] = factor * (root.error[g] + direct_error(n) * moved + EPSILON * float(planes[g][0].sum()))
        known = self.engine.derives and all(error[g] <= MAX_ERROR * planes[g][0].sum() for g in (0, 1))
        self._root = self._node(planes, error) if known else None
        self._multiply_out()
        return total

    def _node(self, planes: dict[int, Array], error: Array) -> Counted:
        return Counted(list(self.rows), [len(r) for r in self.rows], planes=planes, error=error, derived=True)

    def _derived_root(self, grown: Grown, factors: Array) -> Counted | None:
        """Next round's root histogram, out of the leaves' own and their factors; None where it must be summed."""
        if not self.engine.derives or (grown.rest and not grown.parents):
            return None
        derive = self._root_after_stump if grown.rest else self._root_after_tree
        known = derive(grown, factors, EPSILON * (grown.sums * factors).sum(axis=0))
        return None if known is None else self._node(*known)

    def _root_after_stump(self, grown: Grown, factors: Array, error: Array) -> _Known | None:
        ((root, leaves),) = grown.parents
        planes = {}
        for p, rest in grown.rest.items():
            others = [k for k in range(len(leaves)) if k != rest]
            of_parts = [float(leaves[k].error[p]) for k in others]
            moved = [float(factors[k, p]) for k in (*others, rest)]
            error[p] += moved[-1] * (root.error[p] + sum(of_parts)) + sum(e * f for e, f in zip(of_parts, moved))
            if _too_large(error[p], grown, factors, p):
                return None
            planes[p] = self.engine.reweighted(root.planes[p], [leaves[k].planes[p] for k in others], moved)
        return planes, error

    def _root_after_tree(self, grown: Grown, factors: Array, error: Array) -> _Known | None:
        root = grown.parents[0][0] if grown.parents else grown.leaves[0]
        if len(grown.leaves) * sum(h.nbytes for h in root.histogram) > MAX_KEPT:
            return None
        for parent, children in grown.parents:
            self.grower.derive(parent, children)
        error = error + sum(leaf.error * factor for leaf, factor in zip(grown.leaves, factors))
        planes = range(len(self.rows))
        if any(_too_large(error[p], grown, factors, p) for p in planes):
            return None
        return {p: _combined([leaf.planes[p] for leaf in grown.leaves], factors[:, p]) for p in planes}, error

    # ----------------------------------------------------------------- partitions

    def grow(self, request: Request, limits: Limits) -> Growth:
        """From the root histogram that is known, if it is."""
        root, self._root = self._root, None  # growth may use its histogram up
        self._grown = _grow(self._ready(), root, request, limits)
        return _as_data(self._grown)

    def grow_responses(self, z: str, w: str, request: Request, limits: Limits) -> Growth:
        """From a histogram that is always summed."""
        grower = self._response_grower
        self.map(np.multiply, (w, z), ("w z",))
        grower.values = [np.ascontiguousarray(self.get(w)), self.get("w z")]
        return _as_data(_grow(grower, None, request, limits))

    def sums(self, partition: Partition | Leaves, times: str | None = None) -> Array:
        """What is known already, or else the sums over all rows."""
        if times is None and isinstance(partition, Partition):
            if self._grown is not None and self._grown.partition is partition:
                return self._grown.sums
            root = self._known_root(self._grown)
            if not partition.splits:
                return self._class_totals(root)[None]
            if partition.one_feature and root is not None:
                return _sums_of_codes(root, partition.splits[0].feature, partition.leaf_of_code(), partition.n_leaves)
        weights = self._weights(slice(None))
        if times is not None:
            weights = weights * self._shown(self.get(times))
        n_planes = self.classes.n_planes
        number = self._per_label(self.numbers)
        plane = self.classes.n_classes * np.arange(self.classes.n_labels) + number
        cell = n_planes * self._leaves(partition)[:, None] + plane
        summed = np.bincount(cell.ravel(), weights.ravel(), minlength=partition.n_leaves * n_planes)
        return summed.reshape(partition.n_leaves, n_planes)

    def count(self, partition: Partition) -> Array:
        """Follow the rows from split to split; those of the first one are all."""
        if partition.one_feature:
            return self.grower.examples_per_code[[partition.splits[0].feature]]
        examples = self.get(EXAMPLES)
        counts = np.zeros((len(partition.splits), N_CODES))
        for k, here in enumerate(partition.rows_at_splits(self.view)):
            codes = self.view.column(partition.splits[k].feature)[here]
            counts[k] = np.bincount(codes, examples[here], minlength=N_CODES)
        return counts

    # ------------------------------------------------------- histograms and nodes

    def histogram(self, *names: str) -> Array:
        """That of all rows, which is kept for the next round."""
        assert self.bins is not None
        n_features = self.bins.n_features
        if names:
            (rows,) = self._response_grower.rows
            vectors = [self.engine.array(self.get(name)) for name in names]
            return self.engine.histogram(self.view.codes, rows, *vectors)[:, :n_features]
        if self._root is None:
            self._root = Counted(list(self.rows), [len(r) for r in self.rows])
            self._ready().sum_directly(self._root)
        return np.array(self._root.histogram)[:, :n_features]

    def _stored_grower(self) -> Grower:
        """The grower under the weights as they are stored: those of nodes stay right while these do."""
        self.grower.values, self.grower.scale = self._values, np.ones(self.classes.n_planes)
        return self.grower

    def root(self) -> Handle:
        """All rows."""
        self._n_handles += 1
        return Handle(Counted(list(self.rows), [len(r) for r in self.rows]), n_assigned=self.n_assigned)

    def search(self, node: Handle, request: Request) -> Split | None:
        """The best split; a histogram comes from the parent's where that is known."""
        grower, own, parent = self._stored_grower(), self._fresh(node), node.parent
        if not own.planes and parent is not None and self._fresh(parent).planes and self.engine.derives:
            grower.derive(parent.node, [self._fresh(n) for n in node.family])
        if not own.planes:
            grower.sum_directly(own)
        own.counts = grower.count(own) if request.min_count > 0 else None
        for _ in range(2):
            seen = Counted(own.rows, own.sizes, error=own.error * self._scale, derived=own.derived)
            planes = [h * self._scale[p] for p, h in enumerate(own.histogram)]
            split = self.engine.search(planes, own.counts, grower.error_of(seen), grower.bins, request)
            if split is None or not split.doubtful:
                break
            grower.sum_directly(own)
        if self._n_handles * sum(h.nbytes for h in own.planes.values()) > MAX_KEPT:
            own.planes = {}
        return split

    def _fresh(self, handle: Handle) -> Counted:
        """A node whose histogram is that of the weights as they are, if it has one."""
        if handle.n_assigned != self.n_assigned:
            handle.n_assigned = self.n_assigned
            self.forget(handle)
        return handle.node

    def split(self, node: Handle, split: Split) -> list[Handle]:
        """The rows of each child."""
        sides = [LEFT, RIGHT] + [ABSTAIN] * bool((split.child == ABSTAIN).any())
        routed = [self.engine.route(self.view.codes, rows, split, sides) for rows in node.node.rows]
        family: list[Handle] = []
        for side in sides:
            rows = [r[side] for r in routed]
            child = Counted(rows, [len(r) for r in rows], 1, abstains=side == ABSTAIN)
            family.append(Handle(child, node, family, self.n_assigned))
        self._n_handles += len(family)
        self._split = split, family
        return family

    def totals(self, node: Handle) -> Array:
        """A node's sums."""
        return self._scale * self._stored_grower().totals(self._fresh(node))

    def examples(self, node: Handle) -> float:
        """How many examples there are in a node."""
        return self.grower.examples_in(node.node)

    def forget(self, node: Handle) -> None:
        """Drop the histogram of a node."""
        node.node.planes, node.node.derived = {}, False


def _grow(grower: Grower, root: Counted | None, request: Request, limits: Limits) -> Grown:
    return grow_stump(grower, root, request) if limits.one_split else grow_tree(grower, root, request, limits)


def _as_data(grown: Grown) -> Growth:
    return Growth(grown.partition, grown.sums, grown.abstains, grown.importances)


def _sums_of_codes(root: Counted, feature: int, leaf: Array, n_leaves: int) -> Array:
    """The class weights of a partition of one feature, out of the histogram of all rows."""
    return np.array([np.bincount(leaf, h[feature], minlength=n_leaves) for h in root.histogram]).T


def _too_large(error: float, grown: Grown, factors: Array, plane: int) -> bool:
    """Whether a bound exceeds what may be carried on."""
    return error > MAX_ERROR * float((grown.sums[:, plane] * factors[:, plane]).sum())


def _combined(histograms: list[Array], factors: Array) -> Array:
    """Σ factor · histogram."""
    out: Array = histograms[0] * factors[0]
    buffer = np.empty_like(out)
    for h, factor in zip(histograms[1:], factors[1:]):
        out += np.multiply(h, factor, out=buffer)
    return out
