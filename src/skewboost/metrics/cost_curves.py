"""Cost curves: the expected cost of a score under all operating conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from skewboost.errors import InputError
from skewboost.metrics.counts import Counts
from skewboost.metrics.inputs import read_scores
from skewboost.typing import Array


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Normalised expected cost against the probability-cost PC(+): a line per threshold, and their lower envelope.

    Attributes
    ----------
    thresholds, false_alarm_rate, miss_rate : ndarray of shape (n_lines,)
        All distinct thresholds, in rising order, with their rates. The line of a threshold is
        ``miss_rate · PC + false_alarm_rate · (1 - PC)``; the first flags all rows and the last flags none.
    probability_cost, normalised_cost : ndarray of shape (n_vertices,)
        The corners of the lower envelope, from PC(+) = 0 to 1.
    best : ndarray of shape (n_vertices - 1,)
        The index in `thresholds` of the lowest line between two corners.
    """

    thresholds: Array
    false_alarm_rate: Array
    miss_rate: Array
    probability_cost: Array
    normalised_cost: Array
    best: Array

    def at(self, probability_cost: Any) -> Any:
        """Return the normalised expected cost of the best threshold at this PC(+)."""
        return np.interp(probability_cost, self.probability_cost, self.normalised_cost)[()]

    def best_threshold(self, probability_cost: Any) -> Any:
        """Return the cheapest threshold at this PC(+); rows with at least this score are flagged."""
        inner = self.probability_cost[1:-1]
        return self.thresholds[self.best[np.searchsorted(inner, probability_cost, side="right")]][()]

    @property
    def area(self) -> float:
        """The area under the envelope: the mean over all operating conditions; random scores have 1/4."""
        return float(np.trapezoid(self.normalised_cost, self.probability_cost))


def cost_curve(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None) -> CostCurve:
    r"""Compute the cost curve of a score [drummond2006]_.

    The expected cost, divided by its largest possible value, is a straight line in
    :math:`PC(+) = \pi_+ C_{miss} / (\pi_+ C_{miss} + \pi_- C_{false alarm})` for each threshold:
    :math:`FNR \cdot PC(+) + FPR \cdot (1 - PC(+))`. Where the curve of one score is below that of another, it is
    cheaper under that condition. The lower envelope is the cost of the best threshold. Its lines correspond to the
    corners of the ROC convex hull, which are found by pooling adjacent violators.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Larger where the positive class is more likely; or a column for each class.
    pos_label : label or None, default=None
        The positive class, against all others. None: the rarer of two in `y_true`, the larger label in a tie.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How many examples a row stands for.

    Returns
    -------
    CostCurve

    References
    ----------
    .. [drummond2006] C. Drummond, R. C. Holte, "Cost curves: an improved method for visualizing classifier
       performance", Machine Learning 65 (2006) 95-130.

    Examples
    --------
    >>> from skewboost.metrics import cost_curve, probability_cost
    >>> curve = cost_curve([0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.9])
    >>> print(curve.at([0.2, 0.5, 0.8]).round(3))
    [0.1   0.125 0.05 ]
    >>> print(f"{curve.best_threshold(probability_cost(prior=1 / 3, cost=20)):.2f}")
    0.35
    """
    positive, scores, weights = read_scores(y_true, y_score, pos_label, sample_weight)
    if weights is not None:
        present = weights > 0
        positive, scores, weights = positive[present], scores[present], weights[present]
    if positive.all() or not positive.any():
        raise InputError("sample_weight is 0 for all rows of a class.", "Give some rows of both classes a weight.")
    thresholds, counts = Counts.at_thresholds(positive, scores, weights)
    fpr, fnr = np.asarray(counts.false_alarm_rate), np.asarray(counts.miss_rate)
    best = _lowest_lines(fpr, fnr)
    # neighbouring lines intersect where fewer false alarms and more misses cost the same
    spared, missed = fpr[best[1:]] - fpr[best[:-1]], fnr[best[:-1]] - fnr[best[1:]]
    meets = np.maximum.accumulate(spared / (spared + missed)) if len(spared) else np.empty(0)
    corners = np.concatenate(([0.0], meets, [1.0]))
    lower = np.concatenate((best, best[-1:]))
    heights = fnr[lower] * corners + fpr[lower] * (1.0 - corners)
    return CostCurve(thresholds, fpr, fnr, corners, heights, best)


def probability_cost(prior: Any, cost: Any) -> Any:
    """Compute PC(+) from the proportion of positives where the model is used and the cost of a miss, in false alarms.

    Examples
    --------
    >>> from skewboost.metrics import probability_cost
    >>> print(f"{probability_cost(prior=0.02, cost=20):.3f}")
    0.290
    """
    p, miss = np.asarray(prior, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError(f"prior={prior!r} must be a proportion, from 0 to 1.")
    if not (miss > 0).all():
        raise InputError(f"cost={cost!r} must be greater than 0: it is the cost of a miss, in false alarms.")
    return (p * miss / (p * miss + 1.0 - p))[()]


def _lowest_lines(fpr: Array, fnr: Array) -> Array:
    """Return the lines of the lower envelope, from PC(+) = 0: the corners of the convex hull of (fpr, fnr)."""
    spared, missed = -np.diff(fpr), np.diff(fnr)
    mass = spared + missed
    # The slope of the hull is the isotonic fit to the slopes of its steps.
    fitted = isotonic_regression(missed / mass, sample_weight=mass)
    corners = np.concatenate(([0], 1 + np.flatnonzero(np.diff(fitted) > 0), [len(fpr) - 1]))
    return np.asarray(corners[::-1])
