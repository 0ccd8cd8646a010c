"""Measures of decisions and probabilities where classes are lopsided and mistakes have prices."""

from __future__ import annotations

from skewboost.metrics.counts import Counts

__all__ = ["Counts"]
