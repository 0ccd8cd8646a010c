"""Published experiments: their tables and figures, next to ours."""

from skewboost._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
