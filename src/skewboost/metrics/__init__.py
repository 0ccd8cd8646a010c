"""Measures of decisions and probabilities where classes are lopsided and mistakes have prices.

The positive class is the rarer of the two in `y_true` unless `pos_label` says otherwise; in a tie, the larger label.
"""

from __future__ import annotations

from skewboost.metrics.cost_curves import CostCurve, cost_curve, probability_cost
from skewboost.metrics.cost_metrics import expected_cost, make_cost_scorer, savings_score, total_cost
from skewboost.metrics.counts import Counts
from skewboost.metrics.priors import brier_score, correct_prior, estimate_prior, log_loss
from skewboost.metrics.rates import (
    balanced_accuracy_score,
    confusion_counts,
    f1_score,
    false_alarm_rate,
    fbeta_score,
    geometric_mean_score,
    matthews_corrcoef,
    miss_rate,
    negative_predictive_value,
    pr_auc_score,
    precision_score,
    recall_score,
    roc_auc_score,
    specificity_score,
)
from skewboost.metrics.scorers import get_scorer, scorers

__all__ = [
    "CostCurve",
    "Counts",
    "balanced_accuracy_score",
    "brier_score",
    "confusion_counts",
    "correct_prior",
    "cost_curve",
    "estimate_prior",
    "expected_cost",
    "f1_score",
    "false_alarm_rate",
    "fbeta_score",
    "geometric_mean_score",
    "get_scorer",
    "log_loss",
    "make_cost_scorer",
    "matthews_corrcoef",
    "miss_rate",
    "negative_predictive_value",
    "pr_auc_score",
    "precision_score",
    "probability_cost",
    "recall_score",
    "roc_auc_score",
    "savings_score",
    "scorers",
    "specificity_score",
    "total_cost",
]
