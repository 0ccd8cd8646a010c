"""Costs that are spread over the rounds: each of M rounds applies the M-th root of the costs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from skewboost.boosting.link import TwoClasses
from skewboost.boosting.rule import Rule
from skewboost.boosting.state import State
from skewboost.engine.training_set import EXAMPLES
from skewboost.typing import Array


class SpreadCosts(Rule):
    """A rule that applies an equal part of the costs in each of M rounds; as printed, not in the first one."""

    whole_schedule = True

    def __init__(self, *, as_printed: bool = False, **others: Any) -> None:
        super().__init__(**others)
        self.as_printed = as_printed

    def parts(self, n_rounds: int) -> int:
        """Return how many of the M parts of the costs are in F after n rounds."""
        return n_rounds - 1 if self.as_printed else n_rounds

    def link(self, state: State) -> TwoClasses:
        """F is half the log-odds including the costs, of which each round adds an equal part.

        As printed, one part never enters F. Probabilities subtract the others only.
        """
        n, log_ratio = state.n_rounds, math.log(state.costs.ratio)
        entered = log_ratio if self.parts(n) == n else log_ratio * self.parts(n) / n
        return replace(super().link(state), cost_offset=entered, pending=log_ratio, schedule=n)

    def log_cost_per_round(self, state: State, c: Array) -> Array:
        """``ln c^(1/M)``."""
        return np.asarray(np.log(c) / state.n_rounds)


class CostsInEveryRound(SpreadCosts):
    """The weights are multiplied by the M-th root of the costs before each round; as printed, not before the first."""

    def start(self, state: State) -> None:
        """``w ∝ c^(1/M)``; as printed, w = 1/N."""
        super().start(state)
        if not self.as_printed:
            state.assign(lambda n, c: n * np.exp(self.log_cost_per_round(state, c)), (EXAMPLES, state.cost))

    def log_factor(self, state: State, y: Array, g: Array, c: Array) -> Array:
        """The factor of the rule without costs, times the M-th root of the costs for the next round."""
        return super().log_factor(state, y, g, c) + self.log_cost_per_round(state, c)
