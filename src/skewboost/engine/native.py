"""The functions of the native core (`core/core.cpp`) and the types of their arguments.

Arrays are passed by address. They must be contiguous and of the type that the function expects, and the caller must
keep them alive.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_double, c_int, c_int64, c_uint64, c_void_p
from functools import cache
from typing import Any

import numpy as np

from skewboost.engine.boundary import CRITERIA, N_CODES, OF_CLASSES, Request
from skewboost.engine.library import load
from skewboost.engine.restrictions import Interactions, Restrictions
from skewboost.engine.split_search import SLACK
from skewboost.typing import Array

_A, _N = c_void_p, c_int64  # an address, a number

# name: (result type, argument types)
_CALLS: dict[str, tuple[Any, list[Any]]] = {
    "start": (None, [_A]),
    "cuts_32": (c_int, [_A, _A, _N, _N, _A, _N, _A, _A, _N]),
    "cuts_64": (c_int, [_A, _A, _N, _N, _A, _N, _A, _A, _N]),
    "encode_32": (c_int, [_A, _N, _N, _N, _N, _A, _A, _A, _A, _A, _N]),
    "encode_64": (c_int, [_A, _N, _N, _N, _N, _A, _A, _A, _A, _A, _N]),
    "store_codes": (None, [_A, _N, _N, _A]),
    "look_up": (None, [_A, _N, _N, _A, _A, _N]),
    "new_training_set": (c_int, [_A, _A]),
    "free_training_set": (None, [_A]),
    "assign": (c_double, [_A, _A]),
    "weights": (None, [_A, _N, _N, _A]),
    "sums_of_leaves": (None, [_A, _A, _N, _A, _A]),
    "reweight_leaves": (c_double, [_A, _A, _A]),
    "sum_vector": (c_int, [_A, _A, _A]),
    "sum_squares": (c_double, [_A, _A, _A]),
    "grow": (c_int, [_A, _A, _N, _N, _A, c_uint64, _A, _A, _A, _N, _A, _A, _A, _A]),
    "grown": (None, [_A, _N, _A, _A, _A, _A]),
    "leaf_values": (None, [_A, _A, _A]),
    "reweight": (c_int, [_A, _A, _A, _A]),
    "reweight_codes": (c_int, [_A, _N, _A, _N, _A, _A, _A]),
    "feature_sums": (c_int, [_A, _N, _A]),
    "root_histogram": (c_int, [_A, _A]),
    "new_branch": (_A, [_A]),
    "fill_root_branch": (c_int, [_A, _A]),
    "split_branch": (c_int, [_A, _A, _N, _A, _A, _N]),
    "search_branch": (c_int, [_A, _A, _A, _N, _A, _A, _A]),
    "branch_totals": (None, [_A, _A, _A]),
    "branch_examples": (c_double, [_A, _A]),
    "forget_branch": (None, [_A]),
    "reweight_branches": (None, [_A, _A, _A, _A, _A, _A]),
    "new_model": (c_int, [_A, _N, _A, _A, _A, _A, _N, _A, _N, _A, _A, _A, _N, _A, _A, _N, _A]),
    "free_model": (None, [_A]),
    "score": (None, [_A, _A, _N, _A, _N]),
    "leaves": (None, [_A, _N, _A, _A, _A, _A, _N]),
    "new_portfolio": (c_int, [_A, _A]),
    "free_portfolio": (None, [_A]),
    "add_member": (c_int, [_A, _A]),
    "train_members": (c_int, [_A, _A, _A, _N]),
    "member_sizes": (None, [_A, _N, _A]),
    "member_trees": (None, [_A, _N, _A, _A, _A, _A, _A, _A, _A]),
    "member_start": (None, [_A, _N, _A]),
    "member_covers": (None, [_A, _N, _A]),
    "member_losses": (None, [_A, _N, _A]),
    "longest_path": (c_int, [_A, _A]),
    "contributions": (c_int, [_A, _A, _N, _N, _A, _A, _N, _A, _N]),
    "main_effects": (c_int, [_A, _A]),
    "member_scores": (None, [_A, _N, _A, _N, _N, _A, _N, _N, _A, _A]),
}


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [_A, ctypes.c_char_p, _A]


class Core:
    """The functions of the core, without the prefix of their names."""

    def __init__(self, library: ctypes.CDLL) -> None:
        for name, (returns, takes) in _CALLS.items():
            function = getattr(library, f"skewboost_{name}")
            function.restype, function.argtypes = returns, takes
            setattr(self, name, function)

    def owner(self, made: ctypes.c_void_p, destructor: Any) -> Any:
        """Return an object that frees an object of the core when it is deleted.

        It runs no Python code to do so: an interruption by Ctrl-C in a finalizer would be printed and ignored.
        """
        return _new_capsule(made, None, ctypes.cast(destructor, c_void_p))

    def __getattr__(self, name: str) -> Any:  # for type checkers: the functions are set by __init__
        raise AttributeError(f"The native core has no function {name!r}.")


@cache
def native_core() -> Core | None:
    """Return the native core, or None if the package was installed without it."""
    library = load()
    if library is None:
        return None
    made = Core(library)
    made.start(ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, c_void_p))
    return made


_byte_of: Any = ctypes.c_char.from_buffer


def address(array: Array) -> int:
    """Return the address of an array's data."""
    try:
        return ctypes.addressof(_byte_of(array))
    except (TypeError, ValueError):  # empty or read-only; this way takes five times as long
        found: int = array.__array_interface__["data"][0]
        return found


