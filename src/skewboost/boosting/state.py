"""What changes from round to round."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from skewboost.costs import Costs
from skewboost.engine.boundary import Array
from skewboost.engine.scoring import Term
from skewboost.learners.base import LabelHypothesis, Opened

# ln of what a weight is multiplied by, given its label, what the round adds there, and its cost
LogFactor = Callable[[Array, Array, Array], Array]

# Weights may differ by exp(this) before their logarithms are kept instead.
MAX_SPREAD = 300.0


@dataclass
class State:
    """The examples and where the ensemble has brought them."""

    learner: Opened
    y: Array  # -1 and +1
    examples: Array  # sample weights: how many examples a row stands for
    n_rounds: int
    question: str  # the one of the rule's questions that the learner answers
    learning_rate: float = 1.0
    costs: Costs = field(default_factory=Costs)
    round: int = 0
    step: float = 1.0  # α of the last round, where a rule has one
    log_loss: float = 0.0  # ln of the training loss that the rule minimises, where that is a product of normalisers
    loss: float = 1.0  # that loss, or what the rule's `update` says
    stop_reason: str = ""
    first_weights: Array = field(init=False)  # those that the rule started from
    n_resets: int = 0  # how often a round had to go back to them
    working_weights: Array | None = field(init=False, default=None)  # of the rules that fit responses by others
    importance: Array = field(init=False)  # how many examples a row counts for, for the rules that fit responses
    F: Array = field(init=False)  # the ensemble on every row, for the rules that keep it
    voted: Array = field(init=False)  # Σ|g| on every row, and Σ|g| w: for the rules with soft margins
    mistrust: Array = field(init=False)
    log_weights: Array | None = field(init=False, default=None)  # kept where weights themselves would underflow
    _spread: float = field(init=False, default=0.0)  # a bound on how far apart the logarithms of weights are

    def __post_init__(self) -> None:
        engine = self.learner.data.engine
        self.y, self.examples = engine.array(self.y), engine.array(self.examples)
        self.importance = self.examples
        self.F = engine.array(np.zeros(len(self.y)))

    @cached_property
    def n(self) -> float:
        """N: the number of examples, Σ sample_weight."""
        return float(self.examples.sum())

    @cached_property
    def n_of_class(self) -> Array:
        """N- and N+."""
        return np.array([float(self.examples[self.y == sign].sum()) for sign in (-1.0, 1.0)])

    @property
    def weights(self) -> Array:
        """The current weights; they sum to one."""
        return self.learner.sample.weights

    def log_ratio_of_weights(self) -> float:
        """``ln(W+ / W-)`` of the current weights."""
        weights, tiny = self.weights, np.finfo(np.float64).tiny
        positive, negative = (max(float(weights[self.y == sign].sum()), tiny) for sign in (1.0, -1.0))
        return math.log(positive / negative)

    @property
    def fitted_weights(self) -> Array:
        """Those that a hypothesis was just fitted under; they sum to one."""
        if self.working_weights is None:
            return self.weights
        return np.asarray(self.working_weights / self.working_weights.sum())

    @cached_property
    def cost_of_rows(self) -> Array:
        """What it costs to get each row wrong."""
        return self.learner.data.engine.array(self.costs.of_rows(self.y > 0))

    @cached_property
    def relative_costs(self) -> Array:
        """The cost of each row relative to the mean of its class."""
        return self.cost_of_rows / np.where(self.y > 0, self.costs.positive, self.costs.negative)

    def assign(self, weights: Array) -> None:
        """Replace the weights; they are normalised."""
        self.learner.sample.assign(weights)
        self.log_weights, self._spread = None, 0.0

    def reset(self) -> None:
        """Go back to the weights that training started from; the normalisers are multiplied up from there."""
        self.assign(self.first_weights)
        self.log_loss = 0.0
        self.n_resets += 1

    def add(self, term: Term) -> Array:
        """Keep F up to date; returns what the term adds to it."""
        g = term.on(self.learner.view)
        self.F += g
        return g

    def sums(self, h: LabelHypothesis, of_cost: Callable[[Array], Array]) -> Array:
        """``Σ w of_cost(c)`` per leaf and class."""
        if self.costs.each is None:
            return np.asarray(h.class_weights * of_cost(self.costs.of_class))
        n = len(h.class_weights)
        leaf = h.term(np.arange(float(n))).on(self.learner.view).astype(np.intp)
        cell = 2 * leaf + (self.y > 0)
        return np.bincount(cell, self.weights * of_cost(self.cost_of_rows), minlength=2 * n).reshape(n, 2)

    def reweight(self, h: LabelHypothesis | None, term: Term, log_factor: LogFactor) -> None:
        """Multiply the weights by ``exp(log_factor(y, g, c))``, where g is what the round adds, and normalise.

        If g is constant on the leaves of `h`, and costs on classes, so is the factor on each (leaf, class), and the
        engine needs no pass over the rows for it.
        """
        values = getattr(term, "values", None)
        if h is not None and values is not None and self.costs.each is None:
            shape = (len(values), 2)
            y, g = np.broadcast_to(np.array([-1.0, 1.0]), shape), values[:, None]
            if self.move_leaves(h, np.broadcast_to(log_factor(y, g, self.costs.of_class), shape)):
                return
        self.move_rows(log_factor(self.y, term.on(self.learner.view), self.cost_of_rows))

    def move_leaves(self, h: LabelHypothesis, logs: Array) -> bool:
        """Multiply the weights of each (leaf, class) by ``exp(logs)`` and normalise; not where some would underflow."""
        if self.log_weights is not None:
            return False
        here = logs[h.class_weights > 0]
        top, low = float(here.max()), float(here.min())
        if not self._stays_within(top - low):
            return False
        total = h.reweight(self.learner.sample, np.exp(np.minimum(logs - top, 0.0)))
        self._note(top + math.log(total))
        return True

    def _stays_within(self, spread: float) -> bool:
        """Whether weights can be multiplied by factors that far apart (as logarithms) without losing any."""
        if self._spread + spread > MAX_SPREAD:
            weights = self.weights
            self._spread = math.log(float(weights.max()) / max(float(weights.min()), 1e-307))
        self._spread += spread
        return self._spread <= MAX_SPREAD

    def move_rows(self, logs: Array) -> None:
        """Multiply every weight by its own factor, by way of their logarithms."""
        if self.log_weights is None:
            self.log_weights = np.log(np.maximum(self.weights, 1e-307))
        moved = self.log_weights + logs
        top = float(moved.max())
        weights = np.exp(moved - top)
        total = top + math.log(float(weights.sum()))
        self.log_weights = moved - total
        self.learner.sample.assign(weights)
        self._note(total)

    def _note(self, log_normaliser: float) -> None:
        self.log_loss += log_normaliser
        self.loss = math.exp(min(self.log_loss, 700.0))
