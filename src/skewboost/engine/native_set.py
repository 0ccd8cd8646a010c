"""The training set of the compiled engine: the native core keeps rows, weights and histograms."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skewboost.engine.boundary import ABSTAIN, N_CODES, Request, Split
from skewboost.engine.growing_alternating import AlternatingPartition
from skewboost.engine.native import NativeRequest, NativeRestrictions, Spec, address, check, contiguous
from skewboost.engine.partition import Partition, View
from skewboost.engine.restrictions import Candidates, Restrictions
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.engine.training_set import EXAMPLES, Classes, Growth, Leaves, Limits, RowFunction, TrainingSet, itself
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.cpu import CpuEngine, Words

_BLOCK = 8  # features per word
_CAPACITY = 64  # the number of leaves that one call can return; a larger tree takes a second call
MAX_KEPT = 2**28  # nodes keep their histograms as long as these take no more than this many bytes in all

# The links of stumps with two and with three sides, and which of these abstain.
_NONE = np.zeros(1, np.bool_)
_SIDES = {n: ((tuple(~side for side in range(n)),), np.arange(n) == ABSTAIN) for n in (2, 3)}


class Branch:
    """A node of an alternating tree, which persists over rounds, with its parent and its siblings."""

    def __init__(self, at: int, parent: Branch | None, n_assigned: int) -> None:
        self.at = at  # the address in the core, which frees it together with the training set
        self.parent = parent
        self.family: list[Branch] = []
        self.n_assigned = n_assigned


class NativeSet(TrainingSet):
    """A training set in the native core."""

    block = 65_536

    def __init__(self, engine: CpuEngine, view: View, labels: Array, classes: Classes, examples: Array | None) -> None:
        super().__init__(view, labels, classes, examples)
        self.core = engine.core
        self.n_jobs = engine.n_jobs
        self._n_branches = 0
        self._grown: Partition | None = None  # the partition whose leaves and weights the core still has
        self._listed: Partition | None = None  # the tree whose leaves the core still has
        self._split: tuple[Split, list[Branch]] | None = None
        self._set = self._new_set(examples)
        self._requests: dict[int, tuple[Request, NativeRequest, int]] = {}
        self._restrictions: tuple[Restrictions, NativeRestrictions] | None = None  # the last ones
        # The arrays that calls fill in. Their addresses are computed once, because that takes as long as a call.
        self._sizes = np.empty(2, np.int64)
        self._results = _result_arrays(_CAPACITY, _CAPACITY, max(2, classes.n_planes))
        self._total, self._rescaled = ctypes.c_double(), ctypes.c_int64()
        self._at_sizes = address(self._sizes)
        self._at_results = [address(a) for a in self._results]
        self._at_total, self._at_rescaled = ctypes.addressof(self._total), ctypes.addressof(self._rescaled)
        self.assign(itself, (EXAMPLES,))

    def _new_set(self, examples: Array | None) -> int:
        """Return the address of a training set of the core; without bins it has weights, but no codes."""
        n_labels, n_classes = self.classes
        numbers = self._per_label(self.numbers)
        self._classes = np.ascontiguousarray(numbers.T, dtype=np.uint16)
        if self.bins is None:
            self._words = np.zeros((0, self.n_rows), np.uint64)
            self._n_bins, self._kinds, n_features = np.zeros(1, np.int64), np.zeros(1, np.uint8), 0
        else:
            codes: Words = self.view.codes  # type: ignore[assignment]
            self._words, n_features = codes.words, codes.n_features
            self._n_bins = contiguous(self.bins.n_bins, np.int64)
            self._kinds = contiguous(self.bins.kinds, np.uint8)
        self._examples = None if examples is None else contiguous(examples)
        spec = Spec(
            address(self._words), self.n_rows, n_features, address(self._n_bins), address(self._kinds),
            n_labels, n_classes, address(self._classes), None if self._examples is None else address(self._examples),
            self.n_jobs,
        )  # fmt: skip
        made = ctypes.c_void_p()
        check(self.core.new_training_set(ctypes.addressof(spec), ctypes.addressof(made)))
        self._owner = self.core.owner(made, self.core.free_training_set)
        assert made.value is not None
        return made.value

    # -------------------------------------------------------------------- weights

    def _weights(self, rows: slice) -> Array:
        start, stop, _ = rows.indices(self.n_rows)
        out = np.empty((self.classes.n_labels, stop - start))
        self.core.weights(self._set, start, stop, address(out))
        return out[0] if len(out) == 1 else out.T

    def assign(self, function: RowFunction, inputs: Sequence[str]) -> float:
        whole = np.empty((self.classes.n_labels, self.n_rows))

        def keep(rows: slice, made: tuple[Array, ...]) -> None:
            whole[:, rows] = made[0].T

        self._applied(function, inputs, keep)
        self._grown = None
        self.n_assigned += 1
        return float(self.core.assign(self._set, address(whole)))

    def reweight(self, partition: Partition | Leaves, factors: Array) -> float:
        """Use the leaves that the core still has, or the codes of one feature; else go row by row."""
        grown, self._grown = self._grown, None
        factors = contiguous(factors)
        if partition is grown:
            check(self.core.reweight(self._set, address(factors), self._at_total, self._at_rescaled))
            return self._moved()
        if isinstance(partition, AlternatingPartition) and self._split and partition.splits[-1] is self._split[0]:
            left, right = self._split[1][:ABSTAIN]
            self.core.reweight_branches(
                self._set, left.at, right.at, address(factors), self._at_total, self._at_rescaled
            )
            return self._moved()
        if isinstance(partition, Partition) and partition.one_feature and self.classes.two:
            leaf = contiguous(partition.leaf_of_code(), np.uint8)
            self._listed = None
            check(
                self.core.reweight_codes(
                    self._set, partition.splits[0].feature, address(leaf), partition.n_leaves, address(factors),
                    self._at_total, self._at_rescaled,
                )
            )  # fmt: skip
            return self._moved()
        leaves = contiguous(self._leaves(partition), np.int64)
        self.n_assigned += 1
        return float(self.core.reweight_leaves(self._set, address(leaves), address(factors)))

    def _moved(self) -> float:
        """Return the sum of the weights before they were normalised."""
        if self._rescaled.value:  # weights are stored in other units now, so that kept histograms are invalid
            self.n_assigned += 1
        return self._total.value

    # ----------------------------------------------------------------- partitions

    def _request(self, request: Request) -> int:
        """Return the address of the core's form of a request; learners pass the same object in every round."""
        known = self._requests.get(id(request))
        if known is None or known[0] is not request:
            if len(self._requests) > 8:
                self._requests.clear()
            made = NativeRequest.of(request)
            known = self._requests[id(request)] = request, made, ctypes.addressof(made)
        return known[2]

    def _restricted(self, restrictions: Restrictions) -> int:
        """Return the address of the core's form of restrictions."""
        if self._restrictions is None or self._restrictions[0] is not restrictions:
            assert self.bins is not None
            self._restrictions = restrictions, NativeRestrictions.of(restrictions)
        return ctypes.addressof(self._restrictions[1])

    def grow(
        self,
        request: Request,
        limits: Limits,
        restrictions: Restrictions | None = None,
        key: int = 0,
        responses: tuple[int, int] | tuple[None, None] = (None, None),
    ) -> Growth:
        """Grow a partition in one call; `responses` are the addresses of z and w, if it is for responses."""
        assert self.bins is not None, "a set without bins cannot be partitioned"
        self._grown = self._listed = None
        max_depth, max_leaf_nodes = limits
        status = self.core.grow(
            self._set, self._request(request), max_depth or 0, max_leaf_nodes or 0,
            None if restrictions is None else self._restricted(restrictions), key, *responses, self._at_sizes,
            _CAPACITY, *self._at_results,
        )  # fmt: skip
        if status:
            check(status)
        n_splits, n_leaves = self._sizes.tolist()
        n_planes = self.classes.n_planes if responses[0] is None else 2
        results = self._results if n_leaves <= _CAPACITY else self._large_results(n_splits, n_leaves, n_planes)
        one_split = limits.one_split
        growth = _read_growth(results, n_splits, n_leaves, n_planes, one_split)
        if n_splits and not one_split:
            self._listed = growth.partition
        if responses[0] is None:
            self._grown = growth.partition
        return growth

    def grow_responses(
        self, z: str, w: str, request: Request, limits: Limits, restrictions: Restrictions | None = None, key: int = 0
    ) -> Growth:
        responses, weights = contiguous(self.get(z)), contiguous(self.get(w))
        addresses = address(responses), address(weights)
        growth = self.grow(request, limits, restrictions, key, addresses)
        growth.squares = self.core.sum_squares(self._set, *addresses)
        return growth

    def _large_results(self, n_splits: int, n_leaves: int, n_planes: int) -> tuple[Array, ...]:
        """Return the results of the last call for a tree of more leaves than `_CAPACITY`."""
        results = _result_arrays(n_splits, n_leaves, n_planes)
        self.core.grown(self._set, n_planes, *[address(a) for a in results])
        return results

    def sums(self, partition: Partition | Leaves, times: str | None = None) -> Array:
        """Use the histogram of all rows for a partition on one feature; else go row by row."""
        if times is None and isinstance(partition, Partition) and partition.one_feature and self.classes.two:
            out = np.empty((2, N_CODES))
            self._grown = self._listed = None  # the call discards what was grown
            check(self.core.feature_sums(self._set, partition.splits[0].feature, address(out)))
            leaf = partition.leaf_of_code()
            return np.array([np.bincount(leaf, own, minlength=partition.n_leaves) for own in out]).T
        leaves = contiguous(self._leaves(partition), np.int64)
        factor = None if times is None else contiguous(self.get(times))
        summed = np.empty((partition.n_leaves, self.classes.n_planes))
        self.core.sums_of_leaves(
            self._set, address(leaves), partition.n_leaves, None if factor is None else address(factor), address(summed)
        )
        return summed

    # ---------------------------------------------------------------------- terms

    def evaluate(self, term: Term, name: str) -> None:
        """Use the leaves that the core still has, or the codes of one feature, to overwrite a vector in place."""
        if type(term) is not LeafTerm or term.values.ndim > 1:  # a subclass may have other values in the same leaves
            return super().evaluate(term, name)
        partition = term.partition
        if partition is not self._listed and not partition.one_feature:
            return super().evaluate(term, name)
        self._refuse(name)
        out = self._own(name)
        if partition is self._listed:
            values = contiguous(term.values)
            self.core.leaf_values(self._set, address(values), address(out))
        else:
            values, feature = contiguous(term.values[partition.leaf_of_code()]), partition.splits[0].feature
            self.core.look_up(address(self._words), self.n_rows, feature, address(values), address(out), self.n_jobs)

    # ------------------------------------------------------- histograms and nodes

    def histogram(self, *names: str) -> Array:
        """Return the histogram of all rows; that of the weights is kept for the next round."""
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

    def root(self) -> Branch:
        if not self.classes.two:
            raise NotImplementedError("Nodes need the weights of two classes; call grow instead.")
        made = self._new_branch(None)
        check(self.core.fill_root_branch(self._set, made.at))
        return made

    def _new_branch(self, parent: Branch | None) -> Branch:
        at = self.core.new_branch(self._set)
        if not at:
            raise MemoryError("The native core could not allocate memory for a node.")
        self._n_branches += 1
        return Branch(at, parent, self.n_assigned)

    def _fresh(self, node: Branch) -> int:
        """Return the address of a node, after its histogram was dropped if it is out of date."""
        if node.n_assigned != self.n_assigned:
            node.n_assigned = self.n_assigned
            self.forget(node)
        return int(node.at)

    def search(self, node: Branch, request: Request, within: Candidates | None = None) -> Split | None:
        """Return the best split; the histogram is derived from that of the parent, if it is known."""
        if within is not None:
            raise NotImplementedError("Nodes are searched without restrictions; call grow instead.")
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
        out = np.empty(2)
        self.core.branch_totals(self._set, node.at, address(out))
        return out

    def examples(self, node: Branch) -> float:
        return float(self.core.branch_examples(self._set, node.at))

    def forget(self, node: Branch) -> None:
        self.core.forget_branch(node.at)


