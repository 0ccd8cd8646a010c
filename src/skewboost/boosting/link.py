"""What scores mean: from the F of an ensemble to decisions and probabilities, as plain numbers.

A rule trains an ensemble and says, with a link, what its F means. A fitted model keeps the link and not the rule. Code
that predicts, saves, exports, draws or explains a model reads these numbers and nothing else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from skewboost.boosting.calibration import Calibrator
from skewboost.typing import Array

DECIMALS = 10  # of the scores of many classes: classes that tie must do so whatever the order of the rows is


def logistic(t: Array) -> Array:
    """``1 / (1 + exp(-t))``."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-t)))


def log_logistic(t: Array) -> Array:
    """Its logarithm, finite for any t."""
    return np.asarray(-np.logaddexp(0.0, -t))


class Link(ABC):
    """What the F of an ensemble means after some number of rounds."""

    offset: float = 0.0  # F before the first round
    damping: float = 0.0  # β: a round adds exp(-|β F|) g instead of g

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """How many scores a row has."""

    def start(self, n_rows: int) -> Array:
        """F before the first round."""
        shape = n_rows if self.n_outputs == 1 else (n_rows, self.n_outputs)
        return np.full(shape, self.offset)

    def combine(self, F: Array, g: Array) -> Array:
        """F after one more round, which adds g."""
        return np.asarray(F + np.exp(-np.abs(self.damping * F)) * g) if self.damping else F + g

    @abstractmethod
    def decision(self, F: Array, n_rounds: int) -> Array:
        """What `decision_function` returns."""

    @abstractmethod
    def labels(self, F: Array, n_rounds: int, classes: Array) -> Array:
        """What `predict` returns."""

    @abstractmethod
    def log_proba(self, F: Array, n_rounds: int) -> Array:
        """What `predict_log_proba` returns: finite, however sure the ensemble is."""

    def proba(self, F: Array, n_rounds: int) -> Array:
        """What `predict_proba` returns."""
        return np.exp(self.log_proba(F, n_rounds))

    @abstractmethod
    def log_likelihood(self, F: Array, target: Array, n_rounds: int) -> Array:
        """How likely the truth is, with costs as frequencies: what early stopping watches by default."""


