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

    def __init__(self, *, as_printed: bool = False) -> None:
        super().__init__()
        self.late = as_printed  # whether costs enter a round later

    def link(self, state: State) -> TwoClasses:
        """F is half the log-odds including the costs, of which each round adds an equal part."""
        log_ratio = math.log(state.costs.ratio)
        return replace(super().link(state), cost_offset=log_ratio, pending=log_ratio, schedule=state.n_rounds)

    def log_cost_per_round(self, state: State, c: Array) -> Array:
        """``ln c^(1/M)``."""
        return np.asarray(np.log(c) / state.n_rounds)


class CostsInEveryRound(SpreadCosts):
    """The weights are multiplied by the M-th root of the costs before each round, the first one included.

    As printed the first one is not, so that the last of the M parts never enters F.
    """

    def link(self, state: State) -> TwoClasses:
        """Without the costs of the first round, c^((M-1)/M) is reached."""
        link = super().link(state)
        n = state.n_rounds
        return replace(link, cost_offset=link.cost_offset * (n - 1) / n) if self.late else link

    def start(self, state: State) -> None:
        """``w ∝ c^(1/M)``; as printed, w = 1/N."""
        super().start(state)
        if not self.late:
            state.assign(lambda n, c: n * np.exp(self.log_cost_per_round(state, c)), (EXAMPLES, state.cost))

    def log_factor(self, state: State, y: Array, g: Array, c: Array) -> Array:
        """The factor of the rule without costs, times the M-th root of the costs for the next round."""
        return super().log_factor(state, y, g, c) + self.log_cost_per_round(state, c)
