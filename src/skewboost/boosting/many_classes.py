"""What the variants for many classes share: one ensemble of terms that say something of every class."""

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
    """What it costs to get a class wrong (the mean where rows differ), and each row, or each (row, label)."""

    of_class: Array
    each: Array | None  # None: all the same
    differ: bool = False  # whether rows of a class do


class JointRule(Rule):
    """A variant for many classes."""

    def link(self, state: State) -> Link:  # type: ignore[override]
        """What the F of each class mean."""
        raise NotImplementedError


@booster
class JointClassifier(CostSensitiveClassifier):
    """A booster for many classes; a subclass names its `JointRule`, and what it is with two classes."""

    multilabel_ = False

    def _joint_rule(self, costs: JointCosts) -> JointRule:
        """The variant for more than two classes."""
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
                f"pos_label={self.pos_label!r} has no effect: y has {len(classes)} classes, none of which is the "
                "positive one. Leave it at None."
            )
        self._keep_classes(classes, going_on, "classes")

    def _keep_classes(self, classes: Array, going_on: bool, what: str) -> None:
        if going_on and not np.array_equal(classes, self.classes_):
            raise InputError(
                f"y has {len(classes)} {what}, but training started with {len(self.classes_)}, or with others. Set "
                "warm_start=False to start anew."
            )
        self.classes_ = classes

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        """All the same, unless somebody says otherwise."""
        if self.cost is None and each is None:
            return Costs()
        return super()._costs(each, labels, weights)

    def _joint_costs(self, each: Array | None, labels: Array, weights: Array | None) -> JointCosts:
        """What it costs to get rows of more than two classes wrong."""
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
        """The classes as training sees them."""
        raise NotImplementedError

    def _structure(self) -> Classes:
        """How many labels a row has in training, and of how many classes each is."""
        raise NotImplementedError

    def _problem(self, table: Table, labels: Array, weights: Array | None, each_cost: Array | None) -> Problem:
        if not self._joint:
            return super()._problem(table, labels, weights, each_cost)
        found = self._joint_costs(each_cost, labels, weights)
        rule, costs = self._joint_rule(found), Costs() if found.each is None else Costs(each=found.each)
        truth = labels.astype(np.intp) if self.multilabel_ else labels
        return Problem(rule, table, self._target(labels), weights, costs, truth, self.classes_, self._structure())

    def _split(self, problem: Problem) -> tuple[Array, Array]:
        if not self._joint:
            return super()._split(problem)
        fraction = self.validation_fraction or DEFAULT_VALIDATION_FRACTION
        return stratified_split(problem.truth, fraction, np.random.default_rng(self._seed))

    def _finish(self, learner: Learner, problem: Problem, state: State) -> None:
        if not self._joint:
            super()._finish(learner, problem, state)
