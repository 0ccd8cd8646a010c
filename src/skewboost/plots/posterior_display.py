"""Where the decision is, and where the posterior says that it should be.

References
----------
.. [1] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", IEEE Transactions on Pattern Analysis and Machine
   Intelligence 33 (2011) 294-309.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from skewboost.engine.table import Nominal
from skewboost.errors import InputError
from skewboost.metrics.ranking import scores_of
from skewboost.names import literal, shortened, shown, visible
from skewboost.plots.grid_rows import Columns, others
from skewboost.plots.inputs_of_displays import Answers, ask, prices, read_predictions, told
from skewboost.plots.style import BLUE, GREEN, GREY, INK, RED, axes_for, legend_below, tidy
from skewboost.plots.thinning import thin
from skewboost.typing import Array

BINS = 20
LONGEST = 50  # letters of a name
LOW = 0.05  # a target below that is drawn on a logarithmic scale
Curve = tuple[Array, Array]


class PosteriorDisplay:
    r"""The posterior P(+|x) along the score, or along one feature, and the zero crossing of the model.

    With costs, the best decision changes where ([1]_ eq. 57)

    .. math:: P(+|x) = \frac{C_{FP}}{C_{FN} + C_{FP}} ,

    the horizontal line. A model is right for the costs if its decision changes where the posterior crosses that line.
    Along the score, what is observed is the isotonic fit, which crosses at the threshold that is cheapest on these
    rows. Along a feature it is the share of positives in bins of equally many examples, with all other features as they
    come, while the model is asked with the others at their medians: compare them where one feature says nearly all.

    Parameters
    ----------
    claimed : tuple of two ndarray, or None
        Places on the horizontal axis, and the P(+|x) of the model.
    observed : tuple of two ndarray
        Places, and shares of positives.
    truth : tuple of two ndarray, or None
        Places, and the true posterior.
    decided : ndarray
        Where the model changes its mind.
    wanted : ndarray
        Where it should: by the truth if it is known, else by what is observed.
    target : float
        The posterior at which the decision should change.
    xlabel : str
        What is on the horizontal axis.
    pos_label : label, default=True
        The positive class.
    note : str, default=""
        What other features there are.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing; its vertical axis is logarithmic (down to zero, by symlog) where `target` is below 0.05.

    References
    ----------
    .. [1] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", IEEE Transactions on Pattern Analysis and
       Machine Intelligence 33 (2011) 294-309.

    Examples
    --------
    >>> import numpy as np
    >>> from skewboost import CSLogitBoostClassifier
    >>> from skewboost.plots import PosteriorDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(2000) % 2
    >>> X = rng.normal(2 * y - 1)[:, None]  # so that P(+|x) = 1 / (1 + exp(-2x))
    >>> clf = CSLogitBoostClassifier(cost=4, n_estimators=20).fit(X, y)
    >>> display = PosteriorDisplay.from_estimator(
    ...     clf, X, y, along=0, cost=4, posterior=lambda x: 1 / (1 + np.exp(-2 * x)))
    >>> print(f"{display.target:.2f} {display.wanted[0]:.1f}")
    0.20 -0.7
    """

    def __init__(
        self,
        *,
        claimed: Curve | None,
        observed: Curve,
        truth: Curve | None,
        decided: Array,
        wanted: Array,
        target: float,
        xlabel: str,
        pos_label: Any = True,
        note: str = "",
    ) -> None:
        self.claimed = claimed
        self.observed = observed
        self.truth = truth
        self.decided = decided
        self.wanted = wanted
        self.target = target
        self.xlabel = xlabel
        self.pos_label = pos_label
        self.note = note

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        along: Any = None,
        cost: Any = None,
        posterior: Callable[[Array], Any] | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> PosteriorDisplay:
        """Draw a fitted classifier on rows that it was not trained on.

        Parameters
        ----------
        estimator : classifier
            With `decision_function` or `predict_proba`.
        X, y : table and labels
            Of the rows.
        along : name or number of a column of numbers, or None, default=None
            The horizontal axis; None is the score.
        cost : number, "balanced", dict, matrix or None, default=None
            What mistakes cost, as in `skewboost.metrics.total_cost`; None is "balanced".
        posterior : callable or None, default=None
            The true P(+|x), if it is known, of an array of values on the horizontal axis.
        pos_label, sample_weight : as in `OperatingPointDisplay.from_estimator`
            The positive class, and how many examples a row stands for.
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        answers = ask(estimator, X, y, pos_label, sample_weight)
        label, has_p = answers.pos_label, hasattr(estimator, "predict_proba")
        if along is None:
            p = scores_of(estimator, X, label, "predict_proba") if has_p else None
            if p is not None and sample_weight is not None:
                p = p[np.asarray(sample_weight) > 0]
            return cls._along_score(answers, p, cost, posterior).plot(ax)
        columns = Columns(X)
        j = columns.index(along, "along")
        column = columns.read(j)
        if isinstance(column, Nominal):
            raise InputError(f"along={along!r} holds categories, but numbers are needed. Take another column, or None.")
        line = np.linspace(np.nanmin(column), np.nanmax(column), 500)
        rows = columns.rows({j: line}, len(line))
        said = np.asarray(estimator.predict(rows)) == label
        changes = np.flatnonzero(said[1:] != said[:-1])
        shares = _binned(column, np.asarray(y).ravel() == label, sample_weight)
        truth = None if posterior is None else (line, np.asarray(posterior(line), dtype=np.float64))
        target = _target(answers, cost)
        display = cls(
            claimed=(line, scores_of(estimator, rows, label, "predict_proba")) if has_p else None,
            observed=shares,
            truth=truth,
            decided=0.5 * (line[changes] + line[changes + 1]),
            wanted=crossings(truth or shares, target),
            target=target,
            xlabel=columns.names[j],
            pos_label=label,
            note=others(columns.names, [j]),
        )
        return display.plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        y_pred: Any = None,
        y_prob: Any = None,
        cost: Any = None,
        posterior: Callable[[Array], Any] | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> PosteriorDisplay:
        """Draw scores, with decisions and probabilities of the positive class if there are any, along the score."""
        answers = read_predictions(y_true, y_score, y_pred, pos_label, sample_weight)
        p = None
        if y_prob is not None:
            p = read_predictions(y_true, y_prob, None, answers.pos_label, sample_weight).scores
        return cls._along_score(answers, p, cost, posterior).plot(ax)

    @classmethod
    def _along_score(cls, answers: Answers, p: Array | None, cost: Any, posterior: Any) -> PosteriorDisplay:
        x, share, first = _isotonic(answers)
        target = _target(answers, cost)
        truth = None if posterior is None else (x, np.asarray(posterior(x), dtype=np.float64))
        decided = np.empty(0)
        if answers.flagged is not None:
            decided = _threshold(answers.scores, answers.flagged)
        return cls(
            claimed=None if p is None else (x, p[first]),
            observed=(x, share),
            truth=truth,
            decided=decided,
            wanted=crossings(truth or (x, share), target),
            target=target,
            xlabel="score",
            pos_label=answers.pos_label,
        )

    def plot(self, ax: Any = None) -> PosteriorDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        ax = axes_for(ax, (6.4, 5.4))
        points = {"color": INK, "ls": "", "marker": "o", "ms": 4, "mfc": "white"}
        steps = {"color": INK, "ls": "-", "lw": 1.0}
        seen = points if len(self.observed[0]) <= BINS else steps
        for curve, label, style in (
            (self.observed, "observed", seen),
            (self.claimed, "the model's own probability", {"color": BLUE, "ls": "--", "lw": 1.8}),
            (self.truth, "true posterior", {"color": GREEN, "ls": "-.", "lw": 1.8}),
        ):
            if curve is not None:
                rows = slice(None) if style is points else thin(*curve)
                ax.plot(curve[0][rows], curve[1][rows], zorder=3, label=label, **style)
        target = f"decide for it from P = {self.target:.3g} on"
        ax.axhline(self.target, color=GREY, lw=1, ls=(0, (6, 4)), zorder=1, label=target)
        self._crossings(ax)
        ax.set(xlabel=literal(shortened(shown(self.xlabel), LONGEST)), ylim=(-0.02, 1.02))
        ax.set_ylabel(literal(f"P({told(self.pos_label)} | x)"))
        if self.target < LOW:
            self._stretch(ax)
        title = "The decision should change where the posterior\nreaches what the costs ask for"
        ax.set_title("\n".join(filter(None, (title, literal(visible(self.note))))), loc="left", size="medium")
        tidy(ax)
        legend_below(ax, ncols=2)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _stretch(self, ax: Any) -> None:
        """A scale on which a small target is not on the floor, and zero has a place too."""
        least = 10.0 ** np.floor(np.log10(self.target) - 0.5)
        ax.set_yscale("symlog", linthresh=least, linscale=0.3)
        ax.set(ylim=(-0.1 * least, 1.2), yticks=[0.0, *10.0 ** np.arange(np.log10(least), 0.5)])

    def _crossings(self, ax: Any) -> None:
        for places, colour, line, marker, name in (
            (self.wanted, GREEN, "-", "*", "should change"),
            (self.decided, RED, ":", "o", "changes"),
        ):
            for k, x in enumerate(places[:12]):  # more of them are noise
                text = f"{name} at {x:.3g}" if len(places) == 1 else f"{name} at {len(places)} places"
                ax.axvline(x, color=colour, lw=1.4, ls=line, zorder=2)
                ax.plot(
                    x, self.target, marker, ms=13 if marker == "*" else 8, color=colour, mec=INK, zorder=5, ls="",
                    label=text if k == 0 else None,
                )  # fmt: skip


