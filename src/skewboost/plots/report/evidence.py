"""The results of a model on held-out rows, computed once for the whole report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.engine.table import sliceable
from skewboost.errors import InputError, InputTypeError
from skewboost.fitting import last_step
from skewboost.metrics.costs import Costs, check_cost, costs_of
from skewboost.metrics.counts import Counts
from skewboost.metrics.ranking import METHODS, scores_of
from skewboost.metrics.targets import check_labels, check_sample_weight, choose_positive
from skewboost.parameters import Check, check_arguments, number
from skewboost.plots.display_inputs import check_both_classes, check_classifier, costs_of_model
from skewboost.plots.report.explorer import shortest
from skewboost.typing import Array

PROBABILITY, SCORE = "probability", "decision score"
GIVEN, OF_MODEL, BALANCED = "given", "of the model", "balanced"


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """True classes, scores and decisions on the held-out rows, and the costs of errors."""

    y: Array
    positive: Array  # whether a row belongs to the positive class
    flagged: Array  # whether it is predicted positive
    scores: Array  # to which the explorer applies a threshold; larger for rows that are more likely positive
    kind: str  # what the scores are: "probability" or "decision score"
    ranks: Array  # by which curves and areas rank the rows: the decision function, if there is one
    threshold: float | None  # from which rows are flagged; None if the decisions are not a threshold on the score
    weights: Array | None
    pos_label: Any
    neg_label: Any
    costs: Costs  # of a miss and of a false alarm
    costs_from: str  # "given", "of the model" or "balanced"
    given: bool = False  # whether the threshold was given, and is not the model's own

    @property
    def threshold_name(self) -> str:
        """The threshold in words."""
        return "the given threshold" if self.given else "the model's own threshold"

    @property
    def counts(self) -> Counts:
        """The confusion counts of the decisions."""
        return Counts.of(self.positive, self.flagged, self.weights)


def compute_evidence(
    model: Any, X: Any, y: Any, cost: Any, pos_label: Any, sample_weight: Any, threshold: float | None = None
) -> Evidence:
    """Check all arguments of a report, and compute the scores and decisions of the model."""
    if isinstance(model, type):
        raise InputTypeError(f"model is the class {model.__name__}. Pass a fitted instance of it.")
    check_classifier(model, *METHODS, argument="model")
    classes = np.asarray(model.classes_)
    if len(classes) != 2:
        raise InputError(
            f"A report is about two classes, but the model has {len(classes)}: {classes.tolist()}. Fit it to "
            "y == label, and make a report on that."
        )
    n_rows = sliceable(X).shape[0]
    labels = check_labels(model, y, n_rows)
    unknown = [label for label in np.unique(labels).tolist() if label not in classes.tolist()]
    if unknown:
        raise InputError(f"y contains the labels {unknown}, but the model knows only {classes.tolist()}. Use these.")
    weights = None if sample_weight is None else check_sample_weight(sample_weight, n_rows)
    if pos_label is None:
        pos_label = getattr(last_step(model), "pos_label_", getattr(model, "pos_label_", None))
    pos_label = choose_positive(labels, classes, pos_label, weights)
    positive = labels == pos_label
    check_both_classes(positive, weights, pos_label)
    own_costs = costs_of_model(model, labels, classes, pos_label, weights)
    if cost is not None:
        check_cost(cost, classes)
    if cost is None and own_costs is not None:
        costs, costs_from = own_costs, OF_MODEL
    else:
        costs = costs_of(cost, None, labels, pos_label, classes, weights)
        costs_from = BALANCED if cost is None or isinstance(cost, str) else GIVEN
    ranks = scores_of(model, X, pos_label)
    if threshold is None:
        flagged = np.asarray(model.predict(X)) == pos_label
        scores, kind, at = _choose_scores(model, X, pos_label, flagged, own_costs, ranks)
    else:
        probability = Check(number(0, 1).passes, "a probability from 0 to 1, or None")
        check_arguments(threshold=(threshold, probability))
        check_classifier(model, "predict_proba", argument="model")
        scores, kind, at = scores_of(model, X, pos_label, "predict_proba"), PROBABILITY, float(threshold)
        flagged = scores >= at
    return Evidence(
        y=labels, positive=positive, flagged=flagged, scores=scores, kind=kind, ranks=ranks, threshold=at,
        weights=weights, pos_label=pos_label, neg_label=classes[classes != pos_label][0], costs=costs,
        costs_from=costs_from, given=threshold is not None,
    )  # fmt: skip


def _choose_scores(
    model: Any, X: Any, positive: Any, flagged: Array, costs: Costs | None, ranks: Array
) -> tuple[Array, str, float | None]:
    """Return scores, their kind, and the threshold that gives the decisions of the model.

    Probabilities are preferred, unless they have less than half as many distinct values as the decision function.
    """
    choices = []
    if hasattr(model, "predict_proba"):
        p = scores_of(model, X, positive, "predict_proba")
        likely = (0.5,) if costs is None else (1.0 / (1.0 + costs.ratio), 0.5)
        choices.append((p, PROBABILITY, _threshold(p, flagged, likely)))
    if hasattr(model, "decision_function"):
        choices.append((ranks, SCORE, _threshold(ranks, flagged, (0.0,))))
        if len(choices) == 2 and 2 * len(np.unique(choices[0][0])) < len(np.unique(ranks)):
            choices.reverse()
    return next((choice for choice in choices if choice[2] is not None), choices[0])


def _threshold(scores: Array, flagged: Array, likely: tuple[float, ...]) -> float | None:
    """Return a number that separates flagged from other rows: a likely one, else a short one, else None."""
    low = -np.inf if flagged.all() else float(scores[~flagged].max())
    above = float(np.nextafter(low, np.inf)) if np.isfinite(low) else 0.0
    high = float(scores[flagged].min()) if flagged.any() else max(above, low + 1e-3 * (low - float(scores.min())))
    if not low < high:
        return None
    for guess in likely:
        for candidate in (float(f"{guess:.6g}"), guess):  # a short one is easier to read
            if low < candidate and (candidate <= high or not flagged.any()):
                return candidate
    return float(shortest(np.array([low]), np.array([high]))[0])
