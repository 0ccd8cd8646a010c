"""One fit of a comparison: tuned on its training rows, fitted to them, and measured on its test rows."""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.model_selection import TimeSeriesSplit

from skewboost.boosting.estimator import BaseBooster
from skewboost.errors import InputError
from skewboost.evaluate.methods import Method, with_costs
from skewboost.evaluate.problem import Problem, Sample, Split, fewest_of_a_class, in_order, shuffled_folds
from skewboost.evaluate.running import fit_copy, measure_model
from skewboost.json_lines import Row, as_read_back
from skewboost.meta.inner_labels import plain
from skewboost.metrics.measures import MEASURES


@dataclass(frozen=True)
class DataSet:
    """A data set with its folds."""

    name: str
    sample: Sample
    problem: Problem
    cost: Any  # the costs that estimators get; None: they get none
    splits: tuple[Split, ...]
    n_folds: int  # per repeat
    seed: int

    def repeat_and_fold(self, k: int) -> tuple[int, int]:
        """Return the repeat and the fold of the k-th split."""
        return divmod(k, self.n_folds)


def seed_of(seed: int, *parts: str | int) -> int:
    """Return a seed that depends only on the arguments."""
    words = [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in parts]
    return int(np.random.SeedSequence([seed, *words]).generate_state(1)[0] >> 1)


def run_fit(data: DataSet, method: Method, k: int, raising: bool) -> Row:
    """Fit and measure a method on the k-th split of a data set; a failure is recorded in the row."""
    repeat, fold = data.repeat_and_fold(k)
    train, test = data.splits[k]
    row: Row = {
        "data_set": data.name, "method": method.name, "repeat": repeat, "fold": fold, "n_train": len(train),
        "n_test": len(test), "params": {}, "measures": {}, "tune_seconds": None, "fit_seconds": None,
        "predict_seconds": None, "failed": None, "made_by": method.fingerprint,
    }  # fmt: skip
    try:
        row.update(_fit_and_measure(data, method, data.sample.part(train), data.sample.part(test), (repeat, fold)))
    except Exception as error:
        if raising:
            raise
        row["failed"] = f"{type(error).__name__}: {error}"
    return as_read_back(row)


def _fit_and_measure(data: DataSet, method: Method, train: Sample, test: Sample, place: tuple[int, int]) -> Row:
    seed = seed_of(data.seed, data.name, *place)
    started = time.perf_counter()
    params = tune(data, method, train, seed) if method.grid is not None else {}
    fitting = time.perf_counter()
    model = fit(method, data, params, train, seed)
    predicting = time.perf_counter()
    predicted = model.predict(test.X)
    done = time.perf_counter()
    return {
        "params": {name: plain(value) for name, value in params.items()},
        "measures": measure_model(data.problem, model, test, predicted),
        "tune_seconds": fitting - started if method.grid is not None else 0.0,
        "fit_seconds": predicting - fitting,
        "predict_seconds": done - predicting,
    }


def fit(method: Method, data: DataSet, params: dict[str, Any], sample: Sample, seed: int) -> Any:
    """Fit a copy of the estimator with costs, positive class and seeds set where they are None."""
    estimator = data.problem.copy_of(with_costs(method.estimator, data.cost, params))
    with config_context(enable_metadata_routing=False):  # weights are passed without a request
        return fit_copy(estimator, sample, seed)


def tune(data: DataSet, method: Method, train: Sample, seed: int) -> dict[str, Any]:
    """Return the parameters of the grid that are best on inner folds of the training rows, the first in a tie."""
    candidates = method.candidates
    if len(candidates) == 1:
        return candidates[0]
    totals, failure = np.zeros(len(candidates)), None
    for fold, (inside, outside) in enumerate(_inner_folds(data, method, train, seed)):
        fitted, measured = train.part(inside), train.part(outside)
        for group, rounds in _shared_fits(data, method, candidates):
            chosen = [candidates[i] for i in group]
            most = chosen[0] if rounds is None else max(chosen, key=lambda c: c[rounds])
            try:
                model = fit(method, data, most, fitted, seed_of(seed, 2, fold))
                stages = [model if rounds is None or c is most else model.truncated(c[rounds]) for c in chosen]
                totals[group] += [_score(data.problem, method.tune_for, stage, measured) for stage in stages]
            except Exception as error:
                totals[group], failure = -np.inf, error
    totals = np.where(np.isnan(totals), -np.inf, totals)
    if np.isneginf(totals).all() and failure is not None:
        raise failure
    return candidates[int(totals.argmax())]


def _inner_folds(data: DataSet, method: Method, train: Sample, seed: int) -> list[Split]:
    """Return folds of training rows: in the order of the rows if those of the data set are, with whole groups."""
    if in_order(data.splits):
        folds = list(TimeSeriesSplit(method.inner_cv).split(train.y))
        if train.groups is not None:
            g = train.groups
            folds = [(inside[~np.isin(g[inside], g[outside])], outside) for inside, outside in folds]
        whole = [fold for fold in folds if len(np.unique(train.y[fold[0]])) == len(np.unique(train.y))]
        if not whole:
            raise InputError(
                f"None of the {method.inner_cv} inner folds has all classes in its training rows.",
                "Set inner_cv to fewer folds, or drop the grid.",
            )
        return whole
    fewest, _ = fewest_of_a_class(train.y, train.groups)
    if fewest < 2:
        what = "has only one training row" if train.groups is None else "is in one group of the training rows only"
        raise InputError(
            f"A class {what}, but tuning on inner folds needs at least two.", "Add rows, or drop the grid."
        )
    return shuffled_folds(train.y, train.groups, min(method.inner_cv, fewest), seed_of(seed, 1))


def _score(problem: Problem, tune_for: Any, model: Any, sample: Sample) -> float:
    """Return a number that is larger for better models."""
    if callable(tune_for):
        return float(tune_for(model, sample.X, sample.y))
    values = measure_model(problem, model, sample)
    if tune_for not in values:
        raise InputError(
            f"tune_for={tune_for!r} is not available for {type(model).__name__}.", f"Choose one of {', '.join(values)}."
        )
    return MEASURES[tune_for].sign * values[tune_for]


def _shared_fits(data: DataSet, method: Method, candidates: list[dict[str, Any]]) -> list[tuple[list[int], str | None]]:
    """Group the candidates that one fit serves: the first rounds of a booster are those of one with fewer rounds."""
    estimator = method.estimator
    name = getattr(estimator, "_rounds", None)
    if not isinstance(estimator, BaseBooster) or name is None or not all(name in c for c in candidates):
        return [([i], None) for i in range(len(candidates))]
    fits: dict[str, list[int]] = {}
    alone: list[tuple[list[int], str | None]] = []
    for i, candidate in enumerate(candidates):
        if not _rounds_are_first_rounds(with_costs(estimator, data.cost, candidate)):
            alone.append(([i], None))
            continue
        rest = repr(sorted((k, repr(v)) for k, v in candidate.items() if k != name))
        fits.setdefault(rest, []).append(i)
    return [*alone, *((group, name) for group in fits.values())]


def _rounds_are_first_rounds(booster: Any) -> bool:
    """Whether a longer fit starts with the rounds of a shorter one.

    This is not so if costs are spread over all rounds, or if rows are held out.
    """
    params = booster.get_params(deep=False)
    if params.get("early_stopping") or params.get("calibrate") is not None:
        return False
    try:
        return not booster._rule().whole_schedule
    except ValueError:  # the fit will raise the error
        return False
