"""Functions of true and predicted labels, for the rarer class unless `pos_label` says otherwise.

They have the names of the registry, not scikit-learn's: scikit-learn's ``recall_score`` is about the label 1 by default
and is 0 where there is nothing to divide by. Here the positive class is by default the rarer one, and such a rate is
NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import gmean
from sklearn import metrics as sk

from skewboost.metrics.counts import Counts
from skewboost.metrics.inputs import read_predictions, read_scores
from skewboost.metrics.measures import MEASURES


def confusion_counts(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> Counts:
    """Count right and wrong predictions. All rates follow from the counts.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        The true and the predicted labels.
    pos_label : label or None, default=None
        The positive class; all others are negative. None: the rarer of the two classes in `y_true`, and the larger
        label in a tie.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How many examples a row stands for.

    Returns
    -------
    Counts
        Its property `swapped` has the counts with the other class as the positive one.

    Examples
    --------
    >>> from skewboost.metrics import confusion_counts
    >>> counts = confusion_counts(["ok"] * 6 + ["fraud"] * 2, ["ok"] * 5 + ["fraud"] * 2 + ["ok"])
    >>> counts
    Counts(tp=1, fp=1, fn=1, tn=5)
    >>> print(f"{counts.precision:.2f} {counts.swapped.precision:.2f}")
    0.50 0.83
    """
    return Counts.of(*read_predictions(y_true, y_pred, pos_label, sample_weight))


def rate(y_true: Any, y_pred: Any, *, measure: str, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Compute any measure that needs only counts. Other parameters as in `confusion_counts`."""
    counts = confusion_counts(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight)
    return float(MEASURES[measure].value(counts))


def recall(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Proportion of the positives that are found: TP / (TP + FN). Parameters as in `confusion_counts`."""
    return rate(y_true, y_pred, measure="recall", pos_label=pos_label, sample_weight=sample_weight)


def specificity(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Proportion of the negatives that are not flagged: TN / (TN + FP). Parameters as in `confusion_counts`."""
    return rate(y_true, y_pred, measure="specificity", pos_label=pos_label, sample_weight=sample_weight)


def miss_rate(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Proportion of the positives that are missed: FN / (TP + FN). Parameters as in `confusion_counts`."""
    return rate(y_true, y_pred, measure="miss_rate", pos_label=pos_label, sample_weight=sample_weight)


def false_alarm_rate(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Proportion of the negatives that are flagged: FP / (TN + FP). Parameters as in `confusion_counts`."""
    return rate(y_true, y_pred, measure="false_alarm_rate", pos_label=pos_label, sample_weight=sample_weight)


def precision(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Proportion of the flagged rows that are positive: TP / (TP + FP). Parameters as in `confusion_counts`."""
    return rate(y_true, y_pred, measure="precision", pos_label=pos_label, sample_weight=sample_weight)


def negative_predictive_value(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Proportion of the rows not flagged that are negative: TN / (TN + FN). Parameters as in `confusion_counts`."""
    return rate(y_true, y_pred, measure="negative_predictive_value", pos_label=pos_label, sample_weight=sample_weight)


def f1(y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Harmonic mean of precision and recall. Parameters as in `confusion_counts`."""
    return rate(y_true, y_pred, measure="f1", pos_label=pos_label, sample_weight=sample_weight)


def f_beta(y_true: Any, y_pred: Any, *, beta: float, pos_label: Any = None, sample_weight: Any = None) -> float:
    """F-β, in which a miss counts β² times as much as a false alarm. Other parameters as in `confusion_counts`."""
    counts = confusion_counts(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight)
    return float(counts.f_beta(beta))


def g_mean(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Geometric mean of the recalls of all classes in `y_true`, of any number of classes.

    With two classes it is √(recall · specificity). It is 0 if a class is never found.

    Examples
    --------
    >>> from skewboost.metrics import g_mean
    >>> print(f"{g_mean([0, 0, 0, 0, 1], [0, 0, 0, 1, 1]):.3f}")
    0.866
    """
    recalls = sk.recall_score(y_true, y_pred, labels=np.unique(y_true), average=None, sample_weight=sample_weight)
    return float(gmean(recalls)) if np.all(recalls) else 0.0


def roc_auc(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Area under the ROC curve: the probability that a positive has a higher score than a negative.

    `y_score` is one number per row, larger where the positive class is more likely, or has a column for each class;
    other parameters as in `confusion_counts`. The area does not depend on the prevalence. Where positives are rare, a
    large area may still mean many false alarms for each hit: see `pr_auc`.
    """
    positive, scores, weights = read_scores(y_true, y_score, pos_label, sample_weight)
    return float(sk.roc_auc_score(positive, scores, sample_weight=weights))


def pr_auc(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None) -> float:
    """Area under the precision-recall curve, computed as the average precision.

    Parameters as in `roc_auc`. Random scores have the proportion of the positives.
    """
    positive, scores, weights = read_scores(y_true, y_score, pos_label, sample_weight)
    return float(sk.average_precision_score(positive, scores, sample_weight=weights))
