"""From probabilities and prices to decisions."""

from __future__ import annotations

from skewboost.decisions.minimum_risk import MinimumRiskClassifier
from skewboost.metrics.priors import correct_prior, estimate_prior

__all__ = ["MinimumRiskClassifier", "correct_prior", "estimate_prior"]
