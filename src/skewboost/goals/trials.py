"""Fits for the search: the same folds for every ratio of costs, and answers on rows that a fit has not seen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from skewboost.boosting.estimator import BaseBooster
from skewboost.engine.table import PreparedTable, take_rows
from skewboost.errors import InputError
from skewboost.goals.search import Answers
from skewboost.meta.cost_passing import Weighing, own_threshold, staged_scores_of
from skewboost.metrics.ranking import scores_of
from skewboost.typing import Array

MAX_STAGES = 25  # rounds at which staged answers are looked at


@dataclass
class Rows:
    """Some of the user's rows, with all that is known of them."""

    X: Any
    y: Array
    units: Array  # the number of the independent unit that each belongs to
    params: dict[str, Any] = field(default_factory=dict)  # what `fit` is given besides
    held_out: Array | None = None  # which rows the user wants held out
    counted: bool = False  # whether weights count independent examples

    def part(self, examples: Array) -> Rows:
        """So many examples of each where weights count these; else the rows of which there is one."""
        there = np.flatnonzero(examples)
        rows = self.take(there)
        if self.counted and rows.weights is not None:
            rows.params["sample_weight"] = examples[there].astype(np.float64)
        return rows

    def take(self, rows: Array) -> Rows:
        """Some of them."""
        n = len(self.y)
        params = {
            name: take_rows(value, rows) if isinstance(value, Sized) and _length(value) == n else value
            for name, value in self.params.items()
        }
        held_out = None if self.held_out is None else self.held_out[rows]
        return replace(
            self, X=take_rows(self.X, rows), y=self.y[rows], units=self.units[rows], params=params, held_out=held_out
        )

    def prepared(self, estimator: Any) -> Rows:
        """The same, read and binned once for all fits of a booster of ours; others get what the user gave."""
        ours = isinstance(estimator, BaseBooster)
        return replace(self, X=PreparedTable(estimator, self.X)) if ours else self

    @property
    def weights(self) -> Array | None:
        """How much each weighs, or how many examples it stands for."""
        weights = self.params.get("sample_weight")
        return None if weights is None else np.asarray(weights, dtype=np.float64)


def _length(value: Any) -> int:
    return -1 if isinstance(value, str | dict) else len(value)


@dataclass
class Trials:
    """Folds, and how to fit on them."""

    weighing: Weighing
    folds: list[tuple[Rows, Rows]]
    rounds: list[int] | None = None  # after which to look, where rounds are to be found too
    n_jobs: int | None = None

    def ask(self, costs: tuple[float, float] | None) -> list[tuple[int | None, Answers]]:
        """Out-of-fold answers of models that were told these costs, after each of the rounds."""
        scores = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._of_fold)(train, test, costs) for train, test in self.folds
        )
        y = np.concatenate([test.y for _, test in self.folds])
        parts = [test.weights for _, test in self.folds]
        weights = np.concatenate([w for w in parts if w is not None]) if parts[0] is not None else None
        positive, own = y == self.weighing.pos_label, own_threshold(self.weighing.estimator)
        together = np.concatenate(scores, axis=1)
        stages = [None] if self.rounds is None else self.rounds
        return [(n, Answers(positive, stage, weights, own)) for n, stage in zip(stages, together)]

    def _of_fold(self, train: Rows, test: Rows, costs: tuple[float, float] | None) -> Array:
        model = self.weighing.fit(train.X, train.y, costs, train.params)
        if self.rounds is None:
            return scores_of(model, test.X, self.weighing.pos_label)[None, :]
        return np.array(list(at_rounds(staged_scores_of(model, test.X, self.weighing.pos_label), self.rounds)))


def at_rounds(stages: Iterator[Array], rounds: list[int]) -> Iterator[Array]:
    """Of what there is after every round, that after these; training may have ended before."""
    done, last = 0, None
    for k in rounds:
        for stage in islice(stages, k - done):
            last = stage
        done = k
        if last is None:
            raise InputError("The estimator made no rounds, so none can be chosen. Set tune_rounds=False.")
        yield last


def rounds_to_try(estimator: Any) -> list[int]:
    """Numbers of rounds, closer together where there are few."""
    name = getattr(estimator, "_rounds", "n_estimators")
    n_rounds = estimator.get_params().get(name)
    if n_rounds is None or not hasattr(estimator, "staged_decision_function"):
        raise InputError(
            f"tune_rounds=True needs an estimator with n_estimators and staged_decision_function, which "
            f"{type(estimator).__name__} has not. Leave it at False."
        )
    steps = np.geomspace(1, n_rounds, min(MAX_STAGES, 1 + 4 * math.ceil(math.log2(n_rounds + 1))))
    return sorted(set(steps.round().astype(int).tolist()))
