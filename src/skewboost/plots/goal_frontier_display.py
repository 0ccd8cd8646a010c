"""The result of a search for a goal: possible trade-offs, the goal, and the choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skewboost.metrics.measures import MEASURES
from skewboost.plots.display import Display, new_axes
from skewboost.plots.style import GREY, INK, RED
from skewboost.typing import Array

RATIO = "cost of a miss / cost of a false alarm"


@dataclass(eq=False, repr=False, kw_only=True)
class GoalFrontierDisplay(Display):
    """The best trade-offs between the measure of the goal and `then`, with the points tried.

    Parameters
    ----------
    search, frontier : dict of arrays
        The attributes `search_` and `frontier_` of `GoalSearchCV`.
    goal : Goal
        The goal.
    then : str
        The measure on the other axis.
    chosen : tuple of float
        The values of both measures at the chosen point: on held-out rows if there are any, else cross-validated.
    ratio : float, default=1.0
        How many false alarms a miss costs there.
    certificate : Certificate or None, default=None
        The certificate from held-out rows.
    """

    search: dict[str, Array]
    frontier: dict[str, Array]
    goal: Any
    then: str
    chosen: tuple[float, float]
    ratio: float = 1.0
    certificate: Any = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> GoalFrontierDisplay:
        """Draw the search of a fitted `GoalSearchCV`."""
        check_is_fitted(estimator)
        certificate = estimator.certificate_
        counts = estimator.counts_ if certificate is None else certificate.counts
        costs = None if estimator.cost_ is None else list(estimator.cost_.values())  # the positive class first
        names = (estimator.goal_.conditions[0].name, estimator.then_)
        first, second = (float(MEASURES[name].value(counts, estimator.cost_matrix_)) for name in names)
        display = cls(
            search=estimator.search_,
            frontier=estimator.frontier_,
            goal=estimator.goal_,
            then=estimator.then_,
            chosen=(first, second),
            ratio=1.0 if costs is None else costs[0] / costs[1],
            certificate=certificate,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> GoalFrontierDisplay:
        """Draw the trade-offs on `ax`, or on a new figure."""
        ax = new_axes(ax)
        from matplotlib.colors import LogNorm

        condition = self.goal.conditions[0]
        first, second = condition.name, self.then
        by_costs = first == second  # there is no second measure, so the horizontal axis shows the costs
        if by_costs:
            second = "cost_ratio"
            ax.set_xscale("log")
        else:
            label = "best trade-offs, cross-validated"
            ax.plot(self.frontier[second], self.frontier[first], color=GREY, lw=1.5, zorder=1, label=label)
        ratios = self.search["cost_ratio"]
        norm = LogNorm(ratios.min(), ratios.max()) if ratios.max() > ratios.min() else None
        met = self.search["meets_goal"]
        for mask, marker, label in ((met, "o", "tried, meets the goal"), (~met, "x", "tried, misses the goal")):
            if mask.any():
                points = ax.scatter(
                    self.search[second][mask], self.search[first][mask], c=ratios[mask], norm=norm, marker=marker,
                    s=36, cmap="viridis", zorder=2, label=label,
                )  # fmt: skip
        if norm is not None and not by_costs:
            ax.figure.colorbar(points, ax=ax, label=RATIO)
        ax.axhline(condition.bound, color=INK, lw=1, ls="--", zorder=0, label=str(condition))
        for other in self.goal.conditions[1:]:
            if other.name == second:
                ax.axvline(other.bound, color=INK, lw=1, ls=":", zorder=0, label=str(other))
        self._draw_chosen(ax, condition, self.ratio if by_costs else self.chosen[1])
        ax.set_xlabel(RATIO if by_costs else second.replace("_", " "))
        ax.set_ylabel(first.replace("_", " "))
        ax.legend(loc="best", frameon=False, fontsize="small")
        return self._finish(ax, title=f"Goal: {self.goal}")

    def _draw_chosen(self, ax: Any, condition: Any, x: float) -> None:
        """Draw the chosen point and, with a certificate, a bar to its confidence bound."""
        label = "chosen" if self.certificate is None else "chosen, on held-out rows"
        ax.plot(x, self.chosen[0], marker="*", ms=16, color=RED, mec=INK, ls="", zorder=4, label=label)
        if self.certificate is not None:
            bound = self.certificate.shown[f"{condition.name} {condition.sense}"]
            label = f"bound with {self.certificate.confidence:.0%} confidence"
            ax.plot([x, x], [self.chosen[0], bound], color=RED, lw=2, marker="_", ms=10, zorder=3, label=label)
