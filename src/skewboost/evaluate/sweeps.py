"""Sweeps: how measures depend on label noise, on imbalance, and on costs or another parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from skewboost.errors import InputError
from skewboost.evaluate.methods import named_estimators
from skewboost.evaluate.problem import Problem, Sample, Split, check_classes, problem_of, read_sample, repeated_folds
from skewboost.evaluate.running import (
    VERBOSE,
    all_finished,
    any_finished,
    fit_copy,
    import_pandas,
    measure_model,
    run_in_parallel,
    seeds_for,
    warn_of_divided_groups,
)
from skewboost.evaluate.staged_curves import over_fits
from skewboost.learners.adapter import weight_name
from skewboost.meta.cost_passing import CostPassing, cost_for_owner, cost_param_of
from skewboost.meta.inner_labels import own_pos_label, plain
from skewboost.metrics.counts import Counts
from skewboost.metrics.measures import BINARY, find_measure, measures_of_counts
from skewboost.parameters import N_JOBS, check_arguments, one_of
from skewboost.typing import Array

FEWEST = 2  # positives that a training part must keep
Setting = tuple[Any, list[Sample]]  # the estimator of a level, and the training part of every fold


@dataclass(frozen=True)
class Sweep:
    """Measures of several estimators on the same folds at several levels.

    Attributes
    ----------
    what : str
        What was swept, as figures label it.
    levels : ndarray of shape (n_levels,)
        Its values.
    estimators, measures : tuple of str
        The names that `values` takes.
    n_fits : int
        The number of fits per level and estimator.
    pos_label : label
        The positive class.
    complete : bool
        Whether all fits are finished. After Ctrl-C it is False, and values of the fits that are not finished are NaN.
    """

    what: str
    levels: Array
    estimators: tuple[str, ...]
    measures: tuple[str, ...]
    n_fits: int
    pos_label: Any
    _values: dict[tuple[str, str], Array] = field(repr=False, default_factory=dict)
    complete: bool = True

    def values(self, measure: str, estimator: str | None = None) -> Array:
        """Return values on the test parts, a row per level and a column per fit; None means the only estimator."""
        if estimator is None and len(self.estimators) == 1:
            estimator = self.estimators[0]
        if estimator not in self.estimators:
            raise InputError(f"estimator={estimator!r} must be one of {', '.join(map(repr, self.estimators))}.")
        return self._values[estimator, find_measure(measure, among=self.measures).name]

    def mean(self, measure: str, estimator: str | None = None) -> Array:
        """Return the mean over fits at each level, without fits where the measure is NaN."""
        return over_fits(self.values(measure, estimator), axis=1)[0]

    def spread(self, measure: str, estimator: str | None = None) -> Array:
        """Return the standard deviation over fits at each level."""
        return over_fits(self.values(measure, estimator), axis=1)[1]

    def as_frame(self) -> Any:
        """Return a tidy table with a row per estimator, level, fit and measure."""
        pd = import_pandas()
        tables = []
        for (estimator, measure), values in self._values.items():
            level, fit = np.meshgrid(self.levels, np.arange(values.shape[1]), indexing="ij")
            columns = {"level": level.ravel(), "fit": fit.ravel(), "measure": measure, "value": values.ravel()}
            tables.append(pd.DataFrame({"estimator": estimator, **columns}))
        return pd.concat(tables, ignore_index=True)


@dataclass(frozen=True)
class CostSweep(Sweep):
    """Measures of one estimator at several costs, or values of another parameter, also from pooled counts.

    Attributes
    ----------
    param : str
        The parameter that was set, or how costs were passed.
    """

    param: str = ""
    _pooled: dict[str, Array] = field(repr=False, default_factory=dict)

    @property
    def costs(self) -> Array:
        """The levels."""
        return self.levels

    def pooled(self, measure: str) -> Array:
        """Return measures of the counts of all test parts together, which avoids rates of 0 rows in small folds."""
        return self._pooled[find_measure(measure, among=self._pooled).name]

    def best(self, measure: str = "f1") -> float:
        """Return the level with the best pooled measure, the first one in a tie."""
        values = find_measure(measure, among=self._pooled).sign * self.pooled(measure)
        if np.isnan(values).all():
            raise InputError(f"{measure} is NaN at every level.", "Choose another measure.")
        return float(self.levels[np.nanargmax(values)])


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
    groups: Any = None,
    n_jobs: int | None = None,
    verbose: Any = 0,
    random_state: Any = None,
) -> Sweep:
    """Measure how estimators cope with flipped labels in the training parts; test labels are unchanged.

    All estimators get the same folds and the same flips, and labels that are flipped at a level are flipped at all
    higher ones. So differences are due to estimators and levels only.

    Parameters
    ----------
    estimators : estimator, list, or dict of name to estimator
        The estimators to compare, given and named as in `compare`.
    X, y
        Rows and labels of two classes.
    levels : sequence of float, default=(0.0, 0.05, 0.1, 0.2, 0.3)
        The fractions of the labels to flip, from 0 to below 0.5.
    flip : {"both", "positive", "negative"}, default="both"
        Whether to flip this fraction of each class, or of one. Where positives are rare, "both" soon makes most rows
        that are labelled positive negatives: with 1 positive in 50 and a level of 0.1 they are 5 in 6.
    cv, repeats, cost, sample_weight, groups, n_jobs, verbose, random_state
        As in `staged_curve`.
    pos_label : label or None, default=None
        The positive class; None: the `pos_label` of the estimators, else the rarer class.

    Examples
    --------
    >>> from skewboost import AdaBoostClassifier, WeightBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import noise_sweep
    >>> both = {"plain": AdaBoostClassifier(n_estimators=5), "damped": WeightBoostClassifier(n_estimators=5)}
    >>> sweep = noise_sweep(both, *load_rare_cancer(), levels=[0, 0.2], cv=2, random_state=0)
    >>> sweep.mean("f1", "damped").shape
    (2,)
    """
    check_arguments(flip=(flip, one_of("both", "positive", "negative")))
    fractions = check_levels("levels", levels, lambda v: 0.0 <= v < 0.5, "fractions of labels from 0 to below 0.5")
    plan = plan_of(estimators, X, y, cost, pos_label, sample_weight, groups, cv, repeats, random_state, n_jobs, verbose)

    def noisy(train: Array, order: Array, fraction: float) -> Sample:
        sample = plan.sample.part(train)
        positive = sample.y == plan.problem.pos_label
        flipped = np.zeros(len(train), dtype=np.bool_)
        for side, name in ((positive, "positive"), (~positive, "negative")):
            if flip in ("both", name):
                own = order[side[order]]
                weights = sample.examples[own]
                flipped[own[first_examples(fraction * weights.sum(), weights)]] = True
        labels = np.where(positive ^ flipped, plan.problem.pos_label, plan.problem.neg_label)
        return replace(sample, y=labels)

    labels = {"both": "labels", "positive": "labels of positives", "negative": "labels of negatives"}[flip]
    return plan.sweep(f"fraction of training {labels} flipped", fractions, noisy)


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
    groups: Any = None,
    n_jobs: int | None = None,
    verbose: Any = 0,
    random_state: Any = None,
) -> Sweep:
    """Measure the effect of removing positives from the training parts; the test parts are unchanged.

    So recall and precision at all levels are about the same rows, with the imbalance of the data. Any decline is due to
    learning from fewer positives: both their smaller proportion and their smaller number, which this sweep does not
    separate. All estimators get the same rows, and the rows that are left at a ratio are among those that are left at
    all smaller ones.

    Parameters
    ----------
    estimators, X, y, cv, repeats, cost, pos_label, sample_weight, groups, n_jobs, verbose, random_state
        As in `noise_sweep`. Costs that estimators balance are balanced on the rows that are left.
    ratios : sequence of float or None, default=None
        Numbers of negatives per positive, at least as many as in the data. None: 1, 2, 4, … 32 times as many as in the
        data, as long as 5 positives are left in each training part.

    Examples
    --------
    >>> from skewboost import AdaBoostClassifier, CSRAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import imbalance_sweep
    >>> both = [AdaBoostClassifier(n_estimators=5), CSRAClassifier(n_estimators=5)]
    >>> sweep = imbalance_sweep(both, *load_rare_cancer(), ratios=[10, 40], cv=2, random_state=0)
    >>> sweep.levels.tolist()
    [10.0, 40.0]
    """
    plan = plan_of(estimators, X, y, cost, pos_label, sample_weight, groups, cv, repeats, random_state, n_jobs, verbose)
    sizes = [plan.class_sizes(train) for train, _ in plan.folds]
    natural = max(negative / positive for positive, negative in sizes)
    if ratios is None:
        most = min(negative / min(positive, 5.0) for positive, negative in sizes)
        ratios = [natural * 2**k for k in range(6) if k == 0 or natural * 2**k <= most]
    levels = check_levels("ratios", ratios, lambda v: 1e-9 < v < np.inf, "finite numbers of negatives per positive")
    if levels.min() < 0.95 * natural:
        raise InputError(
            f"ratios has {levels.min():g} negatives per positive, but the training parts already have {natural:.4g}, "
            "and positives are only removed.",
            f"Start at {natural:.4g}, or name the other class with pos_label.",
        )

    def fewer_positives(train: Array, order: Array, ratio: float) -> Sample:
        sample = plan.sample.part(train)
        positive = sample.y == plan.problem.pos_label
        n_negatives = sample.examples[~positive].sum()
        own = order[positive[order]]
        kept = own[first_examples(n_negatives / ratio, sample.examples[own])]
        if len(kept) < FEWEST:
            raise InputError(
                f"ratios has {ratio:g} negatives per positive, which leaves {len(kept)} positives in a training part.",
                f"Give smaller ratios: {n_negatives / 5:.0f} leaves about 5.",
            )
        rows = ~positive
        rows[kept] = True
        return plan.sample.part(train[rows])

    return plan.sweep("negatives per positive in training", levels, fewer_positives)


def first_examples(examples: float, weights: Array) -> Array:
    """Return the mask of the first rows that together stand for about this many examples."""
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
    groups: Any = None,
    n_jobs: int | None = None,
    verbose: Any = 0,
    random_state: Any = None,
) -> CostSweep:
    """Measure how precision, recall and F1 depend on the costs that an estimator is given, or on another parameter.

    See figures 3.4 and 3.6 of [nyga2010]_. The costs ``{positive: c, negative: 1}`` are passed through the parameter
    `cost` or `class_weight` of the estimator, else through weights. With `param` any other numeric parameter can be
    swept, such as the strength of a regulariser.

    Parameters
    ----------
    estimator : classifier
        Its own cost is replaced.
    X, y, cv, repeats, pos_label, sample_weight, groups, n_jobs, verbose, random_state
        As in `noise_sweep`.
    costs : sequence of float, default=(1, 2, 5, 10, 20, 50, 100)
        Costs of a miss, in false alarms; or the values of `param`.
    param : str or None, default=None
        The parameter to set to these values instead, for example "C" or "beta".
    cost : number, "balanced", dict, matrix or None, default=None
        The costs for the measure "cost", the same at all levels.

    Returns
    -------
    CostSweep
        With means over folds (`mean`, `spread`) and measures of the pooled counts of all folds (`pooled`).

    References
    ----------
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010).

    Examples
    --------
    >>> from skewboost import AdaC2Classifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import cost_sweep
    >>> sweep = cost_sweep(AdaC2Classifier(n_estimators=5), *load_rare_cancer(), costs=[1, 20], cv=2, random_state=0)
    >>> recall = sweep.pooled("recall")
    >>> bool(recall[0] <= recall[1])
    True
    """
    values = check_levels(
        "costs" if param is None else f"costs (of {param})",
        costs,
        lambda v: np.isfinite(v) and (param is not None or v > 0),
        "finite numbers above 0",
    )
    if isinstance(estimator, dict | list | tuple):
        raise InputError(f"estimator={estimator!r} must be one estimator.", "Sweep others in separate calls.")
    plan = plan_of(estimator, X, y, cost, pos_label, sample_weight, groups, cv, repeats, random_state, n_jobs, verbose)
    what, changed, settings = _cost_settings(plan, param, values, costs)
    sweep, counts = plan.run(what, values, settings, any_finished)
    pooled = measures_of_counts(Counts(*counts.sum(axis=1).T), plan.problem.negative_first)
    return CostSweep(**vars(sweep), param=changed, _pooled=pooled)


@dataclass(frozen=True)
class Plan:
    """The estimators, the rows and the folds of a sweep."""

    estimators: dict[str, Any]
    sample: Sample
    problem: Problem
    folds: list[Split]
    seed: int
    n_jobs: int | None
    verbose: Any

    def class_sizes(self, train: Array) -> tuple[float, float]:
        """Return the numbers of positive and of negative examples."""
        positive, examples = self.sample.y[train] == self.problem.pos_label, self.sample.examples[train]
        return float(examples[positive].sum()), float(examples[~positive].sum())

    def sweep(self, what: str, levels: Array, change: Callable[[Array, Array, float], Sample]) -> Sweep:
        """Fit all estimators to the changed training part of every fold at every level."""
        rngs = [np.random.default_rng([self.seed, k]) for k in range(len(self.folds))]
        orders = [rng.permutation(len(train)) for rng, (train, _) in zip(rngs, self.folds)]
        # all changes are made before the first fit, so that errors come at once
        changed = [[change(train, order, v) for (train, _), order in zip(self.folds, orders)] for v in levels.tolist()]
        settings = [(e, parts) for e in self.estimators.values() for parts in changed]
        return self.run(what, levels, settings, any_finished)[0]

    def run(
        self, what: str, levels: Array, settings: list[Setting], usable: Callable[[list[Any]], bool] | None = None
    ) -> tuple[Sweep, Array]:
        """Fit all settings, by estimator and level, and return the counts of each setting and fold, too.

        The folds follow each other, so that an interruption leaves all levels of the first folds. It is raised unless
        what is finished is `usable`.
        """
        tests = [self.sample.part(test) for _, test in self.folds]
        tasks = [
            (estimator, parts[k], tests[k], self.problem, seed)
            for k, seed in enumerate(seeds_for(self.seed, len(self.folds)))
            for estimator, parts in settings
        ]
        results = run_in_parallel(_fit_and_measure, tasks, self.n_jobs, self.verbose, usable)
        finished = [result for result in results if result is not None]
        names = tuple(m for m in BINARY if all(m in measures for measures, _ in finished))

        def table(cells: list[Any]) -> Array:  # [setting, fold]
            return np.ascontiguousarray(np.swapaxes(np.reshape(cells, (len(tests), len(settings), -1)), 0, 1))

        counts = table([(0.0,) * 4 if result is None else result[1] for result in results])
        shape = (len(self.estimators), len(levels), len(self.folds))
        values = {m: table([np.nan if r is None else r[0][m] for r in results]).reshape(shape) for m in names}
        each = {(e, m): values[m][k] for k, e in enumerate(self.estimators) for m in names}
        complete, positive = all_finished(results), self.problem.pos_label
        return Sweep(what, levels, tuple(self.estimators), names, len(tests), positive, each, complete), counts


def plan_of(
    estimators: Any, X: Any, y: Any, cost: Any, pos_label: Any, sample_weight: Any, groups: Any, cv: Any,
    repeats: int, random_state: Any, n_jobs: Any, verbose: Any,
) -> Plan:  # fmt: skip
    """Check what all sweeps take."""
    several = named_estimators(estimators)
    check_arguments(n_jobs=(n_jobs, N_JOBS), verbose=(verbose, VERBOSE))
    first = next(iter(several.values()))
    sample = read_sample(first, X, y, sample_weight, groups)
    if pos_label is None:
        pos_label = own_pos_label(first)
    problem = problem_of(first, sample.y, sample.weights, cost, pos_label)
    if not problem.binary:
        raise InputError(
            f"y has {len(problem.classes)} classes, but sweeps are about two. Make one class positive: y == label."
        )
    several = {name: problem.copy_of(estimator) for name, estimator in several.items()}
    (seed,) = seeds_for(random_state, 1)
    if groups is not None:
        warn_of_divided_groups(several)
    folds = repeated_folds(cv, sample.y, repeats, seed, weights=sample.weights, X=sample.X, groups=sample.groups)
    check_classes(folds, sample.y, problem.classes)
    return Plan(several, sample, problem, folds, seed, n_jobs, verbose)


def check_levels(name: str, values: Any, passes: Callable[[float], bool], expected: str) -> Array:
    """Return the levels of a sweep, checked and sorted."""
    several = list(values) if isinstance(values, list | tuple | range) or hasattr(values, "__array__") else [values]
    bad = [v for v in several if not isinstance(v, Real) or isinstance(v, bool) or not passes(float(v))]
    if bad or not several:
        raise InputError(f"{name}={values!r} must be {expected}" + (f"; got {bad[0]!r}." if bad else ", at least one."))
    return np.array(sorted({float(v) for v in several}))


def _cost_settings(plan: Plan, param: str | None, levels: Array, given: Any) -> tuple[str, str, list[Setting]]:
    """Return a description of what is swept, the parameter, and a setting for each level."""
    (estimator,) = plan.estimators.values()
    parts, problem = [plan.sample.part(train) for train, _ in plan.folds], plan.problem
    if param is not None:
        known = estimator.get_params(deep=True)
        if param not in known:
            raise InputError(
                f"param={param!r} is not a parameter of {type(estimator).__name__}.",
                f"Choose one of {', '.join(sorted(known))}.",
            )
        as_given = {float(v): v for v in np.ravel(given).tolist()}  # keeps integers
        return param, param, [(clone(estimator).set_params(**{param: as_given[v]}), parts) for v in levels.tolist()]
    if cost_param_of(estimator) is None and weight_name(estimator) is None:
        raise InputError(
            f"{type(estimator).__name__} cannot take costs: it has no parameter 'cost' or 'class_weight', and its fit "
            "takes no sample_weight.",
            "Name another parameter with param, or choose another estimator.",
        )
    cost_passing = CostPassing.of(estimator, problem.classes, problem.pos_label)
    what, name = "cost of a miss / cost of a false alarm", cost_passing.cost_param
    if name is None:
        return (
            what,
            cost_passing.passed_by,
            [(estimator, [weighted(part, problem.pos_label, v) for part in parts]) for v in levels.tolist()],
        )
    costs = [{plain(problem.pos_label): v, plain(problem.neg_label): 1.0} for v in levels.tolist()]
    own = [{name: cost_for_owner(estimator, name, c)} for c in costs]
    return what, name, [(clone(estimator).set_params(**params), parts) for params in own]


def weighted(sample: Sample, pos_label: Any, cost: float) -> Sample:
    """Return the rows with costs in their weights, which keep their sum."""
    weights = sample.examples * np.where(sample.y == pos_label, cost, 1.0)
    return replace(sample, weights=weights * (sample.examples.sum() / weights.sum()))


def _fit_and_measure(
    estimator: Any, train: Sample, test: Sample, problem: Problem, seed: int
) -> tuple[dict[str, float], tuple[float, ...]]:
    """Fit to the training part, and return the measures and the counts of the decisions on the test part."""
    model = fit_copy(estimator, train, seed)
    predicted = np.asarray(model.predict(test.X)).ravel()
    counts = Counts.of(test.y == problem.pos_label, predicted == problem.pos_label, test.weights)
    return measure_model(problem, model, test, predicted), (counts.tp, counts.fp, counts.fn, counts.tn)
