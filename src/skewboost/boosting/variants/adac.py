"""AdaC1, AdaC2 and AdaC3: costs inside the exponent of AdaBoost's update, outside it, and both.

References
----------
.. [sun2007] Y. Sun, M. S. Kamel, A. K. C. Wong, Y. Wang, "Cost-sensitive boosting for classification of imbalanced
   data", Pattern Recognition 40 (2007) 3358-3378.
"""

from __future__ import annotations

import numpy as np

from skewboost.boosting.cost_use import COMPOUND, EXPONENT
from skewboost.boosting.estimator import CostSensitiveClassifier, PrintedClassifier, booster
from skewboost.boosting.rule import PERFECT, DiscreteRule, Rule, right_and_wrong
from skewboost.boosting.state import SIGNS, State
from skewboost.engine.scoring import Term
from skewboost.errors import InputError
from skewboost.learners.learner import LabelHypothesis
from skewboost.parameters import check_params, one_of
from skewboost.typing import Array


class CostInExponent(DiscreteRule):
    """Costs in the exponent. The inequality that the step is derived from holds for costs of at most 1.

    With larger ones |r| may reach the total. The right-hand side of that inequality then falls without end as the step
    grows, and the step is the bound of all steps.
    """

    def __init__(self, *, scaled: bool) -> None:
        self.scaled = scaled  # whether costs are divided by the largest, if that exceeds 1

    def start(self, state: State) -> None:
        """Scale the costs to at most 1, which the steps of [sun2005]_ require."""
        if self.scaled:
            state.costs = state.costs.at_most_one()
        super().start(state)

    def _step(self, h: LabelHypothesis, total: Array, cost: Array) -> tuple[float, float]:
        """Return ``Σ (total + cost y h)`` and ``Σ (total - cost y h)``, given sums per leaf and class.

        Leaves are added last, so that the sum keeps its digits where costs of 1 cancel.
        """
        moved = SIGNS * h.labels[:, None] * cost
        return float((total + moved).sum()), float((total - moved).sum())

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """With costs above 1 a step at its bound need not be perfect: training goes on if any vote is wrong."""
        term = super().vote(state, h)
        if term is not None and state.stop_reason == PERFECT and not self.scaled:
            state.rows.evaluate(term, "g")
            if state.rows.max(lambda y, g: -y * g, ("y", "g")) > 0:
                state.stop_reason = ""
        return term


class AdaC1(CostInExponent):
    """``w ← w exp(-α c y h)``."""

    costs = EXPONENT

    def __init__(self, alpha: str = "sun", *, as_printed: bool = False) -> None:
        super().__init__(scaled=alpha == "sun" and not as_printed)
        self.alpha = alpha

    def step(self, state: State, h: LabelHypothesis) -> tuple[float, float]:
        """``α = ½ ln((1 + r) / (1 - r))`` with ``r = Σ c w y h`` ([sun2005]_ eq. 11); [nyga2010]_ (2.58) has Σ c w
        instead of 1.
        """
        costs = state.sums(h, lambda c: c)
        return self._step(h, h.class_weights if self.alpha == "sun" else costs, costs)

    def log_factor_of_step(self, state: State, alpha: float, yh: Array, c: Array) -> Array:
        """``-α c y h`` ([sun2005]_ eq. 5)."""
        return -alpha * c * yh


class AdaC2(DiscreteRule):
    """``w ← c w exp(-α y h)``."""

    costs = COMPOUND

    def step(self, state: State, h: LabelHypothesis) -> tuple[float, float]:
        """``α = ½ ln(Σ_right c w / Σ_wrong c w)`` ([sun2005]_ eq. 17)."""
        return right_and_wrong(h, state.sums(h, lambda c: c))

    def log_factor_of_step(self, state: State, alpha: float, yh: Array, c: Array) -> Array:
        """``ln c - α y h`` ([sun2005]_ eq. 6)."""
        return np.log(c) - alpha * yh


class AdaC3(CostInExponent):
    """``w ← c w exp(-α c y h)``."""

    costs = COMPOUND

    def __init__(self, *, as_printed: bool = False) -> None:
        super().__init__(scaled=not as_printed)

    def step(self, state: State, h: LabelHypothesis) -> tuple[float, float]:
        """``α = ½ ln((S + r) / (S - r))`` with ``S = Σ c w``, ``r = Σ c² w y h`` ([sun2005]_ eq. 22)."""
        return self._step(h, state.sums(h, lambda c: c), state.sums(h, lambda c: c * c))

    def log_factor_of_step(self, state: State, alpha: float, yh: Array, c: Array) -> Array:
        """``ln c - α c y h`` ([sun2005]_ eq. 7)."""
        return np.log(c) - alpha * c * yh


