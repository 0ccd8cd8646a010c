"""Plots, as scikit-learn's `Display` classes; matplotlib is imported when one is drawn."""

from __future__ import annotations

from skewboost.plots.goal_frontier import GoalFrontierDisplay

__all__ = ["GoalFrontierDisplay"]
