"""Boosting by resampling: a learner that is fitted to what a sampler draws, and measured on all rows.

What it finds there is measured on the whole training set: the class weights of leaves, and with them votes, errors and
the new weights, are those of the real rows, and of them only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from skewboost.engine.boundary import TIE
from skewboost.engine.explaining import Support
from skewboost.engine.partition import Partition
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.engine.training_set import Leaves, TrainingSet, W, itself
from skewboost.learners.learner import (
    Data,
    Draw,
    Goal,
    Importances,
    LabelHypothesis,
    Learner,
    Opened,
    ProbabilityHypothesis,
    ResponseHypothesis,
    residuals_and_weights,
    right_weight,
    wrong_sides,
    wrong_weight,
)
from skewboost.learners.probabilities import as_it_is
from skewboost.learners.samplers import Drawn, Sampler
from skewboost.learners.samplers.bootstrap import by_weight
from skewboost.learners.samplers.sampler import classes_of_rows
from skewboost.learners.samplers.synthetic_rows import joined
from skewboost.typing import Array

MAX_DRAWS = 25  # in a round, of a sampler that draws by weight
BIASED_DRAWS = 2  # of another


def centred(term: Term, drawn: TrainingSet, whole: TrainingSet) -> Term:
    """A term with its thresholds in the middle between the drawn rows that they part, and the covers of all rows."""
    if not isinstance(term, LeafTerm) or not term.partition.splits:
        return term
    partition = term.partition.centred(drawn.count(term.partition))
    return replace(term, partition=partition.counted(whole.count(partition)))


@dataclass(frozen=True)
class Measured:
    """A partition found on drawn rows, with the class weights that all rows have in its leaves."""

    found: LabelHypothesis
    numbered: Term  # the function whose value in a leaf is its number
    partition: Partition | Leaves  # of all rows
    class_weights: Array

    @classmethod
    def on(cls, rows: TrainingSet, found: LabelHypothesis, drawn: TrainingSet) -> Measured:
        """A hypothesis about drawn rows, measured on all rows."""
        n = len(found.class_weights)
        numbered = centred(found.term(np.arange(float(n))), drawn, rows)
        partition: Partition | Leaves
        if isinstance(numbered, LeafTerm):
            partition = numbered.partition
        else:
            partition = Leaves("leaf", n)
            rows.evaluate(numbered, partition.name)
        return cls(found, numbered, partition, rows.sums(partition))

    @property
    def labels(self) -> Array:
        """What the drawn rows say in each leaf; 0 where none of them fell."""
        return self.found.labels

    @property
    def signs(self) -> Array | None:
        """The signs that the criterion asked for on the drawn rows, if it did."""
        return self.found.signs

    @property
    def abstains(self) -> Array:
        """The leaves that have no say."""
        return self.found.abstains

    @property
    def criterion(self) -> float:
        """The weight of the rows that the labels get wrong, out of all rows; Z where rows have several labels."""
        if self.joint:
            own, silent = self.class_weights[~self.abstains], self.class_weights[self.abstains]
            return float(2.0 * np.sqrt(own[:, ::2] * own[:, 1::2]).sum() + silent.sum())
        return wrong_weight(self.labels, self.class_weights)

    @property
    def joint(self) -> bool:
        """Whether rows have several labels."""
        return bool(self.class_weights.shape[1] > 2)

    @property
    def fails(self) -> bool:
        """Whether it is wrong on more weight than it is right on."""
        return not self.joint and self.criterion > wrong_weight(-self.labels, self.class_weights) + TIE

    @property
    def importances(self) -> Importances | None:
        """By how much each feature lowered the loss of the drawn rows."""
        return self.found.importances

    def term(self, values: Array) -> Term:
        """The function that has these values in the leaves."""
        if isinstance(self.numbered, LeafTerm):
            return replace(self.numbered, values=values)
        return self.found.term(values)


class MeasuredClasses(Measured):
    """The same for more than two classes."""

    @property
    def criterion(self) -> float:
        """The weight of the rows that the labels get wrong, out of all rows."""
        return float(self.class_weights[self.labels >= 0].sum()) - right_weight(self.labels, self.class_weights)

    @property
    def fails(self) -> bool:
        """Whether it is wrong on more weight than it is right on."""
        return self.criterion > right_weight(self.labels, self.class_weights) + TIE


class OpenedResampled(Opened):
    """A learner that is opened anew on what each round draws. Its view and its weights are those of all rows.

    Samplers look at the rows themselves.
    """

    draws: ClassVar[bool] = True

    def __init__(self, data: Data, learner: Learner, sampler: Sampler, goal: Goal) -> None:
        self.whole = learner.open(data, goal)
        super().__init__(data, self.whole.view)
        self.learner = learner
        self.sampler = sampler
        self.goal = goal
        self.takes_weights = getattr(learner, "weight_name", "") is not None
        self.terms: list[Term] = []

    def support(self) -> Support:
        """Where all rows are, as the learner tells it."""
        return self.whole.support()

    @property
    def biased(self) -> bool:
        """Whether the sampler does not draw by weight. If it does, failure is bad luck, and the weights start anew."""
        return not getattr(self.sampler, "resets", True)

    @property
    def tries(self) -> int:
        """One more than a biased sampler draws: the last one is on all rows."""
        return BIASED_DRAWS + 1 if self.biased else MAX_DRAWS

    def labels(self, rng: Draw) -> Measured | None:
        """Separate the classes of the drawn rows."""
        generator = rng()
        opened, drawn = self._open(self.rows.get(W), generator)
        self._weigh(opened, drawn.weights)
        two = self.data.classes.two
        found = (opened.labels if two else opened.class_labels)(lambda: generator)
        return None if found is None else (Measured if two else MeasuredClasses).on(self.rows, found, opened.rows)

    def class_labels(self, rng: Draw) -> Measured | None:
        """Separate the classes of the drawn rows."""
        return self.labels(rng)

    def joint_labels(self, rng: Draw) -> Measured:
        """Rows are drawn by what all their labels weigh, and the labels of a drawn row keep their proportions."""
        weights = self.rows.get(W)
        of_row = weights.sum(axis=1)
        generator = rng()
        opened, drawn = self._open(of_row, generator)
        shares = self._with_made(weights / of_row[:, None], drawn, self.data.examples)
        self._weigh(opened, shares if drawn.weights is None else shares * drawn.weights[:, None])
        return Measured.on(self.rows, opened.joint_labels(lambda: generator), opened.rows)

    def added(self, term: Term) -> None:
        """For learners that build on earlier rounds: every draw has to know them."""
        self.whole.added(term)
        self.terms.append(term)

    def responses(self, z: str, w: str, rng: Draw) -> ResponseHypothesis | None:
        """Fit the responses of the drawn rows."""
        generator = rng()
        weights = self.rows.get(w)
        opened, drawn = self._open(weights, generator)
        n = len(drawn.rows) + drawn.n_made
        opened.rows.put("own z", self._with_made(self.rows.get(z), drawn, weights))
        opened.rows.put("own w", 1.0 / n if drawn.weights is None else drawn.weights / drawn.weights.sum())
        found = opened.responses("own z", "own w", lambda: generator)
        if found is None:
            return None
        term = centred(found.term, opened.rows, self.rows)
        self.rows.evaluate(term, "fit")
        residual, total = self.rows.sum(residuals_and_weights, (z, "fit", w))
        return replace(found, term=term, criterion=residual / total)

    def probabilities(self, rng: Draw) -> ProbabilityHypothesis | None:
        """Estimate the probabilities from the drawn rows."""
        generator = rng()
        opened, drawn = self._open(self.rows.get(W), generator)
        self._weigh(opened, drawn.weights)
        found = opened.probabilities(lambda: generator)
        if found is None:
            return None
        self.rows.evaluate(found.term(as_it_is), "p")
        return replace(found, vector="p", criterion=self.rows.sum(wrong_sides, ("w", "y", "p")))

    def rejects(self, h: Any) -> bool:
        """Whether a hypothesis about the classes is wrong on more weight than it is right on.

        Not where the sampler is biased: there it may be so in draw after draw, whatever the weights.
        """
        if self.biased:
            return False
        if isinstance(h, Measured):
            return h.fails
        return isinstance(h, ProbabilityHypothesis) and h.criterion > 0.5 + TIE

    def _open(self, weights: Array, generator: np.random.Generator) -> tuple[Opened, Drawn]:
        """The learner on what the sampler draws, each row one example; or on all rows, if that is the last resort."""
        if not (self.biased and self.last_try):
            drawn = self._draw(self.sampler.draw(self.data, weights, generator), generator)
            return self._opened(drawn), drawn
        everything = Drawn(np.arange(len(weights)), weights)
        if self.takes_weights:
            return self.whole, everything
        drawn = self._draw(everything, generator)
        return self._opened(drawn), drawn

    def _draw(self, drawn: Drawn, generator: np.random.Generator) -> Drawn:
        """Rows by weight among those, for a learner that takes no weights."""
        if drawn.weights is None or (self.takes_weights and drawn.weights.sum() > 0.0):
            return drawn
        weights = drawn.weights if drawn.weights.sum() > 0.0 else np.ones(len(drawn.weights))  # all may have vanished
        return drawn.take(by_weight(weights, generator))

    def _opened(self, drawn: Drawn) -> Opened:
        data, bins = self.data, self.view.bins
        table, labels, codes = data.table.take(drawn.rows), data.labels[drawn.rows], None
        if drawn.made is not None and drawn.classes is not None:
            table, labels = joined(table, drawn.made), np.concatenate((labels, data.as_labels(drawn.classes)))
        elif bins is not None:
            codes = self.rows.take(drawn.rows)
        opened = self.learner.open(Data(table, labels, None, data.engine, bins, codes, data.classes), self.goal)
        for term in self.terms:
            opened.added(term)
        return opened

    @staticmethod
    def _weigh(opened: Opened, weights: Array | None) -> None:
        """Give the drawn rows their weights, if they have any."""
        if weights is not None:
            opened.rows.put("drawn", weights)
            opened.rows.assign(itself, ("drawn",))

    def _with_made(self, values: Array, drawn: Drawn, weights: Array | None = None) -> Array:
        """The values of the drawn rows; a row that was made up has the mean of its class."""
        if drawn.classes is None:
            return np.asarray(values[drawn.rows])
        classes = classes_of_rows(self.data, "this")
        members = [classes == label for label in range(classes.max() + 1)]
        means = [np.average(values[own], axis=0, weights=None if weights is None else weights[own]) for own in members]
        return np.concatenate((values[drawn.rows], np.array(means)[drawn.classes]))


class Resampled:
    """A learner that is fitted to what a sampler draws."""

    def __init__(self, learner: Learner, sampler: Sampler) -> None:
        self.learner = learner
        self.sampler = sampler

    @property
    def answers(self) -> tuple[str, ...]:
        """Those of the learner."""
        return self.learner.answers

    def open(self, data: Data, goal: Goal) -> OpenedResampled:
        """Bin the whole table."""
        return OpenedResampled(data, self.learner, self.sampler, goal)
