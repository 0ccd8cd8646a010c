"""Weights of the families: logistic regression on their out-of-fold scores, shrunk towards equal weights."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

from skewboost.typing import Array

TO_EQUAL = 0.3  # the strength of the shrinkage: the loss, in examples, of weights that differ by 1
TO_ONE = 0.2  # the same for the sum of the weights, which then is a temperature


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
