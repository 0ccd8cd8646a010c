"""Prediction: decisions, labels and probabilities of fitted boosters, also after each round."""

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
    """The prediction methods of boosters."""

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

    @property
    def _deciding_link(self) -> Link:
        """The link, with the costs that decisions are made by."""
        return self._link

    def _new_rows(self, X: Any) -> Table:
        """Read new rows as a table with the columns of the training data."""
        check_is_fitted(self)
        return self._like_training(read_table(self, X, reset=False))

    def _like_training(self, table: Table) -> Table:
        names: Any = getattr(self, "feature_names_in_", range(table.n_features))
        return table.conform(self._nominal, list(names))

    def _engine(self) -> Engine:
        return choose(self.engine, effective_n_jobs(self.n_jobs))

    def _scores(self, X: Any) -> tuple[Array, int]:
        """Return F of new rows, and the number of rounds."""
        return self._scores_of(self._new_rows(X))

    def _scores_of(self, table: Table) -> tuple[Array, int]:
        return self._model.score(self._engine(), table), self._model.n_rounds

    def _decisions_of(self, table: Table) -> Array:
        """Return `decision_function` of a table that was read before."""
        return self._deciding_link.decision(*self._scores_of(table))

    def _staged_scores(self, X: Any) -> Iterator[tuple[Array, int]]:
        """Yield F after every round with the number of rounds; a model without rounds yields its initial F."""
        stages = enumerate(self._model.staged(View(self._engine(), self._new_rows(X), self._model.bins)))
        for n_rounds, F in stages:
            if n_rounds or not self._model.n_rounds:
                yield F, n_rounds

    def decision_function(self, X: Any) -> Array:
        """Return the score that the decision is based on: F, plus the part of the costs that is not in F yet.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive values predict ``classes_[1]``.
        """
        return self._deciding_link.decision(*self._scores(X))

    def predict(self, X: Any) -> Array:
        """Predict classes by the sign of `decision_function`; the positive class where it is zero.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._deciding_link.labels(*self._scores(X), self.classes_)

    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities by the link of the variant, by default ``P(+) = 1 / (1 + exp(-2F))``.

        The effect of the costs on F is removed, so that probabilities do not depend on the costs.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._link.proba(*self._scores(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Predict logarithms of class probabilities, which stay distinct where probabilities round to 0 or 1.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            All values are finite.
        """
        return self._link.log_proba(*self._scores(X))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield `decision_function` after each round.

        The last stage equals the prediction of the whole model, up to rounding. A model without rounds has one stage,
        its initial score.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of the training data.

        Yields
        ------
        ndarray
            The values of `decision_function`.
        """
        link = self._deciding_link
        return (link.decision(F, n) for F, n in self._staged_scores(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield `predict` after each round; see `staged_decision_function`."""
        link = self._deciding_link
        return (link.labels(F, n, self.classes_) for F, n in self._staged_scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Yield `predict_proba` after each round; see `staged_decision_function`."""
        link = self._link
        return (link.proba(F, n) for F, n in self._staged_scores(X))
