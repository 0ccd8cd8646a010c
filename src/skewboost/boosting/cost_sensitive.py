"""What the cost-sensitive variants share."""

from __future__ import annotations

from typing import Any

from skewboost.boosting.estimator import BoostingClassifier
from skewboost.engine.boundary import Array
from skewboost.metrics.costs import Costs, check_cost, costs_of


class CostSensitiveClassifier(BoostingClassifier):
    """A booster that is told what mistakes cost."""

    def __init__(self, *, cost: Any = None, **common: Any) -> None:
        super().__init__(**common)
        self.cost = cost

    def fit(self, X: Any, y: Any, sample_weight: Any = None, sample_cost: Any = None) -> CostSensitiveClassifier:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like or pandas, polars or Arrow table of shape (n_samples, n_features)
            Numbers, and in tables also categories or text; cells may be missing.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How many examples a row stands for: a weight of 2 is the row twice, a weight of 0 is no row.
        sample_cost : array-like of shape (n_samples,) or None, default=None
            What it costs to get each row wrong, instead of `cost`. It says nothing about how often such rows occur:
            that is what `sample_weight` is for.

        Returns
        -------
        self
        """
        if sample_cost is not None and self.cost is not None:
            raise ValueError(
                f"Costs are given twice: cost={self.cost!r} and sample_cost. Leave cost at None, or drop sample_cost."
            )
        self._fit_or_restore(X, y, sample_weight, sample_cost)
        return self

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        check_cost(self.cost, self.classes_)
        return costs_of(self.cost, each, labels, self.pos_label_, self.classes_, weights)
