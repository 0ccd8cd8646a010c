"""Boosting by resampling: a learner that is fitted to drawn rows, and measured on all of them.

The learner never sees the weights, only what the sampler draws by them. What it finds is then measured on the whole
training set: the class weights of leaves, and with them votes, errors and the new weights, are those of the real rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from skewboost.engine.boundary import TIE, Array
from skewboost.engine.partition import View
from skewboost.engine.sample import LabelSample
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.learners.base import (
    Data,
    Draw,
    Goal,
    LabelHypothesis,
    Learner,
    Opened,
    ProbabilityHypothesis,
    ResponseHypothesis,
    right_weight,
    searches,
    wrong_weight,
)
from skewboost.learners.probabilities import as_it_is
from skewboost.samplers import Sampler


def centred(term: Term, drawn: View, whole: Data, view: View) -> Term:
    """A term with its thresholds in the middle between the drawn rows that they part, and the covers of all rows."""
    if not isinstance(term, LeafTerm):
        return term
    partition = term.partition.centred(drawn)
    return replace(term, partition=partition.counted(view, whole.examples) if partition.splits else partition)


@dataclass(frozen=True)
class Measured:
    """A partition found on drawn rows, with the class weights that all rows have in its leaves."""

    found: LabelHypothesis
    numbered: Term  # the function whose value in a leaf is its number
    leaf: Array  # of every training row
    class_weights: Array

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
    def importances(self) -> Array | None:
        """By how much each feature lowered the loss of the drawn rows."""
        return self.found.importances

    def term(self, values: Array) -> Term:
        """The function that has these values in the leaves."""
        if isinstance(self.numbered, LeafTerm):
            return replace(self.numbered, values=values)
        return self.found.term(values)

    def reweight(self, sample: LabelSample, factors: Array) -> float:
        """Multiply the weights of each (leaf, class) by its factor."""
        return sample.reweight_leaves(self.leaf, factors)


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
    """A learner that is opened anew on what each round draws. Its view and its weights are those of all rows."""

    draws: ClassVar[bool] = True

    def __init__(self, data: Data, learner: Learner, sampler: Sampler, goal: Goal) -> None:
        super().__init__(data, learner.open(data, goal).view)
        self.learner = learner
        self.sampler = sampler
        self.goal = goal
        self.terms: list[Term] = []

    def labels(self, rng: Draw) -> Measured | None:
        """Separate the classes of the drawn rows."""
        generator = rng()
        opened, _ = self._open(self.sample.weights, generator)
        ask = opened.labels if self.data.n_classes == 2 else opened.class_labels
        found = ask(lambda: generator)
        if found is None:
            return None
        n = len(found.class_weights)
        numbered = centred(found.term(np.arange(float(n))), opened.view, self.data, self.view)
        leaf = numbered.on(self.view).astype(np.intp)
        k = self.data.n_classes
        sums = np.bincount(k * leaf + self.data.positive, self.sample.weights, minlength=k * n).reshape(n, k)
        return (Measured if k == 2 else MeasuredClasses)(found, numbered, leaf, sums)

    def class_labels(self, rng: Draw) -> Measured | None:
        """Separate the classes of the drawn rows."""
        return self.labels(rng)

    def joint_labels(self, rng: Draw) -> Measured:
        """Rows are drawn by what all their labels weigh, and the labels of a drawn row keep their proportions."""
        weights = self.sample.weights
        of_row = weights.sum(axis=1)
        generator = rng()
        opened, rows = self._open(of_row, generator)
        opened.sample.assign(weights[rows] / of_row[rows, None])
        found = opened.joint_labels(lambda: generator)
        n, n_labels = len(found.class_weights), weights.shape[1]
        numbered = centred(found.term(np.arange(float(n))), opened.view, self.data, self.view)
        leaf = numbered.on(self.view).astype(np.intp)
        cell = 2 * (n_labels * leaf[:, None] + np.arange(n_labels)) + self.data.positive
        sums = np.bincount(cell.ravel(), weights.ravel(), minlength=2 * n_labels * n).reshape(n, 2 * n_labels)
        return Measured(found, numbered, leaf, sums)

    def added(self, term: Term) -> None:
        """For learners that build on earlier rounds: every draw has to know them."""
        self.terms.append(term)

    def responses(self, z: Array, weights: Array, rng: Draw) -> ResponseHypothesis | None:
        """Fit the responses of the drawn rows, all of which count the same."""
        generator = rng()
        opened, rows = self._open(weights, generator)
        found = opened.responses(z[rows], np.full(len(rows), 1.0 / len(rows)), lambda: generator)
        if found is None:
            return None
        term = centred(found.term, opened.view, self.data, self.view)
        residual = z - term.on(self.view)
        return replace(found, term=term, criterion=float(np.average(residual**2, weights=weights)))

    def probabilities(self, rng: Draw) -> ProbabilityHypothesis | None:
        """Estimate the probabilities from the drawn rows."""
        generator = rng()
        opened, _ = self._open(self.sample.weights, generator)
        found = opened.probabilities(lambda: generator)
        if found is None:
            return None
        p = found.term(as_it_is).on(self.view)
        wrong = self.sample.weights[(p >= 0.5) != self.data.positive].sum()
        return replace(found, p=p, criterion=float(wrong))

    def rejects(self, h: Any) -> bool:
        """Whether a hypothesis about the classes is wrong on more weight than it is right on."""
        if isinstance(h, Measured):
            return h.fails
        return isinstance(h, ProbabilityHypothesis) and h.criterion > 0.5 + TIE

    def _open(self, weights: Array, generator: np.random.Generator) -> tuple[Opened, Array]:
        """The learner on rows drawn by weight, each one example, and their numbers."""
        data, view = self.data, self.view
        rows = self.sampler.draw(data, weights, generator).rows
        codes = None if view.bins is None else data.engine.take(view.codes, rows)
        drawn = Data(data.table.take(rows), data.positive[rows], None, data.engine, view.bins, codes, data.n_classes)
        opened = self.learner.open(drawn, self.goal)
        for term in self.terms:
            opened.added(term)
        return opened, rows


class Resampled:
    """A learner that is fitted to what a sampler draws."""

    def __init__(self, learner: Learner, sampler: Sampler) -> None:
        self.learner = learner
        self.sampler = sampler

    @property
    def answers(self) -> tuple[str, ...]:
        """Those of the learner."""
        return self.learner.answers

    def searches(self, n_rounds: int) -> int:
        """As many as the learner makes."""
        return searches(self.learner, n_rounds)

    def open(self, data: Data, goal: Goal) -> OpenedResampled:
        """Bin the whole table."""
        return OpenedResampled(data, self.learner, self.sampler, goal)
