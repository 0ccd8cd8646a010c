"""Early stopping: validation data, and the validation score of every round."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from skewboost.boosting.link import Link
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Engine
from skewboost.engine.partition import View
from skewboost.engine.scoring import Term
from skewboost.errors import InputError
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.boosting.training import Problem


def stratified_split(labels: Array, fraction: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the rows to train on and those to validate on, with at least one row of each class in both.

    `labels` are booleans (positive or not) or classes. Rows that have several labels are split at random.
    """
    chosen = np.zeros(len(labels), dtype=np.bool_)
    if labels.ndim == 2:
        groups = [("example", np.arange(len(labels)))]
    elif labels.dtype == np.bool_:
        groups = [("positive example", np.flatnonzero(labels)), ("negative example", np.flatnonzero(~labels))]
    else:
        groups = [(f"{c!r} example", np.flatnonzero(labels == c)) for c in np.unique(labels).tolist()]
    for name, rows in groups:
        if len(rows) < 2:
            raise InputError(
                f"early_stopping needs at least two examples of each class, but there is only {len(rows)} {name}. Set "
                "early_stopping=False, or provide more data."
            )
        n = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        chosen[rng.permutation(rows)[:n]] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


class _Stage(ClassifierMixin, BaseEstimator):
    """The ensemble so far as a fitted classifier, for scikit-learn's scorers. It knows the validation rows only."""

    def __init__(self, link: Link, F: Array, n_rounds: int, classes: Array) -> None:
        self.link, self.F, self.n_rounds = link, F, n_rounds
        self.classes_ = classes

    def fit(self, X: Any, y: Any) -> _Stage:
        return self

    def decision_function(self, X: Any) -> Array:
        return self.link.decision(self.F, self.n_rounds)

    def predict_proba(self, X: Any) -> Array:
        return self.link.proba(self.F, self.n_rounds)

    def predict(self, X: Any) -> Array:
        return self.link.labels(self.F, self.n_rounds, self.classes_)


class Validation:
    """Scores every round on the validation data. Higher is better."""

    def __init__(self, rows: Problem, engine: Engine, scoring: Any) -> None:
        self.rows = rows
        self.engine = engine
        # costs count as frequencies here, because the decision is where such odds are even
        weights = 1.0 if rows.weights is None else rows.weights
        self.importance = (rows.costs.of_rows(rows.target).T * weights).T
        self.scoring = scoring
        self.scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
        takes_weights = self.scorer is not None and "sample_weight" in signature(self.scorer).parameters
        self.score_params = {"sample_weight": rows.weights} if takes_weights and rows.weights is not None else {}
        self.best = -np.inf
        self.best_round = 0
        self.round = 0

    def start(self, bins: Bins | None, link: Link) -> None:
        """Encode the validation data with the bins of the training data, and initialise their scores."""
        self.view, self.link = View(self.engine, self.rows.table, bins), link
        self.F = link.start(self.rows.table.n_rows)

    def score(self, term: Term) -> float:
        """Add a round and return the score; by default the negative log-loss, with rows weighted by their costs."""
        self.round += 1
        self.F = self.link.combine(self.F, term.on(self.view))
        if self.scorer is None:
            likelihood = self.link.log_likelihood(self.F, self.rows.target, self.round)
            score = float(np.average(likelihood, weights=self.importance))
        else:
            stage = _Stage(self.link, self.F, self.round, self.rows.classes)
            score = float(self.scorer(stage, self.rows.table.native, self.rows.truth, **self.score_params))
        if score != score:
            raise InputError(
                f"scoring={self.scoring!r} returned NaN on the validation data after round {self.round}, so early "
                "stopping cannot find the best round. Choose another scorer, or a larger validation_fraction."
            )
        # the margin keeps rounding errors, which depend on the order of the rows, from choosing among equal rounds
        if self.best_round == 0 or score > self.best + 1e-10 * max(1.0, abs(self.best)):
            self.best, self.best_round = score, self.round
        return score

    @property
    def since_best(self) -> int:
        """The number of rounds since the best one."""
        return self.round - self.best_round
