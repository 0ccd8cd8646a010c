"""Methods side by side: the same folds for all, tuned within the training rows, every measure, and tests."""

from __future__ import annotations

import os
import random
import signal
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from queue import SimpleQueue
from typing import Any

import joblib
import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skewboost.engine.table import as_frame
from skewboost.errors import InputError
from skewboost.evaluate.comparison_fits import DataSet, run_fit, seed_of
from skewboost.evaluate.comparison_result import Comparison
from skewboost.evaluate.methods import Method, methods_of
from skewboost.evaluate.problem import problem_of
from skewboost.evaluate.progress import Reporter
from skewboost.evaluate.rank_tests import RankTest
from skewboost.evaluate.results_file import Key, OtherSeedError, ResultsFile, ResultsFileError, Row, key_of
from skewboost.evaluate.running import check_jobs, read_rows, seeds_for
from skewboost.evaluate.splitting import repeated_folds
from skewboost.meta.cost_passing import plain
from skewboost.metrics.measures import BINARY

__all__ = ["Comparison", "IncompleteComparisonWarning", "RankTest", "ResultsFileError", "compare"]

ONLY = "data"  # what the only data set is called
_ASKING = type("compare", (), {})()  # whom messages about labels name

Job = tuple[DataSet, Method, int]


class IncompleteComparisonWarning(UserWarning):
    """A comparison was interrupted; what was finished is there."""


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
        of other libraries. Of a list everyone is called by its class and the parameters that were set.
    X : table of shape (n_samples, n_features), or dict of str to (X, y)
        The rows; or several data sets by name.
    y : array-like of shape (n_samples,)
        Class labels; None where `X` is a dict.
    cost : number, "balanced", dict, matrix or None, default=None
        What mistakes cost: a number (a miss costs so many false alarms), ``{label: cost}``, or a matrix
        ``cost[true, predicted]``; with several data sets also ``{data set: cost}``. It prices the answers of everyone,
        in the measures "cost" and "savings". Estimators are told it if they have a parameter `cost` that is None: their
        own, else that of a step of a pipeline or of what a search searches over, and unless it is in their grid. None:
        nobody is told anything, and answers are priced in inverse proportion to the shares of the classes ("balanced").
        `class_weight` and `sample_weight` of other libraries are left alone.
    cv : int, splitter, or iterable of (train, test), default=5
        A number of stratified folds, or which rows are trained on and tested.
    repeats : int, default=1
        How often the folds are drawn anew.
    grids : dict of str to grid or None, default=None
        Parameters to search, by the name of the method: ``{"CSRA": {"learning_rate": [0.1, 1.0]}}``. They are chosen on
        inner folds of the training rows, anew for each fold. If the number of rounds of one of our boosters is in the
        grid, one fit serves all numbers.
    tune_for : str, scorer or None, default=None
        What the search is after: a measure, or a function of (fitted estimator, X, y) of which more is better. None:
        "cost".
    inner_cv : int, default=3
        The number of inner folds.
    results : path or None, default=None
        A file for finished fits, one line each, written at once. A second call skips what is there (but tries again
        what had failed), other methods and data sets may be added, and other rows, folds or costs raise an error.
        Several calls may use one file at the same time, and share the work.
    sample_weight : array-like of shape (n_samples,), dict of str to array-like, or None, default=None
        How many examples a row stands for, in training and in all measures; by data set if there are several.
    pos_label : label or None, default=None
        The positive class; None: the rarer of the two in `y`, the larger label in a tie. Estimators of this package
        whose own `pos_label` is None are told.
    on_error : {"record", "raise"}, default="record"
        What to do if a fit fails: write it down and go on, or raise the error.
    n_jobs : int or None, default=None
        How many fits run at the same time. The results are the same for any number; the seconds are not. Estimators
        whose own `n_jobs` is None get 1.
    verbose : int or callable, default=0
        1: a bar on the standard error stream. Where that is no terminal: a line for each tenth, with 2 for each fit. A
        function is called with `Progress(done, total, running, seconds_left)` after each fit.
    random_state : int, RandomState or None, default=None
        Seeds the folds, and through (data set, repeat, fold) every estimator whose own `random_state` is None. None: a
        new seed, or that of the `results` file.

    Returns
    -------
    Comparison
        After Ctrl-C with all that was finished by then, ``complete`` False, and an `IncompleteComparisonWarning`.

    See Also
    --------
    Comparison : What to do with it.

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
    _check(tune_for, inner_cv, on_error, n_jobs, verbose)
    methods = methods_of(estimators, grids, "cost" if tune_for is None else tune_for, inner_cv)
    if isinstance(cv, Iterator):  # it can be gone through once only
        cv = list(cv)
    file = ResultsFile(results)
    given = _read(X, y, cost, sample_weight)
    while True:
        seed = _seed(random_state, file)
        data_sets = [
            _named_data_set(name, *rows, cv=cv, repeats=repeats, pos_label=pos_label, seed=seed)
            for name, rows in given.items()
        ]
        try:
            _begin(file, seed, data_sets, methods)
            break
        except OtherSeedError:
            if random_state is not None:
                raise  # else another run has begun the file in the meantime, with a seed that it drew
    jobs = [(data, method, k) for data in data_sets for k in range(len(data.splits)) for method in methods]
    left = [job for job in jobs if _missing(file, job)]
    complete = _run(left, file, on_error == "raise", n_jobs, verbose)
    rows = [file.fits[_key(job)] for job in jobs if _key(job) in file.fits]
    return Comparison(
        rows,
        methods=[method.name for method in methods],
        data_sets=[data.name for data in data_sets],
        n_fits=len(jobs),
        complete=complete,
        random_state=seed,
        pos_labels={data.name: plain(data.problem.pos_label) for data in data_sets},
        cost_matrices={data.name: data.problem.matrix for data in data_sets},
    )


