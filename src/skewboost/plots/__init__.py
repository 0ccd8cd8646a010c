"""Plots, as scikit-learn's `Display` classes; matplotlib is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skewboost._lazy import lazy

if TYPE_CHECKING:
    from skewboost.plots.alternating_tree import AlternatingTreeDisplay
    from skewboost.plots.bias_variance import BiasVarianceDisplay
    from skewboost.plots.calibration import CalibrationDisplay
    from skewboost.plots.comparison import ComparisonDisplay
    from skewboost.plots.contribution import ContributionDisplay
    from skewboost.plots.cost_curve import CostCurveDisplay
    from skewboost.plots.decision_boundary import DecisionBoundaryDisplay
    from skewboost.plots.goal_frontier import GoalFrontierDisplay
    from skewboost.plots.learning_curve import LearningCurveDisplay, WeightQuantileDisplay
    from skewboost.plots.margin import MarginDisplay
    from skewboost.plots.operating_point import OperatingPointDisplay
    from skewboost.plots.posterior import PosteriorDisplay
    from skewboost.plots.shape_function import ShapeFunctionDisplay
    from skewboost.plots.sweeps import CostSweepDisplay, SweepDisplay

_HOME = {
    "AlternatingTreeDisplay": "alternating_tree",
    "BiasVarianceDisplay": "bias_variance",
    "CalibrationDisplay": "calibration",
    "ComparisonDisplay": "comparison",
    "ContributionDisplay": "contribution",
    "CostCurveDisplay": "cost_curve",
    "CostSweepDisplay": "sweeps",
    "DecisionBoundaryDisplay": "decision_boundary",
    "GoalFrontierDisplay": "goal_frontier",
    "LearningCurveDisplay": "learning_curve",
    "MarginDisplay": "margin",
    "OperatingPointDisplay": "operating_point",
    "PosteriorDisplay": "posterior",
    "ShapeFunctionDisplay": "shape_function",
    "SweepDisplay": "sweeps",
    "WeightQuantileDisplay": "learning_curve",
}

__all__ = [
    "AlternatingTreeDisplay",
    "BiasVarianceDisplay",
    "CalibrationDisplay",
    "ComparisonDisplay",
    "ContributionDisplay",
    "CostCurveDisplay",
    "CostSweepDisplay",
    "DecisionBoundaryDisplay",
    "GoalFrontierDisplay",
    "LearningCurveDisplay",
    "MarginDisplay",
    "OperatingPointDisplay",
    "PosteriorDisplay",
    "ShapeFunctionDisplay",
    "SweepDisplay",
    "WeightQuantileDisplay",
]

__getattr__, __dir__ = lazy(__name__, _HOME)
