"""ROC and precision-recall curves with the operating point of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.metrics.counts import Counts, ratio
from skewboost.names import literal
from skewboost.parameters import check_arguments, one_of
from skewboost.plots.display import legend_below, new_axes
from skewboost.plots.display_inputs import PredictionDisplay, Predictions, format_label
from skewboost.plots.style import BLUE, GREEN, INK, RED, import_pyplot
from skewboost.typing import Array

LEVELS = (0.25, 0.5, 0.75, 1.0)  # of iso-cost lines, as fractions of the cost of the best constant prediction
ISO_COST: dict[str, Any] = {"color": "0.45", "lw": 0.9, "ls": ":", "zorder": 1}


@dataclass(eq=False, repr=False, kw_only=True)
class OperatingPointDisplay(PredictionDisplay):
    r"""ROC and precision-recall curves, with the operating point of the model and the cheapest one.

    Dotted lines join points of equal expected cost, in per cent of the cost of the best constant prediction. In ROC
    space they are straight, with the slope

    .. math:: \frac{C_{FP}\, \pi_-}{C_{FN}\, \pi_+} ;

    in precision-recall space
    :math:`\text{precision} = 1 / (1 + (k/\pi_+ - C_{FN} (1 - r)) / (C_{FP}\, r))` has the cost k at the recall r.
    Precision is computed for the given prevalence.

    Parameters
    ----------
    false_alarm_rate, recall : ndarray of shape (n_points,)
        The curve, by increasing threshold.
    thresholds : ndarray of shape (n_points,)
        The thresholds of its points.
    point : tuple of float or None
        False alarm rate and recall of the model's own decisions.
    miss_cost, false_alarm_cost : float
        The costs of errors.
    prevalence : float
        The fraction of positives where the model is used.
    pos_label : label
        The positive class.

    Attributes
    ----------
    precision : ndarray of shape (n_points,)
        NaN where no row is flagged.
    slope : float
        The slope of the iso-cost lines in ROC space.
    best_index : int
        The point of the curve with the lowest expected cost; in a tie, the one with the fewest false alarms.
    best_threshold : float
        The threshold of this point: flag rows with at least this score.
    best, point_cost, best_cost, trivial_cost : tuple of float, float or None, float, float
        False alarm rate and recall of this point; and the expected cost per example of the model's own decisions, of
        this point, and of the best constant prediction.
    roc_auc, average_precision : float
        Areas under the curves.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import OperatingPointDisplay
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(n_estimators=5).fit(X[::2], y[::2])
    >>> display = OperatingPointDisplay.from_estimator(clf, X[1::2], y[1::2], cost=20)
    >>> display.best_cost <= display.point_cost
    True
    """

    false_alarm_rate: Array
    recall: Array
    thresholds: Array
    point: tuple[float, float] | None
    miss_cost: float
    false_alarm_cost: float
    prevalence: float
    pos_label: Any = True

    def __post_init__(self) -> None:
        self.slope = self.false_alarm_cost * (1.0 - self.prevalence) / (self.miss_cost * self.prevalence)
        self.precision = self._precision(self.false_alarm_rate, self.recall)
        costs = self._cost(self.false_alarm_rate, self.recall)
        k = self.best_index = len(costs) - 1 - int(np.argmin(costs[::-1]))
        self.best_threshold, self.best_cost = float(self.thresholds[k]), float(costs[k])
        self.best = float(self.false_alarm_rate[k]), float(self.recall[k])
        self.point_cost = None if self.point is None else float(self._cost(*self.point))
        self.trivial_cost = min(float(self._cost(1.0, 1.0)), float(self._cost(0.0, 0.0)))
        self.roc_auc = float(-np.trapezoid(self.recall, self.false_alarm_rate))
        self.average_precision = float(np.nansum(-np.diff(self.recall) * self.precision[:-1]))

    @classmethod
    def _from(cls, predictions: Predictions, cost: Any, prevalence: Any) -> OperatingPointDisplay:
        thresholds, counts = Counts.at_thresholds(predictions.positive, predictions.scores, predictions.weights)
        miss, alarm = predictions.error_costs(cost)
        own = predictions.counts
        return cls(
            false_alarm_rate=np.asarray(counts.false_alarm_rate),
            recall=np.asarray(counts.recall),
            thresholds=thresholds,
            point=None if own is None else (float(own.false_alarm_rate), float(own.recall)),
            miss_cost=miss,
            false_alarm_cost=alarm,
            prevalence=predictions.prevalence_in_use(prevalence),
            pos_label=predictions.pos_label,
        )

    def _cost(self, false_alarm_rate: Any, recall: Any) -> Any:
        """The expected cost per example."""
        misses = self.prevalence * self.miss_cost * (1.0 - recall)
        return misses + (1.0 - self.prevalence) * self.false_alarm_cost * false_alarm_rate

    def _precision(self, false_alarm_rate: Any, recall: Any) -> Any:
        found = self.prevalence * np.asarray(recall, dtype=np.float64)
        return ratio(found, found + (1.0 - self.prevalence) * np.asarray(false_alarm_rate))

    def plot(self, ax: Any = None, *, kind: str = "both") -> OperatingPointDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, two of them for "both", or None, default=None
            The axes to draw on; None makes a new figure.
        kind : {"both", "roc", "pr"}, default="both"
            Which curves to draw.
        """
        check_arguments(kind=(kind, one_of("roc", "pr", "both")))
        panels = ("roc", "pr") if kind == "both" else (kind,)
        if ax is None and kind == "both":
            _, ax = import_pyplot().subplots(1, 2, figsize=(10.0, 5.2), layout="constrained")
        axes = list(np.ravel(new_axes(ax, (5.4, 5.2))))
        if len(axes) != len(panels):
            raise InputError(f"ax has {len(axes)} Axes, but kind={kind!r} needs {len(panels)}. Pass as many Axes.")
        for one, panel in zip(axes, panels):
            (self._draw_roc if panel == "roc" else self._draw_pr)(one)
            one.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
            legend_below(one)
        return self._finish(*axes)

    def _draw_roc(self, ax: Any) -> None:
        ends, labels = np.array([0.0, 1.0]), []
        for level in LEVELS:
            at_zero = 1.0 - level * self.trivial_cost / (self.prevalence * self.miss_cost)  # recall at no false alarms
            ax.plot(ends, at_zero + self.slope * ends, gid=f"iso-cost {level}", **ISO_COST)
            right = at_zero + self.slope  # where the line leaves the unit square
            labels.append((1.0, right, level) if right <= 1.0 else ((1.0 - at_zero) / self.slope, 1.0, level))
        _label_levels(ax, labels)
        label = f"ROC curve, AUC {self.roc_auc:.3f}"
        ax.plot(self.false_alarm_rate, self.recall, color=BLUE, lw=1.8, zorder=3, label=label)
        self._draw_points(ax, lambda alarms, recall: (alarms, recall))
        ax.set(xlabel="false alarm rate", ylabel=literal(f"recall of {format_label(self.pos_label)}"))
        ax.set_title("ROC: dotted lines join points of equal cost", loc="left", size="medium")

    def _draw_pr(self, ax: Any) -> None:
        tops, ends = [], []
        for level in LEVELS:
            k = level * self.trivial_cost / self.prevalence
            first = max(1.0 - k / self.miss_cost, 1e-6)  # with a lower recall, misses alone cost more
            r = first + (1.0 - first) * np.linspace(0.0, 1.0, 60) ** 4  # denser where the curve is steep
            p = 1.0 / (1.0 + np.maximum(k - self.miss_cost * (1.0 - r), 0.0) / (self.false_alarm_cost * r))
            ax.plot(r, p, gid=f"iso-cost {level}", **ISO_COST)
            tops.append((float(r[0]), 1.0, level))
            ends.append((1.0, float(p[-1]), level))
        # with rare positives all lines end close together, and their tops have more room for labels
        _label_levels(ax, ends if ends[0][1] - ends[-1][1] > tops[0][0] - tops[-1][0] else tops)
        known = np.flatnonzero(~np.isnan(self.precision))
        # the precision of the highest scores is continued to a recall of 0
        x, y = np.append(self.recall[known], 0.0), np.append(self.precision[known], self.precision[known[-1]])
        label = f"precision-recall curve, average {self.average_precision:.3f}"
        ax.plot(x, y, color=BLUE, lw=1.8, zorder=3, label=label)
        at_random = f"flagging at random: {self.prevalence:.3g}"
        ax.axhline(self.prevalence, color=INK, lw=0.8, ls=(0, (6, 4)), zorder=2, label=at_random)
        self._draw_points(ax, lambda alarms, recall: (recall, self._precision(alarms, recall)))
        ax.set(xlabel=literal(f"recall of {format_label(self.pos_label)}"), ylabel="precision")
        ax.set_title(f"Precision if 1 in {1 / self.prevalence:.3g} is positive", loc="left", size="medium")

    def _draw_points(self, ax: Any, place: Callable[[float, float], tuple[Any, Any]]) -> None:
        """Draw the cheapest point and the current decisions; without flagged rows there is no precision."""
        points = [(self.best, self.best_cost, "*", 15, GREEN, "cheapest point")]
        if self.point is not None:
            points.append((self.point, self.point_cost or 0.0, "o", 8, RED, "current decisions"))
        for at, cost, marker, size, colour, name in points:
            x, y = place(*at)
            relative = f"{cost / self.trivial_cost:.0%} of the cost" if self.trivial_cost > 0 else "no cost"
            label = f"{name}: recall {at[1]:.3g},\nfalse alarms {at[0]:.2%}, {relative}"
            ax.plot(x, y, marker, ms=size, color=colour, mec=INK, mew=0.9, zorder=4, label=label, clip_on=False)


def _label_levels(ax: Any, labels: list[tuple[float, float, float]]) -> None:
    """Label the ends of iso-cost lines, except for those that would overlap."""
    last: tuple[float, float] | None = None
    for x, y, level in labels:
        if last is not None and max(abs(x - last[0]), abs(y - last[1])) < 0.07:
            continue
        last = x, y
        offset, align = ((3, -3), "top") if x < 0.93 else ((5, 0), "center")
        ax.annotate(
            f"{level:.0%}", (x, y), xytext=offset, textcoords="offset points", va=align, size="x-small", color="0.35",
            annotation_clip=False, zorder=2,
        )  # fmt: skip
