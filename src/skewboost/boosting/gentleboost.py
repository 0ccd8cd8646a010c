"""Gentle AdaBoost.

References
----------
.. [1] J. Friedman, T. Hastie, R. Tibshirani, "Additive logistic regression: a statistical view of boosting", Annals of
   Statistics 28 (2000) 337-407.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.boosting.estimator import BoostingClassifier
from skewboost.boosting.rule import MAX_VOTE, Rule, no_edge
from skewboost.boosting.state import State
from skewboost.engine.scoring import Term
from skewboost.learners.base import LABELS, RESPONSES, Draw, ResponseHypothesis


class GentleBoost(Rule):
    """``g = E_w[y | x]``: ``2p - 1`` in every leaf of a partition, or whatever a regressor makes of y."""

    asks = (LABELS, RESPONSES)
    criterion = "gini"  # for two classes this is the squared error of 2p - 1

    def ask(self, state: State, rng: Draw) -> Any:
        """A partition where the learner can give one, because its rounds are cheaper; else a regression of y."""
        if state.question == LABELS:
            return state.learner.labels(rng)
        return state.learner.responses(state.y, state.weights, rng)

    def vote(self, state: State, h: Any) -> Term | None:
        """The weighted mean of y ([1] algorithm 4)."""
        if isinstance(h, ResponseHypothesis):
            return h.term.bounded(MAX_VOTE, state.learner.view)  # a line can be anywhere at rows of next to no weight
        negative, positive = h.class_weights.T
        total = negative + positive
        means = np.divide(positive - negative, total, out=np.zeros_like(total), where=total > 0)
        values = np.where(h.abstains, 0.0, means)
        return None if no_edge(state, values) else h.term(values)


class GentleBoostClassifier(BoostingClassifier):
    r"""Gentle AdaBoost: rounds add the weighted mean of the labels.

    A round adds :math:`E_w[y \mid x]`, which for a leaf is :math:`2p_j - 1 \in [-1, 1]`, and multiplies the weights by
    :math:`\exp(-y g)`. It is the Newton step on the exponential loss where `RealBoostClassifier` takes the whole way,
    and so never trusts a pure leaf too much; it is the steadiest of the four on noisy data.

    {parameters}

    References
    ----------
    .. [1] J. Friedman, T. Hastie, R. Tibshirani, "Additive logistic regression: a statistical view of boosting", Annals
       of Statistics 28 (2000) 337-407.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skewboost import GentleBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> print(round(GentleBoostClassifier(n_estimators=50).fit(X, y).score(X, y), 2))
    1.0
    """

    def _rule(self) -> Rule:
        return GentleBoost()
