"""Rates of right and wrong answers, of the rarer class unless said otherwise.

scikit-learn's measures where it has them, told which class is positive. A rate is NaN where there is nothing to
divide by.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import gmean
from sklearn import metrics as sk
from sklearn.metrics import balanced_accuracy_score, matthews_corrcoef

from skewboost.metrics.counts import Counts
from skewboost.metrics.inputs import read_answers, read_scores

__all__ = [
    "balanced_accuracy_score",
    "confusion_counts",
    "f1_score",
    "false_alarm_rate",
    "fbeta_score",
    "geometric_mean_score",
    "matthews_corrcoef",
    "miss_rate",
    "negative_predictive_value",
    "pr_auc_score",
    "precision_score",
    "recall_score",
    "roc_auc_score",
    "specificity_score",
]


def confusion_counts(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> Counts:
    """Count right and wrong answers; all rates follow.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        The true and the predicted labels.
    pos_label : label or None, default=None
        The positive class, against all others. None: the rarer of two in `y_true`, the larger label in a tie.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How many examples a row stands for.

    Returns
    -------
    Counts
        With `swapped` for the other class.

    Examples
    --------
    >>> from skewboost.metrics import confusion_counts
    >>> counts = confusion_counts(["ok"] * 6 + ["fraud"] * 2, ["ok"] * 5 + ["fraud"] * 2 + ["ok"])
    >>> counts
    Counts(tp=1, fp=1, fn=1, tn=5)
    >>> print(f"{counts.precision:.2f} {counts.swapped.precision:.2f}")
    0.50 0.83
    """
    return Counts.of(*read_answers(y_true, y_pred, pos_label, sample_weight))


def recall_score(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """The share of the positives that is found: TP / (TP + FN). Parameters as in `confusion_counts`."""
    positive, flagged, weights = read_answers(y_true, y_pred, pos_label, sample_weight)
    return float(sk.recall_score(positive, flagged, sample_weight=weights, zero_division=np.nan))


def specificity_score(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """The share of the negatives that is left alone: TN / (TN + FP). Parameters as in `confusion_counts`."""
    return float(confusion_counts(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight).specificity)


def miss_rate(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """The share of the positives that is missed: FN / (TP + FN). Parameters as in `confusion_counts`."""
    return float(confusion_counts(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight).miss_rate)


def false_alarm_rate(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """The share of the negatives that is flagged: FP / (TN + FP). Parameters as in `confusion_counts`."""
    return float(confusion_counts(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight).false_alarm_rate)


def precision_score(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """The share of the flagged that is positive: TP / (TP + FP). Parameters as in `confusion_counts`."""
    positive, flagged, weights = read_answers(y_true, y_pred, pos_label, sample_weight)
    return float(sk.precision_score(positive, flagged, sample_weight=weights, zero_division=np.nan))


def negative_predictive_value(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """The share of those not flagged that is negative: TN / (TN + FN). Parameters as in `confusion_counts`."""
    counts = confusion_counts(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight)
    return float(counts.negative_predictive_value)


def fbeta_score(y_true: Any, y_pred: Any, *, beta: float, pos_label: Any = None, sample_weight: Any = None) -> float:
    """F-β: a miss counts β² times as much as a false alarm. Parameters as in `confusion_counts`."""
    positive, flagged, weights = read_answers(y_true, y_pred, pos_label, sample_weight)
    return float(sk.fbeta_score(positive, flagged, beta=beta, sample_weight=weights, zero_division=np.nan))


def f1_score(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """The harmonic mean of precision and recall. Parameters as in `confusion_counts`."""
    return fbeta_score(y_true, y_pred, beta=1.0, pos_label=pos_label, sample_weight=sample_weight)


def geometric_mean_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The geometric mean of the recalls of all classes in `y_true`, of which there may be many.

    With two classes it is the G-mean √(recall · specificity); 0 where a class is never found.

    Examples
    --------
    >>> from skewboost.metrics import geometric_mean_score
    >>> print(f"{geometric_mean_score([0, 0, 0, 0, 1], [0, 0, 0, 1, 1]):.3f}")
    0.866
    """
    recalls = sk.recall_score(y_true, y_pred, labels=np.unique(y_true), average=None, sample_weight=sample_weight)
    return float(gmean(recalls)) if np.all(recalls) else 0.0


def roc_auc_score(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """The area under the ROC curve: how often a positive has a higher score than a negative.

    `y_score` is one number per row, larger where more speaks for the positive class, or a column for each class;
    other parameters as in `confusion_counts`. Prevalence does not enter, so a large area may still mean many false
    alarms for each hit where positives are rare: see `pr_auc_score`.
    """
    positive, scores, weights = read_scores(y_true, y_score, pos_label, sample_weight)
    return float(sk.roc_auc_score(positive, scores, sample_weight=weights))


def pr_auc_score(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """The area under the curve of precision against recall, as average precision.

    Parameters as in `roc_auc_score`. A score that knows nothing has the share of the positives.
    """
    positive, scores, weights = read_scores(y_true, y_score, pos_label, sample_weight)
    return float(sk.average_precision_score(positive, scores, sample_weight=weights))
