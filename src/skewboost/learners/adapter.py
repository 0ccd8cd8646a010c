"""Any scikit-learn estimator as a weak learner.

A classifier partitions the input by its predicted label (a single decision tree: by its leaves), and the rule chooses
the values of the parts, as it does for the two sides of a stump. So every rule can boost every classifier, and the
properties of partitions, such as a monotone loss and bounded steps, hold here too. A regressor answers with its
prediction, and a classifier within `Probabilities` with its probabilities.

Weights are passed to the estimator, to the last step of a pipeline, or to the estimator inside a search. An estimator
that does not accept weights is fitted to rows drawn by weight (`resampling.py`).
"""

from __future__ import annotations

from collections.abc import Callable
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

from skewboost.engine.boundary import Request
from skewboost.engine.partition import View
from skewboost.engine.scoring import Term, scaled_to
from skewboost.engine.table import Table
from skewboost.engine.training_set import Leaves, TrainingSet, W
from skewboost.fitting import seeded
from skewboost.learners.learner import (
    LABELS,
    PROBABILITIES,
    RESPONSES,
    Importances,
    LabelHypothesis,
    LearnerContext,
    ProbabilityHypothesis,
    RandomSource,
    ResponseHypothesis,
    VotesOfLeaves,
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
    inner = getattr(
        estimator, "_passes_params_to", None
    )  # of meta-estimators whose `fit` passes on what it does not use
    if inner is not None:
        return weight_name(inner)
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        inner = weight_name(last)
        return None if inner is None else f"{step}__{inner}"
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return weight_name(estimator.estimator)
    return None


def rows_for(estimator: Any, table: Table) -> Any:
    """The rows as an estimator reads them: in the type that the user passed, unless it takes a table of ours."""
    return table if getattr(estimator, "takes_tables", False) else table.native


def parts(estimator: Any, X: Any) -> Array:
    """The part of each row: the leaf of a decision tree, otherwise the predicted label."""
    if hasattr(estimator, "tree_"):
        return np.asarray(estimator.apply(X))
    return np.asarray(estimator.predict(X)).astype(np.intp)


@dataclass(frozen=True)
class ClassifierTerm:
    """A value per part of a fitted classifier."""

    estimator: Any
    values: Array

    def on(self, view: View) -> Array:
        return self.values[parts(self.estimator, rows_for(self.estimator, view.table))]

    def scaled(self, factor: float) -> ClassifierTerm:
        return replace(self, values=self.values * factor)

    def bounded(self, limit: float, rows: TrainingSet) -> ClassifierTerm:
        return replace(self, values=np.clip(self.values, -limit, limit))


@dataclass(frozen=True)
class RegressorTerm:
    """The predictions of a fitted regressor, times a number."""

    estimator: Any
    scale: float = 1.0

    def on(self, view: View) -> Array:
        return self.scale * np.asarray(self.estimator.predict(view.table.native), dtype=np.float64)

    def scaled(self, factor: float) -> RegressorTerm:
        return replace(self, scale=self.scale * factor)

    def bounded(self, limit: float, rows: TrainingSet) -> Term:
        return scaled_to(self, limit, rows)


class AdapterContext(LearnerContext):
    """A scikit-learn estimator with the training data."""

    def __init__(self, data: TrainingData, estimator: Any, weight_name: str | None, costs: tuple[float, float]) -> None:
        super().__init__(data, data.view(None))
        self.estimator = estimator
        self.weight_name = weight_name
        self.costs = np.array(costs)

    def labels(self, rng: RandomSource) -> LabelHypothesis:
        """Fit a clone to the labels under the current weights."""
        return self._labels(rng, majority, np.array([-1.0, 1.0]), wrong_weight)

    def class_labels(self, rng: RandomSource) -> LabelHypothesis:
        """Fit a clone to the class numbers under the current weights."""
        numbers = np.arange(float(self.data.classes.n_classes))
        return self._labels(rng, heaviest, numbers, lambda labels, sums: float(sums.sum()) - right_weight(labels, sums))

    def _labels(
        self, rng: RandomSource, of_leaves: VotesOfLeaves, of_classes: Array, error: Callable[[Array, Array], float]
    ) -> LabelHypothesis:
        """Fit a clone; its parts are the leaves of a tree, which vote by their class weights, or predicted classes."""
        target, weights = self.data.labels.astype(np.intp), self.rows.get(W)
        if self.costs[0] != self.costs[1]:  # the gradient of a loss with costs is in proportion to them
            weights = weights * self.costs[target]
        fitted = self._fit(target, weights, rng)
        is_tree = hasattr(fitted, "tree_")
        leaves = Leaves("leaf", int(fitted.tree_.node_count) if is_tree else len(of_classes))
        term = partial(ClassifierTerm, fitted)
        self.rows.evaluate(term(np.arange(float(leaves.n_leaves))), leaves.name)
        sums, abstains = self.rows.sums(leaves), np.zeros(leaves.n_leaves, dtype=np.bool_)
        labels = of_leaves(sums, abstains) if is_tree else of_classes
        return LabelHypothesis(term, leaves, sums, labels, abstains, error(labels, sums), self._importances(fitted))

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
        return ProbabilityHypothesis(term, rows.sum(wrong_sides, ("w", "y", "p")), self._importances(fitted))

    def _fit(self, target: Array, weights: Array, rng: RandomSource) -> Any:
        """Fit a clone, with weights if it accepts them; a constant if all (drawn) rows have one class."""
        X = rows_for(self.estimator, self.data.table)
        if is_classifier(self.estimator) and target.min() == target.max():
            return DummyClassifier().fit(self.data.table.native, target)
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
        name = type(self.estimator).__name__
        return f"Probabilities({name})" if isinstance(self.given, Probabilities) else name

    @property
    def answers(self) -> tuple[str, ...]:
        """Labels or probabilities for a classifier, responses for a regressor."""
        if is_classifier(self.estimator):
            return (PROBABILITIES,) if isinstance(self.given, Probabilities) else (LABELS,)
        return (RESPONSES,) if is_regressor(self.estimator) else ()

    def prepare(self, data: TrainingData, goal: Request) -> AdapterContext:
        return AdapterContext(data, self.estimator, self.weight_name, goal.costs)
