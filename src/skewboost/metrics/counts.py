"""Counts of right and wrong predictions, and the rates that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from skewboost.errors import InputError
from skewboost.typing import Array


@dataclass(frozen=True)
class Counts:
    """True positives, false positives, false negatives and true negatives.

    They are numbers, or arrays with, for example, one entry per threshold. A rate is NaN where its denominator is 0,
    such as the precision of a classifier that never predicts "positive".

    Examples
    --------
    >>> from skewboost.metrics import Counts
    >>> counts = Counts(tp=8, fp=4, fn=2, tn=86)
    >>> print(f"recall {counts.recall}, precision {counts.precision:.2f}, G-mean {counts.g_mean:.2f}")
    recall 0.8, precision 0.67, G-mean 0.87
    """

    tp: Any
    fp: Any
    fn: Any
    tn: Any

    @classmethod
    def of(cls, positive: Array, flagged: Array, weights: Array | None = None) -> Counts:
        """Count predictions, given which rows are positive and which are predicted to be."""
        cell = 2 * np.asarray(positive, dtype=np.intp) + np.asarray(flagged, dtype=np.intp)
        tn, fp, fn, tp = np.bincount(cell, weights, minlength=4).tolist()
        return cls(tp, fp, fn, tn)

    @classmethod
    def at_thresholds(cls, positive: Array, scores: Array, weights: Array | None = None) -> tuple[Array, Counts]:
        """Return all distinct thresholds in rising order, and the counts if ``score >= threshold`` is "positive".

        The first threshold is the lowest score (all rows are flagged), the last is just above the highest (none is),
        and the others are halfway between neighbouring scores.
        """
        check_scores(scores)
        order = np.argsort(scores, kind="stable")
        ordered = np.asarray(scores, dtype=np.float64)[order]
        mass = np.ones(len(order)) if weights is None else np.asarray(weights, dtype=np.float64)[order]
        is_positive = np.asarray(positive, dtype=np.bool_)[order]
        ends = np.flatnonzero(np.diff(ordered) > 0)  # the last row of each score but the highest
        below = np.concatenate(([0], ends + 1, [len(order)]))
        missed = np.concatenate(([0.0], np.cumsum(np.where(is_positive, mass, 0.0))))
        spared = np.concatenate(([0.0], np.cumsum(np.where(is_positive, 0.0, mass))))
        low, high = ordered[ends], ordered[ends + 1]
        with np.errstate(over="ignore"):
            middle = low + 0.5 * (high - low)
        middle = np.where((middle > low) & (middle <= high), middle, high)  # there may be no number in between
        thresholds = np.concatenate((ordered[:1], middle, np.nextafter(ordered[-1:], np.inf)))
        fn, tn = missed[below], spared[below]
        return thresholds, cls(missed[-1] - fn, spared[-1] - tn, fn, tn)

    def map(self, function: Callable[..., Any], *others: Counts) -> Self:
        """Return the counts with a function applied to each number, and to the same numbers of others."""
        return type(self)(*(function(*(getattr(c, f.name) for c in (self, *others))) for f in fields(self)))

    def __getitem__(self, k: Any) -> Self:
        """Return some entries of counts that are arrays."""
        return self.map(lambda count: count[k])

    def __add__(self, other: Counts) -> Self:
        return self.map(lambda a, b: a + b, other)

    def scaled(self, of_negatives: float, of_positives: float) -> Self:
        """Return whole numbers of rows, if there were so many times as many negatives and positives."""
        return type(self)(
            *(np.round((of_positives if f.name in OF_POSITIVES else of_negatives) * np.asarray(getattr(self, f.name)))
              for f in fields(self))
        )  # fmt: skip

    @property
    def swapped(self) -> Counts:
        """The counts with the negative class as the positive one."""
        return Counts(self.tn, self.fn, self.fp, self.tp)

    @property
    def positives(self) -> Any:
        """The number of positives."""
        return self.tp + self.fn

    @property
    def negatives(self) -> Any:
        """The number of negatives."""
        return self.tn + self.fp

    @property
    def flagged(self) -> Any:
        """The number of rows predicted to be positive."""
        return self.tp + self.fp

    @property
    def total(self) -> Any:
        """The number of rows."""
        return self.positives + self.negatives

    @property
    def recall(self) -> Any:
        """Proportion of the positives that are found: TP / (TP + FN)."""
        return ratio(self.tp, self.positives)

    @property
    def miss_rate(self) -> Any:
        """Proportion of the positives that are missed: FN / (TP + FN)."""
        return ratio(self.fn, self.positives)

    @property
    def specificity(self) -> Any:
        """Proportion of the negatives that are not flagged: TN / (TN + FP)."""
        return ratio(self.tn, self.negatives)

    @property
    def false_alarm_rate(self) -> Any:
        """Proportion of the negatives that are flagged: FP / (TN + FP)."""
        return ratio(self.fp, self.negatives)

    @property
    def precision(self) -> Any:
        """Proportion of the flagged rows that are positive: TP / (TP + FP)."""
        return ratio(self.tp, self.flagged)

    @property
    def negative_predictive_value(self) -> Any:
        """Proportion of the rows not flagged that are negative: TN / (TN + FN)."""
        return ratio(self.tn, self.tn + self.fn)

    @property
    def flagged_share(self) -> Any:
        """Proportion of all rows that are flagged."""
        return ratio(self.flagged, self.total)

    @property
    def accuracy(self) -> Any:
        """Proportion of right predictions."""
        return ratio(self.tp + self.tn, self.total)

    @property
    def error(self) -> Any:
        """Proportion of wrong predictions."""
        return ratio(self.fp + self.fn, self.total)

    @property
    def f1(self) -> Any:
        """The harmonic mean of precision and recall."""
        return self.f_beta(1.0)

    def f_beta(self, beta: float) -> Any:
        """``(1 + β²) TP / ((1 + β²) TP + β² FN + FP)``: a miss counts β² times as much as a false alarm."""
        found = (1.0 + beta**2) * self.tp
        return ratio(found, found + beta**2 * self.fn + self.fp)

    @property
    def g_mean(self) -> Any:
        """The geometric mean of recall and specificity."""
        return np.sqrt(self.recall * self.specificity)

    @property
    def balanced_accuracy(self) -> Any:
        """The mean of recall and specificity."""
        return 0.5 * (self.recall + self.specificity)

    @property
    def mcc(self) -> Any:
        """Matthews' correlation of labels and predictions; 0 where either is constant."""
        top = self.tp * self.tn - self.fp * self.fn
        bottom = np.sqrt(1.0 * self.positives * self.negatives * self.flagged * (self.total - self.flagged))
        return np.where(bottom > 0, ratio(top, bottom), 0.0)[()]

    def cost(self, matrix: Array) -> Any:
        """Return the total cost, for ``matrix[true, predicted]`` with the negative class first."""
        C = np.asarray(matrix, dtype=np.float64)
        return C[0, 0] * self.tn + C[0, 1] * self.fp + C[1, 0] * self.fn + C[1, 1] * self.tp

    def average_cost(self, matrix: Array) -> Any:
        """Return the mean cost per row."""
        return ratio(self.cost(matrix), self.total)


