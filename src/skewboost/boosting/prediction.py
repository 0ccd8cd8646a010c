"""What a fitted booster says of new rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.rule import Rule, log_logistic, logistic
from skewboost.boosting.training import Ensemble
from skewboost.engine import choose
from skewboost.engine.boundary import Array
from skewboost.engine.partition import View
from skewboost.engine.table import Table, read_table


@dataclass(frozen=True)
class Scored:
    """F of some rows, with the rule that knows what it means."""

    F: Array
    rule: Rule
    n_rounds: int

    @property
    def decision(self) -> Array:
        """Positive where the positive class is predicted."""
        return self.rule.decide(self.F, self.n_rounds)

    @property
    def log_odds(self) -> Array:
        """ln(P(+ | x) / P(- | x))."""
        return self.rule.log_odds(self.F, self.n_rounds) - self.rule.tilt()


class PredictionMixin:
    """Scores, decisions, labels and probabilities, of all rounds or after each."""

    _ensembles: list[Ensemble]
    _nominal: list[bool]
    classes_: Array
    pos_label_: Any
    engine: Any
    n_jobs: int | None

    def _new_rows(self, X: Any) -> Table:
        """New rows, as a table like the one of training."""
        check_is_fitted(self)
        return self._like_training(read_table(self, X, reset=False))

    def _like_training(self, table: Table) -> Table:
        names: Any = getattr(self, "feature_names_in_", range(table.n_features))
        return table.conform(self._nominal, list(names))

    def _scores(self, X: Any) -> list[Scored]:
        """F of each ensemble."""
        table = self._new_rows(X)
        engine = choose(self.engine, effective_n_jobs(self.n_jobs))
        return [Scored(e.score(engine, table), e.rule, e.n_rounds) for e in self._ensembles]

    def _staged_scores(self, X: Any) -> Iterator[list[Scored]]:
        """F of each ensemble after every round; of one without rounds what it starts with, which is all it has."""
        table = self._new_rows(X)
        engine = choose(self.engine, effective_n_jobs(self.n_jobs))
        shared = {id(e.bins): View(engine, table, e.bins) for e in self._ensembles}  # encoded once for equal bins
        stages = [e.staged(shared[id(e.bins)]) for e in self._ensembles]
        scores = [next(stage) for stage in stages]
        n_rounds = max(e.n_rounds for e in self._ensembles)
        for k in range(min(1, n_rounds), 1 + n_rounds):
            scores = [next(stage, F) for stage, F in zip(stages, scores)]
            yield [Scored(F, e.rule, min(k, e.n_rounds)) for F, e in zip(scores, self._ensembles)]

    def _decision(self, scores: list[Scored]) -> Array:
        F = scores[0].decision
        return F if self.pos_label_ == self.classes_[1] else np.negative(F)

    def _labels(self, scores: list[Scored]) -> Array:
        says_positive = scores[0].decision >= 0
        second = says_positive if self.pos_label_ == self.classes_[1] else ~says_positive
        return np.asarray(self.classes_[second.astype(np.intp)])

    def _proba(self, scores: list[Scored]) -> Array:
        return logistic(self._log_odds(scores))

    def _log_proba(self, scores: list[Scored]) -> Array:
        return log_logistic(self._log_odds(scores))

    def _log_odds(self, scores: list[Scored]) -> Array:
        """Of each class against the other. One column alone would not do: of P = 1 - 1e-20 only 1 - P is left."""
        t = scores[0].log_odds
        return np.column_stack((-t, t) if self.pos_label_ == self.classes_[1] else (t, -t))

    def decision_function(self, X: Any) -> Array:
        """What the model decides by: F, with what costs have yet to add where training ended before they had come in.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive values speak for ``classes_[1]``.
        """
        return self._decision(self._scores(X))

    def predict(self, X: Any) -> Array:
        """The predicted class: the sign of `decision_function`, and the positive class where it is zero.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._labels(self._scores(X))

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, by the link of the variant: ``P(+) = 1 / (1 + exp(-2F))`` unless it says otherwise.

        Costs that F has taken in are taken out again, so probabilities of the same data are comparable at all costs.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._proba(self._scores(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of `predict_proba`, which tell rows apart whose probabilities are 0 or 1 in double precision.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Finite, however sure the model is.
        """
        return self._log_proba(self._scores(X))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """`decision_function` after each round.

        The last stage is the answer of the whole model, up to rounding. So a model whose training found no round has
        one stage, which is what it starts with.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Yields
        ------
        ndarray
            As `decision_function` returns it.
        """
        return map(self._decision, self._staged_scores(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """`predict` after each round; as many stages as `staged_decision_function` has."""
        return map(self._labels, self._staged_scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """`predict_proba` after each round; as many stages as `staged_decision_function` has."""
        return map(self._proba, self._staged_scores(X))
