"""The first cost-sensitive boosters: costs multiply the weights in every round."""

from __future__ import annotations

import math

import numpy as np

from skewboost.boosting.cost_use import COMPOUND
from skewboost.boosting.estimator import CostSensitiveClassifier, booster
from skewboost.boosting.rule import DiscreteRule, Rule
from skewboost.boosting.state import State
from skewboost.engine.scoring import Term
from skewboost.learners.learner import LabelHypothesis
from skewboost.parameters import check_params, one_of
from skewboost.typing import Array


class CSB(DiscreteRule):
    """``w ← c w exp(-power y h)``; the vote is that of AdaBoost."""

    costs = COMPOUND
    fixed_power: float | None = None  # None: α

    def __init__(self, cost_on: str) -> None:
        self.cost_on = cost_on

    def log_factor_of_step(self, state: State, alpha: float, yh: Array, c: Array) -> Array:
        """``ln c - power y h``; in Ting's papers only misclassified examples are multiplied by c."""
        cost = np.log(c) if self.cost_on == "all" else np.where(yh < 0, np.log(c), 0.0)
        return cost - (alpha if self.fixed_power is None else self.fixed_power) * yh


class CSB0(CSB):
    """``w ← c w``: the update ignores the vote."""

    fixed_power = 0.0


class CSB1(CSB):
    """``w ← c w exp(-y h)``."""

    fixed_power = 1.0


class CSB1AsPrinted(CSB):
    """CSB1 with votes of h, without any α ([sun2005]_ §2.2); a hypothesis worse than chance is replaced by -h."""

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """``α = ±1``, with which the update is ``w ← c w exp(-α y h)``."""
        if super().vote(state, h) is None:
            return None
        state.step, state.stop_reason = math.copysign(1.0, state.step), ""  # no weight vanishes if h makes no error
        return h.term(state.step * h.labels)


class CSB2(CSB):
    """``w ← c w exp(-α y h)``."""


@booster
class CSBClassifier(CostSensitiveClassifier):
    """The parameters that the three variants share."""

    cost_on: str = "all"

    def _rule(self) -> Rule:
        check_params(self, cost_on=one_of("all", "errors"))
        rule: Rule = self._rule_class(self.cost_on)
        return rule


@booster
class CSB0Classifier(CSBClassifier):
    r"""CSB0: the weights are multiplied by the costs, and by nothing else.

    A round adds AdaBoost's :math:`\alpha h` and multiplies the weights by :math:`c_i`. The weights of the costly class
    grow in every round, whatever the votes are, so F drifts towards recall 1 with the number of rounds. CSB0 is of
    historical interest. It minimises no loss, so `predict_proba` returns :math:`1/(1+e^{-2F})`, which ranks examples
    but is not a probability. Use `CGAdaClassifier` or `CSRAClassifier`.

    {parameters}
    {cost}
    {cost_on}

    References
    ----------
    .. [ting1998] K. M. Ting, Z. Zheng, "Boosting trees for cost-sensitive classifications", European Conference on
       Machine Learning (1998) 190-195.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CSB0Classifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = CSB0Classifier(cost=2, n_estimators=60).fit(X, y)
    >>> flagged = clf.predict(X_test) == 1
    >>> print(f"recall {flagged[y_test == 1].mean():.2f}, flagged {flagged.mean():.2f}, sick {y_test.mean():.2f}")
    recall 0.90, flagged 0.20, sick 0.10
    """

    _rule_class = CSB0


@booster
class CSB1Classifier(CSBClassifier):
    r"""CSB1: costs, and AdaBoost's update with a step of one.

    A round adds AdaBoost's :math:`\alpha h` and multiplies the weights by :math:`c_i e^{-y h}`. The costs enter again
    in every round and soon dominate, and the update ignores how accurate the round was. It minimises no loss, so
    `predict_proba` returns :math:`1/(1+e^{-2F})`. Use `CGAdaClassifier` or `CSRAClassifier`.

    {parameters}
    {cost}
    {cost_on}
    as_printed : bool, default=False
        Whether every round adds h instead of :math:`\alpha h`, as [sun2005]_ describes it (§2.2: "does not use any
        :math:`\alpha_t` factor"). By default only the update has no factor.

    References
    ----------
    .. [sun2005] Y. Sun, A. K. C. Wong, Y. Wang, "Parameter inference of cost-sensitive boosting algorithms", Machine
       Learning and Data Mining in Pattern Recognition (2005) 21-30.
    .. [ting2000] K. M. Ting, "A comparative study of cost-sensitive boosting algorithms", International Conference on
       Machine Learning (2000) 983-990.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CSB1Classifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = CSB1Classifier(cost=2, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 1.00
    """

    as_printed: bool = False

    _rule_class = CSB1

    def _rule(self) -> Rule:
        check_params(self, as_printed=one_of(True, False))
        return CSB1AsPrinted(self.cost_on) if self.as_printed else super()._rule()


@booster
class CSB2Classifier(CSBClassifier):
    r"""CSB2: costs, and AdaBoost's update.

    A round adds AdaBoost's :math:`\alpha h` and multiplies the weights by :math:`c_i e^{-\alpha y h}`. At equal costs
    it is AdaBoost. The costs enter again in every round, so that m rounds apply costs of :math:`c^m`, and the effect of
    a cost depends on the number of rounds. It minimises no loss, so `predict_proba` returns :math:`1/(1+e^{-2F})`. Use
    `CGAdaClassifier` or `CSRAClassifier`, where the effect of a cost does not depend on the number of rounds.

    {parameters}
    {cost}
    {cost_on}

    References
    ----------
    .. [ting2000] K. M. Ting, "A comparative study of cost-sensitive boosting algorithms", International Conference on
       Machine Learning (2000) 983-990.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CSB2Classifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = CSB2Classifier(cost=2, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 1.00
    """

    _rule_class = CSB2
