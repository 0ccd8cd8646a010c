"""What a sampler is: it draws rows anew in each round. What they teach is measured on all rows, not on these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from skewboost.engine.table import Table
from skewboost.errors import InputError
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.learners.learner import Data


@dataclass(frozen=True)
class Drawn:
    """What a round is fitted to: training rows, by their numbers, and after them rows that were made up.

    A row may come more than once. Without `weights` all count the same, and the learner sees none.
    """

    rows: Array
    weights: Array | None = None  # of the drawn rows, then of those made up; of any sum
    made: Table | None = None  # rows that are not in the training data
    classes: Array | None = None  # the class of each: 1 is the positive one; or the number of its label

    @property
    def n_made(self) -> int:
        """How many rows were made up."""
        return 0 if self.made is None else self.made.n_rows

    def take(self, chosen: Array) -> Drawn:
        """Some of them, by their places, each of which counts the same."""
        real, own = chosen[chosen < len(self.rows)], chosen[chosen >= len(self.rows)] - len(self.rows)
        if self.made is None or self.classes is None or not len(own):
            return Drawn(self.rows[real])
        return Drawn(self.rows[real], None, self.made.take(own), self.classes[own])


class Sampler(Protocol):
    """Draws the rows that a round is fitted to.

    A sampler may say ``resets = False``: it does not draw by weight, and if what is learned from two of its draws is
    wrong on most of the weight, the round is fitted to all rows. Otherwise that is bad luck: the weights start anew,
    and the rows are drawn again.
    """

    def draw(self, data: Data, weights: Array, rng: np.random.Generator) -> Drawn:
        """Draw from the training rows, given their current weights (not negative, of any sum)."""
        ...


def classes_of_rows(data: Data, name: str) -> Array:
    """The class of every row as a number, 1 for the positive one; for samplers that look at classes."""
    if data.classes.n_labels == 1:
        return data.labels.astype(np.intp)
    if (data.labels.sum(axis=1) != 1).any():
        raise InputError(
            f"sampler={name} looks at classes, but rows of y have several labels or none. Use sampler='bootstrap' or a "
            "fraction, which do not."
        )
    return np.asarray(data.labels.argmax(axis=1))
