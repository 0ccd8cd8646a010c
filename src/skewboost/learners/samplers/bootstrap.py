"""Rows drawn with replacement, in proportion to their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.learners.samplers.sampler import Drawn
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.learners.learner import Data


def by_reach(reach: Array, size: int, rng: np.random.Generator) -> Array:
    """Independent draws in proportion to weights, of which `reach` are the running sums; places in rising order."""
    places = np.searchsorted(reach, np.sort(rng.random(size)) * reach[-1], side="right")
    # a point may be rounded up to the very end, which is behind the last row of any weight
    return np.asarray(np.minimum(places, np.searchsorted(reach, reach[-1])))


def by_weight(weights: Array, rng: np.random.Generator) -> Array:
    """As many places as there are weights, by the inverse of the distribution function: they come in their order."""
    return by_reach(np.cumsum(weights), len(weights), rng)


class Bootstrap(BaseEstimator):
    """As many rows as there are, drawn with replacement in proportion to the weights; a weight of zero is never drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from skewboost.learners.samplers import Bootstrap
    >>> Bootstrap().draw(None, np.array([0.0, 3.0, 0.0, 1.0]), np.random.default_rng(0)).rows
    array([1, 1, 1, 1])
    """

    def draw(self, data: Data, weights: Array, rng: np.random.Generator) -> Drawn:
        """The learner sees the rows without weights."""
        return Drawn(by_weight(weights, rng))
