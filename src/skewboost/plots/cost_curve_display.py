"""What a model costs under all operating conditions.

References
----------
.. [1] C. Drummond, R. C. Holte, "Cost curves: an improved method for visualizing classifier performance", Machine
   Learning 65 (2006) 95-130.
"""

from __future__ import annotations

from typing import Any

from skewboost.metrics.cost_curves import CostCurve, cost_curve, probability_cost
from skewboost.plots.inputs_of_displays import Answers, ask, check_prevalence, prices, read_predictions
from skewboost.plots.style import BLUE, GREEN, GREY, INK, RED, axes_for, legend_below, tidy
from skewboost.plots.thinning import thin


class CostCurveDisplay:
    r"""Normalised expected cost against the probability-cost PC(+) [1]_.

    PC(+) puts costs and prevalence into one number,
    :math:`\pi_+ C_{FN} / (\pi_+ C_{FN} + \pi_- C_{FP})`. A threshold is a straight line; the lower envelope is what the
    best threshold costs for each condition. The dashed triangle are those who always say the same: above it a model is
    worth less than nothing. The line of the decisions as they are touches the envelope where they are the right ones.

    Parameters
    ----------
    curve : CostCurve
        As `skewboost.metrics.cost_curve` returns it.
    point : tuple of float or None, default=None
        False alarm rate and miss rate of the decisions as they are.
    probability_cost : float or None, default=None
        PC(+) of the costs and prevalence at hand.

    Attributes
    ----------
    current_cost, best_cost : float or None
        Normalised expected cost there: of the decisions as they are, and of the best threshold.
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing.

    References
    ----------
    .. [1] C. Drummond, R. C. Holte, "Cost curves: an improved method for visualizing classifier performance", Machine
       Learning 65 (2006) 95-130.

    Examples
    --------
    >>> from skewboost.plots import CostCurveDisplay
    >>> y, scores = [0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.9]
    >>> display = CostCurveDisplay.from_predictions(y, scores, cost=2, y_pred=[0, 0, 0, 0, 0, 1])
    >>> print(f"{display.current_cost:.3f} {display.best_cost:.3f}")
    0.250 0.125
    """

    def __init__(
        self,
        *,
        curve: CostCurve,
        point: tuple[float, float] | None = None,
        probability_cost: float | None = None,
    ) -> None:
        self.curve = curve
        self.point = point
        self.probability_cost = probability_cost
        pc = probability_cost
        self.best_cost = None if pc is None else float(curve.at(pc))
        self.current_cost = None if pc is None or point is None else point[1] * pc + point[0] * (1.0 - pc)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        cost: Any = None,
        prevalence: float | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> CostCurveDisplay:
        """Draw a fitted classifier on rows that it was not trained on; parameters as in `OperatingPointDisplay`."""
        return cls._of(ask(estimator, X, y, pos_label, sample_weight), cost, prevalence).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        y_pred: Any = None,
        cost: Any = None,
        prevalence: float | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> CostCurveDisplay:
        """Draw scores, and decisions `y_pred` if there are any; parameters as in `OperatingPointDisplay`."""
        answers = read_predictions(y_true, y_score, y_pred, pos_label, sample_weight)
        return cls._of(answers, cost, prevalence).plot(ax)

    @classmethod
    def _of(cls, answers: Answers, cost: Any, prevalence: Any) -> CostCurveDisplay:
        miss, alarm = prices(cost, answers)
        decided = answers.counts
        return cls(
            curve=cost_curve(answers.positive, answers.scores, pos_label=True, sample_weight=answers.weights),
            point=None if decided is None else (float(decided.false_alarm_rate), float(decided.miss_rate)),
            probability_cost=float(probability_cost(check_prevalence(prevalence, answers), miss / alarm)),
        )

    def plot(self, ax: Any = None) -> CostCurveDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        ax = axes_for(ax, (6.4, 5.2))
        ax.plot([0, 0.5, 1], [0, 0.5, 0], color=INK, lw=1, ls=(0, (6, 4)), zorder=2, label='always "no", always "yes"')
        x, y = self.curve.probability_cost, self.curve.normalised_cost
        rows = thin(x, y)
        ax.fill_between(x[rows], y[rows], color=BLUE, alpha=0.12, lw=0, zorder=1)
        best = f"best threshold for each condition, area {self.curve.area:.3f}"
        ax.plot(x[rows], y[rows], color=BLUE, lw=2, zorder=3, label=best)
        if self.point is not None:
            rates = f"miss rate {self.point[1]:.2g}, false alarm rate {self.point[0]:.2g}"
            label = f"decisions as they are: {rates}"
            ax.plot([0, 1], self.point, color=RED, lw=1.4, ls="-.", zorder=4, label=label)
        if self.probability_cost is not None:
            self._mark(ax, self.probability_cost)
        ax.set(xlabel="PC(+): how much positives weigh, by prevalence and cost", ylabel="normalised expected cost")
        highest = max(0.5, self.current_cost or 0.0)
        ax.set(xlim=(0, 1), ylim=(0, 1.08 * highest))
        ax.set_title(self._title(), loc="left", size="medium")
        legend_below(ax)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _mark(self, ax: Any, pc: float) -> None:
        ax.axvline(pc, color=GREY, lw=1, ls=":", zorder=2, label=f"here: PC(+) = {pc:.3g}")
        marks = [(self.best_cost, "*", 14, GREEN), (self.current_cost, "o", 8, RED)]
        for height, marker, size, colour in marks:
            if height is not None:
                ax.plot(pc, height, marker, ms=size, color=colour, mec=INK, mew=0.9, zorder=5, clip_on=False)

    def _title(self) -> str:
        if self.probability_cost is None:
            return "Cost under all conditions: the lower the better"
        trivial = min(self.probability_cost, 1.0 - self.probability_cost)
        parts = [f"best threshold {self.best_cost:.3g}", f"always the same answer {trivial:.3g}"]
        if self.current_cost is not None:
            parts.insert(0, f"as decided {self.current_cost:.3g}")
        return "Normalised expected cost here:\n" + ", ".join(parts)
