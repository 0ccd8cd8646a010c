"""Any scikit-learn estimator as a weak learner.

A classifier divides the input by the label it predicts (a single decision tree: by its leaves), and the rule gives
the parts their values as it does with a stump's sides. So every rule can boost every classifier, and what holds for
partitions — the monotone loss, the bounded steps — holds here too. A regressor answers with its prediction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from skewboost.engine.boundary import Array
from skewboost.engine.partition import View
from skewboost.engine.sample import LabelSample
from skewboost.engine.scoring import Term, scaled_to
from skewboost.learners.base import LABELS, RESPONSES, Data, Draw, Goal, Opened, ResponseHypothesis
from skewboost.learners.partitions import majority


def parts(estimator: Any, X: Any) -> Array:
    """Which part of the input each row is in: the node of a tree, else 0 or 1 for the predicted label."""
    if hasattr(estimator, "tree_"):
        return np.asarray(estimator.apply(X))
    return np.asarray(estimator.predict(X)).astype(np.intp)


def n_parts(estimator: Any) -> int:
    """How many parts there may be."""
    return int(estimator.tree_.node_count) if hasattr(estimator, "tree_") else 2


@dataclass(frozen=True)
class ClassifierTerm:
    """A value per part of a fitted classifier."""

    estimator: Any
    values: Array

    def on(self, view: View) -> Array:
        """The value of every row's part."""
        return self.values[parts(self.estimator, view.table.native)]

    def scaled(self, factor: float) -> ClassifierTerm:
        """All values times a number."""
        return replace(self, values=self.values * factor)

    def bounded(self, limit: float, view: View) -> ClassifierTerm:
        """Every value cut off at the limit."""
        return replace(self, values=np.clip(self.values, -limit, limit))


@dataclass(frozen=True)
class RegressorTerm:
    """The predictions of a fitted regressor, times a number."""

    estimator: Any
    scale: float = 1.0

    def on(self, view: View) -> Array:
        """The scaled prediction for every row."""
        return self.scale * np.asarray(self.estimator.predict(view.table.native), dtype=np.float64)

    def scaled(self, factor: float) -> RegressorTerm:
        """Scale once more."""
        return replace(self, scale=self.scale * factor)

    def bounded(self, limit: float, view: View) -> Term:
        """Scaled down to the limit."""
        return scaled_to(self, limit, view)


@dataclass(frozen=True)
class ClassifierHypothesis:
    """A fitted classifier and the class weights in its parts."""

    estimator: Any
    leaf: Array
    class_weights: Array
    labels: Array
    abstains: Array
    importances: Array | None
    criterion: float = float("nan")
    signs: Array | None = None

    def term(self, values: Array) -> ClassifierTerm:
        """The function that has these values in the parts."""
        return ClassifierTerm(self.estimator, values)

    def reweight(self, sample: LabelSample, factors: Array) -> float:
        """Multiply the weights of each (part, class) by its factor."""
        return sample.reweight_leaves(self.leaf, factors)


class OpenedAdapter(Opened):
    """A scikit-learn estimator on the training data."""

    def __init__(self, data: Data, estimator: Any) -> None:
        super().__init__(data, View(data.engine, data.table, None))
        self.estimator = estimator
        self.takes_weights = has_fit_parameter(estimator, "sample_weight")

    def labels(self, rng: Draw) -> ClassifierHypothesis | None:
        """Fit a clone to the labels under the sample's weights."""
        positive = self.data.positive
        weights = self.sample.weights
        fitted = self._fit(positive.astype(np.intp), weights, rng)
        if fitted is None:
            return None
        leaf = parts(fitted, self.data.table.native)
        n = n_parts(fitted)
        cell = 2 * leaf + positive
        sums = np.bincount(cell, weights, minlength=2 * n).reshape(n, 2)
        abstains = np.zeros(n, dtype=np.bool_)
        labels = majority(sums, abstains) if hasattr(fitted, "tree_") else np.array([-1.0, 1.0])
        return ClassifierHypothesis(fitted, leaf, sums, labels, abstains, _importances(fitted))

    def responses(self, z: Array, weights: Array, rng: Draw) -> ResponseHypothesis | None:
        """Fit a clone to the responses."""
        fitted = self._fit(z, weights, rng)
        if fitted is None:
            return None
        term = RegressorTerm(fitted)
        residual = z - term.on(self.view)
        return ResponseHypothesis(term, float(np.average(residual**2, weights=weights)), _importances(fitted))

    def _fit(self, target: Array, weights: Array, rng: Draw) -> Any:
        """With weights where it takes them, else on rows drawn by weight; None if those are all of one class."""
        estimator = clone(self.estimator)
        generator = rng()
        unseeded = [k for k, v in estimator.get_params().items() if k.endswith("random_state") and v is None]
        estimator.set_params(**{name: int(generator.integers(2**31)) for name in sorted(unseeded)})
        table = self.data.table
        weights = weights / weights.sum()
        n = len(target)
        if self.takes_weights:
            # as many examples as there are, so that penalties such as C keep their meaning
            return estimator.fit(table.native, target, sample_weight=weights * n)
        rows = np.sort(generator.choice(n, size=n, p=weights))
        if is_classifier(estimator) and len(np.unique(target[rows])) < 2:
            return None
        return estimator.fit(table.take(rows).native, target[rows])


def _importances(fitted: Any) -> Array | None:
    importances = getattr(fitted, "feature_importances_", None)
    if importances is None and hasattr(fitted, "coef_"):
        importances = np.abs(np.ravel(fitted.coef_)) if np.ndim(fitted.coef_) == 1 or len(fitted.coef_) == 1 else None
    return None if importances is None else np.asarray(importances, dtype=np.float64)


class Adapter:
    """A scikit-learn estimator, as a learner."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @property
    def answers(self) -> tuple[str, ...]:
        """Labels for a classifier, responses for a regressor."""
        if is_classifier(self.estimator):
            return (LABELS,)
        return (RESPONSES,) if is_regressor(self.estimator) else ()

    def open(self, data: Data, goal: Goal) -> OpenedAdapter:
        """Look whether it takes weights."""
        return OpenedAdapter(data, self.estimator)
