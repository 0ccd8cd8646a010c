"""WeightBoost.

References
----------
.. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
   Universität München (2010), algorithm 17.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from skewboost.boosting.estimator import CostSensitiveClassifier, booster
from skewboost.boosting.link import TwoClasses
from skewboost.boosting.rule import PERFECT, DiscreteRule, Rule, examples_times_costs
from skewboost.boosting.state import F, State
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import EXAMPLES, Y, itself
from skewboost.parameters import check_params, number
from skewboost.typing import Array


class WeightBoost(DiscreteRule):
    """``F ← F + α exp(-|β F|) h``: votes are damped where the ensemble is confident."""

    additive = False

    def __init__(self, beta: float) -> None:
        self.beta = beta

    def link(self, state: State) -> TwoClasses:
        """The damping of the votes is part of the link."""
        return replace(super().link(state), damping=self.beta, cost_offset=math.log(state.costs.ratio))

    def start(self, state: State) -> None:
        """F = 0, ``w ∝ c``."""
        super().start(state)
        state.rows.put(F, 0.0)
        state.importance = examples_times_costs(state)
        if state.importance != EXAMPLES:
            state.assign(itself, (state.importance,))

    def update(self, state: State, h: Any, term: Term) -> None:
        """``w ∝ c exp(-y F - |β F|)``."""

        def moved(n: Array, y: Array, F: Array, g: Array) -> tuple[Array, Array, Array]:
            F = state.link.combine(F, g)
            against = -y * F
            return F, against - np.abs(self.beta * F), n * np.exp(np.minimum(against, 700.0))

        state.rows.evaluate(term, "g")
        (total,) = state.rows.map(moved, (state.importance, Y, F, "g"), (F, "exponent"))
        state.loss = total / state.n
        top = state.rows.max(itself, ("exponent",))
        if top < -700.0:
            state.stop_reason = PERFECT
        state.assign(lambda n, exponent: n * np.exp(exponent - top), (state.importance, "exponent"))


@booster
class WeightBoostClassifier(CostSensitiveClassifier):
    r"""WeightBoost: examples with a confident prediction lose weight, whether it is correct or not.

    A round has AdaBoost's step and adds :math:`\alpha\, e^{-|\beta F|} h`, where F is the ensemble before it; the
    weights are :math:`w \propto e^{-y F - |\beta F|}`. Where the ensemble is confident, later rounds add little, and an
    outlier in such a region gains little weight. This makes WeightBoost robust to label noise. F is not a sum of the
    rounds, so prediction replays them in order, in time proportional to their number. `predict_proba` is
    :math:`1/(1+e^{-2F})`, which is underconfident, because F grows more and more slowly.

    With costs the weights are :math:`w \propto c\, e^{-y F - |\beta F|}`, and the step minimises the same bound of
    :math:`\sum c_i e^{-y_i F(x_i)}` as without them of :math:`\sum e^{-y_i F(x_i)}`. No paper has this form. At
    :math:`\beta = 0` it is `CGAdaClassifier`.

    {parameters}
    {equal_cost}
    beta : float, default=0.5
        The strength of the damping; 0 gives AdaBoost.

    References
    ----------
    .. [jin2003] R. Jin, Y. Liu, L. Si, J. Carbonell, A. G. Hauptmann, "A new boosting algorithm using input-dependent
       regularizer", International Conference on Machine Learning (2003).

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import WeightBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> print(round(WeightBoostClassifier(n_estimators=30).fit(X, y).score(X_test, y_test), 2))
    1.0
    """

    beta: float = 0.5

    _equal_by_default = True

    def _rule(self) -> Rule:
        check_params(self, beta=number(0, None))
        return WeightBoost(float(self.beta))
