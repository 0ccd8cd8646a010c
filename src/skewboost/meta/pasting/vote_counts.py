"""What a fitted vote says of new rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from skewboost.datasets.chunks import ChunkRows, ParquetRows, Rows, is_path
from skewboost.errors import InputError
from skewboost.meta.pasting.members import Voters
from skewboost.meta.pasting.row_sources import rows_for_members
from skewboost.typing import Array


class VotePredictionMixin:
    """Shares of votes, labels, and both for rows in chunks."""

    estimator: Any
    voting: str
    n_jobs: int | None
    classes_: Array
    estimators_: list[Any]
    _arrow_as_pandas: bool

    def _voters(self) -> Voters:
        return Voters(self.classes_, self.voting == "soft", effective_n_jobs(self.n_jobs))

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Rows as members take them."""
        if is_path(X):
            raise InputError("X names files, which are read chunk by chunk: call predict_chunks(X).")
        return rows_for_members(self, X, reset, default=self.estimator is None, arrow_as_pandas=self._arrow_as_pandas)

    def predict_proba(self, X: Any) -> Array:
        """The share of the votes for each class, or the mean of the members' probabilities.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            Rows like those of training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        votes = self._voters().count(self.estimators_, self._rows(X, reset=False))
        return np.asarray(votes / len(self.estimators_))

    def predict(self, X: Any) -> Array:
        """The class of most votes; of several, the one that comes first in `classes_`.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            Rows like those of training.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[np.argmax(shares, axis=1)])

    def predict_chunks(self, X: Any, method: str = "predict") -> Iterator[Array]:
        """Predict rows that do not fit in memory, chunk by chunk.

        Parameters
        ----------
        X : path or list of paths, :class:`~skewboost.datasets.chunks.Rows`, callable or iterator
            Parquet files, of which the columns of training are read; or chunks: X, or tuples that begin with X.
        method : {"predict", "predict_proba"}, default="predict"
            What to call.

        Yields
        ------
        ndarray
            The answers for each chunk, in order.
        """
        check_is_fitted(self)
        if method not in ("predict", "predict_proba"):
            raise InputError(f"method must be 'predict' or 'predict_proba'; got {method!r}.")
        if is_path(X):
            X = ParquetRows(X, columns=getattr(self, "feature_names_in_", None))
        if not isinstance(X, Rows):
            if not callable(X) and not hasattr(X, "__next__"):
                raise InputError("X must be paths, or a function or iterator of chunks. For a table, call predict(X).")
            chunks = X
            X = ChunkRows(chunks if callable(chunks) else lambda: chunks)
        return (getattr(self, method)(table) for table in X.tables())
