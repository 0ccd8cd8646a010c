"""What changes from round to round."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from skewboost.boosting.link import TwoClasses
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import EXAMPLES, TrainingSet, W, Y, itself
from skewboost.learners.learner import LearnerContext, WeightedPartition
from skewboost.metrics.costs import Costs
from skewboost.typing import Array

# ln of what a weight is multiplied by, given its label, what the round adds there, and its cost
LogFactor = Callable[[Array, Array, Array], Array]

# Weights may differ by exp(this) before their logarithms are kept instead; a double holds exp(708).
MAX_SPREAD = 600.0

SIGNS = np.array([[-1.0, 1.0]])  # of the classes: y where a factor is asked for per leaf and class

COST, F, FIRST, LOG_W = "cost", "F", "first w", "ln w"  # vectors of the training set, beside those it has by itself


@dataclass
class State:
    """Where the ensemble has brought the examples: numbers here, and everything of rows in the training set."""

    learner: LearnerContext
    n_rounds: int
    question: str  # the one of the rule's questions that the learner answers
    learning_rate: float = 1.0
    costs: Costs = field(default_factory=Costs)
    link: TwoClasses = field(default_factory=TwoClasses)  # what F means, as the rule says
    round: int = 0
    step: float = 1.0  # α of the last round, where a rule has one
    log_loss: float = 0.0  # ln of the training loss that the rule minimises, where that is a product of normalisers
    loss: float = 1.0  # that loss, or what the rule's `update` says
    stop_reason: str = ""
    n_resets: int = 0  # how often a round had to go back to the weights that the rule started from
    fitted: str = W  # the vector of weights that hypotheses are fitted under; they need not sum to one
    importance: str = EXAMPLES  # that of how many examples a row counts for, for the rules that fit responses
    shift: float | None = None  # of the log-odds by the costs, in the odds that LogitBoost keeps; None: in none yet
    logarithms: bool = False  # whether those of weights are kept, because they themselves would underflow
    _log_sum: float = field(init=False, default=0.0)  # of the weights whose logarithms are kept
    _spread: float = field(init=False, default=0.0)  # a bound on how far apart the logarithms of weights are
    _priced: Costs | None = field(init=False, default=None)  # the costs that are in the training set

    def __post_init__(self) -> None:
        self.rows: TrainingSet = self.learner.rows

    @cached_property
    def n(self) -> float:
        """N: the number of examples, Σ sample_weight."""
        return float(self.rows.sum(itself, (EXAMPLES,)))

    @cached_property
    def mean_importance(self) -> float:
        """How many examples an example counts for on average."""
        return float(self.rows.sum(itself, (self.importance,))) / self.n

    @cached_property
    def n_of_class(self) -> tuple[float, float]:
        """N- and N+."""
        return self._by_class(EXAMPLES)

    def log_ratio_of_weights(self) -> float:
        """``ln(W+ / W-)`` of the current weights."""
        tiny = float(np.finfo(np.float64).tiny)
        negative, positive = self._by_class(W)
        return math.log(max(positive, tiny) / max(negative, tiny))

    def _by_class(self, name: str) -> tuple[float, float]:
        """The sums of a vector over the negatives and over the positives."""
        negative, positive = self.rows.sum(lambda y, v: (np.where(y > 0, 0.0, v), np.where(y > 0, v, 0.0)), (Y, name))
        return negative, positive

    @property
    def cost(self) -> str:
        """The vector of what it costs to get each row wrong."""
        if self._priced is not self.costs:
            self._priced, costs = self.costs, self.costs
            if costs.each is None and costs.positive == costs.negative:
                self.rows.put(COST, costs.positive)
            elif costs.each is None:
                self.rows.map(lambda y: np.where(y > 0, costs.positive, costs.negative), (Y,), (COST,))
            else:
                self.rows.put(COST, costs.each)
        return COST

    # -------------------------------------------------------------------- weights

    def assign(self, function: Callable[..., Array], inputs: Sequence[str]) -> float:
        """Make a function of vectors the weights, normalised; returns their sum before that."""
        self.logarithms, self._spread = False, 0.0
        return self.rows.assign(function, inputs)

    def keep_first_weights(self) -> None:
        """Note the weights that training starts from, for learners whose rows are drawn."""
        self.rows.map(itself, (W,), (FIRST,))

    def reset(self) -> None:
        """Go back to the weights that training started from; the normalisers are multiplied up from there."""
        self.assign(itself, (FIRST,))
        self.log_loss = 0.0
        self.n_resets += 1

    def sums(self, h: WeightedPartition, of_cost: Callable[[Array], Array]) -> Array:
        """``Σ w of_cost(c)`` per leaf and class."""
        if self.costs.each is None:
            return np.asarray(h.class_weights * of_cost(self.costs.of_class))
        self.rows.map(of_cost, (self.cost,), ("of cost",))
        return self.rows.sums(h.partition, "of cost")

    def reweight(self, h: WeightedPartition | None, term: Term, log_factor: LogFactor) -> None:
        """Multiply the weights by ``exp(log_factor(y, g, c))``, where g is what the round adds, and normalise.

        If g is constant on the leaves of `h`, and costs on classes, so is the factor on each (leaf, class), and the
        engine needs no pass over the rows for it.
        """
        values = getattr(term, "values", None)
        if h is not None and values is not None and self.costs.each is None:
            logs = log_factor(SIGNS, values[:, None], self.costs.of_class)
            if self.move_leaves(h, logs):
                return
        self.rows.evaluate(term, "g")
        self.move_rows(log_factor, (Y, "g", self.cost))

    def move_leaves(self, h: WeightedPartition, logs: Array) -> bool:
        """Multiply the weights of each (leaf, class) by ``exp(logs)`` and normalise; not where some would underflow."""
        if self.logarithms:
            return False
        if logs.shape != h.class_weights.shape:
            logs = np.broadcast_to(logs, h.class_weights.shape)
        each = logs.ravel().tolist()  # of so few numbers Python makes less ado than NumPy
        here = [log for log, w in zip(each, h.class_weights.ravel().tolist()) if w > 0.0]
        top, low = max(here), min(here)
        if not self._stays_within(top - low):
            return False
        factors = np.array([math.exp(log - top) if log < top else 1.0 for log in each])
        total = self.learner.reweight(h.partition, factors.reshape(logs.shape))
        self._note(top + math.log(total))
        return True

    def _stays_within(self, spread: float) -> bool:
        """Whether weights can be multiplied by factors that far apart (as logarithms) without losing any."""
        if self._spread + spread > MAX_SPREAD:
            largest, smallest = self.rows.max(itself, (W,)), -self.rows.max(np.negative, (W,))
            self._spread = math.log(largest / max(smallest, 1e-307))
        self._spread += spread
        return self._spread <= MAX_SPREAD

    def move_rows(self, log_factor: Callable[..., Array], inputs: Sequence[str]) -> None:
        """Multiply every weight by its own factor, by way of their logarithms.

        These are not normalised: the logarithm of their sum is kept beside them.
        """
        rows = self.rows
        if not self.logarithms:
            rows.map(lambda w: np.log(np.maximum(w, 1e-307)), (W,), (LOG_W,))
            self.logarithms, self._log_sum = True, 0.0
        rows.map(lambda log_w, *given: log_w + log_factor(*given), (LOG_W, *inputs), (LOG_W,))
        top = rows.max(itself, (LOG_W,))
        log_sum = top + math.log(rows.assign(lambda log_w: np.exp(log_w - top), (LOG_W,)))
        self._note(log_sum - self._log_sum)
        self._log_sum = log_sum

    def _note(self, log_normaliser: float) -> None:
        self.log_loss += log_normaliser
        self.loss = math.exp(min(self.log_loss, 700.0))
