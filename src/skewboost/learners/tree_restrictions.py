"""The parameters that restrict the splits of stumps and trees, and the votes of their leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skewboost.engine.binning import MAX_BINS, Bins
from skewboost.engine.constraints import ordered_columns, read_interactions, read_monotonic
from skewboost.engine.partition import Partition, View
from skewboost.engine.restrictions import Interactions, Restrictions
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.errors import InputError
from skewboost.learners.learner import LABELS, RESPONSES
from skewboost.learners.training_data import TrainingData
from skewboost.parameters import Check, either, integer, number, one_of, optional
from skewboost.typing import Array

BINS = {"max_bins": optional(integer(2, MAX_BINS)), "binning": one_of("quantile", "uniform")}
NAMED_SHARES = {"sqrt": math.sqrt, "log2": math.log2}
MAX_FEATURES = optional(either(one_of(*NAMED_SHARES), integer(1), number(0, 1, open_low=True)))
SPLITTER = one_of("best", "random")
PENALTY = number(0, None)
PENALTIES = ("l2_regularization", "min_hessian_leaf")


def answers_of(learner: Any) -> tuple[str, ...]:
    """The questions that a stump or tree answers: only those for responses if it has a penalty on them."""
    return (RESPONSES,) if given_penalties(learner) else (LABELS, RESPONSES)


def given_penalties(learner: Any) -> list[str]:
    """The penalties on responses that a learner has, as text."""
    names = [name for name in PENALTIES if not number(0, 0).passes(getattr(learner, name, 0.0))]
    return [f"{name}={getattr(learner, name)!r}" for name in names]


def checks_of_restrictions(**more: Check) -> dict[str, Check]:
    """The checks of the parameters that stumps and trees share."""
    return {
        "max_features": MAX_FEATURES,
        "splitter": SPLITTER,
        "l2_regularization": PENALTY,
        "min_hessian_leaf": PENALTY,
        **more,
    }


def number_of_columns(share: Any, n: int, name: str) -> int:
    """The number of columns to draw of n, as in scikit-learn: a number, a share, "sqrt", "log2", or None for all."""
    if share is None:
        return n
    if isinstance(share, str):
        return max(1, int(NAMED_SHARES[share](n)))
    if integer(1).passes(share):
        if share > n:
            raise InputError(
                f"{name}={share} is more than the {n} columns to draw from.", "Give a smaller number, or a share."
            )
        return int(share)
    return max(1, int(share * n))


def restrictions_of(learner: Any, data: TrainingData) -> Restrictions | None:
    """The restrictions that the parameters of a stump or tree ask for; None if there are none."""
    table, n = data.table, data.table.n_features
    of_tree = number_of_columns(getattr(learner, "max_features_per_tree", None), n, "max_features_per_tree")
    of_node = number_of_columns(learner.max_features, of_tree, "max_features")
    interactions = read_interactions(getattr(learner, "interaction_cst", None), table)
    made = Restrictions(of_tree, of_node, learner.splitter == "random", directions_of(learner, data), interactions)
    return None if made == Restrictions(n, n) else made


def directions_of(learner: Any, data: TrainingData) -> tuple[int, ...] | None:
    """The directions of F, which is the score of the positive class; the user's are those of ``classes_[1]``."""
    directions = read_monotonic(learner.monotonic_cst, data.table)
    if directions is None:
        return None
    if not data.classes.two:
        many = f"{data.classes.n_labels} labels" if data.classes.n_labels > 1 else f"{data.classes.n_classes} classes"
        raise InputError(
            f"monotonic_cst is for two classes, but y has {many}.", "Leave it at None, or pass y == label."
        )
    return directions if data.positive == 1 else tuple(-d for d in directions)


def is_uniform(learner: Any) -> bool:
    """Whether bins have equal length; an error if that has no effect."""
    if learner.binning == "uniform" and learner.max_bins is None:
        raise InputError(
            f"binning='uniform' of {type(learner).__name__} has no effect with max_bins=None, which makes every "
            "midpoint a threshold.",
            "Set max_bins to the number of intervals.",
        )
    return bool(learner.binning == "uniform")


def prepared(learner: Any, data: TrainingData) -> tuple[View, Restrictions | None]:
    """The table with its bins, and the restrictions of its features; constrained categories keep their order."""
    restrictions = restrictions_of(learner, data)
    directions = None if restrictions is None else restrictions.monotonic
    ordered = ordered_columns(directions, data.table)
    view = data.binned(learner.max_bins, ordered=ordered, uniform=is_uniform(learner))
    assert view.bins is not None
    if restrictions is None or not view.bins.columns:
        return view, restrictions
    return view, of_features(restrictions, view.bins, data.table.n_features)


def of_features(restrictions: Restrictions, bins: Bins, n_columns: int) -> Restrictions:
    """The restrictions of features, given those of columns of which some are several features."""
    if restrictions != without_draws(restrictions, n_columns):
        raise InputError(
            "max_bins=None does not go with columns or thresholds that are drawn, if a column has more than "
            f"{MAX_BINS} distinct values.",
            "Set max_bins to a number, or leave max_features, max_features_per_tree and splitter at their defaults.",
        )
    columns, directions, own = bins.columns, restrictions.monotonic, restrictions.interactions
    return Restrictions(
        bins.n_features,
        bins.n_features,
        monotonic=None if directions is None else tuple(directions[j] for j in columns),
        interactions=Interactions(
            tuple(frozenset(k for k, j in enumerate(columns) if j in group) for group in own.groups), own.most, columns
        ),
    )


def without_draws(restrictions: Restrictions, n_features: int) -> Restrictions:
    """The constraints alone, without random draws."""
    return replace(restrictions, n_of_tree=n_features, n_of_node=n_features, random_thresholds=False)


def in_order(term: Term, directions: Sequence[int]) -> Term | None:
    """The term with leaf values that satisfy monotonic constraints; None if all of them are zero then.

    At every split of a column with a direction, from the root on, all values of one side must be at most those of the
    other. If they are not, both sides are clipped at the middle between the largest value of the one and the smallest
    of the other. Values stay within the range of the subtree, so that the splits above it remain in order.
    """
    if not isinstance(term, LeafTerm) or not any(directions[s.feature] for s in term.partition.splits):
        return term
    values = term.values.copy()
    leaves = leaves_below(term.partition)
    for k, split in enumerate(term.partition.splits):  # parents come before their children
        direction = directions[split.feature]
        if not direction:
            continue
        left, right = (leaves[link] for link in term.partition.links[k][:2])
        low, high = (left, right) if direction > 0 else (right, left)
        top, bottom = values[low].max(), values[high].min()
        if top > bottom:
            middle = bottom + 0.5 * (top - bottom)
            values[low], values[high] = np.minimum(values[low], middle), np.maximum(values[high], middle)
    return replace(term, values=values) if values.any() else None


def leaves_below(partition: Partition) -> dict[int, Array]:
    """The leaves below each link of a tree."""
    found = {~leaf: np.array([leaf]) for leaf in range(partition.n_leaves)}
    for k in reversed(range(len(partition.splits))):  # children come after their parents
        found[k] = np.concatenate([found[link] for link in partition.links[k]])
    return found
