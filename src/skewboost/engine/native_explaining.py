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


def explain_natively(
    core: Core, trees: Trees, output: int, words: Array, n_features: int, n_jobs: int, contributions: Array | None
) -> tuple[Array, float]:
    """Return the main effects ``[feature, code]`` and the mean; adds to `contributions` ``[row, feature]`` if given."""
    kept = [contiguous(getattr(trees, name), np.int64) for name in _ARRAYS]
    bits = np.packbits(trees.sets, axis=1, bitorder="little") if len(trees.sets) else np.zeros((1, 32), np.uint8)
    kept += [contiguous(bits, np.uint8), contiguous(trees.covers), contiguous(trees.values[:, output])]
    given = _GivenTrees(trees.n_trees, *(address(array) for array in kept))
    deepest = min(n_features, max(np.diff(trees.first_node), default=0))  # no path has more features
    rule, weights = np.zeros((deepest + 1, (deepest + 1) // 2 + 1)), np.zeros((deepest + 1, (deepest + 1) // 2 + 1))
    for d in range(1, deepest + 1):
        rule[d, : (d + 1) // 2], weights[d, : (d + 1) // 2] = points(d)
    effects, mean = np.zeros((n_features, N_CODES)), ctypes.c_double()
    check(
        core.explain(
            ctypes.addressof(given), address(words), words.shape[1], n_features, address(rule), address(weights),
            rule.shape[1], None if contributions is None else address(contributions),
            address(effects) if contributions is None else None, ctypes.addressof(mean), n_jobs,
        )
    )  # fmt: skip
    return effects, mean.value
