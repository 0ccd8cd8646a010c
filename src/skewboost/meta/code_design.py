"""Code matrices: which classes the two-class problem of each column sets apart.

A code is an array ``[class, column]`` of -1, 0 and +1; with 0 the class is left out of the column.

References
----------
.. [1] T. G. Dietterich, G. Bakiri, "Solving multiclass learning problems via error-correcting output codes", Journal of
   Artificial Intelligence Research 2 (1995) 263-286.
.. [2] E. L. Allwein, R. E. Schapire, Y. Singer, "Reducing multiclass to binary: a unifying approach for margin
   classifiers", Journal of Machine Learning Research 1 (2000) 113-141.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations, product
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.meta.bch import codewords
from skewboost.typing import Array

MOST_EXHAUSTIVE = 11  # classes of an exhaustive code, which has 1023 columns for them
N_TRIES = 1000  # random codes, of which the best is taken; fewer where there are very many classes
WORK = 10_000_000  # products of entries that comparing all rows of all tries may take, about
FEW_COLUMNS = 4096  # of so many possible columns all are listed, and drawn without replacement


def one_vs_rest(n_classes: int) -> Array:
    """A column for each class against all others; for two classes a single one."""
    return pair() if n_classes == 2 else (2 * np.eye(n_classes) - 1).astype(np.int8)


def one_vs_one(n_classes: int) -> Array:
    """A column for each two classes, from which the others are left out."""
    columns = list(combinations(range(n_classes), 2))
    code = np.zeros((n_classes, len(columns)), dtype=np.int8)
    for s, (a, b) in enumerate(columns):
        code[a, s], code[b, s] = -1, 1
    return code


def pair() -> Array:
    """The one column that two classes need."""
    return np.array([[-1], [1]], dtype=np.int8)


def exhaustive(n_classes: int) -> Array:
    """All columns but constants and complements ([1] §2.3.1): any two rows differ in 2^(K-2) of the 2^(K-1) - 1."""
    if n_classes > MOST_EXHAUSTIVE:
        raise InputError(
            f"code='exhaustive' has 2^(K-1) - 1 columns, which for the {n_classes} classes of y is too many (K may be "
            f"up to {MOST_EXHAUSTIVE}). Use code='dense' or 'bch'."
        )
    if n_classes == 2:
        return pair()
    run = 2 ** np.arange(n_classes - 1, -1, -1)[:, None]  # row i: runs of 2^(K-1-i) zeros and ones; the first, ones
    bits = np.arange(2 ** (n_classes - 1) - 1) // run % 2
    bits[0] = 1
    return (2 * bits - 1).astype(np.int8)


def dense(n_classes: int, n_columns: int | None, rng: np.random.RandomState) -> Array:
    """⌈10 log2 K⌉ columns of random -1 and +1 ([2] §6), the best of many by the least distance of two rows."""
    wanted = n_columns or math.ceil(10 * math.log2(n_classes))
    return _best_of_many("dense", n_classes, n_columns, wanted, (0.5, 0.0, 0.5), rng)


def sparse(n_classes: int, n_columns: int | None, rng: np.random.RandomState) -> Array:
    """⌈15 log2 K⌉ columns with 0 for half of the classes, and -1 and +1 for a quarter each ([2] §6)."""
    wanted = n_columns or math.ceil(15 * math.log2(n_classes))
    return _best_of_many("sparse", n_classes, n_columns, wanted, (0.25, 0.5, 0.25), rng)


def _best_of_many(
    name: str,
    n_classes: int,
    n_columns: int | None,
    wanted: int,
    shares: tuple[float, float, float],
    rng: np.random.RandomState,
) -> Array:
    """Random columns, none of them constant, a duplicate or a complement; all there are where these are fewer."""
    n_values = 3 if shares[1] else 2
    # columns that are not constant, of which a complement is the same: (3^K - 2·2^K + 1)/2 with zeros, else 2^(K-1) - 1
    possible = (3**n_classes - 2 ** (n_classes + 1) + 1) // 2 if n_values == 3 else 2 ** (n_classes - 1) - 1
    if n_columns is not None and n_columns > possible:
        raise InputError(
            f"code_size={n_columns}, but {n_classes} classes have only {possible} different columns with code={name!r}"
            ". Leave it at None, or give at most that."
        )
    drawn: Callable[[], Array]
    if possible <= max(FEW_COLUMNS, 2 * wanted):
        values = (-1, 0, 1) if n_values == 3 else (-1, 1)
        columns = useful(np.array(list(product(values, repeat=n_classes)), dtype=np.int8).T)
        if columns.shape[1] <= wanted:
            return columns
        p = np.prod(np.array(shares)[columns + 1], axis=0)
        p /= p.sum()
        drawn = lambda: columns[:, np.sort(rng.choice(len(p), wanted, replace=False, p=p))]  # noqa: E731
    else:
        drawn = lambda: _random_columns(n_classes, wanted, shares, rng)  # noqa: E731
    n_tries = max(50, min(N_TRIES, WORK // (n_classes**2 * wanted)))
    codes = [drawn() for _ in range(n_tries)]
    apart = [code for code in codes if not inseparable(code)]
    if not apart:
        raise InputError(
            f"None of {n_tries} random codes of {wanted} columns tells all {n_classes} classes apart. Give a larger "
            "code_size."
        )
    return max(apart, key=min_distance)


def _random_columns(
    n_classes: int, wanted: int, shares: tuple[float, float, float], rng: np.random.RandomState
) -> Array:
    code = np.empty((n_classes, 0), dtype=np.int8)
    while code.shape[1] < wanted:
        u = rng.random_sample((n_classes, wanted))
        more = (u >= 1.0 - shares[2]).astype(np.int8) - (u < shares[0])
        code = useful(np.hstack((code, more)))[:, :wanted]
    return code


def bch(n_classes: int, n_columns: int | None, rng: np.random.RandomState) -> Array:
    """Words of a BCH code ([1] §2.3.4): of 2^m - 1 bits, any two of which differ in 2^(m-1) - 1 at least.

    The rows are K of its words, and the columns those of the bits that are neither constant nor equal or complements
    of each other on these rows; of many random choices the best is taken, by the least distance of two rows.
    """
    if n_classes < 8:
        raise InputError(
            f"code='bch' is for 8 classes or more, but y has {n_classes}. Use code='exhaustive', which is small then."
        )
    wanted = n_columns or math.ceil(10 * math.log2(n_classes))
    m = 4
    while 2 ** (m + 1) < n_classes or 2**m - 1 < wanted:
        m += 1
    words = codewords(m, 2 ** (m - 1) - 1)
    best = np.empty((n_classes, 0), dtype=np.int8)
    rank = (-1.0, 0)
    for _ in range(N_TRIES // 4):
        rows = np.sort(rng.choice(len(words), n_classes, replace=False))
        code = useful((2 * words[rows] - 1).astype(np.int8))
        if n_columns is not None and code.shape[1] > n_columns:
            code = code[:, np.sort(rng.choice(code.shape[1], n_columns, replace=False))]
        own = (min_distance(code), -code.shape[1])
        if own > rank:
            best, rank = code, own
    return best


def useful(code: Array) -> Array:
    """The columns that are not constant, and neither equal to an earlier one nor its complement."""
    first = np.take_along_axis(code, (code != 0).argmax(axis=0)[None], axis=0)
    same = code * first  # complements are the same problem
    varied = np.flatnonzero((same > 0).any(axis=0) & (same < 0).any(axis=0))
    first_of = {column.tobytes(): s for s, column in zip(varied[::-1], np.ascontiguousarray(same.T[varied[::-1]]))}
    return np.ascontiguousarray(code[:, sorted(first_of.values())])


# ------------------------------------------------------------------------- what a code can do


def distances(code: Array) -> Array:
    """Hamming distances of all rows, in which an entry of 0 counts one half ([2] eq. 3): ``[class, class]``."""
    signs = code.astype(np.float64)
    return np.asarray((code.shape[1] - signs @ signs.T) / 2.0)


def min_distance(code: Array) -> float:
    """The least distance of two rows."""
    return float(distances(code)[~np.eye(len(code), dtype=np.bool_)].min())


def n_correctable(code: Array) -> int:
    """How many columns may be wrong on any example, and Hamming decoding is still right: ⌊(d - 1)/2⌋ without zeros.

    A column that leaves the true class out may say anything there, and is taken to say the worst.
    """
    used = (code != 0).astype(np.float64)
    signs = code.astype(np.float64)
    both = used @ used.T
    apart = (both - signs @ signs.T) / 2.0
    own = used.sum(axis=1)[:, None] - both  # columns that know the one class and not the other
    margin = apart + own / 2.0 - own.T / 2.0
    return max(0, math.ceil(float(margin[~np.eye(len(code), dtype=np.bool_)].min()) / 2.0) - 1)


def inseparable(code: Array) -> list[tuple[int, int]]:
    """The pairs of classes that no column has on different sides."""
    signs = code.astype(np.float64)
    never = np.abs(signs) @ np.abs(signs).T == signs @ signs.T
    return [(int(a), int(b)) for a, b in np.argwhere(np.triu(never, 1))]


# ------------------------------------------------------------------------- codes of the user's


def given_code(code: Any, classes: Array) -> Array:
    """A matrix ``[class, column]`` or a dict ``{label: codeword}``, checked."""
    labels = classes.tolist()
    if isinstance(code, Mapping):
        if set(code) != set(labels):
            raise InputError(
                f"code must have a codeword for each class of y, which are {labels}; it has them for {list(code)}."
            )
        lengths = {len(word) for word in code.values()}
        if len(lengths) > 1:
            raise InputError(f"The codewords of code must be of one length; they have {sorted(lengths)} entries.")
        code = [list(code[label]) for label in labels]
    try:
        matrix = np.asarray(code, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or 0 in matrix.shape or not np.isin(matrix, (-1.0, 0.0, 1.0)).all():
        raise InputError(
            "code must be the name of one, a matrix [class, column] of 0 and 1 or of -1, 0 and +1, or a dict {label: "
            f"codeword}}; got {code!r}."
        )
    if len(matrix) != len(labels):
        raise InputError(
            f"code has {len(matrix)} rows, but y has {len(labels)} classes: {labels}. Give a row for each, in this "
            "order."
        )
    signs = matrix.astype(np.int8)
    if not (signs < 0).any():  # two-valued: 0 is the other side, and nobody is left out
        signs = (2 * signs - 1).astype(np.int8)
    _check(signs, labels)
    return signs


def _check(code: Array, labels: list[Any]) -> None:
    constant = np.flatnonzero(~((code > 0).any(axis=0) & (code < 0).any(axis=0)))
    if len(constant):
        raise InputError(
            f"Column {constant[0]} of code has all its classes on one side, so there is nothing to learn from it. Drop "
            "it, or put classes on both sides."
        )
    for a, b in inseparable(code):
        equal = "have the same codeword" if (code[a] == code[b]).all() else "are on different sides of no column"
        raise InputError(
            f"The classes {labels[a]!r} and {labels[b]!r} {equal} of code, so nothing tells them apart. Add a column "
            "with one of them at +1 and the other at -1."
        )
