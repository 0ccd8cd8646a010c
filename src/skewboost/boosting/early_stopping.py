"""Early stopping: rows that are held out of training, and the score of every round on them."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from skewboost.boosting.rule import Rule, log_logistic
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Array, Engine
from skewboost.engine.partition import View
from skewboost.engine.scoring import Term
from skewboost.engine.table import Table
from skewboost.metrics.costs import Costs


def stratified_split(labels: Array, fraction: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Row numbers to train on and to validate on: a share of each class, and at least one row of each on both sides.

    Labels say which rows are positive, or the class of each.
    """
    chosen = np.zeros(len(labels), dtype=np.bool_)
    classes = [("positive", True), ("negative", False)]
    if labels.dtype != np.bool_:
        classes = [(repr(c), c) for c in np.unique(labels).tolist()]
    for name, label in classes:
        rows = np.flatnonzero(labels == label)
        if len(rows) < 2:
            raise ValueError(
                f"early_stopping holds out at least one example of each class, but there is only {len(rows)} {name} "
                "example. Set early_stopping=False, or give more data."
            )
        n = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        chosen[rng.permutation(rows)[:n]] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


class Stage(ClassifierMixin, BaseEstimator):
    """The ensemble so far, on the validation rows only, as scikit-learn's scorers want to see it.

    The positive class is 1 and the other 0, so that scores such as "recall" or "f1" are those of the positive class.
    """

    def __init__(self, F: Array, p: Array) -> None:
        self.classes_ = np.array([0, 1])
        self.F = F
        self.p = p

    def fit(self, X: Any, y: Any) -> Stage:
        """Nothing to do."""
        return self

    def decision_function(self, X: Any) -> Array:
        """F."""
        return self.F

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of both classes."""
        return np.column_stack((1.0 - self.p, self.p))

    def predict(self, X: Any) -> Array:
        """The class of F's sign."""
        return (self.F >= 0).astype(np.intp)


class Validation:
    """Scores rounds on held-out rows; higher is better."""

    def __init__(
        self,
        rule: Rule,
        engine: Engine,
        table: Table,
        positive: Array,
        weights: Array | None,
        costs: Costs,
        scoring: Any,
    ) -> None:
        self.rule = rule
        self.engine = engine
        self.table = table
        self.positive = positive
        self.weights = weights
        self.truth = positive.astype(np.intp)  # as scorers see it
        # a mistake counts as often as it costs, and the decision is where such odds are even
        self.importance = (costs.of_rows(positive).T * (1.0 if weights is None else weights)).T
        self.scoring = scoring
        self.scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
        takes_weights = self.scorer is not None and "sample_weight" in signature(self.scorer).parameters
        self.score_params = {"sample_weight": weights} if takes_weights and weights is not None else {}
        self.best = -np.inf
        self.best_round = 0
        self.round = 0

    def open(self, bins: Bins | None) -> None:
        """Encode the rows with the bins of training."""
        self.view = View(self.engine, self.table, bins)
        self.F = np.full(self.table.n_rows, self.rule.offset())

    def score(self, term: Term) -> float:
        """The score after one more round: by default minus the log-loss, in which a row counts as much as it costs."""
        self.round += 1
        self.F = self.rule.combine(self.F, term.on(self.view))
        if self.scorer is None:
            score = float(np.average(self.log_likelihood(), weights=self.importance))
        else:
            score = float(self.scorer(self.stage(), self.table.native, self.truth, **self.score_params))
        if score != score:
            raise ValueError(
                f"scoring={self.scoring!r} gave NaN on the held-out rows after round {self.round}, so early stopping "
                "cannot tell the best round. Choose another scorer, or a larger validation_fraction."
            )
        # rounding is no improvement: without the margin the order of rows would choose among equal rounds
        if self.best_round == 0 or score > self.best + 1e-10 * max(1.0, abs(self.best)):
            self.best, self.best_round = score, self.round
        return score

    def log_likelihood(self) -> Array:
        """How likely the true classes are."""
        odds = self.rule.log_odds(self.F, self.round)
        return log_logistic(np.where(self.positive, odds, -odds))

    def stage(self) -> Any:
        """The ensemble so far, as scorers see it."""
        return Stage(self.rule.decide(self.F, self.round), self.rule.probability(self.F, self.round))

    @property
    def since_best(self) -> int:
        """Rounds since the best score."""
        return self.round - self.best_round
