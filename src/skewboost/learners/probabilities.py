"""The probabilities of a classifier as a weak hypothesis of real values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from skewboost.engine.partition import View
from skewboost.engine.scoring import Term, scaled_to
from skewboost.engine.training_set import TrainingSet
from skewboost.errors import InputError, InputTypeError
from skewboost.learners.learner import ProbabilityLink, describe
from skewboost.typing import Array


def half_log_odds(p: Array) -> Array:
    """``½ ln(p / (1 - p))``."""
    return np.asarray(0.5 * np.log(p / (1.0 - p)))


def mean_label(p: Array) -> Array:
    """``2p - 1``."""
    return 2.0 * p - 1.0


def as_it_is(p: Array) -> Array:
    """The probability itself."""
    return p


def positive_probability(estimator: Any, X: Any, margin: float) -> Array:
    """P(+ | x) by a classifier of 0 and 1, kept so far off both."""
    p = np.asarray(estimator.predict_proba(X), dtype=np.float64) @ np.asarray(estimator.classes_, dtype=np.float64)
    return np.clip(p, margin, 1.0 - margin)


@dataclass(frozen=True)
class ProbabilityTerm:
    """A link of the probabilities of a fitted classifier, times a number."""

    estimator: Any
    margin: float
    link: ProbabilityLink
    scale: float = 1.0

    def on(self, view: View) -> Array:
        """The scaled link for every row."""
        return self.scale * self.link(positive_probability(self.estimator, view.table.native, self.margin))

    def scaled(self, factor: float) -> ProbabilityTerm:
        """Scale once more."""
        return replace(self, scale=self.scale * factor)

    def bounded(self, limit: float, rows: TrainingSet) -> Term:
        """Scaled down to the limit."""
        return scaled_to(self, limit, rows)


class Probabilities(BaseEstimator):
    """A scikit-learn classifier whose probabilities count, not its labels.

    A classifier that is given as it is divides the input by its predicted label, and all that it says of its own
    confidence is lost. In here its ``predict_proba`` is the hypothesis: RealBoost adds ½ ln(p / (1 - p)), as Friedman,
    Hastie and Tibshirani (2000, algorithm 2) have it, and GentleBoost 2p - 1. Probabilities of rows that a classifier
    was fitted to are overconfident, and rounds of naive Bayes can end up worse than naive Bayes; with
    ``line_search=True`` the exponential loss falls whatever the classifier says. Probabilities are kept 1 / (N + 2) off
    0 and 1, N the number of examples.

    For `RealBoostClassifier`, `GentleBoostClassifier` and their kin `CSRAClassifier`, `CSGAClassifier` and
    `FavoredBoostClassifier`.

    Parameters
    ----------
    estimator : classifier
        One with ``predict_proba``. Where it takes no `sample_weight` it is fitted to rows drawn by weight.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.learners import Probabilities
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = RealBoostClassifier(estimator=Probabilities(GaussianNB()), line_search=True, n_estimators=10)
    >>> print(round(clf.fit(X, y).score(X, y), 2))
    0.97
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def check(self) -> None:
        """Raise where the estimator is no classifier, or has no probabilities."""
        if isinstance(self.estimator, type):
            name = self.estimator.__name__
            raise InputTypeError(f"estimator of Probabilities is the class {name}; pass an instance: {name}().")
        if not (hasattr(self.estimator, "fit") and is_classifier(self.estimator)):
            raise InputError(f"estimator of Probabilities must be a scikit-learn classifier; got {self.estimator!r}.")
        if not hasattr(self.estimator, "predict_proba"):
            name = describe(self.estimator)
            raise InputError(
                f"Probabilities needs a classifier with predict_proba, which {name} does not have. Calibrate its "
                f"scores, Probabilities(CalibratedClassifierCV({name}())), or boost its labels: "
                f"estimator={name}()."
            )
