"""A straight line on one feature, fitted by weighted least squares."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.engine.boundary import TIE, Request
from skewboost.engine.explaining import Support, spread_of
from skewboost.engine.scoring import LineTerm, power_of_two
from skewboost.engine.table import Nominal
from skewboost.engine.training_set import EXAMPLES
from skewboost.errors import InputError
from skewboost.learners.learner import (
    RESPONSES,
    Importances,
    LearnerContext,
    RandomSource,
    ResponseHypothesis,
)
from skewboost.learners.training_data import TrainingData


class LineContext(LearnerContext):
    """Straight lines with the training data: the numeric columns, scaled and centred."""

    def __init__(self, data: TrainingData) -> None:
        super().__init__(data, data.view(None))
        table = data.table
        columns = [(j, table.column(j)) for j in range(table.n_features)]
        numeric = [(j, np.asarray(c, dtype=np.float64)) for j, c in columns if not isinstance(c, Nominal)]
        if not numeric:
            raise InputError(
                "Line needs a numeric column, but all columns of X have categories.", "Use Stump() or Tree()."
            )
        self.features = np.array([j for j, _ in numeric])
        X = np.column_stack([c for _, c in numeric])
        self.present = ~np.isnan(X)
        count = np.maximum(self.present.sum(axis=0), 1)
        # Scaled and centred, so that squares neither overflow nor lose digits in columns far from zero. Division by a
        # power of two is exact, also for the smallest numbers, whose inverse would overflow.
        largest = np.abs(np.where(self.present, X, 0.0)).max(axis=0)
        self.scale = power_of_two(largest)
        X = np.where(self.present, X / self.scale, 0.0)
        self.centre = X.sum(axis=0) / count
        self.X = np.where(self.present, X - self.centre, 0.0)
        spread = np.abs(self.X).max(axis=0)
        self.spread = np.where(spread > 0, spread, 1.0)
        self.X /= self.spread

    def support(self) -> Support:
        """The spread of the columns, since there are no bins."""
        return Support(self.data.n_examples, spread=spread_of(self.data.table, self.rows.get(EXAMPLES)))

    def responses(self, z: str, w: str, rng: RandomSource) -> ResponseHypothesis | None:
        """The line ``a x + b`` with the smallest Σ w (z - a x - b)²; it adds nothing where x is missing."""
        responses, weights = self.rows.get(z), self.rows.get(w)
        wz = weights * responses
        w0, z0 = weights @ self.present, wz @ self.present
        x1, x2, xz = weights @ self.X, weights @ (self.X * self.X), wz @ self.X
        safe = np.maximum(w0, np.finfo(np.float64).tiny)
        spread, slant = x2 - x1 * x1 / safe, xz - x1 * z0 / safe
        varies = spread > 1e-12 * np.maximum(x2, np.finfo(np.float64).tiny)
        slope = np.divide(slant, spread, out=np.zeros_like(slant), where=varies)
        explained = z0 * z0 / safe + slope * slant
        best = int(np.argmax(explained >= explained.max() * (1 - TIE)))
        gained = [(int(self.features[best]), float(slope[best] * slant[best]))]
        rise = float(slope[best] / self.spread[best])
        height = float((z0[best] - slope[best] * x1[best]) / safe[best])
        residual = float((wz @ responses - explained[best]) / weights.sum())
        line = LineTerm(int(self.features[best]), rise, height, float(self.centre[best]), float(self.scale[best]))
        return ResponseHypothesis(line, residual, Importances(self.data.table.n_features, gained))


class Line(BaseEstimator):
    """A straight line of the feature that fits best, by weighted least squares. It answers responses, not labels.

    Examples
    --------
    >>> from skewboost import LogitBoostClassifier
    >>> from skewboost.learners import Line
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> LogitBoostClassifier(estimator=Line(), n_estimators=5).fit(X, y).predict([[3.0]])
    array([1])
    """

    answers = (RESPONSES,)

    def prepare(self, data: TrainingData, goal: Request) -> LineContext:
        return LineContext(data)
