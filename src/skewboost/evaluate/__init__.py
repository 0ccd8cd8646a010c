"""How models fare: curves over rounds, bias and variance, sweeps over noise, imbalance and costs, and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skewboost._lazy import lazy

if TYPE_CHECKING:
    from skewboost.evaluate.comparison import (
        Comparison,
        IncompleteComparisonWarning,
        RankTest,
        ResultsFileError,
        compare,
    )
    from skewboost.evaluate.curve_results import LearningCurve
    from skewboost.evaluate.curves import learning_curve
    from skewboost.evaluate.decomposition import BiasVariance, bias_variance
    from skewboost.evaluate.sweep_results import CostSweep, Sweep
    from skewboost.evaluate.sweeps import cost_sweep, imbalance_sweep, noise_sweep

_HOME = {
    "BiasVariance": "decomposition",
    "Comparison": "comparison",
    "CostSweep": "sweep_results",
    "IncompleteComparisonWarning": "comparison",
    "LearningCurve": "curve_results",
    "RankTest": "comparison",
    "ResultsFileError": "comparison",
    "Sweep": "sweep_results",
    "bias_variance": "decomposition",
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
    "IncompleteComparisonWarning",
    "LearningCurve",
    "RankTest",
    "ResultsFileError",
    "Sweep",
    "bias_variance",
    "compare",
    "cost_sweep",
    "imbalance_sweep",
    "learning_curve",
    "noise_sweep",
]

__getattr__, __dir__ = lazy(__name__, _HOME)
