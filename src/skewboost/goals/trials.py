"""Fits for the search: folds that are the same for every cost ratio, out-of-fold scores, and decisions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed

from skewboost.errors import InputError
from skewboost.fold_rows import given_folds
from skewboost.goals.rows import SearchRows, Units
from skewboost.goals.search import OutOfFoldScores, Point
from skewboost.meta.cost_passing import CostPassing, own_threshold, staged_scores_of
from skewboost.metrics.counts import check_scores
from skewboost.metrics.ranking import scores_of
from skewboost.typing import Array

MAX_STAGES = 25  # numbers of rounds that are tried
MAX_TRIES = 100


def folds_of(
    cv: Any, rows: SearchRows, positive: Array, estimator: Any, grouped: bool, rng: Any
) -> list[tuple[SearchRows, SearchRows]]:
    """Return pairs of training and test rows, prepared for many fits; `grouped`: the user named the units."""
    if isinstance(cv, int | np.integer):
        splits = _folds_of_units(cv, rows, positive, rng)
    else:
        splits = given_folds(cv, rows.y, rows.units if grouped else None, X=rows.X)
    return [(rows.take(train).prepared(estimator), rows.take(test).prepared(estimator)) for train, test in splits]


def _folds_of_units(cv: Any, rows: SearchRows, positive: Array, rng: Any) -> list[tuple[Array, Array]]:
    """Return stratified and shuffled folds of units, at most as many as the rarer class has units."""
    if isinstance(cv, bool) or cv < 2:
        raise InputError(f"cv={cv!r} must be an integer >= 2, a splitter, or an iterable of splits.")
    units = Units.of(rows, positive)
    kinds = 2 * units.has[1] + units.has[0]  # units of negatives, of positives, of both
    names, sizes = np.unique(kinds, return_counts=True)
    fewest = int(units.has.sum(axis=1).min())
    n_folds = min(int(cv), fewest)
    kinds[np.isin(kinds, names[sizes < n_folds])] = names[sizes.argmax()]  # too few to be in every fold
    for _ in range(MAX_TRIES if n_folds >= 2 else 0):
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=rng.randint(2**31 - 1))
        fold = np.empty(len(kinds), dtype=np.intp)
        for k, (_, test) in enumerate(folds.split(kinds, kinds)):
            fold[test] = k
        if all(units.has[:, fold != k].any(axis=1).all() for k in range(n_folds)):
            of_row = fold[units.of_row]
            return [(np.flatnonzero(of_row != k), np.flatnonzero(of_row == k)) for k in range(n_folds)]
    raise InputError(
        f"A class has {fewest} independent example(s) to search on, but cross-validation needs at least 2.",
        "Add examples. Equal rows, and rows of one group, count as one.",
    )


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

    def fit(self, rows: SearchRows, point: Point) -> Any:
        """Fit the model of a point to all rows of the search."""
        return self.cost_passing.fit(rows.X, rows.y, point.costs, rows.params)


@dataclass
class SingleTrial:
    """A model that was fitted once, with the out-of-fold scores of its own training."""

    cost_passing: CostPassing
    model: Any
    own: OutOfFoldScores

    @classmethod
    def of(cls, cost_passing: CostPassing, rows: SearchRows) -> SingleTrial | None:
        """Fit a portfolio to all rows of the search; None if it has no out-of-fold scores of both classes."""
        model = cost_passing.fit(rows.X, rows.y, None, rows.params)
        scores = model._held_out_decisions()
        known = np.zeros(len(rows.y), dtype=np.bool_) if scores is None else ~np.isnan(scores)
        positive = rows.y == cost_passing.pos_label
        if len(np.unique(positive[known])) < 2:
            return None
        scores = scores if model.classes_[1] == cost_passing.pos_label else np.negative(scores)
        weights = rows.weights
        if not known.all():  # the others stand for all
            weights = np.ones(len(rows.y)) if weights is None else weights
            weights = weights * (weights.sum() / weights[known].sum())
        own = OutOfFoldScores(positive[known], scores[known], None if weights is None else weights[known], 0.0)
        return cls(cost_passing, model, own)

    def scores(self, costs: tuple[float, float] | None) -> list[tuple[int | None, OutOfFoldScores]]:
        """Return the out-of-fold scores."""
        return [(None, self.own)]

    def fit(self, rows: SearchRows, point: Point) -> Any:
        """Return the model."""
        return self.model


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


@dataclass(frozen=True)
class Decision:
    """A fitted model, its threshold, and the point of the search that it belongs to."""

    model: Any
    threshold: float
    point: Point
    pos_label: Any
    lower: float | None = None  # rows with scores from here to the threshold are referred; None: no row is

    @classmethod
    def of(cls, model: Any, point: Point, pos_label: Any) -> Decision:
        """Return the decision of a point; a skewboost booster keeps only the rounds in use."""
        if point.n_rounds is not None and hasattr(model, "truncated"):
            model = model.truncated(point.n_rounds)
        return cls(model, point.threshold, point, pos_label, point.lower)

    def at(self, threshold: Any) -> Decision:
        """Return the same with another threshold, or another pair of them, the lower one first."""
        lower, upper = (None, threshold) if np.ndim(threshold) == 0 else threshold.tolist()
        return replace(self, threshold=float(upper), lower=lower)

    def scores(self, X: Any) -> Array:
        """Return scores that are higher where the positive class is more likely; raise if one is not finite."""
        n_rounds = self.point.n_rounds
        if n_rounds is None or hasattr(self.model, "truncated"):
            return check_scores(scores_of(self.model, X, self.pos_label))
        *_, scores = at_rounds(staged_scores_of(self.model, X, self.pos_label), [n_rounds])
        return check_scores(scores)

    def probabilities(self, X: Any) -> Array:
        """Return the probabilities of both classes, in their order."""
        n_rounds = self.point.n_rounds
        if n_rounds is None or hasattr(self.model, "truncated"):
            return np.asarray(self.model.predict_proba(X))
        *_, probabilities = at_rounds(iter(self.model.staged_predict_proba(X)), [n_rounds])
        return np.asarray(probabilities)

    def decide(self, scores: Array) -> tuple[Array, Array | None]:
        """Return which rows are predicted to be positive, and which are referred, if any may be."""
        flagged = scores >= self.threshold
        return flagged, None if self.lower is None else (scores >= self.lower) & ~flagged

    def decisions(self, X: Any) -> tuple[Array, Array | None]:
        """Return which rows are predicted to be positive, and which are referred, if any may be."""
        return self.decide(self.scores(X))


def above(scores: Array, threshold: float, second: bool) -> Array:
    """Return by how much scores exceed a threshold, with the sign of a `decision_function`.

    It is positive exactly where ``classes_[1]`` is predicted: the class of higher scores if `second`, else the other.
    """
    margins = scores - threshold
    if not second:
        return np.negative(margins)
    equal = (scores >= threshold) & ~(margins > 0)  # a score at the threshold means the class of higher scores
    return np.where(equal, np.nextafter(0.0, 1.0), margins)
