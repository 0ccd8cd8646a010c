"""A histogram of one feature: one leaf per bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.engine.binning import MAX_BINS
from skewboost.engine.boundary import MISSING, N_CODES, TIE, Request, Split
from skewboost.engine.losses import abstain_loss, leaf_loss
from skewboost.engine.partition import Partition, View
from skewboost.engine.scoring import LeafTerm
from skewboost.engine.training_set import Growth, itself, squares
from skewboost.errors import InputError, checked_by_scikit_learn
from skewboost.learners.learner import (
    LABELS,
    RESPONSES,
    Importances,
    LabelHypothesis,
    LearnerContext,
    RandomSource,
    ResponseHypothesis,
    chosen_goal,
)
from skewboost.learners.stump_tree import FREE, majority
from skewboost.learners.training_data import TrainingData
from skewboost.names import in_short
from skewboost.parameters import check_params, integer, one_of, optional
from skewboost.typing import Array

DEFAULT_BINS = 32


class HistogramContext(LearnerContext):
    """A histogram learner with its training data."""

    def __init__(self, data: TrainingData, view: View, goal: Request) -> None:
        super().__init__(data, view)
        self.goal = goal
        assert view.bins is not None
        self.used = np.append(np.arange(int(view.bins.n_bins.max())), MISSING)  # the codes that occur

    def labels(self, rng: RandomSource) -> LabelHypothesis:
        """The feature whose bins separate the classes best."""
        planes = self.rows.histogram()
        feature, value, gain = self._best(planes, self.goal, "z")
        partition = self._partition(feature, value)
        sums = self._per_leaf(planes[:, feature], partition.n_leaves)
        abstains = np.zeros(len(sums), dtype=np.bool_)
        abstains[-1] = self.goal.missing == "abstain"
        return self.grown(Growth(partition, sums, abstains, [(feature, gain)]), majority(sums, abstains), value)

    def responses(self, z: str, w: str, rng: RandomSource) -> ResponseHypothesis:
        """The feature whose bins' means fit z best."""
        self.rows.map(np.multiply, (w, z), ("w z",))
        total, of_z = self.rows.sum(itself, (w,)), self.rows.sum(squares, (z, w))
        planes = self.rows.histogram(w, "w z")
        feature, value, gain = self._best(planes, Request("squares"), "squares")
        partition = self._partition(feature, value)
        sums, sums_z = self._per_leaf(planes[:, feature], partition.n_leaves).T
        means = np.divide(sums_z, sums, out=np.zeros_like(sums), where=sums > 0)
        if self.goal.missing == "abstain":
            means[-1] = 0.0
        residual = (of_z - float((means * sums_z).sum())) / total
        return ResponseHypothesis(LeafTerm(partition, means), residual, Importances(planes.shape[1], [(feature, gain)]))

    def _best(self, planes: Array, goal: Request, gain_criterion: str) -> tuple[int, float, float]:
        """The feature with the smallest criterion, summed over its bins; the first in case of a tie."""
        criterion = goal.criterion
        planes = planes[:, :, self.used]
        losses = leaf_loss(criterion, planes[0], planes[1], 1, goal.costs, goal.delta)
        if self.goal.missing == "abstain":
            losses[:, -1] = abstain_loss(criterion, planes[0, :, -1], planes[1, :, -1])
        values = losses.sum(axis=1)
        tie = TIE * (abs(values.min()) if criterion == "squares" else float(planes[:, 0].sum()))
        feature = int(np.argmax(values <= values.min() + tie))
        a, b = planes[:, feature]
        gain = float(leaf_loss(gain_criterion, a.sum(), b.sum(), 1) - leaf_loss(gain_criterion, a, b, 1).sum())
        return feature, float(values[feature]), max(gain, 0.0)

    def _partition(self, feature: int, value: float) -> Partition:
        """One leaf per bin, and a last one for missing values."""
        assert self.view.bins is not None
        n_bins = int(self.view.bins.n_bins[feature])
        child = np.full(N_CODES, n_bins, dtype=np.uint8)
        child[:n_bins] = np.arange(n_bins)
        split = Split(feature, -1, child, 0, value, value)
        return Partition((split,), (tuple(~k for k in range(n_bins + 1)),), n_bins + 1)

    @staticmethod
    def _per_leaf(h: Array, n_leaves: int) -> Array:
        return np.vstack((h[:, : n_leaves - 1].T, h[:, MISSING]))


@dataclass(kw_only=True, eq=False, repr=False)
class Histogram(BaseEstimator):
    """A histogram of one feature: the hypothesis has its own value in every bin.

    Parameters
    ----------
    max_bins : int or None, default=None
        The number of bins per feature, at weighted quantiles; None is 32. If a feature has fewer distinct values, each
        has its own bin.
    edges : list of array-like or None, default=None
        The inner edges of the bins of every feature; the bin of a value is the number of edges strictly below it.
        Only for numeric columns, and instead of `max_bins`.
    criterion : {"gini", "entropy", "z", "error"} or None, default=None
        The criterion for the choice of the feature, summed over its bins; None is that of the boosting variant.
    missing : {"learn", "abstain"}, default="learn"
        Missing values have their own bin, or get no vote.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.learners import Histogram
    >>> X, y = [[0.], [1.], [2.], [3.]], [0, 1, 1, 0]
    >>> RealBoostClassifier(estimator=Histogram(max_bins=4), n_estimators=1).fit(X, y).predict([[-1.], [1.2], [9.]])
    array([0, 1, 0])
    """

    answers = (LABELS, RESPONSES)

    max_bins: int | None = None
    edges: Sequence[Any] | None = None
    criterion: Literal["gini", "entropy", "z", "error"] | None = None
    missing: Literal["learn", "abstain"] = "learn"

    def prepare(self, data: TrainingData, goal: Request) -> HistogramContext:
        check_params(
            self,
            max_bins=optional(integer(2, MAX_BINS)),
            criterion=optional(one_of("gini", "entropy", "z", "error")),
            missing=one_of("learn", "abstain"),
        )
        chosen = chosen_goal(self, goal)
        chosen = replace(chosen, criterion=FREE.get(chosen.criterion, chosen.criterion), missing=self.missing)
        return HistogramContext(data, data.binned(self.max_bins or DEFAULT_BINS, self._edges(data)), chosen)

    def _edges(self, data: TrainingData) -> list[Array] | None:
        if self.edges is None:
            return None
        if self.max_bins is not None:
            raise InputError(f"Histogram takes max_bins or edges, not both; got max_bins={self.max_bins!r} and edges.")
        n_features = data.table.n_features
        counted = isinstance(self.edges, Sequence) or (isinstance(self.edges, np.ndarray) and self.edges.ndim > 0)
        if not counted or len(self.edges) != n_features:
            raise InputError(
                f"edges of Histogram must be a list of inner edges for each of the {n_features} features of X; got "
                f"{in_short(self.edges)}."
            )
        nominal = np.flatnonzero(data.table.nominal).tolist()
        if nominal:
            raise InputError(
                f"edges of Histogram needs numeric columns, but the columns {nominal} of X have categories.",
                "Encode them as numbers, or set max_bins instead.",
            )
        with checked_by_scikit_learn():
            edges = [np.asarray(e, dtype=np.float64) for e in self.edges]
        for j, e in enumerate(edges):
            if e.ndim != 1 or len(e) > MAX_BINS - 1 or not np.isfinite(e).all() or (np.diff(e) <= 0).any():
                raise InputError(
                    f"edges[{j}] of Histogram must be at most {MAX_BINS - 1} finite numbers in increasing order."
                )
        return edges
