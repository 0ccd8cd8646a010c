"""What the variants for more than two classes share: one ensemble with a score per class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.boosting.early_stopping import stratified_split
from skewboost.boosting.estimator import DEFAULT_VALIDATION_FRACTION, CostSensitiveClassifier, booster
from skewboost.boosting.link import Link
from skewboost.boosting.rule import Rule
from skewboost.boosting.state import State
from skewboost.boosting.training import Problem
from skewboost.engine.table import Table
from skewboost.engine.training_set import Classes
from skewboost.errors import InputError
from skewboost.learners.learner import Learner
from skewboost.metrics.costs import Costs, check_cost, class_costs
from skewboost.metrics.targets import classes_of
from skewboost.typing import Array


@dataclass(frozen=True)
class JointCosts:
    """The cost of each class (the mean over its rows), and of each row or each (row, label) pair."""

    of_class: Array
    each: Array | None  # None: equal costs
    differ: bool = False  # whether rows of the same class have different costs


class JointRule(Rule):
    """A variant for more than two classes."""

    def link(self, state: State) -> Link:  # type: ignore[override]
        """Return the link of the class scores."""
        raise NotImplementedError


@booster
class JointClassifier(CostSensitiveClassifier):
    """Base class of boosters for any number of classes.

    A subclass returns a `JointRule` for more than two classes, and a `Rule` for two.
    """

    multilabel_ = False

    def _joint_rule(self, costs: JointCosts) -> JointRule:
        """Return the rule for more than two classes."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags

    @property
    def _joint(self) -> bool:
        return self.multilabel_ or len(self.classes_) > 2

    # ------------------------------------------------------------------------ fitting

    def _set_classes(self, labels: Array, weights: Array | None, going_on: bool) -> None:
        classes = classes_of(self, labels)
        if len(classes) == 2:
            super()._set_classes(labels, weights, going_on)
            return
        if self.pos_label is not None:
            raise InputError(
                f"pos_label={self.pos_label!r} has no effect, because y has {len(classes)} classes. Leave pos_label at "
                "None."
            )
        self._keep_classes(classes, going_on, "classes")

    def _keep_classes(self, classes: Array, going_on: bool, what: str) -> None:
        if going_on and not np.array_equal(classes, self.classes_):
            raise InputError(
                f"The {what} of y differ from those that training started with ({len(classes)} now, "
                f"{len(self.classes_)} then). Set warm_start=False to start again."
            )
        self.classes_ = classes

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        """Return the costs of two classes; equal by default."""
        if self.cost is None and each is None:
            return Costs()
        return super()._costs(each, labels, weights)

    def _joint_costs(self, each: Array | None, labels: Array, weights: Array | None) -> JointCosts:
        """Return the costs of more than two classes."""
        check_cost(self.cost, self.classes_)
        if self.cost is None and each is None:
            return JointCosts(np.ones(len(self.classes_)), None)
        number = np.searchsorted(self.classes_, labels)
        if each is None:
            of_class = class_costs(self.cost, labels, self.classes_, weights)
            return JointCosts(of_class, of_class[number])
        w = np.ones(len(each)) if weights is None else weights
        means = np.bincount(number, w * each) / np.bincount(number, w)
        differ = any(np.ptp(each[number == k]) > 0 for k in range(len(means)))
        return JointCosts(means, each, differ)

    def _target(self, labels: Array) -> Array:
        """Return the labels as the engine expects them."""
        raise NotImplementedError

    def _structure(self) -> Classes:
        """Return the number of labels per row and of classes per label."""
        raise NotImplementedError

    def _problem(
        self, rule: Rule, table: Table, labels: Array, weights: Array | None, each_cost: Array | None
    ) -> Problem:
        if not self._joint:
            return super()._problem(rule, table, labels, weights, each_cost)
        found = self._joint_costs(each_cost, labels, weights)
        costs = Costs() if found.each is None else Costs(each=found.each)
        truth = labels.astype(np.intp) if self.multilabel_ else labels
        rule = self._joint_rule(found)
        return Problem(rule, table, self._target(labels), weights, costs, truth, self.classes_, self._structure())

    def _split(self, problem: Problem) -> tuple[Array, Array]:
        if not self._joint:
            return super()._split(problem)
        fraction = self.validation_fraction or DEFAULT_VALIDATION_FRACTION
        return stratified_split(problem.truth, fraction, np.random.default_rng(self._seed))

    def _finish(self, learner: Learner, problem: Problem, state: State) -> None:
        if not self._joint:
            super()._finish(learner, problem, state)