@booster
class AdaC1Classifier(PrintedClassifier):
    r"""AdaC1: the cost is in the exponent of the update.

    A round adds :math:`\alpha h` and multiplies the weights by :math:`\exp(-\alpha c y h)`, with :math:`\alpha =
    \frac12 \ln\frac{1+r}{1-r}` and :math:`r = \sum c w y h`. Costs are divided by the largest if that exceeds 1. A
    costly example gains more weight when it is misclassified, but also loses more when it is classified correctly, so
    the weights of the costly class oscillate. With ``alpha="nyga"`` and costs above 1 this happens even on three points
    that AdaBoost separates in three rounds. At equal costs of 1 it is AdaBoost. It minimises no loss, so
    `predict_proba` returns :math:`1/(1+e^{-2F})`. Use `AdaC2Classifier` or, better, `CGAdaClassifier`.

    {parameters}
    {cost}
    alpha : {"sun", "nyga"}, default="sun"
        The step of [sun2005]_, for costs scaled to at most 1; or that of [nyga2010]_, :math:`\frac12 \ln\frac{\sum cw +
        r}{\sum cw - r}`, for unscaled costs, which shows the oscillation.
    as_printed : bool, default=False
        Whether to take costs above 1 as they are with ``alpha="sun"`` too, as [masnadi2007]_ (§5.2.1) does. Where
        :math:`|r| \ge 1` the step is not defined; it is then 11.5 with the sign of r, the bound of all steps.

    References
    ----------
    .. [sun2005] Y. Sun, A. K. C. Wong, Y. Wang, "Parameter inference of cost-sensitive boosting algorithms", Machine
       Learning and Data Mining in Pattern Recognition (2005) 21-30.
    .. [masnadi2007] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", Technical Report SVCL-TR 2007/06,
       University of California, San Diego (2007).
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010).

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import AdaC1Classifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = AdaC1Classifier(cost=2, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.90
    """

    alpha: str = "sun"

    def _rule(self) -> Rule:
        check_params(self, alpha=one_of("sun", "nyga"), as_printed=one_of(True, False))
        if self.as_printed and self.alpha == "nyga":
            raise InputError(
                "as_printed=True has no effect with alpha='nyga', which does not scale costs.",
                "Leave one of them at its default.",
            )
        return AdaC1(self.alpha, as_printed=bool(self.as_printed))


@booster
class AdaC2Classifier(CostSensitiveClassifier):
    r"""AdaC2: the cost is outside the exponent of the update.

    A round adds :math:`\alpha h` with :math:`\alpha = \frac12 \ln \frac{\sum_{right} c w}{\sum_{wrong} c w}` and
    multiplies the weights by :math:`c\, e^{-\alpha y h}`. At equal costs it is AdaBoost. It is the best of its family
    in [sun2005]_ and does not oscillate. But the costs enter again in every round, so that m rounds apply costs of
    :math:`c^m`, and the effect of a cost depends on the number of rounds; keep costs near 1. It minimises no loss, so
    `predict_proba` returns :math:`1/(1+e^{-2F})`. In `CGAdaClassifier` and `CSRAClassifier` the effect of a cost does
    not depend on the rounds.

    {parameters}
    {cost}

    References
    ----------
    .. [sun2005] Y. Sun, A. K. C. Wong, Y. Wang, "Parameter inference of cost-sensitive boosting algorithms", Machine
       Learning and Data Mining in Pattern Recognition (2005) 21-30.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import AdaC2Classifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = AdaC2Classifier(cost=1.2, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.90
    """

    _rule_class = AdaC2


@booster
class AdaC3Classifier(PrintedClassifier):
    r"""AdaC3: the cost is inside and outside the exponent of the update.

    A round adds :math:`\alpha h` and multiplies the weights by :math:`c \exp(-\alpha c y h)`, with :math:`\alpha =
    \frac12 \ln\frac{S+r}{S-r}`, :math:`S = \sum c w`, :math:`r = \sum c^2 w y h`. Costs are divided by the largest if
    that exceeds 1. At equal costs of 1 it is AdaBoost. It has the weaknesses of both others: it oscillates like AdaC1,
    and costs compound as in AdaC2. It minimises no loss, so `predict_proba` returns :math:`1/(1+e^{-2F})`. Use
    `AdaC2Classifier` or, better, `CGAdaClassifier`.

    {parameters}
    {cost}
    as_printed : bool, default=False
        Whether to take costs above 1 as they are, as [masnadi2007]_ (§5.2.1) and [nyga2010]_ (algorithm 11, §3.3) do.
        Where :math:`|r| \ge S` the step is not defined; it is then 11.5 with the sign of r, the bound of all steps.

    References
    ----------
    .. [masnadi2007] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", Technical Report SVCL-TR 2007/06,
       University of California, San Diego (2007).
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010).
    .. [sun2005] Y. Sun, A. K. C. Wong, Y. Wang, "Parameter inference of cost-sensitive boosting algorithms", Machine
       Learning and Data Mining in Pattern Recognition (2005) 21-30.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import AdaC3Classifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = AdaC3Classifier(cost=1.2, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 1.00
    """

    _rule_class = AdaC3
