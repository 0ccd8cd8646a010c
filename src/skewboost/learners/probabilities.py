"""The probabilities of a classifier as a real-valued weak hypothesis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from skewboost.engine.partition import View
from skewboost.engine.scoring import Term, scaled_to
from skewboost.engine.training_set import TrainingSet
from skewboost.errors import InputError, InputTypeError
from skewboost.learners.learner import ProbabilityLink
from skewboost.typing import Array


def half_log_odds(p: Array) -> Array:
    """``½ ln(p / (1 - p))``."""
    return np.asarray(0.5 * np.log(p / (1.0 - p)))


def mean_label(p: Array) -> Array:
    """``2p - 1``."""
    return 2.0 * p - 1.0


def identity(p: Array) -> Array:
    """The probability itself."""
    return p


def positive_probability(estimator: Any, X: Any, margin: float) -> Array:
    """P(+ | x) of a classifier of 0 and 1, clipped to keep a margin from both."""
    p = np.asarray(estimator.predict_proba(X), dtype=np.float64) @ np.asarray(estimator.classes_, dtype=np.float64)
    return np.clip(p, margin, 1.0 - margin)


@dataclass(frozen=True)
class ProbabilityTerm:
    """A function of the probabilities of a fitted classifier, times a number."""

    estimator: Any
    margin: float
    link: ProbabilityLink
    scale: float = 1.0

    def on(self, view: View) -> Array:
        return self.scale * self.link(positive_probability(self.estimator, view.table.native, self.margin))

    def scaled(self, factor: float) -> ProbabilityTerm:
        return replace(self, scale=self.scale * factor)

    def bounded(self, limit: float, rows: TrainingSet) -> Term:
        return scaled_to(self, limit, rows)


class Probabilities(BaseEstimator):
    """A scikit-learn classifier that votes with its probabilities instead of its labels.

    Without this wrapper, only the predicted labels of a classifier are used, and its confidence is ignored. Within it,
    ``predict_proba`` is the hypothesis: RealBoost adds ½ ln(p / (1 - p)), as in Friedman, Hastie and Tibshirani (2000,
    algorithm 2), and GentleBoost adds 2p - 1. Probabilities on the training rows are overconfident, and boosted naive
    Bayes can be worse than naive Bayes alone; with ``line_search=True`` the exponential loss always falls.
    Probabilities are kept 1 / (N + 2) away from 0 and 1, where N is the number of examples.

    For `RealBoostClassifier`, `GentleBoostClassifier`, `CSRAClassifier`, `CSGAClassifier` and `FavoredBoostClassifier`.

    Parameters
    ----------
    estimator : classifier
        A classifier with ``predict_proba``. If it does not accept `sample_weight`, it is fitted to rows drawn by
        weight.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.learners import Probabilities
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = RealBoostClassifier(estimator=Probabilities(GaussianNB()), line_search=True, n_estimators=10)
    >>> print(round(cross_val_score(clf, X, y, cv=3).mean(), 2))
    0.96
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def check(self) -> None:
        """Raise an error if the estimator is not a classifier, or has no probabilities."""
        if isinstance(self.estimator, type):
            name = self.estimator.__name__
            raise InputTypeError(f"estimator of Probabilities is the class {name}; pass an instance: {name}().")
        if not (hasattr(self.estimator, "fit") and is_classifier(self.estimator)):
            raise InputError(f"estimator of Probabilities must be a scikit-learn classifier; got {self.estimator!r}.")
        if not hasattr(self.estimator, "predict_proba"):
            name = type(self.estimator).__name__
            raise InputError(
                f"Probabilities needs a classifier with predict_proba, which {name} does not have.",
                f"Calibrate its scores, Probabilities(CalibratedClassifierCV({name}())), or boost its labels: "
                f"estimator={name}().",
            )