def _check(tune_for: Any, inner_cv: Any, on_error: Any, n_jobs: Any, verbose: Any) -> None:
    if not (tune_for is None or callable(tune_for) or tune_for in BINARY):
        raise InputError(f"tune_for={tune_for!r} must be one of {', '.join(map(repr, BINARY))}, or a scorer.")
    if isinstance(inner_cv, bool) or not isinstance(inner_cv, int | np.integer) or inner_cv < 2:
        raise InputError(f"inner_cv={inner_cv!r} must be a number of inner folds, 2 at least.")
    if on_error not in ("record", "raise"):
        raise InputError(f"on_error={on_error!r} must be 'record' or 'raise'.")
    check_jobs(n_jobs, verbose)


def _seed(random_state: Any, file: ResultsFile) -> int:
    if random_state is None and file.seed is not None:
        return file.seed
    (drawn,) = seeds_for(random_state, 1)
    return int(random_state) if isinstance(random_state, int | np.integer) else drawn


def _read(X: Any, y: Any, cost: Any, weights: Any) -> dict[str, tuple[Any, Any, Any, Any]]:
    """Rows, labels, costs and weights by the name of the data set."""
    if not isinstance(X, Mapping):
        if y is None:
            raise InputError("y is None. Pass the labels; or, for several data sets, X as a dict {name: (X, y)}.")
        return {ONLY: (X, y, cost, weights)}
    names = [str(name) for name in X]
    if len(set(names)) < len(names):
        raise InputError(f"X has two data sets of the same name: {', '.join(names)}. Name them differently.")
    if y is not None:
        raise InputError("X is a dict of data sets, which have their labels with them. Leave y at None.")
    if not names or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in X.values()):
        raise InputError("X is a dict, so it must hold data sets by name: {name: (X, y)}.")
    if weights is not None and (not isinstance(weights, Mapping) or set(map(str, weights)) - set(names)):
        raise InputError(f"sample_weight must be a dict by data set, as X is one: {', '.join(names)}.")
    each = isinstance(cost, Mapping) and set(map(str, cost)) == set(names)
    costs = {str(k): v for k, v in cost.items()} if each else dict.fromkeys(names, cost)
    given = {} if weights is None else {str(k): v for k, v in weights.items()}
    return {str(name): (*pair, costs[str(name)], given.get(str(name))) for name, pair in X.items()}


def _named_data_set(name: str, *given: Any, **how: Any) -> DataSet:
    """The same, with the name of the data set in errors where there are several."""
    try:
        return _data_set(name, *given, **how)
    except ValueError as error:
        raise error if name == ONLY else ValueError(f"In data set {name!r}: {error}") from error


