"""All measures in one registry, and how they are computed.

A measure has one name everywhere: ``Counts(...).recall``, ``metrics.recall(y_true, y_pred)``, ``scorers()["recall"]``,
the goal ``"recall >= 0.9"``, ``comparison.values("recall")``, and the keys of what commands print as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics as sk

from skewboost.errors import InputError
from skewboost.metrics.counts import Counts, ratio
from skewboost.typing import Array

# What a measure is computed from
COUNTS, SCORES, PROBABILITIES, COSTS = "counts", "scores", "probabilities", "costs"
MARGINS, TIME, REFERRALS = "margins", "time", "referrals"


@dataclass(frozen=True)
class Measure:
    """A number that says how good a classifier is.

    Attributes
    ----------
    name : str
        The name in Python and in files.
    label : str
        The name in tables and figures.
    higher_is_better : bool
        Whether larger values are better.
    needs : {"counts", "scores", "probabilities", "costs", "margins", "time", "referrals"}
        What it is computed from. "costs" are counts with a cost matrix, "referrals" are `ReferralCounts`.
    denominator : str
        The rows that a goal on this measure needs, such as "positives"; empty if there are no goals on it.
    synonyms : tuple of str
        Other names that users may write.
    """

    name: str
    label: str
    higher_is_better: bool = True
    needs: str = COUNTS
    denominator: str = ""
    synonyms: tuple[str, ...] = ()

    @property
    def sign(self) -> int:
        """1 if larger values are better, -1 if smaller ones are."""
        return 1 if self.higher_is_better else -1

    def value(self, counts: Counts, cost: Array | None = None) -> Any:
        """Compute a measure that needs counts, or costs ``[true, predicted]``; arrays of counts give an array."""
        if self.name == "f1_negative":
            return counts.swapped.f1
        if self.needs != COSTS:
            return getattr(counts, self.name)
        if cost is None:
            raise InputError(f"The measure {self.name!r} needs a cost matrix.", "Pass cost.")
        if self.name == "cost":
            return counts.average_cost(cost)
        return savings(counts.cost(cost), np.array([counts.negatives, counts.positives]), cost)


MEASURES = {
    m.name: m
    for m in (
        Measure("error", "error", higher_is_better=False),
        Measure("accuracy", "accuracy", denominator="rows"),
        Measure("balanced_accuracy", "balanced accuracy"),
        Measure("g_mean", "G-mean", denominator="positives and as many negatives", synonyms=("gmean",)),
        Measure("mcc", "MCC"),
        Measure("precision", "precision", denominator="flagged rows", synonyms=("ppv",)),
        Measure("recall", "recall", denominator="positives", synonyms=("sensitivity", "tpr", "true_positive_rate")),
        Measure("f1", "F1", denominator="rows that are positive or flagged", synonyms=("f1_score",)),
        Measure(
            "specificity",
            "specificity",
            denominator="negatives",
            synonyms=("tnr", "true_negative_rate", "recall_negative"),
        ),
        Measure("negative_predictive_value", "negative predictive value", synonyms=("npv", "precision_negative")),
        Measure("f1_negative", "F1 of negatives"),
        Measure(
            "miss_rate",
            "miss rate",
            higher_is_better=False,
            denominator="positives",
            synonyms=("fnr", "false_negative_rate"),
        ),
        Measure(
            "false_alarm_rate",
            "false-alarm rate",
            higher_is_better=False,
            denominator="negatives",
            synonyms=("fpr", "false_positive_rate", "false_alarms"),
        ),
        Measure(
            "flagged_share",
            "flagged share",
            higher_is_better=False,
            denominator="rows",
            synonyms=("flagged", "share_flagged", "share_of_flagged_cases"),
        ),
        Measure(
            "referred_share",
            "referred share",
            higher_is_better=False,
            needs=REFERRALS,
            denominator="rows",
            synonyms=("referred", "share_referred", "abstention_rate", "rejection_rate"),
        ),
        Measure("roc_auc", "ROC AUC", needs=SCORES),
        Measure("pr_auc", "PR AUC", needs=SCORES, synonyms=("average_precision",)),
        Measure("brier", "Brier score", higher_is_better=False, needs=PROBABILITIES, synonyms=("brier_score",)),
        Measure("log_loss", "log-loss", higher_is_better=False, needs=PROBABILITIES),
        Measure(
            "cost",
            "cost",
            higher_is_better=False,
            needs=COSTS,
            denominator="rows",
            synonyms=("expected_cost", "expected_cost_per_case"),
        ),
        Measure("savings", "savings", needs=COSTS),
        Measure("exponential_loss", "exponential loss", higher_is_better=False, needs=MARGINS),
        Measure("tune_seconds", "tune [s]", higher_is_better=False, needs=TIME),
        Measure("fit_seconds", "fit [s]", higher_is_better=False, needs=TIME),
        Measure("predict_seconds", "predict [s]", higher_is_better=False, needs=TIME),
    )
}
# What `binary_measures` computes
BINARY = tuple(name for name, m in MEASURES.items() if m.needs in (COUNTS, SCORES, PROBABILITIES, COSTS))
_CANONICAL = {synonym: m.name for m in MEASURES.values() for synonym in m.synonyms}


def find_measure(name: Any, argument: str = "measure", among: Iterable[str] = MEASURES) -> Measure:
    """Return the measure of this name or synonym, whatever its case, hyphens and spaces; errors name the `argument`."""
    allowed = list(among)
    key = name.strip().lower().replace("-", "_").replace(" ", "_") if isinstance(name, str) else None
    key = _CANONICAL.get(key, key) if key is not None else None
    if key not in allowed:
        problem = "is not available here" if key in MEASURES else "is not a measure"
        raise InputError(f"{argument}={name!r} {problem}.", f"Choose one of {', '.join(allowed)}.")
    return MEASURES[key]


def measures_of_counts(counts: Counts, cost: Array | None = None) -> dict[str, Any]:
    """Compute all measures that need only counts, and with a cost matrix those that need costs."""
    needs = (COUNTS,) if cost is None else (COUNTS, COSTS)
    return {name: m.value(counts, cost) for name, m in MEASURES.items() if m.needs in needs}


def savings(paid: Any, class_sizes: Array, cost: Array) -> Any:
    """Return the proportion of the avoidable cost that was saved.

    0 is the best constant decision and 1 are perfect decisions; NaN where a constant decision is perfect.
    """
    constant = (np.asarray(cost).T @ class_sizes).min(axis=0)
    perfect = np.asarray(cost).min(axis=1) @ class_sizes
    return ratio(constant - paid, constant - perfect)


def binary_measures(
    positive: Array,
    flagged: Array,
    *,
    scores: Array | None = None,
    probabilities: Array | None = None,
    cost_matrix: Array | None = None,
    weights: Array | None = None,
) -> dict[str, float]:
    """Compute all measures of two classes that the inputs allow, given which rows are positive and predicted to be.

    `scores` are for "roc_auc" and "pr_auc", which are NaN if a class is missing; `probabilities` of the positive class
    for "brier" and "log_loss", which clips them at 2.2e-16, as scikit-learn does; `cost_matrix`, with the negative
    class first, for "cost" and "savings". `weights` is how many examples each row stands for.
    """
    positive = np.asarray(positive, dtype=np.bool_)
    values = measures_of_counts(Counts.of(positive, flagged, weights), cost_matrix)
    both = bool(positive.any() and not positive.all())
    if scores is not None:
        values["roc_auc"] = sk.roc_auc_score(positive, scores, sample_weight=weights) if both else np.nan
        values["pr_auc"] = sk.average_precision_score(positive, scores, sample_weight=weights) if both else np.nan
    if probabilities is not None:
        p = np.asarray(probabilities, dtype=np.float64)
        values["brier"] = np.average((p - positive) ** 2, weights=weights)
        of_truth = np.where(positive, p, 1.0 - p)
        values["log_loss"] = np.average(-np.log(np.maximum(of_truth, np.finfo(np.float64).eps)), weights=weights)
    return {name: float(values[name]) for name in BINARY if name in values}


def multiclass_measures(
    truth: Array, predicted: Array, cost_matrix: Array, weights: Array | None = None
) -> dict[str, float]:
    """Compute error, accuracy, balanced accuracy, G-mean, cost and savings, given the numbers of the classes."""
    w = np.ones(len(truth)) if weights is None else weights
    total = float(w.sum())
    right = truth == predicted
    K = len(cost_matrix)
    sizes = np.bincount(truth, w, minlength=K)
    recalls = np.bincount(truth, w * right, minlength=K)[sizes > 0] / sizes[sizes > 0]
    accuracy = float(w[right].sum()) / total
    paid = float((w * cost_matrix[truth, predicted]).sum())
    return {
        "error": 1.0 - accuracy,
        "accuracy": accuracy,
        "balanced_accuracy": float(recalls.mean()),
        "g_mean": float(np.exp(np.log(recalls).mean())) if recalls.all() else 0.0,
        "cost": paid / total,
        "savings": float(savings(paid, sizes, cost_matrix)),
    }
