"""Measures of decisions, scores and probabilities for imbalanced classes and unequal costs.

The positive class is the rarer of the two in `y_true` unless `pos_label` says otherwise; in a tie it is the larger
label. Functions have the names of the registry `MEASURES`, not those of scikit-learn, whose default is the label 1.
"""

from __future__ import annotations

from skewboost.metrics.cost_curves import CostCurve, cost_curve, probability_cost
from skewboost.metrics.cost_metrics import expected_cost, make_cost_scorer, savings_score, total_cost
from skewboost.metrics.counts import Counts
from skewboost.metrics.measures import MEASURES, Measure
from skewboost.metrics.priors import brier_under_prior, correct_prior, estimate_prior, log_loss_under_prior
from skewboost.metrics.rates import (
    confusion_counts,
    f1,
    f_beta,
    false_alarm_rate,
    g_mean,
    miss_rate,
    negative_predictive_value,
    pr_auc,
    precision,
    recall,
    roc_auc,
    specificity,
)
from skewboost.metrics.scorers import get_scorer, scorers

__all__ = [
    "MEASURES",
    "CostCurve",
    "Counts",
    "Measure",
    "brier_under_prior",
    "confusion_counts",
    "correct_prior",
    "cost_curve",
    "estimate_prior",
    "expected_cost",
    "f1",
    "f_beta",
    "false_alarm_rate",
    "g_mean",
    "get_scorer",
    "log_loss_under_prior",
    "make_cost_scorer",
    "miss_rate",
    "negative_predictive_value",
    "pr_auc",
    "precision",
    "probability_cost",
    "recall",
    "roc_auc",
    "savings_score",
    "scorers",
    "specificity",
    "total_cost",
]
