"""The split and the values of its leaves that minimise a sum of losses of rows, by a search over all splits.

The losses are functions of the value of the row's leaf, of a form that no histogram of weights can sum. The search is
over the sign of a leaf's value and its size: the loss of a row is ``w exp(u)``, where u is a function of both, and 0
where the size is 0. It is in NumPy, and its time grows with rows times columns.

If u is concave in the size, values and slopes at a few sizes bound the sum over a leaf from below, and the minimum is
computed for those splits only that could be the best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, N_CODES, RIGHT, TIE, Request, Split
from skewboost.engine.partition import View
from skewboost.engine.split_search import MAX_ENUMERATED, make_split, options_of, sort_key, subsets
from skewboost.engine.training_set import TrainingSet, W
from skewboost.typing import Array

SIGNS = (1, -1)
GRID = np.concatenate(([0.0], np.geomspace(1e-3, 1.0, 32)))  # sizes, as fractions of the largest
SLACK = 1e-11  # of lower bounds, for rounding errors
BATCH = 64  # splits whose values are computed at once
BLOCK = 1 << 21  # numbers that are computed at once
MAX_STEPS = 100
LARGEST_EXPONENT = 500.0

# From a sign, sizes [leaf, 1] and vectors [row] to u and its first two derivatives by the size, which broadcast to
# [leaf, row]
Exponent = Callable[..., tuple[Array, Array, Array]]


@dataclass(frozen=True)
class RowLosses:
    """The losses of rows as functions of the value of their leaf, with the smoothing of that value.

    A value minimises the sum over the rows of the leaf and two imaginary rows of the weight `delta`, one of each class.
    They do not count for the choice of the split.
    """

    exponent: Exponent
    inputs: tuple[str, ...]  # the vectors of the training set that it takes
    imaginary: tuple[Sequence[float], ...]  # their values for the two imaginary rows
    delta: float
    largest: float  # the largest size of a value
    concave: bool  # whether u is concave in the size, so that sums have lower bounds


class Minima(NamedTuple):
    """For each leaf: the size that minimises the smoothed sum, that sum, and the sum over the rows."""

    size: Array
    smoothed: Array
    loss: Array


class Brackets(NamedTuple):
    """For each leaf: bounds of the size that minimises the sum, and where to start. Equal bounds are the minimum."""

    low: Array
    start: Array
    high: Array

    def take(self, leaves: Array) -> Brackets:
        """Return those of some leaves."""
        return Brackets(*(each[leaves] for each in self))


class LeafSums:
    """The sums of the losses over leaves. The imaginary rows are the last two, and are in every leaf."""

    def __init__(self, losses: RowLosses, rows: TrainingSet) -> None:
        self.losses = losses
        self.w = np.concatenate((rows.get(W), [losses.delta] * 2))
        given = zip(losses.inputs, losses.imaginary)
        self.vectors = [np.concatenate((rows.get(name), values)) for name, values in given]
        self.sizes = GRID * losses.largest

    def each(self, weights: Array, sign: int, size: Array) -> tuple[Array, Array, Array]:
        """Return the losses of rows, ``[leaf, row]``, and their first two derivatives by the size of the leaf."""
        u, first, second = self.losses.exponent(sign, size[:, None], *self.vectors)
        loss = weights * np.exp(np.minimum(u, LARGEST_EXPONENT))
        return loss, loss * first, loss * (first * first + second)

    def at_sizes(self, sign: int) -> tuple[Array, Array, Array, Array]:
        """Return the losses of rows and their slopes at all sizes of the grid, ``[size, row]``.

        The last two are the losses times the slopes of the chords of u to the next size and from the size before.
        """
        u, first, _ = self.losses.exponent(sign, self.sizes[:, None], *self.vectors)
        u = np.minimum(np.broadcast_to(u, (len(self.sizes), len(self.w))), LARGEST_EXPONENT)
        chord = np.diff(u, axis=0) / np.diff(self.sizes)[:, None]
        loss = self.w * np.exp(u)
        return loss, loss * first, loss[:-1] * chord, loss[1:] * chord

    def brackets(self, values: Array, slopes: Array) -> Brackets:
        """Return brackets from the sums and their slopes at all sizes of the grid, ``[leaf, size]``.

        The minimum is between the size with the lowest sum and the next one on the side to which the sum falls there.
        """
        k, last = values.argmin(axis=1), len(self.sizes) - 1
        falls = slopes[np.arange(len(k)), k] < 0
        left, right = np.where(falls, k, np.maximum(k - 1, 0)), np.where(falls, np.minimum(k + 1, last), k)
        return Brackets(self.sizes[left], self.sizes[k], self.sizes[right])

    def minima(self, members: Array, sign: int, within: Brackets) -> Minima:
        """Return the minimum of each leaf, given as a mask ``[leaf, row]``, over values of one sign."""
        n = max(1, BLOCK // len(self.w))
        parts = []
        for k in range(0, len(members), n):
            leaves = np.arange(k, min(k + n, len(members)))
            parts.append(self._minima(members[leaves], sign, within.take(leaves)))
        return Minima(*(np.concatenate(values) for values in zip(*parts)))

    def _minima(self, members: Array, sign: int, within: Brackets) -> Minima:
        """Newton's method within brackets."""
        weights = np.empty((len(members), len(self.w)))
        weights[:, :-2] = np.where(members, self.w[:-2], 0.0)
        weights[:, -2:] = self.w[-2:]
        low, size, high = (each.copy() for each in within)
        todo = np.flatnonzero(high > low)
        for _ in range(MAX_STEPS):
            if not len(todo):
                break
            x = size[todo]
            _, slopes, curvatures = self.each(weights[todo], sign, x)
            slope, curvature = slopes.sum(axis=1), curvatures.sum(axis=1)
            lo, hi = np.where(slope < 0, x, low[todo]), np.where(slope < 0, high[todo], x)
            following = x - np.divide(slope, curvature, out=np.full_like(x, np.inf), where=curvature > 0)
            outside = ~((lo < following) & (following < hi))
            following[outside] = 0.5 * (lo + hi)[outside]
            low[todo], high[todo], size[todo] = lo, hi, following
            todo = todo[(np.abs(following - x) > 1e-13 * x) & (hi - lo > 1e-15 * hi)]
        loss, _, _ = self.each(weights, sign, size)
        return Minima(size, loss.sum(axis=1), loss[:, :-2].sum(axis=1))


