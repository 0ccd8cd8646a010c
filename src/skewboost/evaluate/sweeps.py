"""Sweeps: how measures move with label noise, with imbalance, and with costs or another parameter.

References
----------
.. [1] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische Universität
   München (2010), section 3.3, figures 3.4 and 3.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.running import Rows
from skewboost.evaluate.sweep_plan import check_levels, plan_of, tellers
from skewboost.evaluate.sweep_result import CostSweep, Sweep
from skewboost.typing import Array

FLIPS = ("both", "positive", "negative")
FEWEST = 2  # rows of a class that a training part must keep


def noise_sweep(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    levels: Sequence[float] = (0.0, 0.05, 0.1, 0.2, 0.3),
    flip: str = "both",
    cv: Any = 5,
    repeats: int = 1,
    cost: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: Any = None,
) -> Sweep:
    """How measures move when labels of the training parts are flipped; those of the test parts are left alone.

    All estimators get the same folds and the same flips, and what is flipped at a level is flipped at all higher ones,
    so that differences are those of estimators and levels.

    Parameters
    ----------
    estimators : estimator, list, or dict of name to estimator
        Who is compared, given and named as in `compare`.
    X, y
        Rows and labels of two classes.
    levels : sequence of float, default=(0.0, 0.05, 0.1, 0.2, 0.3)
        Which share of the labels is flipped, from 0 to below 0.5.
    flip : {"both", "positive", "negative"}, default="both"
        Of which class: this share of each, or of one. Where positives are rare, "both" soon makes most of what is
        labelled positive a negative: at 1 in 50 and a level of 0.1 it is 5 in 6.
    cv, repeats, cost, sample_weight, n_jobs, verbose, random_state
        As in `learning_curve`.
    pos_label : label or None, default=None
        The positive class; None: what the estimators were told, else the rarer.

    Returns
    -------
    Sweep

    Examples
    --------
    >>> from skewboost import AdaBoostClassifier, WeightBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import noise_sweep
    >>> both = {"plain": AdaBoostClassifier(n_estimators=10), "damped": WeightBoostClassifier(n_estimators=10)}
    >>> sweep = noise_sweep(both, *load_rare_cancer(), levels=[0, 0.2], cv=3, random_state=0)
    >>> sweep.mean("f1", "damped").shape
    (2,)
    """
    if flip not in FLIPS:
        raise InputError(f"flip={flip!r} must be one of {', '.join(map(repr, FLIPS))}.")
    shares = check_levels("levels", levels, lambda v: 0.0 <= v < 0.5, "shares of labels from 0 to below 0.5")
    plan = plan_of(estimators, X, y, cost, pos_label, sample_weight, cv, repeats, random_state, n_jobs, verbose)

    def noisy(train: Array, order: Array, share: float) -> Rows:
        rows = plan.rows.part(train)
        positive = rows.y == plan.problem.pos_label
        weights = np.ones(len(train)) if rows.weights is None else rows.weights
        flipped = np.zeros(len(train), dtype=np.bool_)
        for side, name in ((positive, "positive"), (~positive, "negative")):
            if flip in ("both", name):
                own = order[side[order]]
                flipped[own[up_to(share * weights[own].sum(), weights[own])]] = True
        other = plan.problem.classes[plan.problem.classes != plan.problem.pos_label][0]
        return Rows(rows.X, np.where(positive ^ flipped, plan.problem.pos_label, other), rows.weights)

    who = {"both": "labels", "positive": "labels of positives", "negative": "labels of negatives"}[flip]
    return plan.sweep(f"share of training {who} flipped", shares, noisy)


def imbalance_sweep(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    ratios: Sequence[float] | None = None,
    cv: Any = 5,
    repeats: int = 1,
    cost: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: Any = None,
) -> Sweep:
    """How measures move when positives are removed from the training parts; the test parts stay as they are.

    So recall and precision of all levels are about the same rows, with the imbalance of the data as it is. What falls
    with the ratio is due to having learned from fewer positives: both to their smaller share and to their smaller
    number, which cannot be told apart here. All estimators get the same rows, and those that are left at a ratio are
    among those that are left at all smaller ones.

    Parameters
    ----------
    estimators : estimator, list, or dict of name to estimator
        Who is compared, given and named as in `compare`.
    X, y
        Rows and labels of two classes.
    ratios : sequence of float or None, default=None
        How many negatives there are for each positive, at least as many as in the data. None: 1, 2, 4, … 32 times as
        many as there, as long as 5 positives are left in each training part.
    cv, repeats, cost, sample_weight, n_jobs, verbose, random_state
        As in `learning_curve`. Costs that estimators balance are balanced on the rows that are left.
    pos_label : label or None, default=None
        The positive class; None: what the estimators were told, else the rarer.

    Returns
    -------
    Sweep

    Examples
    --------
    >>> from skewboost import AdaBoostClassifier, CSRAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import imbalance_sweep
    >>> both = [AdaBoostClassifier(n_estimators=10), CSRAClassifier(n_estimators=10)]
    >>> sweep = imbalance_sweep(both, *load_rare_cancer(), ratios=[10, 40], cv=3, random_state=0)
    >>> sweep.levels.tolist()
    [10.0, 40.0]
    """
    plan = plan_of(estimators, X, y, cost, pos_label, sample_weight, cv, repeats, random_state, n_jobs, verbose)
    mass = [plan.masses(train) for train, _ in plan.folds]
    natural = max(negative / positive for positive, negative in mass)
    if ratios is None:
        most = min(negative / min(positive, 5.0) for positive, negative in mass)
        ratios = [natural * 2**k for k in range(6) if k == 0 or natural * 2**k <= most]
    wanted = check_levels("ratios", ratios, lambda v: 1e-9 < v < np.inf, "finite numbers of negatives per positive")
    if wanted.min() < 0.95 * natural:
        raise InputError(
            f"ratios has {wanted.min():g} negatives per positive, but the training parts have {natural:.4g} already, "
            f"and positives are only removed. Start at {natural:.4g}, or name the other class with pos_label."
        )

    def rarer(train: Array, order: Array, ratio: float) -> Rows:
        positive = plan.rows.y[train] == plan.problem.pos_label
        weights = np.ones(len(train)) if plan.rows.weights is None else plan.rows.weights[train]
        own = order[positive[order]]
        kept = own[up_to(weights[~positive].sum() / ratio, weights[own])]
        if len(kept) < FEWEST:
            raise InputError(
                f"ratios has {ratio:g} negatives per positive, which leaves {len(kept)} positives in a training part. "
                f"Give smaller ones: {weights[~positive].sum() / 5:.0f} leaves about 5."
            )
        left = ~positive
        left[kept] = True
        return plan.rows.part(train[left])

    return plan.sweep("negatives per positive in training", wanted, rarer)


def up_to(examples: float, weights: Array) -> Array:
    """Which of the first rows stand for about so many examples together; the last counts if half of it does."""
    return np.asarray(np.cumsum(weights) - 0.5 * weights <= examples * (1 + 1e-9))


def cost_sweep(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    costs: Sequence[float] = (1, 2, 5, 10, 20, 50, 100),
    param: str | None = None,
    cv: Any = 5,
    repeats: int = 1,
    cost: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: Any = None,
) -> CostSweep:
    """How precision, recall and F1 move with the costs that an estimator is told, or with another parameter.

    [1]_ figures 3.4 and 3.6. The estimator is told ``{positive: c, negative: 1}`` by its parameter `cost` or
    `class_weight`, else by weights. With `param` any other number can be swept, such as the strength of a regulariser.

    Parameters
    ----------
    estimator : classifier
        Its own cost is replaced.
    X, y
        Rows and labels of two classes.
    costs : sequence of float, default=(1, 2, 5, 10, 20, 50, 100)
        How many false alarms a miss costs; or the values of `param`.
    param : str or None, default=None
        The parameter to set to these values instead, for instance "C" or "beta".
    cv, repeats, sample_weight, n_jobs, verbose, random_state
        As in `learning_curve`.
    cost : number, "balanced", dict, matrix or None, default=None
        By which the measure "cost" is computed, the same at all levels.
    pos_label : label or None, default=None
        The positive class; None: what the estimator was told, else the rarer.

    Returns
    -------
    CostSweep
        With means over folds (`mean`, `spread`) and measures of the counts of all folds together (`pooled`).

    References
    ----------
    .. [1] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische Universität
       München (2010).

    Examples
    --------
    >>> from skewboost import AdaC2Classifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import cost_sweep
    >>> sweep = cost_sweep(AdaC2Classifier(n_estimators=10), *load_rare_cancer(), costs=[1, 20], cv=3, random_state=0)
    >>> recall = sweep.pooled("recall")
    >>> bool(recall[0] <= recall[1])
    True
    """
    told = "costs" if param is None else f"costs (of {param})"
    values = check_levels(
        told, costs, lambda v: np.isfinite(v) and (param is not None or v > 0), "finite numbers above 0"
    )
    if isinstance(estimator, dict | list | tuple):
        raise InputError(f"estimator={estimator!r} must be one estimator: sweep others in calls of their own.")
    plan = plan_of(estimator, X, y, cost, pos_label, sample_weight, cv, repeats, random_state, n_jobs, verbose)
    told_by = tellers(plan, param, values, costs)
    return plan.cost_sweep(told_by, values)
