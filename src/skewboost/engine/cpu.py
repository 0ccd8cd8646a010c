"""The fast engine: Numba loops on threads.

Work is cut into tasks by the shape of the data alone — blocks of eight features, chunks of rows — and partial sums
are added in a fixed order, so the number of threads never changes a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skewboost.engine import expand_kernels, kernels, search_kernels
from skewboost.engine.boundary import (
    ABSTAIN,
    CRITERIA,
    FEW_ROWS,
    LEFT,
    MAX_NODE_ERROR,
    MISSING,
    N_CODES,
    RIGHT,
    TIE,
    Array,
    Child,
    Request,
    Rows,
    Split,
)
from skewboost.engine.partition import View
from skewboost.engine.reference import MAX_ENUMERATED, SLACK
from skewboost.engine.threads import parallel
from skewboost.tables import Nominal, Table

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.scoring import Scorer

_BLOCK = 8  # features per word
_CHUNK = 32_768  # rows per task where rows are divided
_TASKS = 16  # histogram tasks to aim for: enough for many cores, few enough to add up
_SPLIT_TASKS = 4  # the same where rows are selected on the way
_LARGE = 16_000_000  # cells of a node that is worth several threads; below, one call of one kernel is faster
_NOTHING = np.empty(0)
_SERIAL = 400_000  # below this many cell updates, waking another thread costs more than it saves


class Words(NamedTuple):
    """A binned table: ``words[block, row]`` holds eight features' codes."""

    words: Array
    n_features: int

    @property
    def n_blocks(self) -> int:
        """Blocks of eight features, the last one padded."""
        return len(self.words)


