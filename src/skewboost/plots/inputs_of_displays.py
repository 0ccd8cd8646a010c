"""What displays are handed: models, truth, scores and costs, checked and in one shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from skewboost.errors import InputError
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.counts import Counts
from skewboost.metrics.inputs import read_scores, read_truth, which_is_positive
from skewboost.metrics.ranking import METHODS, scores_of
from skewboost.names import quoted, shortened, side_by_side
from skewboost.typing import Array


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says of rows, and what is true; without the rows of zero weight."""

    positive: Array  # which rows are
    scores: Array  # larger where more speaks for it
    flagged: Array | None  # which rows are said to be
    weights: Array | None
    classes: list[Any]
    pos_label: Any

    @property
    def prevalence(self) -> float:
        """The share of the positives."""
        return float(np.average(self.positive, weights=self.weights))

    @property
    def counts(self) -> Counts | None:
        """Of the decisions, where there are any."""
        return None if self.flagged is None else Counts.of(self.positive, self.flagged, self.weights)


def told(label: Any) -> str:
    """A label in words: in quotation marks if it is text, and not so long that nothing else has room."""
    return shortened(quoted(label))


def told_apart(label: Any, rest: Sequence[Any]) -> tuple[str, str]:
    """The names of what is not the positive class and of the positive class."""
    if len(rest) > 1:
        return "the rest", told(label)
    negative, positive = side_by_side([rest[0], label], quotes=True)
    return negative, positive


def check_classifier(estimator: Any, *needed: str) -> None:
    """Raise unless it is fitted, and has one of these methods."""
    name = type(estimator).__name__
    if not hasattr(estimator, "predict") or not is_classifier(estimator):
        raise InputError(f"estimator is a {name}, but only classifiers can be drawn here. Pass a fitted classifier.")
    check_is_fitted(estimator)
    if needed and not any(hasattr(estimator, method) for method in needed):
        raise InputError(f"estimator={name} has none of the methods {', '.join(needed)}. Pass a model that has one.")


def positive_class(estimator: Any, truth: Array, pos_label: Any, weights: Array | None) -> Any:
    """`pos_label`; else the one of the model, if it has one; else the rarer of two in y."""
    classes = np.asarray(estimator.classes_)
    if pos_label is None and len(classes) == 2:
        pos_label = getattr(estimator, "pos_label_", None)
    return which_is_positive(truth, classes, pos_label, weights)


def ask(estimator: Any, X: Any, y: Any, pos_label: Any, sample_weight: Any, method: str = "auto") -> Answers:
    """Scores and decisions of a fitted classifier."""
    check_classifier(estimator, *(METHODS if method == "auto" else (method,)))
    truth, weights = read_truth(y, X, sample_weight)
    label = positive_class(estimator, truth, pos_label, weights)
    positive, classes = truth == label, np.asarray(estimator.classes_).tolist()
    check_two(positive, weights, label)
    said = np.asarray(estimator.predict(X)) == label
    return _answers(positive, scores_of(estimator, X, label, method), said, weights, classes, label)


def read_predictions(y_true: Any, y_score: Any, y_pred: Any, pos_label: Any, sample_weight: Any) -> Answers:
    """Scores, and decisions if there are any, of whoever made them."""
    truth, weights = read_truth(y_true, y_score, sample_weight)
    classes = np.unique(truth)  # once: it takes a second for a million texts
    label = which_is_positive(truth, classes, pos_label, weights)
    positive = truth == label
    check_two(positive, weights, label)
    scores = np.asarray(y_score)
    if scores.ndim == 2 and scores.shape[1] == len(classes):
        scores = scores[:, classes.tolist().index(label)]
    _, scores, _ = read_scores(positive, scores, True, None)
    said = None
    if y_pred is not None:
        read_truth(positive, y_pred, None)
        said = np.asarray(y_pred).ravel() == label
    return _answers(positive, scores, said, weights, classes.tolist(), label)


def _answers(
    positive: Array, scores: Array, said: Array | None, weights: Array | None, classes: list[Any], label: Any
) -> Answers:
    if not np.isfinite(scores).all():
        raise InputError("y_score has values that are not finite numbers. Replace them, or leave out those rows.")
    if weights is not None:
        rows = weights > 0
        positive, scores, weights = positive[rows], scores[rows], weights[rows]
        said = None if said is None else said[rows]
    return Answers(positive, scores, said, weights, classes, label)


def check_two(positive: Array, weights: Array | None, label: Any) -> None:
    """Raise unless there are rows of both classes."""
    present = positive if weights is None else positive[weights > 0]
    if present.all() or not present.any():
        raise InputError(
            f"y has only one class: {'all' if present.all() else 'none'} of its {len(present)} rows (without those of "
            f"weight 0) are {told(label)}, so that there is nothing to tell apart. Pass rows of both classes."
        )


def check_prevalence(prevalence: Any, answers: Answers) -> float:
    """The share of positives where the model is used; None is the one in y."""
    if prevalence is None:
        return answers.prevalence
    if not 0.0 < float(prevalence) < 1.0:
        raise InputError(f"prevalence={prevalence!r} must be a share between 0 and 1, or None for the one in y.")
    return float(prevalence)


def prices(cost: Any, answers: Answers) -> tuple[float, float]:
    """What a miss and a false alarm cost more than the right answer."""
    share = answers.prevalence
    classes, label, shares = answers.classes, answers.pos_label, np.array([1.0 - share, share])
    if len(classes) != 2:
        if isinstance(cost, Mapping) or np.ndim(cost) > 0:
            raise InputError(
                f"cost={cost!r} is for {len(classes)} classes, but one of them is drawn against the rest. Give a "
                "number: how many false alarms a miss costs."
            )
        classes, label = [False, True], True
    k = classes.index(label)
    C = cost_matrix(cost, np.array(classes), label, shares if k == 1 else shares[::-1])
    miss, alarm = float(C[k, 1 - k] - C[k, k]), float(C[1 - k, k] - C[1 - k, 1 - k])
    if miss <= 0 or alarm <= 0:
        raise InputError(
            f"cost={C.tolist()} makes a mistake no dearer than the right answer: cost[true, predicted] must be larger "
            "off the diagonal than on it, in each row."
        )
    return miss, alarm