class Candidates(NamedTuple):
    """Splits of one feature: which codes are on the left, and which on the right; the other codes abstain."""

    feature: int
    threshold: Array  # the number of the candidate, which for numbers is the highest code on the left
    left: Array  # [candidate, code]
    right: Array
    side: Array  # of missing values
    ordered: bool

    def of_sides(self, codes: Array, values: Array) -> tuple[Array, Array]:
        """Return the sums of values ``[code, ...]`` over both sides, given the codes that there are."""
        if not self.ordered:
            return tuple(np.tensordot(side[:, codes], values, 1) for side in (self.left, self.right))  # type: ignore[return-value]
        present = values[codes != MISSING]
        missing = values[codes == MISSING].sum(axis=0)
        n_left = np.searchsorted(codes[codes != MISSING], self.threshold, side="right")
        none = np.zeros((1, values.shape[1]))
        up, down = np.concatenate((none, np.cumsum(present, axis=0))), np.cumsum(present[::-1], axis=0)[::-1]
        left, right = up[n_left], np.concatenate((down, none))[n_left]
        on_left, on_right = self.side[:, None] == LEFT, self.side[:, None] == RIGHT
        return left + on_left * missing, right + on_right * missing


@dataclass(frozen=True)
class Found:
    """The best split with the values of its leaves; without a split, the value of all rows."""

    split: Split | None
    values: Array
    loss: float
    gain: float


@dataclass(frozen=True)
class Outlook:
    """What the sizes of the grid say about candidates: brackets of their minima, and lower bounds of their losses."""

    brackets: dict[tuple[int, int], Brackets]  # by side and sign
    bounds: Array  # [candidate, polarity]


