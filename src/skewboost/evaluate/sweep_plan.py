"""The fits of a sweep: the same folds, and the same changes to them, for everybody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from skewboost.errors import InputError
from skewboost.evaluate.methods import named
from skewboost.evaluate.problem import Problem, problem_of
from skewboost.evaluate.running import Rows, check_jobs, fitted, in_parallel, measured, read_rows, seeds_for
from skewboost.evaluate.splitting import Split, check_classes, repeated_folds
from skewboost.evaluate.stages import own_pos_label, told_pos_label
from skewboost.evaluate.sweep_result import CostSweep, Sweep
from skewboost.learners.adapter import weight_name
from skewboost.meta.cost_passing import Weighing, as_heard, cost_param_of, plain
from skewboost.metrics.counts import Counts
from skewboost.metrics.measures import BINARY, measures_of_counts
from skewboost.typing import Array


@dataclass(frozen=True)
class Plan:
    """The estimators, the rows and the folds of a sweep."""

    estimators: dict[str, Any]
    rows: Rows
    problem: Problem
    folds: list[Split]
    seed: int
    n_jobs: int | None
    verbose: Any

    def masses(self, train: Array) -> tuple[float, float]:
        """How many examples are positive, and negative."""
        positive = self.rows.y[train] == self.problem.pos_label
        weights = np.ones(len(train)) if self.rows.weights is None else self.rows.weights[train]
        return float(weights[positive].sum()), float(weights[~positive].sum())

    def sweep(self, what: str, levels: Array, change: Callable[[Array, Array, float], Rows]) -> Sweep:
        """Fit everybody to the changed training part of every fold at every level."""
        rngs = [np.random.default_rng([self.seed, k]) for k in range(len(self.folds))]
        orders = [rng.permutation(len(train)) for rng, (train, _) in zip(rngs, self.folds)]
        # checked before the first fit, so that nobody waits for an error
        changed = [[change(train, order, v) for (train, _), order in zip(self.folds, orders)] for v in levels.tolist()]
        tasks = [
            (estimator, changed[i][k], self.rows.part(test), self.problem, seed)
            for estimator in self.estimators.values()
            for i in range(len(levels))
            for k, ((_, test), seed) in enumerate(zip(self.folds, seeds_for(self.seed, len(self.folds))))
        ]
        results = [r for r, _ in in_parallel(_measured, tasks, self.n_jobs, self.verbose)]
        shape = (len(self.estimators), len(levels), len(self.folds))
        names = _in_all(results)
        values = {m: np.array([r[m] for r in results]).reshape(shape) for m in names}
        each = {(e, m): values[m][k] for k, e in enumerate(self.estimators) for m in names}
        return Sweep(what, levels, tuple(self.estimators), names, len(self.folds), self.problem.pos_label, each)

    def cost_sweep(self, told: tuple[str, str, list[Callable[[Rows], tuple[Any, Rows]]]], levels: Array) -> CostSweep:
        """Fit one estimator, told each of the costs, to the training part of every fold."""
        what, param, tellers = told
        tasks = [
            (*tell(self.rows.part(train)), self.rows.part(test), self.problem, seed)
            for tell in tellers
            for (train, test), seed in zip(self.folds, seeds_for(self.seed, len(self.folds)))
        ]
        results = in_parallel(_measured, tasks, self.n_jobs, self.verbose)
        shape = (len(levels), len(self.folds))
        names = _in_all([r for r, _ in results])
        (name,) = self.estimators
        values = {(name, m): np.array([r[m] for r, _ in results]).reshape(shape) for m in names}
        table = np.array([(c.tp, c.fp, c.fn, c.tn) for _, c in results], dtype=np.float64).reshape(*shape, 4)
        pooled = measures_of_counts(Counts(*table.sum(axis=1).T), self.problem.negative_first)
        return CostSweep(
            what, levels, (name,), names, len(self.folds), self.problem.pos_label, values, param=param, _pooled=pooled
        )


def _in_all(results: list[dict[str, float]]) -> tuple[str, ...]:
    """The measures that all fits have."""
    return tuple(m for m in BINARY if all(m in r for r in results))


def plan_of(
    estimators: Any, X: Any, y: Any, cost: Any, pos_label: Any, sample_weight: Any, cv: Any, repeats: int,
    random_state: Any, n_jobs: Any, verbose: Any,
) -> Plan:  # fmt: skip
    """What all sweeps are handed, checked."""
    several = named(estimators)
    check_jobs(n_jobs, verbose)
    first = next(iter(several.values()))
    rows = read_rows(first, X, y, sample_weight)
    if pos_label is None:
        pos_label = own_pos_label(first)
    problem = problem_of(first, rows.y, rows.weights, cost, pos_label)
    if not problem.binary:
        raise InputError(
            f"y has {len(problem.classes)} classes, but sweeps are about two. Make one class positive: y == label."
        )
    several = {name: told_pos_label(estimator, problem) for name, estimator in several.items()}
    (seed,) = seeds_for(random_state, 1)
    folds = repeated_folds(cv, rows.y, repeats, seed, weights=rows.weights, X=rows.X)
    check_classes(folds, rows.y, problem.classes)
    return Plan(several, rows, problem, folds, seed, n_jobs, verbose)


def check_levels(name: str, values: Any, passes: Callable[[float], bool], wanted: str) -> Array:
    """Rising numbers, checked."""
    several = list(values) if isinstance(values, list | tuple | range) or hasattr(values, "__array__") else [values]
    bad = [v for v in several if not isinstance(v, Real) or isinstance(v, bool) or not passes(float(v))]
    if bad or not several:
        raise InputError(f"{name}={values!r} must be {wanted}" + (f"; got {bad[0]!r}." if bad else ", one at least."))
    return np.array(sorted({float(v) for v in several}))


def tellers(
    plan: Plan, param: str | None, levels: Array, given: Any
) -> tuple[str, str, list[Callable[[Rows], tuple[Any, Rows]]]]:
    """What is swept in words, the parameter, and for each level who makes an estimator and rows of it."""
    (estimator,) = plan.estimators.values()
    if param is not None:
        known = estimator.get_params(deep=True)
        if param not in known:
            raise InputError(
                f"param={param!r} is no parameter of {type(estimator).__name__}. It has {', '.join(sorted(known))}."
            )
        as_given = {float(v): v for v in np.ravel(given).tolist()}  # a whole number stays one
        return param, param, [_setter(estimator, param, as_given[v]) for v in levels.tolist()]
    if cost_param_of(estimator) is None and weight_name(estimator) is None:
        raise InputError(
            f"{type(estimator).__name__} can be told no costs: it has no parameter 'cost' or 'class_weight', and its "
            "fit takes no sample_weight. Name another parameter with param, or choose another estimator."
        )
    weighing = Weighing.of(estimator, plan.problem.classes, plan.problem.pos_label, None)
    other = plan.problem.classes[plan.problem.classes != plan.problem.pos_label][0]
    what = "cost of a miss / cost of a false alarm"
    if weighing.cost_param is not None:
        name = weighing.cost_param
        costs = [{plain(plan.problem.pos_label): v, plain(other): 1.0} for v in levels.tolist()]
        return what, name, [_setter(estimator, name, as_heard(estimator, name, c)) for c in costs]
    return what, weighing.told_by, [_weigher(estimator, plan.problem.pos_label, v) for v in levels.tolist()]


def _setter(estimator: Any, name: str, value: Any) -> Callable[[Rows], tuple[Any, Rows]]:
    return lambda rows: (clone(estimator).set_params(**{name: value}), rows)


def _weigher(estimator: Any, pos_label: Any, cost: float) -> Callable[[Rows], tuple[Any, Rows]]:
    def tell(rows: Rows) -> tuple[Any, Rows]:
        ones = np.ones(len(rows.y)) if rows.weights is None else rows.weights
        weights = ones * np.where(rows.y == pos_label, cost, 1.0)
        return estimator, Rows(rows.X, rows.y, weights * (ones.sum() / weights.sum()))  # as many examples as there are

    return tell


def _measured(estimator: Any, train: Rows, test: Rows, problem: Problem, seed: int) -> tuple[dict[str, float], Counts]:
    """Measures on the test part, and the counts that they come from."""
    model = fitted(estimator, train, seed)
    said = np.asarray(model.predict(test.X)).ravel()
    counts = Counts.of(test.y == problem.pos_label, said == problem.pos_label, test.weights)
    return measured(problem, model, test, said), counts
