"""Plots, as scikit-learn's `Display` classes, and the report. Matplotlib is imported when something is drawn."""

from skewboost._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
