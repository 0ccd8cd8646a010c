"""Measures as scorers, for searches and cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics as sk

from skewboost.metrics import rates
from skewboost.metrics.inputs import read_truth, which_is_positive
from skewboost.metrics.measures import COUNTS, MEASURES, SCORES, find_measure

# Measures of all classes alike, which do not depend on the positive class
_OF_ALL_CLASSES = {
    "g_mean": rates.g_mean,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "mcc": sk.matthews_corrcoef,
}
_RESPONSES = ("decision_function", "predict_proba")


def scorers(*, pos_label: Any = None) -> dict[str, Any]:
    """Return all measures of decisions and of scores as scorers.

    Pass the dictionary to `cross_validate` as it is, or one of its entries to a search.

    Parameters
    ----------
    pos_label : label or None, default=None
        The positive class. None: the rarer of the two in each set of labels that is scored, the larger label in a tie.

    Returns
    -------
    dict of str to scorer
        By the names of the measures. Where lower values are better the name starts with "neg_", as in scikit-learn, and
        the sign is changed. For costs see `make_cost_scorer`. With metadata routing they take `sample_weight`, if
        requested.

    Examples
    --------
    >>> from sklearn.model_selection import cross_validate
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.metrics import scorers
    >>> scores = cross_validate(RealBoostClassifier(), *load_rare_cancer(), scoring=scorers(), cv=3)
    >>> print(f"G-mean {scores['test_g_mean'].mean():.2f}")
    G-mean 0.95
    """
    return {
        name if m.higher_is_better else f"neg_{name}": _scorer(name, pos_label)
        for name, m in MEASURES.items()
        if m.needs in (COUNTS, SCORES)
    }


def get_scorer(name: str, *, pos_label: Any = None) -> Any:
    """Return one of `scorers()` by its name, with or without "neg_", or by a synonym.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.metrics import get_scorer
    >>> search = GridSearchCV(RealBoostClassifier(), {"n_estimators": [50, 100]}, scoring=get_scorer("g_mean"))
    """
    known = [key for key, m in MEASURES.items() if m.needs in (COUNTS, SCORES)]
    plain_name = name.removeprefix("neg_") if isinstance(name, str) else name
    return _scorer(find_measure(plain_name, "name", known).name, pos_label)


def _scorer(name: str, pos_label: Any) -> Any:
    options = {} if pos_label is None else {"pos_label": pos_label}
    if name in _OF_ALL_CLASSES:
        return sk.make_scorer(_OF_ALL_CLASSES[name])
    if name == "roc_auc":
        return sk.get_scorer("roc_auc")  # the same whichever class is positive
    if name == "pr_auc":
        score = _pr_auc_of_rarer_class if pos_label is None else rates.pr_auc
        return sk.make_scorer(score, response_method=_RESPONSES, **options)
    measure = MEASURES[name]
    return sk.make_scorer(rates.rate, greater_is_better=measure.higher_is_better, measure=name, **options)


def _pr_auc_of_rarer_class(y_true: Any, y_score: Any, sample_weight: Any = None) -> float:
    """PR AUC from what scorers get without `pos_label`: scores that are high for the larger label."""
    truth, weights = read_truth(y_true, y_score, sample_weight)
    classes = np.unique(truth)
    rarer = which_is_positive(truth, classes, None, weights)
    scores = np.asarray(y_score) if rarer == classes[1] else -np.asarray(y_score)
    return rates.pr_auc(truth, scores, pos_label=rarer, sample_weight=weights)
