"""The numbers behind the cost explorer: scores in bins, and what follows from a threshold, costs and a prevalence.

`explorer.js` does the same arithmetic in the same order, so that both get the same numbers to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.metrics.cost_curves import cost_curve
from skewboost.metrics.counts import Counts, ratio
from skewboost.metrics.inputs import read_scores
from skewboost.typing import Array

MAX_BINS = 2000
MOST_DECIMALS = 15


@dataclass(frozen=True)
class Outcome:
    """What a threshold leads to, per case where the model is used.

    Attributes
    ----------
    counts : Counts
        Shares of all cases: TP, FP, FN and TN add up to 1.
    cost : float
        Of a case, on average.
    none, all : float
        The same if no case, or every case, were flagged.
    """

    counts: Counts
    cost: float
    none: float
    all: float

    @property
    def savings(self) -> float:
        """The share of the cost that is saved against the cheaper of flagging none and flagging all."""
        return 1.0 - float(ratio(self.cost, min(self.none, self.all)))


@dataclass(frozen=True, eq=False)
class ScoreTable:
    r"""Scores in bins, with exact counts of both classes.

    Rows of bin k and of all higher ones are flagged if the threshold is ``thresholds[k]``; the last threshold flags
    none. Counts at these thresholds are exact. With no more distinct scores than bins each has its own, and nothing is
    lost. Otherwise there are cuts

    - at the model's own threshold,
    - at all corners of the ROC convex hull: whatever mistakes cost and however frequent the positives are, the best
      threshold of all is one of them,
    - and, in the room that is left, at quantiles of the scores of both classes.

    So the best threshold is exact too (unless the hull has more corners than half of the bins, of which then every
    other one is taken), and between cuts recall and false-alarm rate are off by at most the share of one bin.

    Where the model is used the share of positives may differ from the rows at hand: with prevalence :math:`\pi`, a miss
    costing :math:`C_m` and a false alarm :math:`C_a` a case costs

    .. math:: C_m \, \pi \, \frac{FN}{P} + C_a \, (1 - \pi) \, \frac{FP}{N}

    on average. Recall and false-alarm rate stay what they are, which is right if both classes look as they did.

    Attributes
    ----------
    thresholds : ndarray of shape (n_bins + 1,)
        Rising. Decimals are as few as can be, so that a threshold that is read off can be used as it is.
    lowest : ndarray of shape (n_bins,)
        The lowest score in each bin.
    positives, negatives : ndarray of shape (n_bins,)
        How many rows there are, by their weight.
    own : int or None
        The entry of `thresholds` that is the model's own.
    lossless : bool
        Whether each distinct score has a bin of its own.

    Examples
    --------
    >>> from skewboost.plots import ScoreTable
    >>> table = ScoreTable.from_scores([0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.9])
    >>> print(table.counts_at(0.45))
    Counts(tp=1.0, fp=1.0, fn=1.0, tn=3.0)
    >>> table.best_threshold(miss=20)
    0.4
    """

    thresholds: Array
    lowest: Array
    positives: Array
    negatives: Array
    own: int | None = None
    lossless: bool = True

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        threshold: float | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        max_bins: int = MAX_BINS,
    ) -> ScoreTable:
        """Put scores into bins.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The true labels.
        y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
            Larger where more speaks for the positive class; or a column for each class.
        threshold : float or None, default=None
            The model's own: ``score >= threshold`` is flagged. It becomes one of the thresholds.
        pos_label : label or None, default=None
            The positive class; None: the rarer of two.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How many examples a row stands for.
        max_bins : int, default=2000
            The largest number of bins, up to rounding.

        Returns
        -------
        ScoreTable
        """
        positive, scores, weights = read_scores(y_true, y_score, pos_label, sample_weight)
        if weights is not None and not weights.all():
            present = weights > 0
            positive, scores, weights = positive[present], scores[present], weights[present]
        if positive.all() or not positive.any():
            raise InputError("sample_weight leaves only one class, so that there is nothing to explore. Keep both.")
        distinct, code = np.unique(scores + 0.0, return_inverse=True)  # -0.0 is 0.0
        mass = np.ones(len(scores)) if weights is None else weights
        of_class = [np.bincount(code, np.where(side, mass, 0.0), len(distinct)) for side in (positive, ~positive)]
        own = None if threshold is None else int(np.searchsorted(distinct, threshold))
        starts = np.arange(len(distinct))
        if len(distinct) > max_bins:
            curve = cost_curve(positive, scores, pos_label=True, sample_weight=weights)
            starts = _cuts(of_class[0], of_class[1], curve.best, own, max_bins)
        inner = np.concatenate((starts, [len(distinct)]))
        before = np.concatenate(([-np.inf], distinct))[inner]
        above = max(np.nextafter(distinct[-1], np.inf), distinct[-1] + 1e-3 * (distinct[-1] - distinct[0]))
        thresholds = shortest(before, np.concatenate((distinct[starts], [above])))
        if own is not None:
            own = int(np.searchsorted(inner, own))
            thresholds[own] = threshold
        positives, negatives = (np.add.reduceat(side, starts) for side in of_class)
        lossless = len(starts) == len(distinct)
        return cls(thresholds, distinct[starts], positives, negatives, own, lossless)

    @property
    def n_bins(self) -> int:
        """How many."""
        return len(self.lowest)

    @property
    def total(self) -> tuple[float, float]:
        """All positives, all negatives."""
        return float(np.cumsum(self.positives)[-1]), float(np.cumsum(self.negatives)[-1])

    @property
    def prevalence(self) -> float:
        """The share of the positives in the rows at hand."""
        P, N = self.total
        return P / (P + N)

    @property
    def counts(self) -> Counts:
        """At all thresholds."""
        fn = np.concatenate(([0.0], np.cumsum(self.positives)))
        tn = np.concatenate(([0.0], np.cumsum(self.negatives)))
        return Counts(fn[-1] - fn, tn[-1] - tn, fn, tn)

    def index_at(self, threshold: float) -> int:
        """Which of the thresholds; of a bin that is cut no row is flagged."""
        return int(np.searchsorted(self.lowest, threshold))

    def counts_at(self, threshold: float) -> Counts:
        """Right and wrong answers on the rows at hand, if ``score >= threshold`` is "positive"."""
        counts: Counts = self.counts[self.index_at(threshold)]
        return Counts(*(float(v) for v in (counts.tp, counts.fp, counts.fn, counts.tn)))

    def costs(self, miss: float, alarm: float = 1.0, prevalence: float | None = None) -> Array:
        """What a case costs on average, at each of the thresholds."""
        P, N = self.total
        share_of_positives = self.prevalence if prevalence is None else prevalence
        counts = self.counts
        return np.asarray(
            miss * (share_of_positives * (counts.fn / P)) + alarm * ((1.0 - share_of_positives) * (counts.fp / N))
        )

    def best_index(self, miss: float, alarm: float = 1.0, prevalence: float | None = None) -> int:
        """Which threshold costs least; of several the highest, which flags the fewest."""
        costs = self.costs(miss, alarm, prevalence)
        return len(costs) - 1 - int(np.argmin(costs[::-1]))

    def best_threshold(self, miss: float, alarm: float = 1.0, prevalence: float | None = None) -> float:
        """The threshold that costs least.

        Parameters
        ----------
        miss, alarm : float
            What a miss and a false alarm cost.
        prevalence : float or None, default=None
            The share of positives where the model is used; None: as in the rows at hand.

        Returns
        -------
        float
            Rows with a score of at least that much are to be flagged.
        """
        return float(self.thresholds[self.best_index(miss, alarm, prevalence)])

    def outcome(self, threshold: float, miss: float, alarm: float = 1.0, prevalence: float | None = None) -> Outcome:
        """What a threshold leads to where misses, false alarms and positives are such."""
        k = self.index_at(threshold)
        P, N = self.total
        pi = self.prevalence if prevalence is None else prevalence
        raw, costs = self.counts[k], self.costs(miss, alarm, prevalence)
        scaled = Counts(pi * (raw.tp / P), (1.0 - pi) * (raw.fp / N), pi * (raw.fn / P), (1.0 - pi) * (raw.tn / N))
        return Outcome(scaled, float(costs[k]), float(costs[-1]), float(costs[0]))

    def as_dict(self) -> dict[str, Any]:
        """For the page: counts are whole numbers where they can be."""
        return {
            "thresholds": self.thresholds.tolist(),
            "lowest": self.lowest.tolist(),
            "positives": _whole(self.positives),
            "negatives": _whole(self.negatives),
            "own": self.own,
            "lossless": self.lossless,
        }


def _cuts(positives: Array, negatives: Array, corners: Array, own: int | None, max_bins: int) -> Array:
    """With which distinct scores bins begin."""
    n = len(positives)
    corners = np.unique(corners[corners < n])
    while len(corners) > max_bins // 2:
        corners = corners[::2]
    fixed = np.concatenate(([0], corners, [] if own is None or own >= n else [own])).astype(np.intp)
    room = max(2, max_bins - len(fixed))
    quantiles = []
    for side, quota in ((positives, room // 2), (negatives, room - room // 2)):
        mass = np.cumsum(side)
        quantiles.append(np.searchsorted(mass, mass[-1] * np.arange(1, quota + 1) / (quota + 1)))
    return np.unique(np.concatenate((fixed, *quantiles)))


def shortest(low: Array, high: Array) -> Array:
    """In each interval ``(low, high]`` the number with the fewest decimals."""
    found = high.copy()
    open_ = np.ones(len(high), dtype=np.bool_)
    for decimals in range(MOST_DECIMALS + 1):
        nearest = np.round(high, decimals)
        for rounded in (nearest, np.round(nearest - 10.0**-decimals, decimals)):
            fits = open_ & (rounded > low) & (rounded <= high)
            found[fits] = rounded[fits]
            open_ &= ~fits
    for k in np.flatnonzero(open_ & (low > 0)):  # next to zero: the fewest digits instead
        found[k] = next((x for d in range(17) if low[k] < (x := _rounded_down(high[k], d)) <= high[k]), high[k])
    return found


def _rounded_down(x: float, digits: int) -> float:
    """With so many digits behind the first one, and not above x."""
    mantissa, exponent = f"{x:.{digits}e}".split("e")
    nearest = float(f"{mantissa}e{exponent}")
    return nearest if nearest <= x else float(f"{float(mantissa) - 10.0**-digits:.{digits}f}e{exponent}")


def _whole(values: Array) -> list[Any]:
    found: list[Any] = (values.astype(np.int64) if (values == np.round(values)).all() else values).tolist()
    return found
