"""Expected costs of decisions, for classifiers that decide by them."""

from __future__ import annotations

from typing import Any

from skewboost.metrics.costs import expected_costs, row_matrices
from skewboost.typing import Array


class ExpectedCostMixin:
    """The expected costs of a classifier with probabilities and a cost matrix."""

    classes_: Array
    pos_label_: Any
    cost_: Array

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, in the order of `classes_`."""
        raise NotImplementedError

    def expected_costs(self, X: Any, sample_cost: Any = None) -> Array:
        """The expected cost of predicting each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.
        sample_cost : array-like or None, default=None
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per predicted class, in the order of `classes_`.
        """
        p = self.predict_proba(X)
        if sample_cost is None:
            return expected_costs(p, self.cost_)
        positive = self.classes_.tolist().index(self.pos_label_) if len(self.classes_) == 2 else None
        return expected_costs(p, row_matrices(sample_cost, self.cost_, len(p), positive))
