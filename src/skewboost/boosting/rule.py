"""The rules: initial weights, questions to the weak learner, votes and weight updates of the boosting variants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skewboost.boosting.cost_use import ONCE
from skewboost.boosting.link import TwoClasses
from skewboost.boosting.state import SIGNS, State
from skewboost.engine.boundary import Request
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import EXAMPLES
from skewboost.learners.learner import LABELS, LabelHypothesis, RandomSource
from skewboost.metrics.costs import Costs
from skewboost.typing import Array

MIN_ERROR = 1e-10  # errors are at least this large, so that no step exceeds 11.5
MAX_VOTE = 11.5  # the largest value of a round, where the formula of the rule has no bound of its own
MIN_STEP = 1e-12  # smaller votes count as no vote
TINY = float(np.finfo(np.float64).tiny)
FEW = 16  # up to so many numbers Python's arithmetic is faster than NumPy's

PERFECT = "perfect fit: the weak learner made no error"
NO_EDGE = "no edge left: the weak learner does no better than chance"


class Rule:
    """A boosting variant, for the duration of one fit. The defaults are those of the exponential loss.

    The loop asks the rule for the initial weights (`start`), the hypothesis (`ask`), what a round adds to F (`vote`)
    and the new weights (`update`). The `link` turns F into decisions and probabilities. A fitted model keeps the link
    and not the rule.
    """

    asks: Sequence[str] = (LABELS,)  # the questions it can ask the learner, in order of preference
    criterion: str = "z"  # the default split criterion; "squares" for rules that ask for responses
    whole_schedule: bool = False  # whether every round depends on the total number of rounds
    has_step: bool = False  # whether a round has one step α, which `history_` records
    additive: bool = True  # whether F is the sum of the votes, so that monotonic votes give a monotonic F
    costs: str = ONCE  # how costs enter, if the variant takes any

    def link(self, state: State) -> TwoClasses:
        """Return the link; by default F is half the log-odds."""
        return TwoClasses(cost_ratio=state.costs.ratio)

    def goal(self, costs: Costs, delta: float) -> Request:
        """Return the split criterion with its parameters; δ is what is added to the class weights of leaves."""
        return Request(self.criterion)

    def start(self, state: State) -> None:
        """Set the initial weights; by default the sample weights."""

    def ask(self, state: State, rng: RandomSource) -> Any:
        """Return the hypothesis of the learner, or None."""
        return state.learner.labels(rng)

    def vote(self, state: State, h: Any) -> Term | None:
        """Return what the round adds to F before shrinkage, or None and set `stop_reason` if there is no edge left."""
        raise NotImplementedError

    def log_factor(self, state: State, y: Array, g: Array, c: Array) -> Array:
        """Return the logarithm of the factor of the weight of an example with label y and cost c, if g is added."""
        return -y * g

    def update(self, state: State, h: Any, term: Term) -> None:
        """Update the weights: ``w ← w exp(log_factor) / Z``. `h` is None when a term is replayed."""
        state.reweight(h, term, lambda y, g, c: self.log_factor(state, y, g, c))

    def missing_constant(self, state: State) -> float:
        """Return what an additional constant would add to the log-odds; 0 for rules with a value per leaf."""
        return 0.0


class DiscreteRule(Rule):
    """``g = α h`` with ``h`` in {-1, +1}, or 0 where h abstains: one step per round."""

    criterion = "error"
    has_step = True

    def step(self, state: State, h: LabelHypothesis) -> tuple[float, float]:
        """Return two sums whose ratio is exp(2α); by default the weights of correct and of wrong predictions."""
        return right_and_wrong(h, h.class_weights)

    def log_factor_of_step(self, state: State, alpha: float, yh: Array, c: Array) -> Array:
        """Return `log_factor` in terms of α and ``y h``, which is +1 where h is correct and -1 where it is wrong."""
        return -alpha * yh

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """``α = ½ ln(right / wrong)``."""
        alpha = bounded_step(state, *self.step(state, h))
        if no_edge(state, alpha):
            return None
        state.step = alpha
        return h.term(alpha * h.labels)

    def log_factor(self, state: State, y: Array, g: Array, c: Array) -> Array:
        """Return `log_factor_of_step` for the step times the learning rate."""
        alpha = state.step * state.learning_rate
        return self.log_factor_of_step(state, alpha, np.rint(y * g / alpha), c)


def examples_times_costs(state: State) -> str:
    """Return the vector of sample weights times costs relative to the mean cost, which is stored if costs differ."""
    if state.costs.spread == 1.0:
        return EXAMPLES
    mean = float(state.rows.sum(np.multiply, (EXAMPLES, state.cost))) / state.n
    state.rows.map(lambda n, c: n * (c / mean), (EXAMPLES, state.cost), ("importance",))
    return "importance"


def right_and_wrong(h: LabelHypothesis, sums: Array) -> tuple[float, float]:
    """Add up sums per leaf and class, separately where the labels of h are correct and where they are wrong."""
    right = wrong = 0.0
    for label, (negative, positive) in zip(h.labels.tolist(), sums.tolist()):
        if label > 0:
            right, wrong = right + positive, wrong + negative
        elif label < 0:
            right, wrong = right + negative, wrong + positive
    return right, wrong


def bounded_step(state: State, plus: float, minus: float) -> float:
    """Return ``½ ln(plus / minus)``, bounded by 11.5. At the bound the fit is perfect, and the round is the last."""
    error = minus / max(plus + minus, TINY)
    if not MIN_ERROR <= error <= 1.0 - MIN_ERROR:
        error = min(max(error, MIN_ERROR), 1.0 - MIN_ERROR)
        state.stop_reason = PERFECT
    return 0.5 * math.log((1.0 - error) / error)


# Sums one or several functions of pairs (s, r) over all pairs
Total = Callable[[Callable[[Array, Array], Any]], Any]


def best_step(total: Total, limit: float) -> float:
    """Return the α in [0, limit] that minimises the convex ``Σ s exp(α r)``, summed over leaves or rows."""

    def moments(s: Array, r: Array) -> tuple[Array, ...]:
        sr = s * r
        return sr, np.abs(sr), np.where(r < 0, s, 0.0), np.where(r > 0, s, 0.0)

    drift, size, falling, rising = total(moments)
    if drift >= 0.0:
        return 0.0

    def slope(alpha: float) -> tuple[float, float]:
        def parts(s: Array, r: Array) -> tuple[Array, Array]:
            first = alpha * r
            np.minimum(first, 700.0, out=first)
            np.exp(first, out=first)
            first *= s
            first *= r
            return first, first * r

        value, change = total(parts)
        return value, change

    # the minimum for rates of equal size
    mean_rate = max(size / (falling + rising), 1e-300)
    return root(slope, limit, 0.5 * math.log(falling / max(rising, 1e-300)) / mean_rate)


def best_step_over_leaves(sums: Array, rates: Array, limit: float) -> float:
    """Return the α in [0, limit] that minimises ``Σ s exp(α r)`` over leaves and classes."""
    if sums.size > FEW:
        return best_step(lambda function: tuple(float(values.sum()) for values in function(sums, rates)), limit)
    pairs = [(s, r) for s, r in zip(sums.ravel().tolist(), rates.ravel().tolist()) if s * r != 0.0]
    drift = sum(s * r for s, r in pairs)
    if drift >= 0.0:
        return 0.0

    def slope(alpha: float) -> tuple[float, float]:
        value = change = 0.0
        for s, r in pairs:
            first = s * r * math.exp(min(alpha * r, 700.0))
            value += first
            change += first * r
        return value, change

    falling = sum(s for s, r in pairs if r < 0.0)
    rising = sum(s for s, r in pairs if r > 0.0)
    mean_rate = sum(s * abs(r) for s, r in pairs) / (falling + rising)
    return root(slope, limit, 0.5 * math.log(falling / max(rising, 1e-300)) / mean_rate)


def root(slope: Callable[[float], tuple[float, float]], limit: float, start: float) -> float:
    """Return the minimum of a convex function in [0, limit], given its slope, by Newton's method within a bracket.

    `slope` returns the first and the second derivative. The first is negative at 0.
    """
    low, high = 0.0, limit
    alpha = min(max(start, 1e-3 * limit), 0.9 * limit)
    for _ in range(200):
        value, change = slope(alpha)
        low, high = (alpha, high) if value < 0 else (low, alpha)
        following = alpha - value / change if change > 0 else 0.5 * (low + high)
        if following >= limit and high == limit:
            following = limit
        elif not low < following < high:
            following = 0.5 * (low + high)
        elif abs(following - alpha) <= 1e-9 * alpha:
            return following  # each step doubles the number of correct digits
        if following == alpha or high - low <= 1e-15 * high:
            return following
        alpha = following
    return alpha


def best_step_of_leaves(h: LabelHypothesis, values: Array) -> float:
    """Return the α that minimises ``Σ w exp(-α y h)``, where h has these values in its leaves."""
    limit = MAX_VOTE / float(np.abs(values).max())
    return best_step_over_leaves(h.class_weights, -SIGNS * values[:, None], limit)


def vote_of_function(state: State, term: Term, line_search: bool) -> Term | None:
    """Return a term unchanged, or multiplied by the step that minimises the exponential loss."""
    rows = state.rows
    rows.evaluate(term, "g")
    largest = rows.max(np.abs, ("g",))
    step = 1.0
    if line_search:
        rows.map(lambda y, g: -y * g, ("y", "g"), ("rate",))
        step = best_step(lambda function: rows.sum(function, ("w", "rate")), MAX_VOTE / max(largest, 1e-9))
    if no_edge(state, step * largest):
        return None
    return term.scaled(step) if line_search else term


def no_edge(state: State, values: Array | float) -> bool:
    """Whether a vote is zero everywhere; sets the `stop_reason`."""
    largest = abs(values) if isinstance(values, float) else max(map(abs, values.ravel().tolist()), default=0.0)
    if largest < MIN_STEP:
        state.stop_reason = NO_EDGE
        return True
    return False


def half_log_ratio(negative: float, positive: float, delta: float) -> float:
    """Return ``½ ln((W+ + δ) / (W- + δ))``, at most `MAX_VOTE`; 0 if there are no weights."""
    a, b = negative + delta, positive + delta
    if a > 0.0 and b > 0.0:
        return min(max(0.5 * math.log(b / a), -MAX_VOTE), MAX_VOTE)
    return MAX_VOTE * ((b > 0.0) - (a > 0.0))


def half_log_ratios(negative: Array, positive: Array, delta: float) -> Array:
    """Return `half_log_ratio` of many weights."""
    a, b = negative + delta, positive + delta
    with np.errstate(divide="ignore", invalid="ignore"):
        values = 0.5 * np.log(b / a)
    return np.where(a + b > 0.0, np.clip(values, -MAX_VOTE, MAX_VOTE), 0.0)


def leaf_log_odds(h: LabelHypothesis, delta: float) -> Array:
    """Return `half_log_ratio` per leaf: 0 where h abstains, or where a forced sign contradicts it."""
    pairs = zip(h.class_weights.tolist(), h.abstains.tolist())
    values = np.array([0.0 if silent else half_log_ratio(a, b, delta) for (a, b), silent in pairs])
    if h.signs is None:
        return values
    return np.asarray(h.signs * (np.abs(values) if h.sure else np.maximum(0.0, h.signs * values)))


def leaf_means(h: LabelHypothesis) -> Array:
    """Return ``2p - 1`` per leaf, and 0 where h abstains or the leaf is empty."""
    negative, positive = h.class_weights.T
    total = negative + positive
    means = np.divide(positive - negative, total, out=np.zeros_like(total), where=total > 0)
    return np.where(h.abstains, 0.0, means)
