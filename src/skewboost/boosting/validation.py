"""Early stopping: rows that are held out of training, and the score of every round on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from skewboost.boosting.rule import Rule
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Array, Engine
from skewboost.engine.partition import View
from skewboost.engine.scoring import Term
from skewboost.tables import Table


def stratified_split(positive: Array, fraction: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Row numbers to train on and to validate on: a share of each class, and at least one row of each on both sides."""
    chosen = np.zeros(len(positive), dtype=np.bool_)
    for name, rows in (("positive", np.flatnonzero(positive)), ("negative", np.flatnonzero(~positive))):
        if len(rows) < 2:
            raise ValueError(
                f"early_stopping holds out at least one example of each class, but there is only {len(rows)} {name} "
                "example. Set early_stopping=False, or give more data."
            )
        n = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        chosen[rng.permutation(rows)[:n]] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


class _Stage(ClassifierMixin, BaseEstimator):
    """The ensemble so far, on the validation rows only, as scikit-learn's scorers want to see it."""

    def __init__(self, classes: Array, decision: Array, proba: Array) -> None:
        self.classes_ = classes
        self.decision = decision
        self.proba = proba

    def fit(self, X: Any, y: Any) -> _Stage:
        """Nothing to do."""
        return self

    def decision_function(self, X: Any) -> Array:
        """F, positive for the second class."""
        return self.decision

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of both classes."""
        return self.proba

    def predict(self, X: Any) -> Array:
        """The class of F's sign."""
        return np.asarray(self.classes_[(self.decision > 0).astype(np.intp)])


class Validation:
    """Scores rounds on held-out rows; higher is better."""

    def __init__(
        self,
        rule: Rule,
        engine: Engine,
        table: Table,
        positive: Array,
        weights: Array | None,
        classes: Array,
        positive_is_second: bool,
        scoring: Any,
    ) -> None:
        self.rule = rule
        self.engine = engine
        self.table = table
        self.positive = positive
        self.weights = weights
        self.classes = classes
        self.sign = 1.0 if positive_is_second else -1.0
        self.y = classes[(positive == positive_is_second).astype(np.intp)]
        self.scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
        self.best = -np.inf
        self.best_round = 0
        self.round = 0

    def open(self, bins: Bins | None) -> None:
        """Encode the rows with the bins of training."""
        self.view = View(self.engine, self.table, bins)
        self.F = np.zeros(self.table.n_rows)

    def score(self, term: Term) -> float:
        """The score after one more round: by default minus the log-loss of the rule's probabilities."""
        self.round += 1
        self.F += term.on(self.view)
        if self.scorer is None:
            margin = np.where(self.positive, self.F, -self.F)
            score = float(np.average(np.log(np.maximum(self.rule.probability(margin), 1e-300)), weights=self.weights))
        else:
            p = self.rule.probability(self.sign * self.F)
            stage = _Stage(self.classes, self.sign * self.F, np.column_stack((1.0 - p, p)))
            score = float(self.scorer(stage, self.table.native, self.y))
        if score > self.best:
            self.best, self.best_round = score, self.round
        return score

    @property
    def since_best(self) -> int:
        """Rounds since the best score."""
        return self.round - self.best_round
