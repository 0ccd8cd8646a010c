"""The training data as learners and samplers see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Codes, Engine
from skewboost.engine.partition import View
from skewboost.engine.table import Table
from skewboost.engine.training_set import TWO, Classes
from skewboost.learners.example_order import examples_in_order
from skewboost.typing import Array


@dataclass
class TrainingData:
    """The training data, as validated: nothing missing, nothing of zero weight."""

    table: Table
    labels: Array  # the number of every row's class, 1 for the positive one of two; ``[row, label]`` if it has several
    examples: Array | None  # sample weights; None: one each
    engine: Engine
    bins: Bins | None = None  # given when training goes on with the bins of a fitted model
    codes: Codes = None  # of the table in these bins, where they are known
    classes: Classes = TWO

    def __post_init__(self) -> None:
        self.labels = self.labels.astype(np.min_scalar_type(self.classes.n_classes - 1), copy=False)

    def view(self, bins: Bins | None) -> View:
        """The table through bins."""
        return View(self.engine, self.table, bins, self.codes)

    @property
    def n_examples(self) -> float:
        """N: the number of examples, Σ sample_weight."""
        return float(self.table.n_rows if self.examples is None else self.examples.sum())

    def as_labels(self, numbers: Array) -> Array:
        """Numbers of classes in the shape of `labels`, where one of several labels is on."""
        if self.classes.n_labels > 1:
            numbers = numbers[:, None] == np.arange(self.classes.n_labels)
        return np.asarray(numbers.astype(self.labels.dtype))

    @cached_property
    def ordered_examples(self) -> Array:
        """The number of the row of every example, in an order that only depends on what they are; for samplers."""
        n = self.classes.n_labels
        bits = self.labels if n == 1 else self.labels @ np.exp2(np.arange(n))
        return examples_in_order(self.table, bits, self.examples)

    def weight_of_examples(self, weights: Array) -> Array:
        """What each of these examples weighs, given the weights of the rows: theirs, shared among their examples."""
        if len(self.ordered_examples) != len(weights):
            weights = weights / np.maximum(np.bincount(self.ordered_examples, minlength=len(weights)), 1)
        return np.asarray(weights[self.ordered_examples])