def check(status: int) -> None:
    """Raise an error if a function of the core failed; the only possible failure is a lack of memory."""
    if status:
        raise MemoryError("The native core could not allocate memory.")


class Spec(ctypes.Structure):
    """`Spec` of rows.h: the data of a training set."""

    _fields_ = (
        ("words", _A), ("n_rows", _N), ("n_features", _N), ("n_bins", _A), ("kinds", _A),
        ("n_labels", _N), ("n_classes", _N), ("classes", _A), ("examples", _A), ("n_jobs", _N),
    )  # fmt: skip


class Column(ctypes.Structure):
    """`Column` of score.h: the address of the numbers, or codes, of a feature."""

    _fields_ = (("kind", _N), ("data", _A), ("step", _N))


class NativeRequest(ctypes.Structure):
    """`Request` of criterion.h."""

    _fields_ = (
        ("criterion", _N), ("learn", _N), ("min_count", c_double), ("min_weight", c_double),
        ("cost0", c_double), ("cost1", c_double), ("delta", c_double),
    )  # fmt: skip

    @classmethod
    def of(cls, request: Request) -> NativeRequest:
        """Convert a request; limits are lowered a little, so that rounding errors of sums cannot violate them."""
        return cls(
            (*CRITERIA, *OF_CLASSES).index(request.criterion), request.missing == "learn",
            request.min_count * (1 - SLACK), request.min_weight * (1 - SLACK),
            request.costs[0], request.costs[1], request.delta,
        )  # fmt: skip


class NativeInteractions(ctypes.Structure):
    """`Interactions` of interactions.h."""

    _fields_ = (("most", _N), ("n_groups", _N), ("first", _A), ("members", _A), ("column_of", _A))

    @classmethod
    def of(cls, given: Interactions) -> tuple[NativeInteractions, tuple[Array | None, ...]]:
        """Convert interactions; returns the arrays that have to be kept alive, too."""
        first = members = columns = None
        if given.groups:
            first = contiguous(np.cumsum([0, *map(len, given.groups)]), np.int64)
            members = contiguous([j for group in given.groups for j in sorted(group)], np.int32)
        if given.columns:
            columns = contiguous(given.columns, np.int32)
        at = (None if array is None else address(array) for array in (first, members, columns))
        return cls(given.most, len(given.groups), *at), (first, members, columns)


class NativeRestrictions(ctypes.Structure):
    """`Restrictions` of restrict.h."""

    _fields_ = (
        ("n_of_tree", _N), ("n_of_node", _N), ("random_thresholds", _N), ("monotonic", _A),
        ("interactions", NativeInteractions),
    )  # fmt: skip

    @classmethod
    def of(cls, given: Restrictions) -> NativeRestrictions:
        """Convert restrictions; the structure keeps its arrays alive."""
        monotonic = None if given.monotonic is None else contiguous(given.monotonic, np.int8)
        interactions, arrays = NativeInteractions.of(given.interactions)
        made = cls(
            given.n_of_tree, given.n_of_node, given.random_thresholds,
            None if monotonic is None else address(monotonic), interactions,
        )  # fmt: skip
        made.kept = monotonic, arrays
        return made


def contiguous(values: Any, dtype: Any = np.float64) -> Array:
    """Return an array as the core expects it."""
    return np.ascontiguousarray(values, dtype=dtype)


def padded(cuts: Sequence[Array]) -> tuple[Array, Array]:
    """Return the cuts of features as rows of one array, and the number of cuts of each."""
    rows = np.full((len(cuts), N_CODES), np.inf)
    for row, own in zip(rows, cuts):
        row[: len(own)] = own
    return rows, np.array([len(own) for own in cuts], dtype=np.int64)
