"""Reliability diagrams that are useful for rare classes, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from skewboost.errors import InputError
from skewboost.names import literal
from skewboost.parameters import FRACTION, check_arguments, integer, one_of
from skewboost.plots.display import Display, legend_below, new_axes
from skewboost.plots.display_inputs import Predictions, equal_mass_bins, format_label
from skewboost.plots.style import BLUE, GREY, INK, PALE, import_pyplot
from skewboost.typing import Array

RARE = 0.1  # with a smaller fraction of positives, bins of equally many rows would put nearly all of them into one
LOWEST = 1e-7  # the smallest probability on a logarithmic axis


@dataclass(eq=False, repr=False, kw_only=True)
class CalibrationDisplay(Display):
    r"""A reliability diagram that is useful where positives are rare.

    Rows are binned by their predicted probability. A point shows the mean prediction and the observed frequency of
    positives in a bin, with the interval of Wilson [wilson1927]_

    .. math:: \frac{\hat p + z^2/2n \pm z \sqrt{\hat p (1 - \hat p)/n + z^2/4n^2}}{1 + z^2/n} .

    Here n is the number of rows in the bin; with sample weights w it is the effective sample size
    :math:`(\sum w)^2 / \sum w^2`. Below the diagonal, predictions are too high. With one positive in a thousand, ten
    bins of equally many rows would put all positives into one. Bins of rare classes therefore contain equal shares of
    the *predicted* positives :math:`\sum w p`, and the axes are logarithmic.

    Parameters
    ----------
    prob_true, prob_pred : ndarray of shape (n_bins,)
        Observed frequency of positives and mean prediction in each bin.
    lower, upper : ndarray of shape (n_bins,)
        The ends of the intervals.
    n_examples : ndarray of shape (n_bins,)
        The number of examples (the sum of weights) in each bin.
    histogram : tuple of ndarray
        Edges, and the numbers of negatives and positives between them.
    confidence, scale, pos_label : float, str and label
        As in `from_estimator`, without "auto".

    References
    ----------
    .. [wilson1927] E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
       American Statistical Association 22 (1927) 209-212.

    Examples
    --------
    >>> from skewboost.plots import CalibrationDisplay
    >>> display = CalibrationDisplay.from_predictions([0, 0, 0, 1, 1, 1], [0.1, 0.1, 0.4, 0.4, 0.9, 0.9], n_bins=3)
    >>> print(display.prob_pred, display.prob_true)
    [0.1 0.4 0.9] [0.  0.5 1. ]
    """

    prob_true: Array
    prob_pred: Array
    lower: Array
    upper: Array
    n_examples: Array
    histogram: tuple[Array, Array, Array]
    confidence: float = 0.95
    scale: str = "linear"
    pos_label: Any = True

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int = 10,
        strategy: str = "auto",
        scale: str = "auto",
        confidence: float = 0.95,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> CalibrationDisplay:
        """Draw the `predict_proba` of a fitted classifier, on rows that it was not trained on.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with `predict_proba`.
        X, y : table and labels
            The rows.
        n_bins : int, default=10
            The largest number of bins. Rows with equal predictions share a bin.
        strategy : {"auto", "quantile", "events"}, default="auto"
            Bins of equally many examples, or of equal shares of the predicted positives; "auto" is "events" if less
            than a tenth of the examples are positive.
        scale : {"auto", "linear", "log"}, default="auto"
            The scale of both axes; "auto" is "log" if less than a tenth of the examples are positive.
        confidence : float, default=0.95
            The confidence level of the intervals.
        pos_label, sample_weight : as in `OperatingPointDisplay.from_estimator`
            The positive class and the weights of the rows.
        ax : matplotlib Axes, two of them, or None, default=None
            Axes for the diagram, or for diagram and histogram; None makes a new figure with both.
        """
        predictions = Predictions.from_estimator(estimator, X, y, pos_label, sample_weight, "predict_proba")
        return cls._from(predictions, n_bins, strategy, scale, confidence).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        n_bins: int = 10,
        strategy: str = "auto",
        scale: str = "auto",
        confidence: float = 0.95,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> CalibrationDisplay:
        """Draw probabilities of the positive class, or a column for each class; parameters as in `from_estimator`."""
        predictions = Predictions.from_scores(y_true, y_prob, None, pos_label, sample_weight)
        return cls._from(predictions, n_bins, strategy, scale, confidence).plot(ax)

    @classmethod
    def _from(
        cls, predictions: Predictions, n_bins: int, strategy: str, scale: str, confidence: float
    ) -> CalibrationDisplay:
        p, positive = predictions.scores, predictions.positive
        if p.min() < 0 or p.max() > 1:
            raise InputError(
                f"y_prob has values from {p.min():.3g} to {p.max():.3g}, which are not probabilities.",
                "Pass numbers from 0 to 1, such as a column of predict_proba.",
            )
        check_arguments(
            n_bins=(n_bins, integer(1)),
            strategy=(strategy, one_of("auto", "quantile", "events")),
            scale=(scale, one_of("auto", "linear", "log")),
            confidence=(confidence, FRACTION),
        )
        rare = predictions.prevalence < RARE
        strategy = ("events" if rare else "quantile") if strategy == "auto" else strategy
        scale = ("log" if rare else "linear") if scale == "auto" else scale
        w = np.ones(len(p)) if predictions.weights is None else predictions.weights
        bins = equal_mass_bins(p, w * p if strategy == "events" and p.any() else w, n_bins)
        n = np.bincount(bins, w)
        observed, mean = np.bincount(bins, w * positive) / n, np.bincount(bins, w * p) / n
        lower, upper = wilson_interval(observed, n**2 / np.bincount(bins, w**2), confidence)
        return cls(
            prob_true=observed,
            prob_pred=mean,
            lower=lower,
            upper=upper,
            n_examples=n,
            histogram=_histogram(p, positive, w, scale),
            confidence=confidence,
            scale=scale,
            pos_label=predictions.pos_label,
        )

    def plot(self, ax: Any = None) -> CalibrationDisplay:
        """Draw the diagram; `ax` as in `from_estimator`."""
        if ax is None:
            options = {"height_ratios": (4, 1), "sharex": True, "layout": "constrained"}
            ax = import_pyplot().subplots(2, 1, figsize=(5.6, 6.4), **options)[1]
        axes = [new_axes(a) for a in np.ravel(ax)]
        self._draw_diagram(axes[0])
        if len(axes) > 1:
            self._draw_histogram(axes[1])
        axes[-1].set_xlabel(literal(f"predicted probability of {format_label(self.pos_label)}"))
        legend_below(axes[-1], handles=[handle for a in axes[:2] for handle in a.get_legend_handles_labels()[0]])
        return self._finish(*axes)

    def _draw_diagram(self, ax: Any) -> None:
        low, high = 0.0, 1.0
        if self.scale == "log":
            low = _decade(np.concatenate((self.prob_pred, self.prob_true, self.lower)))
        ax.plot([low, high], [low, high], color=GREY, lw=1, ls=(0, (6, 4)), zorder=1, label="perfectly calibrated")
        observed = np.maximum(self.prob_true, low)
        bars = np.array([observed - np.maximum(self.lower, low), self.upper - observed])
        style = {"color": BLUE, "marker": "o", "ms": 5.5, "lw": 1.2, "elinewidth": 1, "capsize": 2.5, "ls": "-"}
        label = f"observed frequency, with {self.confidence:.0%} intervals"
        x = np.maximum(self.prob_pred, low)
        ax.errorbar(x, observed, yerr=np.maximum(bars, 0.0), zorder=3, label=label, clip_on=False, **style)
        none = self.prob_true < low  # a logarithmic axis has no zero
        if none.any():
            ax.plot(
                x[none], np.full(none.sum(), low), "v", ms=8, mfc="white", mec=INK, zorder=4, clip_on=False,
                label="no positives in the bin",
            )  # fmt: skip
        ax.set(xscale=self.scale, yscale=self.scale, xlim=(low, high), ylim=(low, high))
        ax.set_ylabel(literal(f"observed frequency of {format_label(self.pos_label)}"))
        ax.set_title("Below the diagonal, predictions are too high", loc="left", size="medium")

    def _draw_histogram(self, ax: Any) -> None:
        edges, negatives, positives = self.histogram
        total = negatives + positives
        low = 0.5 * min(1.0, total[total > 0].min())  # weights may be small
        ax.stairs(total, edges, fill=True, color=PALE, zorder=1, label="all examples", baseline=low)
        ax.stairs(positives, edges, color=INK, lw=1.2, zorder=2, label="positives", baseline=low)
        ax.set(yscale="log", ylabel="examples", ylim=(low, None))


def wilson_interval(fraction: Array, n: Array, confidence: float) -> tuple[Array, Array]:
    """Wilson's interval for a fraction of n examples."""
    z = float(norm.ppf(0.5 + 0.5 * confidence))
    middle = fraction + z**2 / (2 * n)
    half = z * np.sqrt(fraction * (1 - fraction) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return np.clip((middle - half) / scale, 0.0, fraction), np.clip((middle + half) / scale, fraction, 1.0)


def _decade(p: Array) -> float:
    """The power of ten at or below the smallest probability."""
    return float(10.0 ** np.floor(np.log10(p[p > LOWEST].min(initial=0.1))))


def _histogram(p: Array, positive: Array, w: Array, scale: str) -> tuple[Array, Array, Array]:
    edges = np.linspace(0.0, 1.0, 31)
    if scale == "log":
        edges = np.geomspace(_decade(p), 1.0, 41)
        p = np.maximum(p, edges[0])
    negatives, positives = (np.histogram(p[rows], edges, weights=w[rows])[0] for rows in (~positive, positive))
    return edges, negatives, positives
