"""Published experiments on boosting for lopsided data: their tables and figures, next to ours."""

from skewboost._lazy import attach

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
