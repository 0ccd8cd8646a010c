"""The posterior along the score or a feature, and where the decision changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from skewboost.engine.table import Nominal
from skewboost.errors import InputError
from skewboost.metrics.ranking import scores_of
from skewboost.names import literal, shortened, shown, visible
from skewboost.plots.display import Display, legend_below, new_axes
from skewboost.plots.display_inputs import Predictions, equal_mass_bins, format_label
from skewboost.plots.feature_columns import FeatureColumns
from skewboost.plots.style import BLUE, GREEN, GREY, INK, RED
from skewboost.typing import Array

BINS = 20
LONGEST = 50  # characters of a name
LOW = 0.05  # a smaller target is drawn on a logarithmic scale
Curve = tuple[Array, Array]


@dataclass(eq=False, repr=False, kw_only=True)
class PosteriorDisplay(Display):
    r"""The posterior P(+|x) along the score or along one feature, and where the decision of the model changes.

    With costs, the best decision changes where ([masnadi2011]_ eq. 57)

    .. math:: P(+|x) = \frac{C_{FP}}{C_{FN} + C_{FP}} ,

    the horizontal line. The decision of a model suits the costs if it changes where the posterior crosses this line.
    Along the score, the observed posterior is an isotonic fit, which crosses the line at the cheapest threshold on
    these rows. Along a feature it is the fraction of positives in bins of equally many examples. There the other
    features vary, but the predictions of the model are for the other features at their medians. Compare both only if
    the feature is by far the most important one.

    Parameters
    ----------
    claimed : tuple of two ndarray, or None
        Positions on the horizontal axis, and the predicted P(+|x).
    observed : tuple of two ndarray
        Positions, and observed fractions of positives.
    truth : tuple of two ndarray, or None
        Positions, and the true posterior.
    decided : ndarray
        The positions where the decision of the model changes.
    wanted : ndarray
        The positions where it should change, by the true posterior if it is known, else by the observed one.
    target : float
        The posterior at which the decision should change.
    xlabel : str
        The label of the horizontal axis.
    pos_label : label, default=True
        The positive class.
    note : str, default=""
        A remark on the other features.

    References
    ----------
    .. [masnadi2011] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", IEEE Transactions on Pattern
       Analysis and Machine Intelligence 33 (2011) 294-309.

    Examples
    --------
    >>> import numpy as np
    >>> from skewboost import CSLogitBoostClassifier
    >>> from skewboost.plots import PosteriorDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(2000) % 2
    >>> X = rng.normal(2 * y - 1)[:, None]  # so that P(+|x) = 1 / (1 + exp(-2x))
    >>> clf = CSLogitBoostClassifier(cost=4, n_estimators=20).fit(X[:1000], y[:1000])
    >>> display = PosteriorDisplay.from_estimator(
    ...     clf, X[1000:], y[1000:], along=0, cost=4, posterior=lambda x: 1 / (1 + np.exp(-2 * x)))
    >>> print(f"{display.target:.2f} {display.wanted[0]:.1f}")
    0.20 -0.7
    """

    claimed: Curve | None
    observed: Curve
    truth: Curve | None
    decided: Array
    wanted: Array
    target: float
    xlabel: str
    pos_label: Any = True
    note: str = ""

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
        """Draw a fitted classifier, on rows that it was not trained on.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with `decision_function` or `predict_proba`.
        X, y : table and labels
            The rows.
        along : name or index of a column of numbers, or None, default=None
            The horizontal axis; None means the score.
        cost : number, "balanced", dict, matrix or None, default=None
            The costs of errors, as in `skewboost.metrics.total_cost`; None means those of the model, if it has
            any, else "balanced".
        posterior : callable or None, default=None
            The true P(+|x), if it is known, as a function of an array of positions on the horizontal axis.
        pos_label, sample_weight : as in `OperatingPointDisplay.from_estimator`
            The positive class and the weights of the rows.
        ax : matplotlib Axes or None, default=None
            The axes to draw on; None makes a new figure. The vertical axis is logarithmic, with a linear part around
            zero, if the target is below 0.05.
        """
        predictions = Predictions.from_estimator(estimator, X, y, pos_label, sample_weight)
        label, has_p = predictions.pos_label, hasattr(estimator, "predict_proba")
        if along is None:
            p = scores_of(estimator, X, label, "predict_proba") if has_p else None
            if p is not None and sample_weight is not None:
                p = p[np.asarray(sample_weight) > 0]
            return cls._along_score(predictions, p, cost, posterior).plot(ax)
        table = FeatureColumns(X)
        j = table.index(along, "along")
        column = table.column(j)
        if isinstance(column, Nominal):
            raise InputError(f"along={along!r} is a column of categories. Pass a column of numbers, or None.")
        line = np.linspace(np.nanmin(column), np.nanmax(column), 500)
        rows = table.grid({j: line}, len(line))
        flagged = np.asarray(estimator.predict(rows)) == label
        changes = np.flatnonzero(flagged[1:] != flagged[:-1])
        display = cls._from(
            predictions,
            cost,
            posterior,
            _binned(column, np.asarray(y).ravel() == label, sample_weight),
            line,
            claimed=(line, scores_of(estimator, rows, label, "predict_proba")) if has_p else None,
            decided=0.5 * (line[changes] + line[changes + 1]),
            xlabel=table.names[j],
            note=table.constant_features([j]),
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
        """Draw given scores, with decisions and probabilities of the positive class unless None, along the score."""
        predictions = Predictions.from_scores(y_true, y_score, y_pred, pos_label, sample_weight)
        p = None
        if y_prob is not None:
            p = Predictions.from_scores(y_true, y_prob, None, predictions.pos_label, sample_weight).scores
        return cls._along_score(predictions, p, cost, posterior).plot(ax)

    @classmethod
    def _along_score(cls, predictions: Predictions, p: Array | None, cost: Any, posterior: Any) -> PosteriorDisplay:
        x, first, rows = np.unique(predictions.scores, return_index=True, return_inverse=True)
        w = np.ones(len(rows)) if predictions.weights is None else predictions.weights
        mass = np.bincount(rows, w)
        fraction = np.bincount(rows, w * predictions.positive) / mass
        fit = np.asarray(isotonic_regression(fraction, sample_weight=mass))
        claimed, decided = None if p is None else (x, p[first]), _threshold(predictions.scores, predictions.flagged)
        parts = {"claimed": claimed, "decided": decided, "xlabel": "score"}
        return cls._from(predictions, cost, posterior, (x, fit), x, **parts)

    @classmethod
    def _from(
        cls, predictions: Predictions, cost: Any, posterior: Any, observed: Curve, at: Array, **parts: Any
    ) -> PosteriorDisplay:
        """Add what follows from the costs and from the true posterior."""
        miss, alarm = predictions.error_costs(cost)
        target = alarm / (miss + alarm)
        truth = None if posterior is None else (at, np.asarray(posterior(at), dtype=np.float64))
        wanted, label = crossings(truth or observed, target), predictions.pos_label
        return cls(observed=observed, truth=truth, wanted=wanted, target=target, pos_label=label, **parts)

    def plot(self, ax: Any = None) -> PosteriorDisplay:
        """Draw the posterior on `ax`, or on a new figure."""
        ax = new_axes(ax, (6.4, 5.4))
        points = {"color": INK, "ls": "", "marker": "o", "ms": 4, "mfc": "white"}
        steps = {"color": INK, "ls": "-", "lw": 1.0}
        for curve, label, style in (
            (self.observed, "observed", points if len(self.observed[0]) <= BINS else steps),
            (self.claimed, "predicted probability", {"color": BLUE, "ls": "--", "lw": 1.8}),
            (self.truth, "true posterior", {"color": GREEN, "ls": "-.", "lw": 1.8}),
        ):
            if curve is not None:
                ax.plot(*curve, zorder=3, label=label, **style)
        label = f"costs: positive from P = {self.target:.3g}"
        ax.axhline(self.target, color=GREY, lw=1, ls=(0, (6, 4)), zorder=1, label=label)
        self._draw_crossings(ax)
        ax.set(xlabel=literal(shortened(shown(self.xlabel), LONGEST)), ylim=(-0.02, 1.02))
        ax.set_ylabel(literal(f"P({format_label(self.pos_label)} | x)"))
        if self.target < LOW:  # a scale that shows a small target, and zero as well
            least = 10.0 ** np.floor(np.log10(self.target) - 0.5)
            ax.set_yscale("symlog", linthresh=least, linscale=0.3)
            ax.set(ylim=(-0.1 * least, 1.2), yticks=[0.0, *10.0 ** np.arange(np.log10(least), 0.5)])
        legend_below(ax, ncols=2)
        title = "The decision should change where the posterior\ncrosses the threshold given by the costs"
        return self._finish(ax, title="\n".join(filter(None, (title, literal(visible(self.note))))))

    def _draw_crossings(self, ax: Any) -> None:
        for places, colour, line, marker, size, name in (
            (self.wanted, GREEN, "-", "*", 13, "decision should change"),
            (self.decided, RED, ":", "o", 8, "decision changes"),
        ):
            where = f"at {places[0]:.3g}" if len(places) == 1 else f"at {len(places)} positions"
            for k, x in enumerate(places[:12]):  # more are noise
                label = None if k else f"{name} {where}"
                ax.axvline(x, color=colour, lw=1.4, ls=line, zorder=2)
                ax.plot(x, self.target, marker, ms=size, color=colour, mec=INK, zorder=5, ls="", label=label)


def crossings(curve: Curve, target: float) -> Array:
    """Where a curve crosses a height, by linear interpolation."""
    x, p = curve
    above = p >= target
    k = np.flatnonzero(above[1:] != above[:-1])
    t = (target - p[k]) / (p[k + 1] - p[k])
    return np.asarray(x[k] + t * (x[k + 1] - x[k]))


def _threshold(scores: Array, flagged: Array | None) -> Array:
    """The threshold between scores that are flagged and others, if there is one."""
    if flagged is None or flagged.all() or not flagged.any():
        return np.empty(0)
    low, high = float(scores[~flagged].max()), float(scores[flagged].min())
    if low >= high:
        return np.empty(0)
    return np.array([0.0 if low < 0.0 <= high else 0.5 * (low + high)])  # decision functions are compared with zero


def _binned(column: Array, positive: Array, sample_weight: Any) -> Curve:
    """Means of a column and fractions of positives, in bins of equally many examples."""
    w = np.ones(len(column)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    known = ~np.isnan(column) & (w > 0)
    x, w, positive = column[known], w[known], positive[known]
    bins = equal_mass_bins(x, w, BINS)
    mass = np.bincount(bins, w)
    return np.bincount(bins, w * x) / mass, np.bincount(bins, w * positive) / mass
