"""What estimators that are fitted, or that fit others, have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

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


class MostProbableMixin:
    """Predict the most probable class."""

    classes_: Array

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, in the order of `classes_`."""
        raise NotImplementedError

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