class CpuEngine:
    """Serial kernels, threads over fixed tasks."""

    name = "cpu"
    derives = True

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ binning

    def sort(self, values: Array) -> Array:
        """Sort the numbers of a column, leaving out NaN."""
        values = np.ascontiguousarray(values)
        if values.dtype.kind == "f" and np.isnan(values).any():
            values = values[~np.isnan(values)]
        if values.dtype != np.float32:
            return np.sort(values)
        keys = values.view(np.uint32)
        ordered = np.empty_like(keys)
        kernels.sort_keys_32(keys, np.empty_like(keys), ordered)
        return ordered.view(np.float32)

    def encode(self, table: Table, bins: Bins) -> Words:
        """Bin a table."""
        return self._encode(table, bins, np.arange(table.n_features))

    def _encode(self, table: Table, bins: Bins, features: Array) -> Words:
        """Bin some features of a table; the others keep code 0."""
        n_blocks = -(-table.n_features // _BLOCK)
        words = np.zeros((n_blocks, table.n_rows), dtype=np.uint64)
        for X, columns, names in _numeric_parts(table, features):
            cuts = np.stack([_padded(bins.features[j].cuts) for j in names])
            encode = partial(kernels.encode, X, columns)
            self._by_rows(table.n_rows, encode, cuts, names, words)
        for j in features:
            column = table.column(j)
            if isinstance(column, Nominal):
                kernels.store_codes(bins.features[j].translate(column), int(j), words)
        return Words(words, table.n_features)

    def _by_rows(self, n_rows: int, work: Callable[..., None], *arguments: Array) -> None:
        """Call ``work(start, stop, *arguments)`` on every thread's share of the rows."""
        n_jobs = max(1, min(self.n_jobs, n_rows // _CHUNK))
        bounds = _bounds(n_rows, n_jobs)
        parallel(lambda k: work(bounds[k], bounds[k + 1], *arguments), n_jobs, n_jobs)

    def column(self, codes: Words, feature: int) -> Array:
        """The codes of one feature."""
        block, byte = divmod(feature, _BLOCK)
        column: Array = (codes.words[block] >> np.uint64(8 * byte)).astype(np.uint8)
        return column

    def array(self, values: Array) -> Array:
        """A copy, as float64."""
        return np.array(values, dtype=np.float64)

    def lookup(self, codes: Words, feature: int, values: Array) -> Array:
        """``values[code]`` for all rows."""
        block, byte = divmod(feature, _BLOCK)
        out = np.empty(codes.words.shape[1])
        kernels.lookup(codes.words[block], 8 * byte, values, out)
        return out

    def rows(self, mask: Array) -> Rows:
        """The rows where `mask` holds."""
        return np.flatnonzero(mask).astype(np.uint32)

    # --------------------------------------------------------------- histograms

    def histogram(self, codes: Words, rows: Rows, *values: Array | None) -> Array:
        """Sums per plane, feature and code: one task per plane, block of features and chunk of rows."""
        n_blocks, n_planes, n = codes.n_blocks, len(values), len(rows)
        given = tuple(np.ones(len(codes.words[0])) if v is None else v for v in values)
        if n * n_blocks * _BLOCK <= _SERIAL:
            out = np.zeros((n_planes, n_blocks, _BLOCK * N_CODES))
            kernels.add_all(codes.words, rows, given, out)
            return out.reshape(n_planes, n_blocks * _BLOCK, N_CODES)
        bounds = _bounds(n, max(1, min(-(-_TASKS // n_blocks), n // _CHUNK)))
        sums = np.empty((len(bounds) - 1, n_planes, n_blocks, _BLOCK * N_CODES))
        share = partial(kernels.add_share, codes.words, rows, given, bounds)
        parallel(lambda k: share(k, self.n_jobs, sums), self.n_jobs, self.n_jobs)
        return _added_up(sums).reshape(n_planes, n_blocks * _BLOCK, N_CODES)

    def search(
        self, planes: Sequence[Array], counts: Array | None, error: Array, bins: Bins, request: Request
    ) -> Split | None:
        """The best split, feature by feature."""
        child, found, value = np.empty(N_CODES, np.uint8), np.empty(4, np.int64), np.empty(2)
        search_kernels.search(
            planes[0], planes[1], np.empty((bins.n_features, 0)) if counts is None else counts, bins.n_bins,
            bins.nominal,
            CRITERIA.index(request.criterion), request.missing == "learn", request.min_count * (1 - SLACK),
            request.min_weight * (1 - SLACK),
            MAX_ENUMERATED, TIE, MAX_NODE_ERROR, error[0],
            error[1], child, found, value,
        )  # fmt: skip
        return _split(child, found, value)

    def expand(
        self,
        codes: Words,
        rows: Sequence[Rows],
        split: Split,
        values: Sequence[Array],
        scale: Array,
        planes: Sequence[Array],
        error: Array,
        bins: Bins,
        request: Request,
    ) -> list[Child] | None:
        """Two children with histograms and splits, in one call of one kernel."""
        n_cells = sum(map(len, rows)) * codes.n_blocks * _BLOCK
        if request.min_count or (split.child == ABSTAIN).any() or n_cells > _LARGE:
            return None
        block, byte = divmod(split.feature, _BLOCK)
        left, right = (tuple(np.empty(len(r), np.uint32) for r in rows) for _ in range(2))
        sizes = np.empty((2, len(rows)), dtype=np.int64)
        small, larger = (np.empty_like(planes[0]), np.empty_like(planes[0])), np.empty(2, dtype=np.int64)
        errors, derived = np.empty((2, 2)), np.zeros(2, dtype=np.bool_)
        child, found, value = np.empty((2, N_CODES), np.uint8), np.empty((2, 4), np.int64), np.empty((2, 2))
        expand_kernels.expand(
            codes.words, block, 8 * byte, split.child, tuple(rows), tuple(values), scale, (planes[0], planes[1]), error,
            FEW_ROWS, left, right, sizes, small, larger, errors, derived, bins.n_bins, bins.nominal,
            CRITERIA.index(request.criterion), request.missing == "learn", request.min_weight * (1 - SLACK),
            MAX_ENUMERATED, TIE, MAX_NODE_ERROR, child, found, value,
        )  # fmt: skip
        children = []
        for c, routed in enumerate((left, right)):
            own = [r[:k] for r, k in zip(routed, sizes[c])]
            split_of_child = _split(child[c], found[c], value[c])
            histogram = [planes[p] if larger[p] == c else small[p] for p in (0, 1)]
            children.append(Child(own, histogram, errors[c], bool(derived[c]), split_of_child))
        return children

    # ---------------------------------------------------------------------- rows

    def route(self, codes: Words, rows: Rows, split: Split, wanted: Sequence[int]) -> list[Rows]:
        """The rows of each wanted child, chunk by chunk."""
        if list(wanted) != [LEFT, RIGHT]:
            return [found for found, _ in self._split_off(codes, rows, split, wanted, ())]
        block, byte = divmod(split.feature, _BLOCK)
        n = len(rows)
        bounds = _bounds(n, max(1, n // _CHUNK))
        left, right = np.empty(n, np.uint32), np.empty(n, np.uint32)
        lengths = np.empty(len(bounds) - 1, np.int64)
        share = partial(kernels.divide_share, codes.words[block], 8 * byte, rows, bounds, split.child)
        n_jobs = min(self.n_jobs, len(lengths))
        parallel(lambda k: share(k, n_jobs, left, right, lengths), n_jobs, n_jobs)
        return [_joined(left, bounds, lengths), _joined(right, bounds, np.diff(bounds) - lengths)]

    def split_off(
        self, codes: Words, rows: Rows, split: Split, wanted: Sequence[int], *values: Array
    ) -> list[tuple[Rows, Array]]:
        """`route` and `histogram` in one pass: threads meet once."""
        return self._split_off(codes, rows, split, wanted, values)

    def _split_off(
        self, codes: Words, rows: Rows, split: Split, wanted: Sequence[int], values: tuple[Array, ...]
    ) -> list[tuple[Rows, Array]]:
        block, byte = divmod(split.feature, _BLOCK)
        n, n_planes = len(rows), len(values)
        bounds = _bounds(n, max(1, min(_SPLIT_TASKS, n // _CHUNK)))
        n_chunks = len(bounds) - 1
        n_jobs = min(self.n_jobs, n_chunks)
        found = []
        for child in wanted:
            chosen, lengths = np.empty(n, np.uint32), np.empty(n_chunks, np.int64)
            sums = np.empty((n_chunks if values else 0, n_planes, codes.n_blocks, _BLOCK * N_CODES))
            share = partial(
                kernels.split_off, codes.words, block, 8 * byte, rows, bounds, split.child, child, values or (_NOTHING,)
            )
            parallel(lambda k: share(k, n_jobs, chosen, lengths, sums), n_jobs, n_jobs)  # noqa: B023
            histogram = _added_up(sums).reshape(n_planes, -1, N_CODES) if values else _NOTHING
            found.append((_joined(chosen, bounds, lengths), histogram))
        return found

    def total(self, weights: Array, rows: Rows) -> float:
        """Σ weights over the rows."""
        return kernels.total(weights, rows)

    def scale(self, weights: Array, rows: Rows, factor: float) -> None:
        """Multiply the weights of the rows."""
        kernels.scale(weights, rows, factor)

    # ------------------------------------------------------------------- scoring

    def score(self, scorer: Scorer, table: Table) -> Array:
        """F of new rows: step functions on the numbers themselves, trees on codes."""
        F = np.full(table.n_rows, scorer.constant)
        for X, columns, names in _numeric_parts(table, scorer.table_features):
            steps = [scorer.steps(j) for j in names]
            cuts = np.stack([_padded(c) for c, _ in steps])
            values = np.stack([np.pad(v, (0, N_CODES - len(v))) for _, v in steps])
            add_steps = partial(kernels.add_steps, X, columns)
            self._by_rows(table.n_rows, add_steps, cuts, values, scorer.tables[names, MISSING], F)
        for j in scorer.table_features:
            column = table.column(j)
            if isinstance(column, Nominal):
                assert scorer.bins is not None
                F += scorer.tables[j][scorer.bins.features[j].translate(column)]
        if scorer.trees:
            assert scorer.bins is not None
            words = self._encode(table, scorer.bins, scorer.tree_features).words
            self._by_rows(table.n_rows, partial(kernels.add_trees, words), *scorer.packed.arrays, F)
        return F + scorer.rest(View(self, table, scorer.bins))


def _split(child: Array, found: Array, value: Array) -> Split | None:
    """What the search kernel found, as a `Split`."""
    feature, threshold, doubtful, polarity = found.tolist()
    if feature < 0:
        return None
    after, before = value.tolist()
    return Split(feature, threshold, child, polarity, after, before, bool(doubtful))


def _bounds(n: int, n_parts: int) -> Array:
    """Where to cut n rows into parts of equal size."""
    return np.arange(n_parts + 1) * n // n_parts


def _added_up(sums: Array) -> Array:
    """The sum over the first axis, in its order."""
    total: Array = sums[0]
    for part in sums[1:]:
        total += part
    return total


def _joined(buffer: Array, bounds: Array, lengths: Array) -> Array:
    """The filled beginnings of the parts of a buffer, one behind the other."""
    if len(lengths) == 1:
        return buffer[: lengths[0]]
    return np.concatenate([buffer[a : a + k] for a, k in zip(bounds, lengths)])


def _padded(cuts: Array) -> Array:
    return np.pad(cuts, (0, N_CODES - len(cuts)), constant_values=np.inf)


def _numeric_parts(table: Table, features: Array) -> Iterator[tuple[Array, Array, Array]]:
    """The numeric ones of some features: matrices, which of their columns to read, and which features those are."""
    X = table.matrix
    if X is not None and X.dtype in (np.float32, np.float64):
        if len(features):
            yield X, features, features
        return
    for j in features:
        column = table.column(j)
        if not isinstance(column, Nominal):
            numbers = column if column.dtype in (np.float32, np.float64) else column.astype(np.float64)
            yield numbers[:, None], np.zeros(1, dtype=np.int64), np.array([j])
