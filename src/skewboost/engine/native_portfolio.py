"""The portfolio of the compiled engine: the native core trains the members, one per thread."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from ctypes import c_double, c_int64, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np

from skewboost.engine.boundary import N_CODES
from skewboost.engine.native import NativeInteractions, address, check, contiguous
from skewboost.engine.newton import Trees, TreeSettings
from skewboost.engine.partition import View
from skewboost.engine.portfolio import BOOSTER, FOREST, MemberSettings, Portfolio
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.cpu import CpuEngine, Words

_A, _N = c_void_p, c_int64

LONGEST_CALL = 0.3  # seconds of training, after which an interruption by Ctrl-C is heard
LARGE = 10_000_000  # cells of the rows of all members: at first they get a tree each
MOST_TREES = 1000


class _Tree(ctypes.Structure):
    """`TreeSettings` of newton.h."""

    _fields_ = (
        ("max_leaves", _N), ("max_depth", _N), ("n_columns_of_tree", _N), ("n_columns_of_node", _N),
        ("random_thresholds", _N), ("l2", c_double), ("min_hessian", c_double), ("category_l2", c_double),
        ("monotone", _A), ("interactions", NativeInteractions),
    )  # fmt: skip


class _Member(ctypes.Structure):
    """`MemberSpec` of members.h."""

    _fields_ = (
        ("kind", _N), ("seed", c_uint64), ("weights", _A), ("validation", _A), ("row_fraction", c_double),
        ("learning_rate", c_double), ("tree", _Tree),
    )  # fmt: skip


class _Data(ctypes.Structure):
    """`PortfolioSpec` of members.h."""

    _fields_ = (
        ("words", _A), ("n_rows", _N), ("n_features", _N), ("n_bins", _A), ("kinds", _A), ("n_classes", _N),
        ("classes", _A), ("units", _A), ("n_jobs", _N),
    )  # fmt: skip


class NativePortfolio(Portfolio):
    """A portfolio in the native core."""

    def __init__(
        self, engine: CpuEngine, view: View, classes: Array, n_classes: int, units: Array | None = None
    ) -> None:
        super().__init__(view, classes, n_classes, units)
        self.core = engine.core
        assert view.bins is not None
        codes: Words = view.codes  # type: ignore[assignment]
        self._words, self.n_features = codes.words, codes.n_features
        self._n_bins = contiguous(view.bins.n_bins, np.int64)
        self._kinds = contiguous(view.bins.kinds, np.uint8)
        self._classes = contiguous(classes, np.uint16)
        self._units = contiguous(self.units, np.int64)
        self._kept: list[Any] = []  # the arrays of the members, whose addresses the core has
        data = _Data(
            address(self._words), self.n_rows, self.n_features, address(self._n_bins), address(self._kinds),
            n_classes, address(self._classes), address(self._units), engine.n_jobs,
        )  # fmt: skip
        made = ctypes.c_void_p()
        check(self.core.new_portfolio(ctypes.addressof(data), ctypes.addressof(made)))
        self._owner = self.core.owner(made, self.core.free_portfolio)
        self._at = made.value

    def add(self, settings: MemberSettings, weights: Array, validation: Array | None = None) -> int:
        tree = settings.tree
        arrays = {
            "weights": contiguous(weights),
            "validation": None if validation is None else contiguous(validation),
            "monotone": None if tree.monotonic is None else contiguous(tree.monotonic, np.int8),
        }
        interactions, kept = NativeInteractions.of(tree.interactions)
        at = {name: None if array is None else address(array) for name, array in arrays.items()}
        spec = _Member(
            (BOOSTER, FOREST).index(settings.kind), settings.seed, at["weights"], at["validation"],
            settings.row_fraction, settings.learning_rate, self._tree(tree, at["monotone"], interactions),
        )  # fmt: skip
        check(self.core.add_member(self._at, ctypes.addressof(spec)))
        self._kept.append((arrays, kept))
        self.settings.append(settings)
        return len(self.settings) - 1

    def _tree(self, tree: TreeSettings, monotone: int | None, interactions: NativeInteractions) -> _Tree:
        return _Tree(
            tree.max_leaves, tree.max_depth, *tree.n_columns(self.n_features), int(tree.random_thresholds), tree.l2,
            tree.min_hessian, tree.category_l2, monotone, interactions,
        )  # fmt: skip

    def train(self, members: Sequence[int], n_trees: Sequence[int]) -> None:
        """Grow trees in several calls, none of which takes long, because Ctrl-C waits for the end of a call."""
        which, left = contiguous(members, np.int64), contiguous(n_trees, np.int64).copy()
        at_a_time = MOST_TREES if self.n_rows * self.n_features * len(which) < LARGE else 1
        while (counts := np.minimum(left, at_a_time)).any():
            started = time.monotonic()
            check(self.core.train_members(self._at, address(which), address(counts), len(which)))
            left -= counts
            taken = time.monotonic() - started
            at_a_time = min(MOST_TREES, max(1, int(at_a_time * LONGEST_CALL / max(taken, 1e-3))))

    def _sizes(self, member: int) -> list[int]:
        """Return the numbers of trees, nodes, leaves and sets."""
        sizes = np.empty(4, np.int64)
        self.core.member_sizes(self._at, member, address(sizes))
        found: list[int] = sizes.tolist()
        return found

    def covers(self, member: int) -> Array:
        out = np.empty(self._sizes(member)[2])
        self.core.member_covers(self._at, member, address(out))
        return out

    def losses(self, member: int) -> Array:
        out = np.zeros(self._sizes(member)[0])
        if self.settings[member].kind == BOOSTER:
            self.core.member_losses(self._at, member, address(out))
        return out

    def start(self, member: int) -> Array:
        out = np.zeros(self.n_outputs)
        self.core.member_start(self._at, member, address(out))
        return out

    def trees(self, member: int) -> Trees:
        n_trees, n_nodes, n_leaves, n_sets = self._sizes(member)
        first_node, first_leaf = np.zeros(n_trees + 1, np.int64), np.zeros(n_trees + 1, np.int64)
        nodes, gains, bits = np.empty((n_nodes, 6), np.int64), np.empty(n_nodes), np.empty((n_sets, 32), np.uint8)
        values, covers = np.empty((n_leaves, self.n_outputs)), np.empty(n_leaves)
        arrays = (first_node, first_leaf, nodes, gains, bits, values, covers)
        self.core.member_trees(self._at, member, *(address(array) for array in arrays))
        sets = np.unpackbits(bits, axis=1, bitorder="little").astype(np.bool_).reshape(-1, N_CODES)
        feature, threshold, which, missing_left = nodes[:, :4].T
        importances = np.bincount(feature, gains, minlength=self.n_features).astype(np.float64)
        return Trees(
            first_node, first_leaf, feature, threshold, which, missing_left, nodes[:, 4:], sets, values, covers,
            importances,
        )  # fmt: skip

    def scores(
        self, member: int, n_trees: int, values: Array, rows: Array | None = None, *, out_of_bag: bool = False
    ) -> tuple[Array, Array]:
        given = contiguous(values)
        asked = contiguous(np.arange(self.n_rows) if rows is None else rows, np.uint32)
        sums, counts = np.zeros((len(asked), given.shape[1])), np.zeros(len(asked))
        self.core.member_scores(
            self._at, member, address(asked), len(asked), n_trees, address(given), given.shape[1], int(out_of_bag),
            address(sums), address(counts),
        )  # fmt: skip
        return sums, counts
