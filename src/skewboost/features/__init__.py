"""Features: tables that are computed from raw data, such as the rectangle features of grey images."""

from skewboost._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
