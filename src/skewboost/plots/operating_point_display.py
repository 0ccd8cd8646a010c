"""Where a model decides, among all the points where it could."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.metrics.counts import Counts, ratio
from skewboost.names import literal
from skewboost.plots.inputs_of_displays import Answers, ask, check_prevalence, prices, read_predictions, told
from skewboost.plots.style import BLUE, GREEN, INK, RED, axes_for, import_pyplot, legend_below, tidy
from skewboost.plots.thinning import thin
from skewboost.typing import Array

LEVELS = (0.25, 0.5, 0.75, 1.0)  # of what the best constant answer costs
KINDS = ("roc", "pr", "both")
ISO_COST: dict[str, Any] = {"color": "0.45", "lw": 0.9, "ls": ":"}


class OperatingPointDisplay:
    r"""ROC and precision-recall curve, with the point where the model decides and the one where it should.

    Grey lines join points of equal expected cost, in shares of what the cheaper of "always" and "never" costs. In ROC
    space they are straight, with the slope

    .. math:: \frac{C_{FP}\, \pi_-}{C_{FN}\, \pi_+} ;

    in precision-recall space
    :math:`\text{precision} = 1 / (1 + (k/\pi_+ - C_{FN} (1 - r)) / (C_{FP}\, r))` has the cost k at the recall r.
    Precision is that of the given prevalence.

    Parameters
    ----------
    false_alarm_rate, recall : ndarray of shape (n_points,)
        The curve, by rising threshold: from all flagged to none.
    thresholds : ndarray of shape (n_points,)
        Those of the points.
    point : tuple of float or None
        False alarm rate and recall of the model's own decisions.
    miss_cost, false_alarm_cost : float
        What mistakes cost.
    prevalence : float
        The share of the positives where the model is used.
    pos_label : label
        The positive class.

    Attributes
    ----------
    precision : ndarray of shape (n_points,)
        NaN where none is flagged.
    slope : float
        Of the iso-cost lines in ROC space.
    best_index : int
        The point of the curve with the lowest expected cost; in a tie the one with fewer false alarms.
    best_threshold : float
        Rows with a score of at least that much are best flagged.
    best, point_cost, best_cost, trivial_cost : tuple of float, float or None, float, float
        That point, and expected costs per example.
    roc_auc, average_precision : float
        Areas under the curves.
    axes_, figure_ : list of matplotlib Axes, and Figure
        Of the drawing; `ax_` is the first of them.

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

    def __init__(
        self,
        *,
        false_alarm_rate: Array,
        recall: Array,
        thresholds: Array,
        point: tuple[float, float] | None,
        miss_cost: float,
        false_alarm_cost: float,
        prevalence: float,
        pos_label: Any = True,
    ) -> None:
        self.false_alarm_rate = false_alarm_rate
        self.recall = recall
        self.thresholds = thresholds
        self.point = point
        self.miss_cost = miss_cost
        self.false_alarm_cost = false_alarm_cost
        self.prevalence = prevalence
        self.pos_label = pos_label
        self.slope = false_alarm_cost * (1.0 - prevalence) / (miss_cost * prevalence)
        self.precision = self._precision(false_alarm_rate, recall)
        costs = self._cost(false_alarm_rate, recall)
        last = len(costs) - 1 - int(np.argmin(costs[::-1]))
        self.best_index, self.best_threshold, self.best_cost = last, float(thresholds[last]), float(costs[last])
        self.best = float(false_alarm_rate[last]), float(recall[last])
        self.point_cost = None if point is None else float(self._cost(*point))
        self.trivial_cost = min(float(self._cost(1.0, 1.0)), float(self._cost(0.0, 0.0)))
        self.roc_auc = float(-np.trapezoid(recall, false_alarm_rate))
        self.average_precision = float(np.nansum(-np.diff(recall) * self.precision[:-1]))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        cost: Any = None,
        prevalence: float | None = None,
        kind: str = "both",
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> OperatingPointDisplay:
        """Draw a fitted classifier on rows that it was not trained on.

        Parameters
        ----------
        estimator : classifier
            With `decision_function` or `predict_proba`; its `predict` is the operating point.
        X, y : table and labels
            Of the rows.
        cost : number, "balanced", dict, matrix or None, default=None
            What mistakes cost, as in `skewboost.metrics.total_cost`; None is "balanced".
        prevalence : float or None, default=None
            The share of the positives where the model is used; None is the one in `y`.
        kind : {"both", "roc", "pr"}, default="both"
            Which curves.
        pos_label : label or None, default=None
            The positive class; None: the model's own, else the rarer of two.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How many examples a row stands for.
        ax : matplotlib Axes, two of them for "both", or None, default=None
            Where; None makes a new figure.
        """
        return cls._of(ask(estimator, X, y, pos_label, sample_weight), cost, prevalence).plot(ax, kind=kind)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        y_pred: Any = None,
        cost: Any = None,
        prevalence: float | None = None,
        kind: str = "both",
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> OperatingPointDisplay:
        """Draw scores, and decisions `y_pred` if there are any; other parameters as in `from_estimator`."""
        answers = read_predictions(y_true, y_score, y_pred, pos_label, sample_weight)
        return cls._of(answers, cost, prevalence).plot(ax, kind=kind)

    @classmethod
    def _of(cls, answers: Answers, cost: Any, prevalence: Any) -> OperatingPointDisplay:
        thresholds, counts = Counts.at_thresholds(answers.positive, answers.scores, answers.weights)
        miss, alarm = prices(cost, answers)
        decided = answers.counts
        return cls(
            false_alarm_rate=np.asarray(counts.false_alarm_rate),
            recall=np.asarray(counts.recall),
            thresholds=thresholds,
            point=None if decided is None else (float(decided.false_alarm_rate), float(decided.recall)),
            miss_cost=miss,
            false_alarm_cost=alarm,
            prevalence=check_prevalence(prevalence, answers),
            pos_label=answers.pos_label,
        )

    def _cost(self, false_alarm_rate: Any, recall: Any) -> Any:
        """Expected, per example."""
        missed = self.prevalence * self.miss_cost * (1.0 - recall)
        return missed + (1.0 - self.prevalence) * self.false_alarm_cost * false_alarm_rate

    def _precision(self, false_alarm_rate: Any, recall: Any) -> Any:
        found = self.prevalence * np.asarray(recall, dtype=np.float64)
        return ratio(found, found + (1.0 - self.prevalence) * np.asarray(false_alarm_rate))

    def plot(self, ax: Any = None, *, kind: str = "both") -> OperatingPointDisplay:
        """Draw it; parameters as in `from_estimator`."""
        if kind not in KINDS:
            raise InputError(f"kind={kind!r} is none of {', '.join(map(repr, KINDS))}.")
        if kind == "both":
            if ax is None:
                _, ax = import_pyplot().subplots(1, 2, figsize=(10.0, 5.2), layout="constrained")
            self.axes_ = list(np.ravel(ax))
            if len(self.axes_) != 2:
                raise InputError("ax is one Axes, but kind='both' draws two. Pass two of them, or kind='roc' or 'pr'.")
        else:
            self.axes_ = [axes_for(ax, (5.4, 5.2))]
        for axes, panel in zip(self.axes_, ("roc", "pr") if kind == "both" else (kind,)):
            (self._roc if panel == "roc" else self._pr)(axes)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        return self

    def _roc(self, ax: Any) -> None:
        x, y = self.false_alarm_rate, self.recall
        ends, labelled = np.array([0.0, 1.0]), []
        for level in LEVELS:
            k = level * self.trivial_cost
            at_zero = 1.0 - k / (self.prevalence * self.miss_cost)  # recall without false alarms
            ax.plot(ends, at_zero + self.slope * ends, zorder=1, gid=f"iso-cost {level}", **ISO_COST)
            labelled.append((*_end_of_line(at_zero, self.slope), level))
        self._levels(ax, labelled)
        rows = thin(x, y)
        ax.plot(x[rows], y[rows], color=BLUE, lw=1.8, zorder=3, label=f"ROC curve, AUC {self.roc_auc:.3f}")
        self._points(ax, lambda alarms, recall: (alarms, recall))
        _frame(ax, "false alarm rate", f"recall of {told(self.pos_label)}")
        ax.set_title("ROC: dotted lines join points of equal cost", loc="left", size="medium")

    def _pr(self, ax: Any) -> None:
        tops, ends = [], []
        for level in LEVELS:
            k = level * self.trivial_cost / self.prevalence
            first = max(1.0 - k / self.miss_cost, 1e-6)  # below that recall the misses alone cost more
            r = first + (1.0 - first) * np.linspace(0.0, 1.0, 60) ** 4  # closer where the curve is steep
            p = 1.0 / (1.0 + np.maximum(k - self.miss_cost * (1.0 - r), 0.0) / (self.false_alarm_cost * r))
            ax.plot(r, p, zorder=1, gid=f"iso-cost {level}", **ISO_COST)
            tops.append((float(r[0]), 1.0, level))
            ends.append((1.0, float(p[-1]), level))
        # where positives are rare all lines end next to each other, and are told apart at their tops
        self._levels(ax, ends if ends[0][1] - ends[-1][1] > tops[0][0] - tops[-1][0] else tops)
        seen = np.flatnonzero(~np.isnan(self.precision))
        # the highest scores alone have a precision too, and with fewer of them it is taken to be the same
        x, y = np.append(self.recall[seen], 0.0), np.append(self.precision[seen], self.precision[seen[-1]])
        rows = thin(x, y)
        label = f"precision-recall curve, average {self.average_precision:.3f}"
        ax.plot(x[rows], y[rows], color=BLUE, lw=1.8, zorder=3, label=label)
        flagging = f"flagging anybody: {self.prevalence:.3g}"
        ax.axhline(self.prevalence, color=INK, lw=0.8, ls=(0, (6, 4)), zorder=2, label=flagging)
        self._points(ax, lambda alarms, recall: (recall, self._precision(alarms, recall)))
        _frame(ax, f"recall of {told(self.pos_label)}", "precision")
        ax.set_title(f"Precision, where 1 in {1 / self.prevalence:.3g} is positive", loc="left", size="medium")

    def _levels(self, ax: Any, labelled: list[tuple[float, float, float]]) -> None:
        """What the lines stand for, at their ends, but for those that would be on top of each other."""
        last: tuple[float, float] | None = None
        for x, y, level in labelled:
            if last is not None and max(abs(x - last[0]), abs(y - last[1])) < 0.07:
                continue
            last = x, y
            at, where = ((3, -3), "top") if x < 0.93 else ((5, 0), "center")
            ax.annotate(
                f"{level:.0%}", (x, y), xytext=at, textcoords="offset points", va=where, size="x-small", color="0.35",
                annotation_clip=False, zorder=2,
            )  # fmt: skip

    def _points(self, ax: Any, place: Any) -> None:
        """The decision and the best there is; where none is flagged there is no precision, and no point."""
        told_of = [(self.best, self.best_cost, "*", 15, GREEN, "cheapest point")]
        if self.point is not None:
            told_of.append((self.point, self.point_cost or 0.0, "o", 8, RED, "decided now"))
        for at, cost, marker, size, colour, name in told_of:
            x, y = place(*at)
            saved = f"{cost / self.trivial_cost:.0%} of the cost" if self.trivial_cost > 0 else "no cost"
            label = f"{name}: recall {at[1]:.3g},\nfalse alarms {at[0]:.2%}, {saved}"
            ax.plot(x, y, marker, ms=size, color=colour, mec=INK, mew=0.9, zorder=4, label=label, clip_on=False)


def _end_of_line(at_zero: float, slope: float) -> tuple[float, float]:
    """Where a rising line leaves the unit square."""
    if at_zero + slope <= 1.0:
        return 1.0, at_zero + slope
    return (1.0 - at_zero) / slope, 1.0


def _frame(ax: Any, xlabel: str, ylabel: str) -> None:
    ax.set(xlabel=literal(xlabel), ylabel=literal(ylabel), xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    tidy(ax)
    legend_below(ax)
