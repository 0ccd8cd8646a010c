"""What the variants for more than two classes share: one ensemble with a score per class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.boosting.estimator import CostSensitiveClassifier, booster
from skewboost.boosting.rule import Rule
from skewboost.boosting.training import Problem
from skewboost.engine.table import Table
from skewboost.engine.training_set import Classes
from skewboost.metrics.costs import Costs, check_cost, class_costs
from skewboost.typing import Array


@dataclass(frozen=True)
class JointCosts:
    """The cost of each class (the mean over its rows), and of each row or each (row, label) pair."""

    of_class: Array
    each: Array | None  # None: equal costs
    differ: bool = False  # whether rows of the same class have different costs


@booster
class JointClassifier(CostSensitiveClassifier):
    """Base class of boosters for any number of classes.

    A subclass returns a rule for more than two classes, and one for two.
    """

    multilabel_ = False
    _many_classes = True
    _equal_by_default = True

    def _joint_rule(self, costs: JointCosts) -> Rule:
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

    def _target(self, labels: Array) -> tuple[Array, Classes]:
        """Return the labels as the engine expects them, and how many labels and classes there are."""
        raise NotImplementedError

    def _problem(
        self, rule: Rule, table: Table, labels: Array, weights: Array | None, each_cost: Array | None
    ) -> Problem:
        if not self._joint:
            return super()._problem(rule, table, labels, weights, each_cost)
        found = self._joint_costs(each_cost, labels, weights)
        costs = Costs() if found.each is None else Costs(each=found.each)
        truth = labels.astype(np.intp) if self.multilabel_ else labels
        target, structure = self._target(labels)
        return Problem(self._joint_rule(found), table, target, weights, costs, truth, self.classes_, structure)