def _result_arrays(n_splits: int, n_leaves: int, n_planes: int) -> tuple[Array, ...]:
    """Return the arrays that `skewboost_grown` of core.cpp fills in: splits, values, children and leaves."""
    return (
        np.empty((n_splits, 7), np.int64),
        np.empty((n_splits, 3)),
        np.empty((n_splits, N_CODES), np.uint8),
        np.empty(n_leaves * (n_planes + 2)),
    )


def _read_growth(results: tuple[Array, ...], n_splits: int, n_leaves: int, n_planes: int, one_split: bool) -> Growth:
    """Return a grown partition, given the arrays that the core has filled in."""
    splits, values, children, of_leaves = results
    leaves = of_leaves[: n_leaves * (n_planes + 2)].copy()
    sums = leaves[2 * n_leaves :].reshape(n_leaves, n_planes)
    if n_splits == 1 and one_split:
        feature, threshold, polarity = splits[0, :3].tolist()
        value, before, gained = values[0].tolist()
        split = Split(feature, threshold, children[0].copy(), polarity, value, before)
        links, abstains = _SIDES[n_leaves]
        return Growth(Partition((split,), links, n_leaves), sums, abstains, ((feature, gained),))
    covers = leaves[n_leaves : 2 * n_leaves]
    if n_splits == 0:
        return Growth(Partition((), (), 1, None if one_split else covers), sums, _NONE, ())
    made, all_links, importances = [], [], []
    for child, own, (value, before, gained) in zip(
        children[:n_splits].copy(), splits[:n_splits].tolist(), values[:n_splits].tolist()
    ):
        feature, threshold, polarity, n_children = own[:4]
        made.append(Split(feature, threshold, child, polarity, value, before))
        all_links.append(tuple(own[4 : 4 + n_children]))
        importances.append((feature, gained))
    partition = Partition(tuple(made), tuple(all_links), n_leaves, covers)
    return Growth(partition, sums, leaves[:n_leaves] > 0.0, importances)
