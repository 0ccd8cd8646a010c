"""Cost curves: the expected cost of a model under all operating conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skewboost.metrics.cost_curves import CostCurve, cost_curve, probability_cost
from skewboost.plots.display import legend_below, new_axes
from skewboost.plots.display_inputs import PredictionDisplay, Predictions
from skewboost.plots.style import BLUE, GREEN, GREY, INK, RED


@dataclass(eq=False, repr=False, kw_only=True)
class CostCurveDisplay(PredictionDisplay):
    r"""Normalised expected cost against the probability cost PC(+) [drummond2006]_.

    PC(+) combines costs and prevalence in one number,
    :math:`\pi_+ C_{FN} / (\pi_+ C_{FN} + \pi_- C_{FP})`. A threshold is a straight line; the lower envelope is the cost
    of the best threshold for each condition. The dashed triangle is the cost of the constant predictions: above it, a
    model does harm. The line of the current decisions touches the envelope where these decisions are optimal.

    Parameters
    ----------
    curve : CostCurve
        The result of `skewboost.metrics.cost_curve`.
    point : tuple of float or None, default=None
        False alarm rate and miss rate of the current decisions.
    probability_cost : float or None, default=None
        PC(+) of the given costs and prevalence.

    Attributes
    ----------
    current_cost, best_cost : float or None
        Normalised expected cost there, of the current decisions and of the best threshold.

    References
    ----------
    .. [drummond2006] C. Drummond, R. C. Holte, "Cost curves: an improved method for visualizing classifier
       performance", Machine Learning 65 (2006) 95-130.

    Examples
    --------
    >>> from skewboost.plots import CostCurveDisplay
    >>> y, scores = [0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.9]
    >>> display = CostCurveDisplay.from_predictions(y, scores, cost=2, y_pred=[0, 0, 0, 0, 0, 1])
    >>> print(f"{display.current_cost:.3f} {display.best_cost:.3f}")
    0.250 0.125
    """

    curve: CostCurve
    point: tuple[float, float] | None = None
    probability_cost: float | None = None

    def __post_init__(self) -> None:
        pc, point = self.probability_cost, self.point
        self.best_cost = None if pc is None else float(self.curve.at(pc))
        self.current_cost = None if pc is None or point is None else point[1] * pc + point[0] * (1.0 - pc)

    @classmethod
    def _from(cls, predictions: Predictions, cost: Any, prevalence: Any) -> CostCurveDisplay:
        miss, alarm = predictions.error_costs(cost)
        counts, weights = predictions.counts, predictions.weights
        return cls(
            curve=cost_curve(predictions.positive, predictions.scores, pos_label=True, sample_weight=weights),
            point=None if counts is None else (float(counts.false_alarm_rate), float(counts.miss_rate)),
            probability_cost=float(probability_cost(predictions.prevalence_in_use(prevalence), miss / alarm)),
        )

    def plot(self, ax: Any = None) -> CostCurveDisplay:
        """Draw the curve on `ax`, or on a new figure."""
        ax = new_axes(ax, (6.4, 5.2))
        ax.plot([0, 0.5, 1], [0, 0.5, 0], color=INK, lw=1, ls=(0, (6, 4)), zorder=2, label="constant predictions")
        x, y = self.curve.probability_cost, self.curve.normalised_cost
        ax.fill_between(x, y, color=BLUE, alpha=0.12, lw=0, zorder=1)
        best = f"best threshold for each condition, area {self.curve.area:.3f}"
        ax.plot(x, y, color=BLUE, lw=2, zorder=3, label=best)
        if self.point is not None:
            label = f"current decisions: miss rate {self.point[1]:.2g}, false alarm rate {self.point[0]:.2g}"
            ax.plot([0, 1], self.point, color=RED, lw=1.4, ls="-.", zorder=4, label=label)
        if (pc := self.probability_cost) is not None:
            ax.axvline(pc, color=GREY, lw=1, ls=":", zorder=2, label=f"given costs and prevalence: PC(+) = {pc:.3g}")
            for height, marker, size, colour in (
                (self.best_cost, "*", 14, GREEN),
                (self.current_cost, "o", 8, RED),
            ):
                if height is not None:
                    ax.plot(pc, height, marker, ms=size, color=colour, mec=INK, mew=0.9, zorder=5, clip_on=False)
        ax.set(xlabel="probability cost PC(+)", ylabel="normalised expected cost")
        ax.set(xlim=(0, 1), ylim=(0, 1.08 * max(0.5, self.current_cost or 0.0)))
        legend_below(ax)
        title = "Cost under all operating conditions: lower is better"
        if pc is not None:
            title = f"Normalised expected cost at PC(+) = {pc:.3g}:\n"
            title += "" if self.current_cost is None else f"current decisions {self.current_cost:.3g}, "
            title += f"best threshold {self.best_cost:.3g}, constant prediction {min(pc, 1.0 - pc):.3g}"
        return self._finish(ax, title=title)