class ValueSearch:
    """The search over all splits of one feature under the current weights."""

    def __init__(self, rows: TrainingSet, view: View, request: Request, losses: RowLosses) -> None:
        assert view.bins is not None
        self.rows, self.view, self.bins, self.request = rows, view, view.bins, request
        self.forced = request.criterion != "z"  # whether the two sides must have opposite signs
        self.polarities = (1, -1) if self.forced else (0,)
        self.histogram = rows.histogram()
        self.sums = LeafSums(losses, rows)
        self.at_sizes = {sign: self.sums.at_sizes(sign) for sign in SIGNS}

    def best(self, constant: bool) -> Found:
        """Return the best split; ties go to the lowest feature, then threshold, then to positives on the right.

        With `constant` a value for all rows competes.
        """
        alone, value = self._constant()
        lists = [c for c in map(self._candidates, range(self.bins.n_features)) if len(c.threshold)]
        found = self._best(lists) if lists else None
        if found is None or (constant and alone < found[0] - TIE):
            return Found(None, np.array([value]), alone, 0.0)
        loss, candidates, k, polarity, values = found
        return Found(self._split(candidates, k, polarity, loss, alone), values, loss, max(0.0, alone - loss))

    def _constant(self) -> tuple[float, float]:
        """Return the loss of the best value for all rows, and that value."""
        whole = np.ones((1, self.rows.n_rows), dtype=np.bool_)
        ends = []
        for sign in SIGNS:
            values, slopes, *_ = (each.sum(axis=1)[None] for each in self.at_sizes[sign])
            found = self.sums.minima(whole, sign, self.sums.brackets(values, slopes))
            ends.append((float(found.smoothed[0]), float(found.loss[0]), sign * float(found.size[0])))
        return min(ends, key=lambda end: end[0])[1:]

    def _best(self, lists: list[Candidates]) -> tuple[float, Candidates, int, int, Array]:
        """Return the loss, the split, the polarity and the values of the best candidate."""
        place = [(c, k) for c in lists for k in range(len(c.threshold))]
        outlook = self._outlook(lists)
        loss = np.full(outlook.bounds.shape, np.inf)
        values = np.zeros((*loss.shape, 3))
        lowest = outlook.bounds.min(axis=1)
        todo = np.argsort(lowest, kind="stable")
        while len(todo):
            own, todo = todo[:BATCH], todo[BATCH:]
            for at, polarity in enumerate(self.polarities):
                loss[own, at], values[own, at] = self._values(own, place, polarity, outlook)
            todo = todo[lowest[todo] <= loss.min() + TIE]
        first = int(np.argmax(loss.ravel() <= loss.min() + TIE))
        k, at = divmod(first, len(self.polarities))
        n_leaves = 3 if self.request.missing == "abstain" else 2
        return float(loss[k, at]), *place[k], self.polarities[at], values[k, at, :n_leaves]

    def _values(
        self, own: Array, place: list[tuple[Candidates, int]], polarity: int, outlook: Outlook
    ) -> tuple[Array, Array]:
        """Return the losses of candidates, and the values of their leaves: left, right, and 0 where they abstain."""
        chosen = [place[k] for k in own.tolist()]
        columns = {c.feature: self.view.column(c.feature) for c, _ in chosen}
        loss, values = np.zeros(len(chosen)), np.zeros((len(chosen), 3))
        silent = np.ones((len(chosen), self.rows.n_rows), dtype=np.bool_)
        for side in (LEFT, RIGHT):
            members = np.array([(c.right if side else c.left)[k][columns[c.feature]] for c, k in chosen])
            signs = SIGNS if not self.forced else (polarity if side == RIGHT else -polarity,)
            found = [self.sums.minima(members, s, outlook.brackets[side, s].take(own)) for s in signs]
            better = found[0].smoothed <= found[-1].smoothed
            loss += np.where(better, found[0].loss, found[-1].loss)
            values[:, side] = np.where(better, signs[0] * found[0].size, signs[-1] * found[-1].size)
            silent &= ~members
        return loss + np.where(silent, self.sums.w[:-2], 0.0).sum(axis=1), values

    def _outlook(self, lists: list[Candidates]) -> Outlook:
        """Sum the losses at the sizes of the grid over the sides of all candidates."""
        widths, concave, w = np.diff(self.sums.sizes), self.sums.losses.concave, self.sums.w[:-2]
        brackets: dict[tuple[int, int], list[Brackets]] = {(side, sign): [] for side in (LEFT, RIGHT) for sign in SIGNS}
        bounds = []
        for c in lists:
            column = self.view.column(c.feature)
            order = np.argsort(column, kind="stable")
            codes, starts = np.unique(column[order], return_index=True)
            voting = sum(c.of_sides(codes, np.add.reduceat(w[order], starts)[:, None]))
            low = {}
            for sign, each in self.at_sizes.items():
                imaginary = [v[:, -2:].sum(axis=1) for v in each]
                per_code = [np.add.reduceat(v[:, :-2][:, order], starts, axis=1).T for v in each]
                of_sides = zip(*(c.of_sides(codes, v) for v in per_code))
                for side, parts in zip((LEFT, RIGHT), of_sides):
                    values, slopes, first, second = (part + more for part, more in zip(parts, imaginary))
                    brackets[side, sign].append(self.sums.brackets(values, slopes))
                    below = _below(widths, values, first, second, imaginary[0]) if concave else -np.inf
                    low[side, sign] = below + np.zeros(len(values))
            if self.forced:
                both = [low[LEFT, -1] + low[RIGHT, 1], low[LEFT, 1] + low[RIGHT, -1]]
            else:
                both = [np.minimum(low[LEFT, 1], low[LEFT, -1]) + np.minimum(low[RIGHT, 1], low[RIGHT, -1])]
            bounds.append(np.array(both).T + w.sum() - voting)
        joined = {k: Brackets(*map(np.concatenate, zip(*parts))) for k, parts in brackets.items()}
        return Outlook(joined, np.concatenate(bounds) - SLACK)

    # ------------------------------------------------------------------------------------------- candidates

    def _candidates(self, feature: int) -> Candidates:
        """Return the splits of a feature, as `split_search.best_split` has them."""
        learns = self.request.missing == "learn"
        usable = self.histogram[:, feature].sum(axis=0) > 0
        has_missing = bool(usable[MISSING])
        if not learns:
            usable[MISSING] = False
        if self.bins.nominal[feature] and not self.bins.ordered[feature]:
            return self._of_categories(feature, usable)
        codes = np.flatnonzero(usable[:MISSING])
        sides = (LEFT, RIGHT) if learns and has_missing else (LEFT,) if learns else (ABSTAIN,)
        rows = [(k, side) for k in codes.tolist() for side in sides]
        threshold, side = np.array(rows, dtype=np.int64).reshape(-1, 2).T
        left = np.arange(N_CODES) <= threshold[:, None]
        left[:, MISSING] = side == LEFT
        return _non_empty(feature, threshold, left, usable, side, ordered=True)

    def _of_categories(self, feature: int, usable: Array) -> Candidates:
        """Return all subsets of a few categories if signs are forced, else the prefixes in the order of P(+)."""
        codes = np.flatnonzero(usable)
        if len(codes) < 2:
            sets = np.zeros((0, len(codes)), dtype=np.bool_)
        elif self.forced and len(codes) <= MAX_ENUMERATED:
            sets = subsets(len(codes), forced=False)  # both polarities of a set are tried
        else:
            with np.errstate(divide="ignore"):
                order = np.argsort(sort_key("z", *self.histogram[:, feature, codes]), kind="stable")
            rank = np.argsort(order)
            sets = rank <= np.arange(len(codes) - 1)[:, None]
        left = np.zeros((len(sets), N_CODES), dtype=np.bool_)
        left[:, codes] = sets
        side = np.where(left[:, MISSING], LEFT, RIGHT)
        if self.request.missing == "abstain":
            side[:] = ABSTAIN
        return _non_empty(feature, np.arange(len(sets)), left, usable, side, ordered=False)

    def _split(self, c: Candidates, k: int, polarity: int, loss: float, before: float) -> Split:
        """Return the split of a candidate."""
        h = self.histogram[:, c.feature]
        if c.ordered:
            option = options_of(self.request).index((int(c.side[k]), polarity))
        else:
            option = int(polarity < 0)
        threshold = int(c.threshold[k]) if c.ordered else -1
        split = make_split(c.feature, threshold, np.flatnonzero(c.left[k]), option, loss, h, self.request)
        split.before = before
        if self.bins.ordered[c.feature]:
            split.threshold = -1
        return split


