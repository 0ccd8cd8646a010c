"""Samplers: which rows the weak learner of a round is fitted to."""

from __future__ import annotations

from typing import Any

from skewboost.errors import InputError
from skewboost.learners.samplers.bootstrap import Bootstrap
from skewboost.learners.samplers.databoost import DataBoost
from skewboost.learners.samplers.fraction import Fraction
from skewboost.learners.samplers.imbalanced_learn import ImbalancedLearnSampler
from skewboost.learners.samplers.sampler import Sample, Sampler
from skewboost.learners.samplers.smote import Smote
from skewboost.learners.samplers.under_sample import UnderSample
from skewboost.parameters import number

__all__ = ["Bootstrap", "DataBoost", "Fraction", "Sample", "Sampler", "Smote", "UnderSample", "as_sampler"]

ACCEPTED = (
    "None, 'bootstrap', a fraction between 0 and 1, an object from skewboost.learners, or an instance of a sampler of "
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
            return ImbalancedLearnSampler(given)
    raise InputError(f"sampler must be {ACCEPTED}; got {given!r}.")
