"""AdaCost."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real

import numpy as np

from skewboost.boosting.cost_use import EXPONENT
from skewboost.boosting.estimator import CostSensitiveClassifier, booster
from skewboost.boosting.rule import DiscreteRule, Rule
from skewboost.boosting.state import State
from skewboost.engine.training_set import EXAMPLES
from skewboost.errors import InputError
from skewboost.learners.learner import LabelHypothesis
from skewboost.metrics.costs import Costs, check_cost, costs_of
from skewboost.parameters import check_params, one_of
from skewboost.typing import Array

DEFAULT_LARGEST = 0.2
NO_COST = 1e-100  # stands for a cost of 0: β is the same double


class AdaCost(DiscreteRule):
    """``w ← w exp(-α y h β)``, from weights in proportion to the costs, or equal ones."""

    costs = EXPONENT

    def __init__(self, initial: str = "cost") -> None:
        self.initial = initial

    def start(self, state: State) -> None:
        """``w ∝ c``, or 1/N."""
        super().start(state)
        if self.initial == "cost":
            state.assign(np.multiply, (EXAMPLES, state.cost))

    def step(self, state: State, h: LabelHypothesis) -> tuple[float, float]:
        """``α = ½ ln((1 + r) / (1 - r))`` with ``r = Σ w y h β``."""
        negative, positive = (self._agreement(state, h, sign) for sign in (-1.0, 1.0))
        r = negative + positive
        return 1.0 + r, 1.0 - r

    @staticmethod
    def _agreement(state: State, h: LabelHypothesis, y: float) -> float:
        """Return the part of r that belongs to one class."""
        column = int(y > 0)
        plain = state.sums(h, np.ones_like)[:, column]
        costly = state.sums(h, lambda c: c)[:, column]
        yh = y * h.labels
        return float((yh * (0.5 * plain - 0.5 * yh * costly)).sum())

    def log_factor_of_step(self, state: State, alpha: float, yh: Array, c: Array) -> Array:
        """``-α y h β`` with ``β = ½ + ½c`` where h is wrong and ``½ - ½c`` where it is correct ([fan1999]_ §3.1)."""
        return np.asarray(-alpha * yh * cost_adjustment(yh, c))


def cost_adjustment(right: Array, c: Array) -> Array:
    """β of [fan1999]_: ``½ - ½c`` where `right` is 1, ``½ + ½c`` where it is -1, and ½ where it is 0."""
    return np.asarray(0.5 - 0.5 * c * right)


@booster
class AdaCostClassifier(CostSensitiveClassifier):
    r"""AdaCost: costly examples gain more weight if misclassified, and lose less if classified correctly.

    From weights :math:`w \propto c` a round adds :math:`\alpha h` with :math:`\alpha = \frac12 \ln\frac{1+r}{1-r}`,
    :math:`r = \sum w y h \beta`, and multiplies the weights by :math:`\exp(-\alpha y h \beta)`, where
    :math:`\beta = \frac12 + \frac12 c` for misclassified examples and :math:`\frac12 - \frac12 c` for the others. Costs
    are divided by the largest if that exceeds 1. With ``cost=None`` they are balanced and the largest is 0.2, because
    AdaCost hardly learns with a largest cost of 1.

    AdaCost is known to be defective. At equal costs it is not AdaBoost, and an example of the largest cost never loses
    weight, so steps are small or negative from the start. It is included because it is often cited as a baseline. It
    minimises no loss, so `predict_proba` returns :math:`1/(1+e^{-2F})`. Use `AdaC2Classifier` or, better,
    `CGAdaClassifier`.

    {parameters}
    {cost}
    initial : {"cost", "equal"}, default="cost"
        The initial weights: in proportion to the costs as in [fan1999]_ and in algorithm 8 of [nyga2010]_, or equal.
        With equal ones a class may have the cost 0 (as in ``cost={0: 0, 1: 0.5}``), so that :math:`\beta = \frac12`
        for it. [nyga2010]_ rates the common class so (§3.3); its algorithm 8 would never give these rows any weight.

    References
    ----------
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010).
    .. [fan1999] W. Fan, S. J. Stolfo, J. Zhang, P. K. Chan, "AdaCost: misclassification cost-sensitive boosting",
       International Conference on Machine Learning (1999) 97-105.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import AdaCostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = AdaCostClassifier(cost=5, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.90
    """

    initial: str = "cost"

    def _rule(self) -> Rule:
        check_params(self, initial=one_of("cost", "equal"))
        return AdaCost(self.initial)

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        free = [label for label, c in self.cost.items() if _is_zero(c)] if isinstance(self.cost, Mapping) else []
        if free:
            if self.initial == "cost":
                raise InputError(
                    f"cost[{free[0]!r}]=0 of {type(self).__name__} needs initial='equal': initial weights in "
                    "proportion to the costs would leave these rows without any weight.",
                    "Set initial='equal', or a cost above 0.",
                )
            cost = {label: NO_COST if label in free else c for label, c in self.cost.items()}
            check_cost(cost, self.classes_)
            return costs_of(cost, each, labels, self.pos_label_, self.classes_, weights).at_most_one()
        costs = super()._costs(each, labels, weights)
        return costs.up_to(DEFAULT_LARGEST) if self.cost is None and each is None else costs.at_most_one()


def _is_zero(cost: object) -> bool:
    return isinstance(cost, Real) and not isinstance(cost, bool) and cost == 0
