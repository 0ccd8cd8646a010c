"""What measures are handed: truth and answers, weights and scores, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_array, column_or_1d

from skewboost.errors import InputError
from skewboost.metrics.targets import check_sample_weight, choose_positive
from skewboost.typing import Array


def read_truth(y_true: Any, answers: Any, sample_weight: Any) -> tuple[Array, Array | None]:
    """The true labels, and weights if there are any."""
    truth = column_or_1d(y_true)
    if len(truth) == 0:
        raise InputError("y_true is empty: there is nothing to measure.")
    check_consistent_length(truth, answers)
    return truth, None if sample_weight is None else check_sample_weight(sample_weight, len(truth))


def read_labels(y_pred: Any) -> Array:
    """Predicted labels."""
    said: Array = column_or_1d(y_pred)
    if said.dtype.kind == "f" and (said != np.round(said)).any():
        raise InputError(
            f"y_pred holds numbers such as {said[said != np.round(said)][0]:.3g}, which are no class labels. Give "
            "decisions; or, where probabilities are taken, one column for each class."
        )
    return said


def read_predictions(y_true: Any, y_pred: Any, pos_label: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    """Which rows are positive, which are said to be, and the weights."""
    truth, weights = read_truth(y_true, y_pred, sample_weight)
    said = read_labels(y_pred)
    positive = which_is_positive(truth, unique_labels(truth, said), pos_label, weights)
    return truth == positive, said == positive, weights


def read_scores(y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    """Which rows are positive, how much speaks for it, and the weights."""
    truth, weights = read_truth(y_true, y_score, sample_weight)
    classes = unique_labels(truth)
    if len(classes) < 2:
        raise InputError(f"y_true has only one class, {classes.tolist()[0]!r}: no score can tell it from another.")
    positive = which_is_positive(truth, classes, pos_label, weights)
    scores = check_array(y_score, ensure_2d=False, dtype=np.float64, input_name="y_score")
    if scores.ndim == 2:
        if scores.shape[1] != len(classes):
            raise InputError(
                f"y_score has {scores.shape[1]} columns, but y_true has {len(classes)} classes. Give one number per "
                "row, larger where more speaks for the positive class, or a column for each class."
            )
        scores = scores[:, classes.tolist().index(positive)]
    return truth == positive, np.asarray(scores), weights


def which_is_positive(truth: Array, classes: Array, pos_label: Any, weights: Array | None) -> Any:
    """The positive class: `pos_label`, against all others, or the rarer of two, and the larger label in a tie."""
    if pos_label is not None:
        if len(classes) == 1:  # a fold may lack it
            return pos_label
        return choose_positive(truth, classes, pos_label)
    if len(classes) != 2:
        raise InputError(
            f"pos_label is None, which stands for the rarer of two classes, but there are {len(classes)}: "
            f"{classes.tolist()}. Say which one with pos_label; the others are then the rest."
        )
    return choose_positive(truth, classes, None, weights)


def class_shares(truth: Array, classes: Array, weights: Array | None) -> Array:
    """The share of each class."""
    mass = np.bincount(np.searchsorted(classes, truth), weights, minlength=len(classes))
    return np.asarray(mass / mass.sum())
