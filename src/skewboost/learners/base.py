"""What a weak learner is to the loop: something that is opened on the training data and then answers, round by round.

There are two questions. *Labels*: separate the classes under the current weights; the answer is a partition of the
input with the class weights of its leaves, and what a leaf says is the rule's business. *Responses*: fit a number
per example by weighted least squares; the answer is the fitted function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from skewboost.engine.boundary import Array, Engine
from skewboost.engine.explaining import Support
from skewboost.engine.partition import View
from skewboost.engine.sample import JointSample, LabelSample
from skewboost.engine.scoring import Term
from skewboost.tables import Table

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins

# A round's own random generator, made by whoever needs one: most learners draw nothing.
Draw = Callable[[], np.random.Generator]

LABELS, RESPONSES = "class labels", "responses (numbers to fit by least squares)"


@dataclass(frozen=True)
class Goal:
    """What a rule would have a partition minimise, with the parameters that some criteria have."""

    criterion: str
    costs: tuple[float, float] = (1.0, 1.0)  # of the negative and the positive class
    delta: float = 0.0  # smoothing


@dataclass
class Data:
    """The training rows, as validated: nothing missing, nothing of zero weight."""

    table: Table
    positive: Array  # which rows are positive; ``[row, label]`` where each has several labels
    examples: Array | None  # sample weights; None: one each
    engine: Engine
    bins: Bins | None = None  # given when training goes on with the bins of a fitted model

    @property
    def y(self) -> Array:
        """The labels as -1 and +1."""
        return np.where(self.positive, 1.0, -1.0)

    @property
    def initial_weights(self) -> Array:
        """Weights to start from: the sample weights."""
        weights = np.ones(len(self.positive)) if self.examples is None else self.examples
        return weights if self.positive.ndim == 1 else np.broadcast_to(weights[:, None], self.positive.shape)


class LabelHypothesis(Protocol):
    """A partition of the input, as it is found in training."""

    @property
    def class_weights(self) -> Array:
        """W- and W+ of each leaf: ``[leaf, class]``; of each label in turn where there are several."""
        ...

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
    def importances(self) -> Array | None:
        """By how much each feature lowered the loss."""
        ...

    def term(self, values: Array) -> Term:
        """The function that has these values in its leaves."""
        ...

    def reweight(self, sample: LabelSample, factors: Array) -> float:
        """Multiply the weights of each (leaf, class) by its factor; returns their sum before normalisation."""
        ...


@dataclass(frozen=True)
class ResponseHypothesis:
    """A fitted function."""

    term: Term
    criterion: float  # its weighted mean squared residual
    importances: Array | None


@dataclass
class Opened:
    """A learner on its training data. Subclasses answer `labels`, `responses` or both."""

    data: Data
    view: View
    sample: LabelSample = field(init=False)

    def __post_init__(self) -> None:
        data = self.data
        codes = self.view.codes if self.view.bins is not None else None
        kind = JointSample if data.positive.ndim == 2 else LabelSample
        self.sample = kind(data.engine, codes, self.view.bins, data.positive, data.initial_weights, data.examples)

    def support(self) -> Support:
        """Where the training examples are, for those who explain the ensemble."""
        grower = self.sample.grower
        per_code = None if grower is None else grower.examples_per_code[: self.data.table.n_features]
        examples = self.data.examples
        return Support(float(self.data.table.n_rows if examples is None else examples.sum()), per_code)

    def labels(self, rng: Draw) -> LabelHypothesis | None:
        """Separate the classes under the sample's weights."""
        raise NotImplementedError

    def responses(self, z: Array, weights: Array, rng: Draw) -> ResponseHypothesis | None:
        """Fit z by weighted least squares."""
        raise NotImplementedError

    def joint_labels(self) -> LabelHypothesis:
        """Separate the rows with each of several labels from those without it, by one partition for all."""
        raise NotImplementedError

    def added(self, term: Term) -> None:
        """Take note of what a round has added, for learners that build on earlier rounds."""


class Learner(Protocol):
    """A weak learner before it has seen data: its parameters."""

    @property
    def answers(self) -> tuple[str, ...]:
        """Which questions it answers: `LABELS`, `RESPONSES` or both."""
        ...

    def open(self, data: Data, goal: Goal) -> Opened:
        """Prepare for training."""
        ...


def chosen_goal(learner: Any, goal: Goal) -> Goal:
    """A learner's own criterion, or else the rule's; an error where its own would have no effect."""
    if learner.criterion is None:
        return goal
    if goal.criterion == "squares":
        raise ValueError(
            f"criterion={learner.criterion!r} of {describe(learner)} has no effect: the boosting variant asks for "
            "responses, which are fitted by least squares. Leave it at None."
        )
    return Goal(learner.criterion)


def describe(learner: Any) -> str:
    """A learner's name in messages."""
    return type(learner).__name__


def searches(learner: Any, n_rounds: int) -> int:
    """About how many nodes are summed and searched in so many rounds."""
    return int(learner.searches(n_rounds)) if hasattr(learner, "searches") else n_rounds
