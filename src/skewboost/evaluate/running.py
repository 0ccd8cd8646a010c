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

from skewboost.engine.table import sliceable, take_rows
from skewboost.errors import InputError
from skewboost.evaluate.problem import Problem
from skewboost.evaluate.progress import Reporter
from skewboost.fitting import seeded
from skewboost.learners.adapter import weight_name
from skewboost.meta.cost_passing import plain
from skewboost.metrics.measures import binary_measures, multiclass_measures
from skewboost.metrics.ranking import scores_of
from skewboost.metrics.targets import check_labels, check_sample_weight
from skewboost.parameters import N_JOBS, Check, either, integer, one_of
from skewboost.typing import Array


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


def is_one(estimator: Any) -> bool:
    """Whether it is an object that can be fitted and cloned, and classifies."""
    return hasattr(estimator, "fit") and hasattr(estimator, "get_params") and is_classifier(estimator)


def check_estimator_is_one(estimator: Any) -> None:
    """An error unless it is a classifier."""
    if isinstance(estimator, type):
        raise InputError(f"estimator={estimator.__name__} is a class. Pass an object: {estimator.__name__}().")
    if not is_one(estimator):
        raise InputError(f"estimator={estimator!r} is no classifier. Pass one with scikit-learn's interface.")


def fitted(estimator: Any, rows: Rows, seed: int) -> Any:
    """A copy fitted to rows; every `random_state` that is None is seeded, so that jobs do not matter."""
    rng = np.random.default_rng(seed)
    model = seeded(estimator, lambda: int(rng.integers(2**31 - 1)))
    params = {}
    if rows.weights is not None:
        name = weight_name(model)
        if name is None:
            raise InputError(
                f"sample_weight was given, but {type(model).__name__}.fit takes no weights. Leave it at None, repeat "
                "rows instead, or choose another estimator."
            )
        params[name] = rows.weights
    return model.fit(rows.X, rows.y, **params)


def measured(problem: Problem, model: Any, rows: Rows, said: Any = None) -> dict[str, float]:
    """All measures that a fitted model can be asked for; `said` are its answers, where they are known."""
    answers = np.asarray(model.predict(rows.X) if said is None else said).ravel()
    if not problem.binary:
        return multiclass_measures(problem.codes(rows.y), problem.codes(answers), problem.matrix, rows.weights)
    positive = problem.pos_label
    probabilities = None
    if hasattr(model, "predict_proba"):
        known = list(model.classes_)
        if positive not in known:
            raise InputError(f"The training rows of this fold have no example of {plain(positive)!r}. See cv.")
        probabilities = np.asarray(model.predict_proba(rows.X), dtype=np.float64)[:, known.index(positive)]
    scores = scores_of(model, rows.X, positive) if hasattr(model, "decision_function") else probabilities
    return binary_measures(
        rows.y == positive, answers == positive, scores=scores, probabilities=probabilities,
        cost_matrix=problem.negative_first, weights=rows.weights,
    )  # fmt: skip


def seeds_for(random_state: Any, n: int) -> list[int]:
    """A seed for each of n fits."""
    try:
        rng = check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise InputError(f"random_state={random_state!r} must be an integer >= 0, a RandomState, or None.") from error
    return [int(s) for s in rng.randint(2**31 - 1, size=n)]


def check_jobs(n_jobs: Any, verbose: Any) -> None:
    """The arguments that all evaluations have."""
    told = Check(
        lambda v: callable(v) or either(one_of(True, False), integer(0)).passes(v), "an integer >= 0, or a function"
    )
    for name, value, check in (("n_jobs", n_jobs, N_JOBS), ("verbose", verbose, told)):
        if not check.passes(value):
            raise InputError(f"{name}={value!r} must be {check.wanted}.")


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
