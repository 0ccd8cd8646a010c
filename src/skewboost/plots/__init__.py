"""Plots, as scikit-learn's `Display` classes; matplotlib is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skewboost._lazy import lazy

if TYPE_CHECKING:
    from skewboost.plots.bias_variance import BiasVarianceDisplay
    from skewboost.plots.comparison import ComparisonDisplay
    from skewboost.plots.goal_frontier import GoalFrontierDisplay
    from skewboost.plots.learning_curve import LearningCurveDisplay, WeightQuantileDisplay
    from skewboost.plots.sweeps import CostSweepDisplay, SweepDisplay

_HOME = {
    "BiasVarianceDisplay": "bias_variance",
    "ComparisonDisplay": "comparison",
    "CostSweepDisplay": "sweeps",
    "GoalFrontierDisplay": "goal_frontier",
    "LearningCurveDisplay": "learning_curve",
    "SweepDisplay": "sweeps",
    "WeightQuantileDisplay": "learning_curve",
}

__all__ = [
    "BiasVarianceDisplay",
    "ComparisonDisplay",
    "CostSweepDisplay",
    "GoalFrontierDisplay",
    "LearningCurveDisplay",
    "SweepDisplay",
    "WeightQuantileDisplay",
]

__getattr__ = lazy(__name__, _HOME)
