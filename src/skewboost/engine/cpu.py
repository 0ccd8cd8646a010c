"""The fast engine: Numba loops on threads.

Work is cut into tasks by the shape of the data alone — blocks of eight features, chunks of rows — and partial sums
are added in a fixed order, so the number of threads never changes a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skewboost.engine import expand_kernels, joint_kernels, kernels, search_kernels, stump_kernels
from skewboost.engine.binning import cuts_of, cuts_of_sorted, summary
from skewboost.engine.boundary import (
    ABSTAIN,
    CRITERIA,
    FEW_ROWS,
    MAX_NODE_ERROR,
    MISSING,
    N_CODES,
    OF_CLASSES,
    TIE,
    Array,
    Request,
    Split,
)
from skewboost.engine.candidates import MAX_ENUMERATED, SLACK, best_split
from skewboost.engine.criterion_kernels import Terms
from skewboost.engine.deriving_set import DerivingSet
from skewboost.engine.expand_kernels import Children
from skewboost.engine.growth import Child, Rows
from skewboost.engine.partition import View
from skewboost.engine.reference import ReferenceEngine
from skewboost.engine.scan_kernels import Features
from skewboost.engine.threads import parallel
from skewboost.engine.training_set import Classes
from skewboost.engine.turns import new_turns, share
from skewboost.tables import Nominal, Table

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.scoring import Scorer

_BLOCK = 8  # features per word
_CHUNK = 32_768  # rows per task where rows are divided
_TASKS = 16  # histogram tasks to aim for: enough for many cores, few enough to add up
_CHUNKS_PER_SLICE = 8  # at least, where the rows of chunks are summed one after the other
_LARGE = 16_000_000  # cells of a node whose sums are worth dividing by rows
_SHARED = 5_000_000  # work in a node that is worth dividing by features: its cells, and …
_SEARCH = 34_000  # … a search, which takes as long per feature as routing and summing so many rows
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

    def cuts(self, column: Array, weights: Array | None, max_bins: int) -> Array:
        """Where to cut a column of numbers."""
        if weights is not None:
            return cuts_of(*summary(column, weights), max_bins)
        if column.dtype.kind in "iu" and column.itemsize > 4:  # smaller ones are doubles anyway
            column = column.astype(np.float64)
        return cuts_of_sorted(self.sort(column), max_bins)

    def category_weights(self, column: Nominal, weights: Array | None) -> Array:
        """What the rows of each category weigh."""
        return ReferenceEngine().category_weights(column, weights)

    def open(self, view: View, labels: Array, classes: Classes, examples: Array | None) -> DerivingSet:
        """The training set of a table, seen through bins."""
        return DerivingSet(self, view, labels, classes, examples)

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
                kernels.store_codes(bins.features[j].translate(X), j, words)
                continue
            cuts = np.stack([_padded(bins.features[j].cuts) for j in names])
            encode = partial(kernels.encode, X, columns)
            self._by_rows(table.n_rows, encode, cuts, names, words)
        return Words(words, table.n_features)

    def _by_rows(self, n_rows: int, work: Callable[..., None], *arguments: Array) -> None:
        """Call ``work(start, stop, *arguments)`` on every thread's share of the rows."""
        n_jobs = max(1, min(self.n_jobs, n_rows // _CHUNK))
        bounds = _bounds(n_rows, n_jobs)
        parallel(lambda k: work(bounds[k], bounds[k + 1], *arguments), n_jobs, n_jobs)

    def take(self, codes: Words, rows: Array) -> Words:
        """The codes of these rows."""
        return Words(np.take(codes.words, rows, axis=1), codes.n_features)

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
        n_tasks = n_planes * n_blocks * (len(bounds) - 1)
        share(lambda turns: kernels.add_tasks(codes.words, rows, given, bounds, turns, sums), n_tasks, self.n_jobs)
        return _added_up(sums).reshape(n_planes, n_blocks * _BLOCK, N_CODES)

    def search(
        self, planes: Sequence[Array], counts: Array | None, error: Array, bins: Bins, request: Request
    ) -> Split | None:
        """The best split, feature by feature."""
        if len(planes) > 2:
            return self._search_joint(np.array(planes)[:, : bins.n_features], counts, error, bins, request)
        child, found, value = np.empty(N_CODES, np.uint8), np.empty(4, np.int64), np.empty(2)
        search_kernels.search(
            planes[0], planes[1], _counts(counts, bins), _features(bins),
            _terms(request), error[0], error[1], child, found, value,
        )  # fmt: skip
        return _split(child, found, value)

    def _search_joint(
        self, histogram: Array, counts: Array | None, error: Array, bins: Bins, request: Request
    ) -> Split | None:
        """The best split for several labels, or for more than two classes."""
        totals, of_classes = histogram[:, 0].sum(axis=1), request.criterion in OF_CLASSES
        if of_classes:  # an error of e moves both criteria by no more than 2e, and that on both sides
            margin = 4.0 * float(error.sum())
        else:  # it moves √(ab) by no more than √(e(a + b)), and that on both sides
            margin = 4.0 * float(np.sqrt(error.reshape(-1, 2).max(axis=1) * totals.reshape(-1, 2).sum(axis=1)).sum())
        of_categories = histogram[:, bins.nominal].sum(axis=0)
        if ((of_categories > 0) & (of_categories <= 2 * error.sum())).any():
            margin = np.inf  # a category may be there by rounding only, and how many there are decides how to search
        numeric = None
        if counts is None:
            shape = (bins.n_features, MISSING)
            numeric = np.empty(shape), np.empty(shape, np.int64)
            learn, least, tie = request.missing == "learn", request.min_weight * (1 - SLACK), TIE * float(totals.sum())
            if of_classes:
                gini = request.criterion == "class_gini"
                joint_kernels.scan_classes(histogram, bins.n_bins, learn, gini, least, tie, *numeric)
            else:
                joint_kernels.scan_joint(histogram, bins.n_bins, learn, least, tie, *numeric)
        return best_split(histogram, counts, bins, request, margin, numeric)

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
        """Two children with histograms and splits: of a large node on all threads, of a small one in a single call."""
        n_rows, n_blocks = sum(map(len, rows)), codes.n_blocks
        if request.min_count or (split.child == ABSTAIN).any() or n_rows * n_blocks * _BLOCK > _LARGE:
            return None
        shared = min(self.n_jobs, n_blocks) > 1 and n_blocks * _BLOCK * (n_rows + _SEARCH) > _SHARED
        routed = [self._divide(codes, r, split.feature, split.child) for r in rows] if shared else None
        made = _room_for_children([len(r) for r in rows], routed, len(planes[0]), bins.n_features)
        parent, given = (planes[0], planes[1]), tuple(values)
        features, terms = _features(bins), _terms(request)
        if routed is None:
            expand_kernels.expand(
                codes.words, split.feature, split.child, tuple(rows), given, scale, parent, error, FEW_ROWS, features,
                terms, made, new_turns(),
            )  # fmt: skip
        else:
            expand_kernels.ties_of_children(parent, split.feature, split.child, terms, made.tie)
            work = partial(
                expand_kernels.sum_and_scan, codes.words, given, scale, parent, FEW_ROWS, features, terms, made
            )
            share(work, n_blocks, self.n_jobs)
            expand_kernels.conclude(parent, error, FEW_ROWS, features, terms, made)
        children = []
        larger = [expand_kernels.larger(made.sizes, p) for p in (0, 1)]
        for c, own in enumerate((made.left, made.right)):
            own_rows = [r[:k] for r, k in zip(own, made.sizes[c])]
            histogram = [planes[p] if larger[p] == c else made.small[p] for p in (0, 1)]
            own_split = _split(made.code_to_child[c], made.found[c], made.value[c])
            children.append(Child(own_rows, histogram, made.error[c], bool(made.derived[c]), own_split))
        return children

    # ---------------------------------------------------------------------- rows

    def route(self, codes: Words, rows: Rows, split: Split, wanted: Sequence[int]) -> list[Rows]:
        """The rows of each wanted child."""
        found, rest = [], rows
        for side in wanted[:-1]:
            chosen, rest = self._divide(codes, rest, split.feature, split.child != side)
            found.append(chosen)
        others = split.child[~np.isin(split.child, wanted[:-1])]
        if (others == wanted[-1]).all():
            return [*found, rest]
        return [*found, self._divide(codes, rest, split.feature, split.child != wanted[-1])[0]]

    def _divide(self, codes: Words, rows: Rows, feature: int, child: Array) -> tuple[Rows, Rows]:
        """The rows whose code has child 0, and the others."""
        block, byte = divmod(feature, _BLOCK)
        n = len(rows)
        bounds = _bounds(n, max(1, n // _CHUNK))
        left, right = np.empty(n, np.uint32), np.empty(n, np.uint32)
        lengths = np.empty(len(bounds) - 1, np.int64)
        divide = partial(kernels.divide_tasks, codes.words[block], 8 * byte, rows, bounds, child)
        share(lambda turns: divide(turns, left, right, lengths), len(lengths), self.n_jobs)
        return _joined(left, bounds, lengths), _joined(right, bounds, np.diff(bounds) - lengths)

    def split_off(
        self,
        codes: Words,
        rows: Sequence[Rows],
        split: Split,
        wanted: Sequence[tuple[int, int]],
        values: Sequence[Array],
        scale: Array,
    ) -> list[tuple[Rows, Array]]:
        """`route` and `histogram` of all that is wanted in one go: threads meet once."""
        room = _Room(tuple(map(len, rows)), tuple(wanted), codes.n_blocks)
        node = (codes.words, split.feature, split.child, stump_kernels.Data(tuple(rows), tuple(values), scale))
        share(lambda turns: stump_kernels.split_tasks(*node, room.plan, turns, room.arrays), room.n_tasks, self.n_jobs)
        return room.close_up()

    def move(
        self, codes: Words, rows: Rows, feature: int, factors: Array, values: Array, scale: float
    ) -> tuple[int, Array]:
        """Like `split_off` of the rows that move, of which the differences are summed."""
        room = _Room((len(rows),), ((0, 1),), codes.n_blocks)
        node = (codes.words, feature, (factors != 1.0).astype(np.uint8), factors, rows, values, scale)
        share(lambda turns: stump_kernels.move_tasks(*node, room.plan, turns, room.arrays), room.n_tasks, self.n_jobs)
        ((moved, histogram),) = room.close_up()
        return len(moved), histogram

    def stump(
        self,
        codes: Words,
        rows: Sequence[Rows],
        rows_per_code: Array,
        planes: Sequence[Array],
        counts: Array | None,
        error: Array,
        values: Sequence[Array],
        scale: Array,
        bins: Bins,
        request: Request,
    ) -> tuple[Split | None, list[list[int]], list[tuple[int, Rows, Array]]]:
        """`search`, then `split_off` of the smaller children, while a helper is on its way."""
        room = _Room(tuple(map(len, rows)), ((0, 0), (1, 0)), codes.n_blocks)
        plan = room.plan._replace(parts=room.plan.parts.copy())  # the children are filled in
        child, found, value = np.empty(N_CODES, np.uint8), np.empty(4, np.int64), np.empty(2)
        sizes = np.empty((2, 2), np.int64)
        data = stump_kernels.Data(tuple(rows), tuple(values), scale)
        root = (
            (planes[0], planes[1]), (error[0], error[1]), _counts(counts, bins), _features(bins), _terms(request),
            rows_per_code, codes.words,
        )  # fmt: skip

        def own(turns: Array) -> None:
            stump_kernels.find_and_split(*root, data, plan, turns, room.arrays, child, found, value, sizes)

        def work(turns: Array) -> None:
            stump_kernels.lend_a_hand(codes.words, found, child, data, plan, turns, room.arrays)

        share(work, room.n_tasks, self.n_jobs, own)
        split = _split(child, found, value)
        if split is None or split.doubtful or child[MISSING] == ABSTAIN or sizes.sum(axis=1).min() == 0:
            return split, sizes.tolist(), []
        sides = plan.parts[:, 1].tolist()
        return split, sizes.tolist(), [(side, *part) for side, part in zip(sides, room.close_up())]

    def reweighted(self, whole: Array, parts: Sequence[Array], factors: Sequence[float]) -> Array:
        """Σ factors[k]·parts[k], and the last factor times what they leave of the whole."""
        stump_kernels.reweight(whole, tuple(parts), np.asarray(factors))
        return whole

    def total(self, weights: Array, rows: Rows) -> float:
        """Σ weights over the rows."""
        return kernels.total(weights, rows)

    def scale(self, weights: Array, rows: Rows, factor: float) -> None:
        """Multiply the weights of the rows."""
        kernels.scale(weights, rows, factor)

    # ------------------------------------------------------------------- scoring

    def score(self, scorer: Scorer, table: Table) -> Array:
        """F of new rows: step functions on the numbers themselves, trees on codes; added in the order of `Scorer`."""
        F = np.full(table.n_rows, scorer.constant)
        for X, columns, names in _parts(table, scorer.table_features):
            if isinstance(X, Nominal):
                assert scorer.bins is not None
                (j,) = names
                F += scorer.tables[j][scorer.bins.features[j].translate(X)]
                continue
            steps = [scorer.steps(j) for j in names]
            cuts = np.stack([_padded(c) for c, _ in steps])
            values = np.stack([np.pad(v, (0, N_CODES - len(v))) for _, v in steps])
            add_steps = partial(kernels.add_steps, X, columns)
            self._by_rows(table.n_rows, add_steps, cuts, values, scorer.tables[names, MISSING], F)
        if scorer.trees:
            assert scorer.bins is not None
            words = self._encode(table, scorer.bins, scorer.tree_features).words
            self._by_rows(table.n_rows, partial(kernels.add_trees, words), *scorer.packed.arrays, F)
        return F + scorer.rest(View(self, table, scorer.bins))


class _Room:
    """What `stump_kernels.split_tasks` needs beside the node: how to divide the work, and where to put the results."""

    def __init__(self, n_rows: tuple[int, ...], wanted: tuple[tuple[int, int], ...], n_blocks: int) -> None:
        self.plan, n_chosen = _plan(n_rows, wanted, n_blocks)
        n_chunks, n_slices = len(self.plan.chunks), len(self.plan.slices)
        self.n_tasks = n_blocks * n_slices
        chosen, weights = np.empty(n_chosen, np.uint32), np.empty(n_chosen)
        lengths, sums = np.empty(n_chunks, np.int64), np.empty((n_slices, n_blocks, _BLOCK * N_CODES))
        self.arrays = stump_kernels.Room(new_turns(), chosen, weights, lengths, sums)

    def close_up(self) -> list[tuple[Rows, Array]]:
        """The rows and the histogram of each part."""
        ends = np.empty((len(self.plan.parts), 2), np.int64)
        stump_kernels.close_up(self.plan, self.arrays, ends)
        histograms = self.arrays.sums.reshape(len(self.plan.slices), -1, N_CODES)
        return [(self.arrays.chosen[a:b], histograms[k]) for k, (a, b) in enumerate(ends.tolist())]


def _counts(counts: Array | None, bins: Bins) -> Array:
    return np.empty((bins.n_features, 0)) if counts is None else counts


def _features(bins: Bins) -> Features:
    return Features(bins.n_bins, bins.nominal)


def _terms(request: Request) -> Terms:
    """A request as the kernels take it."""
    return Terms(
        CRITERIA.index(request.criterion), request.missing == "learn", request.min_count * (1 - SLACK),
        request.min_weight * (1 - SLACK), MAX_ENUMERATED, TIE, MAX_NODE_ERROR,
        float(request.costs[0]), float(request.costs[1]), float(request.delta),
    )  # fmt: skip


def _room_for_children(
    n_rows: list[int], routed: list[tuple[Rows, Rows]] | None, n_padded: int, n_features: int
) -> Children:
    """Arrays for the children of a node; `routed` are their rows if they are known."""
    sizes = np.empty((2, len(n_rows)), np.int64)
    if routed is None:
        left, right = (tuple(np.empty(n, np.uint32) for n in n_rows) for _ in range(2))
    else:
        left, right = tuple(r[0] for r in routed), tuple(r[1] for r in routed)
        sizes[:] = [[len(r) for r in left], [len(r) for r in right]]
    return Children(
        left, right, sizes, (np.empty((n_padded, N_CODES)), np.empty((n_padded, N_CODES))), np.empty(2),
        np.empty((2, n_features)), np.empty((2, 2)), np.empty(2, np.bool_), np.empty((2, N_CODES), np.uint8),
        np.empty((2, 4), np.int64), np.empty((2, 2)),
    )  # fmt: skip


def _split(child: Array, found: Array, value: Array) -> Split | None:
    """What the search kernel found, as a `Split`."""
    feature, threshold, doubtful, polarity = found.tolist()
    if feature < 0:
        return None
    after, before = value.tolist()
    return Split(feature, threshold, child, polarity, after, before, bool(doubtful))


@lru_cache(maxsize=64)
def _plan(
    n_rows: tuple[int, ...], wanted: tuple[tuple[int, int], ...], n_blocks: int
) -> tuple[stump_kernels.Plan, int]:
    """How `stump_kernels.split_tasks` divides its work: parts, chunks and slices, and how many rows may be chosen.

    The first slices of all parts come before further ones.
    """
    chunks: list[tuple[int, ...]] = []
    first_slices: list[tuple[int, ...]] = []
    more_slices: list[tuple[int, ...]] = []
    to = 0
    for part, (group, _) in enumerate(wanted):
        n = n_rows[group]
        bounds = _bounds(n, max(1, n // _CHUNK))
        start = len(chunks)
        for a, b in pairwise(bounds.tolist()):
            chunks.append((part, a, b, to + a))
        to += n
        n_chunks = len(bounds) - 1
        cuts = start + _bounds(n_chunks, max(1, min(-(-_TASKS // n_blocks), n_chunks // _CHUNKS_PER_SLICE)))
        first, *more = pairwise(cuts.tolist())
        first_slices.append((part, *first))
        more_slices += [(part, *pair) for pair in more]
    parts, all_chunks, slices = (np.array(p, dtype=np.int64) for p in (wanted, chunks, first_slices + more_slices))
    return stump_kernels.Plan(parts, all_chunks, slices), to


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
