"""Samplers: which rows the weak learner of a round gets to see."""

from __future__ import annotations

from typing import Any

from skewboost._params import number
from skewboost.samplers.base import Drawn, Sampler
from skewboost.samplers.bootstrap import Bootstrap
from skewboost.samplers.databoost import DataBoost
from skewboost.samplers.fraction import Fraction
from skewboost.samplers.imbalanced import Imbalanced
from skewboost.samplers.smote import Smote
from skewboost.samplers.under import UnderSample

__all__ = ["Bootstrap", "DataBoost", "Drawn", "Fraction", "Sampler", "Smote", "UnderSample", "as_sampler"]

WANTED = (
    "None, 'bootstrap', a fraction between 0 and 1, an object from skewboost.samplers, or an instance of a sampler of "
    "imbalanced-learn"
)


def as_sampler(given: Any) -> Sampler | None:
    """The sampler that the `sampler` parameter stands for."""
    if given is None:
        return None
    if isinstance(given, str) and given == "bootstrap":
        return Bootstrap()
    if number(0, 1, open_low=True).passes(given) and given < 1:
        return Fraction(float(given))
    if not isinstance(given, type):
        if hasattr(given, "draw"):
            sampler: Sampler = given
            return sampler
        if hasattr(given, "fit_resample"):
            return Imbalanced(given)
    raise ValueError(f"sampler must be {WANTED}; got {given!r}.")
