"""The state of training, which changes from round to round."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from skewboost.boosting.link import TwoClasses
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import EXAMPLES, TrainingSet, W, Y, itself
from skewboost.learners.learner import LabelHypothesis, LearnerContext
from skewboost.metrics.costs import Costs
from skewboost.typing import Array

# The logarithm of the factor of a weight, given the label, what the round adds to F, and the cost
LogFactor = Callable[[Array, Array, Array], Array]

# If weights differ by a larger factor than exp(600), their logarithms are kept instead; a double holds exp(708).
MAX_SPREAD = 600.0

SIGNS = np.array([[-1.0, 1.0]])  # y of the two classes, to compute factors per leaf and class

COST, F, FIRST, LOG_W = "cost", "F", "first w", "ln w"  # further vectors of the training set


def delta_of(smoothing: float | None, n: float) -> float:
    """Return what is added to the class weights of a leaf, which sum to one over all leaves; by default 1/n."""
    return 1.0 / n if smoothing is None else smoothing


@dataclass
class State:
    """The state of training. It holds numbers; everything that has a value per row is in the training set `rows`."""

    learner: LearnerContext
    n_rounds: int
    question: str  # which of the rule's questions the learner answers
    learning_rate: float = 1.0
    smoothing: float | None = None  # what is added to the class weights of a leaf; None: 1/N
    costs: Costs = field(default_factory=Costs)
    link: TwoClasses = field(default_factory=TwoClasses)  # from F to decisions and probabilities
    round: int = 0
    step: float = 1.0  # α of the last round, where a rule has one
    log_loss: float = 0.0  # ln of the training loss, where that is the product of the normalisers of the weights
    loss: float = 1.0  # the training loss
    stop_reason: str = ""
    n_resets: int = 0  # how often the weights were reset to the initial ones in this round
    fitted: str = W  # the vector of weights that hypotheses are fitted with; they need not sum to one
    importance: str = EXAMPLES  # the vector of how many examples a row counts for, in rules that fit responses
    shift: float | None = None  # the cost offset that is in LogitBoost's stored odds; None: they are not stored yet
    logarithms: bool = False  # whether the logarithms of the weights are kept, because weights would underflow
    _log_sum: float = field(init=False, default=0.0)  # the logarithm of the sum of these weights
    _spread: float = field(init=False, default=0.0)  # a bound on the range of the logarithms of the weights
    _stored_costs: Costs | None = field(init=False, default=None)  # the costs that are in the training set

    def __post_init__(self) -> None:
        self.rows: TrainingSet = self.learner.rows

    @cached_property
    def n(self) -> float:
        """N: the number of examples, Σ sample_weight."""
        return float(self.rows.sum(itself, (EXAMPLES,)))

    @cached_property
    def mean_importance(self) -> float:
        """The mean importance of an example."""
        return float(self.rows.sum(itself, (self.importance,))) / self.n

    @cached_property
    def n_of_class(self) -> tuple[float, float]:
        """The number of negative and of positive examples."""
        return self._by_class(EXAMPLES)

    @property
    def delta(self) -> float:
        """δ, which is added to the class weights of a leaf: 1/N by default."""
        return delta_of(self.smoothing, self.n)

    def log_ratio_of_weights(self) -> float:
        """``ln(W+ / W-)`` of the current weights."""
        tiny = float(np.finfo(np.float64).tiny)
        negative, positive = self._by_class(W)
        return math.log(max(positive, tiny) / max(negative, tiny))

    def _by_class(self, name: str) -> tuple[float, float]:
        """Return the sums of a vector over the negative and over the positive rows."""
        negative, positive = self.rows.sum(lambda y, v: (np.where(y > 0, 0.0, v), np.where(y > 0, v, 0.0)), (Y, name))
        return negative, positive

    @property
    def cost(self) -> str:
        """The name of the vector of costs."""
        if self._stored_costs is not self.costs:
            self._stored_costs, costs = self.costs, self.costs
            if costs.each is None and costs.positive == costs.negative:
                self.rows.put(COST, costs.positive)
            elif costs.each is None:
                self.rows.map(lambda y: np.where(y > 0, costs.positive, costs.negative), (Y,), (COST,))
            else:
                self.rows.put(COST, costs.each)
        return COST

    # -------------------------------------------------------------------- weights

    def assign(self, function: Callable[..., Array], inputs: Sequence[str]) -> float:
        """Set the weights to a function of vectors, normalise them, and return their sum before normalisation."""
        self.logarithms, self._spread = False, 0.0
        return self.rows.assign(function, inputs)

    def keep_first_weights(self) -> None:
        """Keep the initial weights, to which boosting by resampling may have to return."""
        self.rows.map(itself, (W,), (FIRST,))

    def reset(self) -> None:
        """Reset the weights to the initial ones. The product of normalisers starts again as well."""
        self.assign(itself, (FIRST,))
        self.log_loss = 0.0
        self.n_resets += 1

    def sums(self, h: LabelHypothesis, of_cost: Callable[[Array], Array]) -> Array:
        """``Σ w of_cost(c)`` per leaf and class."""
        if self.costs.each is None:
            return np.asarray(h.class_weights * of_cost(self.costs.of_class))
        self.rows.map(of_cost, (self.cost,), ("of cost",))
        return self.rows.sums(h.partition, "of cost")

    def reweight(self, h: Any, term: Term, log_factor: LogFactor) -> None:
        """Multiply the weights by ``exp(log_factor(y, g, c))``, where g is what the round adds to F, and normalise.

        If g is constant on the leaves of `h` and the costs are constant on the classes, then the factor is constant on
        each (leaf, class), and the engine needs no pass over the rows.
        """
        values = getattr(term, "values", None)
        if isinstance(h, LabelHypothesis) and values is not None and self.costs.each is None:
            logs = log_factor(SIGNS, values[:, None], self.costs.of_class)
            if self.move_leaves(h, logs):
                return
        self.rows.evaluate(term, "g")
        self.move_rows(log_factor, (Y, "g", self.cost))

    def move_leaves(self, h: LabelHypothesis, logs: Array) -> bool:
        """Multiply the weights of each (leaf, class) by ``exp(logs)`` and normalise.

        Returns False, without a change, if some weights would underflow.
        """
        if self.logarithms:
            return False
        if logs.shape != h.class_weights.shape:
            logs = np.broadcast_to(logs, h.class_weights.shape)
        each = logs.ravel().tolist()  # faster than NumPy for so few numbers
        here = [log for log, w in zip(each, h.class_weights.ravel().tolist()) if w > 0.0]
        top, low = max(here), min(here)
        if not self._stays_within(top - low):
            return False
        factors = np.array([math.exp(log - top) if log < top else 1.0 for log in each])
        total = self.learner.reweight(h.partition, factors.reshape(logs.shape))
        self._note(top + math.log(total))
        return True

    def _stays_within(self, spread: float) -> bool:
        """Whether no weight underflows if the factors differ by up to ``exp(spread)``."""
        if self._spread + spread > MAX_SPREAD:
            largest, smallest = self.rows.max(itself, (W,)), -self.rows.max(np.negative, (W,))
            self._spread = math.log(largest / max(smallest, 1e-307))
        self._spread += spread
        return self._spread <= MAX_SPREAD

    def move_rows(self, log_factor: Callable[..., Array], inputs: Sequence[str]) -> None:
        """Multiply every weight by its own factor, in logarithms.

        The logarithms are not normalised; the logarithm of their sum is kept.
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
