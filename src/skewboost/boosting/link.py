"""Links: from the score F of an ensemble to decisions and probabilities, as plain numbers.

A rule trains an ensemble and returns a link. A fitted model keeps the link and not the rule. Code that predicts, saves,
exports, plots or explains a model reads these numbers and nothing else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from skewboost.boosting.calibration import Calibrator
from skewboost.typing import Array

DECIMALS = 10  # scores of many classes are rounded, so that ties do not depend on the order of the rows


def logistic(t: Array) -> Array:
    """``1 / (1 + exp(-t))``."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-t)))


def log_logistic(t: Array) -> Array:
    """The logarithm of `logistic`, finite for any t."""
    return np.asarray(-np.logaddexp(0.0, -t))


class Link(ABC):
    """From the score F of an ensemble after some number of rounds to decisions and probabilities."""

    offset: float = 0.0  # F before the first round
    damping: float = 0.0  # β: a round adds exp(-|β F|) g instead of g

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """The number of scores per row."""

    def start(self, n_rows: int) -> Array:
        """Return F before the first round."""
        shape = n_rows if self.n_outputs == 1 else (n_rows, self.n_outputs)
        return np.full(shape, self.offset)

    def combine(self, F: Array, g: Array) -> Array:
        """Return F after a round that adds g."""
        return np.asarray(F + np.exp(-np.abs(self.damping * F)) * g) if self.damping else F + g

    @abstractmethod
    def decision(self, F: Array, n_rounds: int) -> Array:
        """Return the values of `decision_function`."""

    @abstractmethod
    def labels(self, F: Array, n_rounds: int, classes: Array) -> Array:
        """Return the values of `predict`."""

    @abstractmethod
    def log_proba(self, F: Array, n_rounds: int) -> Array:
        """Return the values of `predict_log_proba`, which are always finite."""

    def proba(self, F: Array, n_rounds: int) -> Array:
        """Return the values of `predict_proba`."""
        return np.exp(self.log_proba(F, n_rounds))

    @abstractmethod
    def log_likelihood(self, F: Array, target: Array, n_rounds: int) -> Array:
        """Return the log-likelihood of the labels with costs as frequencies, the default score of early stopping."""


@dataclass(frozen=True)
class TwoClasses(Link):
    r"""The link of two classes.

    The log-odds of the positive class, including the costs, are ``scale · F + pending_after(n)`` after n rounds. With a
    calibrator they are its log-odds plus `cost_offset`. The predicted class is the positive one where they are at least
    zero. The probability is the logistic function of the log-odds minus `cost_offset`, so it does not depend on the
    costs.

    Attributes
    ----------
    scale : float
        The log-odds per unit of F. It is 2 for the exponential loss, whose minimiser is half the log-odds.
    cost_offset : float
        What the costs (or balanced initial weights) add to the log-odds by the end of training.
    pending : float
        The part of `cost_offset` that is not in F before the first round.
    schedule : int or None
        The number of rounds over which the pending part enters F, in equal parts. None: it never does.
    calibrators : tuple of (int, Calibrator)
        Calibrators for several numbers of rounds. The one for the closest number is used.
    cost_ratio : float
        The cost of a miss divided by that of a false alarm. It is informative only; no formula uses it.
    positive : int
        The index of the positive class.
    """

    scale: float = 2.0
    offset: float = 0.0
    cost_offset: float = 0.0
    pending: float = 0.0
    schedule: int | None = None
    damping: float = 0.0
    calibrators: tuple[tuple[int, Calibrator], ...] = ()
    cost_ratio: float = 1.0
    positive: int = 1

    @property
    def n_outputs(self) -> int:
        """One score, for the positive class."""
        return 1

    def pending_after(self, n_rounds: int) -> float:
        """Return the part of the cost offset that is not in F after n rounds."""
        return self.pending if self.schedule is None else self.pending * (1.0 - n_rounds / self.schedule)

    def calibrator(self, n_rounds: int) -> Calibrator | None:
        """Return the calibrator for this number of rounds; None if the model is not calibrated."""
        if not self.calibrators:
            return None
        return min(self.calibrators, key=lambda known: abs(math.log(max(n_rounds, 0.5) / known[0])))[1]

    def log_odds(self, F: Array, n_rounds: int) -> Array:
        """Return the log-odds of the positive class, including the costs. The decision boundary is at zero."""
        calibrator = self.calibrator(n_rounds)
        if calibrator is not None:
            return calibrator.log_odds(F) + self.cost_offset
        pending = self.pending_after(n_rounds)
        t = self.scale * F
        return np.asarray(t + pending if pending else t)

    def score(self, F: Array, n_rounds: int) -> Array:
        """Return the log-odds on the scale of F; at least zero where the positive class is predicted."""
        if self.calibrators:
            return 0.5 * self.log_odds(F, n_rounds)
        pending = self.pending_after(n_rounds)
        return F + pending / self.scale if pending else F

    def decision(self, F: Array, n_rounds: int) -> Array:
        """Return the score with the sign that makes positive values predict the second class."""
        score = self.score(F, n_rounds)
        return score if self.positive == 1 else np.negative(score)

    def labels(self, F: Array, n_rounds: int, classes: Array) -> Array:
        """Return the positive class where the score is at least zero."""
        return np.asarray(classes[np.where(self.score(F, n_rounds) >= 0, self.positive, 1 - self.positive)])

    def _log_odds_of_classes(self, F: Array, n_rounds: int) -> Array:
        """Return the log-odds of each class without the costs; both, because 1 - P loses all digits if P is tiny."""
        t = self.log_odds(F, n_rounds) - self.cost_offset
        return np.column_stack((-t, t) if self.positive == 1 else (t, -t))

    def proba(self, F: Array, n_rounds: int) -> Array:
        """Return a column per class."""
        return logistic(self._log_odds_of_classes(F, n_rounds))

    def log_proba(self, F: Array, n_rounds: int) -> Array:
        """Return a column per class."""
        return log_logistic(self._log_odds_of_classes(F, n_rounds))

    def log_likelihood(self, F: Array, target: Array, n_rounds: int) -> Array:
        """Return the log-likelihood by the log-odds that include the costs."""
        odds = self.log_odds(F, n_rounds)
        return log_logistic(np.where(target, odds, -odds))


