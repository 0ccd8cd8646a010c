"""Costs that come in little by little: an M-th part of their logarithm in each of M rounds."""

from __future__ import annotations

import math

import numpy as np

from skewboost.boosting.rule import Rule
from skewboost.boosting.state import State
from skewboost.engine.boundary import Array
from skewboost.engine.training_set import EXAMPLES


class SpreadCosts(Rule):
    """A rule that knows its share of the costs in each round."""

    whole_schedule = True

    def start(self, state: State) -> None:
        """Note over how many rounds the costs are spread."""
        super().start(state)
        self.n_rounds = state.n_rounds

    def share(self, c: Array) -> Array:
        """``ln c^(1/M)``."""
        return np.asarray(np.log(c) / self.n_rounds)

    def costs_to_come(self, n_rounds: int) -> float:
        """Of ln(C+ / C-) the share of the rounds that are missing."""
        return self.tilt() * (1.0 - n_rounds / self.n_rounds)

    def tilt(self) -> float:
        """ln(C+ / C-)."""
        return math.log(self.costs.ratio)


class CostsInEveryRound(SpreadCosts):
    """The share of the costs is on the weights before each round, the first included."""

    def start(self, state: State) -> None:
        """``w ∝ c^(1/M)``."""
        super().start(state)
        state.assign(lambda n, c: n * np.exp(self.share(c)), (EXAMPLES, state.cost))

    def log_factor(self, state: State, y: Array, g: Array, c: Array) -> Array:
        """What the rule without costs does, and the next round's share of the costs."""
        return super().log_factor(state, y, g, c) + self.share(c)
