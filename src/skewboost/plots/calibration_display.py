"""Whether probabilities keep their word, also where they are small.

References
----------
.. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
   Statistical Association 22 (1927) 209-212.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from skewboost.errors import InputError
from skewboost.names import literal
from skewboost.plots.inputs_of_displays import Answers, ask, read_predictions, told
from skewboost.plots.style import BLUE, GREY, INK, PALE, axes_for, import_pyplot, legend_below, tidy
from skewboost.typing import Array

STRATEGIES = ("auto", "quantile", "events")
SCALES = ("auto", "linear", "log")
RARE = 0.1  # below that share of positives quantiles of rows leave one bin for all that matters
LOWEST = 1e-7  # probabilities on a logarithmic axis


class CalibrationDisplay:
    r"""A reliability diagram that is of use where positives are rare.

    Rows are binned by their predicted probability; a point is the mean prediction of a bin and the share of positives
    in it, with Wilson's interval [1]_

    .. math:: \frac{\hat p + z^2/2n \pm z \sqrt{\hat p (1 - \hat p)/n + z^2/4n^2}}{1 + z^2/n}

    for the n examples there (:math:`\Sigma` `sample_weight`). Points below the diagonal are promises that are not kept.
    With one positive in a thousand, ten bins of equally many rows put all positives into one; so the bins then hold
    equal shares of the *predicted* positives :math:`\Sigma p`, and the axes are logarithmic.

    Parameters
    ----------
    prob_true, prob_pred : ndarray of shape (n_bins,)
        Share of positives and mean prediction in each bin.
    lower, upper : ndarray of shape (n_bins,)
        The intervals.
    n_examples : ndarray of shape (n_bins,)
        How many there are.
    histogram : tuple of ndarray
        Edges, and how many negatives and positives are between them.
    confidence : float, default=0.95
        Of the intervals.
    scale : {"linear", "log"}, default="linear"
        Of both axes.
    pos_label : label, default=True
        The positive class.

    Attributes
    ----------
    axes_, figure_ : list of matplotlib Axes, and Figure
        The diagram (also `ax_`), and the histogram of predictions where there is room for it.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
       Statistical Association 22 (1927) 209-212.

    Examples
    --------
    >>> from skewboost.plots import CalibrationDisplay
    >>> display = CalibrationDisplay.from_predictions([0, 0, 0, 1, 1, 1], [0.1, 0.1, 0.4, 0.4, 0.9, 0.9], n_bins=3)
    >>> print(display.prob_pred, display.prob_true)
    [0.1 0.4 0.9] [0.  0.5 1. ]
    """

    def __init__(
        self,
        *,
        prob_true: Array,
        prob_pred: Array,
        lower: Array,
        upper: Array,
        n_examples: Array,
        histogram: tuple[Array, Array, Array],
        confidence: float = 0.95,
        scale: str = "linear",
        pos_label: Any = True,
    ) -> None:
        self.prob_true = prob_true
        self.prob_pred = prob_pred
        self.lower = lower
        self.upper = upper
        self.n_examples = n_examples
        self.histogram = histogram
        self.confidence = confidence
        self.scale = scale
        self.pos_label = pos_label

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
        """Draw the `predict_proba` of a fitted classifier on rows that it was not trained on.

        Parameters
        ----------
        estimator : classifier
            With `predict_proba`.
        X, y : table and labels
            Of the rows.
        n_bins : int, default=10
            At most so many; equal predictions share a bin.
        strategy : {"auto", "quantile", "events"}, default="auto"
            Bins of equally many examples, or of equal shares of the predicted positives; "auto" takes the latter where
            less than a tenth are positive.
        scale : {"auto", "linear", "log"}, default="auto"
            Of both axes; "auto" is logarithmic where less than a tenth are positive.
        confidence : float, default=0.95
            Of the intervals.
        pos_label, sample_weight : as in `OperatingPointDisplay.from_estimator`
            The positive class, and how many examples a row stands for.
        ax : matplotlib Axes, two of them, or None, default=None
            Where: for the diagram, or for diagram and histogram; None makes a new figure with both.
        """
        answers = ask(estimator, X, y, pos_label, sample_weight, "predict_proba")
        return cls._of(answers, n_bins, strategy, scale, confidence).plot(ax)

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
        answers = read_predictions(y_true, y_prob, None, pos_label, sample_weight)
        return cls._of(answers, n_bins, strategy, scale, confidence).plot(ax)

    @classmethod
    def _of(cls, answers: Answers, n_bins: int, strategy: str, scale: str, confidence: float) -> CalibrationDisplay:
        p = answers.scores
        _check(p, n_bins, strategy, scale, confidence)
        rare = answers.prevalence < RARE
        strategy = ("events" if rare else "quantile") if strategy == "auto" else strategy
        scale = ("log" if rare else "linear") if scale == "auto" else scale
        w = np.ones(len(p)) if answers.weights is None else answers.weights
        bins = _bins(p, w * p if strategy == "events" and p.any() else w, n_bins)
        n = np.bincount(bins, w)
        share, mean = np.bincount(bins, w * answers.positive) / n, np.bincount(bins, w * p) / n
        lower, upper = wilson(share, n, confidence)
        return cls(
            prob_true=share,
            prob_pred=mean,
            lower=lower,
            upper=upper,
            n_examples=n,
            histogram=_histogram(p, answers.positive, w, scale),
            confidence=confidence,
            scale=scale,
            pos_label=answers.pos_label,
        )

    def plot(self, ax: Any = None) -> CalibrationDisplay:
        """Draw it; `ax` as in `from_estimator`."""
        if ax is None:
            options = {"height_ratios": (4, 1), "sharex": True, "layout": "constrained"}
            ax = import_pyplot().subplots(2, 1, figsize=(5.6, 6.4), **options)[1]
        self.axes_ = [axes_for(a) for a in np.ravel(ax)]
        self._diagram(self.axes_[0])
        if len(self.axes_) > 1:
            self._bars(self.axes_[1])
        self.axes_[-1].set_xlabel(literal(f"predicted probability of {told(self.pos_label)}"))
        legend_below(self.axes_[-1], handles=self.axes_[0].get_legend_handles_labels()[0] + self._extra)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        return self

    def _diagram(self, ax: Any) -> None:
        low, high = self._limits()
        ax.plot([low, high], [low, high], color=GREY, lw=1, ls=(0, (6, 4)), zorder=1, label="promises kept")
        shown = np.maximum(self.prob_true, low)
        bars = np.array([shown - np.maximum(self.lower, low), np.maximum(self.upper - shown, 0.0)])
        style = {"color": BLUE, "marker": "o", "ms": 5.5, "lw": 1.2, "elinewidth": 1, "capsize": 2.5, "ls": "-"}
        label = f"observed share, with {self.confidence:.0%} intervals"
        x = np.maximum(self.prob_pred, low)
        ax.errorbar(x, shown, yerr=np.maximum(bars, 0.0), zorder=3, label=label, clip_on=False, **style)
        none = self.prob_true < low  # zero has no place on a logarithmic axis
        if none.any():
            ax.plot(
                x[none], np.full(none.sum(), low), "v", ms=8, mfc="white", mec=INK, zorder=4, clip_on=False,
                label="no positives there",
            )  # fmt: skip
        ax.set(xscale=self.scale, yscale=self.scale, xlim=(low, high), ylim=(low, high))
        ax.set_ylabel(literal(f"observed share of {told(self.pos_label)}"))
        ax.set_title("Below the diagonal, more was predicted\nthan there was", loc="left", size="medium")
        tidy(ax)

    def _bars(self, ax: Any) -> None:
        edges, negatives, positives = self.histogram
        ax.stairs(negatives + positives, edges, fill=True, color=PALE, zorder=1, label="all examples", baseline=0.5)
        ax.stairs(positives, edges, color=INK, lw=1.2, zorder=2, label="positives", baseline=0.5)
        ax.set(yscale="log", ylabel="examples", ylim=(0.5, None))
        tidy(ax)

    @property
    def _extra(self) -> list[Any]:
        return [] if len(self.axes_) < 2 else self.axes_[1].get_legend_handles_labels()[0]

    def _limits(self) -> tuple[float, float]:
        if self.scale == "linear":
            return 0.0, 1.0
        seen = np.concatenate((self.prob_pred, self.prob_true, self.lower))
        least = float(seen[seen > LOWEST].min(initial=0.1))
        return 10.0 ** np.floor(np.log10(least)), 1.0


def wilson(share: Array, n: Array, confidence: float) -> tuple[Array, Array]:
    """Wilson's interval for a share of n examples."""
    z = float(norm.ppf(0.5 + 0.5 * confidence))
    middle = share + z**2 / (2 * n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return np.clip((middle - half) / scale, 0.0, share), np.clip((middle + half) / scale, share, 1.0)


def _bins(p: Array, mass: Array, n_bins: int) -> Array:
    """The bin of each row: about equal masses, and equal predictions together; none is empty."""
    order = np.argsort(p, kind="stable")
    values, starts = np.unique(p[order], return_index=True)
    mass_of_value = np.add.reduceat(mass[order], starts)
    middle = np.cumsum(mass_of_value) - 0.5 * mass_of_value
    bins = np.minimum((n_bins * middle / mass_of_value.sum()).astype(np.intp), n_bins - 1)
    _, bins = np.unique(bins, return_inverse=True)
    return np.asarray(bins[np.searchsorted(values, p)])


def _histogram(p: Array, positive: Array, w: Array, scale: str) -> tuple[Array, Array, Array]:
    edges = np.linspace(0.0, 1.0, 31)
    if scale == "log":
        least = float(p[p > LOWEST].min(initial=0.1))
        edges = np.geomspace(10.0 ** np.floor(np.log10(least)), 1.0, 41)
        p = np.maximum(p, edges[0])
    negatives, positives = (np.histogram(p[rows], edges, weights=w[rows])[0] for rows in (~positive, positive))
    return edges, negatives, positives


def _check(p: Array, n_bins: int, strategy: str, scale: str, confidence: float) -> None:
    if p.min() < 0 or p.max() > 1:
        raise InputError(
            f"y_prob has values from {p.min():.3g} to {p.max():.3g}, which are no probabilities. Give numbers from 0 "
            "to 1, such as a column of predict_proba."
        )
    if not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise InputError(f"n_bins={n_bins!r} must be a whole number of at least 1.")
    for name, value, known in (("strategy", strategy, STRATEGIES), ("scale", scale, SCALES)):
        if value not in known:
            raise InputError(f"{name}={value!r} is none of {', '.join(map(repr, known))}.")
    if not 0 < confidence < 1:
        raise InputError(f"confidence={confidence!r} must be between 0 and 1.")
