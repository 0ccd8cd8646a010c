"""Evaluation: curves over rounds, bias and variance, sweeps over noise, imbalance and costs, and comparisons."""

from skewboost._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
