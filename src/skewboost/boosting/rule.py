"""What makes a variant: where it starts, what it asks of the learner, what a round adds, how the weights move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skewboost.boosting.state import State
from skewboost.engine.boundary import Array
from skewboost.engine.scoring import Term
from skewboost.learners.base import LABELS, Draw, LabelHypothesis, ResponseHypothesis

MIN_ERROR = 1e-10  # an error below this is floored there, so that no step exceeds 11.5
MAX_VOTE = 11.5  # what no round may exceed, where a rule's own formula does not bound it
MIN_STEP = 1e-12  # a vote below this is no vote

PERFECT = "perfect fit: the weak learner made no error"
NO_EDGE = "no edge left: the weak learner does no better than chance"


class Rule:
    """A boosting variant. The defaults are those of the exponential loss."""

    asks: Sequence[str] = (LABELS,)  # the questions it can work with, its favourite first
    criterion: str = "z"  # what it would have a partition minimise; "squares" for rules that ask for responses

    def start(self, state: State) -> None:
        """Set the initial weights; by default they are the sample weights."""

    def ask(self, state: State, rng: Draw) -> Any:
        """Question the learner; returns its hypothesis, or None if it has none."""
        return state.learner.labels(rng)

    def vote(self, state: State, h: Any) -> Term | None:
        """What the round adds to F, before shrinkage; None, with a `stop_reason`, if there is no edge left."""
        raise NotImplementedError

    def update(self, state: State, h: Any, term: Term) -> None:
        """Move the weights: ``w ← w exp(-y g) / Z``. `h` is None when a term is replayed."""
        state.reweight(h, term, lambda y, g: np.exp(-y * g))

    def probability(self, F: Array) -> Array:
        """P(y = +1 | x): the exponential loss is minimised by half the log-odds, ``P = 1 / (1 + exp(-2F))``."""
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(-2.0 * F)))

    def describe(self, h: LabelHypothesis | ResponseHypothesis, term: Term) -> dict[str, float]:
        """What to note of a round beside the loss."""
        return {"criterion": h.criterion}


def no_edge(state: State, values: Array) -> bool:
    """Whether a vote says nothing anywhere; notes the reason."""
    if np.abs(values).max(initial=0.0) < MIN_STEP:
        state.stop_reason = NO_EDGE
        return True
    return False


def leaf_log_odds(h: LabelHypothesis, delta: float) -> Array:
    """``½ ln((W+ + δ) / (W- + δ))`` per leaf, 0 where it abstains, bounded by 0 where a criterion forced the sign."""
    negative, positive = h.class_weights.T
    values = 0.5 * np.log((positive + delta) / (negative + delta))
    if h.signs is not None:
        values = h.signs * np.maximum(0.0, h.signs * values)
    return np.where(h.abstains, 0.0, values)
