"""The 0.632 bootstrap: a measure on new examples, estimated from all rows at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.problem import Problem, Sample, problem_of, read_sample
from skewboost.evaluate.running import (
    VERBOSE,
    all_finished,
    any_finished,
    check_classifier,
    fit_copy,
    measure_model,
    run_in_parallel,
    seeds_for,
)
from skewboost.meta.inner_labels import own_pos_label
from skewboost.metrics.measures import find_measure
from skewboost.parameters import N_JOBS, check_arguments, integer
from skewboost.typing import Array

NEW, OLD = 0.632, 0.368  # the expected shares of the examples that are in a draw, 1 - 1/e, and that are not
MAX_TRIES = 1000  # draws, until one has all classes and leaves examples over


@dataclass(frozen=True)
class Bootstrap632:
    """The result of `bootstrap_632`.

    Attributes
    ----------
    estimate : float
        The mean of ``0.632 out_of_bag + 0.368 resubstitution`` over the draws.
    out_of_bag : ndarray of shape (n_draws,)
        The measure of each model on the rows that were not drawn for it; NaN where it is not defined, and left out of
        the mean.
    resubstitution : float
        The measure of the model of all rows on these rows.
    measure, name : str
        The measure, and the estimator.
    complete : bool
        Whether all draws are finished; False after Ctrl-C.
    """

    estimate: float
    out_of_bag: Array
    resubstitution: float
    measure: str
    name: str
    complete: bool = True


def bootstrap_632(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    measure: str = "accuracy",
    draws: int = 100,
    cost: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: Any = None,
) -> Bootstrap632:
    r"""Estimate the accuracy on new examples by the 0.632 bootstrap [efron1983]_.

    A model is trained on each of b draws of n examples with replacement. An example is left out of a draw with
    probability :math:`(1 - 1/n)^n \approx 0.368`. The accuracy :math:`\epsilon_i` on the examples that were left out is
    that of a model of fewer distinct examples than there are, and too low. The accuracy :math:`acc_s` of the model of
    all examples on these is too high. The estimate is

    .. math:: acc_{boot} = \frac{1}{b} \sum_{i=1}^{b} (0.632\, \epsilon_i + 0.368\, acc_s) .

    On small tables it varies less than cross-validation [efron1983]_. **Weakness:** for a classifier that knows its
    training rows by heart :math:`acc_s` is 1. If labels are random, the estimate is then 0.684 instead of 0.5
    [efron1997]_. Most boosters come close to this after many rounds. Use `compare`, which cross-validates, for them.

    Parameters
    ----------
    estimator : classifier
        The estimator, which is fitted ``draws + 1`` times.
    X : table of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Class labels. The positive class is the estimator's `pos_label`, else the rarer one.
    measure : str, default="accuracy"
        The measure of `skewboost.metrics.MEASURES`. The weights 0.632 and 0.368 are meant for means over examples:
        accuracy, error and cost.
    draws : int, default=100
        The number b of draws. A draw that lacks a class, or that has all rows, is drawn again.
    cost : number, "balanced", dict, matrix or None, default=None
        What mistakes cost, for measures of costs; as in `staged_curve`.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How many examples a row stands for, whole numbers. Examples are drawn one by one, and a row is left out if none
        of its examples is drawn.
    n_jobs, verbose, random_state
        As in `staged_curve`.

    Returns
    -------
    Bootstrap632
        After Ctrl-C it has the finished draws and ``complete`` is False, with an `IncompleteResultWarning`.

    References
    ----------
    .. [efron1983] B. Efron, "Estimating the error rate of a prediction rule: improvement on cross-validation", Journal
       of the American Statistical Association 78 (1983) 316-331.
    .. [efron1997] B. Efron, R. Tibshirani, "Improvements on cross-validation: the .632+ bootstrap method", Journal of
       the American Statistical Association 92 (1997) 548-560.

    Examples
    --------
    >>> from skewboost import AdaBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import bootstrap_632
    >>> result = bootstrap_632(AdaBoostClassifier(n_estimators=5), *load_rare_cancer(), draws=10, random_state=0)
    >>> print(f"{result.out_of_bag.mean():.3f} < {result.estimate:.3f} < {result.resubstitution:.3f}")
    0.986 < 0.990 < 0.997
    """
    check_classifier(estimator)
    check_arguments(draws=(draws, integer(1)), n_jobs=(n_jobs, N_JOBS), verbose=(verbose, VERBOSE))
    name = find_measure(measure).name
    sample = read_sample(estimator, X, y, sample_weight)
    problem = problem_of(estimator, sample.y, sample.weights, cost, own_pos_label(estimator))
    counts = _counts(sample)
    examples = np.repeat(np.arange(len(counts)), counts)
    seed, *seeds = seeds_for(random_state, draws + 2)
    rng = np.random.default_rng(seed)
    model = problem.copy_of(estimator)
    pairs = [(examples, np.flatnonzero(counts)), *(_divided(examples, sample.y, rng) for _ in range(draws))]
    tasks = [
        (model, _part(sample, train), _part(sample, test, counts), problem, name, own)
        for (train, test), own in zip(pairs, seeds)
    ]
    resubstitution, *values = run_in_parallel(
        _measured, tasks, n_jobs, verbose, lambda found: found[0] is not None and any_finished(found[1:])
    )
    out_of_bag = np.array([value for value in values if value is not None])
    known = out_of_bag[~np.isnan(out_of_bag)]
    estimate = float((NEW * known + OLD * resubstitution).mean()) if len(known) else np.nan
    own = type(estimator).__name__.removesuffix("Classifier")
    return Bootstrap632(estimate, out_of_bag, resubstitution, name, own, all_finished(values))


def _counts(sample: Sample) -> Array:
    """The number of examples of each row."""
    counts = sample.examples.astype(np.intp)
    if (counts != sample.examples).any():
        raise InputError(
            "sample_weight has fractions, but examples are drawn one by one.", "Give whole numbers of examples."
        )
    return counts


def _part(sample: Sample, rows: Array, counts: Array | None = None) -> Sample:
    """Some rows, with the numbers of their examples as weights, or without weights."""
    part = sample.part(rows)
    return Sample(part.X, part.y, None if counts is None else counts[rows].astype(np.float64))


def _divided(examples: Array, y: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw as many examples as there are, and return their rows and the rows that were left out.

    `examples` has the row of each example.
    """
    classes = np.unique(y[examples])
    for _ in range(MAX_TRIES):
        drawn = np.sort(rng.choice(examples, len(examples)))
        left = np.setdiff1d(examples, drawn)
        if len(left) and np.array_equal(np.unique(y[drawn]), classes):
            return drawn, left
    raise InputError(
        f"None of {MAX_TRIES} draws of {len(examples)} examples has all {len(classes)} classes and leaves rows out.",
        "Pass more examples of the rarest class.",
    )


def _measured(estimator: Any, train: Sample, test: Sample, problem: Problem, measure: str, seed: int) -> float:
    """Return the measure of a fitted copy."""
    found = measure_model(problem, fit_copy(estimator, train, seed), test)
    if measure not in found:
        known = ", ".join(found)
        raise InputError(
            f"measure={measure!r} is not defined for this estimator and these classes.", f"Known: {known}."
        )
    return float(found[measure])
