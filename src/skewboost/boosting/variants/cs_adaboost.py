"""Boosting on cost-sensitive losses: CS-AdaBoost, CS-RealBoost, CS-GentleBoost and CS-LogitBoost."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from skewboost.boosting.estimator import CostSensitiveClassifier, booster
from skewboost.boosting.link import TwoClasses
from skewboost.boosting.rule import (
    MAX_VOTE,
    DiscreteRule,
    Rule,
    best_step,
    best_step_over_leaves,
    half_log_ratios,
    no_edge,
)
from skewboost.boosting.smoothing_choice import SmoothingChoice
from skewboost.boosting.state import SIGNS, F, State
from skewboost.boosting.variants.logitboost import MAX_STEP, MIN_WEIGHT, STEPS, LogitBoost, odds_against
from skewboost.engine.boundary import Request
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import EXAMPLES, W, Y
from skewboost.learners.learner import RESPONSES, LabelHypothesis, RandomSource, ResponseHypothesis
from skewboost.metrics.costs import Costs
from skewboost.parameters import check_params, one_of
from skewboost.typing import Array


class _CostLoss(Rule):
    """The loss ``Σ exp(-c y F)``, whose minimiser is ``F = ln(P(+) C+ / (P(-) C-)) / (C+ + C-)``.

    See [masnadi2011]_ eq. 36.
    """

    def __init__(self, prior: str = "data") -> None:
        self.prior = prior

    def goal(self, costs: Costs, delta: float) -> Request:
        """The split criteria of this loss depend on the costs."""
        return Request(self.criterion, costs=(costs.negative, costs.positive), delta=delta)

    def start(self, state: State) -> None:
        """``w = 1/N``, or ``1/(2N±)`` as in the paper."""
        super().start(state)
        if self.prior == "balanced":
            n_negative, n_positive = state.n_of_class
            state.assign(lambda y, n: n / np.where(y > 0, n_positive, n_negative), (Y, EXAMPLES))

    def log_factor(self, state: State, y: Array, g: Array, c: Array) -> Array:
        """``-c y g``."""
        return np.asarray(-c * y * g)

    def link(self, state: State) -> TwoClasses:
        """The scale is ``C+ + C-``; the offset is ln(C+ / C-), minus the prior if the weights are balanced."""
        costs, offset = state.costs, math.log(state.costs.ratio)
        if self.prior == "balanced":
            n_negative, n_positive = state.n_of_class
            offset -= math.log(n_positive / n_negative)
        return replace(super().link(state), scale=costs.negative + costs.positive, cost_offset=offset)


class CSRealBoost(_CostLoss):
    """The minimiser of the loss in every leaf ([masnadi2011]_ algorithm 2)."""

    criterion = "cost_loss"

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """``ln((W+ + δ) C+ / ((W- + δ) C-)) / (C+ + C-)``; 0 in leaves that abstain or are empty."""
        negative, positive = h.class_weights.T
        odds = 2.0 * half_log_ratios(negative, positive, state.delta) + math.log(state.costs.ratio)
        values = odds / (state.costs.negative + state.costs.positive)
        values = np.where(h.abstains | (negative + positive == 0), 0.0, values)
        return None if no_edge(state, values) else h.term(values)


class CSAdaBoost(_CostLoss, DiscreteRule):
    """``g = α h``, where h and α minimise the loss together ([masnadi2011]_ algorithm 1)."""

    criterion = "cost_step"

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """Alternate between the best step for the labels and the best labels for the step until neither changes."""
        costs = state.costs
        labels = h.labels
        for _ in range(20):
            # the α >= 0 that minimises the loss of α h, the root of its derivative (eq. 41)
            rates = -costs.of_class * SIGNS * labels[:, None]
            step = best_step_over_leaves(h.class_weights, rates, MAX_VOTE / max(costs.negative, costs.positive))
            if len(labels) == 2:  # those of one split, which were chosen together with it
                break
            # a wrong label adds 2 sinh(C α) W to the loss, which is proportional to C W for α → 0
            penalty = np.array([math.sinh(min(c * max(step, 1e-9), 700.0)) for c in (costs.negative, costs.positive)])
            negative, positive = (h.class_weights * penalty).T
            better = np.where(h.labels == 0, 0.0, np.where(positive >= negative, 1.0, -1.0))
            if (better == labels).all():
                break
            labels = better
        if no_edge(state, step):
            return None
        state.step = step
        return h.term(step * labels)

    def missing_constant(self, state: State) -> float:
        """``ln(C+ W+ / C- W-)``, which is 0 at the optimum."""
        return math.log(state.costs.ratio) + state.log_ratio_of_weights()


class CSGentleBoost(_CostLoss):
    """Newton steps on the loss: the least-squares fit of y / c under weights w c², ``Σ w c y / Σ w c²`` in a leaf."""

    asks = (RESPONSES,)
    criterion = "squares"

    def goal(self, costs: Costs, delta: float) -> Request:
        """Least squares."""
        return Request(self.criterion)

    def start(self, state: State) -> None:
        """The response of every round is y / c."""
        super().start(state)
        state.rows.map(lambda y, c: y / c, (Y, state.cost), ("y / c",))
        state.fitted = "w c²"

    def ask(self, state: State, rng: RandomSource) -> ResponseHypothesis | None:
        """The gradient of the loss over its second derivative."""
        state.rows.map(lambda w, c: w * c * c, (W, state.cost), (state.fitted,))
        return state.learner.responses("y / c", state.fitted, rng)

    def vote(self, state: State, h: ResponseHypothesis) -> Term | None:
        """The fit, bounded by ``2 / (C+ + C-)``, or the part of it that minimises the loss."""
        rows, costs = state.rows, state.costs
        term = h.term.bounded(2.0 / (costs.positive + costs.negative), rows)
        rows.evaluate(term, "g")
        rows.map(lambda y, g, c: -c * y * g, (Y, "g", state.cost), ("rate",))
        step = best_step(lambda function: rows.sum(function, (W, "rate")), 1.0)
        return None if no_edge(state, step * float(rows.max(np.abs, ("g",)))) else term.scaled(step)


class CSLogitBoost(_CostLoss, LogitBoost):
    """Newton steps on the cost-sensitive logistic loss ([masnadi2011]_ algorithm 3)."""

    criterion = "squares"

    def __init__(self, prior: str = "data", *, as_printed: bool = False, max_step: float | None = MAX_STEP) -> None:
        LogitBoost.__init__(self, max_step=max_step)
        _CostLoss.__init__(self, prior)
        self.as_printed = as_printed

    def goal(self, costs: Costs, delta: float) -> Request:
        """Least squares."""
        return Request(self.criterion)

    def link(self, state: State) -> TwoClasses:
        """F starts at ``ln(C+ / C-) / (C+ + C-)``, where Pc = ½. From 0 the first step overshoots at large costs."""
        link = super().link(state)
        return link if self.as_printed else replace(link, offset=math.log(state.costs.ratio) / link.scale)

    def ask(self, state: State, rng: RandomSource) -> ResponseHypothesis | None:
        """As printed, z has Pc, which is ½ in the first round, and the weights are P (1 - P) without costs (eq. 55)."""
        if not self.as_printed:
            return super().ask(state, rng)
        scale, shift = self._log_odds(state)

        def working(y: Array, F: Array, importance: Array) -> tuple[Array, Array]:
            against = odds_against(scale, shift, y, F) if state.round > 1 else np.ones_like(F)
            odds = odds_against(2.0, 0.0, y, F)
            weights = np.maximum(odds / (1.0 + odds) ** 2, MIN_WEIGHT)
            return y * (1.0 + against), weights * importance

        state.rows.map(working, (Y, F, state.importance), ("z", state.fitted))
        return state.learner.responses("z", state.fitted, rng)

    def importance(self, state: State) -> str:
        """Return the vector of sample weights, balanced on request, times the costs relative to the class mean."""
        if self.prior == "data":
            return super().importance(state)
        costs, of_class = state.costs, [0.5 * state.n / n for n in state.n_of_class]

        def counts(n: Array, y: Array, c: Array) -> Array:
            own = n * np.where(y > 0, of_class[1], of_class[0])
            return np.asarray(own if costs.each is None else own * costs.relative(y, c))

        state.rows.map(counts, (EXAMPLES, Y, state.cost), ("importance",))
        return "importance"

    def working_offset(self, state: State) -> float:
        """-2η = ln(C+ / C-), also with a balanced prior."""
        return math.log(state.costs.ratio)


@booster
class _CostLossClassifier(CostSensitiveClassifier):
    """The parameters that the three variants share."""

    prior: str = "data"

    def _rule(self) -> Rule:
        check_params(self, prior=one_of("data", "balanced"))
        rule: Rule = self._rule_class(self.prior)
        return rule


@booster
class CSAdaBoostClassifier(_CostLossClassifier):
    r"""CS-AdaBoost: discrete boosting of a cost-sensitive exponential loss.

    The loss is :math:`\sum_i e^{-c_i y_i F(x_i)}`. A round finds :math:`h \in \{-1, +1\}` and :math:`\alpha > 0` that
    together minimise it, adds :math:`\alpha h` and multiplies the weights by :math:`e^{-c \alpha y h}`. For stumps
    that is a search over all (feature, threshold, polarity) of :math:`(e^{C_+\alpha} - e^{-C_+\alpha}) b +
    e^{-C_+\alpha} T_+ + (e^{C_-\alpha} - e^{-C_-\alpha}) d + e^{-C_-\alpha} T_-` with b, d the weights of misses and
    false alarms and :math:`T_\pm` those of the classes, each at its own :math:`\alpha`. The minimiser of the loss is
    :math:`F = \frac{1}{C_+ + C_-} \ln \frac{P(+) C_+}{P(-) C_-}`: its zero is the minimum-risk boundary, and the
    probability follows from it. At equal costs of 1 it is AdaBoost. Where the training rows can be separated, they are
    soon fitted perfectly at any cost, and the costs lose their effect, or reverse it: a large :math:`c_+` is content
    with small scores of positives, so that new ones are missed (`skewboost reproduce masnadi-faces`). Use
    `CSRAClassifier` there. Otherwise `CSRealBoostClassifier` needs fewer rounds.

    {few_values}

    {parameters}
    {cost}
    {prior}

    References
    ----------
    .. [masnadi2011] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", IEEE Transactions on Pattern
       Analysis and Machine Intelligence 33 (2011) 294-309.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CSAdaBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = CSAdaBoostClassifier(cost=5, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.80
    """

    _rule_class = CSAdaBoost


@booster
class CSRealBoostClassifier(SmoothingChoice, _CostLossClassifier):
    r"""CS-RealBoost: every leaf takes the minimum of a cost-sensitive exponential loss.

    The loss is :math:`\sum_i e^{-c_i y_i F(x_i)}`. A round finds the partition that lowers it most, adds
    :math:`\frac{1}{C_+ + C_-} \ln \frac{(W^+_j + 1/N)\, C_+}{(W^-_j + 1/N)\, C_-}` in leaf j and multiplies the
    weights by :math:`e^{-c y g}`. :math:`F = \frac{1}{C_+ + C_-} \ln \frac{P(+) C_+}{P(-) C_-}` in the limit: its
    zero is the minimum-risk boundary, and the probability follows from it. At equal costs of 1, with splits by Z, it is
    RealBoost. The paper's weak learner is ``Histogram()``; stumps and trees work as well. On small data that stumps can
    nearly separate, the training set is soon fitted perfectly at any cost, and the costs lose their effect; use
    `CSRAClassifier` there.

    {parameters}
    {cost}
    {prior}
    {smoothing}

    References
    ----------
    .. [masnadi2011] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", IEEE Transactions on Pattern
       Analysis and Machine Intelligence 33 (2011) 294-309.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CSRealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = CSRealBoostClassifier(cost=5, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.90
    """

    _rule_class = CSRealBoost


@booster
class CSGentleBoostClassifier(_CostLossClassifier):
    r"""CS-GentleBoost: Newton steps on a cost-sensitive exponential loss.

    The loss is :math:`\sum_i e^{-c_i y_i F(x_i)}`, that of `CSRealBoostClassifier`. Its derivatives by a change g of F
    at g = 0 are :math:`-\sum w c y` and :math:`\sum w c^2`, with :math:`w = e^{-c y F}`. A round takes the Newton step,
    where CSRealBoost takes the minimum: it fits :math:`y/c` by least squares under weights :math:`w c^2`, so that a
    leaf adds :math:`\frac{C_+ W^+_j - C_- W^-_j}{C_+^2 W^+_j + C_-^2 W^-_j}`, and multiplies the weights by
    :math:`e^{-c y g}`. :math:`F = \frac{1}{C_+ + C_-} \ln \frac{P(+) C_+}{P(-) C_-}` in the limit: its zero is the
    minimum-risk boundary, and the probability follows from it. [masnadi2007]_ names this variant (§4) without deriving
    it. At equal costs of 1 it is GentleBoost, and as there no round changes the log-odds by more than 2. At unequal
    costs a whole step may increase the loss, so that only the part of it is added that minimises the loss.

    The least-squares fit looks mainly at the costly class, so at large costs many rounds are needed, and the decisions
    of the first ones change much. On small data the costs lose their effect, as with `CSRealBoostClassifier`.
    `CSGAClassifier` has cheaper decisions (see docs/as_printed.md).

    {parameters}
    {cost}
    {prior}

    References
    ----------
    .. [masnadi2007] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", Technical Report SVCL-TR 2007/06,
       University of California, San Diego (2007).

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CSGentleBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = CSGentleBoostClassifier(cost=5, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.80
    """

    _rule_class = CSGentleBoost


@booster
class CSLogitBoostClassifier(_CostLossClassifier):
    r"""CS-LogitBoost: Newton steps on a cost-sensitive logistic loss.

    With :math:`\gamma = \frac{C_+ + C_-}{2}`, :math:`\eta = \frac12 \ln \frac{C_-}{C_+}` and :math:`P_c = 1/(1 +
    e^{-2(\gamma F + \eta)})` a round fits :math:`z = \frac{y^* - P_c}{P_c (1 - P_c)}` by least squares under weights
    :math:`P_c (1 - P_c)` and adds :math:`f / 2\gamma`. F starts at the constant where :math:`P_c = \frac12`. The paper
    uses weights of the probabilities without costs and starts at F = 0; both are worse for simple learners. The result
    is LogitBoost on another scale, with its threshold at the minimum-risk boundary, and :math:`P_c` is its probability.
    The paper's weak learner is ``Line()``.

    {parameters}
    {cost}
    {prior}
    as_printed : bool, default=False
        Whether to follow algorithm 3: F starts at 0 with :math:`P_c = \frac12` in the first round, although both
        contradict each other, and the weights are :math:`P(1-P)` with :math:`P = 1/(1 + e^{-2F})`. At costs from about
        10 on it may diverge. The algorithm has no `max_step`.
    {max_step}

    References
    ----------
    .. [masnadi2011] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", IEEE Transactions on Pattern
       Analysis and Machine Intelligence 33 (2011) 294-309.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CSLogitBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.learners import Line
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = CSLogitBoostClassifier(estimator=Line(), cost=5, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 1.00
    """

    as_printed: bool = False
    max_step: float | None = MAX_STEP

    def _rule(self) -> Rule:
        check_params(self, prior=one_of("data", "balanced"), as_printed=one_of(True, False), max_step=STEPS)
        return CSLogitBoost(self.prior, as_printed=bool(self.as_printed), max_step=self.max_step)