def _data_set(
    name: str, X: Any, y: Any, cost: Any, weights: Any, *, cv: Any, repeats: int, pos_label: Any, seed: int
) -> DataSet:
    rows = read_rows(_ASKING, X, y, weights)
    problem = problem_of(_ASKING, rows.y, rows.weights, cost, pos_label)
    splits = repeated_folds(cv, rows.y, repeats, seed_of(seed, name), weights=rows.weights, X=rows.X)
    if problem.binary and isinstance(cost, Real):  # which class is the rarer must not depend on the fold
        other = problem.classes[problem.classes != problem.pos_label][0]
        cost = {plain(problem.pos_label): float(cost), plain(other): 1.0}
    return DataSet(name, rows, problem, cost, tuple(splits), len(splits) // repeats, seed)


def _begin(file: ResultsFile, seed: int, data_sets: list[DataSet], methods: list[Method]) -> None:
    if file.path is not None:
        described = {data.name: _fingerprints(data) for data in data_sets}
        file.begin(seed, described, {method.name: method.fingerprint for method in methods})


def _fingerprints(data: DataSet) -> Row:
    frame = as_frame(data.rows.X)
    if frame is not None:
        cells: Any = [(series.name, series.to_numpy()) for series in frame.iter_columns()]
    else:
        cells = data.rows.X
    # "balanced" costs are those of the rows, so that the matrix says it all, and whether estimators are told
    costs = (data.problem.matrix, plain(data.problem.pos_label), data.cost is None)
    return {
        "n_rows": len(data.rows.y),
        "data": joblib.hash((cells, data.rows.y, data.rows.weights)),
        "folds": joblib.hash(data.splits),
        "cost": joblib.hash(costs),
    }


def _key(job: Job) -> Key:
    data, method, k = job
    return (data.name, method.name, *data.place(k))


def _missing(file: ResultsFile, job: Job) -> bool:
    known = file.fits.get(_key(job))
    return known is None or known["failed"] is not None


class _Due:
    """Fits that are left, each when somebody is free for it; not those that another run has finished by then."""

    def __init__(self, jobs: list[Job], file: ResultsFile) -> None:
        self.jobs, self.file = jobs, file
        self.done_elsewhere: SimpleQueue[Job] = SimpleQueue()
        self.error: ResultsFileError | None = None  # kept, as a thread of joblib may ask, where nobody would hear of it

    def __iter__(self) -> Iterator[Job]:
        left, seen, rng = list(self.jobs), self.file.news, random.Random()
        while left:
            try:
                self.file.read()
                if self.file.news != seen:
                    seen = self.file.news
                    left = self._still_missing(left)
                    continue
            except ResultsFileError as error:
                self.error = error
                return
            # Two runs that go through the same list in the same order would do everything twice
            yield left.pop(rng.randrange(len(left)) if seen else 0)

    def _still_missing(self, left: list[Job]) -> list[Job]:
        missing = []
        for job in left:
            if _missing(self.file, job):
                missing.append(job)
            else:
                self.file.check_method(job[1].name, job[1].fingerprint)
                self.done_elsewhere.put(job)
        return missing


def _run(jobs: list[Job], file: ResultsFile, raising: bool, n_jobs: int | None, verbose: Any) -> bool:
    """Do what is left, and keep it; whether all of it was done."""
    if jobs:
        file.check_writable()
    reporter = Reporter(verbose, [_in_words(_key(job)) for job in jobs], effective_n_jobs(n_jobs))
    reporter.start()
    due = _Due(jobs, file)
    try:
        for row in _fits(due, raising, n_jobs):
            file.add(row)
            reporter.finished(_in_words(key_of(row)))
            _tell_of_others(due, reporter)
        _tell_of_others(due, reporter)
    except KeyboardInterrupt:
        message = f"Interrupted after {reporter.progress.done} of {len(jobs)} fits; what is finished is in the result."
        if file.path is not None:
            message += f" The same call goes on from {file.path}."
        warnings.warn(message, IncompleteComparisonWarning, stacklevel=3)
        return False
    finally:
        reporter.close()
    if due.error is not None:
        raise due.error
    return True


def _tell_of_others(due: _Due, reporter: Reporter) -> None:
    while not due.done_elsewhere.empty():
        reporter.finished(_in_words(_key(due.done_elsewhere.get())))


def _fits(jobs: Iterable[Job], raising: bool, n_jobs: int | None) -> Iterator[Row]:
    """Rows as they are finished."""
    if effective_n_jobs(n_jobs) == 1:
        return (run_fit(*job, raising) for job in jobs)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    found: Iterator[Row] = parallel(delayed(_run_elsewhere)(os.getpid(), *job, raising) for job in jobs)
    return found


def _run_elsewhere(asked_by: int, data: DataSet, method: Method, k: int, raising: bool) -> Row:
    """The same in a worker. Ctrl-C reaches all processes, but the one who asked deals with it and ends the others."""
    if os.getpid() == asked_by or threading.current_thread() is not threading.main_thread():
        return run_fit(data, method, k, raising)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return run_fit(data, method, k, raising)
    finally:
        signal.signal(signal.SIGINT, before)


def _in_words(key: Key) -> str:
    data_set, method, repeat, fold = key
    return f"{method} on {data_set}, repeat {repeat + 1}, fold {fold + 1}"
