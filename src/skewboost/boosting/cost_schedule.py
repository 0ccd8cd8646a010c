"""Costs that come in little by little: an M-th part of their logarithm in each of M rounds."""

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
    """A rule that knows its share of the costs in each round."""

    whole_schedule = True

    def link(self, state: State) -> TwoClasses:
        """F is half the log-odds with the costs in them, of which each round brings an equal share."""
        log_ratio = math.log(state.costs.ratio)
        return replace(super().link(state), cost_offset=log_ratio, pending=log_ratio, schedule=state.n_rounds)

    def share(self, state: State, c: Array) -> Array:
        """``ln c^(1/M)``."""
        return np.asarray(np.log(c) / state.n_rounds)


class CostsInEveryRound(SpreadCosts):
    """The share of the costs is on the weights before each round, the first included."""

    def start(self, state: State) -> None:
        """``w ∝ c^(1/M)``."""
        super().start(state)
        state.assign(lambda n, c: n * np.exp(self.share(state, c)), (EXAMPLES, state.cost))

    def log_factor(self, state: State, y: Array, g: Array, c: Array) -> Array:
        """What the rule without costs does, and the next round's share of the costs."""
        return super().log_factor(state, y, g, c) + self.share(state, c)
