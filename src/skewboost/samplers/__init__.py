"""Samplers: which rows the weak learner of a round gets to see."""

from __future__ import annotations

from skewboost.samplers.base import Drawn, Sampler
from skewboost.samplers.bootstrap import Bootstrap

__all__ = ["Bootstrap", "Drawn", "Sampler"]
