"""The compiled engine: a native core on threads.

Work is cut into tasks by the shape of the data alone — blocks of eight features, parts of the rows — and partial sums
are added in a fixed order, so the number of threads never changes a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skewboost.engine.boundary import N_CODES
from skewboost.engine.native import Core, address, check, contiguous, padded
from skewboost.engine.native_model import NativeModel
from skewboost.engine.native_set import NativeSet
from skewboost.engine.partition import Partition, View
from skewboost.engine.reference import ReferenceEngine
from skewboost.engine.table import Nominal, Table
from skewboost.engine.training_set import Classes
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.scoring import Scorer

_BLOCK = 8  # features per word


class Words(NamedTuple):
    """A binned table: ``words[block, row]`` holds eight features' codes."""

    words: Array
    n_features: int


class CpuEngine:
    """The native core; `library.load` says where it comes from."""

    name = "cpu"

    def __init__(self, core: Core, n_jobs: int = 1) -> None:
        self.core = core
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ binning

    def cuts(self, columns: Sequence[Array], weights: Array | None, max_bins: int) -> list[Array]:
        """Where to cut columns of numbers; what is neither float32 nor float64 becomes the latter, some at a time."""
        weights = None if weights is None else contiguous(weights)
        found: list[Array] = []
        for kind, own in groupby(columns, key=lambda x: x.itemsize if x.dtype in (np.float32, np.float64) else 0):
            alike = list(own)
            step = len(alike) if kind else _BLOCK
            for k in range(0, len(alike), step):
                some = alike[k : k + step]
                found += self._cuts(some if kind else [x.astype(np.float64) for x in some], weights, max_bins)
        return found

    def _cuts(self, columns: list[Array], weights: Array | None, max_bins: int) -> list[Array]:
        columns = [x if x.strides[0] % x.itemsize == 0 else x.copy() for x in columns]
        at = np.array([address(x) for x in columns], dtype=np.uint64)
        steps = np.array([x.strides[0] // x.itemsize for x in columns], dtype=np.int64)
        cuts, n_cuts = np.empty((len(columns), N_CODES)), np.empty(len(columns), dtype=np.int64)
        cut = self.core.cuts_32 if columns[0].dtype == np.float32 else self.core.cuts_64
        w = None if weights is None else address(weights)
        check(
            cut(
                address(at), address(steps), len(columns), len(columns[0]), w, max_bins, address(cuts), address(n_cuts),
                self.n_jobs,
            )
        )  # fmt: skip
        return [own[:n].copy() for own, n in zip(cuts, n_cuts.tolist())]

    def category_weights(self, column: Nominal, weights: Array | None) -> Array:
        """What the rows of each category weigh."""
        return ReferenceEngine().category_weights(column, weights)

    def encode(self, table: Table, bins: Bins) -> Words:
        """Bin a table."""
        return self._encode(table, bins, np.arange(table.n_features))

    def _encode(self, table: Table, bins: Bins, features: Array) -> Words:
        """Bin some features of a table; the others keep code 0."""
        n_blocks = -(-table.n_features // _BLOCK)
        words = np.zeros((n_blocks, table.n_rows), dtype=np.uint64)
        for X, columns, names in _parts(table, features):
            if isinstance(X, Nominal):
                (j,) = names.tolist()
                codes = contiguous(bins.features[j].translate(X), np.uint8)
                self.core.store_codes(address(codes), table.n_rows, j, address(words))
                continue
            cuts, n_cuts = padded([bins.features[j].cuts for j in names])
            encode = self.core.encode_32 if X.dtype == np.float32 else self.core.encode_64
            check(
                encode(
                    *_strided(X), len(X), len(columns), address(columns), address(names), address(cuts),
                    address(n_cuts), address(words), self.n_jobs,
                )
            )  # fmt: skip
        return Words(words, table.n_features)

    def take(self, codes: Words, rows: Array) -> Words:
        """The codes of these rows."""
        return Words(np.take(codes.words, rows, axis=1), codes.n_features)

    def column(self, codes: Words, feature: int) -> Array:
        """The codes of one feature."""
        block, byte = divmod(feature, _BLOCK)
        column: Array = (codes.words[block] >> np.uint64(8 * byte)).astype(np.uint8)
        return column

    def lookup(self, codes: Words, feature: int, values: Array) -> Array:
        """``values[code]`` for all rows."""
        out, given = np.empty(codes.words.shape[1]), contiguous(values)
        self.core.look_up(address(codes.words), len(out), feature, address(given), address(out), self.n_jobs)
        return out

    def leaves(self, codes: Words, partition: Partition) -> Array:
        """The leaf of every row."""
        feature = np.array([split.feature for split in partition.splits], dtype=np.int64)
        child = np.array([split.child for split in partition.splits], dtype=np.uint8)
        links = np.array([(*row, 0)[:3] for row in partition.links], dtype=np.int64)
        out = np.empty(codes.words.shape[1], dtype=np.int64)
        self.core.leaves(
            address(codes.words), len(out), address(feature), address(child), address(links), address(out), self.n_jobs
        )
        return out

    def open(self, view: View, labels: Array, classes: Classes, examples: Array | None) -> NativeSet:
        """The training set of a table, seen through bins."""
        return NativeSet(self.core, self, view, labels, classes, examples)

    # ------------------------------------------------------------------- scoring

    def score(self, scorer: Scorer, table: Table) -> Array:
        """F of new rows, tables and trees in one call; added in the order of `Scorer`."""
        F = np.full(table.n_rows, scorer.constant)
        if scorer.in_table.any() or scorer.trees:
            NativeModel.of(self.core, scorer).score(table, F, self.n_jobs)
        return F + scorer.rest(View(self, table, scorer.bins)) if scorer.lines or scorer.others else F


def _strided(X: Array) -> tuple[int, int, int]:
    """The address of a matrix, and how many numbers are between its rows and columns."""
    return address(X), X.strides[0] // X.itemsize, X.strides[1] // X.itemsize


def _parts(table: Table, features: Array) -> Iterator[tuple[Array | Nominal, Array, Array]]:
    """Some features in their order: matrices of numbers, which of their columns to read, and which features those are.

    A column of categories comes alone.
    """
    X = table.matrix
    if X is not None and X.dtype in (np.float32, np.float64):
        if len(features):
            yield X, features, features
        return
    first, alone = np.zeros(1, dtype=np.int64), features[:, None]
    for column, name in zip(map(table.column, features), alone):
        if isinstance(column, Nominal):
            yield column, first, name
        else:
            numbers = column if column.dtype in (np.float32, np.float64) else column.astype(np.float64)
            yield numbers[:, None], first, name
