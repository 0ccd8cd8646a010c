"""Stumps and trees: partitions that the engine grows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.engine.binning import MAX_BINS
from skewboost.engine.boundary import FORCED, ZBAR_PRINTED, Request
from skewboost.engine.growing import grow_by_histogram, stump
from skewboost.engine.losses import silent_loss, step_length, step_loss, sums_loss
from skewboost.engine.partition import Partition, View
from skewboost.engine.restrictions import Restrictions
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.engine.training_set import Growth, Limits, W, itself
from skewboost.errors import InputError
from skewboost.learners.learner import (
    BALANCE,
    VALUES,
    LabelHypothesis,
    LearnerContext,
    RandomSource,
    ResponseHypothesis,
    ValueHypothesis,
    VotesOfLeaves,
    chosen_goal,
    heaviest,
)
from skewboost.learners.training_data import TrainingData
from skewboost.learners.tree_restrictions import (
    BINS,
    MAX_FEATURES,
    answers_of,
    checks_of_restrictions,
    given_penalties,
    in_order,
    prepared,
    without_draws,
)
from skewboost.learners.value_search import RowLosses, ValueSearch
from skewboost.parameters import check_params, integer, number, one_of, optional
from skewboost.typing import Array

DRAWS = 3  # attempts of a round whose columns or thresholds are drawn; the last one is without draws
CRITERIA = ("error", "gini", "entropy", "z", "zbar", ZBAR_PRINTED)
OPPOSITE = {s: np.array([-s, s, 0.0]) for s in (-1, 1)}  # votes left, right and abstaining, by polarity
for _signs in OPPOSITE.values():
    _signs.setflags(write=False)  # shared by hypotheses
# the same criteria without forced signs
FREE = {"error": "majority", "zbar": "z", ZBAR_PRINTED: "z", "cost_step": "cost_loss"}


def of_classes(goal: Request, data: TrainingData) -> Request:
    """The same goal for more than two classes, if there are more."""
    if data.classes.n_classes == 2:
        return goal
    return replace(goal, criterion="class_gini" if goal.criterion == "gini" else "class_error")


def majority(class_weights: Array, abstains: Array) -> Array:
    """The heavier class of each leaf; +1 in case of a tie, 0 where the leaf abstains or is empty."""
    pairs = zip(class_weights.tolist(), abstains.tolist())
    return np.array([0.0 if silent else _heavier(negative, positive) for (negative, positive), silent in pairs])


def _heavier(negative: float, positive: float) -> float:
    total = negative + positive
    if total == 0.0:
        return 0.0
    return 1.0 if positive >= negative - BALANCE * total else -1.0


class PartitionContext(LearnerContext):
    """A stump or tree with its training data."""

    def __init__(
        self,
        data: TrainingData,
        view: View,
        request: Request,
        limits: Limits,
        restrictions: Restrictions | None,
        penalties: tuple[float, float],
        opposite: bool = False,
        constant: bool = False,
    ) -> None:
        super().__init__(data, view)
        self.request = request
        self.limits = limits
        self.restrictions = restrictions
        n_features = data.table.n_features if view.bins is None else view.bins.n_features
        self.undrawn = None if restrictions is None else without_draws(restrictions, n_features)
        self.drawn = restrictions != self.undrawn  # whether there are random draws
        self.tries = DRAWS if self.drawn else 1
        self.by_engine = restrictions is None and request.criterion != ZBAR_PRINTED  # whether it is one call to it
        self.l2, self.min_hessian = penalties
        self.opposite = opposite  # whether the two sides of a split have opposite labels, or each that of its majority
        self.constant = constant

    def labels(self, rng: RandomSource) -> LabelHypothesis:
        """The best partition under the current weights; a single leaf if nothing can be split."""
        growth = self.rows.grow(self.request, self.limits) if self.by_engine else self._grow(rng)
        if self.constant and growth.partition.splits:
            growth = self._or_constant(growth)
        if len(growth.partition.splits) != 1:
            return self._hypothesis(growth, majority)
        labels = self._opposite_labels(growth) if self.opposite else majority(growth.sums, growth.abstains)
        printed = self.request.criterion == ZBAR_PRINTED
        signs = labels if printed or self.request.criterion == "zbar" else None
        return self.grown(growth, labels, growth.partition.splits[0].value, signs, printed)

    def joint_labels(self, rng: RandomSource) -> LabelHypothesis:
        """The best partition for all labels at once; the rule chooses the values of the leaves."""
        return self._hypothesis(self._grow(rng), lambda sums, abstains: np.zeros(len(sums)))

    def class_labels(self, rng: RandomSource) -> LabelHypothesis:
        """The best partition for more than two classes; each leaf votes for the heaviest."""
        return self._hypothesis(self._grow(rng), heaviest)

    def _grow(self, rng: RandomSource) -> Growth:
        """The best partition under the current weights, within the restrictions."""
        if self.request.criterion == ZBAR_PRINTED:
            return self._within(partial(grow_by_histogram, self.rows, self.request), rng)
        return self._within(partial(self.rows.grow, self.request, self.limits), rng)

    def _within(self, grow: Callable[..., Growth], rng: RandomSource) -> Growth:
        """A partition within the restrictions, if there are any.

        Without random draws if these allow no split, or if all earlier attempts of the round had no edge.
        """
        if self.drawn and not self.last_try:
            growth = grow(self.restrictions, int(rng().integers(2**63)))
            if growth.partition.splits:
                return growth
        return grow(self.undrawn)

    def constrained(self, term: Term) -> Term | None:
        """The term with votes that satisfy the monotonic constraints."""
        if self.restrictions is None or self.restrictions.monotonic is None:
            return term
        return in_order(term, self.restrictions.monotonic)

    def _hypothesis(self, growth: Growth, votes: VotesOfLeaves) -> LabelHypothesis:
        """A tree, whose criterion is summed over its leaves."""
        request, sums, abstains = self.request, growth.sums, growth.abstains
        free = FREE.get(request.criterion, request.criterion)
        of_abstaining = 0.0
        if abstains.any():
            of_abstaining = float(silent_loss(free, sums[abstains].T).sum())
            sums = sums[~abstains]
        value = float(sums_loss(free, sums.T, 1, request.costs, request.delta).sum()) + of_abstaining
        return self.grown(growth, votes(growth.sums, abstains), value)

    def _opposite_labels(self, growth: Growth) -> Array:
        """Opposite labels for the two sides of a stump: as the criterion chose, or those with the smaller error.

        If these have the wrong order for a monotonic constraint, each side has the label of its majority.
        """
        split = growth.partition.splits[0]
        polarity = split.polarity
        if polarity == 0:
            (a, b), (c, d) = growth.sums[:2].tolist()
            polarity = 1 if b + c <= a + d else -1
            directions = None if self.restrictions is None else self.restrictions.monotonic
            if directions is not None and directions[split.feature] * polarity < 0:
                return majority(growth.sums, growth.abstains)
        return OPPOSITE[polarity][: growth.partition.n_leaves]

    def _or_constant(self, growth: Growth) -> Growth:
        """The single leaf, if it is clearly better than the split."""
        split = growth.partition.splits[0]
        loss = split.before
        rows = growth.sums.sum(axis=0)
        if self.request.criterion == "cost_step":  # `before` is without a step, but a constant has one too
            costs, none = self.request.costs, np.zeros(2)
            loss = min(
                float(step_loss(no, yes, costs, step_length(no, yes, costs)))
                for no, yes in ((rows, none), (none, rows))
            )
        if loss < split.value - 1e-10:
            return Growth(Partition((), (), 1), rows[None], np.zeros(1, dtype=np.bool_), ())
        return growth

    def responses(self, z: str, w: str, rng: RandomSource) -> ResponseHypothesis:
        """The partition whose leaf means fit z best: ``Σwz / (Σw + λ)`` with an L2 penalty λ."""
        request = self.request
        penalised = self.l2 > 0.0 or self.min_hessian > 0.0
        if penalised or request.min_weight > 0.0 or request.criterion != "squares":  # else the same in every round
            total = self.rows.sum(itself, (w,))
            # penalties refer to the Hessian, but the weights of labels sum to one, and so do those of drawn rows
            hessian = self.hessian or (self.data.n_examples if w == W else total)
            unit = total / hessian
            least = max(request.min_weight * total, self.min_hessian * unit)
            request = Request("squares", request.missing, request.min_count, least, delta=self.l2 * unit)
        if self.restrictions is None:
            growth = self.rows.grow_responses(z, w, request, self.limits)
        else:
            growth = self._within(partial(self.rows.grow_responses, z, w, request, self.limits), rng)
        sums, sums_z = growth.sums.T
        means = np.divide(sums_z, sums + request.delta, out=np.zeros_like(sums), where=(sums > 0) & ~growth.abstains)
        fitted = sums_z if request.delta == 0.0 else 2.0 * sums_z - means * sums
        residual = (growth.squares - float((means * fitted).sum())) / float(sums.sum())
        importances = self.importances(growth.importances)
        return ResponseHypothesis(LeafTerm(growth.partition, means), residual, importances)

    def values(self, losses: RowLosses) -> ValueHypothesis:
        """The best split and values under the current weights; the value of a single leaf if nothing can be split."""
        if self.request.criterion not in ("z", "zbar"):
            raise InputError(
                f"criterion={self.request.criterion!r} of Stump has no effect, because the boosting variant has its "
                "own loss.",
                "Leave it at None, or set criterion='z' for sides whose signs are not forced.",
            )
        found = ValueSearch(self.rows, self.view, self.request, losses).best(self.constant)
        partition = Partition((), (), 1) if found.split is None else stump(found.split)
        gained = [] if found.split is None else [(found.split.feature, found.gain)]
        importances = self.importances(gained)
        return ValueHypothesis(LeafTerm(partition, found.values), found.loss, importances)


@dataclass(kw_only=True, eq=False, repr=False)
class Stump(BaseEstimator):
    r"""A test of one feature, with two leaves.

    A number is compared with a threshold, and a category with a set of categories. For two classes, the best set is
    found by sorting the categories by their proportion of positives.

    Parameters
    ----------
    criterion : {"error", "gini", "entropy", "z", "zbar", "zbar_printed"} or None, default=None
        The criterion that the split minimises, where W± are the class weights of a leaf: the weighted error of opposite
        labels, the Gini impurity Σ 2 W+ W- / W, the entropy, Z = 2 Σ √(W+ W-), or Z̄, which is Z with opposite signs
        forced on the two sides. A side whose sign contradicts its majority adds 0, the minimum of the loss under this
        constraint; with ``"zbar_printed"`` it votes with the absolute value of its log-odds and counts as :math:`(W_+^2
        + W_-^2) / \sqrt{W_+ W_-}`, as [cuendet2002]_ (1.9-2, 1.9-3) prints it. None is the criterion of the boosting
        variant. Responses are always fitted by least squares.
    missing : {"learn", "abstain"}, default="learn"
        Missing values go to the side with the smaller loss (to the heavier side if training had no missing values), or
        the stump abstains and adds nothing for them.
    constant : bool, default=False
        Whether "all positive" and "all negative" compete with the splits. Only for the criteria that force opposite
        signs on the two sides: ``"error"``, ``"zbar"`` and that of CS-AdaBoost. Without constants, an ensemble on
        columns of few values cannot represent the class frequencies.
    max_bins : int or None, default=255
        The number of bins per feature. If a feature has no more distinct values than that, every threshold is tried.
        None always tries every threshold, in time and memory that grow with the number of distinct values.
    binning : {"quantile", "uniform"}, default="quantile"
        Whether bins have about equally many examples, or equal length: `max_bins` intervals from the smallest to the
        largest value of a column, however many distinct values there are.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        The number of columns that are drawn in each round, or their share; None uses all. If none of them can be split,
        or if the round would have no edge, the round is repeated with other columns, and finally with all of them.
    splitter : {"best", "random"}, default="best"
        Whether all thresholds are tried, or one random threshold per column, between the smallest and the largest value
        of the node. The best of these is taken. Of a column of categories it is a random set.
    l2_regularization : float, default=0.0
        The penalty λ on the values of leaves, which are :math:`\sum w z / (\sum w + \lambda)`. Only for variants that
        fit responses z, such as LogitBoost; the weights w are then the Hessian of the loss, in units of an example.
        GentleBoost and CSGA fit responses if there is a penalty.
    min_hessian_leaf : float, default=0.0
        The minimum of :math:`\sum w` in a leaf; only for variants that fit responses.
    monotonic_cst : array-like of int, dict or None, default=None
        As in scikit-learn: 1 for columns in which ``P(classes_[1])`` must not fall, -1 for columns in which it must not
        rise, 0 for the others; one number per column, or a dict by name. It holds exactly. Constrained categories need
        an ordered type, and are split in their order. For two classes, and for variants whose score is the sum of the
        votes.

    References
    ----------
    .. [cuendet2002] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors",
       IBM Research Report RZ 3402 (2002).

    Examples
    --------
    >>> from skewboost import AdaBoostClassifier
    >>> from skewboost.learners import Stump
    >>> X, y = [[1.0], [2.0], [float("nan")]], [0, 1, 0]
    >>> AdaBoostClassifier(estimator=Stump(missing="abstain")).fit(X, y).predict([[1.0], [2.0]])
    array([0, 1])
    """

    criterion: Literal["error", "gini", "entropy", "z", "zbar", "zbar_printed"] | None = None
    missing: Literal["learn", "abstain"] = "learn"
    constant: bool = False
    max_bins: int | None = MAX_BINS
    binning: Literal["quantile", "uniform"] = "quantile"
    max_features: int | float | Literal["sqrt", "log2"] | None = None
    splitter: Literal["best", "random"] = "best"
    l2_regularization: float = 0.0
    min_hessian_leaf: float = 0.0
    monotonic_cst: Any = None

    @property
    def answers(self) -> tuple[str, ...]:
        """The questions that it answers: losses of rows only if all splits are tried."""
        restricted = any(value is not None for value in (self.max_features, self.monotonic_cst))
        restricted |= not one_of("best").passes(self.splitter)
        restricted |= bool(given_penalties(self))  # on a Hessian, which losses have not
        return answers_of(self) if restricted else (*answers_of(self), VALUES)

    def prepare(self, data: TrainingData, goal: Request) -> PartitionContext:
        check_params(
            self,
            criterion=optional(one_of(*CRITERIA)),
            missing=one_of("learn", "abstain"),
            constant=one_of(True, False),
            **BINS,
            **checks_of_restrictions(),
        )
        chosen = of_classes(chosen_goal(self, goal), data)
        if self.constant and chosen.criterion not in FORCED:
            raise InputError(
                f"constant=True of Stump has no effect with the criterion {chosen.criterion!r}, under which a split is "
                "never worse than a constant.",
                "Set constant=False, or a criterion that forces opposite signs: 'error' or 'zbar'.",
            )
        request = replace(chosen, missing=self.missing)
        view, restrictions = prepared(self, data)
        return PartitionContext(
            data,
            view,
            request,
            Limits(max_depth=1),
            restrictions,
            (float(self.l2_regularization), float(self.min_hessian_leaf)),
            True,
            self.constant,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class Tree(BaseEstimator):
    r"""A decision tree of such tests, grown best first or level by level.

    Parameters
    ----------
    criterion : {"error", "gini", "entropy", "z"} or None, default=None
        As for `Stump`; here ``"error"`` is the error of the majority of each leaf. None is the criterion of the
        boosting variant, except that variants which minimise the weighted error use Gini: most splits near the root do
        not change the majorities, so the error cannot compare them.
    max_leaf_nodes : int or None, default=8
        Grow best first up to this number of leaves. None grows level by level to `max_depth`.
    max_depth : int or None, default=None
        The length of the longest path from the root to a leaf.
    min_samples_leaf : float, default=0
        The minimum number of training examples in a leaf; no leaf is ever empty. A row counts as many examples as its
        `sample_weight`.
    min_weight_leaf : float, default=0.0
        The minimum fraction of the current weight in a leaf.
    missing : {"learn", "abstain"}, default="learn"
        As for `Stump`; with ``"abstain"`` a row stops, without a vote, at the first test of a missing value.
    max_bins : int or None, default=255
        As for `Stump`.
    binning : {"quantile", "uniform"}, default="quantile"
        As for `Stump`.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        The number of columns that are drawn for every node, or their share; None uses all. A node whose columns cannot
        be split is a leaf.
    max_features_per_tree : int, float, {"sqrt", "log2"} or None, default=None
        The same for every tree; the columns of its nodes are drawn from those of the tree. If none of them can be
        split, or if the round would have no edge, other columns are drawn, and finally all of them are used.
    splitter : {"best", "random"}, default="best"
        As for `Stump`, in every node.
    l2_regularization : float, default=0.0
        As for `Stump`.
    min_hessian_leaf : float, default=0.0
        As for `Stump`.
    monotonic_cst : array-like of int, dict or None, default=None
        As for `Stump`. As in scikit-learn's trees, a split is not made if its sides have the wrong order, or leave the
        bounds that the splits above it set. Votes of leaves that are still out of order, because of smoothing, costs or
        sampled rows, are clipped. Needs ``missing="learn"``.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of sets of columns, or None, default=None
        The sets of columns that may be tested on one path, as in scikit-learn's histogram-based boosting.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.learners import Tree
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> RealBoostClassifier(estimator=Tree(max_leaf_nodes=3), n_estimators=5).fit(X, y).predict([[0, 2], [2, 2]])
    array([0, 1])
    """

    criterion: Literal["error", "gini", "entropy", "z"] | None = None
    max_leaf_nodes: int | None = 8
    max_depth: int | None = None
    min_samples_leaf: float = 0
    min_weight_leaf: float = 0.0
    missing: Literal["learn", "abstain"] = "learn"
    max_bins: int | None = MAX_BINS
    binning: Literal["quantile", "uniform"] = "quantile"
    max_features: int | float | Literal["sqrt", "log2"] | None = None
    max_features_per_tree: int | float | Literal["sqrt", "log2"] | None = None
    splitter: Literal["best", "random"] = "best"
    l2_regularization: float = 0.0
    min_hessian_leaf: float = 0.0
    monotonic_cst: Any = None
    interaction_cst: Any = None

    @property
    def answers(self) -> tuple[str, ...]:
        """The questions that it answers."""
        return answers_of(self)

    def prepare(self, data: TrainingData, goal: Request) -> PartitionContext:
        check_params(
            self,
            criterion=optional(one_of("error", "gini", "entropy", "z")),
            max_leaf_nodes=optional(integer(2)),
            max_depth=optional(integer(1)),
            min_samples_leaf=number(0, None),
            min_weight_leaf=number(0, 0.5),
            missing=one_of("learn", "abstain"),
            **BINS,
            **checks_of_restrictions(max_features_per_tree=MAX_FEATURES),
        )
        if self.max_leaf_nodes is None and self.max_depth is None:
            raise InputError(
                "Tree(max_leaf_nodes=None, max_depth=None) would grow until every leaf is pure.",
                "Set one of the two.",
            )
        if self.monotonic_cst is not None and self.missing == "abstain":
            raise InputError(
                "monotonic_cst of Tree needs missing='learn': a row that abstains at a missing value has the vote 0, "
                "which may be out of order.",
                "Set missing='learn', or use a Stump.",
            )
        chosen = chosen_goal(self, goal)
        criterion = FREE.get(chosen.criterion, chosen.criterion)
        if criterion == "majority" and self.criterion is None:
            criterion = "gini"
        chosen = of_classes(replace(chosen, criterion=criterion), data)
        least = 1.0 if data.examples is None else float(data.examples.min())
        min_count = float(self.min_samples_leaf) if self.min_samples_leaf > least else 0.0
        request = replace(chosen, missing=self.missing, min_count=min_count, min_weight=float(self.min_weight_leaf))
        limits = Limits(self.max_depth, self.max_leaf_nodes)
        view, restrictions = prepared(self, data)
        penalties = float(self.l2_regularization), float(self.min_hessian_leaf)
        return PartitionContext(data, view, request, limits, restrictions, penalties)
