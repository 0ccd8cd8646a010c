"""Model files: fitted models as JSON that is read without executing anything. And fitted models as programs."""

from skewboost._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
