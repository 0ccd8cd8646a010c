"""Plots, as scikit-learn's `Display` classes; matplotlib is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skewboost._lazy import lazy

if TYPE_CHECKING:

    "AlternatingTreeDisplay",
    "AlternatingTreeDisplay": "alternating_tree",
    "BiasVarianceDisplay",
    "BiasVarianceDisplay": "bias_variance",
    "CalibrationDisplay",
    "CalibrationDisplay": "calibration",
    "ComparisonDisplay",
    "ComparisonDisplay": "comparison",
    "ContributionDisplay",
    "ContributionDisplay": "contribution",
    "CostCurveDisplay",
    "CostCurveDisplay": "cost_curve",
    "CostSweepDisplay",
    "CostSweepDisplay": "sweeps",
    "DecisionBoundaryDisplay",
    "DecisionBoundaryDisplay": "decision_boundary",
    "GoalFrontierDisplay",
    "GoalFrontierDisplay": "goal_frontier",
    "LearningCurveDisplay",
    "LearningCurveDisplay": "learning_curve",
    "MarginDisplay",
    "MarginDisplay": "margin",
    "OperatingPointDisplay",
    "OperatingPointDisplay": "operating_point",
    "PosteriorDisplay",
    "PosteriorDisplay": "posterior",
    "ShapeFunctionDisplay",
    "ShapeFunctionDisplay": "shape_function",
    "SweepDisplay",
    "SweepDisplay": "sweeps",
    "WeightQuantileDisplay",
    "WeightQuantileDisplay": "learning_curve",
_HOME = {
__all__ = [
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
}
]

__getattr__ = lazy(__name__, _HOME)
