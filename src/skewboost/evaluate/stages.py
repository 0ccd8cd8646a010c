"""What a fitted booster says after each of its rounds, ours or another library's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skewboost.boosting.estimator import BaseBooster
from skewboost.boosting.link import TwoClasses
from skewboost.errors import InputError
from skewboost.evaluate.problem import Problem
from skewboost.meta.cost_passing import hides_classes, plain, renumbers
from skewboost.typing import Array


@dataclass(frozen=True)
class Stage:
    """A round's answers: the numbers of the predicted classes, and of two classes F and how much was voted."""

    said: Array
    F: Array | None = None  # towards the positive class
    voted: Array | None = None  # Σ|terms| on each row, where F is a sum of them


def check_staged(estimator: Any) -> None:
    """Raise where an estimator does not tell what it says after each round."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(last, "staged_predict"):
        inner = getattr(last, "estimator", None)
        remedy = f" Or pass its estimator, {inner!r}, on its own." if hasattr(inner, "staged_predict") else ""
        raise InputError(
            f"{type(last).__name__} has no staged_predict, so there is nothing to see of its rounds. Pass a booster: "
            "one of skewboost.catalogue(), or scikit-learn's AdaBoostClassifier, GradientBoostingClassifier or "
            f"HistGradientBoostingClassifier.{remedy}"
        )


def own_pos_label(estimator: Any) -> Any:
    """The positive class that the estimator was told, if it was."""
    params = estimator.get_params(deep=True)
    told = [v for k, v in params.items() if (k == "pos_label" or k.endswith("__pos_label")) and v is not None]
    return told[0] if told else None


def told_pos_label(estimator: Any, problem: Problem) -> Any:
    """A copy in which those of ours know the positive class, where they would choose the rarer of their rows."""
    told = clone(estimator)
    if not problem.binary:
        return told
    label, number = plain(problem.pos_label), int(problem.codes(problem.pos_label))
    params = told.get_params(deep=True)
    unset = [k for k, v in params.items() if k.rpartition("__")[2] == "pos_label" and v is None]
    own = [k for k in unset if type(params.get(k.rpartition("__")[0], told)).__module__.startswith("skewboost.")]
    seen = [k for k in own if not hides_classes(told, k)]
    return told.set_params(**{k: number if renumbers(told, k) else label for k in seen})


def booster_and_input(model: Any, X: Any) -> tuple[Any, Any]:
    """The booster at the end of a pipeline, and what reaches it."""
    if isinstance(model, Pipeline):
        return model.steps[-1][1], model[:-1].transform(X) if len(model.steps) > 1 else X
    return model, X


def stages_of(model: Any, X: Any, problem: Problem) -> Iterator[Stage]:
    """The answers of a fitted booster after every round."""
    model, X = booster_and_input(model, X)
    if isinstance(model, BaseBooster) and problem.binary:
        yield from _own(model, X, problem)
        return
    scores = repeat(None)
    if problem.binary and hasattr(model, "staged_decision_function"):
        scores = model.staged_decision_function(X)
    second = problem.binary and problem.pos_label == problem.classes[1]
    for labels, F in zip(model.staged_predict(X), scores):
        said = problem.codes(labels)
        if F is None:
            yield Stage(said)
        else:
            flat = np.asarray(F, dtype=np.float64).reshape(len(said))
            yield Stage(said, flat if second else -flat)


def _own(model: BaseBooster, X: Any, problem: Problem) -> Iterator[Stage]:
    """F as the rounds of a skewboost model make it, whatever the decision adds to it."""
    fitted = model._model
    link, is_sum = fitted.link, fitted.is_sum
    assert isinstance(link, TwoClasses)
    positive = int(problem.pos_label == problem.classes[1])
    before: Any = link.offset
    voted: Any = abs(before)
    for F, n_rounds in model._staged_scores(X):
        flagged = link.score(F, n_rounds) >= 0
        if is_sum:
            voted = voted + np.abs(F - before)
            before = F
        same = model.pos_label_ == problem.pos_label
        said = flagged if same else ~flagged
        yield Stage(np.where(said, positive, 1 - positive), F if same else -F, voted if is_sum else None)
