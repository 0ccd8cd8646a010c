"""Code matrices: which classes each two-class problem separates.

A code is a matrix ``[class, column]`` of -1, 0 and +1. Its rows are the codewords of the classes, and each column is a
two-class problem, from which classes with 0 are left out.

References
----------
.. [dietterich1995] T. G. Dietterich, G. Bakiri, "Solving multiclass learning problems via error-correcting output
   codes", Journal of Artificial Intelligence Research 2 (1995) 263-286.
.. [allwein2000] E. L. Allwein, R. E. Schapire, Y. Singer, "Reducing multiclass to binary: a unifying approach for
   margin classifiers", Journal of Machine Learning Research 1 (2000) 113-141.
.. [macwilliams1977] F. J. MacWilliams, N. J. A. Sloane, "The theory of error-correcting codes", North-Holland (1977),
   chapter 13.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.names import in_short
from skewboost.typing import Array

MAX_EXHAUSTIVE = 11  # classes; the code then has 1023 columns
N_TRIES = 1000  # random codes of which the best is chosen; fewer for very many classes
MAX_PRODUCTS = 10_000_000  # of entries, roughly, when the rows of all tries are compared
RANDOM = {"dense": (10, (0.5, 0.0, 0.5)), "sparse": (15, (0.25, 0.5, 0.25))}  # probabilities of -1, 0 and +1
FEW_COLUMNS = 4096  # if there are no more possible columns, all are listed and drawn without replacement


def one_vs_rest(n_classes: int) -> Array:
    """One column for each class against all others; a single column for two classes."""
    return two_classes() if n_classes == 2 else (2 * np.eye(n_classes) - 1).astype(np.int8)


def one_vs_one(n_classes: int) -> Array:
    """One column for each pair of classes; all other classes are left out of it."""
    columns = list(combinations(range(n_classes), 2))
    code = np.zeros((n_classes, len(columns)), dtype=np.int8)
    for s, (a, b) in enumerate(columns):
        code[a, s], code[b, s] = -1, 1
    return code


def two_classes() -> Array:
    """The only code for two classes."""
    return np.array([[-1], [1]], dtype=np.int8)


def exhaustive(n_classes: int) -> Array:
    """All 2^(K-1) - 1 columns except constants and complements ([dietterich1995]_ §2.3.1); any two rows differ in
    2^(K-2) of them.
    """
    if n_classes > MAX_EXHAUSTIVE:
        raise InputError(
            f"code='exhaustive' has 2^(K-1) - 1 columns, which are too many for the {n_classes} classes of y. The "
            f"limit is K={MAX_EXHAUSTIVE}.",
            "Use code='dense' or code='bch'.",
        )
    if n_classes == 2:
        return two_classes()
    run = 2 ** np.arange(n_classes - 1, -1, -1)[:, None]  # row i: runs of 2^(K-1-i) zeros and ones; row 0: ones
    bits = np.arange(2 ** (n_classes - 1) - 1) // run % 2
    bits[0] = 1
    return (2 * bits - 1).astype(np.int8)


def random_code(kind: str, n_classes: int, n_columns: int | None, rng: np.random.RandomState) -> Array:
    """The best of many codes of random columns ([allwein2000]_ §6), by the minimum distance of two rows.

    "dense": ⌈10 log2 K⌉ columns of -1 and +1. "sparse": ⌈15 log2 K⌉ columns with 0 for half of the classes, and -1 and
    +1 for a quarter each. If no more columns are possible, the code has all of them.
    """
    per_bit, probabilities = RANDOM[kind]
    size = n_columns or math.ceil(per_bit * math.log2(n_classes))
    # columns that are not constant; complements count once
    possible = 2 ** (n_classes - 1) - 1 if kind == "dense" else (3**n_classes - 2 ** (n_classes + 1) + 1) // 2
    if n_columns is not None and n_columns > possible:
        raise InputError(
            f"code_size={n_columns}, but {n_classes} classes have only {possible} different columns with code="
            f"{kind!r}.",
            "Leave code_size at None, or set it to at most that number.",
        )
    draw: Callable[[], Array]
    if possible <= max(FEW_COLUMNS, 2 * size):
        values = (-1, 0, 1) if probabilities[1] else (-1, 1)
        columns = useful(np.array(list(product(values, repeat=n_classes)), dtype=np.int8).T)
        if columns.shape[1] <= size:
            return columns
        p = np.prod(np.array(probabilities)[columns + 1], axis=0)
        p /= p.sum()
        draw = lambda: columns[:, np.sort(rng.choice(len(p), size, replace=False, p=p))]  # noqa: E731
    else:
        draw = lambda: _random_columns(n_classes, size, probabilities, rng)  # noqa: E731
    n_tries = max(50, min(N_TRIES, MAX_PRODUCTS // (n_classes**2 * size)))
    codes = [code for code in (draw() for _ in range(n_tries)) if not inseparable(code)]
    if not codes:
        raise InputError(
            f"None of {n_tries} random codes with {size} columns separates all {n_classes} classes.",
            "Set a larger code_size.",
        )
    return max(codes, key=min_distance)


dense, sparse = partial(random_code, "dense"), partial(random_code, "sparse")


def _random_columns(
    n_classes: int, size: int, probabilities: tuple[float, float, float], rng: np.random.RandomState
) -> Array:
    code = np.empty((n_classes, 0), dtype=np.int8)
    while code.shape[1] < size:
        u = rng.random_sample((n_classes, size))
        columns = (u >= 1.0 - probabilities[2]).astype(np.int8) - (u < probabilities[0])
        code = useful(np.hstack((code, columns)))[:, :size]
    return code


def bch_words(m: int) -> Array:
    """All words of the BCH code of length 2^m - 1 with minimum distance 2^(m-1) - 1: ``[word, bit]`` of 0 and 1.

    It is the punctured first-order Reed-Muller code ([macwilliams1977]_, theorem 11), up to the order of the bits: its
    words are the values of the affine functions over GF(2) of m bits, at all points except zero.
    """
    linear = np.bitwise_count(np.arange(2**m)[:, None] & np.arange(1, 2**m)) % 2
    return np.vstack((linear, 1 - linear)).astype(np.uint8)


def bch(n_classes: int, n_columns: int | None, rng: np.random.RandomState) -> Array:
    """K words of a BCH code of 2^m - 1 bits ([dietterich1995]_ §2.3.4), any two of which differ in at least 2^(m-1) - 1
    bits.

    Columns that are constant on these rows, or equal or complementary to another column, are dropped. Of many random
    choices of words, the one with the largest minimum distance is used.
    """
    if n_classes < 8:
        raise InputError(
            f"code='bch' needs at least 8 classes, but y has {n_classes}.",
            "Use code='exhaustive', which is small for so few classes.",
        )
    size = n_columns or math.ceil(10 * math.log2(n_classes))
    m = 4
    while 2 ** (m + 1) < n_classes or 2**m - 1 < size:
        m += 1
    words = bch_words(m)
    best = np.empty((n_classes, 0), dtype=np.int8)
    best_rank = (-1.0, 0)
    for _ in range(N_TRIES // 4):
        rows = np.sort(rng.choice(len(words), n_classes, replace=False))
        code = useful(2 * words[rows].astype(np.int8) - 1)
        if n_columns is not None and code.shape[1] > n_columns:
            code = code[:, np.sort(rng.choice(code.shape[1], n_columns, replace=False))]
        rank = (min_distance(code), -code.shape[1])
        if rank > best_rank:
            best, best_rank = code, rank
    return best


def useful(code: Array) -> Array:
    """The columns that are not constant, and neither equal nor complementary to an earlier one."""
    first = np.take_along_axis(code, (code != 0).argmax(axis=0)[None], axis=0)
    same = code * first  # complements are the same problem
    varied = np.flatnonzero((same > 0).any(axis=0) & (same < 0).any(axis=0))
    first_of = {column.tobytes(): s for s, column in zip(varied[::-1], np.ascontiguousarray(same.T[varied[::-1]]))}
    return np.ascontiguousarray(code[:, sorted(first_of.values())])


# ------------------------------------------------------------------------- properties of a code


def distances(code: Array) -> Array:
    """Hamming distances of all pairs of rows, where an entry of 0 counts one half ([allwein2000]_ eq. 3):
    ``[class, class]``.
    """
    signs = code.astype(np.float64)
    return np.asarray((code.shape[1] - signs @ signs.T) / 2.0)


def min_distance(code: Array) -> float:
    """The minimum Hamming distance of two rows."""
    return float(distances(code)[~np.eye(len(code), dtype=np.bool_)].min())


def n_correctable(code: Array) -> int:
    """The number of wrong columns that Hamming decoding always corrects: ⌊(d - 1)/2⌋ for a code without zeros.

    Columns that leave the true class out may predict anything, and the worst case is assumed for them.
    """
    used = (code != 0).astype(np.float64)
    signs = code.astype(np.float64)
    both = used @ used.T
    apart = (both - signs @ signs.T) / 2.0
    own = used.sum(axis=1)[:, None] - both  # columns with the one class and without the other
    margin = apart + own / 2.0 - own.T / 2.0
    return max(0, math.ceil(float(margin[~np.eye(len(code), dtype=np.bool_)].min()) / 2.0) - 1)


def inseparable(code: Array) -> list[tuple[int, int]]:
    """The pairs of classes that no column separates."""
    signs = code.astype(np.float64)
    never = np.abs(signs) @ np.abs(signs).T == signs @ signs.T
    return [(int(a), int(b)) for a, b in np.argwhere(np.triu(never, 1))]


# ------------------------------------------------------------------------- codes given by the user


def given_code(code: Any, classes: Array) -> Array:
    """A matrix ``[class, column]`` or a dict ``{label: codeword}``, checked."""
    labels = classes.tolist()
    if isinstance(code, Mapping):
        if set(code) != set(labels):
            raise InputError(f"code must have a codeword for each class of y, {labels}; it has {list(code)}.")
        lengths = {len(word) for word in code.values()}
        if len(lengths) > 1:
            raise InputError(f"All codewords of code must have the same length; the lengths are {sorted(lengths)}.")
        code = [list(code[label]) for label in labels]
    try:
        matrix = np.asarray(code, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or 0 in matrix.shape or not np.isin(matrix, (-1.0, 0.0, 1.0)).all():
        raise InputError(
            "code must be a name, a matrix [class, column] of 0 and 1 or of -1, 0 and +1, or a dict {label: codeword}; "
            f"got {in_short(code)}."
        )
    if len(matrix) != len(labels):
        raise InputError(
            f"code has {len(matrix)} rows, but y has {len(labels)} classes: {labels}.",
            "Give one row for each class, in this order.",
        )
    signs = matrix.astype(np.int8)
    if not (signs < 0).any():  # a code of 0 and 1, in which 0 is the other side
        signs = (2 * signs - 1).astype(np.int8)
    constant = np.flatnonzero(~((signs > 0).any(axis=0) & (signs < 0).any(axis=0)))
    if len(constant):
        raise InputError(
            f"Column {constant[0]} of code has all its classes on one side.",
            "Drop the column, or put classes on both sides.",
        )
    for a, b in inseparable(signs):
        same = "have the same codeword" if (signs[a] == signs[b]).all() else "are not separated by any column"
        raise InputError(
            f"The classes {labels[a]!r} and {labels[b]!r} {same} of code.",
            "Add a column with one of them at +1 and the other at -1.",
        )
    return signs
