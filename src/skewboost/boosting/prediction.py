"""What a fitted booster says of new rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.link import Link
from skewboost.boosting.model import Model
from skewboost.engine import choose
from skewboost.engine.boundary import Engine
from skewboost.engine.partition import View
from skewboost.engine.table import Table, read_table
from skewboost.typing import Array


class PredictionMixin:
    """Scores, decisions, labels and probabilities, of all rounds or after each."""

    _model: Model
    _nominal: list[bool]
    classes_: Array
    pos_label_: Any
    n_features_in_: int
    engine: Any
    n_jobs: int | None

    @property
    def _link(self) -> Link:
        check_is_fitted(self)
        return self._model.link

    def _new_rows(self, X: Any) -> Table:
        """New rows, as a table like the one of training."""
        check_is_fitted(self)
        return self._like_training(read_table(self, X, reset=False))

    def _like_training(self, table: Table) -> Table:
        names: Any = getattr(self, "feature_names_in_", range(table.n_features))
        return table.conform(self._nominal, list(names))

    def _engine(self) -> Engine:
        return choose(self.engine, effective_n_jobs(self.n_jobs))

    def _scores(self, X: Any) -> tuple[Array, int]:
        """F of new rows, and after how many rounds it is."""
        table = self._new_rows(X)
        return self._model.score(self._engine(), table), self._model.n_rounds

    def _staged_scores(self, X: Any) -> Iterator[tuple[Array, int]]:
        """F after every round, and how many that are; of a model without rounds, what it starts with."""
        stages = enumerate(self._model.staged(View(self._engine(), self._new_rows(X), self._model.bins)))
        for n_rounds, F in stages:
            if n_rounds or not self._model.n_rounds:
                yield F, n_rounds

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
        return self._link.decision(*self._scores(X))

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
        return self._link.labels(*self._scores(X), self.classes_)

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
        return self._link.proba(*self._scores(X))

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
        return self._link.log_proba(*self._scores(X))

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
        link = self._link
        return (link.decision(F, n) for F, n in self._staged_scores(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """`predict` after each round; as many stages as `staged_decision_function` has."""
        link = self._link
        return (link.labels(F, n, self.classes_) for F, n in self._staged_scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """`predict_proba` after each round; as many stages as `staged_decision_function` has."""
        link = self._link
        return (link.proba(F, n) for F, n in self._staged_scores(X))
