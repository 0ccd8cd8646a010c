"""Plots, as scikit-learn's `Display` classes; matplotlib is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skewboost._lazy import lazy

if TYPE_CHECKING:
    from skewboost.plots.comparison import ComparisonDisplay
    from skewboost.plots.goal_frontier import GoalFrontierDisplay

_HOME = {
    "ComparisonDisplay": "comparison",
    "GoalFrontierDisplay": "goal_frontier",
}

__all__ = [
    "ComparisonDisplay",
    "GoalFrontierDisplay",
]

__getattr__ = lazy(__name__, _HOME)
