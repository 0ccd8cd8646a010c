"""Costs that are spread over the rounds: each of M rounds applies the M-th root of the costs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from skewboost.boosting.link import TwoClasses
from skewboost.boosting.rule import Rule
from skewboost.boosting.state import State
from skewboost.engine.training_set import EXAMPLES
from skewboost.typing import Array


class SpreadCosts(Rule):
    """A rule that applies an equal part of the costs in each round."""

    whole_schedule = True

    def link(self, state: State) -> TwoClasses:
        """F is half the log-odds including the costs, of which each round adds an equal part."""
        log_ratio = math.log(state.costs.ratio)
        return replace(super().link(state), cost_offset=log_ratio, pending=log_ratio, schedule=state.n_rounds)

    def log_cost_per_round(self, state: State, c: Array) -> Array:
        """``ln c^(1/M)``."""
        return np.asarray(np.log(c) / state.n_rounds)


class CostsInEveryRound(SpreadCosts):
    """The weights are multiplied by the M-th root of the costs before each round, the first one included."""

    def start(self, state: State) -> None:
        """``w ∝ c^(1/M)``."""
        super().start(state)
        state.assign(lambda n, c: n * np.exp(self.log_cost_per_round(state, c)), (EXAMPLES, state.cost))

    def log_factor(self, state: State, y: Array, g: Array, c: Array) -> Array:
        """The factor of the rule without costs, times the M-th root of the costs for the next round."""
        return super().log_factor(state, y, g, c) + self.log_cost_per_round(state, c)
