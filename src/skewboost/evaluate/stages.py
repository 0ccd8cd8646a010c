"""What a fitted booster says after each of its rounds, ours or another library's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skewboost.boosting.estimator import BoostingClassifier
from skewboost.boosting.rule import Rule
from skewboost.evaluate.measured import Problem
from skewboost.meta.cost_passing import hides_classes, plain, renumbers
from skewboost.metrics.counts import Array


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
        raise ValueError(
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
    if isinstance(model, BoostingClassifier) and problem.binary:
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


def _own(model: BoostingClassifier, X: Any, problem: Problem) -> Iterator[Stage]:
    """Of a booster of ours: F as the rounds make it, whatever the decision adds to it."""
    rule = model._ensembles[0].rule
    is_sum = type(rule).combine is Rule.combine
    positive = int(problem.pos_label == problem.classes[1])
    before: Any = rule.offset()
    voted: Any = abs(before)
    for (scored,) in model._staged_scores(X):
        F = scored.F if model.pos_label_ == problem.pos_label else -scored.F
        flagged = scored.decision >= 0
        if model.pos_label_ != problem.pos_label:
            flagged = ~flagged
        if is_sum:
            voted = voted + np.abs(scored.F - before)
            before = scored.F
        yield Stage(np.where(flagged, positive, 1 - positive), F, voted if is_sum else None)
