"""Cost metrics: the total and the expected cost of decisions, and savings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_array

from skewboost.errors import InputError
from skewboost.metrics.costs import besides_misses, cost_matrix, expected_costs, row_matrices
from skewboost.metrics.inputs import class_shares, read_labels, read_truth
from skewboost.metrics.targets import choose_positive
from skewboost.typing import Array


def total_cost(
    y_true: Any,
    y_pred: Any,
    cost: Any = None,
    *,
    sample_cost: Any = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    r"""Total cost of the decisions; for two classes :math:`\epsilon = FP + f \cdot FN` ([masnadi2011]_ eq. 59).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_classes)
        The predicted labels; or probabilities with a column for each class in sorted order, in which case the decision
        of least expected cost is made.
    cost : number, "balanced", dict, matrix or None, default=None
        A number f (a miss costs as much as f false alarms), {label: cost of misclassifying it}, a matrix
        ``cost[true, predicted]`` with the classes in sorted order, or "balanced": inversely proportional to the class
        frequencies in `y_true`. None means "balanced".
    sample_cost : array-like of shape (n_samples,), (n_samples, K) or (n_samples, K, K) or None, default=None
        Costs per row, as in `MinimumRiskClassifier.predict`: of a miss on the row (a false alarm costs 1, unless `cost`
        is a dict or a matrix); of misclassifying the row if it is of that class; or a matrix for each row.
    labels : list of labels or None, default=None
        The classes, for folds that lack one. None: those of `cost` if it is a dict, else those that occur.
    pos_label : label or None, default=None
        The positive class, to which a number refers. None: the rarer of the two in `y_true`, the larger label in a tie.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How many examples a row stands for.

    Returns
    -------
    float

    References
    ----------
    .. [masnadi2011] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", IEEE Transactions on Pattern
       Analysis and Machine Intelligence 33 (2011) 294-309.

    Examples
    --------
    >>> from skewboost.metrics import total_cost
    >>> total_cost([0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 1], 20)
    22.0
    """
    return _decision_costs(y_true, y_pred, cost, sample_cost, labels, pos_label, sample_weight)[0]


def expected_cost(
    y_true: Any,
    y_pred: Any,
    cost: Any = None,
    *,
    sample_cost: Any = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Mean cost of a decision: `total_cost`, divided by the number of examples.

    Parameters
    ----------
    y_true, y_pred, cost, sample_cost, labels, pos_label, sample_weight
        As in `total_cost`.

    Returns
    -------
    float

    Examples
    --------
    >>> from skewboost.metrics import expected_cost
    >>> expected_cost([0, 0, 0, 1], [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.7, 0.3]], 3)  # 0.3 > 1 / (1 + 3)
    0.25
    """
    paid, _, weights = _decision_costs(y_true, y_pred, cost, sample_cost, labels, pos_label, sample_weight)
    return paid / float(weights.sum())


