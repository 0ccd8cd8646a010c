"""Early stopping: rows that are held out of training, and the score of every round on them."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from skewboost.boosting.link import Link
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Engine
from skewboost.engine.partition import View
from skewboost.engine.scoring import Term
from skewboost.engine.table import Table
from skewboost.errors import InputError
from skewboost.metrics.costs import Costs
from skewboost.typing import Array


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
            raise InputError(
                f"early_stopping holds out at least one example of each class, but there is only {len(rows)} {name} "
                "example. Set early_stopping=False, or give more data."
            )
        n = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        chosen[rng.permutation(rows)[:n]] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


class Stage(ClassifierMixin, BaseEstimator):
    """The ensemble so far, on the validation rows only, as scikit-learn's scorers want to see it."""

    def __init__(self, link: Link, F: Array, n_rounds: int, classes: Array) -> None:
        self.link, self.F, self.n_rounds = link, F, n_rounds
        self.classes_ = classes

    def fit(self, X: Any, y: Any) -> Stage:
        """Do nothing: it is fitted."""
        return self

    def decision_function(self, X: Any) -> Array:
        """As of the booster."""
        return self.link.decision(self.F, self.n_rounds)

    def predict_proba(self, X: Any) -> Array:
        """As of the booster."""
        return self.link.proba(self.F, self.n_rounds)

    def predict(self, X: Any) -> Array:
        """As of the booster."""
        return self.link.labels(self.F, self.n_rounds, self.classes_)


@dataclass(frozen=True)
class HeldOut:
    """The rows that are held out of training."""

    table: Table
    target: Array  # as training sees the labels
    truth: Array  # as scorers see them: 1 for the positive class of two and 0 for the other, or labels as they are
    classes: Array  # those of the truth
    weights: Array | None
    costs: Costs


class Validation:
    """Scores rounds on held-out rows; higher is better."""

    def __init__(self, rows: HeldOut, engine: Engine, scoring: Any) -> None:
        self.rows = rows
        self.engine = engine
        # a mistake counts as often as it costs, and the decision is where such odds are even
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
        """Encode the rows with the bins of training, and score them before the first round."""
        self.view, self.link = View(self.engine, self.rows.table, bins), link
        self.F = link.start(self.rows.table.n_rows)

    def score(self, term: Term) -> float:
        """The score after one more round: by default minus the log-loss, in which a row counts as much as it costs."""
        self.round += 1
        self.F = self.link.combine(self.F, term.on(self.view))
        if self.scorer is None:
            likelihood = self.link.log_likelihood(self.F, self.rows.target, self.round)
            score = float(np.average(likelihood, weights=self.importance))
        else:
            stage = Stage(self.link, self.F, self.round, self.rows.classes)
            score = float(self.scorer(stage, self.rows.table.native, self.rows.truth, **self.score_params))
        if score != score:
            raise InputError(
                f"scoring={self.scoring!r} gave NaN on the held-out rows after round {self.round}, so early stopping "
                "cannot tell the best round. Choose another scorer, or a larger validation_fraction."
            )
        # rounding is no improvement: without the margin the order of rows would choose among equal rounds
        if self.best_round == 0 or score > self.best + 1e-10 * max(1.0, abs(self.best)):
            self.best, self.best_round = score, self.round
        return score

    @property
    def since_best(self) -> int:
        """Rounds since the best score."""
        return self.round - self.best_round
