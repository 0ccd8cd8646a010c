"""Logistic regression on one column, as a weak learner."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

STEPS = 5
LARGEST_STEP = 4.0  # of a coefficient of a column with variance 1
RIDGE = 1e-6  # so that coefficients of separable columns are finite


class UnivariateLogisticRegression(ClassifierMixin, BaseEstimator):
    """The column whose logistic regression misclassifies the smallest weight.

    The coefficients are fitted to all columns at once, by a few steps of Newton's method.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit the regressions to labels 0 and 1, and choose the column."""
        self.classes_ = np.array([0, 1])
        share = sample_weight / sample_weight.sum()
        centre = share @ X
        Z = X - centre
        scale = np.sqrt(share @ (Z * Z))
        scale[scale < 1e-12] = 1.0  # of constant columns
        Z /= scale
        w, target = share[:, None], np.asarray(y, dtype=np.float64)[:, None]
        intercepts, slopes = np.zeros((2, X.shape[1]))
        for _ in range(STEPS):
            p = expit(intercepts + slopes * Z)
            rest, h = w * (target - p), w * p * (1.0 - p)
            hz = h * Z
            g0, g1 = rest.sum(axis=0), (rest * Z).sum(axis=0) - RIDGE * slopes
            h00, h01, h11 = h.sum(axis=0) + RIDGE, hz.sum(axis=0), (hz * Z).sum(axis=0) + RIDGE
            determinant = h00 * h11 - h01 * h01
            intercepts += np.clip((h11 * g0 - h01 * g1) / determinant, -LARGEST_STEP, LARGEST_STEP)
            slopes += np.clip((h00 * g1 - h01 * g0) / determinant, -LARGEST_STEP, LARGEST_STEP)
        wrong = share @ ((intercepts + slopes * Z >= 0.0) != (target == 1.0))
        best = int(np.argmin(wrong))
        self.column_, self.slope_ = best, float(slopes[best] / scale[best])
        self.intercept_ = float(intercepts[best] - self.slope_ * centre[best])
        return self

    def predict(self, X: Any) -> Any:
        """Return 1 where the probability is at least ½."""
        return (self.intercept_ + self.slope_ * X[:, self.column_] >= 0.0).astype(np.intp)
