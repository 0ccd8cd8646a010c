"""Weights of the families: logistic regression on their out-of-fold scores, shrunk towards equal weights.

A few rows can be separated by chance, out of fold, too, and then the weighted score is sure of itself and wrong. So it
is believed only as far as the held-out rows pay for the risk: that is what the log-loss rises by if the score says
nothing about the classes, the divergence of its probabilities from the class frequencies. Without any evidence a small
risk is taken, so that the rows still have an order.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

from skewboost.typing import Array

TO_EQUAL = 0.3  # the strength of the shrinkage: the loss, in examples, of weights that differ by 1
TO_ONE = 0.2  # the same for the sum of the weights, which then is a temperature
# What the decrease of the held-out loss must exceed, beside one standard error: the choice of weights and rounds alone
# decreases it by about …
BY_CHOICE = 2.0
# … and the risk counts as so many examples. (With these values hardly a draw of tests/meta/small_tables.py is predicted
# worse than by the class frequencies, while 25 real tables of 124 to 2653 rows do not change.)
AT_RISK = 50.0
# Whatever the risk, this decrease per output is enough: a score that says nothing has it with a probability of about
# exp(-20). Without it separable classes of 200 rows were not believed to be separable.
ENOUGH = 20.0
STEPS = np.linspace(1.0, 0.0, 21)[:-1]  # of the belief in the score
BET = 0.01  # the risk that is taken without evidence, as a share of the log-loss of the class frequencies
FEW = 10.0  # no more than n / (n + FEW) is bet, given n units of the rarest class: models of folds knew fewer of them
SMALL_STEPS = np.geomspace(1.0, 1e-4, 81)


def log_loss(scores: Array, classes: Array) -> Array:
    """Return the log-loss of every row; scores are ``[row, output]``, one output for two classes."""
    if scores.shape[1] == 1:
        return np.logaddexp(0.0, np.where(classes == 1, -scores[:, 0], scores[:, 0]))
    return np.asarray(-log_softmax(scores, axis=1)[np.arange(len(classes)), classes])


def fit_weights(scores: Array, classes: Array, weights: Array) -> tuple[Array, Array]:
    """Return the weight of every family, none below zero, and what is added to each output.

    `scores` are ``[family, row, output]``. The weights minimise the log-loss of their weighted sum plus a penalty.
    """
    n, _, K = scores.shape
    equal = np.full(n, 1.0 / n)
    own = (classes == 1)[:, None] if K == 1 else classes[:, None] == np.arange(K)

    def penalised(at: Array) -> tuple[float, Array]:
        w, b = at[:n], at[n:]
        S = np.tensordot(w, scores, axes=1) + b
        p = expit(S) if K == 1 else softmax(S, axis=1)
        slope = weights[:, None] * (p - own)
        off, excess = w - equal, w.sum() - 1.0
        loss = (weights * log_loss(S, classes)).sum()
        loss += TO_EQUAL * n * (off**2).sum() + TO_ONE * excess**2 + 0.5 * TO_EQUAL * (b**2).sum()
        to_w = np.tensordot(scores, slope, axes=([1, 2], [0, 1])) + 2.0 * TO_EQUAL * n * off + 2.0 * TO_ONE * excess
        return float(loss), np.concatenate((to_w, slope.sum(axis=0) + TO_EQUAL * b))

    start = np.concatenate((equal, np.zeros(K)))
    bounds = [(0.0, None)] * n + [(None, None)] * K
    found = minimize(penalised, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 200}).x
    return found[:n], found[n:]


def belief(scores: Array, constant: Array, classes: Array, weights: Array, units: Array) -> float:
    """Return the largest t in [0, 1] for which the held-out rows support t · score + (1 - t) · constant; 0 if none.

    `constant` are the scores of the class frequencies. Independent units count as one example each.
    """
    _, of_row = np.unique(units, return_inverse=True)
    n_units = len(np.unique(of_row))
    shares = weights / weights.sum()

    def losses(t: float) -> Array:
        logs = _log_probabilities(t * scores + (1.0 - t) * constant)
        return n_units * np.bincount(of_row, -logs[np.arange(len(classes)), classes] * shares)

    before, enough = losses(0.0), ENOUGH * scores.shape[1]
    for t in STEPS:
        gains = before - losses(t)
        evidence = gains.sum() - np.sqrt(n_units) * gains.std() - BY_CHOICE
        if evidence >= 0.0 and evidence >= min(enough, AT_RISK * risk(t, scores, constant, shares)):
            return float(t)
    return 0.0


def bet(scores: Array, constant: Array, weights: Array, fewest: int) -> float:
    """Return the largest t for which the risk is small, given the number of units of the rarest class."""
    logs = _log_probabilities(constant[None, :])
    most, shares = -BET * float((np.exp(logs) * logs).sum()), weights / weights.sum()
    small = (t for t in SMALL_STEPS if risk(t, scores, constant, shares) <= most)
    return min(float(next(small, 0.0)), fewest / (fewest + FEW))


def risk(t: float, scores: Array, constant: Array, shares: Array) -> float:
    """Return what the log-loss rises by if t · score + (1 - t) · constant says nothing about the classes."""
    frequencies = _log_probabilities(constant[None, :])
    logs = _log_probabilities(t * scores + (1.0 - t) * constant)
    return float(shares @ (np.exp(frequencies) * (frequencies - logs)).sum(axis=1))


def _log_probabilities(scores: Array) -> Array:
    """Return the logarithms of the probabilities of the classes; one output is the log-odds of class 1."""
    if scores.shape[1] == 1:
        scores = np.column_stack((np.zeros(len(scores)), scores))
    return np.asarray(log_softmax(scores, axis=1))
