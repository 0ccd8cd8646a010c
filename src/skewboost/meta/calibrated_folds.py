"""Calibrated estimators of several folds that decide together, as plain parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV

from skewboost.boosting.calibration import Calibrator, Isotonic, Sigmoid
from skewboost.errors import InputTypeError
from skewboost.typing import Array


@dataclass(frozen=True)
class Fold:
    """An estimator, and a calibrator for each class it scores: for the second one if there are two."""

    estimator: Any
    calibrators: tuple[Calibrator, ...]


@dataclass(frozen=True)
class CalibratedFolds:
    """What scikit-learn's fitted `CalibratedClassifierCV` computes, without the data it was fitted to."""

    classes_: Array
    folds: tuple[Fold, ...]

    @classmethod
    def of(cls, fitted: CalibratedClassifierCV) -> CalibratedFolds:
        """The parts of a fitted one; a TypeError where they are not of this kind."""
        folds = []
        for part in fitted.calibrated_classifiers_:
            if part.method not in ("sigmoid", "isotonic"):
                raise InputTypeError(f"calibration by {part.method!r}")
            folds.append(Fold(part.estimator, tuple(map(_calibrator, part.calibrators))))
        return cls(fitted.classes_, tuple(folds))

    @property
    def n_features_in_(self) -> int:
        """Of its estimators."""
        return int(self.folds[0].estimator.n_features_in_)

    def predict_proba(self, X: Any) -> Array:
        """The mean over the folds.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        total: Any = 0.0
        for fold in self.folds:
            total = total + self._of_fold(fold, X)
        return np.asarray(total / len(self.folds))

    def _of_fold(self, fold: Fold, X: Any) -> Array:
        scores, K = _scores(fold.estimator, X), len(self.classes_)
        p = np.zeros((len(scores), K))
        if K == 2:
            p[:, 1] = fold.calibrators[0].probability(scores[:, 0])
            p[:, 0] = 1.0 - p[:, 1]
        else:
            places = np.searchsorted(self.classes_, fold.estimator.classes_)
            for place, own, calibrator in zip(places, scores.T, fold.calibrators):
                p[:, place] = calibrator.probability(own)
            total = p.sum(axis=1)[:, None]
            p = np.divide(p, total, out=np.full_like(p, 1 / K), where=total != 0)
        p[(p > 1.0) & (p <= 1.0 + 1e-5)] = 1.0
        return p


def _calibrator(fitted: Any) -> Calibrator:
    """One of scikit-learn's, whose sigmoid is ``1 / (1 + exp(a s + b))``."""
    if hasattr(fitted, "X_thresholds_"):
        return Isotonic(fitted.X_thresholds_, fitted.y_thresholds_)
    return Sigmoid(-float(fitted.a_), -float(fitted.b_))


def _scores(estimator: Any, X: Any) -> Array:
    """A column per class, or one of the second class of two."""
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X))
    else:
        scores = np.asarray(estimator.predict_proba(X))
        scores = scores[:, 1] if scores.shape[1] == 2 else scores
    return scores[:, None] if scores.ndim == 1 else scores
