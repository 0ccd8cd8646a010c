"""The numbers of the cost explorer: binned scores, and the results at a threshold for given costs and prevalence.

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
MAX_DECIMALS = 15


@dataclass(frozen=True)
class Outcome:
    """The results at a threshold, per case."""

    counts: Counts  # as fractions of all cases
    cost: float  # the expected cost of a case
    none: float  # the expected cost if none were flagged
    all: float  # the expected cost if all were flagged

    @property
    def savings(self) -> float:
        """The fraction of the cost that is saved, compared with flagging all or none, whichever is cheaper."""
        return 1.0 - float(ratio(self.cost, min(self.none, self.all)))


@dataclass(frozen=True, eq=False)
class ScoreTable:
    r"""Binned scores, with exact counts of both classes.

    With the threshold ``thresholds[k]``, the rows of bin k and of all higher bins are flagged; the last threshold flags
    none. Counts at these thresholds are exact. If there are no more distinct scores than bins, each has its own bin.
    Otherwise bins start at

    - the model's own threshold,
    - all corners of the ROC convex hull, since one of them is the best threshold for any costs and prevalence,
    - quantiles of the scores of both classes, up to the number of bins.

    So the best threshold is exact, too (unless the hull has more corners than half the number of bins: then only every
    other corner is used). At other thresholds, the errors of recall and false-alarm rate are at most the fraction of
    the class in one bin.

    The fraction of positives where the model is used may differ from that of the given rows. With prevalence
    :math:`\pi`, cost :math:`C_m` of a miss and cost :math:`C_a` of a false alarm, the expected cost of a case is

    .. math:: C_m \, \pi \, \frac{FN}{P} + C_a \, (1 - \pi) \, \frac{FP}{N} .

    Recall and false-alarm rate do not depend on the prevalence, as long as the rows of each class look the same.

    Attributes
    ----------
    thresholds : ndarray of shape (n_bins + 1,)
        Increasing thresholds, with as few decimals as possible.
    lowest : ndarray of shape (n_bins,)
        The lowest score in each bin.
    positives, negatives : ndarray of shape (n_bins,)
        The total weights of the rows of each class.
    own : int or None
        The index of the model's own threshold.
    lossless : bool
        Whether each distinct score has its own bin.

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
        """Bin scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The true labels.
        y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
            Scores, larger for rows that are more likely positive; or a column for each class.
        threshold : float or None, default=None
            The model's own threshold, which becomes one of the thresholds: it flags rows with ``score >= threshold``.
        pos_label : label or None, default=None
            The positive class; None means the rarer of two classes.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The weights of the rows.
        max_bins : int, default=2000
            The approximate largest number of bins.
        """
        positive, scores, weights = read_scores(y_true, y_score, pos_label, sample_weight)
        if weights is not None and not weights.all():
            present = weights > 0
            positive, scores, weights = positive[present], scores[present], weights[present]
        if positive.all() or not positive.any():
            raise InputError("sample_weight leaves only one class. Pass positive weights for rows of both classes.")
        distinct, code = np.unique(scores + 0.0, return_inverse=True)  # -0.0 is 0.0
        mass = np.ones(len(scores)) if weights is None else weights
        of_class = [np.bincount(code, np.where(side, mass, 0.0), len(distinct)) for side in (positive, ~positive)]
        own = None if threshold is None else int(np.searchsorted(distinct, threshold))
        starts = np.arange(len(distinct))
        if len(distinct) > max_bins:
            curve = cost_curve(positive, scores, pos_label=True, sample_weight=weights)
            starts = _bin_starts(of_class[0], of_class[1], curve.best, own, max_bins)
        inner = np.concatenate((starts, [len(distinct)]))
        before = np.concatenate(([-np.inf], distinct))[inner]
        above = max(np.nextafter(distinct[-1], np.inf), distinct[-1] + 1e-3 * (distinct[-1] - distinct[0]))
        thresholds = shortest(before, np.concatenate((distinct[starts], [above])))
        if own is not None:
            own = int(np.searchsorted(inner, own))
            thresholds[own] = threshold
        positives, negatives = (np.add.reduceat(side, starts) for side in of_class)
        return cls(thresholds, distinct[starts], positives, negatives, own, len(starts) == len(distinct))

    @property
    def n_bins(self) -> int:
        """The number of bins."""
        return len(self.lowest)

    @property
    def total(self) -> tuple[float, float]:
        """The total weights of positives and negatives."""
        return float(np.cumsum(self.positives)[-1]), float(np.cumsum(self.negatives)[-1])

    @property
    def prevalence(self) -> float:
        """The fraction of positives in the given rows."""
        P, N = self.total
        return P / (P + N)

    @property
    def counts(self) -> Counts:
        """The confusion counts at all thresholds."""
        fn = np.concatenate(([0.0], np.cumsum(self.positives)))
        tn = np.concatenate(([0.0], np.cumsum(self.negatives)))
        return Counts(fn[-1] - fn, tn[-1] - tn, fn, tn)

    def index_at(self, threshold: float) -> int:
        """The index of the first of the thresholds that is not below this one."""
        return int(np.searchsorted(self.lowest, threshold))

    def counts_at(self, threshold: float) -> Counts:
        """The confusion counts if rows with ``score >= threshold`` are flagged."""
        counts: Counts = self.counts[self.index_at(threshold)]
        return Counts(*(float(v) for v in (counts.tp, counts.fp, counts.fn, counts.tn)))

    def costs(self, miss: float, alarm: float = 1.0, prevalence: float | None = None) -> Array:
        """The expected cost of a case at each of the thresholds."""
        P, N = self.total
        pi = self.prevalence if prevalence is None else prevalence
        counts = self.counts
        return np.asarray(miss * (pi * (counts.fn / P)) + alarm * ((1.0 - pi) * (counts.fp / N)))

    def best_index(self, miss: float, alarm: float = 1.0, prevalence: float | None = None) -> int:
        """The index of the cheapest threshold; in a tie, of the one that flags the fewest rows."""
        costs = self.costs(miss, alarm, prevalence)
        return len(costs) - 1 - int(np.argmin(costs[::-1]))

    def best_threshold(self, miss: float, alarm: float = 1.0, prevalence: float | None = None) -> float:
        """Return the cheapest threshold.

        Parameters
        ----------
        miss, alarm : float
            The costs of a miss and of a false alarm.
        prevalence : float or None, default=None
            The fraction of positives where the model is used; None means that of the given rows.

        Returns
        -------
        float
            Flag the rows with at least this score.
        """
        return float(self.thresholds[self.best_index(miss, alarm, prevalence)])

    def outcome(self, threshold: float, miss: float, alarm: float = 1.0, prevalence: float | None = None) -> Outcome:
        """Return the results at a threshold; other parameters as in `best_threshold`."""
        k = self.index_at(threshold)
        P, N = self.total
        pi = self.prevalence if prevalence is None else prevalence
        raw, costs = self.counts[k], self.costs(miss, alarm, prevalence)
        scaled = Counts(pi * (raw.tp / P), (1.0 - pi) * (raw.fp / N), pi * (raw.fn / P), (1.0 - pi) * (raw.tn / N))
        return Outcome(scaled, float(costs[k]), float(costs[-1]), float(costs[0]))

    def as_dict(self) -> dict[str, Any]:
        """Return the table as JSON values; counts are integers if possible."""
        return {
            "thresholds": self.thresholds.tolist(),
            "lowest": self.lowest.tolist(),
            "positives": _integers(self.positives),
            "negatives": _integers(self.negatives),
            "own": self.own,
            "lossless": self.lossless,
        }


