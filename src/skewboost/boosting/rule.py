"""What makes a variant: where it starts, what it asks of the learner, what a round adds, how the weights move."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skewboost.boosting.link import TwoClasses
from skewboost.boosting.state import SIGNS, State
from skewboost.engine.scoring import Term
from skewboost.learners.learner import LABELS, LabelHypothesis, RandomSource, ResponseHypothesis, SplitGoal
from skewboost.metrics.costs import Costs
from skewboost.typing import Array

MIN_ERROR = 1e-10  # an error below this is floored there, so that no step exceeds 11.5
MAX_VOTE = 11.5  # what no round may exceed, where a rule's own formula does not bound it
MIN_STEP = 1e-12  # a vote below this is no vote
TINY = float(np.finfo(np.float64).tiny)

PERFECT = "perfect fit: the weak learner made no error"
NO_EDGE = "no edge left: the weak learner does no better than chance"


class Rule:
    """A boosting variant, for one fit. The defaults are those of the exponential loss.

    The loop asks it what to start from, what to ask the learner, what a round adds and how the weights move. Its `link`
    says in numbers what F means; a fitted model keeps these and not the rule.
    """

    asks: Sequence[str] = (LABELS,)  # the questions it can work with, its favourite first
    criterion: str = "z"  # what it would have a partition minimise; "squares" for rules that ask for responses
    whole_schedule: bool = False  # whether a round depends on how many there will be; more rounds then are other rounds

    def link(self, state: State) -> TwoClasses:
        """What F means: by default half the log-odds."""
        return TwoClasses(cost_ratio=state.costs.ratio)

    def goal(self, costs: Costs, n: float) -> SplitGoal:
        """The criterion with its parameters."""
        return SplitGoal(self.criterion)

    def start(self, state: State) -> None:
        """Set the initial weights; by default they are the sample weights."""

    def ask(self, state: State, rng: RandomSource) -> Any:
        """Question the learner; returns its hypothesis, or None if it has none."""
        return state.learner.labels(rng)

    def vote(self, state: State, h: Any) -> Term | None:
        """What the round adds to F, before shrinkage; None, with a `stop_reason`, if there is no edge left."""
        raise NotImplementedError

    def log_factor(self, state: State, y: Array, g: Array, c: Array) -> Array:
        """Logarithm of what a round that adds g multiplies a weight by; c is what the example costs if it is wrong."""
        return -y * g

    def update(self, state: State, h: Any, term: Term) -> None:
        """Move the weights: ``w ← w exp(log_factor) / Z``. `h` is None when a term is replayed."""
        state.reweight(h, term, lambda y, g, c: self.log_factor(state, y, g, c))

    def describe(self, state: State, h: LabelHypothesis | ResponseHypothesis, term: Term) -> dict[str, float]:
        """What to note of a round beside the loss."""
        return {"criterion": h.criterion}

    def missing_constant(self, state: State) -> float:
        """What a constant would still add to the log-odds; rules whose leaves have a value each can always add it."""
        return 0.0


class DiscreteRule(Rule):
    """``g = α h`` with ``h`` in {-1, +1}, or 0 where it abstains: a rule of one step per round."""

    criterion = "error"

    def step(self, state: State, h: LabelHypothesis) -> tuple[float, float]:
        """Two sums whose ratio is exp(2α): by default the weights that h gets right and wrong."""
        return right_and_wrong(h, h.class_weights)

    def log_factor_of_step(self, state: State, alpha: float, yh: Array, c: Array) -> Array:
        """`log_factor` in terms of the step and of ``y h``: +1 where h is right, -1 where it is wrong."""
        return -alpha * yh

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """``α = ½ ln(right / wrong)``."""
        alpha = bounded_step(state, *self.step(state, h))
        if no_edge(state, alpha):
            return None
        state.step = alpha
        return h.term(alpha * h.labels)

    def log_factor(self, state: State, y: Array, g: Array, c: Array) -> Array:
        """By `log_factor_of_step`, with the step as the learning rate has shortened it."""
        alpha = state.step * state.learning_rate
        return self.log_factor_of_step(state, alpha, np.rint(y * g / alpha), c)

    def describe(self, state: State, h: LabelHypothesis, term: Term) -> dict[str, float]:  # type: ignore[override]
        """The step beside the criterion."""
        return {"criterion": h.criterion, "step": state.step}


def right_and_wrong(h: LabelHypothesis, sums: Array) -> tuple[float, float]:
    """Sums per leaf and class, added up where the labels of h are right and where they are wrong."""
    right = wrong = 0.0
    for label, (negative, positive) in zip(h.labels.tolist(), sums.tolist()):
        if label > 0:
            right, wrong = right + positive, wrong + negative
        elif label < 0:
            right, wrong = right + negative, wrong + positive
    return right, wrong


def bounded_step(state: State, plus: float, minus: float) -> float:
    """``½ ln(plus / minus)``; where that is beyond 11.5 the round is a perfect fit, and the last."""
    error = minus / max(plus + minus, TINY)
    if not MIN_ERROR <= error <= 1.0 - MIN_ERROR:
        error = min(max(error, MIN_ERROR), 1.0 - MIN_ERROR)
        state.stop_reason = PERFECT
    return 0.5 * math.log((1.0 - error) / error)


# Adds up a function of pairs (s, r) over all of them; where it returns several, each.
Total = Callable[[Callable[[Array, Array], Any]], Any]


def best_step(total: Total, limit: float) -> float:
    """The α in [0, limit] at which the convex ``Σ s exp(α r)`` is least; pairs (s, r) are of leaves or of rows."""

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

    # where the minimum would be if all rates were the same but for their sign
    mean_rate = size / (falling + rising)
    return root(slope, limit, 0.5 * math.log(falling / max(rising, 1e-300)) / mean_rate)


def over_leaves(sums: Array, rates: Array) -> Total:
    """Adds up over leaves and classes."""
    return lambda function: tuple(float(np.sum(values)) for values in function(sums, rates))


def root(slope: Callable[[float], tuple[float, float]], limit: float, start: float) -> float:
    """Where the slope of a convex function is zero in [0, limit], or the limit if it falls all the way.

    `slope` gives it with its own derivative, and is negative at 0. Newton's steps, kept within a bracket.
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
            return following  # each step has twice the right digits of the one before
        if following == alpha or high - low <= 1e-15 * high:
            return following
        alpha = following
    return alpha


