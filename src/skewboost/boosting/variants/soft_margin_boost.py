"""Soft margins and costs for confidence-rated boosting."""

from __future__ import annotations

import math

import numpy as np

from skewboost.boosting.cost_use import EXPONENT
from skewboost.boosting.estimator import CostSensitiveClassifier, booster
from skewboost.boosting.rule import MAX_VOTE, Rule, half_log_ratio, leaf_log_odds, no_edge
from skewboost.boosting.smoothing_choice import SmoothingChoice
from skewboost.boosting.state import State
from skewboost.boosting.variants.adaboost_reg import KEPT, SoftMargin
from skewboost.boosting.variants.favored_boost import BETA, favor
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import EXAMPLES, W, Y
from skewboost.errors import InputError
from skewboost.learners import resolve
from skewboost.learners.learner import VALUES, LabelHypothesis, RandomSource, ValueHypothesis
from skewboost.learners.value_search import RowLosses
from skewboost.metrics.costs import Costs
from skewboost.parameters import check_params, number, one_of
from skewboost.typing import Array


class SoftMarginBoost(SoftMargin):
    """Confidence-rated votes; ``w ∝ exp(-m - C A μ^p)`` ([cuendet2002]_ §2.4.4)."""

    costs = EXPONENT
    criterion = "z"

    def __init__(self, C: float, p: float, *, signed: bool, beta: str) -> None:
        super().__init__((C, C), p, signed=signed)
        self.beta = beta

    def favor(self, yg: Array, c: Array) -> Array | float:
        """The costs, or what depends on them and on the sign of the vote."""
        return favor(self.beta, yg, c)

    def hypothesis(self, state: State, h: LabelHypothesis) -> Array:
        """Half the log-odds of the leaves."""
        return leaf_log_odds(h, state.delta)


class FullSoftMarginBoost(SoftMarginBoost):
    """The split and the values of its leaves minimise the loss together; there is no step."""

    asks = (VALUES,)
    criterion = "zbar"  # the two sides have opposite signs
    has_step = False

    def ask(self, state: State, rng: RandomSource) -> ValueHypothesis | None:
        """The minimum of ``Z̃ = Σ w exp(-β y h - C (A μ^p - A' μ'^p))``, primes being the values before the round."""
        state.rows.map(lambda w, n: w / n, (W, EXAMPLES), ("w / n",))
        costs = state.costs.of_class
        rates = [self.favor(np.array(s), c) for s, c in ((1.0, costs[::-1]), (-1.0, costs))]
        losses = RowLosses(
            self._loss_of_value,
            (Y, state.cost, "w / n", *KEPT[1:]),
            ((-1.0, 1.0), costs.tolist(), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)),
            delta=state.delta,
            largest=max(MAX_VOTE, *(self._largest(right, wrong, state.delta) for right, wrong in zip(*rates))),
            # a negative mean influence, to the power of an odd p, bends the other way
            concave=not self.signed or self.p == 1.0 or self.p % 2.0 == 0.0,
        )
        return state.learner.values(losses)

    @staticmethod
    def _largest(right: float, wrong: float, delta: float) -> float:
        """The largest minimum for C = 0, that of a pure leaf with all of the weight, if it is bounded as elsewhere."""
        log_ratio = 2.0 * half_log_ratio(0.0, 1.0, delta)
        return (log_ratio + math.log(max(right / wrong, 1.0))) / (right + wrong)

    def _loss_of_value(
        self, sign: int, size: Array, y: Array, c: Array, w: Array, A: Array, T: Array
    ) -> tuple[Array, Array, Array]:
        """``-β y h - C (A μ^p - A' μ'^p)`` for h of this sign and size, and its derivatives by the size."""
        rate, C = self._margin(y, c, np.full_like(y, sign)), self._regularisation(y)
        influence = sign * w if self.signed else w
        if self.p == 1.0:
            rate = -(rate + C * influence)
            return rate * size, rate, np.zeros_like(rate)
        p, total = self.p, A + size
        with np.errstate(divide="ignore", invalid="ignore"):
            before = np.where(A > 0, T / A, 0.0)
            mean = np.where(total > 0, (T + size * influence) / total, influence)
            bend = np.where(total > 0, p * (p - 1.0) * mean ** (p - 2.0) * (influence - mean) ** 2 / total, 0.0)
        bend = np.where(mean == influence, 0.0, bend)
        slope = p * mean ** (p - 1.0) * influence - (p - 1.0) * mean**p
        slack = total * mean**p - A * before**p
        return -(rate * size + C * slack), -(rate + C * slope), -C * bend

    def vote(self, state: State, h: ValueHypothesis) -> Term | None:  # type: ignore[override]
        """The values."""
        values = h.term.values  # type: ignore[attr-defined]
        return None if no_edge(state, values) else h.term


