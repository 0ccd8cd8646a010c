"""The training set of the compiled engine: rows, weights and histograms live in the native core."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skewboost.engine.boundary import ABSTAIN, N_CODES, Request, Split
from skewboost.engine.grow_alternating import AlternatingPartition
from skewboost.engine.native import Core, NativeRequest, Spec, address, check, contiguous
from skewboost.engine.partition import Partition, View
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.engine.training_set import EXAMPLES, Classes, Growth, Leaves, Limits, RowFunction, itself
from skewboost.engine.vectors import Vectors
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.cpu import CpuEngine, Words

_BLOCK = 8  # features per word
_ROOM = 64  # leaves of a tree that are written at once; a larger one takes a second call
MAX_KEPT = 2**28  # histograms of nodes are kept while those of all need no more memory than this (bytes)


# Of stumps with two sides, and with a third for who abstains: the links, and which leaves abstain.
_NONE = np.zeros(1, np.bool_)
_SIDES = {n: ((tuple(~side for side in range(n)),), np.arange(n) == ABSTAIN) for n in (2, 3)}


class Branch:
    """A node that lives on from round to round, with its parent and the siblings it was split off with."""

    def __init__(self, at: int, parent: Branch | None, n_assigned: int) -> None:
        self.at = at  # in the core, where it lives as long as its training set
        self.parent = parent
        self.family: list[Branch] = []
        self.n_assigned = n_assigned


class NativeSet(Vectors):
    """Rows in the native core."""

    block = 65_536

    def __init__(
        self,
        core: Core,
        engine: CpuEngine,
        view: View,
        labels: Array,
        classes: Classes,
        examples: Array | None,
    ) -> None:
        super().__init__(view, labels, classes, examples)
        self.core = core
        self.n_jobs = engine.n_jobs
        self.n_assigned = 0
        self._n_branches = 0
        self._grown: Partition | None = None  # whose leaves the core knows, and their weights
        self._listed: Partition | None = None  # a tree whose leaves the core knows
        self._split: tuple[Split, list[Branch]] | None = None
        self._given = examples
        self._open()
        self._requests: dict[int, tuple[Request, NativeRequest, int]] = {}
        n_planes = max(2, classes.n_planes)
        # What a call fills in. Addresses are looked up once: that takes as long as a call.
        self._sizes, self._splits = np.empty(2, np.int64), np.empty((_ROOM, 7), np.int64)
        self._values, self._children = np.empty((_ROOM, 3)), np.empty((_ROOM, N_CODES), np.uint8)
        self._leaves_room = np.empty(_ROOM * (n_planes + 2))
        self._total, self._settled = ctypes.c_double(), ctypes.c_int64()
        self._at_sizes = address(self._sizes)
        results = self._splits, self._values, self._children, self._leaves_room
        self._at_results = [address(a) for a in results]
        self._at_total, self._at_settled = ctypes.addressof(self._total), ctypes.addressof(self._settled)
        self.assign(itself, (EXAMPLES,))

    def _open(self) -> None:
        """Hand the rows over; a set without bins has no codes, and its weights only."""
        n_labels, n_classes = self.classes
        numbers = self._per_label(self.numbers)
        self._classes = np.ascontiguousarray(numbers.T, dtype=np.uint16)
        if self.bins is None:
            self._words = np.zeros((0, self.n_rows), np.uint64)
            self._n_bins, self._nominal, n_features = np.zeros(1, np.int64), np.zeros(1, np.uint8), 0
        else:
            codes: Words = self.view.codes  # type: ignore[assignment]
            self._words, n_features = codes.words, codes.n_features
            self._n_bins = contiguous(self.bins.n_bins, np.int64)
            self._nominal = contiguous(self.bins.nominal, np.uint8)
        self._examples = None if self._given is None else contiguous(self._given)
        examples = None if self._examples is None else address(self._examples)
        spec = Spec(
            address(self._words), self.n_rows, n_features, address(self._n_bins), address(self._nominal),
            n_labels, n_classes, address(self._classes), examples, self.n_jobs,
        )  # fmt: skip
        made = ctypes.c_void_p()
        check(self.core.open(ctypes.addressof(spec), ctypes.addressof(made)))
        self._owner = self.core.owner(made, self.core.close)
        self._set = made.value

    # -------------------------------------------------------------------- weights

    def _weights(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(self.n_rows)
        out = np.empty((self.classes.n_labels, stop - start))
        self.core.weights(self._set, start, stop, address(out))
        return out[0] if len(out) == 1 else out.T

    def assign(self, function: RowFunction, inputs: Sequence[str]) -> float:
        """Make a function of vectors the weights, normalised."""
        whole = np.empty((self.classes.n_labels, self.n_rows))

        def keep(rows: slice, made: tuple[Array, ...]) -> None:
            whole[:, rows] = made[0].T

        self._applied(function, inputs, keep)
        self._grown = None
        self.n_assigned += 1
        return float(self.core.assign(self._set, address(whole)))

    def reweight(self, partition: Partition | Leaves, factors: Array) -> float:
        """By the leaves that the core knows, by the codes of one feature, or else row by row."""
        grown, self._grown = self._grown, None
        factors = contiguous(factors)
        if partition is grown:
            check(self.core.reweight(self._set, address(factors), self._at_total, self._at_settled))
            return self._moved()
        if isinstance(partition, AlternatingPartition) and self._split and partition.splits[-1] is self._split[0]:
            left, right = self._split[1][:ABSTAIN]
            self.core.reweight_branches(
                self._set, left.at, right.at, address(factors), self._at_total, self._at_settled
            )
            return self._moved()
        if isinstance(partition, Partition) and partition.one_feature and self.classes.two:
            leaf = contiguous(partition.leaf_of_code(), np.uint8)
            self._listed = None
            check(
                self.core.reweight_codes(
                    self._set, partition.splits[0].feature, address(leaf), partition.n_leaves, address(factors),
                    self._at_total, self._at_settled,
                )
            )  # fmt: skip
            return self._moved()
        leaves = self._leaves(partition)
        self.n_assigned += 1
        return float(self.core.reweight_leaves(self._set, address(leaves), address(factors)))

    def _moved(self) -> float:
        """The sum of the weights before they were normalised."""
        if self._settled.value:  # stored in other units now: what others have kept of them is of no use
            self.n_assigned += 1
        return self._total.value

    def _leaves(self, partition: Partition | Leaves) -> Array:
        if isinstance(partition, Leaves):
            return contiguous(self.get(partition.name), np.int64)
        return contiguous(partition.leaves(self.view), np.int64)

    # ----------------------------------------------------------------- partitions

    def _request(self, request: Request) -> int:
        """The address of a request in numbers; learners ask the same one round after round."""
        known = self._requests.get(id(request))
        if known is None or known[0] is not request:
            if len(self._requests) > 8:
                self._requests.clear()
            made = NativeRequest.of(request)
            known = self._requests[id(request)] = request, made, ctypes.addressof(made)
        return known[2]

    def grow(self, request: Request, limits: Limits) -> Growth:
        """In one call."""
        self._grown = None
        growth = self._grow(request, limits, None, None, self.classes.n_planes)
        self._grown = growth.partition
        return growth

    def grow_responses(self, z: str, w: str, request: Request, limits: Limits) -> Growth:
        """In one call."""
        responses, weights = contiguous(self.get(z)), contiguous(self.get(w))
        self._grown = None
        at = address(responses), address(weights)
        growth = self._grow(request, limits, *at, 2)
        growth.squares = self.core.sum_squares(self._set, *at)
        return growth

    def _grow(self, request: Request, limits: Limits, z: int | None, w: int | None, n_planes: int) -> Growth:
        assert self.bins is not None, "a set without bins cannot be partitioned"
        self._listed = None
        depth, most = limits
        status = self.core.grow(
            self._set, self._request(request), depth or 0, most or 0, z, w, self._at_sizes, _ROOM, *self._at_results
        )
        if status:
            check(status)
        n_splits, n_leaves = self._sizes.tolist()
        room = self._splits, self._values, self._children, self._leaves_room
        if n_leaves > _ROOM:
            room = (
                np.empty((n_splits, 7), np.int64), np.empty((n_splits, 3)), np.empty((n_splits, N_CODES), np.uint8),
                np.empty(n_leaves * (n_planes + 2)),
            )  # fmt: skip
            self.core.grown(self._set, n_planes, *[address(a) for a in room])
        leaves = room[3][: n_leaves * (n_planes + 2)].copy()
        sums = leaves[2 * n_leaves :].reshape(n_leaves, n_planes)
        if n_splits == 1 and limits.one_split:
            own = room[0][0].tolist()
            value, before, gained = room[1][0].tolist()
            split = Split(own[0], own[1], room[2][0].copy(), own[2], value, before)
            sides, abstains = _SIDES[n_leaves]
            return Growth(Partition((split,), sides, n_leaves), sums, abstains, ((own[0], gained),))
        covers = leaves[n_leaves : 2 * n_leaves]
        if n_splits == 0:
            return Growth(Partition((), (), 1, None if limits.one_split else covers), sums, _NONE, ())
        splits, links, importances = [], [], []
        children = room[2][:n_splits].copy()
        for child, own, (value, before, gained) in zip(
            children, room[0][:n_splits].tolist(), room[1][:n_splits].tolist()
        ):
            feature, threshold, polarity, n_children = own[:4]
            splits.append(Split(feature, threshold, child, polarity, value, before))
            links.append(tuple(own[4 : 4 + n_children]))
            importances.append((feature, gained))
        partition = self._listed = Partition(tuple(splits), tuple(links), n_leaves, covers)
        return Growth(partition, sums, leaves[:n_leaves] > 0.0, importances)

    def sums(self, partition: Partition | Leaves, times: str | None = None) -> Array:
        """From the histogram of all rows where that tells, else row by row."""
        if times is None and isinstance(partition, Partition) and partition.one_feature and self.classes.two:
            out = np.empty((2, N_CODES))
            self._grown = self._listed = None  # the histogram of all rows takes the place of what was grown
            check(self.core.feature_sums(self._set, partition.splits[0].feature, address(out)))
            leaf = partition.leaf_of_code()
            return np.array([np.bincount(leaf, own, minlength=partition.n_leaves) for own in out]).T
        leaves = self._leaves(partition)
        factor = None if times is None else contiguous(self.get(times))
        summed = np.empty((partition.n_leaves, self.classes.n_planes))
        self.core.sums_of_leaves(
            self._set, address(leaves), partition.n_leaves, None if factor is None else address(factor), address(summed)
        )
        return summed

    # ---------------------------------------------------------------------- terms

    def evaluate(self, term: Term, name: str) -> None:
        """By the leaves that the core knows, or the codes of one feature, into the vector that is there."""
        if type(term) is not LeafTerm or term.values.ndim > 1:  # a subclass may say something else of the same leaves
            return super().evaluate(term, name)
        partition = term.partition
        if partition is not self._listed and not partition.one_feature:
            return super().evaluate(term, name)
        self._refuse(name)
        out = self._own(name)
        if partition is self._listed:
            values = contiguous(term.values)
            self.core.spread(self._set, address(values), address(out))
        else:
            values, feature = contiguous(term.values[partition.leaf_of_code()]), partition.splits[0].feature
            self.core.look_up(address(self._words), self.n_rows, feature, address(values), address(out), self.n_jobs)

    # ------------------------------------------------------- histograms and nodes

    def histogram(self, *names: str) -> Array:
        """That of all rows, which is kept for the next round."""
        assert self.bins is not None
        n_features = self.bins.n_features
        n_padded = _BLOCK * len(self._words)
        if names:
            found = np.zeros((len(names), n_padded, N_CODES))
            for out, name in zip(found, names):
                vector = contiguous(self.get(name))
                check(self.core.sum_vector(self._set, address(vector), address(out)))
            return found[:, :n_features]
        at = ctypes.c_void_p()
        self._grown = self._listed = None
        check(self.core.root_histogram(self._set, ctypes.addressof(at)))
        n_labels, n_classes = self.classes
        shape = (n_labels, n_padded, n_classes, N_CODES)
        whole = np.ctypeslib.as_array(ctypes.cast(at, ctypes.POINTER(ctypes.c_double)), shape)
        return np.moveaxis(whole, 2, 1).reshape(n_labels * n_classes, n_padded, N_CODES)[:, :n_features].copy()

    def root(self, *names: str) -> Branch:
        """All rows, by their weights."""
        if names or not self.classes.two:
            raise NotImplementedError("Nodes are of the weights of two classes; for others call grow.")
        made = self._new_branch(None)
        check(self.core.open_branch(self._set, made.at))
        return made

    def _new_branch(self, parent: Branch | None) -> Branch:
        at = self.core.new_branch(self._set)
        if not at:
            raise MemoryError("The native core could not get the memory for a node.")
        self._n_branches += 1
        return Branch(at, parent, self.n_assigned)

    def _fresh(self, node: Branch) -> int:
        """A node whose histogram is that of the weights as they are stored, if it has one."""
        if node.n_assigned != self.n_assigned:
            node.n_assigned = self.n_assigned
            self.forget(node)
        return int(node.at)

    def search(self, node: Branch, request: Request) -> Split | None:
        """The best split; a histogram comes from the parent's where that is known."""
        for one in (node.parent, *node.family):
            if one is not None:
                self._fresh(one)
        child, found, values = np.empty(N_CODES, np.uint8), np.empty(3, np.int64), np.empty(2)
        size = 2 * 8 * N_CODES * _BLOCK * len(self._words)
        keep = self._n_branches * size <= MAX_KEPT
        check(
            self.core.search_branch(
                self._set, self._fresh(node), self._request(request), keep, address(found), address(values),
                address(child),
            )
        )  # fmt: skip
        feature, threshold, polarity = found.tolist()
        if feature < 0:
            return None
        return Split(feature, threshold, child, polarity, *values.tolist())

    def split(self, node: Branch, split: Split) -> list[Branch]:
        """The rows of each child."""
        n_sides = 3 if (split.child == ABSTAIN).any() else 2
        family = [self._new_branch(node) for _ in range(n_sides)]
        sides = (ctypes.c_void_p * n_sides)(*(side.at for side in family))
        child = contiguous(split.child, np.uint8)
        check(
            self.core.split_branch(self._set, node.at, split.feature, address(child), ctypes.addressof(sides), n_sides)
        )
        for side in family:
            side.family = family
        self._split = split, family
        return family

    def totals(self, node: Branch) -> Array:
        """A node's sums."""
        out = np.empty(2)
        self.core.branch_totals(self._set, node.at, address(out))
        return out

    def examples(self, node: Branch) -> float:
        """How many examples there are in a node."""
        return float(self.core.branch_examples(self._set, node.at))

    def forget(self, node: Branch) -> None:
        """Drop the histogram of a node."""
        self.core.forget_branch(node.at)
