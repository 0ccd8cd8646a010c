"""Decoding: from the predictions for the columns of a code to a score for each class.

References
----------
.. [allwein2000] E. L. Allwein, R. E. Schapire, Y. Singer, "Reducing multiclass to binary: a unifying approach for
   margin classifiers", Journal of Machine Learning Research 1 (2000) 113-141.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from skewboost.typing import Array

MIN_PROBABILITY = 1e-12  # probabilities of bits are clipped to this


def bits(estimator: Any, X: Any) -> Array:
    """The predicted bits as -1 and +1."""
    return 2.0 * np.asarray(estimator.predict(X)) - 1.0


def probability(estimator: Any, X: Any) -> Array:
    """The probability that the bit is 1."""
    return np.asarray(estimator.predict_proba(X))[:, 1]


def margin(estimator: Any, X: Any) -> Array:
    """The decision function, or half the log-odds of a classifier without one."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    p = np.clip(probability(estimator, X), MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
    return np.asarray(0.5 * (np.log(p) - np.log1p(-p)))


def decode(predictions: Array, code: Array, decoding: str) -> Array:
    """Scores ``[row, class]`` of the codewords, from predictions ``[row, column]``; the largest is the nearest."""
    signs = code.astype(np.float64)
    if decoding == "hamming":  # bits -1 and +1: (L - M b)/2 disagree, an entry of 0 counts one half
        return np.asarray(-(code.shape[1] - predictions @ signs.T) / 2.0)
    if decoding == "probability":  # an entry of 0: ln ½
        p = np.clip(predictions, MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
        unknown = (code == 0).sum(axis=1) * np.log(0.5)
        return np.asarray(np.log(p) @ (signs > 0).T + np.log1p(-p) @ (signs < 0).T + unknown)
    scores = np.empty((len(predictions), len(code)))
    for k, word in enumerate(signs):
        z = predictions * word
        scores[:, k] = -logsumexp(-z, axis=1) if decoding == "exponential" else -np.logaddexp(0.0, -2.0 * z).sum(axis=1)
    return scores
