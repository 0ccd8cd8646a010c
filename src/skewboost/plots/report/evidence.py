"""What a model says of held-out rows, read once for the whole report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from skewboost.engine.table import sliceable
from skewboost.errors import InputError, InputTypeError
from skewboost.metrics.costs import Costs, check_cost, costs_of
from skewboost.metrics.counts import Counts
from skewboost.metrics.ranking import METHODS, scores_of
from skewboost.metrics.targets import check_labels, check_sample_weight, choose_positive
from skewboost.parameters import number
from skewboost.plots.report.explorer import shortest
from skewboost.typing import Array

PROBABILITY, SCORE = "probability", "decision score"


@dataclass(frozen=True, eq=False)
class Evidence:
    """Truth, scores and decisions on the held-out rows, and the prices.

    Attributes
    ----------
    y : ndarray
        The labels.
    positive, flagged : ndarray of bool
        Which rows are of the positive class, and which the model says are.
    scores : ndarray
        Higher where more speaks for the positive class: what the explorer's threshold is on.
    kind : {"probability", "decision score"}
        What the scores are.
    ranks : ndarray
        What curves and areas rank the rows by: the decision function, if there is one.
    threshold : float or None
        From which score on rows are flagged; None if the model's decisions are no matter of a threshold on the score.
    weights : ndarray or None
        How many examples a row stands for.
    pos_label, neg_label : label
        The classes.
    costs : Costs
        Of a miss and of a false alarm.
    costs_from : str
        Where these come from, in words.
    given : bool
        Whether the threshold was given, and is not the model's own.
    """

    y: Array
    positive: Array
    flagged: Array
    scores: Array
    kind: str
    ranks: Array
    threshold: float | None
    weights: Array | None
    pos_label: Any
    neg_label: Any
    costs: Costs
    costs_from: str
    given: bool = False

    @property
    def whose(self) -> str:
        """What rows are flagged by, in words."""
        return "the threshold that was given" if self.given else "the model's own threshold"

    @property
    def counts(self) -> Counts:
        """The answers that the report is about."""
        return Counts.of(self.positive, self.flagged, self.weights)


def gather(
    model: Any, X: Any, y: Any, cost: Any, pos_label: Any, sample_weight: Any, threshold: float | None = None
) -> Evidence:
    """Check everything, and ask the model."""
    classes = _classes(model)
    n_rows = sliceable(X).shape[0]
    labels = check_labels(model, y, n_rows)
    unknown = [label for label in np.unique(labels).tolist() if label not in classes.tolist()]
    if unknown:
        raise InputError(f"y has the labels {unknown}, but the model knows only {classes.tolist()}. Use those.")
    weights = None if sample_weight is None else check_sample_weight(sample_weight, n_rows)
    positive_class = _positive(model, labels, classes, pos_label, weights)
    positive = labels == positive_class
    present = np.ones(n_rows, dtype=np.bool_) if weights is None else weights > 0
    if positive[present].all() or not positive[present].any():
        only = labels[present][0]
        raise InputError(f"y has only one class, {only!r}: a report needs held-out rows of both. Pass more rows.")
    told = _told(model, labels, classes, positive_class, weights)
    if cost is not None:
        check_cost(cost, classes)
    if cost is None and told is not None:
        costs, costs_from = told, "as the model was told"
    else:  # without any, both classes matter the same
        costs = costs_of(cost, None, labels, positive_class, classes, weights)
        costs_from = "as balanced" if cost is None or isinstance(cost, str) else "as given"
    if not any(hasattr(model, method) for method in METHODS):
        name = type(model).__name__
        raise InputError(f"{name} has neither predict_proba nor decision_function, so there is no score to explore.")
    ranks = scores_of(model, X, positive_class)
    if threshold is None:
        flagged = np.asarray(model.predict(X)) == positive_class
        scores, kind, at = _scores(model, X, positive_class, flagged, told, ranks)
    else:
        scores, kind, at = _probabilities(model, X, positive_class, threshold), PROBABILITY, float(threshold)
        flagged = scores >= at
    negative_class = classes[classes != positive_class][0]
    return Evidence(
        labels, positive, flagged, scores, kind, ranks, at, weights, positive_class, negative_class, costs, costs_from,
        given=threshold is not None,
    )  # fmt: skip


def _probabilities(model: Any, X: Any, positive: Any, threshold: float) -> Array:
    """Of the positive class, on which a threshold was given."""
    if not number(0, 1).passes(threshold):
        raise InputError(f"threshold={threshold!r} must be a probability from 0 to 1, or None.")
    if not hasattr(model, "predict_proba"):
        name = type(model).__name__
        raise InputError(f"threshold={threshold!r} is a probability, and {name} gives none. Leave it at None.")
    return scores_of(model, X, positive, "predict_proba")


def _classes(model: Any) -> Array:
    if isinstance(model, type):
        raise InputTypeError(f"model is the class {model.__name__}; pass a fitted instance of it.")
    if not hasattr(model, "predict") or not is_classifier(model):
        raise InputTypeError(f"model must be a fitted classifier; got {model!r}.")
    check_is_fitted(model)
    classes = np.asarray(model.classes_)
    if len(classes) != 2:
        raise InputError(
            f"A report is about two classes, a rare one and the rest, but the model knows {len(classes)}: "
            f"{classes.tolist()}. Fit it to y == label, and report on that."
        )
    return classes


def _positive(model: Any, labels: Array, classes: Array, pos_label: Any, weights: Array | None) -> Any:
    if pos_label is None:
        pos_label = getattr(innermost(model), "pos_label_", getattr(model, "pos_label_", None))
    return choose_positive(labels, classes, pos_label, weights)


def innermost(model: Any) -> Any:
    """The last step of a pipeline, else the model itself."""
    steps = getattr(model, "steps", None)
    return steps[-1][1] if steps else model


def _told(model: Any, labels: Array, classes: Array, positive: Any, weights: Array | None) -> Costs | None:
    """Prices of mistakes, as the model was told."""
    matrix = getattr(innermost(model), "cost_matrix_", None)  # of a search for a goal, the negative class first
    if matrix is not None:
        both = Costs(float(matrix[0, 1] - matrix[0, 0]), float(matrix[1, 0] - matrix[1, 1]))
        same = positive == innermost(model).pos_label_
        return both if same else Costs(both.positive, both.negative)
    cost = getattr(innermost(model), "cost", None)
    if cost is None:
        return None
    try:
        check_cost(cost, classes)
    except ValueError:
        return None
    own = getattr(innermost(model), "pos_label_", positive)  # whose miss a number prices
    costs = costs_of(cost, None, labels, own, classes, weights)
    return costs if own == positive else Costs(costs.positive, costs.negative)


def _scores(
    model: Any, X: Any, positive: Any, flagged: Array, told: Costs | None, ranks: Array
) -> tuple[Array, str, float | None]:
    """Scores on which the model's decisions are a threshold, if there are any.

    Probabilities come first, unless most of what the model tells apart is one and the same to them.
    """
    found = []
    if hasattr(model, "predict_proba"):
        p = scores_of(model, X, positive, "predict_proba")
        likely = (0.5,) if told is None else (1.0 / (1.0 + told.ratio), 0.5)
        found.append((p, PROBABILITY, _threshold(p, flagged, likely)))
    if hasattr(model, "decision_function"):
        found.append((ranks, SCORE, _threshold(ranks, flagged, (0.0,))))
        if len(found) == 2 and 2 * len(np.unique(found[0][0])) < len(np.unique(ranks)):
            found.reverse()
    return next((one for one in found if one[2] is not None), found[0])


def _threshold(scores: Array, flagged: Array, likely: tuple[float, ...]) -> float | None:
    """A number that parts the flagged from the others, a likely one or else a short one; None if there is none."""
    low = -np.inf if flagged.all() else float(scores[~flagged].max())
    above = float(np.nextafter(low, np.inf)) if np.isfinite(low) else 0.0
    high = float(scores[flagged].min()) if flagged.any() else max(above, low + 1e-3 * (low - float(scores.min())))
    if not low < high:
        return None
    for guess in likely:
        for told in (float(f"{guess:.6g}"), guess):  # rather one that can be read
            if low < told and (told <= high or not flagged.any()):
                return told
    return float(shortest(np.array([low]), np.array([high]))[0])
