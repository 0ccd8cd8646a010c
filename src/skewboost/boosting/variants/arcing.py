"""Arcing: boosting on any decreasing convex potential of the margin.

References
----------
.. [cuendet2002] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors", IBM
   Research Report RZ 3402 (2002), §1.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from skewboost.boosting.estimator import CostSensitiveClassifier, booster
from skewboost.boosting.link import TwoClasses
from skewboost.boosting.rule import (
    MAX_VOTE,
    MIN_STEP,
    NO_EDGE,
    PERFECT,
    DiscreteRule,
    Rule,
    examples_times_costs,
    right_and_wrong,
    root,
)
from skewboost.boosting.state import F, State
from skewboost.boosting.training import Problem
from skewboost.boosting.variants.adaboost import AdaBoost
from skewboost.boosting.variants.adamec import CGAda
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import Y, itself
from skewboost.errors import InputError
from skewboost.learners.learner import LabelHypothesis
from skewboost.typing import Array

Potential = tuple[Callable[[Array], Array], Callable[[Array], Array]]


def logistic_loss(m: Array) -> Array:
    """``ln(1 + exp(-2m))``."""
    return np.logaddexp(0.0, -2.0 * m)


def logistic_slope(m: Array) -> Array:
    """The derivative of `logistic_loss`."""
    return np.asarray(-2.0 / (1.0 + np.exp(np.minimum(2.0 * m, 700.0))))


def exponential_loss(m: Array) -> Array:
    """``exp(-m)``."""
    return np.asarray(np.exp(np.minimum(-m, 700.0)))


LOGISTIC: Potential = (logistic_loss, logistic_slope)
EXPONENTIAL: Potential = (exponential_loss, lambda m: -exponential_loss(m))


class Arcing(DiscreteRule):
    """``g = α h`` with the α that minimises ``Σ c f(y F)``; weights in proportion to ``-c f'(y F)``."""

    def __init__(self, potential: Potential) -> None:
        self.f, self.slope = potential

    def link(self, state: State) -> TwoClasses:
        """F is half the log-odds plus half of ln(C+ / C-)."""
        return replace(super().link(state), cost_offset=math.log(state.costs.ratio))

    def start(self, state: State) -> None:
        """All margins are zero."""
        super().start(state)
        state.importance = examples_times_costs(state)
        state.rows.put(F, 0.0)
        self._move(state)

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """The root of ``Σ s y h f'(y (F + α h))``, where s are the sample weights times costs."""
        right, wrong = right_and_wrong(h, h.class_weights)  # the weights are the slopes at α = 0
        if abs(right - wrong) <= MIN_STEP:
            state.stop_reason = NO_EDGE
            return None
        sign = 1.0 if right > wrong else -1.0  # the vote of a hypothesis worse than chance is reversed
        hypothesis = h.term(sign * h.labels)
        state.rows.evaluate(hypothesis, "h")
        start = 0.5 * abs(math.log(max(right, 1e-300) / max(wrong, 1e-300)))
        alpha = self._step(state, start)
        if alpha == MAX_VOTE:
            state.stop_reason = PERFECT
        state.step = sign * alpha
        return hypothesis.scaled(alpha)

    def _step(self, state: State, start: float) -> float:
        """Return the minimum of ``Σ s f(y (F + α h))``, by Newton's method if f'' is known."""
        state.rows.map(lambda y, F, h: (y * F, y * h), (Y, F, "h"), ("margin", "yh"))
        given = (state.importance, "margin", "yh")
        if self.slope is logistic_slope:

            def slope(alpha: float) -> tuple[float, float]:
                def parts(n: Array, margin: Array, yh: Array) -> tuple[Array, Array]:
                    s = logistic_slope(margin + alpha * yh)
                    first = n * yh * s
                    return first, -first * yh * (2.0 + s)

                value, change = state.rows.sum(parts, given)
                return value, change

            return root(slope, MAX_VOTE, start)

        def derivative(alpha: float) -> float:
            total = state.rows.sum(lambda n, margin, yh: n * yh * self.slope(margin + alpha * yh), given)
            return float(total)

        if derivative(MAX_VOTE) <= 0:
            return MAX_VOTE
        if derivative(0.0) >= 0:
            return 0.0  # after a reset the weights are not the slopes of this loss
        return float(brentq(derivative, 0.0, MAX_VOTE, xtol=1e-14, rtol=8.9e-16))

    def update(self, state: State, h: Any, term: Term) -> None:
        """``w ∝ -c f'(y F)``."""
        state.rows.add(term, F)
        self._move(state)

    def _move(self, state: State) -> None:
        def slope_and_loss(n: Array, y: Array, F: Array) -> tuple[Array, Array]:
            margin = y * F
            return -self.slope(margin) * n, self.f(margin) * n

        (total,) = state.rows.map(slope_and_loss, (state.importance, Y, F), ("-f'",))
        state.loss = total / state.n
        if state.rows.max(itself, ("-f'",)) < 1e-300:
            state.stop_reason = PERFECT
        else:
            state.assign(itself, ("-f'",))


