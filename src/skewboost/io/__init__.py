"""Save fitted models as JSON, which is loaded without executing anything, and export them as programs."""

from skewboost._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
