"""Checks of what measures take: labels, predictions, scores and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_array, column_or_1d

from skewboost.errors import InputError
from skewboost.metrics.targets import check_sample_weight, choose_positive
from skewboost.typing import Array


def read_truth(y_true: Any, predictions: Any, sample_weight: Any) -> tuple[Array, Array | None]:
    """Return the true labels, and the weights if there are any."""
    truth = column_or_1d(y_true)
    if len(truth) == 0:
        raise InputError("y_true is empty.", "Pass at least one row.")
    check_consistent_length(truth, predictions)
    return truth, None if sample_weight is None else check_sample_weight(sample_weight, len(truth))


def read_labels(y_pred: Any) -> Array:
    """Return predicted labels."""
    predicted: Array = column_or_1d(y_pred)
    if predicted.dtype.kind == "f" and (predicted != np.round(predicted)).any():
        example = predicted[predicted != np.round(predicted)][0]
        raise InputError(
            f"y_pred has numbers such as {example:.3g}, which are not class labels.",
            "Give predicted labels, or probabilities with one column for each class where these are accepted.",
        )
    return predicted


def read_predictions(y_true: Any, y_pred: Any, pos_label: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    """Return which rows are positive, which are predicted to be, and the weights."""
    truth, weights = read_truth(y_true, y_pred, sample_weight)
    predicted = read_labels(y_pred)
    positive = which_is_positive(truth, unique_labels(truth, predicted), pos_label, weights)
    return truth == positive, predicted == positive, weights


def read_scores(y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    """Return which rows are positive, their scores, and the weights."""
    truth, weights = read_truth(y_true, y_score, sample_weight)
    classes = unique_labels(truth)
    if len(classes) < 2:
        raise InputError(f"y_true has only one class, {classes.tolist()[0]!r}.", "Pass rows of at least two classes.")
    positive = which_is_positive(truth, classes, pos_label, weights)
    scores = check_array(y_score, ensure_2d=False, dtype=np.float64, input_name="y_score")
    if scores.ndim == 2:
        if scores.shape[1] != len(classes):
            raise InputError(
                f"y_score has {scores.shape[1]} columns, but y_true has {len(classes)} classes.",
                "Give one number per row, larger where the positive class is more likely, or a column for each class.",
            )
        scores = scores[:, classes.tolist().index(positive)]
    return truth == positive, np.asarray(scores), weights


def which_is_positive(truth: Array, classes: Array, pos_label: Any, weights: Array | None) -> Any:
    """Return the positive class: `pos_label`, or the rarer of two classes, and the larger label in a tie."""
    if pos_label is not None:
        if len(classes) == 1:  # a fold may lack it
            return pos_label
        return choose_positive(truth, classes, pos_label)
    if len(classes) != 2:
        raise InputError(
            f"pos_label is None, which means the rarer of two classes, but there are {len(classes)}: "
            f"{classes.tolist()}.",
            "Set pos_label; all other classes are then negative.",
        )
    return choose_positive(truth, classes, None, weights)


def class_shares(truth: Array, classes: Array, weights: Array | None) -> Array:
    """Return the proportion of each class."""
    sizes = np.bincount(np.searchsorted(classes, truth), weights, minlength=len(classes))
    return np.asarray(sizes / sizes.sum())
