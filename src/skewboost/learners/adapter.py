"""Any scikit-learn estimator as a weak learner.

A classifier partitions the input by its predicted label (a single decision tree: by its leaves), and the rule chooses
the values of the parts, as it does for the two sides of a stump. So every rule can boost every classifier, and the
properties of partitions, such as a monotone loss and bounded steps, hold here too. A regressor answers with its
prediction, and a classifier within `Probabilities` with its probabilities.

Weights are passed to the estimator, to the last step of a pipeline, or to the estimator inside a search. An estimator
that does not accept weights is fitted to rows drawn by weight (`resampling.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from skewboost.engine.partition import View
from skewboost.engine.scoring import Term, scaled_to
from skewboost.engine.training_set import Leaves, TrainingSet, W
from skewboost.fitting import seeded
from skewboost.learners.learner import (
    LABELS,
    PROBABILITIES,
    RESPONSES,
    Importances,
    LearnerContext,
    ProbabilityHypothesis,
    RandomSource,
    ResponseHypothesis,
    SplitGoal,
    describe,
    heaviest,
    residuals_and_weights,
    right_weight,
    wrong_sides,
    wrong_weight,
)
from skewboost.learners.probabilities import Probabilities, ProbabilityTerm, identity
from skewboost.learners.stump_tree import majority
from skewboost.learners.training_data import TrainingData
from skewboost.typing import Array


def weight_name(estimator: Any) -> str | None:
    """The argument of `fit` for sample weights; None if the estimator does not accept them."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        inner = weight_name(last)
        return None if inner is None else f"{step}__{inner}"
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return weight_name(estimator.estimator)
    return None


def parts(estimator: Any, X: Any) -> Array:
    """The part of each row: the leaf of a decision tree, otherwise the predicted label."""
    if hasattr(estimator, "tree_"):
        return np.asarray(estimator.apply(X))
    return np.asarray(estimator.predict(X)).astype(np.intp)


def n_parts(estimator: Any) -> int:
    """The maximum number of parts."""
    return int(estimator.tree_.node_count) if hasattr(estimator, "tree_") else 2


@dataclass(frozen=True)
class ClassifierTerm:
    """A value per part of a fitted classifier."""

    estimator: Any
    values: Array

    def on(self, view: View) -> Array:
        """The value of the part of every row."""
        return self.values[parts(self.estimator, view.table.native)]

    def scaled(self, factor: float) -> ClassifierTerm:
        """Multiply all values by a number."""
        return replace(self, values=self.values * factor)

    def bounded(self, limit: float, rows: TrainingSet) -> ClassifierTerm:
        """Clip the values at the limit."""
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
        """Multiply by a number."""
        return replace(self, scale=self.scale * factor)

    def bounded(self, limit: float, rows: TrainingSet) -> Term:
        """Scale down to the limit."""
        return scaled_to(self, limit, rows)


@dataclass(frozen=True)
class ClassifierHypothesis:
    """A fitted classifier and the class weights in its parts."""

    estimator: Any
    partition: Leaves
    class_weights: Array
    labels: Array
    abstains: Array
    importances: Importances | None
    signs: Array | None = None

    @property
    def criterion(self) -> float:
        """The weight of the rows that the labels get wrong."""
        return wrong_weight(self.labels, self.class_weights)

    def term(self, values: Array) -> ClassifierTerm:
        """The function that has these values in the parts."""
        return ClassifierTerm(self.estimator, values)


class ClassHypothesis(ClassifierHypothesis):
    """The same for more than two classes."""

    @property
    def criterion(self) -> float:
        """The weight of the rows that the labels get wrong."""
        return float(self.class_weights.sum()) - right_weight(self.labels, self.class_weights)


