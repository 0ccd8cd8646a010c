"""A sweep over the number of training rows: the learning curve of a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.problem import Sample
from skewboost.evaluate.sweeps import FEWEST, Sweep, check_levels, first_examples, plan_of
from skewboost.typing import Array

ENOUGH = 5  # rows of a class that each training part keeps by default


def size_sweep(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[float] | None = None,
    cv: Any = 5,
    repeats: int = 1,
    cost: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
    verbose: Any = 0,
    random_state: Any = None,
) -> Sweep:
    """Measure what more training rows are worth: fit to a part of the training rows; the test parts are unchanged.

    This is scikit-learn's ``learning_curve`` for rare classes: each part has the class frequencies of the training
    rows, and one fit gives all measures. All estimators get the same rows, and a part contains all smaller ones. Where
    there are groups, a part has as few of them as possible, so that it shows what more groups are worth.

    Parameters
    ----------
    estimators, X, y, cv, repeats, cost, pos_label, sample_weight, groups, n_jobs, verbose, random_state
        As in `noise_sweep`.
    sizes : sequence of float or None, default=None
        Fractions of the training rows, above 0 and up to 1. None: all, a half, a quarter, … a 32nd of them, as long as
        5 rows of each class are left in each training part.

    Examples
    --------
    >>> from skewboost import CSRAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import size_sweep
    >>> sweep = size_sweep(CSRAClassifier(n_estimators=5), *load_rare_cancer(), sizes=[0.25, 1], cv=2, random_state=0)
    >>> sweep.mean("recall").shape
    (2,)
    """
    plan = plan_of(estimators, X, y, cost, pos_label, sample_weight, groups, cv, repeats, random_state, n_jobs, verbose)
    if sizes is None:
        fewest = min(min(plan.class_sizes(train)) for train, _ in plan.folds)
        sizes = [0.5**k for k in range(6) if k == 0 or 0.5**k * fewest >= ENOUGH]
    levels = check_levels(
        "sizes", sizes, lambda v: 0.0 < v <= 1.0, "fractions of the training rows, above 0 and up to 1"
    )

    def smaller(train: Array, order: Array, size: float) -> Sample:
        sample = plan.sample.part(train)
        if sample.groups is not None:  # in the order of their first rows
            units, first = np.unique(sample.groups[order], return_index=True)
            order = order[np.argsort(first[np.searchsorted(units, sample.groups[order])], kind="stable")]
        kept = np.zeros(len(train), dtype=np.bool_)
        members = [(label, sample.y == label) for label in plan.problem.classes.tolist()]
        for _, of_class in members:
            own = order[of_class[order]]
            examples = sample.examples[own]
            kept[own[first_examples(size * examples.sum(), examples)]] = True
        n, of, label = min((int((kept & own).sum()), int(own.sum()), label) for label, own in members)
        if n < FEWEST:
            raise InputError(
                f"sizes has {size:g}, which leaves {n} of {of} rows of class {label!r} in a training part.",
                f"Give larger sizes: {min(1.0, ENOUGH / of):.2g} leaves about {min(ENOUGH, of)}.",
            )
        return plan.sample.part(train[kept])

    return plan.sweep("fraction of the training rows", levels, smaller)
