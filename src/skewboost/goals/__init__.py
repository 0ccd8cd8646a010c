"""Goals: search for a model that reaches a goal, with a certificate from held-out rows."""

from skewboost._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