def _bin_starts(positives: Array, negatives: Array, corners: Array, own: int | None, max_bins: int) -> Array:
    """The indices of the distinct scores at which bins start."""
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
    """Return the number with the fewest decimals in each interval ``(low, high]``."""
    found = high.copy()
    open_ = np.ones(len(high), dtype=np.bool_)
    for decimals in range(MAX_DECIMALS + 1):
        nearest = np.round(high, decimals)
        for rounded in (nearest, np.round(nearest - 10.0**-decimals, decimals)):
            fits = open_ & (rounded > low) & (rounded <= high)
            found[fits] = rounded[fits]
            open_ &= ~fits
    for k in np.flatnonzero(open_ & (low > 0)):  # close to zero: the fewest significant digits instead
        found[k] = next((x for d in range(17) if low[k] < (x := _rounded_down(high[k], d)) <= high[k]), high[k])
    return found


def _rounded_down(x: float, digits: int) -> float:
    """Round down to some number of digits after the first one."""
    mantissa, exponent = f"{x:.{digits}e}".split("e")
    nearest = float(f"{mantissa}e{exponent}")
    return nearest if nearest <= x else float(f"{float(mantissa) - 10.0**-digits:.{digits}f}e{exponent}")


def _integers(values: Array) -> list[Any]:
    numbers: list[Any] = (values.astype(np.int64) if (values == np.round(values)).all() else values).tolist()
    return numbers
