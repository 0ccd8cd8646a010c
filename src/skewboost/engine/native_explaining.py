"""Shapley values of trees in the native core."""

from __future__ import annotations

import ctypes
from ctypes import c_int64, c_void_p

import numpy as np

from skewboost.engine.boundary import N_CODES
from skewboost.engine.native import Core, address, check, contiguous
from skewboost.engine.newton import Trees
from skewboost.engine.shapley import points
from skewboost.typing import Array

_A, _N = c_void_p, c_int64
_ARRAYS = ("first_node", "first_leaf", "feature", "threshold", "which", "missing_left", "links")


class _GivenTrees(ctypes.Structure):
    """`GivenTrees` of explain.h."""

    _fields_ = (
        ("n_trees", _N), *((name, _A) for name in _ARRAYS), ("sets", _A), ("covers", _A), ("values", _A),
    )  # fmt: skip


class NativeExplainer:
    """The trees of one output, which the native core explains."""

    def __init__(self, core: Core, trees: Trees, output: int) -> None:
        self.core = core
        bits = np.packbits(trees.sets, axis=1, bitorder="little") if len(trees.sets) else np.zeros((1, 32), np.uint8)
        self._kept = [contiguous(getattr(trees, name), np.int64) for name in _ARRAYS]
        self._kept += [contiguous(bits, np.uint8), contiguous(trees.covers), contiguous(trees.values[:, output])]
        self._trees = _GivenTrees(trees.n_trees, *(address(array) for array in self._kept))

    def contributions(self, words: Array, n_features: int, n_jobs: int) -> Array:
        """Return the contributions ``[row, feature]``; `words` are the codes of the rows."""
        longest, out = ctypes.c_int64(), np.zeros((words.shape[1], n_features))
        check(self.core.longest_path(ctypes.addressof(self._trees), ctypes.addressof(longest)))
        n_rules = max(1, -(-longest.value // 8))  # 4m points integrate products of up to 8m features
        rules, weights = np.zeros((n_rules, 4 * n_rules)), np.zeros((n_rules, 4 * n_rules))
        for m in range(1, n_rules + 1):
            rules[m - 1, : 4 * m], weights[m - 1, : 4 * m] = points(8 * m)
        check(
            self.core.contributions(
                ctypes.addressof(self._trees), address(words), len(out), n_features, address(rules), address(weights),
                rules.shape[1], address(out), n_jobs,
            )
        )  # fmt: skip
        return out

    def main_effects(self, n_features: int) -> Array:
        """Return the effects ``[feature, code]``."""
        effects = np.zeros((n_features, N_CODES))
        check(self.core.main_effects(ctypes.addressof(self._trees), address(effects)))
        return effects
