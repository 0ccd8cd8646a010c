"""Boosting for lopsided data: one class is rare, or one kind of mistake costs more than the other."""

from skewboost._lazy import attach

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