def best_step_of_leaves(h: LabelHypothesis, values: Array) -> float:
    """The α at which ``Σ w exp(-α y h)`` is least, for h of these values in the leaves."""
    return best_step(over_leaves(h.class_weights, -SIGNS * values[:, None]), MAX_VOTE / float(np.abs(values).max()))


def vote_of_function(state: State, term: Term, line_search: bool) -> Term | None:
    """A function as it is, or times the step that lowers the exponential loss most."""
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
    """Whether a vote says nothing anywhere; notes the reason."""
    largest = abs(values) if isinstance(values, float) else max(map(abs, values.ravel().tolist()), default=0.0)
    if largest < MIN_STEP:
        state.stop_reason = NO_EDGE
        return True
    return False


def leaf_log_odds(h: LabelHypothesis, delta: float) -> Array:
    """``½ ln((W+ + δ) / (W- + δ))`` per leaf, 0 where it abstains, bounded by 0 where a criterion forced the sign."""
    pairs = zip(h.class_weights.tolist(), h.abstains.tolist())
    values = np.array([0.0 if silent else 0.5 * math.log((b + delta) / (a + delta)) for (a, b), silent in pairs])
    return values if h.signs is None else h.signs * np.maximum(0.0, h.signs * values)


def leaf_means(h: LabelHypothesis) -> Array:
    """``2p - 1`` per leaf, 0 where it abstains or is empty."""
    negative, positive = h.class_weights.T
    total = negative + positive
    means = np.divide(positive - negative, total, out=np.zeros_like(total), where=total > 0)
    return np.where(h.abstains, 0.0, means)
