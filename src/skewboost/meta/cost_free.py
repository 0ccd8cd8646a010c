"""Scores for calibration from which the costs of an estimator are removed."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if

from skewboost.fitting import MostProbableMixin
from skewboost.learners.adapter import weight_name
from skewboost.typing import Array

LEAST = np.log(1e-12)  # of a probability of 0, as in scikit-learn's temperature scaling


def log_odds(estimator: Any, X: Any, of_classes: bool = False) -> Array:
    """Return the log-odds of two classes, and of several the logarithms of their probabilities.

    With `of_classes` these are the log-odds of each class against the others.
    """
    if hasattr(estimator, "predict_log_proba"):
        logs = np.asarray(estimator.predict_log_proba(X), dtype=np.float64)
    else:
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(estimator.predict_proba(X), dtype=np.float64))
    logs = np.where(np.isneginf(logs), LEAST, logs)
    if logs.shape[1] == 2:
        return np.asarray(logs[:, 1] - logs[:, 0])
    if not of_classes:
        return logs
    others = [logsumexp(np.delete(logs, k, axis=1), axis=1) for k in range(logs.shape[1])]
    return np.asarray(logs - np.column_stack(others))


@dataclass(eq=False, repr=False)
class OfLabels(MostProbableMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier that is always fitted to the labels, also where scikit-learn numbers them, as some calibrations do.

    Otherwise what names a class, such as `pos_label`, would be about a label that is not there.
    """

    estimator: Any
    _: KW_ONLY
    labels: Any = None  # the classes

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags or tags.classifier_tags
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Route all arguments of `fit` to the estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(estimator=self.estimator, method_mapping=mapping)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> OfLabels:
        """Fit the estimator."""
        labels, y = np.asarray(self.labels), np.asarray(y)
        numbered = y.dtype.kind in "iu" and labels.dtype.kind not in "iu"
        params = self._params_of_estimator(sample_weight, params)
        self.estimator_ = clone(self.estimator).fit(X, labels[y] if numbered else y, **params)
        self.classes_ = np.arange(len(labels)) if numbered else self.estimator_.classes_
        return self

    def _params_of_estimator(self, sample_weight: Any, params: dict[str, Any]) -> dict[str, Any]:
        if get_config()["enable_metadata_routing"]:
            given = params if sample_weight is None else {**params, "sample_weight": sample_weight}
            return dict(process_routing(self, "fit", **given).estimator.fit) if given else {}
        if sample_weight is None:
            return params
        name = weight_name(self.estimator)
        if name is None:
            warnings.warn(
                f"{type(self.estimator).__name__} does not accept sample_weight, so weights are used for the "
                "calibration only.",
                stacklevel=2,
            )
        return params if name is None else {**params, name: sample_weight}

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        return int(self.estimator_.n_features_in_)

    @available_if(lambda self: hasattr(self.estimator, "decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Return the scores of the estimator."""
        return np.asarray(self.estimator_.decision_function(X))

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the estimator."""
        return np.asarray(self.estimator_.predict_proba(X))


@dataclass(eq=False, repr=False)
class CostFree(OfLabels):
    """A classifier whose scores are its log-odds, which do not contain its costs.

    The `decision_function` of a cost-sensitive classifier contains its costs, so that its sign is the decision. A
    calibration without a constant, as temperature scaling, or of several classes, would take them for probability.
    """

    of_classes: bool = False

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds of `log_odds`."""
        return log_odds(self.estimator_, X, self.of_classes)