def crossings(curve: Curve, target: float) -> Array:
    """Where a curve passes a height, between the points to both sides."""
    x, p = curve
    above = p >= target
    k = np.flatnonzero(above[1:] != above[:-1])
    share = (target - p[k]) / (p[k + 1] - p[k])
    return np.asarray(x[k] + share * (x[k + 1] - x[k]))


def _target(answers: Answers, cost: Any) -> float:
    miss, alarm = prices(cost, answers)
    return alarm / (miss + alarm)


def _isotonic(answers: Answers) -> tuple[Array, Array, Array]:
    """Distinct scores, the rising fit to the shares of positives there, and a row of each."""
    x, first, rows = np.unique(answers.scores, return_index=True, return_inverse=True)
    w = np.ones(len(rows)) if answers.weights is None else answers.weights
    mass = np.bincount(rows, w)
    share = np.bincount(rows, w * answers.positive) / mass
    return x, np.asarray(isotonic_regression(share, sample_weight=mass)), first


def _threshold(scores: Array, flagged: Array) -> Array:
    """Between the highest score that is not flagged and the lowest that is, where scores decide."""
    if flagged.all() or not flagged.any():
        return np.empty(0)
    low, high = float(scores[~flagged].max()), float(scores[flagged].min())
    if low >= high:
        return np.empty(0)
    # zero is what a decision function is compared with, whatever the rows around it
    return np.array([0.0 if low < 0.0 <= high else 0.5 * (low + high)])


def _binned(column: Array, positive: Array, sample_weight: Any) -> Curve:
    """Means of a column and shares of positives, in bins of equally many examples."""
    w = np.ones(len(column)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(column) & (w > 0))
    order = known[np.argsort(column[known], kind="stable")]
    total = np.cumsum(w[order])
    bins = np.minimum((BINS * (total - 0.5 * w[order]) / total[-1]).astype(np.intp), BINS - 1)
    _, bins = np.unique(bins, return_inverse=True)
    mass = np.bincount(bins, w[order])
    x = np.bincount(bins, w[order] * column[order]) / mass
    return x, np.bincount(bins, w[order] * positive[order]) / mass
