"""The compiled engine: the native core on several threads.

Work is divided into tasks by the shape of the data alone (blocks of eight features, slices of the rows), and partial
sums are added in a fixed order. The number of threads therefore never changes a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skewboost.engine.boundary import N_CODES
from skewboost.engine.native import Core, address, check, contiguous, padded
from skewboost.engine.native_explaining import NativeExplainer
from skewboost.engine.native_model import NativeModel
from skewboost.engine.native_portfolio import NativePortfolio
from skewboost.engine.native_set import NativeSet
from skewboost.engine.partition import Partition, View
from skewboost.engine.training_set import Classes
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.newton import Trees
    from skewboost.engine.scoring import Scorer
    from skewboost.engine.table import Table

_BLOCK = 8  # features per word
_FLOATS = (np.float32, np.float64)  # the types of numbers that the core reads


class Words(NamedTuple):
    """A binned table: ``words[block, row]`` holds the codes of eight features."""

    words: Array
    n_features: int


class CpuEngine:
    """The engine of the native core, which `library.load` loads."""

    name = "cpu"

    def __init__(self, core: Core, n_jobs: int = 1) -> None:
        self.core = core
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ binning

    def cuts(self, columns: Sequence[Array], weights: Array | None, max_bins: int) -> list[Array]:
        """Return the cuts of numeric columns; types other than floats are converted a few columns at a time."""
        weights = None if weights is None else contiguous(weights)
        found: list[Array] = []
        for itemsize, group in groupby(columns, key=lambda x: x.itemsize if x.dtype in _FLOATS else 0):
            alike = list(group)
            step = len(alike) if itemsize else _BLOCK
            for k in range(0, len(alike), step):
                some = alike[k : k + step]
                found += self._cuts(some if itemsize else [x.astype(np.float64) for x in some], weights, max_bins)
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

    def encode(self, table: Table, bins: Bins) -> Words:
        """Return the codes of a table: a matrix of floats as a whole, computed columns by blocks, others one by one."""
        n_features = bins.n_features
        words = np.zeros((-(-n_features // _BLOCK), table.n_rows), dtype=np.uint64)
        if table.matrix is not None and table.matrix.dtype in _FLOATS:
            self._encode(table.matrix, bins, bins.column_of_each, np.arange(n_features, dtype=np.int64), words)
            return Words(words, n_features)
        if table.computed is not None:
            for features, cells in table.computed.blocks():
                self._encode(cells, bins, np.arange(len(features), dtype=np.int64), features, words)
            return Words(words, n_features)
        first = np.zeros(1, dtype=np.int64)
        for j in range(n_features):
            numbers = bins.numbers(table, j)
            if bins.nominal[j]:
                codes = contiguous(numbers, np.uint8)
                self.core.store_codes(address(codes), table.n_rows, j, address(words))
            else:
                floats = numbers if numbers.dtype in _FLOATS else numbers.astype(np.float64)
                self._encode(floats[:, None], bins, first, np.array([j], dtype=np.int64), words)
        return Words(words, n_features)

    def _encode(self, X: Array, bins: Bins, columns: Array, features: Array, words: Array) -> None:
        """Write the codes of features into the words, given the column of each in a matrix."""
        if not len(features):
            return
        cuts, n_cuts = padded([bins.features[j].cuts for j in features])
        encode = self.core.encode_32 if X.dtype == np.float32 else self.core.encode_64
        check(
            encode(
                address(X), X.strides[0] // X.itemsize, X.strides[1] // X.itemsize, len(X), len(features),
                address(columns), address(features), address(cuts), address(n_cuts), address(words), self.n_jobs,
            )
        )  # fmt: skip

    def take(self, codes: Words, rows: Array) -> Words:
        return Words(np.take(codes.words, rows, axis=1), codes.n_features)

    def joined(self, codes: Words, others: Words) -> Words:
        n_features, n_rows = codes.n_features + others.n_features, codes.words.shape[1]
        words = np.zeros((-(-n_features // _BLOCK), n_rows), dtype=np.uint64)
        words[: len(codes.words)] = codes.words
        for j in range(others.n_features):
            own = contiguous(self.column(others, j), np.uint8)
            self.core.store_codes(address(own), n_rows, codes.n_features + j, address(words))
        return Words(words, n_features)

    def column(self, codes: Words, feature: int) -> Array:
        block, byte = divmod(feature, _BLOCK)
        column: Array = (codes.words[block] >> np.uint64(8 * byte)).astype(np.uint8)
        return column

    def lookup(self, codes: Words, feature: int, values: Array) -> Array:
        out, given = np.empty(codes.words.shape[1]), contiguous(values)
        self.core.look_up(address(codes.words), len(out), feature, address(given), address(out), self.n_jobs)
        return out

    def leaves(self, codes: Words, partition: Partition) -> Array:
        feature = np.array([split.feature for split in partition.splits], dtype=np.int64)
        child = np.array([split.child for split in partition.splits], dtype=np.uint8)
        links = np.array([(*row, 0)[:3] for row in partition.links], dtype=np.int64)
        out = np.empty(codes.words.shape[1], dtype=np.int64)
        self.core.leaves(
            address(codes.words), len(out), address(feature), address(child), address(links), address(out), self.n_jobs
        )
        return out

    def training_set(self, view: View, labels: Array, classes: Classes, examples: Array | None) -> NativeSet:
        return NativeSet(self, view, labels, classes, examples)

    def portfolio(self, view: View, classes: Array, n_classes: int, units: Array | None = None) -> NativePortfolio:
        return NativePortfolio(self, view, classes, n_classes, units)

    # ------------------------------------------------------------------- scoring

    def score(self, scorer: Scorer, table: Table) -> Array:
        """Return F for new rows, with tables and trees in one call; terms are added in the order of `Scorer`."""
        F = np.full(table.n_rows, scorer.constant)
        if scorer.in_table.any() or scorer.n_trees:
            NativeModel.of(self.core, scorer).score(table, F, self.n_jobs)
        return F + scorer.rest(View(self, table, scorer.bins)) if scorer.lines or scorer.others else F

    # ---------------------------------------------------------------- explaining

    def contributions(self, trees: Trees, output: int, view: View) -> Array:
        codes: Words = view.codes  # type: ignore[assignment]
        return NativeExplainer(self.core, trees, output).contributions(codes.words, codes.n_features, self.n_jobs)

    def main_effects(self, trees: Trees, output: int, n_features: int) -> Array:
        return NativeExplainer(self.core, trees, output).main_effects(n_features)
