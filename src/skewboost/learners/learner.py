"""What a weak learner is to the loop: something that is opened on the training data and then answers, round by round.

There are three questions. *Labels*: separate the classes under the current weights; the answer is a partition of the
input with the class weights of its leaves, and what a leaf says is the rule's business. *Responses*: fit a number
per example by weighted least squares; the answer is the fitted function. *Probabilities*: estimate P(+ | x) under the
current weights; the answer is that function, and what to make of it is the rule's business again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from skewboost.engine.explaining import Support
from skewboost.engine.partition import Partition, View
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import EXAMPLES, Leaves, TrainingSet
from skewboost.errors import InputError
from skewboost.learners.training_data import TrainingData
from skewboost.typing import Array

if TYPE_CHECKING:
    pass

# A round's own random generator, made by whoever needs one: most learners draw nothing.
RandomSource = Callable[[], np.random.Generator]

# What a rule makes of a probability: a function of an array of them.
ProbabilityLink = Callable[[Array], Array]

BALANCE = 1e-12  # a difference below this share of a leaf's weight is rounding

LABELS, RESPONSES = "class labels", "responses (numbers to fit by least squares)"
PROBABILITIES = "probabilities (of the positive class)"


@dataclass(frozen=True)
class SplitGoal:
    """What a rule would have a partition minimise, with the parameters that some criteria have."""

    criterion: str
    costs: tuple[float, float] = (1.0, 1.0)  # of the negative and the positive class
    delta: float = 0.0  # smoothing


@dataclass(slots=True)
class Importances:
    """By how much splits lowered the loss, per feature, as pairs; most features have none."""

    n_features: int
    pairs: Sequence[tuple[int, float]]

    def __len__(self) -> int:
        return self.n_features

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        """One number per feature."""
        found = np.zeros(self.n_features, dtype)
        for feature, gained in self.pairs:
            found[feature] += gained
        return found


class WeightedPartition(Protocol):
    """A partition of the training rows."""

    @property
    def partition(self) -> Partition | Leaves:
        """Which rows are in which leaf."""
        ...

    @property
    def class_weights(self) -> Array:
        """W- and W+ of each leaf: ``[leaf, class]``; of each label in turn where there are several."""
        ...


class LabelHypothesis(WeightedPartition, Protocol):
    """A partition of the input, as it is found in training."""

    @property
    def labels(self) -> Array:
        """What a discrete vote says in each leaf: -1, +1, or 0 where it abstains."""
        ...

    @property
    def signs(self) -> Array | None:
        """The signs that the criterion asked for, if it did."""
        ...

    @property
    def abstains(self) -> Array:
        """The leaves that have no say."""
        ...

    @property
    def criterion(self) -> float:
        """The value of what was minimised."""
        ...

    @property
    def importances(self) -> Importances | None:
        """By how much each feature lowered the loss."""
        ...

    def term(self, values: Array) -> Term:
        """The function that has these values in its leaves."""
        ...


@dataclass(frozen=True)
class ResponseHypothesis:
    """A fitted function."""

    term: Term
    criterion: float  # its weighted mean squared residual
    importances: Importances | None


@dataclass(frozen=True)
class ProbabilityHypothesis:
    """A fitted probability of the positive class."""

    vector: str  # the probability of every training row is in the training set, by this name
    term: Callable[[ProbabilityLink], Term]  # the function that is this link of the probability
    criterion: float  # the weight of the rows on whose wrong side of ½ it is
    importances: Importances | None


def wrong_weight(labels: Array, class_weights: Array) -> float:
    """The weight that labels of leaves get wrong; who abstains gets nothing wrong."""
    pairs = zip(labels.tolist(), class_weights.tolist())
    return sum(negative if label > 0 else positive if label < 0 else 0.0 for label, (negative, positive) in pairs)


def residuals_and_weights(z: Array, fit: Array, w: Array) -> tuple[Array, Array]:
    """``w (z - f)²`` and w, to be added up."""
    return w * (z - fit) ** 2, w


def wrong_sides(w: Array, y: Array, p: Array) -> Array:
    """The weight of the rows on whose wrong side of ½ a probability is, to be added up."""
    return np.where((p >= 0.5) != (y > 0), w, 0.0)


def heaviest(class_weights: Array, abstains: Array) -> Array:
    """The heaviest of many classes in each leaf, the first of those that tie; -1 where it abstains or is empty."""
    total = class_weights.sum(axis=1)
    top = class_weights.max(axis=1) - BALANCE * total
    labels: Array = np.argmax(class_weights >= top[:, None], axis=1).astype(np.float64)
    labels[abstains | (total == 0)] = -1.0
    return labels


def right_weight(labels: Array, class_weights: Array) -> float:
    """The weight that class numbers of leaves get right."""
    voting = np.flatnonzero(labels >= 0)
    return float(class_weights[voting, labels[voting].astype(np.intp)].sum())


class LearnerContext:
    """A learner on its training data. Subclasses answer `labels`, `responses`, `probabilities` or several."""

    draws: ClassVar[bool] = False  # whether it is fitted to drawn rows

    def __init__(self, data: TrainingData, view: View) -> None:
        self.data = data
        self.view = view
        self.rows: TrainingSet = data.engine.training_set(view, data.labels, data.classes, data.examples)
        self.last_try = False

    @property
    def tries(self) -> int:
        """How often to ask in a round as long as nothing is found."""
        return 1

    @property
    def biased(self) -> bool:
        """Whether it is fitted to other weights than it is measured with."""
        return False

    def support(self) -> Support:
        """Where the training examples are, for those who explain the ensemble."""
        per_code = None if self.view.bins is None else self.rows.histogram(EXAMPLES)[0]
        return Support(self.data.n_examples, per_code)

    def reweight(self, partition: Partition | Leaves, factors: Array) -> float:
        """Multiply the weights of each (leaf, class) by its factor; returns their sum before normalisation."""
        return self.rows.reweight(partition, factors)

    def labels(self, rng: RandomSource) -> LabelHypothesis | None:
        """Separate the classes under the current weights."""
        raise NotImplementedError

    def responses(self, z: str, w: str, rng: RandomSource) -> ResponseHypothesis | None:
        """Fit a vector of the training set by least squares, weighted by another."""
        raise NotImplementedError

    def joint_labels(self, rng: RandomSource) -> LabelHypothesis:
        """Separate the rows with each of several labels from those without it, by one partition for all."""
        raise NotImplementedError

    def class_labels(self, rng: RandomSource) -> LabelHypothesis | None:
        """Separate more than two classes; `labels` of the answer are class numbers, and -1 where it abstains."""
        raise NotImplementedError

    def added(self, term: Term) -> None:
        """Take note of what a round has added, for learners that build on earlier rounds."""

    def probabilities(self, rng: RandomSource) -> ProbabilityHypothesis | None:
        """Estimate P(+ | x) under the current weights."""
        raise NotImplementedError

    def rejects(self, h: Any) -> bool:
        """Whether a hypothesis is a failure, after which the weights should start anew."""
        return False


class Learner(Protocol):
    """A weak learner before it has seen data: its parameters."""

    @property
    def answers(self) -> tuple[str, ...]:
        """Which questions it answers: some of `LABELS`, `RESPONSES`, `PROBABILITIES`."""
        ...

    def prepare(self, data: TrainingData, goal: SplitGoal) -> LearnerContext:
        """Prepare for training."""
        ...


def chosen_split_goal(learner: Any, goal: SplitGoal) -> SplitGoal:
    """A learner's own criterion, or else the rule's; an error where its own would have no effect."""
    if learner.criterion is None:
        return goal
    if goal.criterion == "squares":
        raise InputError(
            f"criterion={learner.criterion!r} of {describe(learner)} has no effect: the boosting variant asks for "
            "responses, which are fitted by least squares. Leave it at None."
        )
    return SplitGoal(learner.criterion)


def describe(learner: Any) -> str:
    """A learner's name in messages."""
    return type(learner).__name__
