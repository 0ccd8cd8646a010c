"""Rows drawn with replacement, in proportion to their weights."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.learners.samplers.sampler import Sample
from skewboost.learners.training_data import TrainingData
from skewboost.typing import Array


def draw_by_cumulative_weight(cumulative: Array, size: int, rng: np.random.Generator) -> Array:
    """Positions drawn with replacement in proportion to weights with these cumulative sums, in rising order."""
    positions = np.searchsorted(cumulative, np.sort(rng.random(size)) * cumulative[-1], side="right")
    # A point may be rounded up to the very end, which lies behind the last row of positive weight.
    return np.asarray(np.minimum(positions, np.searchsorted(cumulative, cumulative[-1])))


def draw_by_weight(weights: Array, rng: np.random.Generator) -> Array:
    """As many positions as there are weights, drawn with replacement in proportion to them, in rising order."""
    return draw_by_cumulative_weight(np.cumsum(weights), len(weights), rng)


class Bootstrap(BaseEstimator):
    """As many rows as there are, drawn with replacement in proportion to the weights.

    The learner sees the drawn rows without weights. A row of weight zero is never drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from skewboost.learners.samplers import Bootstrap
    >>> Bootstrap().draw(None, np.array([0.0, 3.0, 0.0, 1.0]), np.random.default_rng(0)).rows
    array([1, 1, 1, 1])
    """

    def draw(self, data: TrainingData, weights: Array, rng: np.random.Generator) -> Sample:
        return Sample(draw_by_weight(weights, rng))
