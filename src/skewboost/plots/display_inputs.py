"""Classifiers, labels, scores and costs as displays use them, checked once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from skewboost.errors import InputError
from skewboost.fitting import last_step
from skewboost.meta.expected_cost import ExpectedCostMixin
from skewboost.metrics.costs import Costs, check_cost, cost_matrix, costs_of
from skewboost.metrics.counts import Counts
from skewboost.metrics.inputs import read_scores, read_truth, which_is_positive
from skewboost.metrics.ranking import METHODS, scores_of
from skewboost.names import quoted, shortened, side_by_side
from skewboost.parameters import FRACTION, check_arguments, optional
from skewboost.plots.display import Display
from skewboost.typing import Array


@dataclass(frozen=True, eq=False)
class Predictions:
    """True classes, scores and decisions of the rows with a positive weight."""

    positive: Array  # whether a row belongs to the positive class
    scores: Array  # larger for rows that are more likely positive
    flagged: Array | None  # whether a row is predicted positive
    weights: Array | None
    classes: list[Any]
    pos_label: Any
    own_costs: Costs | None = None  # of the model

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, pos_label: Any, sample_weight: Any, method: str = "auto"
    ) -> Predictions:
        """Compute the scores and decisions of a fitted classifier."""
        check_classifier(estimator, *(METHODS if method == "auto" else (method,)))
        truth, weights = read_truth(y, X, sample_weight)
        label = positive_class(estimator, truth, pos_label, weights)
        check_both_classes(truth == label, weights, label)
        flagged = np.asarray(estimator.predict(X)) == label
        scores, classes = scores_of(estimator, X, label, method), np.asarray(estimator.classes_).tolist()
        own = costs_of_model(estimator, truth, np.asarray(classes), label, weights) if len(classes) == 2 else None
        return cls(truth == label, scores, flagged, weights, classes, label, own)._checked()

    @classmethod
    def from_scores(cls, y_true: Any, y_score: Any, y_pred: Any, pos_label: Any, sample_weight: Any) -> Predictions:
        """Read given scores (or a column of them per class), and decisions unless `y_pred` is None."""
        truth, weights = read_truth(y_true, y_score, sample_weight)
        classes = np.unique(truth)  # only once: it takes a second for a million strings
        label = which_is_positive(truth, classes, pos_label, weights)
        positive = truth == label
        check_both_classes(positive, weights, label)
        scores = np.asarray(y_score)
        if scores.ndim == 2 and scores.shape[1] == len(classes):
            scores = scores[:, classes.tolist().index(label)]
        _, scores, _ = read_scores(positive, scores, True, None)
        flagged = None
        if y_pred is not None:
            read_truth(positive, y_pred, None)
            flagged = np.asarray(y_pred).ravel() == label
        return cls(positive, scores, flagged, weights, classes.tolist(), label)._checked()

    def _checked(self) -> Predictions:
        """Raise unless the scores are finite; drop rows of weight zero."""
        if not np.isfinite(self.scores).all():
            raise InputError("y_score contains NaN or infinity. Replace these values, or leave out their rows.")
        if self.weights is None:
            return self
        rows = self.weights > 0
        flagged = None if self.flagged is None else self.flagged[rows]
        values = self.positive[rows], self.scores[rows], flagged, self.weights[rows]
        return Predictions(*values, self.classes, self.pos_label, self.own_costs)

    @property
    def prevalence(self) -> float:
        """The fraction of positives."""
        return float(np.average(self.positive, weights=self.weights))

    @property
    def counts(self) -> Counts | None:
        """The confusion counts of the decisions; None without decisions."""
        return None if self.flagged is None else Counts.of(self.positive, self.flagged, self.weights)

    def prevalence_in_use(self, prevalence: Any) -> float:
        """Check the argument `prevalence`; None means the fraction of positives in y."""
        check_arguments(prevalence=(prevalence, optional(FRACTION)))
        return self.prevalence if prevalence is None else float(prevalence)

    def error_costs(self, cost: Any) -> tuple[float, float]:
        """Read the argument `cost`: what a miss and a false alarm cost more than a correct decision.

        None means the costs of the model if they are known, else balanced ones.
        """
        if cost is None and self.own_costs is not None:
            return self.own_costs.positive, self.own_costs.negative
        classes, label = self.classes, self.pos_label
        if len(classes) != 2:
            if isinstance(cost, Mapping) or np.ndim(cost) > 0:
                raise InputError(
                    f"cost={cost!r} is for {len(classes)} classes, but this display compares one class with the rest. "
                    "Pass a number: how many false alarms a miss costs."
                )
            classes, label = [False, True], True
        k = classes.index(label)
        frequencies = np.array([1.0 - self.prevalence, self.prevalence])
        C = cost_matrix(cost, np.array(classes), label, frequencies if k == 1 else frequencies[::-1])
        return float(C[k, 1 - k] - C[k, k]), float(C[1 - k, k] - C[1 - k, 1 - k])


class PredictionDisplay(Display):
    """Base class of the displays of scores and decisions under given costs and prevalence."""

    @classmethod
    def _from(cls, predictions: Predictions, cost: Any, prevalence: Any) -> Self:
        raise NotImplementedError

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        cost: Any = None,
        prevalence: float | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a fitted classifier, on rows that it was not trained on.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with `decision_function` or `predict_proba`; its `predict` is the operating point.
        X, y : table and labels
            The rows.
        cost : number, "balanced", dict, matrix or None, default=None
            The costs of errors, as in `skewboost.metrics.total_cost`; None means those of the model, if it has
            any, else "balanced".
        prevalence : float or None, default=None
            The fraction of positives where the model is used; None means the one in `y`.
        pos_label : label or None, default=None
            The positive class; None means `pos_label_` of the model if it has one, else the rarer of two classes.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The weights of the rows.
        ax : matplotlib Axes or None, default=None
            The axes to draw on; None makes a new figure.
        **options
            Further parameters of `plot`.
        """
        predictions = Predictions.from_estimator(estimator, X, y, pos_label, sample_weight)
        return cls._from(predictions, cost, prevalence).plot(ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        y_pred: Any = None,
        cost: Any = None,
        prevalence: float | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw given scores, and decisions `y_pred` unless None; other parameters as in `from_estimator`."""
        predictions = Predictions.from_scores(y_true, y_score, y_pred, pos_label, sample_weight)
        return cls._from(predictions, cost, prevalence).plot(ax, **options)


def costs_of_model(model: Any, labels: Array, classes: Array, positive: Any, weights: Array | None) -> Costs | None:
    """Return the costs that a model of two classes decides by, or was trained with; None if they are not known."""
    model = last_step(model)
    matrix, first = getattr(model, "cost_matrix_", None), False
    if matrix is not None:  # of a GoalSearchCV, the negative class first
        first = positive != model.pos_label_
    elif isinstance(model, ExpectedCostMixin) and not model._costs_are_balanced:
        matrix, first = model.cost_, positive == classes[0]
    if matrix is not None:
        costs = Costs(float(matrix[0, 1] - matrix[0, 0]), float(matrix[1, 0] - matrix[1, 1]))
        return Costs(costs.positive, costs.negative) if first else costs
    cost = getattr(model, "cost", None)
    if cost is None:
        return None
    try:
        check_cost(cost, classes)
    except ValueError:
        return None
    own = getattr(model, "pos_label_", positive)  # a number is the cost of missing this class
    costs = costs_of(cost, None, labels, own, classes, weights)
    return costs if own == positive else Costs(costs.positive, costs.negative)


def check_explainable(estimator: Any, method: str, instead: str) -> None:
    """Raise unless it is a fitted booster with this method."""
    if not hasattr(estimator, method):
        problem = f"estimator is a {type(estimator).__name__}, which has no method {method}."
        raise InputError(problem, f"Pass a booster of skewboost, or use {instead}.")
    check_is_fitted(estimator)


def explained_class(estimator: Any, label: Any) -> tuple[Any, int]:
    """Return the class to explain, by default the positive one of two, and its number."""
    classes = np.asarray(estimator.classes_).tolist()
    if label is None and len(classes) == 2:
        label = getattr(estimator, "pos_label_", classes[1])
    if label not in classes:
        raise InputError(f"label={label!r} must be one of the classes {classes}.")
    return label, classes.index(label)


def format_label(label: Any) -> str:
    """A class label for text: text is in quotation marks, and long labels are shortened."""
    return shortened(quoted(label))


def class_labels(classes: Any, pos_label: Any) -> tuple[str, str]:
    """The names of the negative class (or "the rest") and of the positive class."""
    rest = [c for c in np.asarray(classes).tolist() if c != pos_label]
    if len(rest) > 1:
        return "the rest", format_label(pos_label)
    negative, positive = side_by_side([rest[0], pos_label], quotes=True)
    return negative, positive


def check_classifier(estimator: Any, *methods: str, argument: str = "estimator") -> None:
    """Raise unless it is a fitted classifier with one of these methods."""
    name = type(estimator).__name__
    if not hasattr(estimator, "predict") or not is_classifier(estimator):
        raise InputError(f"{argument} is a {name}, but must be a classifier. Pass a fitted classifier.")
    check_is_fitted(estimator)
    if methods and not any(hasattr(estimator, method) for method in methods):
        raise InputError(
            f"{argument}={name} has none of the methods {', '.join(methods)}. Pass a classifier that has one of them."
        )


def positive_class(estimator: Any, truth: Array, pos_label: Any, weights: Array | None) -> Any:
    """Return `pos_label`; by default that of the model, else the rarer of two classes in y."""
    classes = np.asarray(estimator.classes_)
    if pos_label is None and len(classes) == 2:
        pos_label = getattr(estimator, "pos_label_", None)
    return which_is_positive(truth, classes, pos_label, weights)


def check_both_classes(positive: Array, weights: Array | None, label: Any) -> None:
    """Raise unless there are rows of both classes."""
    present = positive if weights is None else positive[weights > 0]
    if present.all() or not present.any():
        raise InputError(
            f"y has only one class: {'all' if present.all() else 'none'} of its {len(present)} rows with a positive "
            f"weight are {format_label(label)}. Pass rows of both classes."
        )


def sample_rows(positive: Array, weights: Array | None, most: int) -> Array:
    """Increasing indices of at most `most` rows of each class, at random but always the same ones."""
    return sample_of_each((positive, ~positive), weights, most)


def sample_of_each(sides: Iterable[Array], weights: Array | None, most: int) -> Array:
    """Increasing indices of at most `most` rows of each of several sets, at random but always the same ones."""
    rng = np.random.default_rng(0)
    groups = [np.flatnonzero(side if weights is None else (weights > 0) & side) for side in sides]
    return np.sort(np.concatenate([g if len(g) <= most else rng.choice(g, most, replace=False) for g in groups]))


def equal_mass_bins(x: Array, mass: Array, n_bins: int) -> Array:
    """The bin of each row. Bins have about equal mass, equal values share a bin, and no bin is empty."""
    values, code = np.unique(x, return_inverse=True)
    mass_of_value = np.bincount(code, mass, len(values))
    middle = np.cumsum(mass_of_value) - 0.5 * mass_of_value
    bins = np.minimum((n_bins * middle / mass_of_value.sum()).astype(np.intp), n_bins - 1)
    return np.asarray(np.unique(bins, return_inverse=True)[1][code])
