"""Soft margins: the margins of examples with persistently large weights are regularised."""

from __future__ import annotations

import math
from collections.abc import Mapping
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
    Rule,
    best_step,
    examples_times_costs,
    no_edge,
)
from skewboost.boosting.state import State
from skewboost.boosting.training import Problem
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import EXAMPLES, W, Y, itself
from skewboost.errors import InputError
from skewboost.learners.learner import LabelHypothesis
from skewboost.parameters import check_params, number
from skewboost.typing import Array

# Candidate steps, as fractions of the bound; more where the influence has signs, and the loss several minima
_GRID, _FINE_GRID = (np.concatenate(([0.0], np.geomspace(1e-3, 1.0, n))) for n in (12, 60))

# Vectors of the training set: m = Σ β y α h, A = Σ α|h| and T = Σ α|h| w, from which the influence μ = T / A follows
KEPT = ("margin", "total vote", "influence")


class SoftMargin(Rule):
    """``w ∝ c exp(-scale (m + C A μ^p))``, where m is the margin and μ the mean weight over the votes so far.

    Per example ``m = Σ β y α h``, ``A = Σ α|h|``, ``T = Σ α|h| w``, ``μ = T / A``, and ``C A μ^p`` is ``C T^p /
    A^(p-1)``. The weights c are 1, or costs.
    """

    scale = 1.0
    has_step = True

    def __init__(self, C: tuple[float, float], p: float, *, signed: bool = False) -> None:
        self.C = C  # of the negatives and of the positives
        self.p = p
        self.signed = signed  # whether the influence has the signs of the votes

    def favor(self, yg: Array, c: Array) -> Array | float:
        """β: the factor of the margin ``y g`` of examples of cost c."""
        return 1.0

    def counted(self, state: State) -> str:
        """Return the vector of how much each row counts for in the loss: by default its examples."""
        return EXAMPLES

    def _size(self, g: Array) -> Array:
        """Return what the influence adds up: the size of votes, or votes."""
        return g if self.signed else np.abs(g)

    def _margin(self, y: Array, c: Array, g: Array) -> Array:
        """Return ``β y g``."""
        yg = y * g
        return np.asarray(self.favor(yg, c) * yg)

    def _after(
        self, y: Array, c: Array, g: Array, w: Array, margin: Array, A: Array, T: Array
    ) -> tuple[Array, Array, Array]:
        """Return the margin, A and T of examples with weights w after a round that adds g."""
        return margin + self._margin(y, c, g), A + np.abs(g), T + self._size(g) * w

    def hypothesis(self, state: State, h: LabelHypothesis) -> Array:
        """Return the values of h in its leaves, before the step."""
        raise NotImplementedError

    def start(self, state: State) -> None:
        """``m = A = T = 0``, and ``w ∝ c``."""
        super().start(state)
        for name in KEPT:
            state.rows.put(name, 0.0)
        state.importance = self.counted(state)
        if state.importance != EXAMPLES:
            state.assign(itself, (state.importance,))

    def _regularisation(self, y: Array) -> Array | float:
        """Return C of the class of each example."""
        return self.C[0] if self.C[0] == self.C[1] else np.where(y > 0, self.C[1], self.C[0])

    def _exponent(self, y: Array, margin: Array, A: Array, T: Array) -> Array:
        slack = T
        if self.p != 1.0:
            with np.errstate(divide="ignore", invalid="ignore"):
                slack = np.where(A > 0, T**self.p / A ** (self.p - 1.0), 0.0)
        return np.asarray(-self.scale * (margin + self._regularisation(y) * slack))

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """The α >= 0 that minimises ``Σ exp(…)``, refined as a root of the derivative."""
        values = self.hypothesis(state, h)
        if no_edge(state, values):
            return None
        term = h.term(values)
        state.rows.evaluate(term, "h")
        alpha = self._step(state, MAX_VOTE / self.scale / float(np.abs(values).max()))
        if alpha < MIN_STEP:
            state.stop_reason = NO_EDGE
            return None
        state.step = alpha
        return term.scaled(alpha)

    def _step(self, state: State, limit: float) -> float:
        """Return the step for the hypothesis in the vector h; w / n is the weight of one example, without its cost."""
        rows, p = state.rows, self.p
        if p == 1.0:  # the exponents are linear in the step, and the sum is convex

            def rate(n: Array, w: Array, y: Array, c: Array, h: Array) -> tuple[Array, Array]:
                return w, -self.scale * (self._margin(y, c, h) + self._regularisation(y) * self._size(h) * (w / n))

            rows.map(rate, (state.importance, W, Y, state.cost, "h"), ("s", "rate"))
            return best_step(lambda function: rows.sum(function, ("s", "rate")), limit)

        given = (state.importance, W, Y, state.cost, "h", *KEPT)
        top = rows.max(self._exponent, (Y, *KEPT))

        def loss(alpha: float) -> float:
            def parts(n: Array, w: Array, y: Array, c: Array, h: Array, *kept: Array) -> Array:
                exponents = self._exponent(y, *self._after(y, c, alpha * h, w / n, *kept))
                return np.asarray(n * np.exp(np.minimum(exponents - top, 700.0)))

            return float(rows.sum(parts, given))

        def derivative(alpha: float) -> float:
            def parts(n: Array, w: Array, y: Array, c: Array, h: Array, *kept: Array) -> Array:
                margin, A, T = self._after(y, c, alpha * h, w / n, *kept)
                influence = np.sign(self._size(h)) * (w / n)  # of this round
                with np.errstate(divide="ignore", invalid="ignore"):
                    mean = np.where(A > 0, T / A, influence)
                slack = np.abs(h) * (p * mean ** (p - 1.0) * influence - (p - 1.0) * mean**p)
                moves = self._margin(y, c, h) + self._regularisation(y) * slack
                exponents = self._exponent(y, margin, A, T)
                return np.asarray(-n * np.exp(np.minimum(exponents - top, 700.0)) * moves)

            return float(rows.sum(parts, given))

        grid = (_FINE_GRID if self.signed else _GRID) * limit
        k, last = int(np.argmin([loss(alpha) for alpha in grid])), len(grid) - 1
        falls = derivative(grid[k]) < 0
        if k == (last if falls else 0):
            return float(grid[k])
        low, high = (grid[k], grid[k + 1]) if falls else (grid[k - 1], grid[k])
        if derivative(low) >= 0 or derivative(high) <= 0:  # the loss has several minima in between
            return float(grid[k])
        return float(brentq(derivative, low, high, xtol=1e-14, rtol=8.9e-16))

    def update(self, state: State, h: Any, term: Term) -> None:
        """Move the margin, A and T, then the weights."""

        def moved(n: Array, w: Array, y: Array, c: Array, g: Array, *kept: Array) -> tuple[Array, ...]:
            kept = self._after(y, c, g, w / n, *kept)
            exponent = self._exponent(y, *kept)
            return *kept, exponent, n * np.exp(np.minimum(exponent, 700.0))

        rows = state.rows
        rows.evaluate(term, "g")
        (total,) = rows.map(moved, (state.importance, W, Y, state.cost, "g", *KEPT), (*KEPT, "exponent"))
        state.loss = total / state.n
        top = rows.max(itself, ("exponent",))
        if top < -700.0:
            state.stop_reason = PERFECT
        state.assign(lambda n, exponent: n * np.exp(exponent - top), (state.importance, "exponent"))


