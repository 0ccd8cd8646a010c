"""Favored boosting: costs in the exponent of confidence-rated AdaBoost."""

from __future__ import annotations

import numpy as np

from skewboost.boosting.cost_use import EXPONENT
from skewboost.boosting.estimator import CostSensitiveClassifier, booster
from skewboost.boosting.rule import Rule
from skewboost.boosting.smoothing_choice import SmoothingChoice
from skewboost.boosting.state import State
from skewboost.boosting.variants.adacost import cost_adjustment
from skewboost.boosting.variants.realboost import RealBoost
from skewboost.metrics.costs import Costs
from skewboost.parameters import check_params, one_of
from skewboost.typing import Array

BETA = one_of("label", "sign")


class FavoredBoost(RealBoost):
    """``w ← w exp(-β y g)``, where g is that of RealBoost."""

    costs = EXPONENT

    def __init__(self, beta: str = "label") -> None:
        super().__init__()
        self.beta = beta

    def log_factor(self, state: State, y: Array, g: Array, c: Array) -> Array:
        """``-β y g``."""
        return np.asarray(-favor(self.beta, y * g, c) * y * g)


def favor(beta: str, yg: Array, c: Array) -> Array:
    """Return β: the cost ("label"), or that of [fan1999]_, which also depends on the sign of the vote ("sign")."""
    return c if beta == "label" else cost_adjustment(np.sign(yg), c)


@booster
class FavoredBoostClassifier(SmoothingChoice, CostSensitiveClassifier):
    r"""Favored boosting: weights of the favored class move faster.

    A round adds RealBoost's :math:`\frac12 \ln \frac{W^+_j + 1/N}{W^-_j + 1/N}` and multiplies the weights by
    :math:`\exp(-\beta y g)`, where :math:`\beta` is the cost divided by the largest; by default
    :math:`\beta_+ = N_-/N_+` and :math:`\beta_- = N_+/N_-`. Where all :math:`\beta` are 1 it is RealBoost.

    A favored example gains more weight if it is misclassified and loses more if it is not. What it gains in one round
    it loses in the next, so costs favor precision as often as recall, and the expected cost is not minimised. It
    minimises no loss, so `predict_proba` returns :math:`1/(1+e^{-2F})`. Use `CSRAClassifier`.

    {parameters}
    {cost}
    beta : {"label", "sign"}, default="label"
        Whether :math:`\beta` depends on the label alone ([cuendet2002]_ §2.4.5), or also on the sign of the vote
        (§2.4.3): :math:`\frac12 + \frac12 c` if it is wrong and :math:`\frac12 - \frac12 c` if it is right, as in
        `AdaCostClassifier`. Then costs are divided by the largest only if that exceeds 1, and at equal costs it is not
        RealBoost.
    {smoothing}

    References
    ----------
    .. [fan1999] W. Fan, S. J. Stolfo, J. Zhang, P. K. Chan, "AdaCost: misclassification cost-sensitive boosting",
       International Conference on Machine Learning (1999) 97-105.
    .. [cuendet2002] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors",
       IBM Research Report RZ 3402 (2002).

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import FavoredBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = FavoredBoostClassifier(n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.90
    """

    beta: str = "label"

    def _rule(self) -> Rule:
        check_params(self, beta=BETA)
        return FavoredBoost(self.beta)

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        """``β = c / max c``, or by default the ratio of the frequencies of the other and the own class.

        See [cuendet2002]_ §2.4.5.
        """
        costs = super()._costs(each, labels, weights)
        if self.beta == "sign":
            return costs.at_most_one()
        if self.cost is None and each is None:
            return Costs(1.0 / costs.ratio, costs.ratio)  # balanced costs are inverse frequencies
        return costs.up_to(1.0)