class AdapterContext(LearnerContext):
    """A scikit-learn estimator with the training data."""

    def __init__(self, data: TrainingData, estimator: Any, weight_name: str | None) -> None:
        super().__init__(data, data.view(None))
        self.estimator = estimator
        self.weight_name = weight_name

    def labels(self, rng: RandomSource) -> ClassifierHypothesis:
        """Fit a clone to the labels under the current weights."""
        fitted, leaves, sums, abstains = self._parts(rng)
        labels = majority(sums, abstains) if hasattr(fitted, "tree_") else np.array([-1.0, 1.0])
        return ClassifierHypothesis(fitted, leaves, sums, labels, abstains, self._importances(fitted))

    def class_labels(self, rng: RandomSource) -> ClassifierHypothesis:
        """Fit a clone to the class numbers; the parts are the predicted classes, or the leaves of a tree."""
        fitted, leaves, sums, abstains = self._parts(rng)
        labels = heaviest(sums, abstains) if hasattr(fitted, "tree_") else np.arange(float(len(sums)))
        return ClassHypothesis(fitted, leaves, sums, labels, abstains, self._importances(fitted))

    def _parts(self, rng: RandomSource) -> tuple[Any, Leaves, Array, Array]:
        """A fitted clone, the parts of the rows, the class weights of the parts, and which parts abstain (none)."""
        rows = self.rows
        fitted = self._fit(self.data.labels.astype(np.intp), rows.get(W), rng)
        n = n_parts(fitted) if hasattr(fitted, "tree_") else self.data.classes.n_classes
        rows.evaluate(ClassifierTerm(fitted, np.arange(float(n))), "leaf")
        leaves = Leaves("leaf", n)
        return fitted, leaves, rows.sums(leaves), np.zeros(n, dtype=np.bool_)

    def responses(self, z: str, w: str, rng: RandomSource) -> ResponseHypothesis:
        """Fit a clone to the responses."""
        fitted = self._fit(self.rows.get(z), self.rows.get(w), rng)
        term = RegressorTerm(fitted)
        self.rows.evaluate(term, "fit")
        residual, total = self.rows.sum(residuals_and_weights, (z, "fit", w))
        return ResponseHypothesis(term, residual / total, self._importances(fitted))

    def probabilities(self, rng: RandomSource) -> ProbabilityHypothesis:
        """Fit a clone to the labels under the current weights."""
        rows = self.rows
        fitted = self._fit(self.data.labels.astype(np.intp), rows.get(W), rng)
        margin = 1.0 / (2.0 + self.data.n_examples)
        term = partial(ProbabilityTerm, fitted, margin)
        rows.evaluate(term(identity), "p")
        return ProbabilityHypothesis("p", term, rows.sum(wrong_sides, ("w", "y", "p")), self._importances(fitted))

    def _fit(self, target: Array, weights: Array, rng: RandomSource) -> Any:
        """Fit a clone, with weights if it accepts them; a constant if all (drawn) rows have one class."""
        X = self.data.table.native
        if is_classifier(self.estimator) and target.min() == target.max():
            return DummyClassifier().fit(X, target)
        generator = rng()
        estimator = seeded(self.estimator, lambda: int(generator.integers(2**31)))
        if self.weight_name is None:
            return estimator.fit(X, target)
        # weights that sum to the number of rows, so that penalties such as C keep their meaning
        scaled = weights * (len(target) / weights.sum())
        with config_context(enable_metadata_routing=False):  # or pipelines and searches would require requests
            return estimator.fit(X, target, **{self.weight_name: scaled})

    def _importances(self, fitted: Any) -> Importances | None:
        n_features = self.data.table.n_features
        if isinstance(fitted, DummyClassifier):
            return Importances(n_features, ())  # it uses none
        importances = getattr(fitted, "feature_importances_", None)
        if importances is None and hasattr(fitted, "coef_"):
            one = np.ndim(fitted.coef_) == 1 or len(fitted.coef_) == 1
            importances = np.abs(np.ravel(fitted.coef_)) if one else None
        if importances is None:
            return None
        values = np.asarray(importances, dtype=np.float64).tolist()
        return Importances(len(values), list(enumerate(values)))


class Adapter:
    """A scikit-learn estimator as a learner; within `Probabilities`, one that answers with its probabilities."""

    def __init__(self, given: Any, weighted: bool = True) -> None:
        self.given = given
        self.estimator = given.estimator if isinstance(given, Probabilities) else given
        self.weight_name = weight_name(self.estimator) if weighted else None

    @property
    def name(self) -> str:
        """The name in messages."""
        name = describe(self.estimator)
        return f"Probabilities({name})" if isinstance(self.given, Probabilities) else name

    @property
    def answers(self) -> tuple[str, ...]:
        """Labels or probabilities for a classifier, responses for a regressor."""
        if is_classifier(self.estimator):
            return (PROBABILITIES,) if isinstance(self.given, Probabilities) else (LABELS,)
        return (RESPONSES,) if is_regressor(self.estimator) else ()

    def prepare(self, data: TrainingData, goal: SplitGoal) -> AdapterContext:
        """There is nothing to prepare."""
        return AdapterContext(data, self.estimator, self.weight_name)