class AdaBoostReg(SoftMargin):
    """Discrete votes; ``w ∝ c exp(-½ (y F + C A μ^p))`` ([nyga2010]_ algorithm 16, with costs)."""

    criterion = "error"
    scale = 0.5

    def counted(self, state: State) -> str:
        """Examples times costs, relative to the mean cost."""
        return examples_times_costs(state)

    def hypothesis(self, state: State, h: LabelHypothesis) -> Array:
        """Labels."""
        return h.labels

    def link(self, state: State) -> TwoClasses:
        """F is twice AdaBoost's."""
        return replace(super().link(state), scale=1.0, cost_offset=math.log(state.costs.ratio))


@booster
class AdaBoostRegClassifier(CostSensitiveClassifier):
    r"""AdaBoost-Reg: AdaBoost with soft margins.

    The influence of an example, :math:`\mu_i = \sum_r \frac{\alpha_r}{A} w_{r,i}` with :math:`A = \sum_r \alpha_r`, is
    its mean weight so far. It is large for examples that are misclassified repeatedly, which may be noise. A round fits
    :math:`h \in \{-1, +1\}`, adds :math:`\alpha h` with the :math:`\alpha \ge 0` that minimises
    :math:`\sum \exp(-\frac12 \tilde\rho_i)`, :math:`\tilde\rho_i = y_i F(x_i) + C A \mu_i^p`, found numerically, and
    weighs by :math:`w \propto \exp(-\frac12 \tilde\rho)`. At C = 0 the rounds are AdaBoost's and F is twice its F;
    `predict_proba` is :math:`1/(1+e^{-F})`.

    Regularisation affects rare classes most, because their examples are misclassified most often. With the same C for
    both classes the minority may be regularised away. Set ``C={rare: small, common: larger}`` for the class-aware soft
    margin.

    With costs the sum is :math:`\sum c_i \exp(-\frac12 \tilde\rho_i)`, its terms are the weights, and the influence is
    that of the weights divided by the costs relative to their mean: an example is not mistrusted because it is costly.
    [nyga2010]_ (§5) asks for such a form. At C = 0 it is `CGAdaClassifier`, with twice its F.

    {parameters}
    {equal_cost}
    C : float or dict, default=10.0
        The strength of the regularisation, for both classes or per class as ``{label: C}``. Weights are of the order
        1/N, so useful values grow with the p-th power of the number of examples.
    p : float, default=1.0
        The exponent of the influence; at least 1.

    References
    ----------
    .. [ratsch2001] G. Rätsch, T. Onoda, K.-R. Müller, "Soft margins for AdaBoost", Machine Learning 42 (2001) 287-320.
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010).

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import AdaBoostRegClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = AdaBoostRegClassifier(C={1: 1.0, 0: 10.0}, n_estimators=30).fit(X, y)
    >>> print(round(clf.score(X_test, y_test), 2))
    0.98
    """

    C: Any = 10.0
    p: float = 1.0

    _equal_by_default = True

    def _rule(self) -> Rule:
        check_params(self, p=number(1, None))
        if isinstance(self.C, Mapping):
            return AdaBoostReg((0.0, 0.0), float(self.p))  # `_problem` knows the classes and sets C
        check_params(self, C=number(0, None))
        return AdaBoostReg((float(self.C), float(self.C)), float(self.p))

    def _problem(self, rule: Rule, *data: Any) -> Problem:
        if isinstance(self.C, Mapping):
            rule = AdaBoostReg(self._c_per_class(), float(self.p))
        return super()._problem(rule, *data)

    def _c_per_class(self) -> tuple[float, float]:
        labels = self.classes_.tolist()
        if set(self.C) != set(labels):
            raise InputError(
                f"C={dict(self.C)!r} of {type(self).__name__} must have an entry for each of the two classes, which "
                f"are {labels}."
            )
        for label, value in self.C.items():
            if not number(0, None).passes(value):
                raise InputError(f"C[{label!r}] of {type(self).__name__} must be a number >= 0; got {value!r}.")
        (other,) = (label for label in labels if label != self.pos_label_)
        return float(self.C[other]), float(self.C[self.pos_label_])
