"""Measures by name, of decisions, scores and probabilities; the same for curves, sweeps and comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics as sk

from skewboost.errors import InputError
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.counts import Counts, share
from skewboost.metrics.inputs import class_shares
from skewboost.metrics.targets import choose_positive, classes_of
from skewboost.typing import Array

OF_COUNTS = (
    "error",
    "accuracy",
    "balanced_accuracy",
    "g_mean",
    "mcc",
    "precision",
    "recall",
    "f1",
    "specificity",
    "precision_negative",
    "recall_negative",
    "f1_negative",
)
OF_SCORES = ("roc_auc", "pr_auc")
OF_PROBABILITIES = ("brier", "log_loss")
MEASURES = (*OF_COUNTS, *OF_SCORES, *OF_PROBABILITIES, "cost", "savings")
OF_MANY_CLASSES = ("error", "accuracy", "balanced_accuracy", "g_mean", "cost", "savings")
LOSSES = frozenset({"error", "brier", "log_loss", "cost", "exponential_loss", "loss", "bias", "variance"})


@dataclass(frozen=True)
class Problem:
    """What is to be told apart, and what mistakes cost: the same for all folds."""

    classes: Array  # sorted
    pos_label: Any  # None where there are more than two classes
    matrix: Array  # cost[true, predicted] with the classes in sorted order

    @property
    def binary(self) -> bool:
        """Whether there are two classes."""
        return len(self.classes) == 2

    @property
    def negative_first(self) -> Array:
        """The costs with the negative class first, as `Counts` has them."""
        return self.matrix if self.pos_label == self.classes[1] else self.matrix[::-1, ::-1]

    def codes(self, labels: Any) -> Array:
        """The numbers of the classes."""
        return np.searchsorted(self.classes, np.asarray(labels))


def problem_of(owner: Any, y: Array, weights: Array | None, cost: Any, pos_label: Any = None) -> Problem:
    """The classes of all rows, which of them is positive, and the costs, checked.

    `cost` is as everywhere: None and "balanced" even the classes out by their shares among all rows.
    """
    present = y if weights is None else y[weights > 0]
    classes = classes_of(owner, present)
    positive = None
    if len(classes) == 2:
        positive = choose_positive(y, classes, pos_label, weights)
    elif pos_label is not None:
        raise InputError(f"pos_label={pos_label!r} has no effect: y has {len(classes)} classes. Leave it at None.")
    kept = None if weights is None else weights[weights > 0]
    return Problem(classes, positive, cost_matrix(cost, classes, positive, class_shares(present, classes, kept)))


def of_counts(counts: Counts, matrix: Array | None = None) -> dict[str, Any]:
    """All measures that follow from counts; of counts that are arrays, arrays. `matrix` has the negative class first.

    A rate is NaN where there is nothing to divide by: the precision of one who never says "positive".
    """
    other = counts.swapped
    found = {
        **{name: getattr(counts, name) for name in OF_COUNTS[:9]},
        "precision_negative": other.precision,
        "recall_negative": other.recall,
        "f1_negative": other.f1,
    }
    if matrix is not None:
        found["cost"] = counts.average_cost(matrix)
        found["savings"] = _saved(counts.cost(matrix), np.array([counts.negatives, counts.positives]), matrix)
    return found


def _saved(paid: Any, there: Array, matrix: Array) -> Any:
    """The share of what the best constant decision pays beyond perfect ones that is saved; `there` are class sizes."""
    constant = (np.asarray(matrix).T @ there).min(axis=0)
    perfect = np.asarray(matrix).min(axis=1) @ there
    return share(constant - paid, constant - perfect)


def measures_of(
    positive: Array,
    flagged: Array,
    *,
    scores: Array | None = None,
    probabilities: Array | None = None,
    cost_matrix: Array | None = None,
    weights: Array | None = None,
) -> dict[str, float]:
    """All measures of two classes.

    Parameters
    ----------
    positive, flagged : ndarray of bool
        Which rows are positive, and which are said to be.
    scores : ndarray or None
        Larger where more speaks for the positive class; for "roc_auc" and "pr_auc", which are NaN where a class lacks.
    probabilities : ndarray or None
        Of the positive class; for "brier" (Brier's score of that class) and "log_loss", in which 0 counts as 2.2e-16,
        as in scikit-learn.
    cost_matrix : ndarray of shape (2, 2) or None
        ``[true, predicted]``, the negative class first; for "cost", the mean per example, and "savings".
    weights : ndarray or None
        How many examples each row stands for.

    Returns
    -------
    dict of str to float
        Only what can be computed from what is given.
    """
    positive = np.asarray(positive, dtype=np.bool_)
    found = of_counts(Counts.of(positive, flagged, weights), cost_matrix)
    both = bool(positive.any() and not positive.all())
    if scores is not None:
        found["roc_auc"] = sk.roc_auc_score(positive, scores, sample_weight=weights) if both else np.nan
        found["pr_auc"] = sk.average_precision_score(positive, scores, sample_weight=weights) if both else np.nan
    if probabilities is not None:
        p = np.asarray(probabilities, dtype=np.float64)
        found["brier"] = np.average((p - positive) ** 2, weights=weights)
        right = np.where(positive, p, 1.0 - p)
        found["log_loss"] = np.average(-np.log(np.maximum(right, np.finfo(np.float64).eps)), weights=weights)
    return {name: float(found[name]) for name in MEASURES if name in found}


def measures_of_many(truth: Array, said: Array, matrix: Array, weights: Array | None = None) -> dict[str, float]:
    """Measures of any number of classes, from the numbers of the true and the predicted ones."""
    w = np.ones(len(truth)) if weights is None else weights
    total = float(w.sum())
    right = truth == said
    K = len(matrix)
    there = np.bincount(truth, w, minlength=K)
    recalls = np.bincount(truth, w * right, minlength=K)[there > 0] / there[there > 0]
    accuracy = float(w[right].sum()) / total
    paid = float((w * matrix[truth, said]).sum())
    return {
        "error": 1.0 - accuracy,
        "accuracy": accuracy,
        "balanced_accuracy": float(recalls.mean()),
        "g_mean": float(np.exp(np.log(recalls).mean())) if recalls.all() else 0.0,
        "cost": paid / total,
        "savings": float(_saved(paid, there, matrix)),
    }


def better(measure: str) -> int:
    """1 if more is better, -1 if less is."""
    return -1 if measure in LOSSES or measure.endswith("_seconds") else 1


def in_words(measure: str) -> str:
    """What drawings call it; precision, recall and F1 are those of the positive class."""
    if measure.endswith("_negative"):
        return f"{spelled(measure.removesuffix('_negative'))} of negatives"
    return spelled(measure)


def spelled(measure: str) -> str:
    """Its name as people write it."""
    special = {"f1": "F1", "mcc": "MCC", "roc_auc": "ROC AUC", "pr_auc": "PR AUC", "g_mean": "G-mean"}
    return {**special, "brier": "Brier score", "log_loss": "log-loss"}.get(measure, measure.replace("_", " "))
