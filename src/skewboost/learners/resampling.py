"""Boosting by resampling: a learner is fitted to the rows that a sampler draws, and measured on all rows.

The class weights of leaves, and so the votes, the errors and the new weights, are always those of all training rows.
Synthetic rows only take part in the fit.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from skewboost.engine.boundary import TIE, Request
from skewboost.engine.explaining import Support
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.engine.training_set import Leaves, TrainingSet, W, itself
from skewboost.learners.learner import (
    VALUES,
    LabelHypothesis,
    Learner,
    LearnerContext,
    ProbabilityHypothesis,
    RandomSource,
    ResponseHypothesis,
    residuals_and_weights,
    right_weight,
    wrong_sides,
    wrong_weight,
)
from skewboost.learners.probabilities import identity
from skewboost.learners.samplers import Sample, Sampler
from skewboost.learners.samplers.bootstrap import draw_by_weight
from skewboost.learners.samplers.sampler import classes_of_rows
from skewboost.learners.samplers.synthetic_rows import joined
from skewboost.learners.training_data import TrainingData
from skewboost.typing import Array

MAX_DRAWS = 25  # in a round, of a sampler that draws by weight
BIASED_DRAWS = 2  # in a round, of any other sampler


def centred(term: Term, drawn: TrainingSet, whole: TrainingSet) -> Term:
    """Move thresholds to the middle one of the cuts that divide the drawn rows alike, and count all rows in leaves."""
    if not isinstance(term, LeafTerm) or not term.partition.splits:
        return term
    partition = term.partition.centred(drawn.count(term.partition))
    return replace(term, partition=partition.counted(whole.count(partition)))


class ResampledContext(LearnerContext):
    """Prepares the learner anew for the rows of each draw. Its own view and weights are those of all rows."""

    draws = True

    def __init__(self, data: TrainingData, learner: Learner, sampler: Sampler, goal: Request) -> None:
        self.whole = learner.prepare(data, goal)
        super().__init__(data, self.whole.view)
        self.learner = learner
        self.sampler = sampler
        self.goal = goal
        self.takes_weights = getattr(learner, "weight_name", "") is not None
        self.terms: list[Term] = []
        # A failure of a sampler that draws by weight is bad luck: the weights start anew, and rows are drawn again. Any
        # other sampler is biased, and the last fit of a round is on all rows.
        self.biased = not getattr(sampler, "resets", True)
        self.tries = BIASED_DRAWS + 1 if self.biased else MAX_DRAWS

    def support(self) -> Support:
        """The distribution of all rows, as the learner describes it."""
        return self.whole.support()

    def labels(self, rng: RandomSource) -> LabelHypothesis | None:
        """Separate the classes of the drawn rows."""
        generator = rng()
        context, sample = self._prepare(self.rows.get(W), generator)
        self._assign(context, sample.weights)
        fit = context.labels if self.data.classes.two else context.class_labels
        return self._measured(fit(lambda: generator), context.rows)

    class_labels = labels

    def joint_labels(self, rng: RandomSource) -> LabelHypothesis | None:
        """Draw rows by the total weight of their labels; the labels of a drawn row keep their proportions."""
        weights = self.rows.get(W)
        totals = weights.sum(axis=1)
        generator = rng()
        context, sample = self._prepare(totals, generator)
        proportions = self._values(weights / totals[:, None], sample, self.data.examples)
        self._assign(context, proportions if sample.weights is None else proportions * sample.weights[:, None])
        return self._measured(context.joint_labels(lambda: generator), context.rows)

    def _measured(self, h: LabelHypothesis | None, drawn: TrainingSet) -> LabelHypothesis | None:
        """A hypothesis about drawn rows, with the class weights that all rows have in its leaves.

        Labels are those of the drawn rows; a leaf without any does not vote.
        """
        if h is None:
            return None
        leaf_numbers = centred(h.term(np.arange(float(len(h.class_weights)))), drawn, self.rows)
        if isinstance(leaf_numbers, LeafTerm):
            h = replace(h, partition=leaf_numbers.partition, term=partial(LeafTerm, leaf_numbers.partition))
        else:
            h = replace(h, partition=Leaves("leaf", len(h.class_weights)))
            self.rows.evaluate(leaf_numbers, "leaf")
        sums = self.rows.sums(h.partition)
        return replace(h, class_weights=sums, criterion=self._criterion(h, sums))

    def _criterion(self, h: LabelHypothesis, sums: Array) -> float:
        """The weight of the rows that the labels get wrong, out of all rows; Z where rows have several labels."""
        if self.data.classes.two:
            return wrong_weight(h.labels, sums)
        if self.data.classes.n_labels == 1:
            return float(sums[h.labels >= 0].sum()) - right_weight(h.labels, sums)
        own, silent = sums[~h.abstains], sums[h.abstains]
        return float(2.0 * np.sqrt(own[:, ::2] * own[:, 1::2]).sum() + silent.sum())

    def constrained(self, term: Term) -> Term | None:
        """The constraints of the learner, which are the same for all draws."""
        return self.whole.constrained(term)

    def added(self, term: Term) -> None:
        """Keep the rounds for learners that build on them: every draw has to know them."""
        self.whole.added(term)
        self.terms.append(term)

    def responses(self, z: str, w: str, rng: RandomSource) -> ResponseHypothesis | None:
        """Fit the responses of the drawn rows."""
        generator = rng()
        weights = self.rows.get(w)
        context, sample = self._prepare(weights, generator)
        context.rows.put("own z", self._values(self.rows.get(z), sample, weights))
        context.rows.put(
            "own w", 1.0 / len(sample) if sample.weights is None else sample.weights / sample.weights.sum()
        )
        share = len(sample) / len(weights)
        context.hessian = weights.sum() * share if sample.weights is None else sample.weights.sum()
        hypothesis = context.responses("own z", "own w", lambda: generator)
        if hypothesis is None:
            return None
        term = centred(hypothesis.term, context.rows, self.rows)
        self.rows.evaluate(term, "fit")
        residual, total = self.rows.sum(residuals_and_weights, (z, "fit", w))
        return replace(hypothesis, term=term, criterion=residual / total)

    def probabilities(self, rng: RandomSource) -> ProbabilityHypothesis | None:
        """Estimate the probabilities from the drawn rows."""
        generator = rng()
        context, sample = self._prepare(self.rows.get(W), generator)
        self._assign(context, sample.weights)
        hypothesis = context.probabilities(lambda: generator)
        if hypothesis is None:
            return None
        self.rows.evaluate(hypothesis.term(identity), "p")
        return replace(hypothesis, criterion=self.rows.sum(wrong_sides, ("w", "y", "p")))

    def rejects(self, h: Any) -> bool:
        """Whether a hypothesis about the classes is wrong on more weight than it is right on.

        A biased sampler may fail like this in draw after draw, whatever the weights, so nothing is rejected there.
        """
        if self.biased or self.data.classes.n_labels > 1:
            return False
        if isinstance(h, LabelHypothesis):
            two, labels, sums = self.data.classes.two, h.labels, h.class_weights
            return h.criterion > TIE + (wrong_weight(-labels, sums) if two else right_weight(labels, sums))
        return isinstance(h, ProbabilityHypothesis) and h.criterion > 0.5 + TIE

    def _prepare(self, weights: Array, generator: np.random.Generator) -> tuple[LearnerContext, Sample]:
        """Prepare the learner for a new sample, or for all rows on the last try of a biased sampler."""
        if self.biased and self.last_try:
            sample = Sample(np.arange(len(weights)), weights)
            if self.takes_weights:
                self.whole.last_try = True
                return self.whole, sample
        else:
            sample = self.sampler.draw(self.data, weights, generator)
        if sample.weights is not None and not (self.takes_weights and sample.weights.sum() > 0.0):
            # The learner takes no weights, or all of them have vanished.
            own = sample.weights if sample.weights.sum() > 0.0 else np.ones(len(sample))
            sample = sample.take(draw_by_weight(own, generator))
        return self._prepare_for(sample), sample

    def _prepare_for(self, sample: Sample) -> LearnerContext:
        """Prepare the learner for the rows of a sample, each of them one example."""
        data, bins = self.data, self.view.bins
        table, labels, codes = data.table.take(sample.rows), data.labels[sample.rows], None
        if sample.synthetic is not None and sample.classes is not None:
            table, labels = joined(table, sample.synthetic), np.append(labels, data.as_labels(sample.classes), axis=0)
        elif bins is not None:
            codes = self.rows.take(sample.rows)
        drawn = TrainingData(table, labels, None, data.engine, bins, codes, data.classes, data.positive)
        context = self.learner.prepare(drawn, self.goal)
        context.last_try = self.last_try
        for term in self.terms:
            context.added(term)
        return context

    @staticmethod
    def _assign(context: LearnerContext, weights: Array | None) -> None:
        """Give the drawn rows their weights, if they have any."""
        if weights is not None:
            context.rows.put("drawn", weights)
            context.rows.assign(itself, ("drawn",))

    def _values(self, values: Array, sample: Sample, weights: Array | None = None) -> Array:
        """The values of the rows of a sample; a synthetic row has the mean of its class."""
        if sample.classes is None:
            return np.asarray(values[sample.rows])
        classes = classes_of_rows(self.data)
        members = [classes == label for label in range(classes.max() + 1)]
        means = [np.average(values[own], axis=0, weights=None if weights is None else weights[own]) for own in members]
        return np.concatenate((values[sample.rows], np.array(means)[sample.classes]))


class ResampledLearner:
    """A learner that is fitted to the rows that a sampler draws."""

    def __init__(self, learner: Learner, sampler: Sampler) -> None:
        self.learner = learner
        self.sampler = sampler
        self.answers = tuple(question for question in learner.answers if question != VALUES)

    def prepare(self, data: TrainingData, goal: Request) -> ResampledContext:
        """Bin the whole table; samples are taken from it."""
        return ResampledContext(data, self.learner, self.sampler, goal)