@booster
class SoftMarginBoostClassifier(SmoothingChoice, CostSensitiveClassifier):
    r"""Confidence-rated boosting with costs and soft margins.

    A round fits RealBoost's partition h, adds :math:`\alpha h` with the one :math:`\alpha \ge 0` that minimises
    :math:`\sum \exp(-\beta_i y_i F(x_i) - C A_i \mu_i^p)`, found numerically, and takes the terms of that sum for the
    new weights. :math:`A_i = \sum_r \alpha_r |h_r(x_i)|` is the total vote on an example, :math:`\mu_i = \sum_r
    \alpha_r |h_r(x_i)| w_{r,i} / A_i` its influence, and :math:`\beta` its cost divided by the largest cost. As in
    `FavoredBoostClassifier`, costs in the exponent change how fast weights move, and recall does not follow them
    reliably. The loss does not define a probability, so `predict_proba` uses :math:`1/(1+e^{-2F})`. For costs use
    `CSRAClassifier`, for noisy labels `GentleBoostClassifier` or `AdaBoostRegClassifier`.

    With ``search="full"`` a round finds the split and the values of its two leaves that minimise the sum together,
    without a step :math:`\alpha`: for every split and both ways to put opposite signs on its sides, the value of each
    side is found numerically. Values are smoothed as elsewhere, by an example of either class with the weight 1/N in
    each leaf. At C = 0 they are :math:`\max(0, \pm\frac{1}{\beta_+ + \beta_-} \ln \frac{(W^+_j + 1/N)\, \beta_+}{(W^-_j
    + 1/N)\, \beta_-})`. With ``Stump(criterion="z")`` signs are not forced, and at C = 0 it is then
    `CSRealBoostClassifier` with the costs :math:`\beta`, except for the probability.

    {parameters}
    {cost}
    C : float, default=10.0
        The strength of the regularisation. Useful values grow with the number of examples.
    p : float, default=1.0
        The exponent of the influence; at least 1.
    search : {"step", "full"}, default="step"
        Whether a round takes the split and the values of RealBoost times a step, as [cuendet2002]_ did in its
        experiments, or searches all splits for the minimum, as §2.4.4 describes it first. The latter needs a `Stump`;
        a round takes about 0.1 s on 300 rows and 13 columns.
    beta : {"label", "sign"}, default="label"
        As in `FavoredBoostClassifier`: whether :math:`\beta` depends on the label alone, or also on the sign of the
        vote (§2.4.3). Then the margin is :math:`\sum_r \beta_{r,i} y_i \alpha_r h_r(x_i)`.
    as_printed : bool, default=False
        Whether the influence adds up :math:`h_r(x_i)` with its sign, as the definition in §2.4.2 prints it. By default
        it adds up :math:`|h_r(x_i)|`, as the text says. As the signed influence may be negative, `p` must be an
        integer.
    {smoothing}

    References
    ----------
    .. [cuendet2002] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors",
       IBM Research Report RZ 3402 (2002), §2.4.4.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import SoftMarginBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> print(round(SoftMarginBoostClassifier(cost=2, n_estimators=30).fit(X, y).score(X_test, y_test), 2))
    0.98
    """

    C: float = 10.0
    p: float = 1.0
    search: str = "step"
    beta: str = "label"
    as_printed: bool = False

    def _rule(self) -> Rule:
        check_params(
            self,
            C=number(0, None),
            p=number(1, None),
            search=one_of("step", "full"),
            beta=BETA,
            as_printed=one_of(True, False),
        )
        if self.as_printed and self.C == 0:
            raise InputError("as_printed=True has no effect with C=0.", "Leave it at False, or set C above 0.")
        if self.as_printed and float(self.p) != int(self.p):
            raise InputError(
                f"p={self.p!r} must be an integer with as_printed=True, because the influence may be negative.",
                "Set p=1 or p=2, or leave as_printed at False.",
            )
        if self.search == "full":
            self._check_full_search()
        kind = FullSoftMarginBoost if self.search == "full" else SoftMarginBoost
        return kind(float(self.C), float(self.p), signed=bool(self.as_printed), beta=self.beta)

    def _check_full_search(self) -> None:
        """Raise unless the weak learner is a stump that tries all splits on all rows."""
        if self._sampler() is not None:
            given = "resample=True" if self.resample else f"sampler={self.sampler!r}"
            raise InputError(
                f"search='full' does not work with {given}, because it minimises the loss of all rows.",
                "Leave resample and sampler at their defaults, or set search='step'.",
            )
        if VALUES not in resolve(self._weak_learner()).answers:
            raise InputError(
                f"search='full' needs a stump that tries all splits, not estimator={self.estimator!r}.",
                "Set estimator=Stump() without sampled columns, random thresholds, penalties or monotonic constraints, "
                "or search='step'.",
            )

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        """``β = c / max c``; if β also depends on the sign of the vote, costs of at most 1 are taken as they are."""
        costs = super()._costs(each, labels, weights)
        return costs.up_to(1.0) if self.beta == "label" else costs.at_most_one()
