"""What estimators that are fitted, or that fit others, have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from skewboost.typing import Array


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def seeded(estimator: Any, draw: Callable[[], int], anew: bool = False) -> Any:
    """Clone an estimator and set every `random_state` that is None to a drawn seed; with `anew`, all of them."""
    copy = clone(estimator)
    names = sorted(k for k, v in copy.get_params().items() if k.endswith("random_state") and (anew or v is None))
    return copy.set_params(**{name: draw() for name in names})


class KeepsNoCaches:
    """Every `cached_property` is left out of pickles, skops files and copies, and computed again.

    So what a file holds does not depend on what the object was used for before it was saved.
    """

    def __getstate__(self) -> dict[str, Any]:
        every = (vars(cls).items() for cls in type(self).__mro__)
        caches = {name for own in every for name, value in own if isinstance(value, cached_property)}
        return {name: value for name, value in vars(self).items() if name not in caches}


class LogProbabilityMixin:
    """`predict_log_proba` of classifiers with `predict_proba`."""

    predict_proba: Callable[[Any], Array]

    @available_if(lambda self: hasattr(self, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of `predict_proba`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Minus infinity where a probability is 0.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))


class MostProbableMixin(LogProbabilityMixin):
    """Predict the most probable class."""

    classes_: Array

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds of the probabilities.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) if there are more than two
            For two classes, positive exactly where ``classes_[1]`` is predicted, and finite: a probability of 0 counts
            as the smallest positive number. For more, the probabilities.
        """
        p = np.asarray(self.predict_proba(X))
        if p.shape[1] != 2:
            return p
        second, first = (np.maximum(p[:, k], np.finfo(np.float64).tiny) for k in (1, 0))
        more = second - first  # exact where it is small, so that its sign is that of the log-odds
        rising, falling = (np.log1p(np.maximum(own, 0.0) / least) for own, least in ((more, first), (-more, second)))
        return np.asarray(rising - falling)  # one of them is 0

    def predict(self, X: Any) -> Array:
        """Return the most probable class; the first of `classes_` in case of a tie.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows, with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


@contextmanager
def restore_on_failure(estimator: Any, keep_interrupted: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Give an estimator its former attributes back if the block raises, so that a failed `fit` changes nothing.

    `keep_interrupted` is called after a KeyboardInterrupt: whether the estimator is usable as it is now, with the
    rounds that were finished, and is to stay so.
    """
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException as error:
        if not (isinstance(error, KeyboardInterrupt) and keep_interrupted()):
            estimator.__dict__.clear()
            estimator.__dict__.update(before)
        raise
