"""Expected costs of decisions, for classifiers that decide by them."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from skewboost.metrics.costs import besides_misses, cost_matrix, expected_costs, plain_cost, row_matrices
from skewboost.typing import Array


class ExpectedCostMixin:
    """The expected costs of a classifier with probabilities and a cost matrix.

    The probabilities do not depend on the costs, so `cost` may be set after `fit`.
    """

    cost: Any
    classes_: Array
    pos_label_: Any
    _costs_of_fit: tuple[Any, Array]  # `cost` when the estimator was fitted, and the matrix

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, in the order of `classes_`."""
        raise NotImplementedError

    @property
    def _shares(self) -> Array:
        """The class frequencies that balanced costs are for."""
        raise NotImplementedError

    @property
    def _positive(self) -> Any:
        return self.pos_label_ if len(self.classes_) == 2 else None

    def _keep_costs(self, matrix: Array) -> None:
        """Keep the cost matrix of a fit, until `cost` is set to something else."""
        self._costs_of_fit = plain_cost(self.cost), matrix

    @property
    def _cost_was_set(self) -> bool:
        """Whether `cost` has been set since `fit`."""
        return bool(plain_cost(self.cost) != self._costs_of_fit[0])

    @property
    def _costs_are_balanced(self) -> bool:
        """Whether no costs are given, but such that both classes cost the same in total."""
        return self.cost is None or isinstance(self.cost, str)

    def _check_costs(self) -> None:
        """Raise if costs have been set since `fit` that cannot be honoured."""

    @property
    def cost_(self) -> Array:
        """The cost matrix ``[true, predicted]``: that of the fit, or of the `cost` that was set since."""
        check_is_fitted(self)
        self._check_costs()
        matrix = self._costs_of_fit[1].view()
        if self._cost_was_set:
            matrix = cost_matrix(self.cost, self.classes_, self._positive, self._shares)
        matrix.flags.writeable = False  # another entry would have no effect: `cost` is what decides
        return matrix

    def _check_decisions(self) -> None:
        """Raise if `predict` would."""
        self.cost_  # noqa: B018

    @property
    def _costs_besides_misses(self) -> Array:
        """The costs that rows have in common, each with its own cost of a miss."""
        self._check_costs()
        return cost_matrix(besides_misses(self.cost), self.classes_, self._positive, self._shares)

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
        if self._positive is None:
            return expected_costs(p, row_matrices(sample_cost, self.cost_, len(p), None))
        positive = self.classes_.tolist().index(self._positive)
        return expected_costs(p, row_matrices(sample_cost, self._costs_besides_misses, len(p), positive))
