"""Fits on parts of the rows: what users hand over, seeds, jobs and progress; the same for all who evaluate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from skewboost._fitting import seeded
from skewboost._params import N_JOBS, Check, either, integer, one_of
from skewboost.engine import repeated
from skewboost.evaluate.progress import Reporter
from skewboost.learners.adapter import weight_name
from skewboost.metrics.counts import Array
from skewboost.tables import sliceable, take_rows
from skewboost.targets import check_labels, check_sample_weight


@dataclass(frozen=True)
class Rows:
    """What the user handed over, checked."""

    X: Any
    y: Array
    weights: Array | None

    def part(self, rows: Array) -> Rows:
        """Some of them; one may be taken several times."""
        return Rows(take_rows(self.X, rows), self.y[rows], None if self.weights is None else self.weights[rows])


def read_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Rows:
    """Rows, labels and weights, checked against each other."""
    X = sliceable(X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    labels = check_labels(estimator, y, n_rows)
    return Rows(X, labels, None if sample_weight is None else check_sample_weight(sample_weight, n_rows))


def check_estimator_is_one(estimator: Any, name: str = "estimator") -> None:
    """An object that can be fitted and cloned, and classifies."""
    if isinstance(estimator, type):
        raise ValueError(f"{name}={estimator.__name__} is a class. Pass an object: {estimator.__name__}().")
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params") and is_classifier(estimator)):
        raise ValueError(f"{name}={estimator!r} is no classifier. Pass one with scikit-learn's interface.")


def named(estimators: Any) -> dict[str, Any]:
    """Estimators by name: a dict as it is, others by their class, numbered where that is not unique."""
    if isinstance(estimators, dict):
        found = {str(name): estimator for name, estimator in estimators.items()}
    else:
        several = list(estimators) if isinstance(estimators, list | tuple) else [estimators]
        names = [type(e).__name__.removesuffix("Classifier") for e in several]
        numbers = [names[: k + 1].count(n) for k, n in enumerate(names)]
        found = {n if names.count(n) == 1 else f"{n} {number}": e for n, number, e in zip(names, numbers, several)}
    if not found:
        raise ValueError("estimators is empty. Pass an estimator, a list of them, or a dict {name: estimator}.")
    for name, estimator in found.items():
        check_estimator_is_one(estimator, f"estimators[{name!r}]" if len(found) > 1 else "estimator")
    return found


def fitted(estimator: Any, rows: Rows, seed: int, n_fits: int = 1) -> Any:
    """A copy fitted to rows; every `random_state` that is None is seeded, so that jobs do not matter."""
    rng = np.random.default_rng(seed)
    model = seeded(estimator, lambda: int(rng.integers(2**31 - 1)))
    params = {}
    if rows.weights is not None:
        name = weight_name(model)
        if name is None:
            raise ValueError(
                f"sample_weight was given, but {type(model).__name__}.fit takes no weights. Leave it at None, repeat "
                "rows instead, or choose another estimator."
            )
        params[name] = rows.weights
    with repeated(n_fits):
        return model.fit(rows.X, rows.y, **params)


def seeds_for(random_state: Any, n: int) -> list[int]:
    """A seed for each of n fits."""
    return [int(s) for s in check_random_state(random_state).randint(2**31 - 1, size=n)]


def check_jobs(n_jobs: Any, verbose: Any) -> None:
    """The arguments that all evaluations have."""
    told = Check(lambda v: callable(v) or either(one_of(True, False), integer(0)).passes(v), "an integer >= 0")
    for name, value, check in (("n_jobs", n_jobs, N_JOBS), ("verbose", verbose, told)):
        if not check.passes(value):
            raise ValueError(f"{name}={value!r} must be {check.wanted}.")


def in_parallel(
    work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], n_jobs: int | None, verbose: Any
) -> list[Any]:
    """The results of `work(*task)` in the order of the tasks; with `verbose`, a bar on stderr."""
    reporter = Reporter(verbose, [f"fit {k}" for k in range(1, len(tasks) + 1)], effective_n_jobs(n_jobs))
    results = []
    jobs = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    reporter.start()
    try:
        for k, result in enumerate(jobs(delayed(work)(*task) for task in tasks), 1):
            results.append(result)
            reporter.finished(f"fit {k}")
    finally:
        reporter.close()
    return results
