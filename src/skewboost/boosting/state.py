"""What changes from round to round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from skewboost.engine.boundary import Array
from skewboost.engine.scoring import Term
from skewboost.learners.base import LabelHypothesis, Opened

Factor = Callable[[Array, Array], Array]


@dataclass
class State:
    """The examples and where the ensemble has brought them."""

    learner: Opened
    y: Array  # -1 and +1
    examples: Array  # sample weights: how many examples a row stands for
    n_rounds: int
    question: str  # the one of the rule's questions that the learner answers
    learning_rate: float = 1.0
    round: int = 0
    normaliser: float = 1.0  # Z: the sum of the weights before the last normalisation
    loss: float = 1.0  # the training loss that the rule minimises, as its `update` keeps it
    stop_reason: str = ""
    F: Array = field(init=False)  # the ensemble on every row, for the rules that keep it

    def __post_init__(self) -> None:
        engine = self.learner.data.engine
        self.y, self.examples = engine.array(self.y), engine.array(self.examples)
        self.F = engine.array(np.zeros(len(self.y)))

    @cached_property
    def n(self) -> float:
        """N: the number of examples, Σ sample_weight."""
        return float(self.examples.sum())

    @property
    def weights(self) -> Array:
        """The current weights; they sum to one."""
        return self.learner.sample.weights

    def add(self, term: Term) -> Array:
        """Keep F up to date; returns what the term adds to it."""
        g = term.on(self.learner.view)
        self.F += g
        return g

    def reweight(self, h: LabelHypothesis | None, term: Term, factor: Factor) -> None:
        """Multiply the weights by ``factor(y, g)``, where g is what the round adds, and normalise.

        If g is constant on the leaves of `h`, so is the factor on each (leaf, class), and the engine needs no pass
        over the rows for it.
        """
        sample = self.learner.sample
        values = getattr(term, "values", None)
        if h is not None and values is not None:
            both = np.broadcast_to(np.array([-1.0, 1.0]), (len(values), 2))
            self.normaliser = h.reweight(sample, factor(both, values[:, None]))
        else:
            moved = self.weights * factor(self.y, term.on(self.learner.view))
            self.normaliser = float(moved.sum())
            sample.assign(moved)
        self.loss *= self.normaliser
