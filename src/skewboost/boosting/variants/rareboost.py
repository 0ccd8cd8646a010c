"""RareBoost."""

from __future__ import annotations

import numpy as np

from skewboost.boosting.estimator import BoostingClassifier, booster
from skewboost.boosting.rule import Rule, half_log_ratio, no_edge
from skewboost.boosting.smoothing_choice import SmoothingChoice
from skewboost.boosting.state import State
from skewboost.engine.scoring import Term
from skewboost.learners.learner import LabelHypothesis


class RareBoost(Rule):
    """``g = α⁺ h`` where h = +1 and ``α⁻ h`` where h = -1."""

    criterion = "error"

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """``α⁺ = ½ ln(TP / FP)`` and ``α⁻ = ½ ln(TN / FN)``, sums of weights smoothed with δ.

        See [nyga2010]_ alg. 15.
        """
        steps = {}
        for label in (1.0, -1.0):
            negative, positive = h.class_weights[h.labels == label].sum(axis=0).tolist()
            steps[label] = half_log_ratio(negative, positive, state.delta)
        values = np.where(h.labels > 0, steps[1.0], np.where(h.labels < 0, steps[-1.0], 0.0))
        return None if no_edge(state, values) else h.term(values)


@booster
class RareBoostClassifier(SmoothingChoice, BoostingClassifier):
    r"""RareBoost: one step for the positive predictions of a round, another for the negative ones.

    A round fits :math:`h \in \{-1, +1\}`, adds :math:`\alpha^{+} = \frac12 \ln \frac{TP}{FP}` where it predicts +1 and
    :math:`-\alpha^{-} = -\frac12 \ln \frac{TN}{FN}` where it predicts -1 (weighted, smoothed with 1/N), and multiplies
    the weights by :math:`\exp(-y g)`. With stumps this equals `RealBoostClassifier` with ``Stump(criterion="error")``
    exactly [nyga2010]_. So it has no advantage over RealBoost for rare classes, and RealBoost with its own criterion
    chooses better splits. With learners of many leaves it is a coarser version of RealBoost. `predict_proba` is
    :math:`1/(1+e^{-2F})`.

    {parameters}
    {smoothing}

    References
    ----------
    .. [joshi2001] M. V. Joshi, V. Kumar, R. C. Agarwal, "Evaluating boosting algorithms to classify rare classes:
       comparison and improvements", IEEE International Conference on Data Mining (2001) 257-264.
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010), proposition 3.

    Examples
    --------
    >>> import numpy as np
    >>> from skewboost import RareBoostClassifier, RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.learners import Stump
    >>> X, y = load_rare_cancer()
    >>> rare = RareBoostClassifier(n_estimators=30).fit(X, y)
    >>> real = RealBoostClassifier(estimator=Stump(criterion="error"), n_estimators=30).fit(X, y)
    >>> np.allclose(rare.decision_function(X), real.decision_function(X))
    True
    """

    _rule_class = RareBoost
