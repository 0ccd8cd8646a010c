"""Boosting for lopsided data: one class is rare, or one kind of mistake costs more than the other."""

__version__ = "0.1.0"