@dataclass(frozen=True)
class TwoClasses(Link):
    r"""The link of two classes.

    With the costs in them, the log-odds of the positive class after n rounds are ``scale · F + pending_after(n)``, or
    what the calibrator makes of F plus `cost_offset`. The decision is positive where these are. The probability is
    logistic in the log-odds less `cost_offset`: it is that of classes as frequent as they were in training.

    Attributes
    ----------
    scale : float
        How fast the log-odds rise with F. The minimiser of the exponential loss is half the log-odds.
    cost_offset : float
        What the costs (or balanced initial weights) have added to the log-odds once all rounds are done.
    pending : float
        How much of that is not in F when training begins.
    schedule : int or None
        Over how many rounds the pending part comes in, an equal share in each. None: it never does.
    calibrators : tuple of (int, Calibrator)
        Numbers of rounds, and what scores meant on held-out rows after so many. The closest number is used.
    cost_ratio : float
        What a miss costs, in false alarms, as training was told. For people to read; no formula needs it.
    positive : int
        The place of the positive class among the two.
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
        """One score, of the positive class."""
        return 1

    def pending_after(self, n_rounds: int) -> float:
        """What of the costs is not in F after so many rounds, on the scale of log-odds."""
        return self.pending if self.schedule is None else self.pending * (1.0 - n_rounds / self.schedule)

    def calibrator(self, n_rounds: int) -> Calibrator | None:
        """What scores mean after so many rounds; None if nothing was calibrated."""
        if not self.calibrators:
            return None
        return min(self.calibrators, key=lambda known: abs(math.log(max(n_rounds, 0.5) / known[0])))[1]

    def log_odds(self, F: Array, n_rounds: int) -> Array:
        """Log-odds of the positive class with the whole costs in them: zero where the decision changes."""
        calibrator = self.calibrator(n_rounds)
        if calibrator is not None:
            return calibrator.log_odds(F) + self.cost_offset
        pending = self.pending_after(n_rounds)
        t = self.scale * F
        return np.asarray(t + pending if pending else t)

    def score(self, F: Array, n_rounds: int) -> Array:
        """The log-odds on the scale of F; at least zero where the positive class is predicted."""
        if self.calibrators:
            return 0.5 * self.log_odds(F, n_rounds)
        pending = self.pending_after(n_rounds)
        return F + pending / self.scale if pending else F

    def decision(self, F: Array, n_rounds: int) -> Array:
        """The score; positive values speak for the second class."""
        score = self.score(F, n_rounds)
        return score if self.positive == 1 else np.negative(score)

    def labels(self, F: Array, n_rounds: int, classes: Array) -> Array:
        """The positive class wherever the score is not negative."""
        return np.asarray(classes[np.where(self.score(F, n_rounds) >= 0, self.positive, 1 - self.positive)])

    def _each(self, F: Array, n_rounds: int) -> Array:
        """Log-odds of each class. One column alone would not do: of P = 1 - 1e-20 only 1 - P is left."""
        t = self.log_odds(F, n_rounds) - self.cost_offset
        return np.column_stack((-t, t) if self.positive == 1 else (t, -t))

    def proba(self, F: Array, n_rounds: int) -> Array:
        """Of each class."""
        return logistic(self._each(F, n_rounds))

    def log_proba(self, F: Array, n_rounds: int) -> Array:
        """Of each class."""
        return log_logistic(self._each(F, n_rounds))

    def log_likelihood(self, F: Array, target: Array, n_rounds: int) -> Array:
        """By the log-odds with the costs in them."""
        odds = self.log_odds(F, n_rounds)
        return log_logistic(np.where(target, odds, -odds))


@dataclass(frozen=True)
class ManyClasses(Link):
    """The link of more than two classes, of which the largest F wins, and the first of those that tie.

    Attributes
    ----------
    costs : tuple of float
        What it costs to get each class wrong.
    softmax : bool
        Probabilities are in proportion to ``exp(2F)`` (True) or to ``1 / (1 + exp(-2F)) / cost`` (False).
    """

    costs: tuple[float, ...]
    softmax: bool

    @property
    def n_outputs(self) -> int:
        """A score per class."""
        return len(self.costs)

    def decision(self, F: Array, n_rounds: int) -> Array:
        """F, without the digits that depend on the order of the rows."""
        return np.round(F, DECIMALS)

    def labels(self, F: Array, n_rounds: int, classes: Array) -> Array:
        """The class of the largest score."""
        return np.asarray(classes[np.argmax(self.decision(F, n_rounds), axis=1)])

    def log_proba(self, F: Array, n_rounds: int) -> Array:
        """Of each class; they sum to one."""
        F = self.decision(F, n_rounds)
        if self.softmax:
            return np.asarray(log_softmax(2.0 * F, axis=1))
        shares = log_logistic(2.0 * F) - np.log(self.costs)
        shares += 1e-9 * F / (1.0 + np.abs(F))  # where several are as good as 1, the largest score has the largest
        return np.asarray(log_softmax(shares, axis=1))

    def log_likelihood(self, F: Array, target: Array, n_rounds: int) -> Array:
        """Of the true class; or of each class being the one or not, as training sees it."""
        if self.softmax:
            return np.asarray(self.log_proba(F, n_rounds)[np.arange(len(F)), target])
        return log_logistic(np.where(target, 2.0 * F, -2.0 * F))


@dataclass(frozen=True)
class Labels(Link):
    """The link of several labels per row, each of which is on where its F is not negative.

    Attributes
    ----------
    cost_offsets : tuple of float
        What costs have added to the log-odds of each label.
    """

    cost_offsets: tuple[float, ...]

    @property
    def n_outputs(self) -> int:
        """A score per label."""
        return len(self.cost_offsets)

    def decision(self, F: Array, n_rounds: int) -> Array:
        """F."""
        return F

    def labels(self, F: Array, n_rounds: int, classes: Array) -> Array:
        """A column per label: 1 where it is on."""
        return (F >= 0).astype(np.intp)

    def proba(self, F: Array, n_rounds: int) -> Array:
        """Of each label being on."""
        return logistic(2.0 * F - np.array(self.cost_offsets))

    def log_proba(self, F: Array, n_rounds: int) -> Array:
        """Of each label being on."""
        return log_logistic(2.0 * F - np.array(self.cost_offsets))

    def log_likelihood(self, F: Array, target: Array, n_rounds: int) -> Array:
        """Of every label being on or off."""
        return log_logistic(np.where(target, 2.0 * F, -2.0 * F))
