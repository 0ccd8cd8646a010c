"""Estimators around other estimators: minimum risk, code matrices, bagging, pasted votes, samplers."""

from skewboost._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
