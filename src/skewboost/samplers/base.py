"""What a sampler is: it draws rows anew in each round. What they teach is measured on all rows, not on these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from skewboost.engine.boundary import Array

if TYPE_CHECKING:
    from skewboost.learners.base import Data


@dataclass(frozen=True)
class Drawn:
    """The rows that a round is fitted to, by their numbers; a row may come more than once."""

    rows: Array


class Sampler(Protocol):
    """Draws the rows that a round is fitted to."""

    def draw(self, data: Data, weights: Array, rng: np.random.Generator) -> Drawn:
        """Draw from the training rows, given their current weights (not negative, of any sum)."""
        ...
