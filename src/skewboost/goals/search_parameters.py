"""The parameters of a goal search: what they may be, and what the estimator is told."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import PredefinedSplit

from skewboost.errors import InputError
from skewboost.fold_rows import numbers_rows, uses_groups
from skewboost.goals.goal import Goal
from skewboost.goals.rows import SearchRows
from skewboost.goals.trials import rounds_to_try
from skewboost.meta.cost_passing import CostPassing
from skewboost.meta.inner_labels import parameters_of_parts
from skewboost.meta.referral import check_refers_no_rows
from skewboost.parameters import CLASSIFIER, FRACTION, N_JOBS, Check, check_params, either, integer, one_of, optional


def default_estimator(search: Any) -> Any:
    """Return the estimator of a `GoalSearchCV` that was given none."""
    from skewboost.goals.skewboost_classifier import SkewBoostClassifier  # which imports this

    return SkewBoostClassifier(
        cost=1, pos_label=search.pos_label, random_state=search.random_state, n_jobs=search.n_jobs
    )


def has_own_scores(estimator: Any) -> bool:
    """Whether an estimator knows out-of-fold scores of the rows that it was fitted to."""
    return hasattr(estimator, "_held_out_decisions")


def pass_groups(estimator: Any, rows: SearchRows, named: bool, copied: bool) -> None:
    """Have the estimator get the groups that the user named, if its `fit` uses them.

    An estimator with out-of-fold scores also gets those of equal rows, and of the examples of a row of several. Else
    these scores would be of rows that it has seen.
    """
    if "groups" in rows.params or not uses_groups(estimator):
        return
    own = has_own_scores(estimator) and not hasattr(estimator.cv, "split") and not rows.counted
    if named or (own and (copied or rows.weights is not None)):
        rows.params["groups"] = rows.units


def costs_to_pass(search: Any) -> CostPassing:
    """Return how a `GoalSearchCV` whose `classes_` are known passes costs to its estimator, which has none."""
    estimator, name = search._base, search.cost_param
    if name is None:
        otherwise = "Set tune='threshold', or choose another estimator."
        found = CostPassing.of(estimator, search.classes_, search.pos_label_, otherwise)
    else:
        known = estimator.get_params(deep=True)
        if name not in known:
            raise InputError(
                f"cost_param={name!r} is not a parameter of {type(estimator).__name__}.",
                f"Choose one of {', '.join(sorted(known))}.",
            )
        found = CostPassing(estimator, search.classes_, search.pos_label_, name)
    value = None if found.cost_param is None else estimator.get_params(deep=True)[found.cost_param]
    if value is not None:
        raise InputError(
            f"{found.cost_param}={value!r} of the estimator would have no effect, because the search sets it.",
            "Leave it at None, or set tune='threshold' to keep it.",
        )
    return found


def check_search(search: Any) -> None:
    """Check the parameters of a `GoalSearchCV`."""
    if isinstance(search.estimator, str | Goal):
        raise InputError(
            f"estimator={str(search.estimator)!r} is no classifier.",
            f"If it is the goal, pass it by name: GoalSearchCV(goal={str(search.estimator)!r}).",
        )
    check_params(
        search,
        estimator=optional(CLASSIFIER),
        cost_param=optional(Check(lambda v: isinstance(v, str), "the name of a parameter")),
        n_jobs=N_JOBS,
        verbose=either(one_of(True, False), integer(0)),
        tune=one_of("auto", "both", "cost", "threshold"),
        tune_rounds=one_of(True, False),
        confidence=optional(FRACTION),
        holdout=optional(either(FRACTION, Check(lambda v: np.ndim(v) == 1, "a boolean for each row"))),
        weights=one_of("importance", "counts"),
        allow_unmet=one_of(True, False),
        max_points=integer(3, 10**6),
    )
    if not any(hasattr(search._base, name) for name in ("decision_function", "predict_proba")):
        raise InputError(
            f"estimator={search.estimator!r} has neither decision_function nor predict_proba, so it has no scores to "
            "compare with a threshold.",
            "Choose another estimator.",
        )
    check_refers_no_rows(type(search).__name__, search._base)
    _check_parts(search._base)
    if search.confidence is not None:
        _check_splitter(search.cv, "cv")
        if has_own_scores(search._base):
            _check_splitter(search._base.cv, "cv of the estimator")
    if search.holdout is not None and search.confidence is None:
        raise InputError(
            f"holdout={search.holdout!r} has no effect without a certificate.",
            "Set confidence, or leave holdout at None.",
        )
    if search.cost_param is not None and search._tunes == "threshold":
        raise InputError(f"cost_param={search.cost_param!r} has no effect with tune='threshold'.", "Leave it at None.")
    if search.tune_rounds:
        rounds_to_try(search._base)


def _check_parts(estimator: Any) -> None:
    """Check that no part of the estimator has a goal of its own, or costs that the threshold of the search undoes."""
    for name, goal in parameters_of_parts(estimator, "goal"):
        if goal is not None:
            raise InputError(f"{name}={str(goal)!r}: the estimator has a goal of its own.", "Leave it at None.")
    cost, in_training = getattr(estimator, "cost", None), getattr(estimator, "_costs_in_training", True)
    neutral = cost is None or (np.ndim(cost) == 0 and cost == 1)
    if not in_training and not neutral:
        raise InputError(
            f"cost={cost!r} of the estimator has no effect: it would move the threshold, which is searched for.",
            "Leave it at None. If the goal or then is about expected_cost, pass cost to the search.",
        )


def _check_splitter(cv: Any, name: str) -> None:
    """Check that a splitter divides the rows that it gets, which are not all if some are held out."""
    if numbers_rows(cv):
        predefined = isinstance(cv, PredefinedSplit)
        kind = "a PredefinedSplit, which numbers" if predefined else "an iterable of splits, which number"
        raise InputError(
            f"{name} is {kind} the rows of X, but with a certificate it gets only the rows that are not held out.",
            "Pass a number of folds, or a splitter that divides any rows, such as StratifiedGroupKFold.",
        )