@booster
class ArcingClassifier(CostSensitiveClassifier):
    r"""Arcing: AdaBoost for any convex potential of the margin.

    For a decreasing convex potential f of the margin :math:`m = y F` a round fits :math:`h \in \{-1, +1\}` under
    weights in proportion to :math:`-f'(m)` and adds :math:`\alpha h`, with the :math:`\alpha` that minimises
    :math:`\sum f(y (F + \alpha h))`, found numerically. ``"exponential"``, :math:`e^{-m}`, is AdaBoost;
    ``"logistic"``, :math:`\ln(1 + e^{-2m})`, bounds the weights of misclassified examples, which makes it more robust
    to label noise. `predict_proba` is :math:`1/(1+e^{-2F})`. This follows from both potentials; for others it is an
    approximation.

    With costs the sum is :math:`\sum c_i f(y_i F(x_i))`, a cost-sensitive AnyBoost: its minimiser has its zero at the
    minimum-risk boundary, and the weights of examples near that boundary are the largest, which is what [masnadi2007]_
    (§4) asks of a loss. With the exponential potential it is `CGAdaClassifier`.

    Except with ``"exponential"``, rounds take as long as those of LogitBoost.

    {parameters}
    {equal_cost}
    potential : {"exponential", "logistic"} or pair of callables, default="logistic"
        The potential, or ``(f, derivative of f)`` as functions of an array of margins.

    References
    ----------
    .. [masnadi2007] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", Technical Report SVCL-TR 2007/06,
       University of California, San Diego (2007).
    .. [breiman1999arcing] L. Breiman, "Prediction games and arcing algorithms", Neural Computation 11 (1999) 1493-1517.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import ArcingClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> hinge_like = (lambda m: np.logaddexp(0, 1 - m), lambda m: -1 / (1 + np.exp(m - 1)))
    >>> print(round(ArcingClassifier(potential=hinge_like, n_estimators=30).fit(X, y).score(X_test, y_test), 2))
    1.0
    """

    potential: Any = "logistic"

    _equal_by_default = True

    def _problem(self, rule: Rule, *data: Any) -> Problem:
        problem = super()._problem(rule, *data)
        if isinstance(self.potential, str) and self.potential == "exponential":  # the same, with faster rounds
            return replace(problem, rule=AdaBoost() if problem.costs.spread == 1.0 else CGAda())
        return problem

    def _rule(self) -> Rule:
        potential = self.potential
        if isinstance(potential, str) and potential in ("exponential", "logistic"):
            return Arcing(EXPONENTIAL if potential == "exponential" else LOGISTIC)
        pair = isinstance(potential, tuple | list) and len(potential) == 2 and all(map(callable, potential))
        if not pair:
            raise InputError(
                f"potential of {type(self).__name__} must be 'exponential', 'logistic', or a pair of functions of an "
                f"array of margins, the potential and its derivative; got {potential!r}."
            )
        f, slope = potential
        m = np.linspace(-3.0, 3.0, 25)
        values, slopes = (np.asarray(fn(m), dtype=np.float64) for fn in (f, slope))
        falls = values.shape == slopes.shape == m.shape and (np.diff(values) <= 0).all() and (slopes <= 0).all()
        if not falls or not slopes[0] < 0 or (np.diff(slopes) < -1e-9 * abs(slopes[0])).any():
            raise InputError(
                f"potential={potential!r} must be a decreasing convex function and its derivative, each of which maps "
                "an array of margins to an array of the same shape. On [-3, 3] it is not."
            )
        return Arcing((f, slope))
