"""Quantiles of weights and margins, round by round."""

from __future__ import annotations

import numpy as np

from skewboost.boosting.state import State
from skewboost.engine.training_set import EXAMPLES, Y
from skewboost.typing import Array

WEIGHT_LEVELS = (0.25, 0.5, 0.75, 0.95, 1.0)
MARGIN_LEVELS = (0.0, 0.05, 0.25, 0.5, 0.75)


def quantiles(values: Array, levels: tuple[float, ...], examples: Array | None) -> Array:
    """The smallest values that at least these shares of the examples do not exceed: a weight of 2 is the row twice."""
    return np.asarray(np.quantile(values, levels, weights=examples, method="inverted_cdf"))


class WeightWatcher:
    """Notes what the weights that hypotheses are fitted under are like, in every round of the first ensemble.

    Further ones are those of calibration inside a fit, which the model does not consist of.
    """

    def __init__(self) -> None:
        self.state: State | None = None
        self.quantiles: list[Array] = []
        self.of_positives: list[float] = []

    def __call__(self, state: State) -> None:
        """Look at a round."""
        self.state = self.state or state
        if state is not self.state or state.rows.classes.n_labels != 1:
            return
        weights, examples = state.rows.get(state.fitted), state.rows.get(EXAMPLES)
        weights = weights / weights.sum()
        self.quantiles.append(quantiles(weights * state.n / examples, WEIGHT_LEVELS, examples))
        self.of_positives.append(float(weights[state.rows.get(Y) > 0].sum()))

    def close(self) -> None:
        """Let go of the rows."""
        self.state = None
