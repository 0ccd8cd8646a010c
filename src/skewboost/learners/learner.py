"""The interface between weak learners and the boosting loop.

`Learner.prepare` is called once, with the training data, and returns a `LearnerContext`. In each round the loop asks
the context one of four questions.

- *Labels*: separate the classes under the current weights. The answer is a partition of the input with the class
  weights of its leaves; the rule chooses the values of the leaves.
- *Responses*: fit a number per row by weighted least squares. The answer is the fitted function.
- *Probabilities*: estimate P(+ | x) under the current weights. The answer is that function; the rule chooses what to
  add from it.
- *Values*: find the partition and the values of its leaves that minimise a sum of losses of rows, which the rule
  defines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from skewboost.engine.boundary import Request
from skewboost.engine.explaining import Support
from skewboost.engine.partition import Partition, View
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.engine.training_set import EXAMPLES, Growth, Leaves, TrainingSet
from skewboost.errors import InputError
from skewboost.learners.training_data import TrainingData
from skewboost.learners.value_search import RowLosses
from skewboost.typing import Array

# Creates the random generator of a round. Most learners never call it.
RandomSource = Callable[[], np.random.Generator]

# From the class weights of leaves, and which of them abstain, to labels.
VotesOfLeaves = Callable[[Array, Array], Array]

# A function of an array of probabilities.
ProbabilityLink = Callable[[Array], Array]

BALANCE = 1e-12  # a difference below this fraction of a leaf's weight is due to rounding

LABELS, RESPONSES = "class labels", "responses (numbers to fit by least squares)"
PROBABILITIES = "probabilities (of the positive class)"
VALUES = "values of leaves (that minimise losses of rows)"


@dataclass
class Importances:
    """The decrease of the loss per column, as pairs (column, decrease); most columns have none."""

    n_features: int
    pairs: Sequence[tuple[int, float]]

    def __len__(self) -> int:
        return self.n_features

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        """One number per feature."""
        total = np.zeros(self.n_features, dtype)
        for feature, decrease in self.pairs:
            total[feature] += decrease
        return total


@dataclass(slots=True)
class LabelHypothesis:
    """A partition of the input that was found in training. The rule chooses the values of its leaves."""

    term: Callable[[Array], Term]  # from values of the leaves to the function that has them
    partition: Partition | Leaves  # which training rows are in which leaf
    class_weights: Array  # W- and W+ of each leaf: [leaf, class]; with several labels, these two for each label in turn
    labels: Array  # the vote of each leaf: -1, +1, or 0 where it abstains; of many classes the number, or -1
    abstains: Array  # which leaves do not vote
    criterion: float
    importances: Importances | None
    signs: Array | None = None  # the signs that the criterion forced on the leaves, if any
    sure: bool = False  # whether a leaf whose sign contradicts its majority is as sure as one whose sign agrees


@dataclass(frozen=True)
class ResponseHypothesis:
    """A fitted function."""

    term: Term
    criterion: float  # its weighted mean squared residual
    importances: Importances | None


@dataclass(frozen=True)
class ProbabilityHypothesis:
    """A fitted probability of the positive class."""

    term: Callable[[ProbabilityLink], Term]  # from a link to the function link(P(+ | x))
    criterion: float  # the weight of the rows that it puts on the wrong side of ½
    importances: Importances | None


@dataclass(frozen=True)
class ValueHypothesis:
    """A partition with the values of its leaves."""

    term: Term
    criterion: float  # the sum of the losses
    importances: Importances | None


def wrong_weight(labels: Array, class_weights: Array) -> float:
    """The weight of the rows that the labels of the leaves get wrong; leaves that abstain get none wrong."""
    pairs = zip(labels.tolist(), class_weights.tolist())
    return sum(negative if label > 0 else positive if label < 0 else 0.0 for label, (negative, positive) in pairs)


def residuals_and_weights(z: Array, fit: Array, w: Array) -> tuple[Array, Array]:
    """``w (z - f)²`` and w, to be summed."""
    return w * (z - fit) ** 2, w


def wrong_sides(w: Array, y: Array, p: Array) -> Array:
    """The weights of the rows whose probability is on the wrong side of ½, to be summed."""
    return np.where((p >= 0.5) != (y > 0), w, 0.0)


def heaviest(class_weights: Array, abstains: Array) -> Array:
    """The heaviest class of each leaf, the first in case of a tie; -1 where the leaf abstains or is empty."""
    total = class_weights.sum(axis=1)
    top = class_weights.max(axis=1) - BALANCE * total
    labels: Array = np.argmax(class_weights >= top[:, None], axis=1).astype(np.float64)
    labels[abstains | (total == 0)] = -1.0
    return labels


def right_weight(labels: Array, class_weights: Array) -> float:
    """The weight of the rows that the class numbers of the leaves get right."""
    voting = np.flatnonzero(labels >= 0)
    return float(class_weights[voting, labels[voting].astype(np.intp)].sum())


class LearnerContext:
    """A learner with its training data. Subclasses implement `labels`, `responses`, `values`, … or several of them."""

    draws = False  # whether it is fitted to drawn rows
    biased = False  # whether it is fitted to other weights than those that it is measured with
    tries = 1  # the maximum number of attempts in a round
    hessian: float | None = None  # the sum of the weights of responses, if they are given in other units

    def __init__(self, data: TrainingData, view: View) -> None:
        self.data = data
        self.view = view
        self.rows: TrainingSet = data.engine.training_set(view, data.labels, data.classes, data.examples)
        self.last_try = False

    def support(self) -> Support:
        """The distribution of the training examples, for explanations of the ensemble."""
        per_code = None if self.view.bins is None else self.rows.histogram(EXAMPLES)[0]
        return Support(self.data.n_examples, per_code)

    def reweight(self, partition: Partition | Leaves, factors: Array) -> float:
        """Multiply the weights of each (leaf, class) by its factor; returns their sum before normalisation."""
        return self.rows.reweight(partition, factors)

    def grown(
        self, growth: Growth, labels: Array, criterion: float, signs: Array | None = None, sure: bool = False
    ) -> LabelHypothesis:
        """The hypothesis of a partition that was grown from the training rows."""
        partition, importances = growth.partition, self.importances(growth.importances)
        term = partial(LeafTerm, partition)
        return LabelHypothesis(
            term, partition, growth.sums, labels, growth.abstains, criterion, importances, signs, sure
        )

    def importances(self, pairs: Sequence[tuple[int, float]]) -> Importances:
        """The decreases of the loss by column, given those by feature."""
        bins = self.view.bins
        own = [(bins.columns[j], decrease) for j, decrease in pairs] if bins is not None and bins.columns else pairs
        return Importances(self.data.table.n_features, own)

    def labels(self, rng: RandomSource) -> LabelHypothesis | None:
        """Separate the classes under the current weights."""
        raise NotImplementedError

    def responses(self, z: str, w: str, rng: RandomSource) -> ResponseHypothesis | None:
        """Fit a vector of the training set by least squares, weighted by another."""
        raise NotImplementedError

    def joint_labels(self, rng: RandomSource) -> LabelHypothesis | None:
        """Separate the rows with each of several labels from those without it, by one partition for all."""
        raise NotImplementedError

    def class_labels(self, rng: RandomSource) -> LabelHypothesis | None:
        """Separate more than two classes; `labels` of the answer are class numbers, and -1 where it abstains."""
        raise NotImplementedError

    def added(self, term: Term) -> None:
        """Called with the term that a round has added, for learners that build on earlier rounds."""

    def probabilities(self, rng: RandomSource) -> ProbabilityHypothesis | None:
        """Estimate P(+ | x) under the current weights."""
        raise NotImplementedError

    def values(self, losses: RowLosses) -> ValueHypothesis | None:
        """Find the partition and the values of its leaves that minimise the sum of the losses of rows."""
        raise NotImplementedError

    def constrained(self, term: Term) -> Term | None:
        """The term of a round within the constraints of the learner; None if nothing is left of it."""
        return term

    def rejects(self, h: Any) -> bool:
        """Whether a hypothesis has failed, after which the weights start anew."""
        return False


class Learner(Protocol):
    """A weak learner: its parameters, without data."""

    @property
    def answers(self) -> tuple[str, ...]:
        """The questions that it answers: some of `LABELS`, `RESPONSES`, `PROBABILITIES`, `VALUES`."""

    def prepare(self, data: TrainingData, goal: Request) -> LearnerContext:
        """Prepare for training; `goal` has the criterion of the rule, with its parameters."""


def chosen_goal(learner: Any, goal: Request) -> Request:
    """The criterion of the learner, or that of the rule if it has none; an error if its own would have no effect."""
    if learner.criterion is None:
        return goal
    if goal.criterion == "squares":
        raise InputError(
            f"criterion={learner.criterion!r} of {type(learner).__name__} has no effect, because the boosting variant "
            "fits responses by least squares.",
            "Leave it at None.",
        )
    return Request(learner.criterion)
