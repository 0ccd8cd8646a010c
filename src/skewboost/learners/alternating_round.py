"""The weak learner of alternating decision trees, whose rounds build on earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.engine.binning import MAX_BINS
from skewboost.engine.boundary import Request
from skewboost.engine.growing_alternating import REST, AlternatingGrowth, AlternatingPartition
from skewboost.engine.partition import Partition, View
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.engine.training_set import Leaves
from skewboost.learners.learner import LABELS, LabelHypothesis, LearnerContext, RandomSource
from skewboost.learners.stump_tree import majority
from skewboost.learners.training_data import TrainingData
from skewboost.learners.tree_restrictions import BINS, is_uniform
from skewboost.parameters import check_params, one_of
from skewboost.typing import Array


class AlternatingTreeContext(LearnerContext):
    """An alternating tree with its training data; it grows with every round."""

    def __init__(self, data: TrainingData, view: View, request: Request) -> None:
        super().__init__(data, view)
        self.tree = AlternatingGrowth(self.rows, request)

    def labels(self, rng: RandomSource) -> LabelHypothesis | None:
        """The best test under any precondition, which abstains on all other rows; None if nothing can be split."""
        growth = self.tree.grow()
        if growth is None:
            return None
        labels = majority(growth.sums, growth.abstains)
        criterion = float(2.0 * np.sqrt(growth.sums[:REST].prod(axis=1)).sum() + growth.sums[REST].sum())
        return self.grown(growth, labels, criterion)

    def reweight(self, partition: Partition | Leaves, factors: Array) -> float:
        """Multiply the weights, and let the tree know which have changed."""
        total = super().reweight(partition, factors)
        assert isinstance(partition, AlternatingPartition)
        self.tree.moved(partition.precondition, factors[REST] / total)
        return total

    def added(self, term: Term) -> None:
        """Add the two sides of the test to the preconditions."""
        assert isinstance(term, LeafTerm)
        assert isinstance(term.partition, AlternatingPartition)
        self.tree.add(term.partition)


@dataclass(kw_only=True, eq=False, repr=False)
class AlternatingTree(BaseEstimator):
    r"""The weak learner of alternating decision trees: a test of those rows that meet a precondition.

    Each round chooses, among all preconditions p so far and all tests c, the pair with the smallest
    :math:`Z = 2 \sqrt{W^+ W^-}(p \wedge c) + 2 \sqrt{W^+ W^-}(p \wedge \neg c) + W(\neg p)`. Then
    :math:`p \wedge c` and :math:`p \wedge \neg c` become preconditions as well. `AlternatingTreeClassifier` is
    RealBoost with this learner; any other variant that asks for labels can use it too.

    Parameters
    ----------
    missing : {"abstain", "learn"}, default="abstain"
        Rows with a missing value get no vote from the test, nor from any test below it; or they go to the side with the
        smaller loss (to the heavier side if training had no missing values).
    max_bins : int or None, default=255
        The number of bins per feature. If a feature has no more distinct values than that, every threshold is tried.
        None always tries every threshold.
    binning : {"quantile", "uniform"}, default="quantile"
        As for `Stump`.

    References
    ----------
    .. [freund1999] Y. Freund, L. Mason, "The alternating decision tree learning algorithm", International Conference on
       Machine Learning (1999) 124-133.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skewboost import CSRAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.learners import AlternatingTree
    >>> X, y = load_rare_cancer()
    >>> clf = CSRAClassifier(estimator=AlternatingTree(), cost=5, n_estimators=10)
    >>> print(f"recall {cross_val_score(clf, X, y, scoring='recall', cv=3).mean():.2f}")
    recall 0.92
    """

    answers = (LABELS,)

    missing: Literal["abstain", "learn"] = "abstain"
    max_bins: int | None = MAX_BINS
    binning: Literal["quantile", "uniform"] = "quantile"

    def prepare(self, data: TrainingData, goal: Request) -> AlternatingTreeContext:
        """Bin the table. An alternating tree minimises Z, whatever the criterion of the variant."""
        check_params(self, missing=one_of("abstain", "learn"), **BINS)
        return AlternatingTreeContext(
            data, data.binned(self.max_bins, uniform=is_uniform(self)), Request("z", self.missing)
        )
