"""What "minimum cost over costs in training" may mean, with the rounds of an ensemble to choose from as well."""

from __future__ import annotations

from typing import Any

import numpy as np

FEWER_ROUNDS = 50
LAST, MEAN, FOLD, FEWER, FINER, EACH, HONEST = (
    "all rounds", "one round", "round per fold", f"{FEWER_ROUNDS} rounds", "finer costs", "both per fold", "honest",
)  # fmt: skip
HALVES, ONES = "steps of 0.5", "steps of 1"
READINGS = (LAST, MEAN, FOLD, FEWER, FINER, EACH, HONEST)
COARSER = {HALVES: 0.5, ONES: 1.0}


def errors(model: Any, X: Any, y: Any, n_rounds: int) -> Any:
    """Return the false positives and the misses after each round; a model that ended early keeps its last ones."""
    stages = np.array(list(model.staged_predict(X)))
    counts = np.array([(stages[:, y == 0] == 1).sum(axis=1), (stages[:, y == 1] == 0).sum(axis=1)])
    return counts[:, np.minimum(np.arange(n_rounds), len(stages) - 1)]


def at_best(by_cost: Any, costs: Any) -> list[float | None]:
    """Return the minimum over the costs, and the cost."""
    return [float(by_cost.min()), float(costs[by_cost.argmin()])]


def least(loss: Any, costs: Any, plain: Any) -> dict[str, list[float | None]]:
    """Return the minimum of ε and its cost by each reading, given the loss by cost, fold and round."""
    of_plain, names = loss[plain], costs[plain]
    return {
        LAST: at_best(of_plain[:, :, -1].mean(axis=1), names),
        MEAN: at_best(of_plain.mean(axis=1).min(axis=1), names),
        FOLD: at_best(of_plain.min(axis=2).mean(axis=1), names),
        FEWER: at_best(of_plain[:, :, :FEWER_ROUNDS].min(axis=2).mean(axis=1), names),
        FINER: at_best(loss.min(axis=2).mean(axis=1), costs),
        EACH: [float(of_plain.min(axis=(0, 2)).mean()), None],
    }


def nested(outer: Any, inner: dict[tuple[int, int], Any], f: float) -> float:
    """Return ε where cost and round of each fold are those that are best on the others.

    `outer` are the errors by cost, fold, kind and round, and `inner` those of models trained without two folds, on
    either of the two: by cost, fold of the two, kind and round.
    """
    total, n_folds = 0.0, outer.shape[1]
    for k in range(n_folds):
        on_others = 0.0
        for (a, b), found in inner.items():
            if k in (a, b):
                other = 1 if k == a else 0
                on_others = on_others + found[:, other, 0] + f * found[:, other, 1]
        cost, end = np.unravel_index(np.argmin(on_others), np.shape(on_others))
        total += outer[cost, k, 0, end] + f * outer[cost, k, 1, end]
    return float(total / n_folds)
