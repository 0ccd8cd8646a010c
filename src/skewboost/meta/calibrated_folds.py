"""Calibrated classifiers of several folds, whose probabilities are averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV

from skewboost.boosting.calibration import Calibrator, Isotonic, Sigmoid
from skewboost.errors import InputTypeError
from skewboost.fitting import MostProbableMixin
from skewboost.meta.cost_free import CostFree, OfLabels, log_odds
from skewboost.typing import Array


@dataclass(frozen=True)
class Fold:
    """A classifier, and a calibrator for each of its classes: for the second class only if there are two.

    With `of_odds` they calibrate its log-odds of each class, which do not contain its costs, else its scores.
    """

    estimator: Any
    calibrators: tuple[Calibrator, ...]
    of_odds: bool = False


@dataclass(frozen=True)
class CalibratedFolds(MostProbableMixin):
    """The probabilities of scikit-learn's fitted `CalibratedClassifierCV`, as plain data.

    scikit-learn splits the rows and fits; the fitted calibrators are those of `skewboost.boosting.calibration`, as in
    boosters with a `calibrate` parameter.
    """

    classes_: Array
    folds: tuple[Fold, ...]

    @classmethod
    def of(cls, fitted: CalibratedClassifierCV) -> CalibratedFolds:
        """Take over a fitted `CalibratedClassifierCV`; raise a TypeError for other methods than these two."""
        folds = []
        for part in fitted.calibrated_classifiers_:
            if part.method == "sigmoid":  # scikit-learn's is 1 / (1 + exp(a s + b))
                calibrators: list[Calibrator] = [Sigmoid(-float(c.a_), -float(c.b_)) for c in part.calibrators]
            elif part.method == "isotonic":
                calibrators = [Isotonic(c.X_thresholds_, c.y_thresholds_) for c in part.calibrators]
            else:
                raise InputTypeError(f"calibration by {part.method!r}")
            source = part.estimator
            own = source.estimator_ if isinstance(source, OfLabels) else source
            folds.append(Fold(own, tuple(calibrators), isinstance(source, CostFree)))
        return cls(fitted.classes_, tuple(folds))

    @property
    def n_features_in_(self) -> int:
        """The number of features of the classifiers."""
        return int(self.folds[0].estimator.n_features_in_)

    def predict_proba(self, X: Any) -> Array:
        """The mean of the calibrated probabilities over the folds.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.asarray(sum(self._probabilities(fold, X) for fold in self.folds) / len(self.folds))

    def _probabilities(self, fold: Fold, X: Any) -> Array:
        scores = log_odds(fold.estimator, X, of_classes=True) if fold.of_odds else _scores(fold.estimator, X)
        scores = scores.reshape(len(scores), -1)  # a column per class, or that of the second class if there are two
        n_classes = len(self.classes_)
        p = np.zeros((len(scores), n_classes))
        if n_classes == 2:
            p[:, 1] = fold.calibrators[0].probability(scores[:, 0])
            p[:, 0] = 1.0 - p[:, 1]
        else:
            positions = np.searchsorted(self.classes_, fold.estimator.classes_)
            for position, own, calibrator in zip(positions, scores.T, fold.calibrators):
                p[:, position] = calibrator.probability(own)
            total = p.sum(axis=1)[:, None]
            p = np.divide(p, total, out=np.full_like(p, 1 / n_classes), where=total != 0)
        p[(p > 1.0) & (p <= 1.0 + 1e-5)] = 1.0
        return p


def _scores(estimator: Any, X: Any) -> Array:
    """The scores that are calibrated."""
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X))
    else:
        scores = np.asarray(estimator.predict_proba(X))
        scores = scores[:, 1] if scores.shape[1] == 2 else scores
    return scores
