"""LogitBoost."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.boosting.estimator import BoostingClassifier, booster
from skewboost.boosting.rule import MIN_ERROR, MIN_STEP, NO_EDGE, PERFECT, Rule
from skewboost.boosting.state import F, State
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import EXAMPLES, Y, itself
from skewboost.learners.learner import RESPONSES, RandomSource, ResponseHypothesis
from skewboost.parameters import check_params, number, optional
from skewboost.typing import Array

AGAINST = "against"  # the vector of the odds against the class of each row, by the current F
MIN_WEIGHT = 2 * float(np.finfo(np.float64).eps)
MAX_STEP = 4.0  # the largest change of F in a round, because Newton steps are unbounded where P is near 0 or 1
STEPS = optional(number(0, None, open_low=True))


class LogitBoost(Rule):
    """Newton steps on the log-likelihood: ``g = ½ f``, where f is the least-squares fit of the working response."""

    asks = (RESPONSES,)
    criterion = "squares"

    def __init__(self, z_max: float | None = None, max_step: float | None = MAX_STEP) -> None:
        self.z_max = z_max
        self.max_step = max_step

    def start(self, state: State) -> None:
        """F is the offset of the link, by default 0."""
        super().start(state)
        state.rows.put(F, state.link.offset)
        state.fitted, state.importance = "working w", self.importance(state)

    def ask(self, state: State, rng: RandomSource) -> ResponseHypothesis | None:
        """``z = (y* - P) / (P (1 - P))`` with weights ``P (1 - P)``, ``P = 1 / (1 + exp(-2F))`` ([friedman2000]_
        algorithm 3).

        The response is 1/P for y = 1 and -1/(1 - P) for y = -1. Both are ``y (1 + exp(-y t))``, where t are the
        log-odds; this form is accurate where P is close to 0 or 1.
        """

        def working(y: Array, against: Array, importance: Array) -> tuple[Array, Array]:
            z = against + 1.0
            weights = z * z
            np.divide(against, weights, out=weights)  # P (1 - P)
            np.maximum(weights, MIN_WEIGHT, out=weights)
            weights *= importance
            z *= y
            if self.z_max is not None:
                np.clip(z, -self.z_max, self.z_max, out=z)
            return z, weights

        scale, shift = self._log_odds(state)
        if state.shift != shift:
            state.rows.map(lambda y, F: odds_against(scale, shift, y, F), (Y, F), (AGAINST,))
            state.shift = shift
        state.rows.map(working, (Y, AGAINST, state.importance), ("z", state.fitted))
        return state.learner.responses("z", state.fitted, rng)

    def importance(self, state: State) -> str:
        """Return the vector of how many examples each row counts for: sample weights, times costs relative to the class
        mean if rows of a class differ in cost. The link has the class costs.
        """
        costs = state.costs
        if costs.each is None:
            return EXAMPLES
        state.rows.map(lambda n, y, c: n * costs.relative(y, c), (EXAMPLES, Y, state.cost), ("importance",))
        return "importance"

    def working_offset(self, state: State) -> float:
        """Return what is subtracted from the log-odds that include the costs to get those of P."""
        return state.link.cost_offset

    def _log_odds(self, state: State) -> tuple[float, float]:
        """Return the scale and the shift of the log-odds of P in this round, ``scale F + shift``."""
        return state.link.scale, state.link.pending_after(state.round) - self.working_offset(state)

    def vote(self, state: State, h: ResponseHypothesis) -> Term | None:
        """The fitted function on the scale of F, bounded."""
        scale, _ = self._log_odds(state)
        term = h.term.scaled(1.0 / scale)
        return term if self.max_step is None else term.bounded(2.0 * self.max_step / scale, state.rows)

    def update(self, state: State, h: Any, term: Term) -> None:
        """``F ← F + ½ f``; the loss is the mean negative log-likelihood, ln(1 + exp(-2yF))."""
        rows, (scale, shift) = state.rows, self._log_odds(state)

        def moved(y: Array, F: Array, g: Array, n: Array) -> tuple[Array, Array, Array]:
            F = F + g
            against = odds_against(scale, shift, y, F)
            # no dot product: afterwards the threads of BLAS would keep the cores busy that the engine needs
            loss = against + 1.0
            np.log(loss, out=loss)
            loss *= n
            return F, against, loss

        rows.evaluate(term, "g")
        (total,) = rows.map(moved, (Y, F, "g", state.importance), (F, AGAINST))
        state.loss, state.shift = total / state.n, shift
        values = getattr(term, "values", None)  # one per leaf; None if the term is not constant on leaves
        if (rows.max(np.abs, ("g",)) if values is None else np.abs(values).max()) < MIN_STEP:
            state.stop_reason = NO_EDGE
        # if no row exceeds a limit, neither does the mean
        if state.loss < MIN_ERROR * state.mean_importance and rows.max(itself, (AGAINST,)) < MIN_ERROR:
            state.stop_reason = PERFECT


def odds_against(scale: float, shift: float, y: Array, F: Array) -> Array:
    """Return ``exp(-y t)`` with ``t = scale F + shift``, bounded so that its square is finite."""
    t = -scale * F
    if shift:
        t -= shift
    t *= y
    np.minimum(t, 300.0, out=t)
    return np.asarray(np.exp(t, out=t))


@booster
class LogitBoostClassifier(BoostingClassifier):
    r"""LogitBoost: Newton steps on the logistic loss.

    A round fits the working response :math:`z = \frac{y^* - P}{P(1-P)}` by least squares under weights
    :math:`P(1-P)`, where :math:`P = 1/(1 + e^{-2F})`, and adds half the fit. The logistic loss grows linearly for
    misclassified examples, where the exponential loss grows exponentially, so LogitBoost is less sensitive to outliers.
    With enough data its probabilities are the best of the four plain variants. Its rounds take longer, because every
    weight has to be computed.

    {parameters}
    z_max : float or None, default=None
        The bound on the absolute value of responses. Friedman et al. recommend 2 to 4, so that single examples do not
        dominate a round. Do not use it for rare classes: where the true probability of a class is below
        ``1 / (1 + z_max)``, the bounded responses of its examples cannot balance the others, and F diverges.
    {max_step}

    References
    ----------
    .. [friedman2000] J. Friedman, T. Hastie, R. Tibshirani, "Additive logistic regression: a statistical view of
       boosting", Annals of Statistics 28 (2000) 337-407.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import LogitBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> print(round(LogitBoostClassifier(n_estimators=50).fit(X, y).score(X_test, y_test), 2))
    0.94
    """

    z_max: float | None = None
    max_step: float | None = MAX_STEP

    def _rule(self) -> Rule:
        check_params(self, z_max=optional(number(0, None, open_low=True)), max_step=STEPS)
        return LogitBoost(self.z_max, self.max_step)
