"""From the answers of a code's columns to how near each codeword is.

References
----------
.. [1] E. L. Allwein, R. E. Schapire, Y. Singer, "Reducing multiclass to binary: a unifying approach for margin
   classifiers", Journal of Machine Learning Research 1 (2000) 113-141.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from skewboost.typing import Array

SURE = 1e-12  # no column is surer of a bit than this


def bits(estimator: Any, X: Any) -> Array:
    """What a column predicts, as -1 and +1."""
    return 2.0 * np.asarray(estimator.predict(X)) - 1.0


def probability(estimator: Any, X: Any) -> Array:
    """P(the bit is 1)."""
    return np.asarray(estimator.predict_proba(X))[:, 1]


def margin(estimator: Any, X: Any) -> Array:
    """The decision function, or half the log-odds where there is none."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    p = np.clip(probability(estimator, X), SURE, 1.0 - SURE)
    return np.asarray(0.5 * (np.log(p) - np.log1p(-p)))


def decode(answers: Array, code: Array, decoding: str) -> Array:
    """How near each codeword is to the answers ``[row, column]``: ``[row, class]``."""
    signs = code.astype(np.float64)
    if decoding == "hamming":  # bits -1 and +1: (L - M b)/2 disagree, an entry of 0 counts one half
        return np.asarray(-(code.shape[1] - answers @ signs.T) / 2.0)
    if decoding == "probability":  # an entry of 0: ln ½
        p = np.clip(answers, SURE, 1.0 - SURE)
        unknown = (code == 0).sum(axis=1) * np.log(0.5)
        return np.asarray(np.log(p) @ (signs > 0).T + np.log1p(-p) @ (signs < 0).T + unknown)
    scores = np.empty((len(answers), len(code)))
    for k, word in enumerate(signs):
        z = answers * word
        scores[:, k] = -logsumexp(-z, axis=1) if decoding == "exponential" else -np.logaddexp(0.0, -2.0 * z).sum(axis=1)
    return scores
