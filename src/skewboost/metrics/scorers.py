"""Measures as scorers, for searches and cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics as sk

from skewboost.errors import InputError
from skewboost.metrics import rates
from skewboost.metrics.inputs import read_truth, which_is_positive

OF_DECISIONS = {
    "recall": rates.recall_score,
    "specificity": rates.specificity_score,
    "precision": rates.precision_score,
    "negative_predictive_value": rates.negative_predictive_value,
    "f1": rates.f1_score,
}
LOSSES = {"miss_rate": rates.miss_rate, "false_alarm_rate": rates.false_alarm_rate}
OF_ALL_CLASSES = {
    "g_mean": rates.geometric_mean_score,
    "balanced_accuracy": rates.balanced_accuracy_score,
    "mcc": rates.matthews_corrcoef,
}
SCORES = ("decision_function", "predict_proba")


def scorers(*, pos_label: Any = None) -> dict[str, Any]:
    """All measures as scorers: give them to `cross_validate` as they are, or pick one for a search.

    Parameters
    ----------
    pos_label : label or None, default=None
        The positive class. None: the rarer of the two in each set of labels that is scored, the larger label in a tie.

    Returns
    -------
    dict of str to scorer
        "recall", "specificity", "precision", "negative_predictive_value", "f1", "neg_miss_rate",
        "neg_false_alarm_rate", "g_mean", "balanced_accuracy", "mcc", "roc_auc" and "pr_auc"; larger is better. For
        costs see `make_cost_scorer`. With metadata routing they take `sample_weight`, if asked to.

    Examples
    --------
    >>> from sklearn.model_selection import cross_validate
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.metrics import scorers
    >>> found = cross_validate(RealBoostClassifier(), *load_rare_cancer(), scoring=scorers(), cv=3)
    >>> print(f"G-mean {found['test_g_mean'].mean():.2f}")
    G-mean 0.95
    """
    told = {} if pos_label is None else {"pos_label": pos_label}
    return {
        **{name: sk.make_scorer(measure, **told) for name, measure in OF_DECISIONS.items()},
        **{f"neg_{name}": sk.make_scorer(m, greater_is_better=False, **told) for name, m in LOSSES.items()},
        **{name: sk.make_scorer(measure) for name, measure in OF_ALL_CLASSES.items()},
        "roc_auc": sk.get_scorer("roc_auc"),  # the same whichever class is positive
        "pr_auc": sk.make_scorer(rates.pr_auc_score if told else _pr_auc_of_the_rarer, response_method=SCORES, **told),
    }


def get_scorer(name: str, *, pos_label: Any = None) -> Any:
    """One of `scorers()` by its name.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.metrics import get_scorer
    >>> search = GridSearchCV(RealBoostClassifier(), {"n_estimators": [50, 100]}, scoring=get_scorer("g_mean"))
    """
    known = scorers(pos_label=pos_label)
    if name not in known:
        raise InputError(f"{name!r} is no measure of skewboost.metrics. Take one of {', '.join(map(repr, known))}.")
    return known[name]


def _pr_auc_of_the_rarer(y_true: Any, y_score: Any, sample_weight: Any = None) -> float:
    """PR-AUC from what scorers are handed where nobody says which class is positive: scores of the larger label."""
    truth, weights = read_truth(y_true, y_score, sample_weight)
    classes = np.unique(truth)
    rarer = which_is_positive(truth, classes, None, weights)
    towards = np.asarray(y_score) if rarer == classes[1] else -np.asarray(y_score)
    return rates.pr_auc_score(truth, towards, pos_label=rarer, sample_weight=weights)
