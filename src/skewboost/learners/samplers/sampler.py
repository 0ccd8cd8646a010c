"""What a sampler is: an object that draws the rows that the weak learner of a round is fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from skewboost.engine.table import Table
from skewboost.errors import InputError
from skewboost.learners.training_data import TrainingData
from skewboost.typing import Array


@dataclass(frozen=True)
class Sample:
    """The rows that a round is fitted to: training rows, by their numbers, and after them synthetic rows.

    A training row may occur more than once. Without `weights` all rows count the same, and the learner sees no weights.
    """

    rows: Array
    weights: Array | None = None  # of the training rows, then of the synthetic ones; of any sum
    synthetic: Table | None = None
    classes: Array | None = None  # the class numbers of the synthetic rows; 1 is the positive class of two

    def __len__(self) -> int:
        return len(self.rows) + (0 if self.synthetic is None else self.synthetic.n_rows)

    def take(self, positions: Array) -> Sample:
        """The rows at these positions, all of which count the same."""
        real = positions[positions < len(self.rows)]
        synthetic = positions[positions >= len(self.rows)] - len(self.rows)
        if self.synthetic is None or self.classes is None or not len(synthetic):
            return Sample(self.rows[real])
        return Sample(self.rows[real], None, self.synthetic.take(synthetic), self.classes[synthetic])


class Sampler(Protocol):
    """Draws the rows that a round is fitted to.

    A sampler that does not draw by weight has the attribute ``resets = False``. If the hypotheses from two of its
    samples are wrong on most of the weight, the round is fitted to all rows. With any other sampler such a failure is
    bad luck: the weights start anew, and rows are drawn again.
    """

    def draw(self, data: TrainingData, weights: Array, rng: np.random.Generator) -> Sample:
        """Draw from the training rows, given their current weights (not negative, of any sum)."""


def classes_of_rows(data: TrainingData, sampler: str = "") -> Array:
    """The class number of every row, 1 for the positive one of two; for samplers that need classes."""
    if data.classes.n_labels == 1:
        return data.labels.astype(np.intp)
    if (data.labels.sum(axis=1) != 1).any():
        raise InputError(
            f"The sampler {sampler} needs one class per row, but rows of y have several labels or none.",
            "Use 'bootstrap' or a fraction such as 0.5 as sampler.",
        )
    return np.asarray(data.labels.argmax(axis=1))


def mean_weights(data: TrainingData, weights: Array) -> Array:
    """The mean weight of an example of each class."""
    classes = classes_of_rows(data)[data.ordered_examples]
    return np.bincount(classes, data.weight_of_examples(weights)) / np.maximum(np.bincount(classes), 1)
