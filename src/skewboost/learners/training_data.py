"""The training data as learners and samplers see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skewboost.engine.binning import Bins, fit_bins
from skewboost.engine.boundary import Codes, Engine
from skewboost.engine.partition import View
from skewboost.engine.row_hash import examples_in_order
from skewboost.engine.table import Table
from skewboost.engine.training_set import TWO, Classes
from skewboost.typing import Array


@dataclass
class TrainingData:
    """The validated training data, without rows of zero weight."""

    table: Table
    labels: Array  # class numbers, 1 for the positive one of two; ``[row, label]`` with several labels
    examples: Array | None  # sample weights; None: one each
    engine: Engine
    bins: Bins | None = None  # given if training continues with the bins of a fitted model
    codes: Codes = None  # of the table in these bins, if they are known
    classes: Classes = TWO
    positive: int = 1  # which of the two classes of the user, in their order, is the positive one

    def __post_init__(self) -> None:
        self.labels = self.labels.astype(np.min_scalar_type(self.classes.n_classes - 1), copy=False)

    def view(self, bins: Bins | None) -> View:
        """The table with bins."""
        return View(self.engine, self.table, bins, self.codes)

    def binned(
        self,
        max_bins: int | None,
        edges: list[Array] | None = None,
        ordered: frozenset[int] = frozenset(),
        uniform: bool = False,
    ) -> View:
        """The table with its bins, which are made if there are none; `ordered` categories keep their order."""
        given = max_bins, edges, ordered, uniform
        return self.view(self.bins or fit_bins(self.engine, self.table, self.examples, *given))

    @property
    def n_examples(self) -> float:
        """N: the number of examples, Σ sample_weight."""
        return float(self.table.n_rows if self.examples is None else self.examples.sum())

    def as_labels(self, numbers: Array) -> Array:
        """Class numbers in the shape of `labels`: with several labels, one of them is on in each row."""
        if self.classes.n_labels > 1:
            numbers = numbers[:, None] == np.arange(self.classes.n_labels)
        return np.asarray(numbers.astype(self.labels.dtype))

    @cached_property
    def ordered_examples(self) -> Array:
        """The row number of every example, in an order that depends on their content only; for samplers."""
        n = self.classes.n_labels
        bits = self.labels if n == 1 else self.labels @ np.exp2(np.arange(n))
        return examples_in_order(self.table, bits, self.examples)

    def weight_of_examples(self, weights: Array) -> Array:
        """The weight of each example: that of its row, divided by the number of examples of the row."""
        if len(self.ordered_examples) != len(weights):
            weights = weights / np.maximum(np.bincount(self.ordered_examples, minlength=len(weights)), 1)
        return np.asarray(weights[self.ordered_examples])
