"""Fits on parts of the rows: seeds, parallel jobs, progress, and measures of fitted models."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from skewboost.boosting.cost_use import unquestioned_costs
from skewboost.errors import InputError, MissingPackageError, warn_caller
from skewboost.evaluate.problem import Problem, Sample
from skewboost.fitting import seeded
from skewboost.learners.adapter import weight_name
from skewboost.meta.inner_labels import plain
from skewboost.metrics.measures import binary_measures, multiclass_measures
from skewboost.metrics.ranking import scores_of
from skewboost.metrics.targets import known_labels
from skewboost.parameters import Check, check_random_state, either, integer, one_of
from skewboost.progress import ProgressBar

VERBOSE = Check(
    lambda v: callable(v) or either(one_of(True, False), integer(0)).passes(v), "an integer >= 0, or a function"
)


def is_classifier_object(estimator: Any) -> bool:
    """Whether it is a classifier that can be fitted and cloned."""
    return hasattr(estimator, "fit") and hasattr(estimator, "get_params") and is_classifier(estimator)


def check_classifier(estimator: Any) -> None:
    """Raise an error unless `estimator` is a classifier."""
    if isinstance(estimator, type):
        name = estimator.__name__
        raise InputError(f"estimator={name} is a class.", f"Pass an instance: {name}().")
    if not is_classifier_object(estimator):
        raise InputError(f"estimator={estimator!r} is not a classifier.", "Pass one with scikit-learn's interface.")


def import_pandas() -> Any:
    """Import pandas, or raise an error that says what to install."""
    try:
        import pandas
    except ImportError as error:
        raise MissingPackageError("as_frame needs pandas.", "Run pip install pandas.") from error
    return pandas


def fit_copy(estimator: Any, sample: Sample, seed: int) -> Any:
    """Fit a copy; every `random_state` that is None is seeded, so that the number of jobs does not matter."""
    rng = np.random.default_rng(seed)
    model = seeded(estimator, lambda: int(rng.integers(2**31 - 1)))
    params: dict[str, Any] = {}
    if sample.weights is not None:
        name = weight_name(model)
        if name is None:
            raise InputError(
                f"sample_weight was given, but {type(model).__name__}.fit takes no weights.",
                "Leave it at None, repeat rows instead, or choose another estimator.",
            )
        params[name] = sample.weights
    groups = None if sample.groups is None else groups_name(model)
    if groups is not None:
        params[groups] = sample.groups
    with unquestioned_costs(), known_labels():  # the evaluation has warned of the labels
        return model.fit(sample.X, sample.y, **params)


def groups_name(estimator: Any) -> str | None:
    """Return the argument of `fit` for groups; None if the estimator does not take them, or has no use for them."""
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return "groups"
    if has_fit_parameter(estimator, "groups"):
        return "groups" if getattr(estimator, "_holds_out", True) else None
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        inner = groups_name(last)
        return None if inner is None else f"{step}__{inner}"
    return None


class DividedGroupsWarning(UserWarning):
    """An estimator divides its training rows by itself and takes no groups."""


def warn_of_divided_groups(estimators: Mapping[str, Any]) -> None:
    """Name the estimators that may divide groups of their training rows."""
    for name, estimator in estimators.items():
        how = divides_rows(estimator)
        if how is not None:
            message = (
                f"{name} divides its training rows by itself ({how}) and takes no groups, so it may divide them. Its "
                "test rows are of other groups in any case."
            )
            warn_caller(message, DividedGroupsWarning)


def divides_rows(estimator: Any) -> str | None:
    """Return how an estimator divides its training rows without asking for groups, such as "calibrate='sigmoid'".

    None if it takes groups, or if nothing is known that divides them.
    """
    if groups_name(estimator) is not None:
        return None
    for name, value in estimator.get_params().items():
        *_, last = name.split("__")
        if (last == "early_stopping" and value) or (last in ("calibrate", "cv") and value is not None):
            return f"{name}={value!r}"
    return None


def measure_model(problem: Problem, model: Any, sample: Sample, predicted: Any = None) -> dict[str, float]:
    """Compute all measures that a fitted model allows; `predicted` are its predictions, if they are known."""
    labels = np.asarray(model.predict(sample.X) if predicted is None else predicted).ravel()
    if not np.isin(labels, problem.classes).all():
        raise InputError(
            f"{type(model).__name__} predicts other labels than the classes of y, so it cannot be measured.",
            "Leave reject_cost at None, if it is set.",
        )
    if not problem.binary:
        return multiclass_measures(problem.codes(sample.y), problem.codes(labels), problem.matrix, sample.weights)
    positive = problem.pos_label
    probabilities = None
    if hasattr(model, "predict_proba"):
        known = list(model.classes_)
        if positive not in known:
            raise InputError(
                f"The training rows of this fold have no example of {plain(positive)!r}.",
                "Choose a cv that keeps all classes in training.",
            )
        probabilities = np.asarray(model.predict_proba(sample.X), dtype=np.float64)[:, known.index(positive)]
    scores = scores_of(model, sample.X, positive) if hasattr(model, "decision_function") else probabilities
    return binary_measures(
        sample.y == positive, labels == positive, scores=scores, probabilities=probabilities,
        cost_matrix=problem.negative_first, weights=sample.weights,
    )  # fmt: skip


def seeds_for(random_state: Any, n: int) -> list[int]:
    """Return a seed for each of n fits."""
    rng = check_random_state(random_state)
    return [int(s) for s in rng.randint(2**31 - 1, size=n)]


class Progress(NamedTuple):
    """The progress of an evaluation."""

    done: int
    total: int
    running: tuple[str, ...]  # the fits that run now, or next
    seconds_left: float | None  # None before the first fit is finished


class Reporter:
    """Reports every finished fit of some that are given by name, as the argument `verbose` of `compare` says."""

    def __init__(self, verbose: Any, fits: list[str], n_jobs: int) -> None:
        self.remaining, self.total, self.n_jobs = dict.fromkeys(fits), len(fits), n_jobs
        self.started = time.monotonic()
        self.callback = verbose if callable(verbose) else None
        self.bar: ProgressBar | None = None
        if fits and verbose and self.callback is None:
            self.bar = ProgressBar(self.total, lines=self.total if verbose >= 2 else 10)

    def __enter__(self) -> Self:
        if self.bar is not None:
            self.bar.__enter__()
        if self.total:
            self._report()
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.__exit__(*error)

    def finished(self, fit: str) -> None:
        """Report that a fit is done."""
        self.remaining.pop(fit, None)
        self._report()

    @property
    def progress(self) -> Progress:
        """The present state."""
        done = self.total - len(self.remaining)
        left = None if done == 0 else (time.monotonic() - self.started) / done * len(self.remaining)
        return Progress(done, self.total, tuple(self.remaining)[: self.n_jobs], left)

    def _report(self) -> None:
        if self.callback is not None:
            self.callback(self.progress)
        elif self.bar is not None:
            now = self.progress
            self.bar.update(now.done, now.running[0] if now.running else "")


class IncompleteResultWarning(UserWarning):
    """An evaluation was interrupted; the result has the finished fits."""


def warn_of_interruption(done: int, total: int, hint: str = "") -> None:
    """Say how many fits the result has."""
    message = f"Interrupted after {done} of {total} fits. The result has the finished ones.{hint}"
    warn_caller(message, IncompleteResultWarning)


def any_finished(results: Sequence[Any]) -> bool:
    """Whether one of the tasks of `run_in_parallel` is finished."""
    return any(result is not None for result in results)


def all_finished(results: Sequence[Any]) -> bool:
    """Whether all tasks of `run_in_parallel` are finished."""
    return all(result is not None for result in results)


def run_in_parallel(
    work: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    n_jobs: int | None,
    verbose: Any,
    usable: Callable[[list[Any]], bool] | None = None,
) -> list[Any]:
    """Return the results of `work(*task)` in the order of the tasks, and report progress.

    An interruption is raised, unless what is finished is `usable`. Then there is an `IncompleteResultWarning`, and
    None stands for the results of the tasks that are not finished.
    """
    results: list[Any] = [None] * len(tasks)
    jobs = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered")
    names = [f"fit {k}" for k in range(1, len(tasks) + 1)]
    with Reporter(verbose, names, effective_n_jobs(n_jobs)) as reporter:
        try:
            for k, result in jobs(delayed(_numbered)(k, work, task) for k, task in enumerate(tasks)):
                results[k] = result
                reporter.finished(names[k])
        except KeyboardInterrupt:
            if usable is None or not usable(results):
                raise
            warn_of_interruption(sum(result is not None for result in results), len(tasks))
    return results


def _numbered(k: int, work: Callable[..., Any], task: tuple[Any, ...]) -> tuple[int, Any]:
    return k, work(*task)
