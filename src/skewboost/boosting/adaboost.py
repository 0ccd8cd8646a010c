"""Discrete AdaBoost.

References
----------
.. [1] Y. Freund, R. E. Schapire, "A decision-theoretic generalization of on-line learning and an application to
   boosting", Journal of Computer and System Sciences 55 (1997) 119-139.
.. [2] R. E. Schapire, Y. Singer, "Improved boosting algorithms using confidence-rated predictions", Machine Learning
   37 (1999) 297-336.
"""

from __future__ import annotations

import numpy as np

from skewboost.boosting.estimator import BoostingClassifier
from skewboost.boosting.rule import MIN_ERROR, PERFECT, Rule, no_edge
from skewboost.boosting.state import State
from skewboost.engine.scoring import Term
from skewboost.learners.base import LabelHypothesis


class AdaBoost(Rule):
    """``g = α h`` with ``h`` in {-1, +1}, or 0 where it abstains."""

    criterion = "error"

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """``α = ½ ln(W_right / W_wrong)``, which is ½ ln((1 - ε) / ε) where nobody abstains ([1] fig. 2, [2] §3.3)."""
        negative, positive = h.class_weights.T
        wrong = np.where(h.labels > 0, negative, positive)[h.labels != 0].sum()
        right = np.where(h.labels > 0, positive, negative)[h.labels != 0].sum()
        error = wrong / max(right + wrong, np.finfo(np.float64).tiny)
        if not MIN_ERROR <= error <= 1.0 - MIN_ERROR:
            error = min(max(error, MIN_ERROR), 1.0 - MIN_ERROR)
            state.stop_reason = PERFECT
        alpha = 0.5 * np.log((1.0 - error) / error)
        if no_edge(state, alpha):
            return None
        return h.term(alpha * h.labels)

    def describe(self, h: LabelHypothesis, term: Term) -> dict[str, float]:  # type: ignore[override]
        """The step beside the criterion."""
        step = float((term.values * h.labels).max())  # type: ignore[attr-defined]
        return {"criterion": h.criterion, "step": step}


class AdaBoostClassifier(BoostingClassifier):
    r"""Discrete AdaBoost: rounds vote with their labels, each with one step.

    A round fits :math:`h \in \{-1, +1\}` under weights :math:`w`, adds :math:`\alpha h` with
    :math:`\alpha = \frac12 \ln\frac{1-\varepsilon}{\varepsilon}`, where :math:`\varepsilon` is the weighted error, and
    multiplies the weights by :math:`\exp(-\alpha y h)`. This lowers the exponential loss
    :math:`\frac1N \sum e^{-y F}` in every round.

    All rounds have the same confidence on both sides of a split, which on imbalanced data is wrong for one of them:
    `RealBoostClassifier` usually needs far fewer rounds.

    {parameters}

    References
    ----------
    .. [1] Y. Freund, R. E. Schapire, "A decision-theoretic generalization of on-line learning and an application to
       boosting", Journal of Computer and System Sciences 55 (1997) 119-139.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skewboost import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> print(round(AdaBoostClassifier(n_estimators=50).fit(X, y).score(X, y), 2))
    1.0
    """

    def _rule(self) -> Rule:
        return AdaBoost()
