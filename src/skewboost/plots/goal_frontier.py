"""What a search for a goal found: what can be had, what was asked for, what was chosen."""

from __future__ import annotations

from typing import Any

from skewboost.metrics.counts import Array

INK, GREY, CHOSEN = "#1a1a1a", "#8c8c8c", "#d55e00"


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
        The values of both measures at the point chosen.
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
        certificate: Any = None,
    ) -> None:
        self.search = search
        self.frontier = frontier
        self.goal = goal
        self.then = then
        self.chosen = chosen
        self.certificate = certificate

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> GoalFrontierDisplay:
        """Draw the search of a fitted `GoalSearchCV`."""
        condition = estimator.goal_.conditions[0]
        values = (
            float(estimator.measure_value(condition.name)),
            float(estimator.measure_value(estimator.then_)),
        )
        display = cls(
            search=estimator.search_,
            frontier=estimator.frontier_,
            goal=estimator.goal_,
            then=estimator.then_,
            chosen=values,
            certificate=estimator.certificate_,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> GoalFrontierDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        import matplotlib.pyplot as plt
        from matplotlib.colors import LogNorm

        if ax is None:
            _, ax = plt.subplots(figsize=(7, 4.8), layout="constrained")
        condition = self.goal.conditions[0]
        first, second = condition.name, self.then
        if first == second:  # nothing on the other axis: show it against the costs
            second = "cost_ratio"
            ax.set_xscale("log")
        line = self.frontier if second != "cost_ratio" else self.search
        if second != "cost_ratio":
            ax.plot(
                line[second], line[first], color=GREY, lw=1.5, zorder=1, label="what can be had", drawstyle="default"
            )
        ratios = self.search["cost_ratio"]
        norm = LogNorm(ratios.min(), ratios.max()) if ratios.max() > ratios.min() else None
        met = self.search["meets_goal"]
        for mask, marker, label in ((met, "o", "tried, meets the goal"), (~met, "x", "tried, does not")):
            if mask.any():
                drawn = ax.scatter(
                    self.search[second][mask], self.search[first][mask], c=ratios[mask], norm=norm, marker=marker,
                    s=36, cmap="viridis", zorder=2, label=label,
                )  # fmt: skip
        if norm is not None:
            ax.figure.colorbar(drawn, ax=ax, label="cost of a miss / cost of a false alarm")
        ax.axhline(condition.bound, color=INK, lw=1, ls="--", zorder=0, label=str(condition))
        for other in self.goal.conditions[1:]:
            if other.name == second:
                ax.axvline(other.bound, color=INK, lw=1, ls=":", zorder=0, label=str(other))
        x = self.chosen[1] if second != "cost_ratio" else None
        if x is not None:
            self._draw_chosen(ax, condition, x)
        ax.set_xlabel(second.replace("_", " ").replace("cost ratio", "cost of a miss / cost of a false alarm"))
        ax.set_ylabel(first.replace("_", " "))
        ax.set_title(f"Goal: {self.goal}", loc="left")
        ax.legend(loc="best", frameon=False, fontsize="small")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_chosen(self, ax: Any, condition: Any, x: float) -> None:
        """The point chosen; with a certificate, a bar down to what the held-out rows show."""
        ax.plot(x, self.chosen[0], marker="*", ms=16, color=CHOSEN, mec=INK, ls="", zorder=4, label="chosen")
        if self.certificate is not None:
            shown = self.certificate.shown[f"{condition.name} {condition.sense}"]
            label = f"shown with {self.certificate.confidence:.0%} confidence"
            ax.plot([x, x], [self.chosen[0], shown], color=CHOSEN, lw=2, marker="_", ms=10, zorder=3, label=label)
