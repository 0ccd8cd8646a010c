"""How models fare: curves over rounds, bias and variance, sweeps over noise, imbalance and costs, and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skewboost._lazy import lazy

if TYPE_CHECKING:
    from skewboost.evaluate.bias_variance import BiasVariance, bias_variance
    from skewboost.evaluate.comparison import Comparison, RankTest, compare  # type: ignore[import-not-found,unused-ignore]
    from skewboost.evaluate.curves import LearningCurve, learning_curve
    from skewboost.evaluate.sweeps import CostSweep, Sweep, cost_sweep, imbalance_sweep, noise_sweep

_HOME = {
    "BiasVariance": "bias_variance",
    "Comparison": "comparison",
    "CostSweep": "sweeps",
    "LearningCurve": "curves",
    "RankTest": "comparison",
    "Sweep": "sweeps",
    "bias_variance": "bias_variance",
    "compare": "comparison",
    "cost_sweep": "sweeps",
    "imbalance_sweep": "sweeps",
    "learning_curve": "curves",
    "noise_sweep": "sweeps",
}

__all__ = [
    "BiasVariance",
    "Comparison",
    "CostSweep",
    "LearningCurve",
    "RankTest",
    "Sweep",
    "bias_variance",
    "compare",
    "cost_sweep",
    "imbalance_sweep",
    "learning_curve",
    "noise_sweep",
]

__getattr__ = lazy(__name__, _HOME)