@dataclass(frozen=True)
class ManyClasses(Link):
    """The link of more than two classes. The class of the largest F is predicted, the first one in a tie.

    Attributes
    ----------
    costs : tuple of float
        The cost of misclassifying each class.
    softmax : bool
        Probabilities are in proportion to ``exp(2F)`` (True) or to ``1 / (1 + exp(-2F)) / cost`` (False).
    """

    costs: tuple[float, ...]
    softmax: bool

    @property
    def n_outputs(self) -> int:
        """One score per class."""
        return len(self.costs)

    def decision(self, F: Array, n_rounds: int) -> Array:
        """Return F, rounded so that it does not depend on the order of the rows."""
        return np.round(F, DECIMALS)

    def labels(self, F: Array, n_rounds: int, classes: Array) -> Array:
        """Return the class of the largest score."""
        return np.asarray(classes[np.argmax(self.decision(F, n_rounds), axis=1)])

    def log_proba(self, F: Array, n_rounds: int) -> Array:
        """Return a column per class. Probabilities sum to one."""
        F = self.decision(F, n_rounds)
        if self.softmax:
            return np.asarray(log_softmax(2.0 * F, axis=1))
        shares = log_logistic(2.0 * F) - np.log(self.costs)
        shares += 1e-9 * F / (1.0 + np.abs(F))  # keeps the order of scores where probabilities saturate
        return np.asarray(log_softmax(shares, axis=1))

    def log_likelihood(self, F: Array, target: Array, n_rounds: int) -> Array:
        """Return the log-likelihood of the true class, or of each (row, class) pair if there is no softmax."""
        if self.softmax:
            return np.asarray(self.log_proba(F, n_rounds)[np.arange(len(F)), target])
        return log_logistic(np.where(target, 2.0 * F, -2.0 * F))


@dataclass(frozen=True)
class Labels(Link):
    """The link of several binary labels per row. A label is predicted where its F is at least zero.

    Attributes
    ----------
    cost_offsets : tuple of float
        What the costs add to the log-odds of each label.
    """

    cost_offsets: tuple[float, ...]

    @property
    def n_outputs(self) -> int:
        """One score per label."""
        return len(self.cost_offsets)

    def decision(self, F: Array, n_rounds: int) -> Array:
        """Return F."""
        return F

    def labels(self, F: Array, n_rounds: int, classes: Array) -> Array:
        """Return an indicator matrix with a column per label."""
        return (F >= 0).astype(np.intp)

    def proba(self, F: Array, n_rounds: int) -> Array:
        """Return a column per label, for the label being present."""
        return logistic(2.0 * F - np.array(self.cost_offsets))

    def log_proba(self, F: Array, n_rounds: int) -> Array:
        """Return a column per label, for the label being present."""
        return log_logistic(2.0 * F - np.array(self.cost_offsets))

    def log_likelihood(self, F: Array, target: Array, n_rounds: int) -> Array:
        """Return the log-likelihood of each (row, label) pair."""
        return log_logistic(np.where(target, 2.0 * F, -2.0 * F))
