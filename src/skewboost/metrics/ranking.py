"""The scores by which a model ranks rows, for areas, curves and thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.typing import Array

# Probabilities are the second choice: they saturate at 0 and 1 in double precision where scores still differ.
METHODS = ("decision_function", "predict_proba")


def scores_of(estimator: Any, X: Any, pos_label: Any, method: str = "auto") -> Array:
    """Return one number per row, larger where the positive class is more likely; "auto" prefers `decision_function`."""
    if method == "auto":
        method = next((m for m in METHODS if hasattr(estimator, m)), METHODS[0])
    if not hasattr(estimator, method):
        raise InputError(f"{type(estimator).__name__} has no method {method!r}.", "Choose another model.")
    scores = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    k = np.asarray(estimator.classes_).tolist().index(pos_label)
    if scores.ndim == 2 and scores.shape[1] > 1:
        return np.asarray(scores[:, k])
    scores = scores.reshape(len(scores))
    return scores if k == 1 else np.negative(scores)
