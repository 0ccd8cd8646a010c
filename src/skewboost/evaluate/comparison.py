"""Comparison of methods on the same folds, tuned on the training rows, with all measures and tests."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from queue import SimpleQueue
from typing import Any, NamedTuple

import joblib
import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skewboost.engine.table import as_frame
from skewboost.errors import InputError, SkewBoostError
from skewboost.evaluate.comparison_fits import DataSet, run_fit, seed_of
from skewboost.evaluate.comparison_result import Comparison
from skewboost.evaluate.methods import Method, methods_of
from skewboost.evaluate.problem import in_order, problem_of, read_sample, repeated_folds
from skewboost.evaluate.rank_tests import RankTest
from skewboost.evaluate.results_file import Key, OtherSeedError, ResultsFile, ResultsFileError, key_of
from skewboost.evaluate.running import (
    VERBOSE,
    DividedGroupsWarning,
    IncompleteResultWarning,
    Reporter,
    seeds_for,
    warn_of_divided_groups,
    warn_of_interruption,
)
from skewboost.json_lines import Row
from skewboost.meta.inner_labels import plain
from skewboost.metrics.measures import BINARY
from skewboost.parameters import N_JOBS, Check, check_arguments, integer, one_of

__all__ = [
    "Comparison",
    "DividedGroupsWarning",
    "IncompleteResultWarning",
    "RankTest",
    "ResultsFileError",
    "compare",
]

ONLY = "data"  # the name of a single data set
TUNE_FOR = Check(
    lambda v: v is None or callable(v) or v in BINARY, f"one of {', '.join(map(repr, BINARY))}, a scorer, or None"
)
_OWNER = type("compare", (), {})()  # error messages about labels name it


class Job(NamedTuple):
    """A fit to do: the method on the k-th split of the data set."""

    data: DataSet
    method: Method
    k: int

    @property
    def key(self) -> Key:
        """The key of the fit in a results file."""
        return (self.data.name, self.method.name, *self.data.repeat_and_fold(self.k))

    def missing(self, file: ResultsFile) -> bool:
        """Whether the file has no result of it, or only a failure."""
        known = file.fits.get(self.key)
        return known is None or known["failed"] is not None


def compare(
    estimators: Any,
    X: Any,
    y: Any = None,
    *,
    cost: Any = None,
    cv: Any = 5,
    repeats: int = 1,
    grids: Mapping[str, Any] | None = None,
    tune_for: Any = None,
    inner_cv: int = 3,
    results: str | os.PathLike[str] | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    on_error: str = "record",
    n_jobs: int | None = None,
    verbose: Any = 0,
    random_state: Any = None,
) -> Comparison:
    """Compare classifiers on the same folds of one or several data sets.

    Parameters
    ----------
    estimators : list, or dict of str to estimator
        Names of the catalogue ("CSRA", "AdaC2"), classes, and any scikit-learn classifiers: pipelines, searches, those
        of other libraries. In a list each is named by its class and the parameters that were set.
    X : table of shape (n_samples, n_features), or dict of str to (X, y)
        The rows, or several data sets by name.
    y : array-like of shape (n_samples,)
        Class labels; None if `X` is a dict.
    cost : number, "balanced", dict, matrix or None, default=None
        What mistakes cost: a number (the cost of a miss, in false alarms), ``{label: cost}``, or a matrix
        ``cost[true, predicted]``; with several data sets also ``{data set: cost}``. The measures "cost" and "savings"
        use it for all methods. Estimators with a parameter `cost` that is None get it too: their own, else that of a
        step of a pipeline or of the estimator of a search, unless it is in their grid. None: no estimator gets costs,
        and the measures use costs inversely proportional to the class frequencies ("balanced"). `class_weight` and
        `sample_weight` of other libraries are not changed.
    cv : int, splitter, or iterable of (train, test), default=5
        A number of stratified folds, a splitter, or the training and test rows of each fold. If rows are ordered in
        time, pass ``TimeSeriesSplit()``; inner folds then follow that order too.
    repeats : int, default=1
        How often folds are drawn.
    grids : dict of str to grid or None, default=None
        Parameters to search, by the name of the method: ``{"CSRA": {"learning_rate": [0.1, 1.0]}}``. They are chosen on
        inner folds of the training rows, separately for each fold. If the number of rounds of a skewboost booster is in
        the grid, one fit serves all numbers.
    tune_for : str, scorer or None, default=None
        What the search optimises: a measure, or a function of (fitted estimator, X, y) that is larger for better
        models. None: "cost".
    inner_cv : int, default=3
        The number of inner folds.
    results : path or None, default=None
        A file for finished fits, one line each, written at once. A second call skips finished fits (and repeats failed
        ones). Other methods and data sets may be added; other rows, folds or costs raise an error. Several calls may
        use one file at the same time and share the work.
    sample_weight : array-like of shape (n_samples,), dict of str to array-like, or None, default=None
        How many examples a row stands for, in training and in all measures; by data set if there are several.
    groups : array-like of shape (n_samples,), dict of str to array-like, or None, default=None
        Which rows belong together, such as those of a patient; by data set if there are several. Rows of a group are on
        one side of every split, also on inner folds. Splits of `cv` that divide a group raise an error. Estimators
        whose `fit` takes `groups` get them (`SkewBoostClassifier`, searches of scikit-learn). There is a warning about
        others that hold out training rows.
    pos_label : label or None, default=None
        The positive class; None: the rarer of the two in `y`, the larger label in a tie. It is passed to skewboost
        estimators whose own `pos_label` is None.
    on_error : {"record", "raise"}, default="record"
        What to do if a fit fails: record it and continue, or raise the error.
    n_jobs : int or None, default=None
        The number of fits that run in parallel. The results do not depend on it; the times do. Estimators whose own
        `n_jobs` is None get 1.
    verbose : int or callable, default=0
        1: a progress bar on the standard error stream. If that is not a terminal: a line for each tenth, with 2 for
        each fit. A function is called with `Progress(done, total, running, seconds_left)` after each fit.
    random_state : int, RandomState or None, default=None
        Seeds the folds, and through (data set, repeat, fold) every estimator whose own `random_state` is None. None: a
        new seed, or that of the `results` file.

    Returns
    -------
    Comparison
        After Ctrl-C it has all finished fits and ``complete`` is False, with an `IncompleteResultWarning`.

    See Also
    --------
    Comparison : The result, with tables and tests.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import compare
    >>> X, y = load_rare_cancer()
    >>> linear = make_pipeline(StandardScaler(), LogisticRegression())
    >>> comparison = compare(["CSRA", "RealBoost", linear], X, y, cost=20, cv=3, random_state=0)
    >>> comparison.methods
    ['CSRA', 'RealBoost', 'StandardScaler + LogisticRegression']
    >>> comparison.best("recall")
    'CSRA'
    """
    check_arguments(
        tune_for=(tune_for, TUNE_FOR),
        inner_cv=(inner_cv, integer(2)),
        on_error=(on_error, one_of("record", "raise")),
        n_jobs=(n_jobs, N_JOBS),
        verbose=(verbose, VERBOSE),
    )
    methods = methods_of(estimators, grids, "cost" if tune_for is None else tune_for, inner_cv)
    if isinstance(cv, Iterator):  # it can be read only once
        cv = list(cv)
    file = ResultsFile(results)
    given = _read(X, y, cost, sample_weight, groups)
    if groups is not None:
        warn_of_divided_groups({method.name: method.estimator for method in methods})
    while True:
        seed = _seed(random_state, file)
        data_sets = [_data_set(name, rows, cv, repeats, pos_label, seed) for name, rows in given.items()]
        try:
            if file.path is not None:
                fingerprints = {data.name: _fingerprints(data) for data in data_sets}
                file.begin(seed, fingerprints, {method.name: method.fingerprint for method in methods})
            break
        except OtherSeedError:
            if random_state is not None:
                raise  # else another run has just started the file with a seed of its own
    jobs = [Job(data, method, k) for data in data_sets for k in range(len(data.splits)) for method in methods]
    complete = _run([job for job in jobs if job.missing(file)], file, on_error == "raise", n_jobs, verbose)
    return Comparison(
        [file.fits[job.key] for job in jobs if job.key in file.fits],
        methods=[method.name for method in methods],
        data_sets=[data.name for data in data_sets],
        n_fits=len(jobs),
        complete=complete,
        random_state=seed,
        pos_labels={data.name: plain(data.problem.pos_label) for data in data_sets},
        cost_matrices={data.name: data.problem.matrix for data in data_sets},
        in_order=[data.name for data in data_sets if in_order(data.splits)],
    )


def _seed(random_state: Any, file: ResultsFile) -> int:
    if random_state is None and file.seed is not None:
        return file.seed
    (drawn,) = seeds_for(random_state, 1)
    return int(random_state) if isinstance(random_state, int | np.integer) else drawn


def _read(X: Any, y: Any, cost: Any, weights: Any, groups: Any) -> dict[str, tuple[Any, Any, Any, Any, Any]]:
    """Return rows, labels, costs, weights and groups by the name of the data set."""
    if not isinstance(X, Mapping):
        if y is None:
            raise InputError("y is None.", "Pass the labels, or several data sets as a dict X={name: (X, y)}.")
        return {ONLY: (X, y, cost, weights, groups)}
    names = [str(name) for name in X]
    if len(set(names)) < len(names):
        raise InputError(f"X has two data sets of the same name: {', '.join(names)}.", "Name them differently.")
    if y is not None or not names or not all(isinstance(v, tuple | list) and len(v) == 2 for v in X.values()):
        raise InputError("X is a dict, but not of data sets with labels.", "Pass {name: (X, y)}. Leave y at None.")
    for argument, value in (("sample_weight", weights), ("groups", groups)):
        if value is not None and (not isinstance(value, Mapping) or set(map(str, value)) - set(names)):
            raise InputError(f"{argument} must be a dict by data set, like X: {', '.join(names)}.")
    each = isinstance(cost, Mapping) and set(map(str, cost)) == set(names)
    costs = {str(k): v for k, v in cost.items()} if each else dict.fromkeys(names, cost)
    own_weights, own_groups = ({str(k): v for k, v in (value or {}).items()} for value in (weights, groups))
    return {
        name: (*pair, costs[name], own_weights.get(name), own_groups.get(name)) for name, pair in zip(names, X.values())
    }


def _data_set(
    name: str, given: tuple[Any, Any, Any, Any, Any], cv: Any, repeats: int, pos_label: Any, seed: int
) -> DataSet:
    """Return a data set; errors name it if there are several."""
    X, y, cost, weights, groups = given
    try:
        sample = read_sample(_OWNER, X, y, weights, groups)
        problem = problem_of(_OWNER, sample.y, sample.weights, cost, pos_label)
        splits = repeated_folds(
            cv, sample.y, repeats, seed_of(seed, name), weights=sample.weights, X=sample.X, groups=sample.groups
        )
    except SkewBoostError as error:
        raise error if name == ONLY else InputError(f"In data set {name!r}: {error.problem}", error.remedy) from error
    if problem.binary and isinstance(cost, Real):  # the rarer class must not depend on the fold
        cost = {plain(problem.pos_label): float(cost), plain(problem.neg_label): 1.0}
    return DataSet(name, sample, problem, cost, tuple(splits), len(splits) // repeats, seed)


def _fingerprints(data: DataSet) -> Row:
    cells, frame = data.sample.X, as_frame(data.sample.X)
    if frame is not None:
        cells = [(series.name, series.to_numpy()) for series in frame.iter_columns()]
    # "balanced" costs follow from the rows, so the matrix is enough, and whether estimators get costs
    costs = (data.problem.matrix, plain(data.problem.pos_label), data.cost is None)
    return {
        "n_rows": len(data.sample.y),
        "data": joblib.hash((cells, data.sample.y, data.sample.weights, data.sample.groups)),
        "folds": joblib.hash(data.splits),
        "cost": joblib.hash(costs),
    }


class _Pending:
    """Iterates over the fits that are left, without those that another run has finished in the meantime."""

    def __init__(self, jobs: list[Job], file: ResultsFile) -> None:
        self.jobs, self.file = jobs, file
        self.done_elsewhere: SimpleQueue[Job] = SimpleQueue()
        self.error: ResultsFileError | None = None  # raised later, as joblib may iterate in a thread

    def __iter__(self) -> Iterator[Job]:
        left, known, rng = list(self.jobs), self.file.news, random.Random()
        while left:
            try:
                self.file.read()
                if self.file.news != known:
                    known = self.file.news
                    left = self._still_missing(left)
                    continue
            except ResultsFileError as error:
                self.error = error
                return
            # Two runs with the same list in the same order would do everything twice
            yield left.pop(rng.randrange(len(left)) if known else 0)

    def _still_missing(self, left: list[Job]) -> list[Job]:
        missing = []
        for job in left:
            if job.missing(self.file):
                missing.append(job)
            else:
                self.file.check_method(job.method.name, job.method.fingerprint)
                self.done_elsewhere.put(job)
        return missing


def _run(jobs: list[Job], file: ResultsFile, raising: bool, n_jobs: int | None, verbose: Any) -> bool:
    """Run and store the fits that are left; return whether all of them were done."""
    if jobs:
        file.check_writable()
    pending = _Pending(jobs, file)
    with Reporter(verbose, [_name_of(job.key) for job in jobs], effective_n_jobs(n_jobs)) as reporter:

        def report_others() -> None:
            while not pending.done_elsewhere.empty():
                reporter.finished(_name_of(pending.done_elsewhere.get().key))

        try:
            for row in _fits(pending, raising, n_jobs):
                file.add(row)
                reporter.finished(_name_of(key_of(row)))
                report_others()
            report_others()
        except KeyboardInterrupt:
            hint = "" if file.path is None else f" The same call continues from {file.path}."
            warn_of_interruption(reporter.progress.done, len(jobs), hint)
            return False
    if pending.error is not None:
        raise pending.error
    return True


def _fits(jobs: Iterable[Job], raising: bool, n_jobs: int | None) -> Iterator[Row]:
    """Yield the results of fits as they are finished."""
    if effective_n_jobs(n_jobs) == 1:
        return (run_fit(*job, raising) for job in jobs)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    rows: Iterator[Row] = parallel(delayed(_run_in_worker)(os.getpid(), *job, raising) for job in jobs)
    return rows


def _run_in_worker(parent: int, data: DataSet, method: Method, k: int, raising: bool) -> Row:
    """Run a fit in a worker. Ctrl-C reaches all processes, but only the parent handles it and ends the workers."""
    if os.getpid() == parent or threading.current_thread() is not threading.main_thread():
        return run_fit(data, method, k, raising)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return run_fit(data, method, k, raising)
    finally:
        signal.signal(signal.SIGINT, before)


def _name_of(key: Key) -> str:
    data_set, method, repeat, fold = key
    return f"{method} on {data_set}, repeat {repeat + 1}, fold {fold + 1}"
