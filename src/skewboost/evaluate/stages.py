"""Predictions of a fitted booster after each round, for skewboost and other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from skewboost.boosting.estimator import BaseBooster
from skewboost.boosting.link import TwoClasses
from skewboost.errors import InputError
from skewboost.evaluate.problem import Problem
from skewboost.typing import Array


@dataclass(frozen=True)
class Stage:
    """The predictions of a booster after one round."""

    predicted: Array  # the numbers of the predicted classes
    F: Array | None = None  # larger for the positive class; with more than two classes, a column for each
    vote_sum: Array | None = None  # the largest possible margin of each row: Σ|terms|, if F is a sum of terms


def margins_of_classes(F: Array, truth: Array) -> Array:
    """Return the votes for the class of each row minus the most votes for any single other class.

    `F` has a column of votes per class, and `truth` the number of the class of each row.
    """
    others = F.copy()
    others[np.arange(len(F)), truth] = -np.inf
    return np.asarray(F[np.arange(len(F)), truth] - others.max(axis=1))


def largest_margins(votes: Array) -> Array:
    """Return the largest margin that the votes of a round can give a row: those for a class minus those for another."""
    return np.asarray(votes.max(axis=1) - votes.min(axis=1))


def check_staged(estimator: Any) -> None:
    """Raise an error unless an estimator has staged predictions."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(last, "staged_predict"):
        inner = getattr(last, "estimator", None)
        remedy = f" Or pass its estimator, {inner!r}, on its own." if hasattr(inner, "staged_predict") else ""
        raise InputError(
            f"{type(last).__name__} has no method staged_predict, so its rounds cannot be evaluated.",
            "Pass a booster: one of skewboost.catalogue(), or scikit-learn's AdaBoostClassifier, "
            f"GradientBoostingClassifier or HistGradientBoostingClassifier.{remedy}",
        )


def stages_of(model: Any, X: Any, problem: Problem) -> Iterator[Stage]:
    """Yield the predictions of a fitted booster after every round."""
    if isinstance(model, Pipeline):
        X = model[:-1].transform(X) if len(model.steps) > 1 else X
        model = model.steps[-1][1]
    if isinstance(model, BaseBooster):
        yield from _own(model, X, problem) if problem.binary else _own_of_many(model, X, problem)
        return
    scores = model.staged_decision_function(X) if hasattr(model, "staged_decision_function") else repeat(None)
    second = problem.binary and problem.pos_label == problem.classes[1]
    for labels, F in zip(model.staged_predict(X), scores):
        predicted = problem.codes(labels)
        if F is None or not problem.binary:
            yield Stage(predicted, F)
        else:
            flat = np.asarray(F, dtype=np.float64).reshape(len(predicted))
            yield Stage(predicted, flat if second else -flat)


def _own(model: BaseBooster, X: Any, problem: Problem) -> Iterator[Stage]:
    """Yield F as the sum of the rounds of a skewboost model, without the shift of its decision function."""
    fitted = model._model
    link, is_sum = model._deciding_link, fitted.is_sum
    assert isinstance(link, TwoClasses)
    positive = int(problem.pos_label == problem.classes[1])
    before: Any = link.offset
    vote_sum: Any = abs(before)
    for F, n_rounds in model._staged_scores(X):
        flagged = link.score(F, n_rounds) >= 0
        if is_sum:
            vote_sum = vote_sum + np.abs(F - before)
            before = F
        same = model.pos_label_ == problem.pos_label
        flagged = flagged if same else ~flagged
        yield Stage(np.where(flagged, positive, 1 - positive), F if same else -F, vote_sum if is_sum else None)


def _own_of_many(model: BaseBooster, X: Any, problem: Problem) -> Iterator[Stage]:
    """Yield the votes for each class, rounded as they are for decisions."""
    link = model._deciding_link
    before: Any = 0.0
    vote_sum: Any = 0.0
    for votes, n_rounds in model._staged_scores(X):
        F = link.decision(votes, n_rounds)
        vote_sum = vote_sum + largest_margins(F - before)
        before = F
        yield Stage(problem.codes(link.labels(votes, n_rounds, model.classes_)), F, vote_sum)
