"""By what a model ranks rows, for everything that compares rows with each other: areas, curves, thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.typing import Array

# Probabilities are the second choice: those of sure rows are all 0 or 1 in double precision, where scores still differ.
METHODS = ("decision_function", "predict_proba")


def scores_of(estimator: Any, X: Any, pos_label: Any, method: str = "auto") -> Array:
    """One number per row, larger where more speaks for the positive class.

    Parameters
    ----------
    estimator : fitted classifier
        With `decision_function` or `predict_proba`.
    X : table
        The rows.
    pos_label : label
        One of ``estimator.classes_``.
    method : {"auto", "decision_function", "predict_proba"}, default="auto"
        What to ask; "auto" is the decision function wherever there is one.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    if method == "auto":
        method = next((m for m in METHODS if hasattr(estimator, m)), METHODS[0])
    if not hasattr(estimator, method):
        raise InputError(f"{type(estimator).__name__} has no method {method!r}. Take another model.")
    found = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    k = np.asarray(estimator.classes_).tolist().index(pos_label)
    if found.ndim == 2 and found.shape[1] > 1:
        return np.asarray(found[:, k])
    found = found.reshape(len(found))
    return found if k == 1 else np.negative(found)
