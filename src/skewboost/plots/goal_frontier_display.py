"""What a search for a goal found: what can be had, what was asked for, what was chosen."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from skewboost.metrics.measures import MEASURES
from skewboost.plots.style import GREY, INK, RED, axes_for, tidy
from skewboost.typing import Array

HAD, RATIO = "what can be had, cross-validated", "cost of a miss / cost of a false alarm"


class GoalFrontierDisplay:
    """The frontier between the goal's measure and `then`, with the points tried.

    Parameters
    ----------
    search, frontier : dict of arrays
        As `GoalSearchCV` has them.
    goal : Goal
        What was asked for.
    then : str
        The measure on the other axis.
    chosen : tuple of float
        The values of both measures at the point chosen: on held-out rows if there are any, else cross-validated.
    ratio : float, default=1.0
        What a miss costs there in false alarms.
    certificate : Certificate or None, default=None
        What held-out rows show.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing.
    """

    def __init__(
        self,
        *,
        search: dict[str, Array],
        frontier: dict[str, Array],
        goal: Any,
        then: str,
        chosen: tuple[float, float],
        ratio: float = 1.0,
        certificate: Any = None,
    ) -> None:
        self.search = search
        self.frontier = frontier
        self.goal = goal
        self.then = then
        self.chosen = chosen
        self.ratio = ratio
        self.certificate = certificate

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
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        ax = axes_for(ax)
        from matplotlib.colors import LogNorm

        condition = self.goal.conditions[0]
        first, second = condition.name, self.then
        by_costs = first == second  # nothing for the other axis: show it against the costs
        if by_costs:
            second = "cost_ratio"
            ax.set_xscale("log")
        else:
            ax.plot(self.frontier[second], self.frontier[first], color=GREY, lw=1.5, zorder=1, label=HAD)
        ratios = self.search["cost_ratio"]
        norm = LogNorm(ratios.min(), ratios.max()) if ratios.max() > ratios.min() else None
        met = self.search["meets_goal"]
        for mask, marker, label in ((met, "o", "tried, meets the goal"), (~met, "x", "tried, does not")):
            if mask.any():
                drawn = ax.scatter(
                    self.search[second][mask], self.search[first][mask], c=ratios[mask], norm=norm, marker=marker,
                    s=36, cmap="viridis", zorder=2, label=label,
                )  # fmt: skip
        if norm is not None and not by_costs:
            ax.figure.colorbar(drawn, ax=ax, label=RATIO)
        ax.axhline(condition.bound, color=INK, lw=1, ls="--", zorder=0, label=str(condition))
        for other in self.goal.conditions[1:]:
            if other.name == second:
                ax.axvline(other.bound, color=INK, lw=1, ls=":", zorder=0, label=str(other))
        self._draw_chosen(ax, condition, self.ratio if by_costs else self.chosen[1])
        ax.set_xlabel(RATIO if by_costs else second.replace("_", " "))
        ax.set_ylabel(first.replace("_", " "))
        ax.set_title(f"Goal: {self.goal}", loc="left", size="medium")
        ax.legend(loc="best", frameon=False, fontsize="small")
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_chosen(self, ax: Any, condition: Any, x: float) -> None:
        """The point chosen; with a certificate, a bar down to what the held-out rows show."""
        where = "chosen" if self.certificate is None else "chosen, on held-out rows"
        ax.plot(x, self.chosen[0], marker="*", ms=16, color=RED, mec=INK, ls="", zorder=4, label=where)
        if self.certificate is not None:
            shown = self.certificate.shown[f"{condition.name} {condition.sense}"]
            label = f"shown with {self.certificate.confidence:.0%} confidence"
            ax.plot([x, x], [self.chosen[0], shown], color=RED, lw=2, marker="_", ms=10, zorder=3, label=label)
