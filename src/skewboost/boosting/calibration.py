"""Calibration: from scores to probabilities, fitted to rows that were held out of training.

References
----------
.. [platt1999] J. Platt, "Probabilistic outputs for support vector machines", Advances in Large Margin Classifiers
   (1999) 61-74.
.. [zadrozny2002] B. Zadrozny, C. Elkan, "Transforming classifier scores into accurate multiclass probability
   estimates", Knowledge Discovery and Data Mining (2002) 694-699.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from skewboost.typing import Array


@dataclass(frozen=True)
class Sigmoid:
    """Log-odds that are linear in the score."""

    slope: float
    intercept: float

    @classmethod
    def fit(cls, scores: Array, positive: Array, weights: Array) -> Sigmoid:
        """Fit Platt scaling [platt1999]_. Its smoothed targets keep the slope finite for separable scores."""
        n_positive, n_negative = weights[positive].sum(), weights[~positive].sum()
        high, low = (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0)
        target = np.where(positive, high, low)
        share = weights / weights.sum()
        center, spread = float(np.average(scores, weights=share)), float(scores.std()) or 1.0
        x = (scores - center) / spread

        def log_loss(ab: Array) -> tuple[float, Array]:
            t = ab[0] * x + ab[1]
            wrong = share * (expit(t) - target)
            loss = (share * (np.logaddexp(0.0, t) - target * t)).sum()
            return float(loss), np.array([(wrong * x).sum(), wrong.sum()])

        def curvature(ab: Array) -> Array:
            p = expit(ab[0] * x + ab[1])
            h = share * p * (1.0 - p)
            return np.array([[(h * x * x).sum(), (h * x).sum()], [(h * x).sum(), h.sum()]])

        start = np.array([0.0, math.log(n_positive / n_negative)])
        a, b = minimize(log_loss, start, jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-10}).x
        return cls(float(a / spread), float(b - a * center / spread))

    def log_odds(self, scores: Array) -> Array:
        """Return ``slope · score + intercept``."""
        return np.asarray(self.slope * scores + self.intercept)

    def probability(self, scores: Array) -> Array:
        """Return the logistic function of the log-odds."""
        return np.asarray(expit(self.log_odds(scores)))


@dataclass(frozen=True, eq=False)
class Isotonic:
    """Probabilities that increase with the score: linear interpolation between points, constant at both ends."""

    scores: Array
    levels: Array
    margin: float = 0.0  # the distance that probabilities keep from 0 and 1

    @classmethod
    def fit(cls, scores: Array, positive: Array, weights: Array) -> Isotonic:
        """Fit an isotonic regression [zadrozny2002]_. Probabilities stay off 0 and 1, so that costs can still change
        decisions.
        """
        model = IsotonicRegression(out_of_bounds="clip").fit(scores, positive.astype(np.float64), weights)
        return cls(model.X_thresholds_, model.y_thresholds_, 0.5 / float(weights.sum()))

    def log_odds(self, scores: Array) -> Array:
        """Return the log-odds of the probability."""
        p = self.probability(scores)
        return np.asarray(np.log(p / (1.0 - p)))

    def probability(self, scores: Array) -> Array:
        """Return the interpolated probability."""
        return np.clip(np.interp(scores, self.scores, self.levels), self.margin, 1.0 - self.margin)


Calibrator = Sigmoid | Isotonic
CALIBRATORS: dict[str, type[Sigmoid] | type[Isotonic]] = {"sigmoid": Sigmoid, "isotonic": Isotonic}


def rounds_to_calibrate(n_rounds: int) -> list[int]:
    """Return the numbers of rounds to calibrate: a geometric sequence with ratio 1.5 that ends at `n_rounds`."""
    found = [n_rounds]
    while found[-1] > 1:
        found.append(min(found[-1] - 1, math.ceil(found[-1] / 1.5)))
    return found[::-1]