def check_scores(scores: Array) -> Array:
    """Return scores that are to be compared with a threshold; raise if one is not finite."""
    wrong = ~np.isfinite(scores)
    if wrong.any():
        raise InputError(
            f"The scores of {wrong.sum()} of {len(wrong)} rows are not finite ({scores[wrong][0]}), so that no "
            "threshold can be chosen or applied.",
            "Look for cells of these rows that the model cannot use, or choose another model.",
        )
    return scores


OF_POSITIVES = frozenset({"tp", "fn", "referred_positives"})


@dataclass(frozen=True)
class ReferralCounts(Counts):
    """Counts of decided rows, and of those that were referred to somebody else instead.

    All rates but `referred_share` are about the decided rows: a positive that is referred is neither found nor missed.

    Examples
    --------
    >>> from skewboost.metrics.counts import ReferralCounts
    >>> counts = ReferralCounts(tp=8, fp=1, fn=1, tn=80, referred_positives=3, referred_negatives=7)
    >>> print(f"recall {counts.recall:.2f} of those decided, {counts.referred_share:.0%} referred")
    recall 0.89 of those decided, 10% referred
    """

    referred_positives: Any
    referred_negatives: Any

    @classmethod
    def with_referred(
        cls, positive: Array, flagged: Array, referred: Array, weights: Array | None = None
    ) -> ReferralCounts:
        """Count predictions, given which rows are positive, predicted to be, and referred."""
        mass = np.ones(len(positive)) if weights is None else weights
        decided = Counts.of(positive, flagged, mass * ~referred)
        return cls(
            decided.tp, decided.fp, decided.fn, decided.tn,
            float(mass[referred & positive].sum()), float(mass[referred & ~positive].sum()),
        )  # fmt: skip

    @classmethod
    def between(cls, curve: Counts, lower: Array, upper: Array) -> ReferralCounts:
        """Return the counts if rows between two thresholds are referred, given the places of both in a curve."""
        low, high = curve[lower], curve[upper]
        return cls(high.tp, high.fp, low.fn, low.tn, low.tp - high.tp, low.fp - high.fp)

    @property
    def referred(self) -> Any:
        """The number of rows that are referred."""
        return self.referred_positives + self.referred_negatives

    @property
    def referred_share(self) -> Any:
        """Proportion of all rows that are referred."""
        return ratio(self.referred, self.referred + self.total)


def ratio(numerator: Any, denominator: Any) -> Any:
    """Return ``numerator / denominator``, and NaN where the denominator is 0."""
    a, b = np.broadcast_arrays(np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64))
    return np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0)[()]