def _non_empty(feature: int, threshold: Array, left: Array, usable: Array, side: Array, *, ordered: bool) -> Candidates:
    """Return the candidates that have rows on both sides."""
    left, right = left & usable, ~left & usable
    both = left.any(axis=1) & right.any(axis=1)
    return Candidates(feature, threshold[both], left[both], right[both], side[both], ordered)


def _below(widths: Array, values: Array, first: Array, second: Array, smoothing: Array) -> Array:
    """Return a lower bound, for each leaf, of the sum over its rows at the minimum of the smoothed sum.

    Arrays are ``[leaf, size]``. As u is concave, it is above its chord between two sizes, and the sum above a convex
    one with u replaced by the chords. `first` and `second` are the slopes of the latter at both ends of each interval.
    The minimum is in an interval whose bound is not above the lowest sum that is known. There the smoothing, which is
    convex, is not above its values at the ends.
    """
    y0, y1 = values[:, :-1], values[:, 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = np.clip((y1 - y0 - second * widths) / (first - second), 0.0, widths)  # of the tangents
    bounds = np.where(first >= 0, y0, np.where(second <= 0, y1, y0 + first * meet))
    possible = bounds <= values.min(axis=1, keepdims=True) * (1.0 + SLACK)
    alone = bounds - np.maximum(smoothing[:-1], smoothing[1:])
    return np.asarray(np.where(possible, alone, np.inf).min(axis=1))