def savings_score(
    y_true: Any,
    y_pred: Any,
    cost: Any = None,
    *,
    sample_cost: Any = None,
    labels: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Proportion of the avoidable cost that is saved: 0 for the best constant decision, 1 for perfect ones.

    It is ``1 - cost / cost of the best constant decision`` [correa2015]_ if right decisions cost nothing; otherwise the
    cost of perfect decisions is subtracted from both. It is negative if decisions are worse than a constant one, and
    NaN if a constant decision is perfect.

    Parameters
    ----------
    y_true, y_pred, cost, sample_cost, labels, pos_label, sample_weight
        As in `total_cost`.

    Returns
    -------
    float

    References
    ----------
    .. [correa2015] A. Correa Bahnsen, D. Aouada, B. Ottersten, "Example-dependent cost-sensitive decision trees",
       Expert Systems with Applications 42 (2015) 6609-6619.

    Examples
    --------
    >>> from skewboost.metrics import savings_score
    >>> savings_score([0, 0, 0, 0, 1], [0, 0, 0, 1, 1], 20)  # flagging all rows costs 4, this costs 1
    0.75
    """
    paid, costs, weights = _decision_costs(y_true, y_pred, cost, sample_cost, labels, pos_label, sample_weight)
    constant, perfect = float((weights @ costs).min()), float(weights @ costs.min(axis=1))
    return (constant - paid) / (constant - perfect) if constant > perfect else float("nan")


def make_cost_scorer(cost: Any = None, *, savings: bool = False, labels: Any = None, pos_label: Any = None) -> Any:
    """Make a scorer for searches and cross-validation: the negative expected cost, or the savings.

    Parameters
    ----------
    cost : number, "balanced", dict, matrix or None, default=None
        As in `total_cost`.
    savings : bool, default=False
        Whether to use `savings_score`, which is comparable across different folds.
    labels, pos_label
        As in `total_cost`. Set `pos_label` if the classes are nearly equal in size, because the rarer one may differ
        from fold to fold.

    Returns
    -------
    scorer
        With metadata routing it takes `sample_weight` and `sample_cost`, if requested (``set_score_request``).

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skewboost import CSRAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.metrics import make_cost_scorer
    >>> scores = cross_val_score(CSRAClassifier(cost=20), *load_rare_cancer(), scoring=make_cost_scorer(20), cv=3)
    >>> bool((scores <= 0).all())
    True
    """
    measure = savings_score if savings else expected_cost
    return make_scorer(measure, greater_is_better=savings, cost=cost, labels=labels, pos_label=pos_label)


def _decision_costs(
    y_true: Any, predictions: Any, cost: Any, sample_cost: Any, labels: Any, pos_label: Any, sample_weight: Any
) -> tuple[float, Array, Array]:
    """Return the total cost, the cost of each possible decision on each row ``[row, decision]``, and the weights."""
    truth, weights = read_truth(y_true, predictions, sample_weight)
    probabilities = np.ndim(predictions) == 2 and np.shape(predictions)[1] > 1
    predicted = None if probabilities else read_labels(predictions)
    classes = _classes(truth, predicted, cost, labels)
    positive = choose_positive(truth, classes, pos_label, weights) if len(classes) == 2 else None
    if positive is None and pos_label is not None:
        raise InputError(
            f"pos_label={pos_label!r} has no effect: there are {len(classes)} classes.", "Leave it at None."
        )
    shares = class_shares(truth, classes, weights)
    # the costs of classes that do not occur have no effect, so any number will do
    matrix = cost_matrix(cost, classes, positive, np.where(shares > 0, shares, 1.0))
    index = None if positive is None else classes.tolist().index(positive)
    costs = matrix
    if sample_cost is not None:
        others = cost_matrix(besides_misses(cost), classes, positive, shares) if len(classes) == 2 else matrix
        costs = row_matrices(sample_cost, others, len(truth), index)
    codes = np.searchsorted(classes, truth)
    if predicted is None:
        decisions = expected_costs(_probabilities(predictions, classes), costs).argmin(axis=1)
    else:
        decisions = np.searchsorted(classes, predicted)
    of_rows = costs[codes] if costs.ndim == 2 else costs[np.arange(len(truth)), codes]
    given = np.ones(len(truth)) if weights is None else weights
    return float(given @ of_rows[np.arange(len(decisions)), decisions]), of_rows, given


def _classes(truth: Array, predicted: Array | None, cost: Any, labels: Any) -> Array:
    """Return all classes, sorted, whether or not they occur."""
    present = unique_labels(truth) if predicted is None else unique_labels(truth, predicted)
    if labels is None and not isinstance(cost, Mapping):
        if len(present) < 2:
            raise InputError(
                f"Only one class occurs, {present.tolist()[0]!r}, so the other classes are unknown.",
                "Name all classes with labels.",
            )
        return np.asarray(present)
    classes = np.unique(np.asarray(list(cost if labels is None else labels)))
    unknown = [label for label in present.tolist() if label not in classes.tolist()]
    if unknown:
        known = "cost" if labels is None else "labels"
        raise InputError(f"The labels {unknown} occur, but {known} has only {classes.tolist()}.", "Name all classes.")
    return classes


def _probabilities(predictions: Any, classes: Array) -> Array:
    p = check_array(predictions, dtype=np.float64, input_name="y_pred")
    if p.shape[1] != len(classes):
        raise InputError(
            f"y_pred has {p.shape[1]} columns of probabilities, but the classes are {classes.tolist()}.",
            "Give a column for each class, and name classes that do not occur with labels.",
        )
    return np.asarray(p)
