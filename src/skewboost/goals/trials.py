"""Fits for the search: the same folds for every cost ratio, and out-of-fold scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from skewboost.errors import InputError
from skewboost.goals.rows import SearchRows
from skewboost.goals.search import OutOfFoldScores
from skewboost.meta.cost_passing import CostPassing, own_threshold, staged_scores_of
from skewboost.metrics.ranking import scores_of
from skewboost.typing import Array

MAX_STAGES = 25  # numbers of rounds that are tried


@dataclass
class Trials:
    """The folds, and how to fit on them."""

    cost_passing: CostPassing
    folds: list[tuple[SearchRows, SearchRows]]
    rounds: list[int] | None = None  # numbers of rounds to try; None: the estimator's own
    n_jobs: int | None = None

    def scores(self, costs: tuple[float, float] | None) -> list[tuple[int | None, OutOfFoldScores]]:
        """Return the out-of-fold scores of models fitted with these costs, after each number of rounds."""
        scores = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._scores_of_fold)(train, test, costs) for train, test in self.folds
        )
        y = np.concatenate([test.y for _, test in self.folds])
        parts = [test.weights for _, test in self.folds]
        weights = np.concatenate([w for w in parts if w is not None]) if parts[0] is not None else None
        positive, threshold = y == self.cost_passing.pos_label, own_threshold(self.cost_passing.estimator)
        stages = [None] if self.rounds is None else self.rounds
        return [
            (n, OutOfFoldScores(positive, stage, weights, threshold))
            for n, stage in zip(stages, np.concatenate(scores, axis=1))
        ]

    def _scores_of_fold(self, train: SearchRows, test: SearchRows, costs: tuple[float, float] | None) -> Array:
        model = self.cost_passing.fit(train.X, train.y, costs, train.params)
        if self.rounds is None:
            return scores_of(model, test.X, self.cost_passing.pos_label)[None, :]
        return np.array(list(at_rounds(staged_scores_of(model, test.X, self.cost_passing.pos_label), self.rounds)))


def at_rounds(stages: Iterator[Array], rounds: list[int]) -> Iterator[Array]:
    """Pick the stages after these numbers of rounds; the last stage stands for rounds that were not trained."""
    done, last = 0, None
    for k in rounds:
        for stage in islice(stages, k - done):
            last = stage
        done = k
        if last is None:
            raise InputError("The estimator made no rounds, so none can be chosen.", "Set tune_rounds=False.")
        yield last


def rounds_to_try(estimator: Any) -> list[int]:
    """Return numbers of rounds to try, closer together where they are small."""
    name = getattr(estimator, "_rounds", "n_estimators")
    n_rounds = estimator.get_params().get(name)
    if n_rounds is None or not hasattr(estimator, "staged_decision_function"):
        raise InputError(
            "tune_rounds=True needs an estimator with the parameter n_estimators and the method "
            f"staged_decision_function. {type(estimator).__name__} does not have both.",
            "Set tune_rounds=False.",
        )
    steps = np.geomspace(1, n_rounds, min(MAX_STAGES, 1 + 4 * math.ceil(math.log2(n_rounds + 1))))
    return sorted(set(steps.round().astype(int).tolist()))
